//! Figures as files, in the format that their ending tells.

use std::path::Path;

use consilience_io::{Target, write_bytes};
use consilience_report::figures::Figure;

use crate::errors::usage;
use crate::output::named;
use crate::session::Session;

/// The formats of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawing {
    Svg,
    Pdf,
    Png,
}

impl Drawing {
    /// The format that the ending of a file tells.
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Drawing::Svg),
            Some("pdf") => Ok(Drawing::Pdf),
            Some("png") => Ok(Drawing::Png),
            _ => Err(usage(format!(
                "{}: the ending does not say what kind of figure to draw; use .svg, .pdf or .png",
                path.display()
            ))),
        }
    }

    /// Writes the figure; says if letters in it cannot be drawn. How many bytes it has.
    pub(super) fn write(
        self,
        target: &Target,
        figure: &Figure,
        dpi: u16,
        session: &Session,
    ) -> anyhow::Result<usize> {
        if self != Drawing::Svg
            && let Some(text) = figure.unknown_letters().next()
        {
            session.run.warn(&format!(
                "the font has no letters for `{}`, which are drawn as boxes: SVG has them",
                named(text)
            ));
        }
        let bytes = match self {
            Drawing::Svg => figure.picture.svg().into_bytes(),
            Drawing::Pdf => figure.picture.pdf(concat!("consilience ", env!("CARGO_PKG_VERSION"))),
            Drawing::Png => figure.picture.png(f64::from(dpi), &session.run)?,
        };
        write_bytes(target, &bytes)?;
        Ok(bytes.len())
    }
}
