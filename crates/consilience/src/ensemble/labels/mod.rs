//! Label codes, as narrow as they fit; how raw labels become codes (`coder`), members and their
//! ensemble (`member`, `collection`).

pub(crate) mod coder;
pub(crate) mod collection;
pub(crate) mod member;

/// A label code of some width. The largest value of the width means "missing".
pub trait Code: Copy + Eq + Send + Sync + 'static {
    /// The code of a missing label.
    const MISSING: Self;
    /// How many clusters this width can tell apart.
    const CAPACITY: usize;

    /// The code of cluster `index`, which must be below [`CAPACITY`](Self::CAPACITY).
    fn from_index(index: usize) -> Self;

    /// The cluster's index, or `None` if missing.
    fn index(self) -> Option<usize>;

    /// The cluster's index plus one, or 0 if missing.
    fn plus_one(self) -> u64;

    /// The same code in another width, which must be wide enough.
    fn convert<D: Code>(self) -> D {
        self.index().map_or(D::MISSING, D::from_index)
    }
}

macro_rules! impl_code {
    ($($t:ty),*) => {$(
        impl Code for $t {
            const MISSING: Self = <$t>::MAX;
            const CAPACITY: usize = <$t>::MAX as usize;

            #[inline(always)]
            fn from_index(index: usize) -> Self {
                debug_assert!(index < Self::CAPACITY);
                index as $t
            }

            #[inline(always)]
            fn index(self) -> Option<usize> {
                (self != Self::MISSING).then_some(self as usize)
            }

            #[inline(always)]
            fn plus_one(self) -> u64 {
                u64::from(self.wrapping_add(1))
            }
        }
    )*};
}
impl_code!(u8, u16, u32);

/// Lets plain optional labels stand where codes do.
impl Code for Option<u32> {
    const MISSING: Self = None;
    const CAPACITY: usize = u32::MAX as usize;

    fn from_index(index: usize) -> Self {
        Some(index as u32)
    }

    fn index(self) -> Option<usize> {
        self.map(|label| label as usize)
    }

    fn plus_one(self) -> u64 {
        self.map_or(0, |label| u64::from(label) + 1)
    }
}

/// A sequence of label codes in the narrowest width that holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Up to 255 clusters.
    U8(Vec<u8>),
    /// Up to 65,535 clusters.
    U16(Vec<u16>),
    /// Any number of clusters.
    U32(Vec<u32>),
}

/// Runs `$body` with `$codes` bound to the typed vector inside a [`Labels`].
macro_rules! with_codes {
    ($labels:expr, $codes:pat => $body:expr) => {
        match $labels {
            $crate::ensemble::Labels::U8($codes) => $body,
            $crate::ensemble::Labels::U16($codes) => $body,
            $crate::ensemble::Labels::U32($codes) => $body,
        }
    };
}
pub(crate) use with_codes;

/// [`Labels`] of the same width, with what `$body` makes of the typed vector `$codes` inside.
macro_rules! map_codes {
    ($labels:expr, $codes:pat => $body:expr) => {
        match $labels {
            $crate::ensemble::Labels::U8($codes) => $crate::ensemble::Labels::U8($body),
            $crate::ensemble::Labels::U16($codes) => $crate::ensemble::Labels::U16($body),
            $crate::ensemble::Labels::U32($codes) => $crate::ensemble::Labels::U32($body),
        }
    };
}
pub(crate) use map_codes;

impl Labels {
    /// An empty sequence that can hold `clusters` clusters.
    pub fn with_capacity(clusters: usize, n: usize) -> Self {
        if clusters <= u8::CAPACITY {
            Labels::U8(Vec::with_capacity(n))
        } else if clusters <= u16::CAPACITY {
            Labels::U16(Vec::with_capacity(n))
        } else {
            Labels::U32(Vec::with_capacity(n))
        }
    }

    /// The codes of these cluster indices (`None` is missing), all below `clusters`.
    pub fn from_indices(
        clusters: usize,
        indices: impl ExactSizeIterator<Item = Option<usize>>,
    ) -> Self {
        fn codes<C: Code>(indices: impl Iterator<Item = Option<usize>>) -> Vec<C> {
            indices.map(|i| i.map_or(C::MISSING, C::from_index)).collect()
        }
        map_codes!(Self::with_capacity(clusters, 0), _ => codes(indices))
    }

    /// Appends the code of cluster `index`, or of a missing label; widens the codes if need be.
    #[inline]
    pub fn push(&mut self, index: Option<usize>) {
        fn push<C: Code>(codes: &mut Vec<C>, index: Option<usize>) {
            codes.push(index.map_or(C::MISSING, C::from_index));
        }
        self.widen(index.map_or(0, |i| i + 1));
        with_codes!(self, codes => push(codes, index));
    }

    /// Makes the codes wide enough for `clusters` clusters.
    #[inline]
    pub fn widen(&mut self, clusters: usize) {
        fn capacity<C: Code>(_: &[C]) -> usize {
            C::CAPACITY
        }
        if clusters > with_codes!(&*self, codes => capacity(codes)) {
            *self = self.renamed(clusters, Some);
        }
    }

    /// The same labels with cluster `i` called `rename(i)`, all below `clusters`; `None` makes it
    /// missing.
    #[must_use]
    pub fn renamed(&self, clusters: usize, rename: impl Fn(usize) -> Option<usize>) -> Self {
        with_codes!(self, codes => {
            Self::from_indices(clusters, codes.iter().map(|code| code.index().and_then(&rename)))
        })
    }

    /// How many codes there are.
    pub fn len(&self) -> usize {
        with_codes!(self, codes => codes.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cluster index at `i`, or `None` if missing.
    #[inline]
    pub fn get(&self, i: usize) -> Option<usize> {
        with_codes!(self, codes => codes[i].index())
    }

    /// All cluster indices, in order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = Option<usize>> + '_> {
        with_codes!(self, codes => Box::new(codes.iter().map(|c| c.index())))
    }

    /// How many bytes the codes take.
    pub fn bytes(&self) -> usize {
        with_codes!(self, codes => size_of_val(codes.as_slice()))
    }
}

impl<'a> IntoIterator for &'a Labels {
    type Item = Option<usize>;
    type IntoIter = Box<dyn Iterator<Item = Option<usize>> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_widen_where_they_stand() {
        let mut labels = Labels::U8(vec![0, u8::MISSING]);
        for (index, width) in [(254, 1), (255, 2), (65_534, 2), (65_535, 4)] {
            labels.push(Some(index));
            assert_eq!(labels.bytes(), width * labels.len());
        }
        labels.push(None);
        labels.widen(3);
        let expected = [Some(0), None, Some(254), Some(255), Some(65_534), Some(65_535), None];
        assert_eq!(labels.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn renamed_labels_are_as_narrow_as_they_fit() {
        let labels = Labels::U16(vec![0, 300, u16::MISSING, 1]);
        let renamed = labels.renamed(2, |i| (i > 0).then_some(usize::from(i == 1)));
        assert_eq!(renamed, Labels::U8(vec![u8::MISSING, 0, u8::MISSING, 1]));
    }

    #[test]
    fn width_follows_the_number_of_clusters() {
        let width = |clusters: usize| {
            Labels::from_indices(clusters, [Some(0), Some(clusters - 1), None].into_iter())
        };
        assert!(matches!(width(255), Labels::U8(_)));
        assert!(matches!(width(256), Labels::U16(_)));
        assert!(matches!(width(65_536), Labels::U32(_)));
        for clusters in [255, 256, 65_535, 65_536] {
            let all: Vec<_> = width(clusters).iter().collect();
            assert_eq!(all, [Some(0), Some(clusters - 1), None]);
        }
    }
}
