//! Merging equal label tuples of objects that come in blocks, with the machine that merges those of a
//! whole [`Ensemble`](crate::ensemble::Ensemble).
//!
//! Of the labels only the distinct tuples stay, packed into words; an object keeps four bytes. Clusters
//! may turn up at any time: once a member has more than its bits can tell apart, all rows are packed
//! anew. Where the tuples themselves become too many, some of the parts that their hashes divide them
//! into are kept by the caller, on disk; rows of such a part are handed out as they come and are taken
//! back in the end, one part at a time. Tuples and their order are the same in all cases.

use rayon::prelude::*;

use crate::ensemble::distinct::packing::{Layout, Packing, hash_row};
use crate::ensemble::distinct::table::TupleTable;
use crate::ensemble::distinct::{Merger, Part, number, part_of};
use crate::ensemble::labels::Labels;
use crate::ensemble::profiles::check_objects;
use crate::error::{Error, Result};
use crate::run::Run;

/// Parts, as a power of two, once some are outside: a part is what must fit into memory in the end.
const OUTSIDE_BITS: u32 = 6;

/// Merges equal label tuples block by block.
///
/// ```
/// use consilience::Run;
/// use consilience::ensemble::{BlockMerge, Labels};
/// let run = Run::new(0);
/// let mut merge = BlockMerge::new(2, 4);
/// merge.update(&[&Labels::U8(vec![0, 1]), &Labels::U8(vec![0, 0])], &[2, 1], &run)?;
/// merge.update(&[&Labels::U8(vec![1, 0]), &Labels::U8(vec![0, 1])], &[2, 2], &run)?;
/// let distinct = merge.finish(&run)?;
/// assert_eq!(distinct.map, [0, 1, 1, 2]);
/// assert_eq!(distinct.columns[1], Labels::U8(vec![0, 0, 1]));
/// # Ok::<(), consilience::Error>(())
/// ```
pub struct BlockMerge {
    layout: Layout,
    /// The largest number of clusters that each member was said to have.
    clusters: Vec<usize>,
    merger: Merger,
}

/// The distinct tuples of all objects, in order of first appearance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The labels of every member, one per tuple.
    pub columns: Vec<Labels>,
    /// The tuple of every object, [`NO_PROFILE`](crate::ensemble::NO_PROFILE) where it has no label.
    pub map: Vec<u32>,
    /// The object that shows each tuple first.
    pub first: Vec<u32>,
}

impl BlockMerge {
    /// Nothing merged yet, of this many members; about `expected` objects will come.
    pub fn new(members: usize, expected: usize) -> Self {
        let clusters = vec![0; members];
        let layout = Layout::new(clusters.iter().copied());
        BlockMerge { layout, clusters, merger: Merger::new(expected) }
    }

    /// Takes in a block of objects: the labels of every member, all below the number of `clusters`
    /// that the member has so far.
    ///
    /// # Errors
    ///
    /// If there are too many objects, or the run is cancelled.
    ///
    /// # Panics
    ///
    /// If there are not as many columns as members, or the columns differ in length.
    pub fn update(&mut self, columns: &[&Labels], clusters: &[usize], run: &Run) -> Result<()> {
        assert_eq!(columns.len(), self.clusters.len(), "one column per member");
        assert_eq!(clusters.len(), self.clusters.len(), "one number of clusters per member");
        let n = columns.first().map_or(0, |labels| labels.len());
        assert!(columns.iter().all(|labels| labels.len() == n), "columns of one length");
        check_objects(self.n_objects() + n)?;
        self.clusters.iter_mut().zip(clusters).for_each(|(most, &k)| *most = k.max(*most));
        if !self.layout.holds(clusters) {
            let layout = Layout::new(self.clusters.iter().copied());
            self.pack_anew(layout, self.merger.parts.len().ilog2(), 0);
        }
        let packing = Packing::of_columns(&self.layout, columns.iter().copied());
        run.install(|| self.merger.absorb(&packing, n, |_| run.check()))
    }

    /// How many objects came.
    pub fn n_objects(&self) -> usize {
        self.merger.map.len()
    }

    /// The bytes that the tuples take here; a row of an outside part counts until it is handed out.
    pub fn bytes(&self) -> usize {
        self.merger.parts.iter().map(Part::bytes).sum()
    }

    /// Puts half of what is here outside; [`hand_out`](Self::hand_out) is to be called next.
    pub fn put_outside(&mut self) {
        let parts = &mut self.merger.parts;
        let inside = parts.iter().filter(|part| part.aside.is_none()).count();
        if inside == parts.len() {
            // From now on parts must stay what they are, whatever clusters turn up.
            let half = (1 << OUTSIDE_BITS) / 2;
            self.pack_anew(Layout::widest(self.clusters.len()), OUTSIDE_BITS, half);
            return;
        }
        for part in &mut parts[inside / 2..inside] {
            let table = std::mem::take(&mut part.table);
            let aside = part.aside.insert(Vec::new());
            for (row, _, first) in table.rows(self.layout.width) {
                aside.extend_from_slice(row);
                aside.push(first.into());
            }
        }
    }

    /// Calls `write` with every part that has rows to go outside, and these rows.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn hand_out<E>(
        &mut self,
        mut write: impl FnMut(usize, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        for (p, part) in self.merger.parts.iter_mut().enumerate() {
            if let Some(rows) = part.aside.as_mut().filter(|rows| !rows.is_empty()) {
                write(p, rows)?;
                rows.clear();
            }
        }
        Ok(())
    }

    /// The number of words that a row takes outside.
    pub fn words(&self) -> usize {
        self.layout.width + 1
    }

    /// The distinct tuples; nothing is outside.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    ///
    /// # Panics
    ///
    /// If rows were handed out.
    pub fn finish(self, run: &Run) -> Result<Distinct> {
        assert!(self.merger.parts.iter().all(|part| part.aside.is_none()), "rows are outside");
        self.finish_with(|_, _| Ok(()), run)
    }

    /// The distinct tuples. `read` is called with every part that is outside and calls what it is
    /// given with the rows that were handed out, whole rows at a time, in their order.
    ///
    /// # Errors
    ///
    /// Those of `read`, or if the run is cancelled.
    pub fn finish_with<E: From<Error> + Send>(
        self,
        mut read: impl FnMut(usize, &mut dyn FnMut(&[u64])) -> Result<(), E>,
        run: &Run,
    ) -> Result<Distinct, E> {
        let BlockMerge { layout, clusters, merger: Merger { parts, blocks, mut map } } = self;
        drop(blocks);
        let narrow = Layout::new(clusters.iter().copied());
        // The rising first objects of rows, and the rows without what was needed to find them.
        let settled = |table: TupleTable| {
            let mut all: Vec<_> = table.rows(layout.width).map(|(row, _, s)| (s, row)).collect();
            // Packed anew, rows of several parts came together.
            all.sort_unstable_by_key(|&(first, _)| first);
            let mut rows = vec![0; all.len() * narrow.width];
            for ((_, row), to) in all.iter().zip(rows.chunks_exact_mut(narrow.width.max(1))) {
                layout.move_to(row, &narrow, to);
            }
            (all.into_iter().map(|(first, _)| first).collect(), rows)
        };
        // Parts that are here in parallel, the others one after the other.
        let (outside, inside): (Vec<_>, Vec<_>) =
            parts.into_iter().enumerate().partition(|(_, part)| part.aside.is_some());
        let mut all: Vec<(Vec<u32>, Vec<u64>)> =
            run.install(|| inside.into_par_iter().map(|(_, part)| settled(part.table)).collect());
        for (p, Part { mut table, aside, .. }) in outside {
            run.check().map_err(E::from)?;
            let mut take_back = |rows: &[u64]| {
                for row in rows.chunks_exact(layout.width + 1) {
                    let (key, object) = (&row[..layout.width], row[layout.width] as usize);
                    table.reserve(1);
                    let record = table.find_or_add(key, hash_row(key) as u32, object);
                    map[object] = record[layout.width + 1] as u32;
                }
            };
            read(p, &mut take_back)?;
            take_back(&aside.unwrap_or_default());
            all.push(settled(table));
        }
        run.check().map_err(E::from)?;
        Ok(run.install(|| {
            let places = |(p, (first, _)): (usize, &mut (Vec<u32>, Vec<u64>))| {
                let places = (0..first.len()).map(|i| (p as u32, i as u32)).collect();
                (std::mem::take(first), places)
            };
            let pieces: Vec<(Vec<u32>, Vec<(u32, u32)>)> =
                all.par_iter_mut().enumerate().map(places).collect();
            let (map, first, places) = number(map, &pieces);
            drop(pieces);
            let column = |h: usize| {
                let index = |&(p, i): &(u32, u32)| {
                    narrow.index(&all[p as usize].1[i as usize * narrow.width..], h)
                };
                Labels::from_indices(clusters[h], places.iter().map(index))
            };
            let columns = (0..clusters.len()).into_par_iter().map(column).collect();
            Distinct { columns, map, first }
        }))
    }

    /// Packs all rows in another layout and divides them into two to the power of `bits` parts, the
    /// last `outside` of them outside.
    fn pack_anew(&mut self, layout: Layout, bits: u32, outside: usize) {
        let parts = &mut self.merger.parts;
        let old = std::mem::replace(parts, Part::empty(bits));
        let inside = parts.len() - outside;
        parts[inside..].iter_mut().for_each(|part| part.aside = Some(Vec::new()));
        let mut moved = vec![0; layout.width];
        for part in old {
            for (row, _, first) in part.table.rows(self.layout.width) {
                moved.fill(0);
                self.layout.move_to(row, &layout, &mut moved);
                let hash = hash_row(&moved);
                let part = &mut parts[part_of(hash, bits)];
                if let Some(aside) = &mut part.aside {
                    aside.extend_from_slice(&moved);
                    aside.push(first.into());
                } else {
                    part.table.reserve(1);
                    part.table.find_or_add(&moved, hash as u32, first as usize);
                }
            }
        }
        self.layout = layout;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Code, Ensemble, HardMember, Member, NO_PROFILE, Profiles};

    /// The labels of a member whose clusters are numbered by first appearance.
    fn column(labels: &[Option<u16>]) -> (Vec<Option<usize>>, Vec<u16>) {
        let mut seen: Vec<u16> = Vec::new();
        let mut code = |label: u16| {
            seen.iter().position(|&s| s == label).unwrap_or_else(|| {
                seen.push(label);
                seen.len() - 1
            })
        };
        (labels.iter().map(|label| label.map(&mut code)).collect(), seen)
    }

    /// The same objects in blocks that end at `cuts`, with at most `room` bytes here.
    fn in_blocks(columns: &[Vec<Option<usize>>], cuts: &[usize], room: usize) -> Distinct {
        let run = Run::new(0).threads(2);
        let mut merge = BlockMerge::new(columns.len(), cuts[cuts.len() - 1]);
        let mut outside: Vec<Vec<u64>> = vec![Vec::new(); 1 << OUTSIDE_BITS];
        let mut write = |part: usize, rows: &[u64]| {
            outside[part].extend_from_slice(rows);
            Ok::<(), Error>(())
        };
        for cut in cuts.windows(2) {
            let clusters: Vec<usize> = columns
                .iter()
                .map(|c| c[..cut[1]].iter().flatten().max().map_or(0, |m| m + 1))
                .collect();
            let block: Vec<Labels> = columns
                .iter()
                .zip(&clusters)
                .map(|(c, &k)| Labels::from_indices(k, c[cut[0]..cut[1]].iter().copied()))
                .collect();
            merge.update(&block.iter().collect::<Vec<_>>(), &clusters, &run).unwrap();
            merge.hand_out(&mut write).unwrap();
            if merge.bytes() > room {
                merge.put_outside();
                merge.hand_out(&mut write).unwrap();
            }
        }
        let words = merge.words();
        let read = |part: usize, take: &mut dyn FnMut(&[u64])| {
            outside[part].chunks(3 * words).for_each(take);
            Ok::<(), Error>(())
        };
        merge.finish_with(read, &run).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the blocks, here or outside: what merging the whole gives.
        #[test]
        fn blocks_merge_like_the_whole(
            (n, members) in (1usize..120, 1usize..6).prop_flat_map(|(n, r)| {
                let label = prop::option::weighted(0.8, prop_oneof![0u16..3, 0u16..300]);
                (Just(n), prop::collection::vec(prop::collection::vec(label, n), r))
            }),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
            room in prop_oneof![Just(usize::MAX), Just(0), 500usize..5000],
        ) {
            prop_assume!(members.iter().all(|m| m.iter().any(Option::is_some)));
            let columns: Vec<_> = members.iter().map(|labels| column(labels)).collect();
            let codes: Vec<_> = columns.iter().map(|(codes, _)| codes.clone()).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(n + 1)).collect();
            cuts.extend([0, n]);
            cuts.sort_unstable();
            let distinct = in_blocks(&codes, &cuts, room);

            let members = columns.iter().enumerate().map(|(h, (codes, names))| {
                let labels = Labels::from_indices(names.len(), codes.clone().into_iter());
                let names = names.iter().map(u16::to_string).collect();
                Member::from(HardMember::from_codes(h.to_string(), labels, names).unwrap())
            });
            let ensemble = Ensemble::new(members.collect()).unwrap();
            let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
            prop_assert_eq!(&distinct.map, profiles.map());
            for (h, labels) in distinct.columns.iter().enumerate() {
                let expected: Vec<_> = (0..profiles.len()).map(|s| profiles.label(s, h)).collect();
                prop_assert_eq!(labels.iter().collect::<Vec<_>>(), expected);
            }
            for (s, &first) in distinct.first.iter().enumerate() {
                let shown = profiles.map().iter().position(|&t| t as usize == s);
                prop_assert_eq!(shown, Some(first as usize));
            }
        }
    }

    #[test]
    fn objects_without_labels_and_no_objects_at_all() {
        let run = Run::new(0);
        let nothing = BlockMerge::new(2, 0).finish(&run).unwrap();
        assert_eq!((nothing.map.len(), nothing.columns.len()), (0, 2));
        let mut merge = BlockMerge::new(1, 5);
        merge.update(&[&Labels::U8(vec![u8::MISSING; 2])], &[0], &run).unwrap();
        merge.update(&[&Labels::U8(vec![0, u8::MISSING])], &[1], &run).unwrap();
        let found = merge.finish(&run).unwrap();
        assert_eq!(found.map, [NO_PROFILE, NO_PROFILE, 0, NO_PROFILE]);
        assert_eq!(found.first, [2]);
    }
}
