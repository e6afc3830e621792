//! A picture as SVG.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::font::{Font, width_of};
use super::picture::{Anchor, Item, Picture, Segment, Stroke};
use super::png;

impl Picture {
    /// The picture as the text of an SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        let (w, h) = (short(self.width), short(self.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}pt\" height=\"{h}pt\" \
             viewBox=\"0 0 {w} {h}\" role=\"img\" font-family=\"'Noto Sans', Helvetica, Arial, sans-serif\">\n\
             <title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
            escaped(&self.title)
        );
        for item in &self.items {
            out.push_str(&element(item));
            out.push('\n');
        }
        out.push_str("</svg>\n");
        out
    }
}

fn element(item: &Item) -> String {
    match item {
        Item::Path { segments, fill, stroke } => {
            let mut out = format!("<path d=\"{}\"", steps(segments));
            match fill {
                Some((colour, opacity)) => {
                    let _ = write!(out, " fill=\"{}\"", colour.css());
                    if *opacity < 1.0 {
                        let _ = write!(out, " fill-opacity=\"{}\"", short(*opacity));
                    }
                }
                None => out.push_str(" fill=\"none\""),
            }
            if let Some(Stroke { colour, width, dashed }) = stroke {
                let _ =
                    write!(out, " stroke=\"{}\" stroke-width=\"{}\"", colour.css(), short(*width));
                if *dashed {
                    out.push_str(" stroke-dasharray=\"3 2\"");
                }
            }
            out + "/>"
        }
        Item::Text { at: [x, y], text, size, font, anchor, colour, upright } => {
            let (x, y) = (short(*x), short(*y));
            let mut out = if *upright {
                format!("<text transform=\"translate({x} {y}) rotate(-90)\"")
            } else {
                format!("<text x=\"{x}\" y=\"{y}\"")
            };
            let _ = write!(out, " font-size=\"{}\" fill=\"{}\"", short(*size), colour.css());
            if *font == Font::Bold {
                out.push_str(" font-weight=\"700\"");
            }
            match anchor {
                Anchor::Start => {}
                Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
                Anchor::End => out.push_str(" text-anchor=\"end\""),
            }
            // A viewer without the font takes another: the text is as wide all the same.
            if text.chars().count() > 3 {
                let wide = short(width_of(text, *font, *size));
                let _ = write!(out, " textLength=\"{wide}\" lengthAdjust=\"spacingAndGlyphs\"");
            }
            let _ = write!(out, ">{}</text>", escaped(text));
            out
        }
        Item::Image { place: [x, y, w, h], columns, pixels } => format!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
            short(*x),
            short(*y),
            short(*w),
            short(*h),
            STANDARD.encode(png::encoded(*columns, pixels.len() / columns, pixels))
        ),
    }
}

fn steps(segments: &[Segment]) -> String {
    let mut out = String::new();
    for segment in segments {
        let _ = match segment {
            Segment::Move(x, y) => write!(out, "M{} {}", short(*x), short(*y)),
            Segment::Line(x, y) => write!(out, "L{} {}", short(*x), short(*y)),
            Segment::Curve([a, b], [c, d], [x, y]) => write!(
                out,
                "C{} {} {} {} {} {}",
                short(*a),
                short(*b),
                short(*c),
                short(*d),
                short(*x),
                short(*y)
            ),
            Segment::Close => write!(out, "Z"),
        };
    }
    out
}

/// A number to two decimals, without zeros at the end.
fn short(x: f64) -> String {
    let rounded = (100.0 * x).round() / 100.0;
    // Not `-0`.
    format!("{}", rounded + 0.0)
}

/// Text as XML has it; what no XML may hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::picture::Colour;
    use crate::figures::theme::WORD;

    #[test]
    fn what_users_wrote_is_text_never_markup() {
        let mut picture = Picture { width: 10.0, height: 10.0, ..Picture::default() };
        picture.text([0.0, 5.0], "<script>&\"\u{1b}", WORD);
        let svg = picture.svg();
        assert!(svg.contains(">&lt;script&gt;&amp;&quot;</text>"), "{svg}");
    }

    #[test]
    fn shapes_become_paths() {
        let mut picture = Picture { width: 10.0, height: 20.0, ..Picture::default() };
        picture.rect([1.0, 2.0, 3.004, 4.0], Colour::hex(0x0a_0b_0c), 0.5);
        let svg = picture.svg();
        assert!(
            svg.contains("<path d=\"M1 2L4 2L4 6L1 6Z\" fill=\"#0a0b0c\" fill-opacity=\"0.5\"/>"),
            "{svg}"
        );
        assert_eq!(short(-0.001), "0");
    }
}
