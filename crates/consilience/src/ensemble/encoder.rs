//! From a stream of raw labels to narrow codes.

use hashbrown::HashTable;

use crate::ensemble::labels::{Code, Labels};
use crate::ensemble::member::HardMember;

/// Turns a stream of raw labels into a [`HardMember`]: clusters are numbered in order of first
/// appearance, codes are as narrow as they fit, and no label is kept twice.
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
    /// The integer last seen and its code: integer columns come in runs and from few values.
    recent: [Option<(i64, u32)>; RECENT],
}

const RECENT: usize = 64;

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
            recent: [None; RECENT],
        }
    }

    /// Appends a label given as text.
    pub fn push_text(&mut self, label: &str) {
        let code = self.code(label);
        self.push_code(code);
    }

    /// Appends a label given as an integer; it is the same label as its decimal text.
    pub fn push_integer(&mut self, label: i64) {
        let slot = label.rem_euclid(RECENT as i64) as usize;
        let code = match self.recent[slot] {
            Some((seen, code)) if seen == label => code,
            _ => {
                let code = self.code(&label.to_string());
                self.recent[slot] = Some((label, code));
                code
            }
        };
        self.push_code(code);
    }

    /// Appends an object without a label.
    pub fn push_missing(&mut self) {
        match &mut self.labels {
            Labels::U8(codes) => codes.push(u8::MISSING),
            Labels::U16(codes) => codes.push(u16::MISSING),
            Labels::U32(codes) => codes.push(u32::MISSING),
        }
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
            let shifted = self.labels.iter().map(|code| match code {
                Some(c) if c == gone => None,
                Some(c) => Some(c - usize::from(c > gone)),
                None => None,
            });
            let shifted: Vec<_> = shifted.collect();
            self.labels = Labels::from_indices(self.names.len(), shifted.into_iter());
        }
        self.finish(name)
    }

    fn code(&mut self, label: &str) -> u32 {
        let names = &self.names;
        let found = self.by_name.find(hash(label), |&code| names[code as usize] == label);
        if let Some(&code) = found {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(label.to_owned());
        let names = &self.names;
        self.by_name.insert_unique(hash(label), code, |&code| hash(&names[code as usize]));
        code
    }

    fn push_code(&mut self, code: u32) {
        let index = code as usize;
        let too_narrow = match &self.labels {
            Labels::U8(_) => index >= u8::CAPACITY,
            Labels::U16(_) => index >= u16::CAPACITY,
            Labels::U32(_) => false,
        };
        if too_narrow {
            let old: Vec<_> = self.labels.iter().collect();
            self.labels = Labels::from_indices(index + 1, old.into_iter());
        }
        match &mut self.labels {
            Labels::U8(codes) => codes.push(u8::from_index(index)),
            Labels::U16(codes) => codes.push(u16::from_index(index)),
            Labels::U32(codes) => codes.push(code),
        }
    }
}

/// FNV-1a: short keys, and only the table's speed depends on it, never a result.
fn hash(label: &str) -> u64 {
    label
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
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
        encoder.push_integer(76); // shares the slot of 12 in the table of recent integers
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
}
