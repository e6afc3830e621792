//! The font of figures: how wide texts are, and the outlines of letters.
//!
//! Noto Sans (Apache-2.0) in two weights, which knows Latin, Greek and Cyrillic letters. PDF gets the
//! letters that it needs, PNG their outlines; SVG names the font, and viewers without it take one that
//! is much alike.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// A weight of the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Font {
    /// The normal one.
    Regular,
    /// The bold one.
    Bold,
}

static FACES: LazyLock<[Face<'static>; 2]> = LazyLock::new(|| {
    [Font::Regular, Font::Bold].map(|font| Face::parse(font.bytes(), 0).expect("the font is sound"))
});

impl Font {
    /// The file.
    pub(super) fn bytes(self) -> &'static [u8] {
        match self {
            Font::Regular => ttf_noto_sans::REGULAR,
            Font::Bold => ttf_noto_sans::BOLD,
        }
    }

    /// The font, read.
    pub(super) fn face(self) -> &'static Face<'static> {
        &FACES[self as usize]
    }

    /// The glyph of a letter; that of a missing one where the font has none.
    pub(super) fn glyph(self, letter: char) -> GlyphId {
        self.face().glyph_index(letter).unwrap_or(GlyphId(0))
    }

    /// How far the next letter is, in units of the size.
    pub(super) fn advance(self, glyph: GlyphId) -> f64 {
        let units = self.face().glyph_hor_advance(glyph).unwrap_or(0);
        f64::from(units) / f64::from(self.face().units_per_em())
    }
}

/// How wide a text is.
pub(super) fn width_of(text: &str, font: Font, size: f64) -> f64 {
    size * text.chars().map(|letter| font.advance(font.glyph(letter))).sum::<f64>()
}

/// Whether the font has a letter for everything in the text.
pub(super) fn knows(text: &str) -> bool {
    text.chars().all(|letter| Font::Regular.face().glyph_index(letter).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_figures_need() {
        assert!(knows("Consensus matrix: 0.5, 100 %, μ Ünïcödé Δ Пример … × ≥ –"));
        assert!(!knows("\u{7c7b}"));
        let [wide, narrow] = ["MMM", "iii"].map(|text| width_of(text, Font::Regular, 10.0));
        assert!(wide > 2.0 * narrow && narrow > 0.0);
        assert!(width_of("abc", Font::Bold, 10.0) > width_of("abc", Font::Regular, 10.0));
    }
}
