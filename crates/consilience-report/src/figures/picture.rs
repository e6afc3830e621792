//! The one small model of a drawing that all figures are made in, before it becomes SVG, PDF or PNG.
//!
//! Lengths are points (1/72 inch), y grows downwards. Text is placed by its baseline.

use super::font::{Font, width_of};

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// A colour as `0xrrggbb`.
    pub const fn hex(rgb: u32) -> Self {
        Colour([(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8])
    }

    /// As SVG writes it.
    pub(super) fn css(self) -> String {
        let Colour([r, g, b]) = self;
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

/// What a line or an edge looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// Whether it is dashed.
    pub dashed: bool,
}

/// Where a text stands with respect to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It starts there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// A new part starts here.
    Move(f64, f64),
    /// A straight line to here.
    Line(f64, f64),
    /// A curve with two handles to here.
    Curve([f64; 2], [f64; 2], [f64; 2]),
    /// Back to where the part started.
    Close,
}

/// Something that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A shape.
    Path {
        /// Its outline.
        segments: Vec<Segment>,
        /// What it is filled with, and how opaque that is.
        fill: Option<(Colour, f64)>,
        /// The line along its outline.
        stroke: Option<Stroke>,
    },
    /// A word.
    Text {
        /// Where the baseline is.
        at: [f64; 2],
        /// What is written.
        text: String,
        /// The size of the letters.
        size: f64,
        /// Which of the two fonts.
        font: Font,
        /// Where it stands.
        anchor: Anchor,
        /// Its colour.
        colour: Colour,
        /// Whether it is turned by a quarter to the left.
        upright: bool,
    },
    /// Squares of colours, row by row.
    Image {
        /// The corner at the top left, width and height.
        place: [f64; 4],
        /// How many columns.
        columns: usize,
        /// The colours.
        pixels: Vec<Colour>,
    },
}

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// How wide it is.
    pub width: f64,
    /// How tall it is.
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// What is drawn, from the back to the front.
    pub items: Vec<Item>,
}

/// A text before it is placed.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) size: f64,
    pub(super) font: Font,
    pub(super) anchor: Anchor,
    pub(super) colour: Colour,
}

impl Word {
    pub(super) fn middle(self) -> Self {
        Word { anchor: Anchor::Middle, ..self }
    }

    pub(super) fn end(self) -> Self {
        Word { anchor: Anchor::End, ..self }
    }

    pub(super) fn bold(self) -> Self {
        Word { font: Font::Bold, ..self }
    }

    pub(super) fn width(self, text: &str) -> f64 {
        width_of(text, self.font, self.size)
    }

    /// The text, its middle left out where it is wider than `most`.
    pub(super) fn fit(self, text: &str, most: f64) -> String {
        if self.width(text) <= most {
            return text.to_owned();
        }
        let letters: Vec<char> = text.chars().collect();
        for kept in (1..letters.len()).rev() {
            let head = kept.div_ceil(2);
            let tail = &letters[letters.len() - (kept - head)..];
            let short: String = letters[..head].iter().chain(&['…']).chain(tail).collect();
            if self.width(&short) <= most {
                return short;
            }
        }
        "…".to_owned()
    }

    /// The text in lines of at most this width.
    pub(super) fn lines(self, text: &str, most: f64) -> Vec<String> {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let line = lines.last_mut().expect("there is one");
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if line.is_empty() || self.width(&longer) <= most {
                *line = longer;
            } else {
                lines.push(word.to_owned());
            }
        }
        lines
    }
}

impl Picture {
    pub(super) fn rect(&mut self, [x, y, w, h]: [f64; 4], fill: Colour, opacity: f64) {
        self.items.push(Item::Path {
            segments: rectangle([x, y, w, h]),
            fill: Some((fill, opacity)),
            stroke: None,
        });
    }

    pub(super) fn frame(&mut self, place: [f64; 4], stroke: Stroke) {
        self.items.push(Item::Path {
            segments: rectangle(place),
            fill: None,
            stroke: Some(stroke),
        });
    }

    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], stroke: Stroke) {
        self.polyline(&[from, to], stroke);
    }

    pub(super) fn polyline(&mut self, points: &[[f64; 2]], stroke: Stroke) {
        let segments = points.iter().enumerate().map(|(i, &[x, y])| match i {
            0 => Segment::Move(x, y),
            _ => Segment::Line(x, y),
        });
        let segments = segments.collect();
        self.items.push(Item::Path { segments, fill: None, stroke: Some(stroke) });
    }

    pub(super) fn polygon(&mut self, points: &[[f64; 2]], fill: Colour, opacity: f64) {
        let segments = points.iter().enumerate().map(|(i, &[x, y])| match i {
            0 => Segment::Move(x, y),
            _ => Segment::Line(x, y),
        });
        let segments = segments.chain([Segment::Close]).collect();
        self.items.push(Item::Path { segments, fill: Some((fill, opacity)), stroke: None });
    }

    pub(super) fn text(&mut self, at: [f64; 2], text: impl Into<String>, word: Word) {
        let Word { size, font, anchor, colour } = word;
        let text = text.into();
        self.items.push(Item::Text { at, text, size, font, anchor, colour, upright: false });
    }

    /// A text that reads from below to above.
    pub(super) fn upright(&mut self, at: [f64; 2], text: impl Into<String>, word: Word) {
        let Word { size, font, anchor, colour } = word;
        let text = text.into();
        self.items.push(Item::Text { at, text, size, font, anchor, colour, upright: true });
    }

    /// Moves everything.
    pub(super) fn moved(&mut self, by: [f64; 2]) {
        let shift = |point: &mut [f64; 2]| point.iter_mut().zip(by).for_each(|(x, by)| *x += by);
        for item in &mut self.items {
            match item {
                Item::Path { segments, .. } => {
                    for segment in segments {
                        match segment {
                            Segment::Move(x, y) | Segment::Line(x, y) => {
                                (*x, *y) = (*x + by[0], *y + by[1]);
                            }
                            Segment::Curve(a, b, c) => [a, b, c].into_iter().for_each(shift),
                            Segment::Close => {}
                        }
                    }
                }
                Item::Text { at, .. } => shift(at),
                Item::Image { place: [x, y, ..], .. } => (*x, *y) = (*x + by[0], *y + by[1]),
            }
        }
    }
}

/// The outline of a rectangle.
fn rectangle([x, y, w, h]: [f64; 4]) -> Vec<Segment> {
    let corners = [Segment::Line(x + w, y), Segment::Line(x + w, y + h), Segment::Line(x, y + h)];
    [Segment::Move(x, y)].into_iter().chain(corners).chain([Segment::Close]).collect()
}

/// The outline of a disc.
pub(super) fn disc(x: f64, y: f64, r: f64) -> Vec<Segment> {
    // How long handles must be for four curves to look like a circle.
    let h = 0.552_284_75 * r;
    vec![
        Segment::Move(x - r, y),
        Segment::Curve([x - r, y - h], [x - h, y - r], [x, y - r]),
        Segment::Curve([x + h, y - r], [x + r, y - h], [x + r, y]),
        Segment::Curve([x + r, y + h], [x + h, y + r], [x, y + r]),
        Segment::Curve([x - h, y + r], [x - r, y + h], [x - r, y]),
        Segment::Close,
    ]
}

#[cfg(test)]
mod tests {

    use crate::figures::theme::WORD;

    #[test]
    fn texts_are_cut_in_the_middle_and_wrapped() {
        let whole = WORD.width("a very long name of a cluster");
        assert_eq!(WORD.fit("short", whole), "short");
        let cut = WORD.fit("a very long name of a cluster", whole / 2.0);
        assert!(cut.starts_with("a ver") && cut.ends_with("ter") && cut.contains('…'), "{cut}");
        assert!(WORD.width(&cut) <= whole / 2.0);
        let lines = WORD.lines("one two three four five six", WORD.width("one two three"));
        assert!(lines.len() >= 2 && lines.join(" ") == "one two three four five six");
        assert_eq!(WORD.fit("wide", 0.0), "…");
    }
}
