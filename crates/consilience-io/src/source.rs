//! Opening what is read: files, bytes in memory, standard input, gzip.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::ReadOptions;
use super::checksum::{Seen, Watched};
use super::error::{InputError, Result, shown};

/// A file whose bytes are in memory, as a browser hands them over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What it is called: the ending tells the format, and messages speak of it.
    pub name: PathBuf,
    /// What it holds.
    pub bytes: Bytes,
}

/// A file, or bytes that stand for one.
pub(super) enum Source {
    File(File),
    Held(Cursor<Bytes>),
}

impl Source {
    /// How many bytes there are; `None` if that is not known before they are read.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Source::File(file) => {
                file.metadata().ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
            }
            Source::Held(bytes) => Some(bytes.get_ref().len() as u64),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            Source::Held(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Source::File(file) => file.seek(to),
            Source::Held(bytes) => bytes.seek(to),
        }
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match self {
            Source::File(file) => Length::len(file),
            Source::Held(bytes) => Length::len(bytes.get_ref()),
        }
    }
}

impl ChunkReader for Source {
    type T = BufReader<Source>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut source = match self {
            Source::File(file) => Source::File(file.try_clone()?),
            Source::Held(bytes) => Source::Held(bytes.clone()),
        };
        source.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(source))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Source::File(file) => file.get_bytes(start, length),
            Source::Held(bytes) => bytes.get_ref().get_bytes(start, length),
        }
    }
}

/// Opens a file that must exist and not be a directory, or one that is held in memory.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Source> {
    match options.held.as_ref().filter(|held| held.name == path) {
        Some(held) => Ok(Source::Held(Cursor::new(held.bytes.clone()))),
        None => open_file(path),
    }
}

/// Opens a file that must exist and not be a directory.
pub(super) fn open_file(path: &Path) -> Result<Source> {
    let file = File::open(path).map_err(|error| InputError::io(&shown(path), &error))?;
    // Opening a directory succeeds on Unix; only reading it fails, and some readers seek first.
    let is_directory = file.metadata().is_ok_and(|meta| meta.is_dir());
    if is_directory {
        return Err(InputError::Directory { file: shown(path) });
    }
    Ok(Source::File(file))
}

/// Text that is read, decompressed.
pub(super) struct OpenText {
    pub(super) text: Box<dyn Read + Send>,
    /// How many bytes the file has, if that is known.
    pub(super) size: Option<u64>,
    /// What is read of the file itself.
    pub(super) seen: Option<Seen>,
}

/// The bytes of a text file, decompressed; `-` is standard input.
pub(super) fn open_text(path: &Path, gzip: bool, options: &ReadOptions) -> Result<OpenText> {
    if path == Path::new("-") {
        return Ok(OpenText { text: Box::new(io::stdin()), size: None, seen: None });
    }
    let source = open(path, options)?;
    let size = source.size();
    let mut file = Watched::new(source);
    let seen = Some(file.seen());
    if !gzip {
        return Ok(OpenText { text: Box::new(file), size, seen });
    }
    let mut magic = [0; 2];
    let read = fill(&mut file, &mut magic).map_err(|error| InputError::io(&shown(path), &error))?;
    match magic {
        _ if read == 0 => Err(InputError::Empty { file: shown(path) }),
        // Tools append gzip streams to one another; all of them are read.
        [0x1f, 0x8b] => {
            let text = Box::new(MultiGzDecoder::new(io::Cursor::new(magic).chain(file)));
            Ok(OpenText { text, size, seen })
        }
        _ => Err(InputError::Unsupported {
            file: shown(path),
            problem: "it is not compressed by gzip, although its name ends in .gz".to_owned(),
            hint: "take the ending away, or compress it".to_owned(),
        }),
    }
}

/// Reads until `buffer` is full or the source ends; returns how many bytes came.
pub(super) fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use consilience::Run;

    use super::*;
    use crate::{Cells, Memory, Target, read_clusterings, write_table};

    #[test]
    fn bytes_in_memory_are_read_and_written_as_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(0).threads(1);
        let labels = |step: i64| Cells::Integers((0..500).map(|i| i / step % 5).collect());
        let columns = [("a".to_owned(), labels(1)), ("b".to_owned(), labels(7))];
        for name in ["t.csv", "t.tsv.gz", "t.parquet", "t.npy", "t.arrow"] {
            let (path, memory) = (folder.path().join(name), Memory::default());
            write_table(&Target::table(&path).unwrap(), &columns, &run).unwrap();
            write_table(&Target::memory(name, &memory), &columns, &run).unwrap();
            let bytes = Bytes::from(memory.take());
            assert_eq!(bytes, fs::read(&path).unwrap(), "{name}");

            let on_disk = read_clusterings(&[path], &ReadOptions::default(), &run).unwrap();
            let held = Some(Held { name: name.into(), bytes });
            let options = ReadOptions { held, ..ReadOptions::default() };
            let in_memory = read_clusterings(&[name.into()], &options, &run).unwrap();
            assert_eq!(in_memory.members, on_disk.members, "{name}");
            // Other names are files as ever.
            let other = read_clusterings(&["nowhere.csv".into()], &options, &run).unwrap_err();
            assert!(other.to_string().contains("nowhere.csv"), "{other}");
        }
    }
}
