//! What is shown of a result on a terminal besides numbers: the verdict, and small pictures for
//! those who work over ssh. Colours obey NO_COLOR and --color; the pictures can be read without.

use clap::builder::styling::{AnsiColor, Style};
use consilience::judge::{Blocks, ClusterFacts, Judgement, Partition, Sentence, Tone};

use crate::output::count;
use crate::session::Session;

/// Rows of the small heatmap.
const HEATMAP: usize = 16;
/// Clusters that have a bar.
const BARS: usize = 12;
/// From nothing to everything.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// Eighths of a block.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const COLOURS: [AnsiColor; 6] = [
    AnsiColor::Blue,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::Red,
];

/// Small pictures of a consensus.
pub(super) fn pictures(
    partition: &Partition<'_>,
    judgement: &Judgement,
    session: &Session,
) -> anyhow::Result<String> {
    let bars = bars(&judgement.overview.clusters, &partition.numbers, width());
    if partition.numbers.len() > HEATMAP {
        return Ok(bars);
    }
    let Partition { profiles, labels, confidence, .. } = partition;
    let blocks = Blocks::new(profiles, labels, confidence, HEATMAP, &session.run)?;
    Ok(format!("{bars}\n\n{}", heatmap(&blocks)))
}

/// The verdict, a sentence a line, marked by how to take it.
pub(super) fn verdict(sentences: &[Sentence]) -> String {
    let line = |sentence: &Sentence| {
        let (mark, colour) = match sentence.tone {
            Tone::Good => ("+", AnsiColor::Green),
            Tone::Caution => ("!", AnsiColor::Yellow),
            Tone::Weak => ("x", AnsiColor::Red),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        format!("{style}{mark}{style:#} {}", sentence.text)
    };
    sentences.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// How wide the terminal is: what COLUMNS says, or 80.
fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.filter(|columns| *columns >= 20).unwrap_or(80)
}

/// Bars of the cluster sizes, with the share of safe objects and the mean confidence.
fn bars(clusters: &[ClusterFacts], numbers: &[u32], width: usize) -> String {
    let largest = clusters.iter().map(|cluster| cluster.objects).max().unwrap_or(0).max(1);
    let label = numbers.iter().map(|number| number.to_string().len()).max().unwrap_or(1);
    let size = count(largest).len();
    // What stands around the bar: the number, the size, and the two shares.
    let room = width.saturating_sub(label + size + 37).clamp(8, 50);
    let mut lines = Vec::new();
    for (cluster, number) in clusters.iter().zip(numbers).take(BARS) {
        let style = Style::new().fg_color(Some(colour(*number).into()));
        let safe = 100.0 * cluster.safe as f64 / cluster.objects.max(1) as f64;
        lines.push(format!(
            "{number:>label$} {style}{}{style:#} {:>size$}  {safe:>3.0} % safe, confidence {:.2}",
            bar(cluster.objects as f64 / largest as f64, room),
            count(cluster.objects),
            cluster.confidence
        ));
    }
    if clusters.len() > BARS {
        lines.push(format!("... ({} more)", count(clusters.len() - BARS)));
    }
    lines.join("\n")
}

fn colour(number: u32) -> AnsiColor {
    COLOURS[number as usize % COLOURS.len()]
}

/// A bar of this share of `room` letters, to the eighth of a letter, filled up with blanks.
fn bar(share: f64, room: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * room as f64 * 8.0).round() as usize;
    let mut text: String = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(EIGHTHS[eighths % 8]);
    }
    let used = text.chars().count();
    text + &" ".repeat(room - used)
}

/// The ordered consensus matrix, two letters a cell.
fn heatmap(blocks: &Blocks) -> String {
    let n = blocks.bins.len();
    let row = |i: usize| -> String {
        let cell = |j: usize| {
            let shade = (blocks.values[(i, j)] * (SHADES.len() - 1) as f64).round() as usize;
            SHADES[shade.min(SHADES.len() - 1)]
        };
        (0..n).flat_map(|j| [cell(j); 2]).collect()
    };
    (0..n).map(|i| row(i).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use consilience::Matrix;
    use consilience::judge::{Bin, CONFIDENCE_BARS};

    use super::*;

    #[test]
    fn bars_are_exact_to_an_eighth() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.28125, 4), "█▏  ");
        assert_eq!(bar(0.0, 3), "   ");
    }

    #[test]
    fn bars_fit_the_width() {
        let cluster = |objects: usize| ClusterFacts {
            objects,
            weight: objects as f64,
            confidence: 0.9,
            histogram: [0; CONFIDENCE_BARS],
            safe: objects / 2,
            cohesion: None,
            nearest: None,
        };
        let clusters: Vec<ClusterFacts> = (0..20).map(|i| cluster(2000 - 100 * i)).collect();
        let numbers: Vec<u32> = (0..20).collect();
        for width in [40, 60, 80, 200] {
            let text = anstream::adapter::strip_str(&bars(&clusters, &numbers, width)).to_string();
            assert!(text.lines().all(|line| line.chars().count() <= width.max(52)), "{text}");
            assert_eq!(text.lines().count(), BARS + 1);
            assert!(text.contains("2,000   50 % safe, confidence 0.90"), "{text}");
        }
    }

    #[test]
    fn heatmaps_shade_by_co_association() {
        let bin = |cluster| Bin { cluster, weight: 1.0, confidence: 1.0 };
        let blocks = Blocks {
            bins: vec![bin(0), bin(1)],
            values: Matrix::from_vec(2, 2, vec![1.0, 0.25, 0.25, 0.75]),
            bin_of: vec![0, 1],
        };
        assert_eq!(heatmap(&blocks), "██░░\n░░▓▓");
    }
}
