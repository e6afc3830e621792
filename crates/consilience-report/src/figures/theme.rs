//! Colours and sizes of figures: much as on the page in the light.

use super::font::Font;
use super::picture::{Anchor, Colour, Stroke, Word};

pub(super) const INK: Colour = Colour::hex(0x1a_22_30);
pub(super) const SOFT: Colour = Colour::hex(0x55_60_74);
pub(super) const LINE: Colour = Colour::hex(0xd9_de_e6);
pub(super) const ACCENT: Colour = Colour::hex(0x1d_5b_b8);
pub(super) const WEAK: Colour = Colour::hex(0xb3_26_1e);
pub(super) const CAUTION: Colour = Colour::hex(0x8a_52_00);
pub(super) const NONE: Colour = Colour::hex(0x9a_a3_b0);
const RAMP: [u32; 6] = [0xf7_f9_fc, 0xd3_e1_f2, 0x93_b9_de, 0x4a_86_c0, 0x1c_53_96, 0x0a_2a_58];
/// The first six are those of Okabe and Ito (2008), which the colour-blind can tell apart, in the order of
/// the hues on the page; beyond, names and places must help.
const PALETTE: [u32; 12] = [
    0x00_72_b2, 0xd5_5e_00, 0x00_9e_73, 0xcc_79_a7, 0xe6_9f_00, 0x56_b4_e9, 0x6d_4f_b0, 0xa5_47_2f,
    0x5c_66_75, 0x9b_1c_4a, 0x4d_7a_1f, 0x2b_3f_8c,
];

/// A label.
pub(super) const WORD: Word =
    Word { size: 9.0, font: Font::Regular, anchor: Anchor::Start, colour: INK };
/// A number at an axis.
pub(super) const TICK: Word =
    Word { size: 8.0, font: Font::Regular, anchor: Anchor::Start, colour: SOFT };
/// The title.
pub(super) const TITLE: Word =
    Word { size: 12.0, font: Font::Bold, anchor: Anchor::Start, colour: INK };
/// What stands below.
pub(super) const CAPTION: Word =
    Word { size: 8.5, font: Font::Regular, anchor: Anchor::Start, colour: SOFT };

/// A thin line.
pub(super) const fn thin(colour: Colour) -> Stroke {
    Stroke { colour, width: 0.75, dashed: false }
}

/// The colour of a cluster with this number; the same on every page and in every figure.
pub(super) fn of_number(number: u32) -> Colour {
    match PALETTE.get(number as usize) {
        Some(rgb) => Colour::hex(*rgb),
        None => of_hue((f64::from(number) * 137.508) % 360.0, 0.55, 0.40),
    }
}

/// A colour by hue in degrees, saturation and lightness.
pub(super) fn of_hue(hue: f64, saturation: f64, lightness: f64) -> Colour {
    let most = saturation * lightness.min(1.0 - lightness);
    let channel = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let x = lightness - most * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * x).round() as u8
    };
    Colour([channel(0.0), channel(8.0), channel(4.0)])
}

/// The colour with white in it.
pub(super) fn paler(Colour(rgb): Colour) -> Colour {
    Colour(rgb.map(|x| (255.0 - 0.65 * (255.0 - f64::from(x))).round() as u8))
}

/// The colour of a share in [0, 1].
pub(super) fn shade(share: f64) -> Colour {
    let at = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let low = (at.floor() as usize).min(RAMP.len() - 2);
    let (Colour(a), Colour(b)) = (Colour::hex(RAMP[low]), Colour::hex(RAMP[low + 1]));
    let between = |i: usize| {
        let (a, b) = (f64::from(a[i]), f64::from(b[i]));
        (a + (b - a) * (at - low as f64)).round() as u8
    };
    Colour([between(0), between(1), between(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_end_where_the_ramp_does() {
        assert_eq!(shade(0.0), Colour::hex(RAMP[0]));
        assert_eq!(shade(2.0), Colour::hex(RAMP[5]));
        assert_eq!(shade(0.4), Colour::hex(RAMP[2]));
    }

    #[test]
    fn hues_are_as_in_css() {
        assert_eq!(of_hue(0.0, 1.0, 0.5), Colour([255, 0, 0]));
        assert_eq!(of_hue(120.0, 1.0, 0.25), Colour([0, 128, 0]));
        assert_eq!(of_hue(240.0, 0.5, 0.5), Colour([64, 64, 191]));
        assert_ne!(of_number(12), of_number(13));
    }
}
