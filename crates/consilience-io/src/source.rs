//! Opening what is read: files, standard input, gzip.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::checksum::{Seen, Watched};
use super::error::{InputError, Result, shown};

/// Opens a file that must exist and not be a directory.
pub(super) fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| InputError::io(&shown(path), &error))?;
    // Opening a directory succeeds on Unix; only reading it fails, and some readers seek first.
    let is_directory = file.metadata().is_ok_and(|meta| meta.is_dir());
    if is_directory {
        return Err(InputError::Directory { file: shown(path) });
    }
    Ok(file)
}

/// The bytes of a text file, decompressed, and what is read of the file itself; `-` is standard input.
pub(super) fn open_text(path: &Path, gzip: bool) -> Result<(Box<dyn Read + Send>, Option<Seen>)> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let mut file = Watched::new(open_file(path)?);
    let seen = Some(file.seen());
    if !gzip {
        return Ok((Box::new(file), seen));
    }
    let mut magic = [0; 2];
    let read = fill(&mut file, &mut magic).map_err(|error| InputError::io(&shown(path), &error))?;
    match magic {
        _ if read == 0 => Err(InputError::Empty { file: shown(path) }),
        // Tools append gzip streams to one another; all of them are read.
        [0x1f, 0x8b] => {
            Ok((Box::new(MultiGzDecoder::new(io::Cursor::new(magic).chain(file))), seen))
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
