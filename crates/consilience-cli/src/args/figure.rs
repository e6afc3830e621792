//! The arguments of `figure`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Draw a figure of a saved result for a paper: PDF, SVG or PNG
///
/// The figures of the report page as vector graphics, each with its title, legend and caption; no browser is
/// needed. PDF carries its font, so that text stays text; SVG can be edited; PNG has 300 dots per inch. Without
/// NAME, lists the figures that the result offers.
///
/// Names of clusters in letters other than Latin, Greek or Cyrillic come out in SVG only, which is warned of.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  What is there?
    consilience demo
    consilience figure consilience-demo

  The consensus matrix, as journals want it:
    consilience figure consilience-demo matrix -o fig1.pdf

  Without title and caption, one column wide (3.5 inches), for a caption of your own:
    consilience figure consilience-demo cdf --bare --width 3.5 -o fig2.svg

  The tree of levels of `resolve`:
    consilience figure levels tree -o levels.pdf

  All of them:
    for name in matrix sizes items agreement k cdf; do
        consilience figure consilience-demo $name -o $name.pdf; done")]
pub(crate) struct FigureArgs {
    /// The folder that `run`, `demo`, `resolve` or `combine --save` wrote, or its result.json
    #[arg(value_name = "RESULT", value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,

    /// The figure [default: list those that the result offers]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Where it goes: the ending .pdf, .svg or .png tells the format
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// The clustering that `flow` starts from [default: the one that agrees best]
    #[arg(long, value_name = "CLUSTERING")]
    pub member: Option<String>,

    /// The width in inches; a tree of many clusters is wider
    #[arg(long, value_name = "INCHES", default_value_t = 7.0, value_parser = inches)]
    pub width: f64,

    /// Dots per inch of PNG
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u16).range(36..=1200))]
    pub dpi: u16,

    /// Without title and caption
    #[arg(long)]
    pub bare: bool,

    /// Replace the file if it is there already
    #[arg(long)]
    pub force: bool,
}

/// A width that a figure can have.
fn inches(text: &str) -> Result<f64, String> {
    let inches: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (3.0..=24.0).contains(&inches) {
        Ok(inches)
    } else {
        Err("it must be from 3 to 24".to_owned())
    }
}
