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
use crate::ensemble::distinct::{
    Block, Part, Wave, empty_parts, number, part_of, parts_for, wave_rows,
};
use crate::ensemble::labels::{Code, Labels};
use crate::ensemble::profiles::NO_PROFILE;
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
    parts: Vec<Part>,
    blocks: Vec<Block>,
    /// Of every object the one that shows its row first.
    map: Vec<u32>,
}

/// The distinct tuples of all objects, in order of first appearance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The labels of every member, one a tuple.
    pub columns: Vec<Labels>,
    /// The tuple of every object, [`NO_PROFILE`] where it has no label.
    pub map: Vec<u32>,
    /// The object that shows each tuple first.
    pub first: Vec<u32>,
}

impl BlockMerge {
    /// Nothing merged yet, of this many members; about `expected` objects will come.
    pub fn new(members: usize, expected: usize) -> Self {
        let clusters = vec![0; members];
        let mut map = Vec::new();
        map.reserve_exact(expected);
        BlockMerge {
            layout: Layout::new(clusters.iter().copied()),
            clusters,
            parts: parts_for(expected),
            blocks: Vec::new(),
            map,
        }
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
        assert_eq!(columns.len(), self.clusters.len(), "one column a member");
        assert_eq!(clusters.len(), self.clusters.len(), "one number of clusters a member");
        let n = columns.first().map_or(0, |labels| labels.len());
        assert!(columns.iter().all(|labels| labels.len() == n), "columns of one length");
        let start = self.map.len();
        check_objects(start + n)?;
        if !self.layout.holds(clusters) {
            let most = self.clusters.iter().zip(clusters).map(|(&a, &b)| a.max(b));
            self.pack_anew(Layout::new(most), self.parts.len().ilog2(), 0);
        }
        self.clusters.iter_mut().zip(clusters).for_each(|(most, &k)| *most = k.max(*most));
        self.map.resize(start + n, NO_PROFILE);
        if self.layout.width == 0 || n == 0 {
            return Ok(());
        }
        let packing = Packing::of_columns(&self.layout, columns.iter().copied());
        let (blocks, parts) = (&mut self.blocks, &mut self.parts);
        let wave_rows = wave_rows(packing.width, n);
        for (i, places) in self.map[start..].chunks_mut(wave_rows).enumerate() {
            run.check()?;
            let wave = Wave { start: i * wave_rows, object: start + i * wave_rows };
            run.install(|| match packing.width {
                1 => wave.pass::<1>(&packing, places, blocks, parts, None),
                2 => wave.pass::<2>(&packing, places, blocks, parts, None),
                3 => wave.pass::<3>(&packing, places, blocks, parts, None),
                4 => wave.pass::<4>(&packing, places, blocks, parts, None),
                _ => wave.pass::<0>(&packing, places, blocks, parts, None),
            });
        }
        Ok(())
    }

    /// How many objects came.
    pub fn n_objects(&self) -> usize {
        self.map.len()
    }

    /// The bytes that the tuples take here; a row of an outside part counts until it is handed out.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }

    /// Puts half of what is here outside; [`hand_out`](Self::hand_out) is to be called next.
    pub fn put_outside(&mut self) {
        let inside = self.parts.iter().filter(|part| !part.outside).count();
        let all = 1 << OUTSIDE_BITS;
        if inside == self.parts.len() {
            // From now on parts must stay what they are, whatever clusters turn up.
            self.pack_anew(Layout::widest(self.clusters.len()), OUTSIDE_BITS, all / 2);
            return;
        }
        let width = self.layout.width;
        for part in &mut self.parts[inside / 2..inside] {
            let rows = std::mem::take(part).into_rows(width);
            part.outside = true;
            part.records = rows;
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
        let waiting = |part: &Part| part.outside && !part.records.is_empty();
        for (p, part) in self.parts.iter_mut().enumerate().filter(|(_, part)| waiting(part)) {
            write(p, &part.records)?;
            part.records.clear();
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
        assert!(!self.parts.iter().any(|part| part.outside), "rows are outside");
        self.finish_with(|_, _| Ok(()), run)
    }

    /// The distinct tuples. `read` is called with every part that is outside and calls what it is
    /// given with the rows that were handed out, whole rows at a time, in their order.
    ///
    /// # Errors
    ///
    /// Those of `read`, or if the run is cancelled.
    pub fn finish_with<E: From<Error> + Send>(
        mut self,
        mut read: impl FnMut(usize, &mut dyn FnMut(&[u64])) -> Result<(), E>,
        run: &Run,
    ) -> Result<Distinct, E> {
        self.blocks = Vec::new();
        let widest = self.clusters.iter().copied().max().unwrap_or(0);
        match Labels::with_capacity(widest, 0) {
            Labels::U8(_) => self.settle::<u8, E>(&mut read, run),
            Labels::U16(_) => self.settle::<u16, E>(&mut read, run),
            Labels::U32(_) => self.settle::<u32, E>(&mut read, run),
        }
    }

    fn settle<C: Code, E: From<Error> + Send>(
        self,
        read: &mut dyn FnMut(usize, &mut dyn FnMut(&[u64])) -> Result<(), E>,
        run: &Run,
    ) -> Result<Distinct, E> {
        let BlockMerge { layout, clusters, parts, mut map, .. } = self;
        let r = clusters.len();
        // Parts that are here in parallel, the others one after the other.
        let (outside, inside): (Vec<_>, Vec<_>) =
            parts.into_iter().enumerate().partition(|(_, part)| part.outside);
        let settled = |(_, part): (usize, Part)| Settled::<C>::new(&part, &layout, r);
        let mut all: Vec<Settled<C>> =
            run.install(|| inside.into_par_iter().map(settled).collect());
        for (p, waiting) in outside {
            run.check().map_err(E::from)?;
            let mut part = Part::default();
            let mut take_back = |rows: &[u64]| part.take_back(rows, layout.width, &mut map);
            read(p, &mut take_back)?;
            take_back(&waiting.records);
            drop(waiting);
            all.push(Settled::new(&part, &layout, r));
        }
        run.check().map_err(E::from)?;
        Ok(run.install(|| {
            let places = |(p, settled): (usize, &mut Settled<C>)| {
                let first = std::mem::take(&mut settled.first);
                let places = (0..first.len()).map(|i| (p as u32, i as u32)).collect();
                (first, places)
            };
            let pieces: Vec<(Vec<u32>, Vec<(u32, u32)>)> =
                all.par_iter_mut().enumerate().map(places).collect();
            let (map, first, places) = number(map, &pieces);
            drop(pieces);
            let column = |h: usize| {
                let code = |&(p, i): &(u32, u32)| all[p as usize].rows[i as usize * r + h].index();
                Labels::from_indices(clusters[h], places.iter().map(code))
            };
            let columns = (0..r).into_par_iter().map(column).collect();
            Distinct { columns, map, first }
        }))
    }

    /// Packs all rows in another layout and divides them into two to the power of `bits` parts, the
    /// last `outside` of them outside.
    fn pack_anew(&mut self, layout: Layout, bits: u32, outside: usize) {
        let old = std::mem::take(&mut self.parts);
        self.parts = empty_parts(bits);
        let inside = self.parts.len() - outside;
        self.parts[inside..].iter_mut().for_each(|part| part.outside = true);
        let (width, mut row) = (self.layout.width, vec![0; layout.width]);
        for part in old {
            for record in part.records.chunks_exact(width + 2) {
                row.fill(0);
                self.layout.move_to(&record[..width], &layout, &mut row);
                let hash = hash_row(&row);
                let part = &mut self.parts[part_of(hash, bits)];
                if part.outside {
                    part.records.extend_from_slice(&row);
                    part.records.push(record[width + 1]);
                } else {
                    part.reserve(1);
                    part.find_or_add(&row, hash as u32, record[width + 1] as usize);
                }
            }
        }
        self.layout = layout;
    }
}

fn check_objects(n: usize) -> Result<()> {
    if n < NO_PROFILE as usize {
        return Ok(());
    }
    Err(Error::Unsupported {
        method: "profiles",
        what: format!("{n} objects"),
        hint: "at most 4,294,967,294 fit; merge equal rows first and give counts as weights"
            .to_owned(),
    })
}

impl Part {
    /// Its rows as they go outside: words and first object.
    fn into_rows(self, width: usize) -> Vec<u64> {
        let mut rows = Vec::with_capacity(self.records.len() / (width + 2) * (width + 1));
        for record in self.records.chunks_exact(width + 2) {
            rows.extend_from_slice(&record[..width]);
            rows.push(record[width + 1]);
        }
        rows
    }

    /// Merges rows that were outside, and tells their objects who shows them first.
    fn take_back(&mut self, rows: &[u64], width: usize, map: &mut [u32]) {
        for row in rows.chunks_exact(width + 1) {
            let (key, object) = (&row[..width], row[width]);
            self.reserve(1);
            let record = self.find_or_add(key, hash_row(key) as u32, object as usize);
            map[object as usize] = record[width + 1] as u32;
        }
    }
}

/// The rows of a part, without what was needed to find them.
struct Settled<C> {
    /// Rising.
    first: Vec<u32>,
    /// Codes, one a member, row by row.
    rows: Vec<C>,
}

impl<C: Code> Settled<C> {
    fn new(part: &Part, layout: &Layout, members: usize) -> Self {
        let (width, stride) = (layout.width, layout.width + 2);
        let mut records: Vec<&[u64]> = part.records.chunks_exact(stride).collect();
        // Packed anew, rows of several parts came together.
        records.sort_by_key(|record| record[width + 1]);
        let mut rows = Vec::with_capacity(records.len() * members);
        for record in &records {
            let code = |h: usize| match layout.plus_one(record, h) {
                0 => C::MISSING,
                code => C::from_index(code as usize - 1),
            };
            rows.extend((0..members).map(code));
        }
        Settled { first: records.iter().map(|record| record[width + 1] as u32).collect(), rows }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, HardMember, Member, Profiles};

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
