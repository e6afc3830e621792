//! The table of distinct tuples.

/// Distinct rows of words, each with a count and the object that shows it first.
#[derive(Clone, Debug, Default)]
pub(super) struct TupleTable {
    /// An open table with linear probing, at most half full: a row's tag above, its number plus one
    /// below; 0 is a free slot.
    slots: Vec<u64>,
    /// For every row its words, how often it was counted, and the object that shows it first: what is
    /// used together stands together.
    pub(super) records: Vec<u64>,
    len: usize,
}

/// Numbers in a record besides the words of the row.
pub(super) const BESIDES: usize = 2;

impl TupleTable {
    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.records)
    }

    /// The words of every row, which has this many, in order of their numbers, with its count and first
    /// object.
    pub(super) fn rows(&self, width: usize) -> impl ExactSizeIterator<Item = (&[u64], u64, u32)> {
        let records = self.records.chunks_exact(width + BESIDES);
        records.map(move |record| (&record[..width], record[width], record[width + 1] as u32))
    }

    /// Where the record of the row with these words begins, or else the free slot for it. `tag` is the
    /// lower half of the row's hash. There must be a free slot.
    #[expect(clippy::inline_always, reason = "only inlined does it know the width")]
    #[inline(always)]
    fn probe(&self, key: &[u64], tag: u32) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = tag as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if (slot >> 32) as u32 == tag {
                let start = (slot as u32 as usize - 1) * (key.len() + BESIDES);
                if self.records[start..start + key.len()] == *key {
                    return Ok(start);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of the row with these words, if it is there.
    pub(super) fn find(&self, key: &[u64], tag: u32) -> Option<usize> {
        let found = if self.len == 0 { None } else { self.probe(key, tag).ok() };
        found.map(|start| start / (key.len() + BESIDES))
    }

    /// The record of the row with these words, made if it is not there: [room](Self::reserve) must be.
    #[expect(clippy::inline_always, reason = "only inlined does it know the width")]
    #[inline(always)]
    pub(super) fn find_or_add(&mut self, key: &[u64], tag: u32, object: usize) -> &mut [u64] {
        let start = self.probe(key, tag).unwrap_or_else(|free| {
            self.len += 1;
            self.slots[free] = u64::from(tag) << 32 | self.len as u64;
            self.records.extend_from_slice(key);
            self.records.extend_from_slice(&[0, object as u64]);
            self.records.len() - (key.len() + BESIDES)
        });
        &mut self.records[start..start + key.len() + BESIDES]
    }

    /// Makes room for `more` rows that may all be new.
    pub(super) fn reserve(&mut self, more: usize) {
        let needed = 2 * (self.len + more).max(8);
        if needed <= self.slots.len() {
            return;
        }
        let mut slots = vec![0; needed.next_power_of_two()];
        let mask = slots.len() - 1;
        for &slot in self.slots.iter().filter(|&&slot| slot != 0) {
            let mut at = (slot >> 32) as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = slot;
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_equal_hash_are_told_apart() {
        let mut table = TupleTable::default();
        assert_eq!(table.find(&[1, 2], 7), None);
        table.reserve(3);
        let first = [[1, 2], [1, 3], [1, 2]].into_iter().enumerate();
        let first = first.map(|(i, key)| table.find_or_add(&key, 7, i)[3]);
        assert_eq!(first.collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!([[1, 3], [1, 4]].map(|key| table.find(&key, 7)), [Some(1), None]);
        assert_eq!(table.len(), 2);
    }
}
