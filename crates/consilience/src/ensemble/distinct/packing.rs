//! Rows of labels and memberships as a few 64-bit words, so that whole words are hashed and compared
//! where labels would be.

use crate::ensemble::labels::collection::Ensemble;
use crate::ensemble::labels::member::Member;
use crate::ensemble::labels::{Code, Labels, with_codes};
use crate::linalg::{Matrix, vectorised};

/// Objects packed at a time: a word of each stays in the first-level cache for all members.
const TILE: usize = 1 << 10;

/// Where the labels of each member stand in the words of a row: codes plus one, so that missing is 0.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    places: Vec<Place>,
    /// Words per row.
    pub(super) width: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    word: usize,
    shift: u32,
    bits: u32,
}

impl Layout {
    /// A label takes no more bits than its member needs, which has this many clusters.
    pub(super) fn new(clusters: impl IntoIterator<Item = usize>) -> Self {
        Self::of_bits(clusters.into_iter().map(bits))
    }

    /// Every member may have any number of clusters.
    pub(super) fn widest(members: usize) -> Self {
        Self::of_bits((0..members).map(|_| u32::BITS))
    }

    fn of_bits(bits: impl Iterator<Item = u32>) -> Self {
        let (mut words, mut used) = (0, u64::BITS);
        let place = |bits: u32| {
            if used + bits > u64::BITS {
                (words, used) = (words + 1, 0);
            }
            used += bits;
            Place { word: words - 1, shift: used - bits, bits }
        };
        let places = bits.map(place).collect();
        Layout { places, width: words }
    }

    /// Whether there is room for members with these many clusters.
    pub(super) fn holds(&self, clusters: &[usize]) -> bool {
        self.places.iter().zip(clusters).all(|(place, &clusters)| bits(clusters) <= place.bits)
    }

    /// The code of member `h` plus one, 0 if missing, in the words of a row.
    fn plus_one(&self, row: &[u64], h: usize) -> u64 {
        let Place { word, shift, bits } = self.places[h];
        (row[word] >> shift) & ((1 << bits) - 1)
    }

    /// The cluster of member `h` in the words of a row, `None` if missing.
    pub(super) fn index(&self, row: &[u64], h: usize) -> Option<usize> {
        (self.plus_one(row, h) as usize).checked_sub(1)
    }

    /// The same row in another layout, added to `to`, which is blank.
    pub(super) fn move_to(&self, row: &[u64], other: &Layout, to: &mut [u64]) {
        for (h, place) in other.places.iter().enumerate() {
            to[place.word] |= self.plus_one(row, h) << place.shift;
        }
    }
}

/// The bits that tell apart this many clusters and missing; a member without clusters has a place too.
fn bits(clusters: usize) -> u32 {
    u64::BITS - (clusters.max(1) as u64).leading_zeros()
}

/// How the labels and memberships of an object are packed into words.
pub(super) struct Packing<'a> {
    /// Codes plus one, so that missing is 0, at a place in a word of their own or shared.
    hard: Vec<(&'a Labels, Place)>,
    /// The bits of the memberships, a word each from this word on.
    soft: Vec<(&'a Matrix, usize)>,
    /// Words per row.
    pub(super) width: usize,
}

impl<'a> Packing<'a> {
    pub(super) fn new(ensemble: &'a Ensemble) -> Self {
        let (mut hard, mut soft) = (Vec::new(), Vec::new());
        for member in ensemble.members() {
            match member {
                Member::Hard(m) => hard.push(m),
                Member::Soft(m) => soft.push(m.memberships()),
            }
        }
        let layout = Layout::new(hard.iter().map(|m| m.clusters().len()));
        let mut packing = Self::of_columns(&layout, hard.iter().map(|m| m.labels()));
        for memberships in soft {
            packing.soft.push((memberships, packing.width));
            packing.width += memberships.ncols();
        }
        packing
    }

    /// Columns of labels in this layout.
    pub(super) fn of_columns(
        layout: &Layout,
        columns: impl IntoIterator<Item = &'a Labels>,
    ) -> Self {
        let hard = columns.into_iter().zip(layout.places.iter().copied()).collect();
        Packing { hard, soft: Vec::new(), width: layout.width }
    }

    /// Packs `len` rows from object `start` on: word `w` of row `i` goes to `words[w * len + i]`,
    /// so that all rows are packed and hashed side by side.
    pub(super) fn pack(&self, start: usize, len: usize, words: &mut [u64]) {
        words.fill(0);
        for tile in (0..len).step_by(TILE) {
            let tile = tile..len.min(tile + TILE);
            for &(labels, Place { word, shift, .. }) in &self.hard {
                let words = &mut words[word * len..(word + 1) * len][tile.clone()];
                let rows = start + tile.start..start + tile.end;
                with_codes!(labels, codes => pack_codes(&codes[rows], words, shift));
            }
        }
        for &(memberships, word) in &self.soft {
            for i in 0..len {
                for (j, &p) in memberships.row(start + i).iter().enumerate() {
                    // Adding 0 turns -0 into the 0 that it equals.
                    words[(word + j) * len + i] = (p + 0.0).to_bits();
                }
            }
        }
    }
}

fn pack_codes<C: Code>(codes: &[C], words: &mut [u64], shift: u32) {
    vectorised(
        #[inline(always)]
        || {
            for (word, &code) in words.iter_mut().zip(codes) {
                *word |= code.plus_one() << shift;
            }
        },
    );
}

/// Hashes the rows packed in `words`. A blank row, all words 0, has hash 0.
pub(super) fn hash_rows(words: &[u64], hashes: &mut [u64]) {
    let len = hashes.len();
    vectorised(
        #[inline(always)]
        || {
            hashes.fill(0);
            for words in words.chunks_exact(len) {
                hashes.iter_mut().zip(words).for_each(|(hash, &word)| *hash = step(*hash, word));
            }
            hashes.iter_mut().for_each(|hash| *hash = last_step(*hash));
        },
    );
}

/// The hash of one row, as [`hash_rows`] has it.
pub(super) fn hash_row(row: &[u64]) -> u64 {
    last_step(row.iter().fold(0, |hash, &word| step(hash, word)))
}

#[inline(always)]
fn step(hash: u64, word: u64) -> u64 {
    let h = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h ^ (h >> 29)
}

#[inline(always)]
fn last_step(hash: u64) -> u64 {
    let h = (hash ^ (hash >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^ (h >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{HardMember, SoftMember};

    #[test]
    fn labels_take_the_bits_they_need_and_memberships_a_word_each() {
        let three = [Some(0), Some(1), Some(2), None];
        let hard = |_| Member::from(HardMember::from_integers("three clusters: two bits", three));
        let soft = Matrix::from_vec(4, 2, vec![0.5, 0.5, 1.0, 0.0, -0.0, 1.0, 0.0, 0.0]);
        let soft = SoftMember::new("soft", soft, vec!["a".into(), "b".into()]).unwrap();
        let members = (0..33).map(hard).chain([soft.into()]).collect();
        let ensemble = Ensemble::new(members).unwrap();
        let packing = Packing::new(&ensemble);
        assert_eq!(packing.width, 2 + 2);

        let mut words = vec![u64::MAX; 4 * 3];
        packing.pack(1, 3, &mut words);
        assert_eq!(words[0..3], [u64::MAX / 3 * 2, u64::MAX, 0], "32 labels");
        assert_eq!(words[3..6], [2, 3, 0], "the last label");
        assert_eq!(words[6..9], [1f64.to_bits(), 0, 0], "zero whatever its sign");
        assert_eq!(words[9..12], [0, 1f64.to_bits(), 0]);

        let mut hashes = [1; 3];
        hash_rows(&words, &mut hashes);
        assert!(hashes[0] != 0 && hashes[1] != 0 && hashes[0] != hashes[1]);
        assert_eq!(hashes[2], 0, "the row without any label");
        for (i, &hash) in hashes.iter().enumerate() {
            let row: Vec<u64> = words.iter().skip(i).step_by(3).copied().collect();
            assert_eq!(hash_row(&row), hash);
        }
    }

    #[test]
    fn rows_move_from_layout_to_layout() {
        let narrow = Layout::new([3, 300, 1, 255, 256, 1 << 20]);
        assert_eq!(narrow.width, 1);
        assert!(narrow.holds(&[3, 511, 1, 255, 511, 1 << 20]));
        assert!(!narrow.holds(&[4, 300, 1, 255, 256, 1 << 20]));
        let wide = Layout::widest(6);
        assert_eq!(wide.width, 3);
        let codes = [3, 0, 1, 255, 17, 1 << 20];
        let mut row = [0; 3];
        wide.places.iter().zip(codes).for_each(|(p, code)| row[p.word] |= code << p.shift);
        let (mut there, mut back) = ([0; 1], [0; 3]);
        wide.move_to(&row, &narrow, &mut there);
        narrow.move_to(&there, &wide, &mut back);
        assert_eq!(back, row);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|h| narrow.plus_one(&there, h)), codes);
    }
}
