//! A picture as PDF: one page, text as text in the font that comes with it.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;
use ttf_parser::GlyphId;

use super::font::{Font, width_of};
use super::picture::{Anchor, Colour, Item, Picture, Segment};
use super::png::compressed;

const ADOBE: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
const FONTS: [Font; 2] = [Font::Regular, Font::Bold];

/// Numbers of the objects of a file, each once.
struct Refs(i32);

impl Refs {
    fn next(&mut self) -> Ref {
        self.0 += 1;
        Ref::new(self.0)
    }
}

/// The letters that a picture needs of one font, and their numbers in the file.
#[derive(Default)]
struct Letters {
    glyphs: GlyphRemapper,
    /// By number: the glyph and what it stands for.
    used: BTreeMap<u16, (GlyphId, char)>,
}

impl Letters {
    fn encoded(&mut self, text: &str, font: Font) -> Vec<u8> {
        let number = |letter: char| {
            let glyph = font.glyph(letter);
            let number = self.glyphs.remap(glyph.0);
            self.used.entry(number).or_insert((glyph, letter));
            number.to_be_bytes()
        };
        text.chars().flat_map(number).collect()
    }
}

impl Picture {
    /// The picture as the bytes of a PDF file; `program` is what made it.
    #[must_use]
    pub fn pdf(&self, program: &str) -> Vec<u8> {
        let mut refs = Refs(0);
        let (catalog, pages, page_id, content_id, info) =
            (refs.next(), refs.next(), refs.next(), refs.next(), refs.next());
        let mut letters = [Letters::default(), Letters::default()];
        let mut opacities = BTreeMap::<u32, String>::new();
        let mut images = Vec::new();
        let mut content = Content::new();
        // PDF counts from below.
        content.transform([1.0, 0.0, 0.0, -1.0, 0.0, self.height as f32]);
        for item in &self.items {
            match item {
                Item::Path { .. } => shape(&mut content, item, &mut opacities),
                Item::Text { .. } => text(&mut content, item, &mut letters),
                Item::Image { place: [x, y, w, h], columns, pixels } => {
                    let name = format!("Im{}", images.len());
                    let place = [*w, 0.0, 0.0, -h, *x, y + h].map(|x| x as f32);
                    content.save_state().transform(place);
                    content.x_object(Name(name.as_bytes())).restore_state();
                    images.push((name, refs.next(), *columns, pixels));
                }
            }
        }

        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page_id]).count(1);
        pdf.document_info(info).title(TextStr(&self.title)).producer(TextStr(program));
        let fonts: Vec<(Font, Ref)> = FONTS.map(|font| (font, refs.next())).to_vec();
        let states: Vec<(u32, String, Ref)> =
            opacities.into_iter().map(|(opacity, name)| (opacity, name, refs.next())).collect();
        let mut page = pdf.page(page_id);
        page.parent(pages).contents(content_id);
        page.media_box(Rect::new(0.0, 0.0, self.width as f32, self.height as f32));
        let mut resources = page.resources();
        let mut named = resources.fonts();
        for (font, id) in &fonts {
            named.pair(name_of(*font), *id);
        }
        named.finish();
        let mut named = resources.x_objects();
        for (name, id, ..) in &images {
            named.pair(Name(name.as_bytes()), *id);
        }
        named.finish();
        let mut named = resources.ext_g_states();
        for (_, name, id) in &states {
            named.pair(Name(name.as_bytes()), *id);
        }
        named.finish();
        resources.finish();
        page.finish();
        for (opacity, _, id) in &states {
            pdf.ext_graphics(*id).non_stroking_alpha(*opacity as f32 / 1000.0);
        }
        for (_, id, columns, pixels) in &images {
            let bytes: Vec<u8> = pixels.iter().flat_map(|Colour(rgb)| *rgb).collect();
            let bytes = compressed(&bytes);
            let mut image = pdf.image_xobject(*id, &bytes);
            image.filter(Filter::FlateDecode);
            image.width(*columns as i32);
            image.height((pixels.len() / columns) as i32).bits_per_component(8);
            image.color_space().device_rgb();
        }
        for ((font, id), letters) in fonts.into_iter().zip(&letters) {
            embed(&mut pdf, font, id, letters, &mut refs);
        }
        pdf.stream(content_id, &compressed(content.finish().as_slice()))
            .filter(Filter::FlateDecode);
        pdf.finish()
    }
}

/// What a font is called in the file.
fn name_of(font: Font) -> Name<'static> {
    match font {
        Font::Regular => Name(b"F0"),
        Font::Bold => Name(b"F1"),
    }
}

fn rgb(Colour(channels): Colour) -> [f32; 3] {
    channels.map(|x| f32::from(x) / 255.0)
}

fn shape(content: &mut Content, item: &Item, opacities: &mut BTreeMap<u32, String>) {
    let Item::Path { segments, fill, stroke } = item else { return };
    let trace = |content: &mut Content| {
        for segment in segments {
            match *segment {
                Segment::Move(x, y) => content.move_to(x as f32, y as f32),
                Segment::Line(x, y) => content.line_to(x as f32, y as f32),
                Segment::Curve(a, b, c) => {
                    let [[ax, ay], [bx, by], [cx, cy]] = [a, b, c].map(|p| p.map(|x| x as f32));
                    content.cubic_to(ax, ay, bx, by, cx, cy)
                }
                Segment::Close => content.close_path(),
            };
        }
    };
    if let Some((colour, opacity)) = fill {
        let [r, g, b] = rgb(*colour);
        let thousandths = (1000.0 * opacity).round() as u32;
        content.save_state();
        if thousandths < 1000 {
            let name = format!("G{thousandths}");
            content.set_parameters(Name(name.as_bytes()));
            opacities.insert(thousandths, name);
        }
        content.set_fill_rgb(r, g, b);
        trace(content);
        content.fill_nonzero().restore_state();
    }
    if let Some(stroke) = stroke {
        let [r, g, b] = rgb(stroke.colour);
        content.save_state().set_stroke_rgb(r, g, b).set_line_width(stroke.width as f32);
        if stroke.dashed {
            content.set_dash_pattern([3.0, 2.0], 0.0);
        }
        trace(content);
        content.stroke().restore_state();
    }
}

fn text(content: &mut Content, item: &Item, letters: &mut [Letters; 2]) {
    let Item::Text { at: [x, y], text, size, font, anchor, colour, upright } = item else { return };
    let width = width_of(text, *font, *size);
    let back = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    // Text stands on its feet although the page is upside down.
    let matrix = if *upright {
        [0.0, -1.0, -1.0, 0.0, *x, y + back]
    } else {
        [1.0, 0.0, 0.0, -1.0, x - back, *y]
    };
    let [r, g, b] = rgb(*colour);
    content.begin_text().set_fill_rgb(r, g, b).set_font(name_of(*font), *size as f32);
    content.set_text_matrix(matrix.map(|x| x as f32));
    content.show(Str(&letters[*font as usize].encoded(text, *font))).end_text();
}

/// Writes those letters of a font that are used.
fn embed(pdf: &mut Pdf, font: Font, id: Ref, letters: &Letters, refs: &mut Refs) {
    let [descendant, descriptor, unicode, file] = [(); 4].map(|()| refs.next());
    let face = font.face();
    let per_mille = |units: i16| 1000.0 * f32::from(units) / f32::from(face.units_per_em());
    // Six letters tell that it is a part of a font.
    let name = match font {
        Font::Regular => Name(b"CONSIL+NotoSans"),
        Font::Bold => Name(b"CONSIL+NotoSans-Bold"),
    };
    let mut outer = pdf.type0_font(id);
    outer.base_font(name).encoding_predefined(Name(b"Identity-H"));
    outer.descendant_font(descendant).to_unicode(unicode);
    outer.finish();
    let mut inner = pdf.cid_font(descendant);
    inner.subtype(CidFontType::Type2).base_font(name).system_info(ADOBE);
    inner.font_descriptor(descriptor).default_width(0.0);
    inner.cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = inner.widths();
    for (number, (glyph, _)) in &letters.used {
        widths.same(*number, *number, 1000.0 * font.advance(*glyph) as f32);
    }
    widths.finish();
    inner.finish();
    let bounds = face.global_bounding_box();
    let mut described = pdf.font_descriptor(descriptor);
    described.name(name).flags(FontFlags::SYMBOLIC).italic_angle(0.0).font_file2(file);
    described.bbox(Rect::new(
        per_mille(bounds.x_min),
        per_mille(bounds.y_min),
        per_mille(bounds.x_max),
        per_mille(bounds.y_max),
    ));
    described.ascent(per_mille(face.ascender())).descent(per_mille(face.descender()));
    described.cap_height(per_mille(face.capital_height().unwrap_or(1400))).stem_v(80.0);
    described.finish();
    let mut map = UnicodeCmap::new(Name(b"Custom"), ADOBE);
    letters.used.iter().for_each(|(number, (_, letter))| map.pair(*number, *letter));
    pdf.stream(unicode, map.finish().as_slice());
    // The font is sound, and so is a part of it.
    let part = subsetter::subset(font.bytes(), 0, &letters.glyphs)
        .unwrap_or_else(|_| font.bytes().to_vec());
    let bytes = compressed(&part);
    let mut stream = pdf.stream(file, &bytes);
    stream.filter(Filter::FlateDecode);
    stream.pair(Name(b"Length1"), part.len() as i32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::theme::WORD;

    #[test]
    fn a_page_with_its_font_and_nothing_that_changes() {
        let mut picture = Picture { width: 100.0, height: 50.0, ..Picture::default() };
        picture.text([5.0, 20.0], "agreement", WORD);
        picture.rect([1.0, 2.0, 3.0, 4.0], Colour::hex(0xff_00_00), 0.25);
        let pdf = picture.pdf("consilience");
        assert!(pdf.starts_with(b"%PDF-1.7"));
        let has = |text: &[u8]| pdf.windows(text.len()).any(|part| part == text);
        assert!(has(b"CONSIL+NotoSans") && has(b"/ca 0.25") && has(b"[0 0 100 50]"));
        assert_eq!(picture.pdf("consilience"), pdf);
        // Only the letters that are used come along.
        assert!(pdf.len() < 20_000, "{}", pdf.len());
        // The map from glyphs to letters is there for those who copy text.
        assert!(has(b"<0001> <0061>"), "the first letter is an a");
    }
}
