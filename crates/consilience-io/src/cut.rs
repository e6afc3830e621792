//! Cutting text into pieces that end with a record.

use std::io::Read;

use memchr::{memchr, memchr_iter, memrchr};

use super::dialect::{self, OpenQuote};
use super::error::{InputError, Place, Result};
use super::source::fill;

/// Bytes a piece. Large enough that its dictionaries cost nothing, small enough for the caches.
pub(super) const PIECE: usize = 1 << 20;
/// Bytes that are looked at to tell how a table is written down.
const HEAD: usize = 1 << 20;
/// Pieces that are in memory at the same time, times two: one batch is read while one is parsed.
const BATCH: usize = 16;
/// The longest record; more is a quote that was forgotten.
const LONGEST: usize = 1 << 28;
/// Bytes after the end of a piece, so that a whole word can be read at its last byte.
pub(super) const PADDING: usize = 8;

/// The line, counted from 1, that a position stands in.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}

/// Cuts a stream of bytes into pieces that end with a record.
pub(super) struct Pieces<'a> {
    source: Box<dyn Read + Send>,
    file: &'a str,
    /// Bytes read but not yet handed out.
    rest: Vec<u8>,
    ended: bool,
    separator: u8,
    /// The size of a piece.
    size: usize,
    /// How many bytes were handed out.
    pub(super) taken: u64,
    /// How many lines were handed out.
    lines: usize,
}

impl<'a> Pieces<'a> {
    /// Pieces of about `size` bytes.
    pub(super) fn new(source: Box<dyn Read + Send>, file: &'a str, size: usize) -> Self {
        let rest = Vec::new();
        Pieces { source, file, rest, ended: false, separator: b',', size, taken: 0, lines: 0 }
    }

    /// Reads on until the rest holds `len` bytes or the source ends.
    fn pull(&mut self, len: usize) -> Result<()> {
        let have = self.rest.len();
        if !self.ended && have < len {
            self.rest.resize(len, 0);
            let got = fill(&mut self.source, &mut self.rest[have..])
                .map_err(|error| InputError::io(self.file, &error))?;
            self.rest.truncate(have + got);
            self.ended = have + got < len;
        }
        Ok(())
    }

    /// The beginning of the text, whole lines where it has any, without the byte order mark.
    pub(super) fn head(&mut self) -> Result<&str> {
        let file = || self.file.to_owned();
        let mut len = HEAD;
        loop {
            self.pull(len)?;
            if self.ended || memchr(b'\n', &self.rest).is_some() || len >= LONGEST {
                break;
            }
            len *= 2;
        }
        if self.rest.starts_with(b"\xef\xbb\xbf") {
            self.rest.drain(..3);
        }
        let unreadable = |problem: &str, hint: &str| InputError::Unsupported {
            file: self.file.to_owned(),
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        };
        if self.rest.starts_with(b"\x1f\x8b") {
            return Err(unreadable("this is gzip, not text", "let its name end with .gz"));
        }
        if self.rest.starts_with(b"PAR1") {
            return Err(unreadable("this is Parquet, not text", "let its name end with .parquet"));
        }
        let end = memrchr(b'\n', &self.rest).map_or(self.rest.len(), |at| at + 1);
        let head = &self.rest[..end];
        // UTF-16 has a zero byte in every second place.
        let zero = memchr(0, head);
        let invalid = std::str::from_utf8(head).err().map(|error| error.valid_up_to());
        if let Some(at) = zero.into_iter().chain(invalid).min() {
            let line = 1 + memchr_iter(b'\n', &head[..at]).count();
            return Err(InputError::NotUtf8 { file: file(), place: Place::Line(line) });
        }
        if head.iter().all(u8::is_ascii_whitespace) && self.ended {
            return Err(InputError::Empty { file: file() });
        }
        if !head.contains(&b'\n') && head.iter().filter(|&&b| b == b'\r').count() > 1 {
            return Err(unreadable(
                "lines end with carriage returns only",
                "save the file with line feeds (LF or CRLF)",
            ));
        }
        Ok(std::str::from_utf8(&self.rest[..end]).expect("checked above"))
    }

    /// Leaves out the first `skip` bytes, which were looked at, and starts handing out.
    pub(super) fn begin(&mut self, skip: usize, separator: u8) {
        self.lines = memchr_iter(b'\n', &self.rest[..skip]).count();
        self.taken = skip as u64;
        self.rest.drain(..skip);
        self.separator = separator;
    }

    /// The next pieces, none at the end.
    pub(super) fn batch(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let Some(piece) = self.piece()? else { break };
            batch.push(piece);
        }
        Ok(batch)
    }

    /// The next piece: whole records, then the padding.
    fn piece(&mut self) -> Result<Option<Vec<u8>>> {
        let mut len = self.size;
        let end = loop {
            self.pull(len)?;
            if let Some(end) = self.last_record_end(len)? {
                break end;
            }
            if self.ended && self.rest.len() <= len {
                if self.rest.is_empty() {
                    return Ok(None);
                }
                // The last line has no end; a quote that is still open was refused above.
                self.rest.push(b'\n');
                break self.rest.len();
            }
            len *= 2;
            if len > LONGEST {
                return Err(InputError::Unsupported {
                    file: self.file.to_owned(),
                    problem: format!("line {} is longer than {LONGEST} bytes", self.lines + 1),
                    hint: "check its quotes and line ends".to_owned(),
                });
            }
        };
        let rest = self.rest.split_off(end);
        let mut piece = std::mem::replace(&mut self.rest, rest);
        self.taken += end as u64;
        self.lines += memchr_iter(b'\n', &piece).count();
        piece.extend([b'\n'; PADDING]);
        Ok(Some(piece))
    }

    /// Where the last record ends that is whole within the first `len` bytes; `None` if more must be
    /// read to tell.
    fn last_record_end(&self, len: usize) -> Result<Option<usize>> {
        let window = &self.rest[..len.min(self.rest.len())];
        let all = self.ended && window.len() == self.rest.len();
        let last_line = memrchr(b'\n', window).map(|at| at + 1);
        if memchr(b'"', window).is_none() {
            return Ok(last_line);
        }
        // With quotes about, line ends may be inside them: walk through the records.
        let valid = match std::str::from_utf8(window) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && !all => {
                std::str::from_utf8(&window[..error.valid_up_to()]).expect("valid up to there")
            }
            // The parser will say where.
            Err(_) => return Ok(last_line),
        };
        let mut end = None;
        loop {
            match dialect::record_end(valid, end.unwrap_or(0), self.separator) {
                Ok(Some(next)) => end = Some(next),
                Ok(None) => return Ok(end),
                Err(OpenQuote(_)) if !all => return Ok(end),
                Err(OpenQuote(at)) => {
                    return Err(InputError::OpenQuote {
                        file: self.file.to_owned(),
                        line: self.lines + line_of(valid, at),
                    });
                }
            }
        }
    }
}
