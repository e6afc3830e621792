//! From a stream of raw labels to narrow codes.

use hashbrown::HashTable;

use crate::ensemble::labels::member::HardMember;
use crate::ensemble::labels::{Code, Labels};
use crate::ensemble::profiles::mix;

/// Turns a stream of raw labels into a [`HardMember`]: clusters are numbered in order of first
/// appearance, codes are as narrow as they fit, and no label is kept twice.
///
/// Whole columns of integers are encoded faster by
/// [`HardMember::from_integer_slice`](crate::ensemble::HardMember::from_integer_slice).
///
/// ```
/// use consilience::ensemble::LabelEncoder;
/// let mut encoder = LabelEncoder::new();
/// for label in ["T cell", "B cell", "T cell"] {
///     encoder.push_text(label);
/// }
/// encoder.push_missing();
/// let member = encoder.finish("site 1");
/// assert_eq!(member.clusters(), ["T cell", "B cell"]);
/// assert_eq!(member.labels().get(2), Some(0));
/// ```
#[derive(Clone, Debug)]
pub struct LabelEncoder {
    labels: Labels,
    names: Vec<String>,
    /// Codes by the hash of their name.
    by_name: HashTable<u32>,
    /// Integers seen and their codes, by the hash of the integer.
    by_integer: HashTable<(i64, u32)>,
    /// Short texts lately seen, packed into words, and their codes: most columns hold few values.
    recent_texts: Recent,
    /// Integers lately seen and their codes.
    recent_integers: Recent,
}

impl Default for LabelEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl LabelEncoder {
    /// An encoder that has seen nothing.
    pub fn new() -> Self {
        LabelEncoder {
            labels: Labels::with_capacity(0, 0),
            names: Vec::new(),
            by_name: HashTable::new(),
            by_integer: HashTable::new(),
            recent_texts: Recent::new(),
            recent_integers: Recent::new(),
        }
    }

    /// Appends a label given as text.
    #[inline]
    pub fn push_text(&mut self, label: &str) {
        let word = short(label.as_bytes());
        let recent = word.and_then(|word| self.recent_texts.get(word));
        let code = recent.unwrap_or_else(|| self.code_of_text(label, word));
        self.labels.push(Some(code as usize));
    }

    /// Appends a label given as an integer; it is the same label as its decimal text.
    #[inline]
    pub fn push_integer(&mut self, label: i64) {
        let recent = self.recent_integers.get(label as u64);
        let code = recent.unwrap_or_else(|| self.code_of_integer(label));
        self.labels.push(Some(code as usize));
    }

    /// Appends an object without a label.
    pub fn push_missing(&mut self) {
        self.labels.push(None);
    }

    /// How many objects were seen.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The member.
    pub fn finish(self, name: impl Into<String>) -> HardMember {
        HardMember::from_parts(name.into(), self.labels, self.names)
    }

    /// The member, with `-1` read as missing if all labels are integers (the usual spelling of
    /// "noise" or "unassigned" in integer label tables).
    pub fn finish_with_minus_one_missing(mut self, name: impl Into<String>) -> HardMember {
        let minus_one = self.names.iter().position(|label| label == "-1");
        if let Some(gone) = minus_one
            && self.names.iter().all(|label| label.parse::<i64>().is_ok())
        {
            self.names.remove(gone);
            let rename = |code: usize| (code != gone).then(|| code - usize::from(code > gone));
            self.labels = self.labels.renamed(self.names.len(), rename);
        }
        self.finish(name)
    }

    fn code_of_text(&mut self, label: &str, word: Option<u64>) -> u32 {
        let code = self.code(label);
        if let Some(word) = word {
            self.recent_texts.put(word, code);
        }
        code
    }

    fn code_of_integer(&mut self, label: i64) -> u32 {
        let hash = mix(label as u64);
        let known = self.by_integer.find(hash, |(seen, _)| *seen == label).map(|&(_, code)| code);
        let code = known.unwrap_or_else(|| {
            let code = self.code(&label.to_string());
            let hash_of = |&(label, _): &(i64, u32)| mix(label as u64);
            self.by_integer.insert_unique(hash, (label, code), hash_of);
            code
        });
        self.recent_integers.put(label as u64, code);
        code
    }

    fn code(&mut self, label: &str) -> u32 {
        let hash = hash(label.as_bytes());
        let names = &self.names;
        if let Some(&code) = self.by_name.find(hash, |&code| names[code as usize] == label) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(label.to_owned());
        let names = &self.names;
        let hash_of = |&code: &u32| self::hash(names[code as usize].as_bytes());
        self.by_name.insert_unique(hash, code, hash_of);
        code
    }
}

/// Words lately seen and their codes, each in the one slot where it may stand.
#[derive(Clone, Debug)]
struct Recent(Vec<(u64, u32)>);

impl Recent {
    /// Enough for the labels of most members, and little beside the caches.
    const BITS: u32 = 7;
    /// The code of a free slot: no cluster has it, it means missing.
    const FREE: u32 = u32::MISSING;

    fn new() -> Self {
        Recent(vec![(0, Self::FREE); 1 << Self::BITS])
    }

    fn slot(word: u64) -> usize {
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Self::BITS)) as usize
    }

    #[inline]
    fn get(&self, word: u64) -> Option<u32> {
        let (seen, code) = self.0[Self::slot(word)];
        (seen == word && code != Self::FREE).then_some(code)
    }

    fn put(&mut self, word: u64, code: u32) {
        self.0[Self::slot(word)] = (word, code);
    }
}

/// Up to eight bytes as a word, the first lowest.
fn word(bytes: &[u8]) -> u64 {
    let at = |i: usize| u64::from(bytes[i]);
    match bytes.len() {
        0 => 0,
        1..4 => {
            let last = bytes.len() - 1;
            at(0) | at(last / 2) << (8 * (last / 2)) | at(last) << (8 * last)
        }
        n => {
            let half = |i: usize| {
                let bytes: [u8; 4] = bytes[i..i + 4].try_into().expect("four bytes");
                u64::from(u32::from_le_bytes(bytes))
            };
            // The halves overlap where there are fewer than eight.
            half(0) | half(n - 4) << (8 * (n - 4))
        }
    }
}

/// A text of up to seven bytes as a word of its own: a bit above the last byte tells its length.
fn short(label: &[u8]) -> Option<u64> {
    (label.len() < 8).then(|| word(label) | 1 << (8 * label.len()))
}

/// Only the tables' speed depends on it, never a result.
fn hash(label: &[u8]) -> u64 {
    let (words, rest) = label.as_chunks::<8>();
    let words = words.iter().map(|&bytes| u64::from_le_bytes(bytes));
    words.chain([word(rest)]).fold(label.len() as u64, |hash, word| mix(hash ^ word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_widen_as_clusters_appear() {
        let mut encoder = LabelEncoder::new();
        for label in 0..300 {
            encoder.push_integer(label);
        }
        encoder.push_missing();
        encoder.push_integer(299);
        let member = encoder.finish("wide");
        assert!(matches!(member.labels(), Labels::U16(_)));
        assert_eq!(member.labels().get(254), Some(254));
        assert_eq!(member.labels().get(300), None);
        assert_eq!(member.labels().get(301), Some(299));
        assert_eq!(member.clusters()[299], "299");
    }

    #[test]
    fn an_integer_and_its_text_are_one_label() {
        let mut encoder = LabelEncoder::new();
        encoder.push_integer(12);
        encoder.push_text("12");
        encoder.push_integer(76);
        encoder.push_integer(12);
        let codes: Vec<_> = encoder.finish("a").labels().iter().collect();
        assert_eq!(codes, [Some(0), Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn minus_one_is_missing_among_integers_only() {
        let encode = |labels: [&str; 3]| {
            let mut encoder = LabelEncoder::new();
            labels.iter().for_each(|label| encoder.push_text(label));
            encoder.finish_with_minus_one_missing("a")
        };
        let integers = encode(["-1", "4", "5"]);
        assert_eq!(integers.clusters(), ["4", "5"]);
        assert_eq!(integers.labels().iter().collect::<Vec<_>>(), [None, Some(0), Some(1)]);
        assert_eq!(encode(["-1", "4", "x"]).clusters(), ["-1", "4", "x"]);
    }

    proptest! {
        #[test]
        fn codes_agree_with_a_list_of_names(
            labels in proptest::collection::vec(
                proptest::option::weighted(0.9, prop_oneof![
                    "[a-c]{0,3}", "[ab]{6,9}", "[ab]{15,18}", (-3..300i64).prop_map(|x| x.to_string()),
                ]),
                0..400,
            ),
            as_integer: bool,
        ) {
            let mut encoder = LabelEncoder::new();
            let mut names: Vec<String> = Vec::new();
            let mut codes = Vec::new();
            for label in &labels {
                let Some(label) = label else {
                    encoder.push_missing();
                    codes.push(None);
                    continue;
                };
                match label.parse() {
                    Ok(integer) if as_integer => encoder.push_integer(integer),
                    _ => encoder.push_text(label),
                }
                codes.push(Some(names.iter().position(|name| name == label).unwrap_or_else(|| {
                    names.push(label.clone());
                    names.len() - 1
                })));
            }
            prop_assert_eq!(encoder.len(), labels.len());
            let member = encoder.finish("a");
            prop_assert_eq!(member.clusters(), names);
            prop_assert_eq!(member.labels().iter().collect::<Vec<_>>(), codes);
        }
    }
}
