//! The one coder of labels: values are numbered in order of first appearance.
//!
//! [`Numbering`] does it for values of any kind, [`LabelEncoder`] for a column of texts and integers
//! that come one by one, and [`Labels::from_integers`] for a whole column of integers at once.

use std::borrow::Borrow;
use std::fmt::Display;

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::ensemble::labels::member::HardMember;
use crate::ensemble::labels::{Code, Labels, map_codes};
use crate::ensemble::profiles::mix;

/// Different values, numbered in order of first appearance.
#[derive(Clone, Debug)]
pub(crate) struct Numbering<T> {
    values: Vec<T>,
    /// Codes by the hash of their values.
    index: HashTable<u32>,
}

/// What a [`Numbering`] can look up. Only its speed depends on the hash, never a result.
pub trait Hashed: Eq + ToOwned {
    /// Well mixed bits of the value.
    fn hashed(&self) -> u64;
}

impl Hashed for str {
    fn hashed(&self) -> u64 {
        let (words, rest) = self.as_bytes().as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let step = |hash: u64, &word: &[u8; 8]| mix(hash ^ u64::from_le_bytes(word));
        words.iter().chain([&last]).fold(self.len() as u64, step)
    }
}

impl<T> Default for Numbering<T> {
    fn default() -> Self {
        Numbering { values: Vec::new(), index: HashTable::new() }
    }
}

impl<T> Numbering<T> {
    /// The code of a value, a new one if it was not there.
    #[inline]
    pub(crate) fn code<Q: Hashed<Owned = T> + ?Sized>(&mut self, value: &Q) -> u32
    where
        T: Borrow<Q>,
    {
        let Numbering { values, index } = self;
        let next = values.len() as u32;
        let of = |&code: &u32| -> &Q { values[code as usize].borrow() };
        let entry = index.entry(value.hashed(), |code| of(code) == value, |code| of(code).hashed());
        let code = *entry.or_insert(next).get();
        if code == next {
            self.values.push(value.to_owned());
        }
        code
    }

    /// The code of a value, if it is there.
    pub(crate) fn get<Q: Hashed<Owned = T> + ?Sized>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        let is = |&code: &u32| self.values[code as usize].borrow() == value;
        self.index.find(value.hashed(), is).copied()
    }

    /// The values by code.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

impl FromIterator<String> for Numbering<String> {
    /// Names that are there already do not count again.
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut numbering = Numbering::default();
        for name in names {
            numbering.code(&*name);
        }
        numbering
    }
}

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
    names: Numbering<String>,
    integers: Numbering<i64>,
    /// The code of each of the integers among the names.
    codes: Vec<u32>,
}

impl Default for LabelEncoder {
    fn default() -> Self {
        let labels = Labels::with_capacity(0, 0);
        let (names, integers) = (Numbering::default(), Numbering::default());
        LabelEncoder { labels, names, integers, codes: Vec::new() }
    }
}

impl LabelEncoder {
    /// An encoder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a label given as text.
    pub fn push_text(&mut self, label: &str) {
        let code = self.names.code(label);
        self.labels.push(Some(code as usize));
    }

    /// Appends a label given as an integer; it is the same label as its decimal text.
    pub fn push_integer(&mut self, label: i64) {
        let place = self.integers.code(&label) as usize;
        if place == self.codes.len() {
            self.codes.push(self.names.code(&*label.to_string()));
        }
        self.labels.push(Some(self.codes[place] as usize));
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
        HardMember::from_parts(name.into(), self.labels, self.names.values)
    }

    /// The member, with `-1` read as missing if all labels are integers (the usual spelling of
    /// "noise" or "unassigned" in integer label tables).
    pub fn finish_with_minus_one_missing(mut self, name: impl Into<String>) -> HardMember {
        if let Some(gone) = self.names.get("-1")
            && self.names.values.iter().all(|label| label.parse::<i64>().is_ok())
        {
            let gone = gone as usize;
            self.names.values.remove(gone);
            let rename = |code: usize| (code != gone).then(|| code - usize::from(code > gone));
            self.labels = self.labels.renamed(self.names.values.len(), rename);
        }
        self.finish(name)
    }
}

/// Integer types that label columns come in.
pub trait Integer: Copy + Ord + Display + Hashed<Owned = Self> + Send + Sync + 'static {
    /// How far the integer is above `low`, which is not above it.
    fn above(self, low: Self) -> u64;
}

macro_rules! impl_integer {
    ($($t:ty as $unsigned:ty),*) => {$(
        impl Hashed for $t {
            #[inline]
            fn hashed(&self) -> u64 {
                mix(*self as u64)
            }
        }

        impl Integer for $t {
            #[inline]
            fn above(self, low: Self) -> u64 {
                // Right even where the distance is more than the signed type holds.
                u64::from(self.wrapping_sub(low) as $unsigned)
            }
        }
    )*};
}
impl_integer!(i8 as u8, i16 as u16, i32 as u32, i64 as u64);
impl_integer!(u8 as u8, u16 as u16, u32 as u32, u64 as u64);

/// Objects in a chunk of the parallel passes.
const CHUNK: usize = 1 << 16;
/// Ranges of integers up to this length are looked up in a table, longer ones by hashing.
const DENSE: u64 = 1 << 16;

impl Labels {
    /// Numbers any integers in order of first appearance: the codes, and the integer that each code
    /// stands for. `missing(i, integers[i])` says where there is no label. Integers that do not
    /// occur get no code.
    ///
    /// Runs in parallel where the integers lie close together, as most labels do.
    pub(crate) fn from_integers<T: Integer>(
        integers: &[T],
        missing: impl Fn(usize, T) -> bool + Sync,
    ) -> (Labels, Vec<T>) {
        let wider = |a: (T, T), b: (T, T)| (a.0.min(b.0), a.1.max(b.1));
        let chunks = || integers.par_chunks(CHUNK).enumerate();
        let range_of = |chunk| present(chunk, &missing).map(|x| (x, x)).reduce(wider);
        let Some((low, high)) = chunks().filter_map(range_of).reduce_with(wider) else {
            return (Labels::U8(vec![u8::MISSING; integers.len()]), Vec::new());
        };
        if high.above(low) >= DENSE {
            let mut seen = Numbering::default();
            let mut labels = Labels::with_capacity(0, integers.len());
            for (i, x) in integers.iter().enumerate() {
                labels.push((!missing(i, *x)).then(|| seen.code(x) as usize));
            }
            return (labels, seen.values);
        }
        let place = |x: T| x.above(low) as usize;
        let range = place(high) + 1;
        let of_chunks: Vec<Vec<T>> =
            chunks().map(|chunk| firsts(present(chunk, &missing), range, place)).collect();
        let clusters = firsts(of_chunks.into_iter().flatten(), range, place);
        let mut table = vec![u32::MISSING; range];
        (0..).zip(&clusters).for_each(|(code, &x)| table[place(x)] = code);
        let code = |i, x| (!missing(i, x)).then(|| table[place(x)] as usize);
        let labels =
            map_codes!(Labels::with_capacity(clusters.len(), 0), _ => coded(integers, code));
        (labels, clusters)
    }
}

/// The integers of a chunk that are labels.
fn present<T: Integer>(
    (chunk, integers): (usize, &[T]),
    missing: &impl Fn(usize, T) -> bool,
) -> impl Iterator<Item = T> {
    let places = chunk * CHUNK..;
    places.zip(integers).filter(|&(i, &x)| !missing(i, x)).map(|(_, &x)| x)
}

fn coded<T: Integer, C: Code>(
    integers: &[T],
    code: impl Fn(usize, T) -> Option<usize> + Sync,
) -> Vec<C> {
    let coded = |(i, &x): (usize, &T)| code(i, x).map_or(C::MISSING, C::from_index);
    integers.par_iter().enumerate().with_min_len(CHUNK).map(coded).collect()
}

/// Different values in order of first appearance; `place(x)`, below `range`, is where `x` is looked up.
fn firsts<T: Copy>(
    values: impl Iterator<Item = T>,
    range: usize,
    place: impl Fn(T) -> usize,
) -> Vec<T> {
    let (mut seen, mut all) = (vec![false; range], Vec::new());
    for x in values {
        if !std::mem::replace(&mut seen[place(x)], true) {
            all.push(x);
            // Mostly all are seen soon.
            if all.len() == range {
                break;
            }
        }
    }
    all
}

impl HardMember {
    /// A member from any integers; `None` is missing. Clusters are numbered in order of appearance
    /// and named by their integer.
    pub fn from_integers(
        name: impl Into<String>,
        labels: impl IntoIterator<Item = Option<i64>>,
    ) -> Self {
        let mut encoder = LabelEncoder::new();
        for label in labels {
            match label {
                Some(label) => encoder.push_integer(label),
                None => encoder.push_missing(),
            }
        }
        encoder.finish(name)
    }

    /// A member from a column of integers of any width; `missing(i, labels[i])` says which objects
    /// have no label. Clusters are numbered in order of appearance and named by their integer, and
    /// integers that do not occur are none.
    ///
    /// ```
    /// use consilience::ensemble::HardMember;
    /// let member = HardMember::from_integer_slice("a", &[4i32, -1, 0, 4], |_, label| label == -1);
    /// assert_eq!(member, HardMember::from_integers("a", [Some(4), None, Some(0), Some(4)]));
    /// ```
    pub fn from_integer_slice<T: Integer>(
        name: impl Into<String>,
        labels: &[T],
        missing: impl Fn(usize, T) -> bool + Sync,
    ) -> Self {
        let (labels, clusters) = Labels::from_integers(labels, missing);
        let clusters = clusters.iter().map(ToString::to_string).collect();
        HardMember::from_parts(name.into(), labels, clusters)
    }

    /// [`from_integer_slice`](Self::from_integer_slice) where some integers mean that there is no label,
    /// wherever they stand.
    pub fn from_integers_but<T: Integer>(
        name: impl Into<String>,
        labels: &[T],
        missing: &[T],
    ) -> Self {
        Self::from_integer_slice(name, labels, |_, label| missing.contains(&label))
    }
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

    fn one_by_one<T: Integer>(integers: &[T], missing: impl Fn(usize, T) -> bool) -> HardMember {
        let mut encoder = LabelEncoder::new();
        for (i, &x) in integers.iter().enumerate() {
            if missing(i, x) { encoder.push_missing() } else { encoder.push_text(&x.to_string()) }
        }
        encoder.finish("a")
    }

    fn check<T: Integer>(integers: &[T], missing: impl Fn(usize, T) -> bool + Sync) {
        let expected = one_by_one(integers, &missing);
        assert_eq!(HardMember::from_integer_slice("a", integers, missing), expected);
    }

    fn check_but<T: Integer>(integers: &[T], missing: &[T]) {
        let expected = one_by_one(integers, |_, x| missing.contains(&x));
        assert_eq!(HardMember::from_integers_but("a", integers, missing), expected);
    }

    #[test]
    fn integers_of_any_width_and_range_are_numbered_by_first_appearance() {
        check(&[-128i8, 127, 0, -128], |_, _| false);
        check(&[u64::MAX, 0, u64::MAX], |_, _| false);
        check(&[i64::MIN, i64::MAX, -1, i64::MIN], |_, x| x == -1);
        check(&(0..70_000u32).rev().collect::<Vec<_>>(), |_, _| false);
        check(&(0..300u16).rev().collect::<Vec<_>>(), |i, _| i == 7);
        check::<i32>(&[], |_, _| false);
        check(&[1u8, 2], |_, _| true);
        check_but(&[-128i8, 127, 0, -128], &[]);
        check_but(&[i64::MIN, 3, -1, 4, i64::MIN], &[-1, i64::MIN]);
        check_but::<u8>(&[], &[1]);
        check_but(&[1u8, 1], &[1, 7, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn columns_of_many_chunks_agree_with_labels_pushed_one_by_one(
            n in prop_oneof![1..100usize, CHUNK - 2..CHUNK + 3, 1..3 * CHUNK],
            range in prop_oneof![1..10i64, Just(DENSE as i64), Just(1 << 40)],
            low in -1000..1000i64,
            share in 0..100u64,
            seed: u64,
        ) {
            let integers: Vec<i64> =
                (0..n as u64).map(|i| low + (mix(seed ^ i) as i64).rem_euclid(range)).collect();
            let gone = |i: usize, _: i64| mix(seed ^ !(i as u64)) % 100 < share;
            check(&integers, gone);
            check_but(&integers, &[low + (seed % 7) as i64, low - 1, low]);
        }
    }
}
