//! Rows of labels and memberships as a few 64-bit words, so that whole words are hashed and compared
//! where labels would be.

use crate::ensemble::collection::Ensemble;
use crate::ensemble::labels::{Code, Labels, with_codes};
use crate::ensemble::member::Member;
use crate::linalg::{Matrix, vectorised};

/// Objects packed at a time: a word of each stays in the first-level cache for all members.
const TILE: usize = 1 << 10;

/// How the labels and memberships of an object are packed into words.
pub(super) struct Packing<'a> {
    fields: Vec<Field<'a>>,
    /// Words a row.
    pub(super) width: usize,
}

enum Field<'a> {
    /// Codes plus one, so that missing is 0, at a place in a word of their own or shared.
    Hard { labels: &'a Labels, word: usize, shift: u32 },
    /// The bits of the memberships, a word each.
    Soft { memberships: &'a Matrix, word: usize },
}

impl<'a> Packing<'a> {
    pub(super) fn new(ensemble: &'a Ensemble) -> Self {
        let mut fields = Vec::with_capacity(ensemble.members().len());
        let (mut words, mut used) = (0, u64::BITS);
        for member in ensemble.members() {
            if let Member::Hard(m) = member {
                let bits = u64::BITS - (m.clusters().len() as u64).leading_zeros();
                if used + bits > u64::BITS {
                    (words, used) = (words + 1, 0);
                }
                fields.push(Field::Hard { labels: m.labels(), word: words - 1, shift: used });
                used += bits;
            }
        }
        for member in ensemble.members() {
            if let Member::Soft(m) = member {
                fields.push(Field::Soft { memberships: m.memberships(), word: words });
                words += m.memberships().ncols();
            }
        }
        Packing { fields, width: words }
    }

    /// Packs `len` rows from object `start` on: word `w` of row `i` goes to `words[w * len + i]`,
    /// so that all rows are packed and hashed side by side.
    pub(super) fn pack(&self, start: usize, len: usize, words: &mut [u64]) {
        words.fill(0);
        for tile in (0..len).step_by(TILE) {
            let tile = tile..len.min(tile + TILE);
            for field in &self.fields {
                if let Field::Hard { labels, word, shift } = *field {
                    let words = &mut words[word * len..(word + 1) * len][tile.clone()];
                    let rows = start + tile.start..start + tile.end;
                    with_codes!(labels, codes => pack_codes(&codes[rows], words, shift));
                }
            }
        }
        for field in &self.fields {
            if let Field::Soft { memberships, word } = *field {
                for i in 0..len {
                    for (j, &p) in memberships.row(start + i).iter().enumerate() {
                        // Adding 0 turns -0 into the 0 that it equals.
                        words[(word + j) * len + i] = (p + 0.0).to_bits();
                    }
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
                for (hash, &word) in hashes.iter_mut().zip(words) {
                    let h = (*hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    *hash = h ^ (h >> 29);
                }
            }
            for hash in hashes.iter_mut() {
                let h = (*hash ^ (*hash >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd);
                *hash = h ^ (h >> 32);
            }
        },
    );
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
    }
}
