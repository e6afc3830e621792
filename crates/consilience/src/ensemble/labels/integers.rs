//! From whole columns of integers to narrow codes.

use std::fmt::Display;

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::ensemble::labels::member::HardMember;
use crate::ensemble::labels::{Code, Labels};
use crate::ensemble::profiles::mix;

/// Integer types that label columns come in.
pub trait Integer: Copy + Ord + Display + Send + Sync + 'static {
    /// How far the integer is above `low`, which is not above it.
    fn above(self, low: Self) -> u64;
}

macro_rules! impl_integer {
    ($($t:ty as $unsigned:ty),*) => {$(
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
    ///
    /// ```
    /// use consilience::ensemble::Labels;
    /// let (labels, clusters) = Labels::from_integers(&[7u32, 3, 0, 7], |_, label| label == 0);
    /// assert_eq!(clusters, [7, 3]);
    /// assert_eq!(labels.iter().collect::<Vec<_>>(), [Some(0), Some(1), None, Some(0)]);
    /// ```
    pub fn from_integers<T: Integer>(
        integers: &[T],
        missing: impl Fn(usize, T) -> bool + Sync,
    ) -> (Labels, Vec<T>) {
        let range = integers
            .par_chunks(CHUNK)
            .enumerate()
            .filter_map(|(chunk, integers)| {
                present(chunk, integers, &missing)
                    .fold(None, |range, (_, x)| Some(wider(range.unwrap_or((x, x)), (x, x))))
            })
            .reduce_with(wider);
        let Some((low, high)) = range else {
            return (Labels::U8(vec![u8::MISSING; integers.len()]), Vec::new());
        };
        if high.above(low) >= DENSE {
            return by_hashing(integers, low, missing);
        }
        let range = high.above(low) as usize + 1;
        let clusters = appearances(integers, low, range, range, &missing);
        let labels = Labels::with_capacity(clusters.len(), 0);
        let labels = match labels {
            Labels::U8(_) => Labels::U8(by_table(integers, low, range, &clusters, &missing)),
            Labels::U16(_) => Labels::U16(by_table(integers, low, range, &clusters, &missing)),
            Labels::U32(_) => Labels::U32(by_table(integers, low, range, &clusters, &missing)),
        };
        (labels, clusters)
    }

    /// [`from_integers`](Self::from_integers) where some integers mean that there is no label, wherever
    /// they stand.
    ///
    /// ```
    /// use consilience::ensemble::Labels;
    /// let (labels, clusters) = Labels::from_integers_but(&[7u32, 3, 0, 7], &[0]);
    /// assert_eq!(clusters, [7, 3]);
    /// assert_eq!(labels.iter().collect::<Vec<_>>(), [Some(0), Some(1), None, Some(0)]);
    /// ```
    pub fn from_integers_but<T: Integer>(integers: &[T], missing: &[T]) -> (Labels, Vec<T>) {
        let gone = |_, x: T| missing.contains(&x);
        // Of a chunk without the question who is missing, for which no register is wide.
        let of_chunk = |integers: &[T]| {
            let (&first, rest) = integers.split_first()?;
            Some(rest.iter().fold((first, first), |(low, high), &x| (low.min(x), high.max(x))))
        };
        let range = integers.par_chunks(CHUNK).filter_map(of_chunk).reduce_with(wider);
        let Some((low, high)) = range.filter(|&(low, high)| high.above(low) < DENSE) else {
            return Labels::from_integers(integers, gone);
        };
        let range = high.above(low) as usize + 1;
        let mut unwanted = missing.to_vec();
        unwanted.sort_unstable();
        unwanted.dedup();
        unwanted.retain(|x| (low..=high).contains(x));
        let clusters = appearances(integers, low, range, range - unwanted.len(), &gone);
        let labels = match Labels::with_capacity(clusters.len(), 0) {
            Labels::U8(_) => Labels::U8(looked_up(integers, low, range, &clusters)),
            Labels::U16(_) => Labels::U16(looked_up(integers, low, range, &clusters)),
            Labels::U32(_) => Labels::U32(looked_up(integers, low, range, &clusters)),
        };
        (labels, clusters)
    }
}

impl HardMember {
    /// [`from_integer_slice`](Self::from_integer_slice) where some integers mean that there is no label,
    /// wherever they stand.
    pub fn from_integers_but<T: Integer>(
        name: impl Into<String>,
        labels: &[T],
        missing: &[T],
    ) -> Self {
        let (labels, clusters) = Labels::from_integers_but(labels, missing);
        let clusters = clusters.iter().map(ToString::to_string).collect();
        HardMember::from_parts(name.into(), labels, clusters)
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
}

/// The integers of a chunk that are labels, with their places in the chunk.
fn present<T: Integer>(
    chunk: usize,
    integers: &[T],
    missing: &impl Fn(usize, T) -> bool,
) -> impl Iterator<Item = (usize, T)> {
    let integers = integers.iter().copied().enumerate();
    integers.filter(move |&(i, x)| !missing(chunk * CHUNK + i, x))
}

fn wider<T: Ord>(a: (T, T), b: (T, T)) -> (T, T) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The integers in order of first appearance, all in a `range` above `low`; there are at most `most`.
fn appearances<T: Integer>(
    integers: &[T],
    low: T,
    range: usize,
    most: usize,
    missing: &(impl Fn(usize, T) -> bool + Sync),
) -> Vec<T> {
    let add_new = |seen: &mut [bool], all: &mut Vec<T>, x: T| {
        let seen = &mut seen[x.above(low) as usize];
        if !*seen {
            *seen = true;
            all.push(x);
        }
        all.len() < most
    };
    let of_chunk = |(chunk, integers)| {
        let (mut seen, mut all) = (vec![false; range], Vec::new());
        // Mostly all are seen soon.
        let _ = present(chunk, integers, missing).all(|(_, x)| add_new(&mut seen, &mut all, x));
        all
    };
    let mut chunks = integers.chunks(CHUNK).enumerate();
    let first = chunks.next().map(of_chunk).unwrap_or_default();
    if first.len() == most {
        return first;
    }
    let chunks = integers.par_chunks(CHUNK).enumerate().skip(1);
    let others: Vec<Vec<T>> = chunks.map(of_chunk).collect();
    let (mut seen, mut all) = (vec![false; range], Vec::new());
    for x in first.into_iter().chain(others.into_iter().flatten()) {
        add_new(&mut seen, &mut all, x);
    }
    all
}

fn by_table<T: Integer, C: Code>(
    integers: &[T],
    low: T,
    range: usize,
    clusters: &[T],
    missing: &(impl Fn(usize, T) -> bool + Sync),
) -> Vec<C> {
    let table = code_table(low, range, clusters);
    let mut codes = vec![C::MISSING; integers.len()];
    codes.par_chunks_mut(CHUNK).zip(integers.par_chunks(CHUNK)).enumerate().for_each(
        |(chunk, (codes, integers))| {
            for (i, x) in present(chunk, integers, missing) {
                codes[i] = table[x.above(low) as usize];
            }
        },
    );
    codes
}

/// The codes of integers, none of which is out of `range`; those that are no cluster are missing.
fn looked_up<T: Integer, C: Code>(integers: &[T], low: T, range: usize, clusters: &[T]) -> Vec<C> {
    let table: Vec<C> = code_table(low, range, clusters);
    let codes = integers.par_iter().with_min_len(CHUNK);
    codes.map(|x| table[x.above(low) as usize]).collect()
}

/// The code of every integer from `low` on.
fn code_table<T: Integer, C: Code>(low: T, range: usize, clusters: &[T]) -> Vec<C> {
    let mut table = vec![C::MISSING; range];
    for (code, x) in clusters.iter().enumerate() {
        table[x.above(low) as usize] = C::from_index(code);
    }
    table
}

fn by_hashing<T: Integer>(
    integers: &[T],
    low: T,
    missing: impl Fn(usize, T) -> bool,
) -> (Labels, Vec<T>) {
    let hash = |x: T| mix(x.above(low));
    let mut seen: HashTable<(T, u32)> = HashTable::new();
    let mut clusters = Vec::new();
    let mut labels = Labels::with_capacity(0, integers.len());
    for (i, &x) in integers.iter().enumerate() {
        if missing(i, x) {
            labels.push(None);
            continue;
        }
        let known = seen.find(hash(x), |&(other, _)| other == x);
        let code = known.map_or(clusters.len() as u32, |&(_, code)| code);
        if known.is_none() {
            seen.insert_unique(hash(x), (x, code), |&(x, _)| hash(x));
            clusters.push(x);
        }
        labels.push(Some(code as usize));
    }
    (labels, clusters)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::LabelEncoder;

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
