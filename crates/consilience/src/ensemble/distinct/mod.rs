//! Finding the distinct rows of an ensemble: the hot path of everything that follows.
//!
//! Every object's labels are packed into a few 64-bit words, a label taking no more bits than its
//! member needs (`packing`), and the words are merged by hashing (`table`). Waves of objects pass
//! through three steps:
//!
//! 1. *Pack* (parallel over blocks of objects): read the columns, pack and hash the rows, and sort
//!    them within the block by the upper bits of the hash, the row's *part*.
//! 2. *Absorb* (parallel over parts): look up every row in the part's own table. A part sees its
//!    rows in the order of the objects, so first appearances do not depend on how the work is split;
//!    and its table is small enough for the cache.
//! 3. *Place* (parallel over blocks): write down for every object where its row appeared first.
//!
//! In the end first appearances are numbered by counting them from the start. No step compares
//! anything but whole words, and none allocates memory for a row.
//!
//! [`merge`] does so with a whole ensemble, [`BlockMerge`](blocks::BlockMerge) with files that pass by
//! in blocks, and [`Tuples`](tuples::Tuples) keeps one table of tuples that are counted, merged and
//! looked up.

pub(crate) mod blocks;
pub(crate) mod exact;
mod packing;
mod table;
pub(crate) mod tuples;

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::distinct::exact::ExactSum;
use crate::ensemble::distinct::packing::{Packing, hash_rows};
use crate::ensemble::distinct::table::TupleTable;
use crate::ensemble::labels::collection::Ensemble;
use crate::ensemble::profiles::NO_PROFILE;
use crate::error::Result;
use crate::run::Run;

/// The distinct rows of an ensemble, in order of first appearance.
pub(super) struct Merged {
    /// The profile of every object.
    pub(super) map: Vec<u32>,
    /// The object that shows each profile first.
    pub(super) first: Vec<u32>,
    /// The weight of each profile: the sum of its objects' weights, rounded once.
    pub(super) weights: Vec<f64>,
}

/// Words in a block: with their sorted copy they stay in the cache nearest to one core.
const BLOCK_WORDS: usize = 1 << 15;
/// Objects in a block, at least and at most.
const BLOCK_ROWS: (usize, usize) = (1 << 4, 1 << 13);
/// Words in a wave. The parts' tables pass through the cache once a wave, so the more the better;
/// the memory is a small part of what the labels of so many objects take.
const WAVE_WORDS: usize = 1 << 21;
/// Objects for every part, and the largest number of parts as a power of two.
const ROWS_PER_PART: usize = 1 << 14;
const MAX_PART_BITS: u32 = 8;

/// Merges the equal rows of `ensemble`, which has fewer than [`NO_PROFILE`] objects.
pub(super) fn merge(ensemble: &Ensemble, run: &Run) -> Result<Merged> {
    let (n, packing) = (ensemble.n_objects(), Packing::new(ensemble));
    let mut merger = Merger::new(n);
    let tick = |done| run.tick("merging equal objects", done as u64, Some(n as u64));
    merger.absorb(&packing, n, tick)?;
    let Merger { parts, blocks, map } = merger;
    // The words are not needed any more; profiles' rows are read from the ensemble again.
    drop(blocks);
    let counts = |part: Part| {
        let rows = part.table.rows(packing.width);
        rows.map(|(_, count, first)| (first, count as f64)).unzip()
    };
    let counts: Vec<(Vec<u32>, Vec<f64>)> = parts.into_par_iter().map(counts).collect();
    run.check()?;
    let (map, first, mut weights) = number(map, &counts);
    if ensemble.weights().is_some() {
        weights = summed_weights(&map, first.len(), ensemble.weights());
    }
    Ok(Merged { map, first, weights })
}

/// Rows merged so far.
struct Merger {
    /// Two to some power of them.
    parts: Vec<Part>,
    blocks: Vec<Block>,
    /// Of every object the one that shows its row first, [`NO_PROFILE`] without any label or as long as
    /// its row is kept elsewhere.
    map: Vec<u32>,
}

impl Merger {
    /// Nothing merged; about `expected` objects will come.
    fn new(expected: usize) -> Self {
        let bits = (expected / ROWS_PER_PART).max(1).ilog2().min(MAX_PART_BITS);
        let mut map = Vec::new();
        map.reserve_exact(expected);
        Merger { parts: Part::empty(bits), blocks: Vec::new(), map }
    }

    /// Merges the rows of `n` more objects. `tick` is called with how many are done.
    fn absorb(
        &mut self,
        packing: &Packing,
        n: usize,
        tick: impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        let start = self.map.len();
        // All threads touch the new memory: the first touch of a page is what costs.
        self.map.par_extend(rayon::iter::repeat_n(NO_PROFILE, n));
        if packing.width == 0 {
            return Ok(());
        }
        let wave = n.min(WAVE_WORDS / packing.width).max(1);
        let wave = wave.next_multiple_of(block_rows(packing.width));
        for row in (0..n).step_by(wave) {
            tick(row)?;
            let objects = start + row..start + n.min(row + wave);
            // Rows of few words are worth code of their own.
            match packing.width {
                1 => self.pass::<1>(packing, row, objects),
                2 => self.pass::<2>(packing, row, objects),
                3 => self.pass::<3>(packing, row, objects),
                4 => self.pass::<4>(packing, row, objects),
                _ => self.pass::<0>(packing, row, objects),
            }
        }
        Ok(())
    }

    /// One wave of objects, the first of which stands in `row` of the columns. Rows have `W` words, or
    /// any number if `W` is 0.
    fn pass<const W: usize>(&mut self, packing: &Packing, row: usize, objects: Range<usize>) {
        let width = if W == 0 { packing.width } else { W };
        let Merger { parts, blocks, map } = self;
        let (first, places) = (objects.start, &mut map[objects]);
        let block_rows = block_rows(width);
        let part_bits = parts.len().ilog2();
        let n_blocks = places.len().div_ceil(block_rows);
        blocks.resize_with(blocks.len().max(n_blocks), Block::default);
        let blocks = &mut blocks[..n_blocks];
        blocks.par_iter_mut().enumerate().for_each_init(Scratch::default, |scratch, (b, block)| {
            let start = b * block_rows;
            block.start = first + start;
            let len = block_rows.min(places.len() - start);
            block.pack::<W>(packing, row + start, len, part_bits, scratch);
        });
        let blocks = &*blocks;
        parts.par_iter_mut().enumerate().for_each(|(p, part)| part.absorb::<W>(p, blocks, width));
        places.par_chunks_mut(block_rows).zip(blocks).enumerate().for_each(
            |(b, (places, block))| {
                for (p, part) in parts.iter().enumerate().filter(|(_, part)| part.aside.is_none()) {
                    let rows = block.rows_of(p);
                    let firsts = &part.found[part.found_start[b]..][..rows.len()];
                    for (&offset, &first) in block.offsets[rows].iter().zip(firsts) {
                        places[offset as usize] = first;
                    }
                }
            },
        );
    }
}

/// Objects in a block whose rows have `width` words.
fn block_rows(width: usize) -> usize {
    (BLOCK_WORDS / width).clamp(BLOCK_ROWS.0, BLOCK_ROWS.1)
}

/// A block of objects: their rows packed, hashed, and sorted by part.
#[derive(Default)]
struct Block {
    /// The first object.
    start: usize,
    /// The rows' words, row by row.
    keys: Vec<u64>,
    /// The lower halves of the rows' hashes.
    tags: Vec<u32>,
    /// The rows' places in the block.
    offsets: Vec<u16>,
    /// Where every part's rows begin.
    part_start: Vec<u32>,
}

/// What packing a block needs besides it: words and hashes of the rows in the objects' order.
#[derive(Default)]
struct Scratch {
    words: Vec<u64>,
    hashes: Vec<u64>,
}

impl Block {
    fn pack<const W: usize>(
        &mut self,
        packing: &Packing,
        row: usize,
        len: usize,
        part_bits: u32,
        scratch: &mut Scratch,
    ) {
        let width = if W == 0 { packing.width } else { W };
        scratch.words.resize(width * len, 0);
        scratch.hashes.resize(len, 0);
        packing.pack(row, len, &mut scratch.words);
        hash_rows(&scratch.words, &mut scratch.hashes);

        let part_of = |hash: u64| part_of(hash, part_bits);
        let n_parts = 1 << part_bits;
        let mut next = vec![0u32; n_parts + 1];
        let words = &scratch.words;
        let blank = |i: usize, hash: u64| hash == 0 && (0..width).all(|w| words[w * len + i] == 0);
        for (i, &hash) in scratch.hashes.iter().enumerate() {
            next[part_of(hash) + 1] += u32::from(!blank(i, hash));
        }
        for p in 0..n_parts {
            next[p + 1] += next[p];
        }
        self.part_start.clear();
        self.part_start.extend_from_slice(&next);

        let rows = next[n_parts] as usize;
        self.keys.resize(rows * width, 0);
        self.tags.resize(rows, 0);
        self.offsets.resize(rows, 0);
        for (i, &hash) in scratch.hashes.iter().enumerate() {
            if blank(i, hash) {
                continue;
            }
            let next = &mut next[part_of(hash)];
            let at = *next as usize;
            *next += 1;
            self.tags[at] = hash as u32;
            self.offsets[at] = i as u16;
            for (w, key) in self.keys[at * width..(at + 1) * width].iter_mut().enumerate() {
                *key = words[w * len + i];
            }
        }
    }

    /// The rows of part `p`.
    fn rows_of(&self, p: usize) -> std::ops::Range<usize> {
        self.part_start[p] as usize..self.part_start[p + 1] as usize
    }
}

/// The part of a row with this hash, among two to the power of `bits`.
fn part_of(hash: u64, bits: u32) -> usize {
    // Two shifts, because a shift by all 64 bits is none.
    (hash >> 1 >> (63 - bits)) as usize
}

/// The distinct rows whose hashes begin with the same bits.
#[derive(Default)]
struct Part {
    table: TupleTable,
    /// If its rows are kept somewhere else: those that are to go there, words and object.
    aside: Option<Vec<u64>>,
    /// For every row of the wave, in the order of the objects, the object that shows it first.
    found: Vec<u32>,
    /// Where in `found` the rows of every block begin.
    found_start: Vec<usize>,
}

impl Part {
    /// Two to the power of `bits` empty parts.
    fn empty(bits: u32) -> Vec<Part> {
        (0..1 << bits).map(|_| Part::default()).collect()
    }

    /// Looks up the rows of part `p` in `blocks` and adds the new ones, or puts all aside. `W` is the
    /// width where it is small enough to matter that the compiler knows it, otherwise 0.
    fn absorb<const W: usize>(&mut self, p: usize, blocks: &[Block], width: usize) {
        let width = if W == 0 { width } else { W };
        self.found.clear();
        self.found_start.clear();
        for block in blocks {
            let rows = block.rows_of(p);
            let keys = block.keys[rows.start * width..rows.end * width].chunks_exact(width);
            let objects = block.offsets[rows.clone()].iter().map(|&i| block.start + i as usize);
            if let Some(aside) = &mut self.aside {
                for (key, object) in keys.zip(objects) {
                    aside.extend_from_slice(key);
                    aside.push(object as u64);
                }
                continue;
            }
            self.table.reserve(rows.len());
            self.found_start.push(self.found.len());
            for ((key, &tag), object) in keys.zip(&block.tags[rows]).zip(objects) {
                let record = self.table.find_or_add(key, tag, object);
                record[width] += 1;
                self.found.push(record[width + 1] as u32);
            }
        }
    }

    /// The bytes that its rows take here.
    fn bytes(&self) -> usize {
        self.table.bytes() + self.aside.as_deref().map_or(0, size_of_val)
    }
}

/// Objects in a chunk of the final numbering, a multiple of 64.
const CHUNK: usize = 1 << 16;

/// Numbers the rows by first appearance. `map` holds for every object the one that shows its row
/// first; `parts` hold rising first objects and something about their rows. Returns the number of
/// every object's row, and of every row the first object and what was about it.
fn number<T: Copy + Default + Send + Sync>(
    mut map: Vec<u32>,
    parts: &[(Vec<u32>, Vec<T>)],
) -> (Vec<u32>, Vec<u32>, Vec<T>) {
    // For every 64 objects which of them show something new, and how many before in the chunk do.
    let mut news = vec![(0u64, 0u32); map.len().div_ceil(64)];
    let counts: Vec<u32> = map
        .par_chunks(CHUNK)
        .zip(news.par_chunks_mut(CHUNK / 64))
        .enumerate()
        .map(|(chunk, (map, news))| {
            let mut count = 0;
            for ((word, map), news) in map.chunks(64).enumerate().zip(news) {
                let start = (chunk * CHUNK + word * 64) as u32;
                let is_new =
                    map.iter().enumerate().map(|(i, &first)| (first == start + i as u32, i));
                let bits = is_new.fold(0, |bits, (new, i)| bits | u64::from(new) << i);
                *news = (bits, count);
                count += bits.count_ones();
            }
            count
        })
        .collect();
    let mut start = 0;
    let starts: Vec<u32> = counts.iter().map(|count| (start, start += count).0).collect();
    let number = |first: u32| {
        let (bits, before) = news[first as usize / 64];
        let below = bits & ((1 << (first % 64)) - 1);
        starts[first as usize / CHUNK] + before + below.count_ones()
    };

    let total = counts.iter().sum::<u32>() as usize;
    let (mut first, mut about) = (vec![0; total], vec![T::default(); total]);
    let of_chunks = in_pieces(&mut first, &counts).zip(in_pieces(&mut about, &counts));
    let of_chunks: Vec<_> = of_chunks.collect();
    of_chunks.into_par_iter().enumerate().for_each(|(chunk, (firsts, abouts))| {
        let objects = chunk * CHUNK..(chunk + 1) * CHUNK;
        for (first, about) in parts {
            let from = first.partition_point(|&i| (i as usize) < objects.start);
            let until = first.partition_point(|&i| (i as usize) < objects.end);
            for (&first, &about) in first[from..until].iter().zip(&about[from..until]) {
                let at = (number(first) - starts[chunk]) as usize;
                (firsts[at], abouts[at]) = (first, about);
            }
        }
    });
    map.par_chunks_mut(CHUNK).for_each(|map| {
        for place in map.iter_mut().filter(|place| **place != NO_PROFILE) {
            *place = number(*place);
        }
    });
    (map, first, about)
}

/// `items` cut into pieces of these lengths.
fn in_pieces<'a, T>(mut items: &'a mut [T], lengths: &[u32]) -> impl Iterator<Item = &'a mut [T]> {
    lengths.iter().map(move |&length| {
        let (piece, rest) = std::mem::take(&mut items).split_at_mut(length as usize);
        items = rest;
        piece
    })
}

/// Whether sums of these weights come out the same in any order: whole numbers with a total that
/// floats tell apart from its neighbours.
fn sums_are_exact(weights: &[f64]) -> bool {
    const LARGEST: f64 = (1u64 << 53) as f64;
    weights.par_iter().all(|w| w.fract() == 0.0 && *w <= LARGEST)
        && weights.par_iter().map(|&w| u128::from(w as u64)).sum::<u128>() <= 1 << 53
}

/// Profiles whose weights are added up by one thread at a time.
const PROFILES: usize = 1 << 10;

/// The weights of `u` profiles that `map` gives objects with these weights, or with weight 1.
pub(super) fn summed_weights(map: &[u32], u: usize, weights: Option<&[f64]>) -> Vec<f64> {
    let mut sums = vec![0.0; u];
    match weights {
        Some(weights) if !sums_are_exact(weights) => return exact_weights(map, u, weights),
        Some(weights) => {
            for (&s, &weight) in map.iter().zip(weights).filter(|&(&s, _)| s != NO_PROFILE) {
                sums[s as usize] += weight;
            }
        }
        None => map.iter().filter(|&&s| s != NO_PROFILE).for_each(|&s| sums[s as usize] += 1.0),
    }
    sums
}

/// The weights of the profiles, each rounded once: the order of the objects is no information.
fn exact_weights(map: &[u32], u: usize, weights: &[f64]) -> Vec<f64> {
    // The objects of every profile, one profile after the other.
    let mut starts = vec![0usize; u + 1];
    for &s in map.iter().filter(|&&s| s != NO_PROFILE) {
        starts[s as usize + 1] += 1;
    }
    for s in 0..u {
        starts[s + 1] += starts[s];
    }
    let mut next = starts.clone();
    let mut terms = vec![0.0; starts[u]];
    for (&s, &weight) in map.iter().zip(weights).filter(|&(&s, _)| s != NO_PROFILE) {
        terms[next[s as usize]] = weight;
        next[s as usize] += 1;
    }
    let mut sums = vec![0.0; u];
    sums.par_chunks_mut(PROFILES).enumerate().for_each(|(chunk, sums)| {
        let mut sum = ExactSum::default();
        for (s, value) in (chunk * PROFILES..).zip(sums) {
            sum.clear();
            terms[starts[s]..starts[s + 1]].iter().for_each(|&term| sum.add(term));
            *value = sum.value();
        }
    });
    sums
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{HardMember, Member, Profiles, SoftMember};
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};
    use crate::run::CancelFlag;

    /// What an object shows: its labels and the bits of its memberships.
    type Row = Vec<(Option<usize>, Vec<u64>)>;

    /// The slow, obvious version: a map from rows to profiles.
    fn by_tree(ensemble: &Ensemble) -> (Vec<u32>, Vec<Row>, Vec<f64>) {
        let mut seen = BTreeMap::<Row, u32>::new();
        let (mut rows, mut sums) = (Vec::new(), Vec::<i128>::new());
        let map = (0..ensemble.n_objects()).map(|i| {
            let value = |member: &Member| match member {
                Member::Hard(m) => (m.labels().get(i), vec![]),
                Member::Soft(m) => {
                    (None, m.memberships().row(i).iter().map(|p| p.to_bits()).collect())
                }
            };
            let row: Row = ensemble.members().iter().map(value).collect();
            if row.iter().all(|(label, p)| label.is_none() && p.iter().all(|&bits| bits == 0)) {
                return NO_PROFILE;
            }
            let s = *seen.entry(row.clone()).or_insert_with(|| {
                rows.push(row);
                sums.push(0);
                rows.len() as u32 - 1
            });
            // Weights here are above 2^-7, so 60 binary places hold them exactly.
            sums[s as usize] += (ensemble.weights().map_or(1.0, |w| w[i]) * 2f64.powi(60)) as i128;
            s
        });
        let map = map.collect();
        (map, rows, sums.into_iter().map(|sum| sum as f64 / 2f64.powi(60)).collect())
    }

    /// The rows as the profiles tell them, entry by entry.
    fn rows_of(profiles: &Profiles) -> Vec<Row> {
        let row = |s| {
            let mut row: Row = profiles
                .members()
                .iter()
                .map(|m| (None, if m.is_hard() { vec![] } else { vec![0; m.n_clusters()] }))
                .collect();
            profiles.for_each_entry(s, |h, cluster, p| {
                let member = &profiles.members()[h];
                let within = cluster - member.clusters.start;
                if member.is_hard() {
                    assert_eq!(p, 1.0);
                    row[h].0 = Some(within);
                } else {
                    row[h].1[within] = p.to_bits();
                }
            });
            row
        };
        (0..profiles.len()).map(row).collect()
    }

    /// What to draw for a member: clusters, whether soft, and the share of missing in percent.
    type MemberShape = (usize, bool, usize);

    /// `n` objects that show at most `distinct` rows.
    fn draw(
        n: usize,
        distinct: usize,
        members: &[MemberShape],
        weighted: bool,
        seed: u64,
    ) -> Ensemble {
        let mut rng = Rng::new(seed, Stream::Data);
        let shown: Vec<usize> = (0..n).map(|_| rng.below(distinct)).collect();
        let members: Vec<Member> = members
            .iter()
            .map(|&(k, soft, missing)| {
                let labels: Vec<Option<usize>> = (0..distinct)
                    .map(|s| (s == shown[0] || rng.below(100) >= missing).then(|| rng.below(k)))
                    .collect();
                if !soft {
                    let labels = shown.iter().map(|&s| labels[s].map(|c| c as i64));
                    return HardMember::from_integers("hard", labels).into();
                }
                let memberships = Matrix::from_fn(n, k, |i, j| match labels[shown[i]] {
                    None => 0.0,
                    Some(c) => 0.5 * f64::from(u8::from(c == j)) + 0.5 / k as f64,
                });
                let clusters = (0..k).map(|c| c.to_string()).collect();
                SoftMember::new("soft", memberships, clusters).unwrap().into()
            })
            .collect();
        let ensemble = Ensemble::new(members).unwrap();
        if weighted {
            let weights = (0..n).map(|_| 0.01 + rng.unit()).collect();
            return ensemble.with_weights(weights).unwrap();
        }
        ensemble
    }

    fn check(ensemble: &Ensemble) {
        let profiles = Profiles::new(ensemble, &Run::new(0).threads(1)).unwrap();
        let (map, rows, weights) = by_tree(ensemble);
        assert_eq!(profiles.map(), map);
        assert_eq!(profiles.weights(), weights, "rounded once");
        let has_missing =
            rows.iter().flatten().any(|(label, p)| label.is_none() && p.iter().all(|&b| b == 0));
        assert_eq!(profiles.has_missing(), has_missing);
        assert_eq!(rows_of(&profiles), rows);
        for threads in [2, 5] {
            assert_eq!(Profiles::new(ensemble, &Run::new(0).threads(threads)).unwrap(), profiles);
        }
    }

    fn shapes() -> impl Strategy<Value = Vec<MemberShape>> {
        let hard =
            (prop_oneof![1..20usize, Just(255), Just(256), 200..700usize], Just(false), 0..60usize);
        let soft = (1..5usize, Just(true), 0..60usize);
        proptest::collection::vec(prop_oneof![4 => hard, 1 => soft], 1..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn merging_agrees_with_a_map_of_rows(
            members in shapes(),
            n in prop_oneof![1..50usize, 1000..30_000usize],
            distinct in prop_oneof![1..10usize, 1..2000usize, Just(1_000_000)],
            weighted: bool,
            seed: u64,
        ) {
            check(&draw(n, distinct, &members, weighted, seed));
        }
    }

    /// More objects than a wave takes with one or two threads, and many parts.
    #[test]
    fn many_waves_agree_with_a_map_of_rows() {
        let members = [(300, false, 5), (9, false, 50), (5, false, 0), (70_000, false, 90)];
        check(&draw(400_000, 3000, &members, true, 1));
        check(&draw(300_000, 300_000, &members, false, 2));
    }

    #[test]
    fn rows_wider_than_the_words_of_a_block_are_merged() {
        let members = vec![(60_000, false, 10); 600];
        check(&draw(1500, 700, &members, true, 3));
    }

    #[test]
    fn objects_without_any_label_have_no_profile() {
        let labels = [None, Some(4), None, Some(4)];
        let a = HardMember::from_integers("a", labels);
        let zero = Matrix::from_vec(4, 1, vec![-0.0, 1.0, 0.0, 1.0]);
        let b = SoftMember::new("b", zero, vec!["x".to_owned()]).unwrap();
        let ensemble = Ensemble::new(vec![a.into(), b.into()]).unwrap();
        let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
        assert_eq!(profiles.map(), [NO_PROFILE, 0, NO_PROFILE, 0]);
        assert_eq!(profiles.weights(), [2.0]);
        assert!(!profiles.has_missing());
    }

    #[test]
    fn a_cancelled_merge_stops() {
        let flag = CancelFlag::default();
        flag.cancel();
        let run = Run::new(0).cancel_flag(flag);
        let ensemble = draw(10, 10, &[(3, false, 0)], false, 0);
        assert_eq!(Profiles::new(&ensemble, &run), Err(crate::Error::Cancelled));
    }
}
