//! A picture as PNG.

use std::io::Write as _;

use consilience::words::count;
use consilience::{Result, Run};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use tiny_skia::{
    FillRule, FilterQuality, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, PixmapPaint,
    StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::picture::{Anchor, Colour, Item, Picture, Segment, Stroke};

/// The most pixels along a side.
const MOST: f64 = 20_000.0;

impl Picture {
    /// The picture as the bytes of a PNG file, with this many pixels to the inch; fewer if one side
    /// would have more than 20,000.
    ///
    /// # Errors
    ///
    /// If memory does not suffice for the pixels, or if the run is cancelled.
    pub fn png(&self, dpi: f64, run: &Run) -> Result<Vec<u8>> {
        let longer = self.width.max(self.height).max(1.0);
        let scale = (dpi / 72.0).clamp(1.0 / 72.0, MOST / longer);
        let side = |length: f64| ((length * scale).ceil() as u32).max(1);
        let (w, h) = (side(self.width), side(self.height));
        // The page with its opacity, its colours, its rows, and these compressed.
        run.ask_memory(
            &format!("a figure of {} × {} pixels", count(w as usize), count(h as usize)),
            (4 + 3 + 3 + 3) * u64::from(w) * u64::from(h),
            "draw it with fewer dots per inch, or as SVG or PDF",
        )?;
        let mut page = Pixmap::new(w, h).expect("neither side is zero or too long");
        page.fill(tiny_skia::Color::WHITE);
        for item in &self.items {
            run.check()?;
            draw(item, scale as f32, &mut page);
        }
        let pixels: Vec<Colour> =
            page.pixels().iter().map(|p| Colour([p.red(), p.green(), p.blue()])).collect();
        drop(page);
        Ok(encoded(w as usize, h as usize, &pixels))
    }
}

fn draw(item: &Item, scale: f32, page: &mut Pixmap) {
    let view = Transform::from_scale(scale, scale);
    let none: Option<&Mask> = None;
    match item {
        Item::Path { segments, fill, stroke } => {
            let Some(path) = path(segments) else { return };
            if let Some((colour, opacity)) = fill {
                page.fill_path(&path, &paint(*colour, *opacity), FillRule::Winding, view, none);
            }
            if let Some(Stroke { colour, width, dashed }) = stroke {
                let stroke = tiny_skia::Stroke {
                    width: *width as f32,
                    line_join: LineJoin::Round,
                    dash: if *dashed { StrokeDash::new(vec![3.0, 2.0], 0.0) } else { None },
                    ..tiny_skia::Stroke::default()
                };
                page.stroke_path(&path, &paint(*colour, 1.0), &stroke, view, none);
            }
        }
        Item::Text { at: [x, y], text, size, font, anchor, colour, upright } => {
            let width = super::font::width_of(text, *font, *size);
            let start = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -width / 2.0,
                Anchor::End => -width,
            };
            let mut place = view.pre_translate(*x as f32, *y as f32);
            if *upright {
                place = place.pre_rotate(-90.0);
            }
            let unit = size / f64::from(font.face().units_per_em());
            let mut along = start;
            for letter in text.chars() {
                let glyph = font.glyph(letter);
                let mut outline = Outline(PathBuilder::new());
                font.face().outline_glyph(glyph, &mut outline);
                if let Some(path) = outline.0.finish() {
                    let place =
                        place.pre_translate(along as f32, 0.0).pre_scale(unit as f32, -unit as f32);
                    page.fill_path(&path, &paint(*colour, 1.0), FillRule::Winding, place, none);
                }
                along += size * font.advance(glyph);
            }
        }
        Item::Image { place: [x, y, w, h], columns, pixels } => {
            let rows = pixels.len() / columns;
            let Some(mut image) = Pixmap::new(*columns as u32, rows as u32) else { return };
            let bytes = image.data_mut().chunks_exact_mut(4);
            bytes
                .zip(pixels)
                .for_each(|(to, Colour([r, g, b]))| to.copy_from_slice(&[*r, *g, *b, 255]));
            let (w, h) = (*w as f32 / *columns as f32, *h as f32 / rows as f32);
            let place = view.pre_translate(*x as f32, *y as f32).pre_scale(w, h);
            // Squares stay squares where they are enlarged; where they are made smaller, they blend.
            let larger = w.min(h) * scale >= 1.0;
            let quality = if larger { FilterQuality::Nearest } else { FilterQuality::Bilinear };
            let paint = PixmapPaint { quality, ..PixmapPaint::default() };
            page.draw_pixmap(0, 0, image.as_ref(), &paint, place, none);
        }
    }
}

fn paint(Colour([r, g, b]): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, (255.0 * opacity).round() as u8);
    paint
}

fn path(segments: &[Segment]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for segment in segments {
        match *segment {
            Segment::Move(x, y) => path.move_to(x as f32, y as f32),
            Segment::Line(x, y) => path.line_to(x as f32, y as f32),
            Segment::Curve(a, b, c) => {
                let [[ax, ay], [bx, by], [cx, cy]] = [a, b, c].map(|p| p.map(|x| x as f32));
                path.cubic_to(ax, ay, bx, by, cx, cy);
            }
            Segment::Close => path.close(),
        }
    }
    path.finish()
}

/// The outline of a letter.
struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, a: f32, b: f32, x: f32, y: f32) {
        self.0.quad_to(a, b, x, y);
    }

    fn curve_to(&mut self, a: f32, b: f32, c: f32, d: f32, x: f32, y: f32) {
        self.0.cubic_to(a, b, c, d, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

/// Colours as a PNG file: a header, one compressed block, an end.
pub(super) fn encoded(width: usize, height: usize, pixels: &[Colour]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits, red green blue, the usual compression and filters, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut out, *b"IHDR", &header);
    chunk(&mut out, *b"IDAT", &compressed(&rows(width, pixels)));
    chunk(&mut out, *b"IEND", &[]);
    out
}

/// Rows of colours, each with the filter that takes the row above from it, or none in the first.
fn rows(width: usize, pixels: &[Colour]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(3 * pixels.len() + pixels.len() / width.max(1));
    let mut above: Option<&[Colour]> = None;
    for row in pixels.chunks_exact(width) {
        rows.push(if above.is_some() { 2 } else { 0 });
        for (i, Colour(own)) in row.iter().enumerate() {
            let Colour(up) = above.map_or(Colour([0; 3]), |above| above[i]);
            rows.extend(own.iter().zip(up).map(|(own, up)| own.wrapping_sub(up)));
        }
        above = Some(row);
    }
    rows
}

/// Bytes by zlib.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}

fn chunk(out: &mut Vec<u8>, kind: [u8; 4], bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    let mut sum = Crc::new();
    for part in [&kind[..], bytes] {
        sum.update(part);
        out.extend_from_slice(part);
    }
    out.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::theme::WORD;

    #[test]
    fn a_page_has_the_size_that_was_asked_for() {
        let mut picture = Picture { width: 72.0, height: 36.0, ..Picture::default() };
        picture.text([5.0, 20.0], "text", WORD);
        let run = Run::new(0);
        let png = picture.png(100.0, &run).unwrap();
        assert_eq!(&png[16..24], &[0, 0, 0, 100, 0, 0, 0, 50]);
        let without = Picture { items: Vec::new(), ..picture.clone() }.png(100.0, &run).unwrap();
        assert!(png.len() > without.len() + 100, "letters come out");
        assert_eq!(picture.png(100.0, &run).unwrap(), png);
    }

    #[test]
    fn memory_is_asked_for_the_pixels() {
        let picture = Picture { width: 72.0, height: 72.0, ..Picture::default() };
        let run = Run::new(0).memory(1 << 20);
        assert!(picture.png(100.0, &run).is_ok());
        let told = picture.png(1000.0, &run).unwrap_err().to_string();
        assert!(told.contains("1,000 × 1,000 pixels") && told.contains("fewer dots"), "{told}");
    }

    #[test]
    fn rows_can_be_unfiltered() {
        let pixels = [[1, 2, 3], [4, 5, 6], [250, 2, 3], [0, 0, 7]].map(Colour);
        let rows = rows(2, &pixels);
        assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6, 2, 249, 0, 0, 252, 251, 1]);
    }
}
