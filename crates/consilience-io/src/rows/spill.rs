//! Label tuples on disk, when they are too many for the memory that they may take.
//!
//! The files have no names, so the system removes them however the program ends.

use std::fs::File;
use std::io::{self, Seek, Write};

use consilience::Run;
use tempfile::tempfile;

use crate::error::{InputError, Result, describe};
use crate::source::fill;

/// Rows that are read back at a time.
const ROWS: usize = 1 << 12;

/// A file for every part that has rows outside.
#[derive(Default)]
pub(super) struct Spill {
    files: Vec<Option<File>>,
    bytes: Vec<u8>,
}

fn failed(error: &io::Error) -> InputError {
    let folder = std::env::temp_dir().display().to_string();
    InputError::Temporary { folder, problem: describe(error) }
}

impl Spill {
    /// Writes rows of a part behind those that it has.
    pub(super) fn write(&mut self, part: usize, rows: &[u64]) -> Result<()> {
        self.files.resize_with(self.files.len().max(part + 1), || None);
        let file = match &mut self.files[part] {
            Some(file) => file,
            empty => empty.insert(tempfile().map_err(|error| failed(&error))?),
        };
        self.bytes.clear();
        self.bytes.extend(rows.iter().flat_map(|word| word.to_le_bytes()));
        file.write_all(&self.bytes).map_err(|error| failed(&error))
    }

    /// Calls `take` with the rows of a part in their order, each of so many words; they are gone then.
    pub(super) fn read(
        &mut self,
        part: usize,
        words: usize,
        take: &mut dyn FnMut(&[u64]),
        run: &Run,
    ) -> Result<()> {
        let Some(mut file) = self.files.get_mut(part).and_then(Option::take) else { return Ok(()) };
        file.rewind().map_err(|error| failed(&error))?;
        let mut bytes = vec![0; ROWS * words * size_of::<u64>()];
        let mut rows = Vec::with_capacity(ROWS * words);
        loop {
            run.check()?;
            let read = fill(&mut file, &mut bytes).map_err(|error| failed(&error))?;
            if read == 0 {
                return Ok(());
            }
            let (read, _) = bytes[..read].as_chunks::<8>();
            rows.clear();
            rows.extend(read.iter().map(|&word| u64::from_le_bytes(word)));
            take(&rows);
        }
    }
}
