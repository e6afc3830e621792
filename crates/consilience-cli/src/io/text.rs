//! Text tables, read in pieces and without holding cells as strings.
//!
//! The bytes are cut at line ends into pieces of about a megabyte. Pieces are parsed in parallel,
//! each with codes of its own for the labels it meets, and joined in order, so codes follow first
//! appearance in the file whatever the number of threads. A short cell is looked up by its bytes as
//! one machine word; trimming, missing tokens and hashing happen once a piece and label.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::Path;

use consilience::Run;
use hashbrown::HashTable;
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use rayon::prelude::*;

use super::ReadOptions;
use super::dialect::{self, Header, OpenQuote};
use super::error::{InputError, Place, Result, shown};
use super::source::{fill, open_text};
use super::table::{Column, Ids, MISSING, Places, Plan, Role, Table, check_names, hash};

/// Bytes a piece. Large enough that its dictionaries cost nothing, small enough for the caches.
const PIECE: usize = 1 << 20;
/// Pieces that are in memory at the same time, times two: one batch is read while one is parsed.
const BATCH: usize = 16;
/// The longest record; more is a quote that was forgotten.
const LONGEST: usize = 1 << 28;
/// Bytes after the end of a piece, so that a whole word can be read at its last byte.
const PADDING: usize = 8;

/// Reads a text table, separated by `preferred` where nothing speaks against it.
pub(super) fn read(
    path: &Path,
    gzip: bool,
    preferred: u8,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let file = shown(path);
    let source = open_text(path, gzip)?;
    let size = if gzip { None } else { path.metadata().ok().map(|meta| meta.len()) };
    read_from(source, &file, size, preferred, options, plan, run)
}

fn read_from(
    source: Box<dyn Read + Send>,
    file: &str,
    size: Option<u64>,
    preferred: u8,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let missing = Missing(options.missing.clone());
    let mut pieces = Pieces::new(source, file);
    let head = pieces.head()?;
    let separator = dialect::separator(head, preferred);
    let (mut cells, mut body) = dialect::record(head, 0, separator).map_err(|OpenQuote(at)| {
        InputError::OpenQuote { file: file.to_owned(), line: line_of(head, at) }
    })?;
    // Blank lines before the table are not a record of one empty cell.
    while cells.len() == 1 && cells[0].is_empty() && body < head.len() {
        let next = dialect::record(head, body, separator);
        (cells, body) = next.map_err(|OpenQuote(at)| InputError::OpenQuote {
            file: file.to_owned(),
            line: line_of(head, at),
        })?;
    }
    let header = if options.no_header {
        Header::Absent
    } else {
        Header::detect(&cells, |cell| missing.is(cell))
    };
    let names: Vec<String> = cells
        .iter()
        .enumerate()
        .map(|(j, cell)| match header {
            Header::Present | Header::Numbered if !cell.is_empty() => cell.to_string(),
            _ => format!("c{j}"),
        })
        .collect();
    check_names(file, &names)?;
    let roles = plan.roles(file, &names)?;
    let has_header = header != Header::Absent;
    let skip = if has_header { body } else { 0 };
    let first_line = 1 + memchr_iter(b'\n', &head.as_bytes()[..skip]).count();
    pieces.begin(skip, separator);

    let layout = Layout { separator, roles: &roles, missing: &missing };
    let mut table = Table::new(file, names, &roles, Places::Lines(Vec::new()));
    if header == Header::Numbered {
        table.warnings.push(format!(
            "{file}: the first line numbers the columns and was read as a header; if it is data, \
             give --no-header"
        ));
    }
    table.named = has_header;
    let mut join = Join { table, line: first_line, blank_tail: 0, separator };
    run.install(|| -> Result<()> {
        let mut batch = pieces.batch()?;
        while !batch.is_empty() {
            run.tick("reading", pieces.taken, size)?;
            let (next, parsed) = rayon::join(
                || pieces.batch(),
                || batch.par_iter().map(|piece| layout.parse(piece)).collect::<Vec<_>>(),
            );
            join.append(parsed, run)?;
            plan.inspect(&join.table)?;
            batch = next?;
        }
        Ok(())
    })?;
    let table = join.finish();
    match (table.rows, has_header) {
        (0, true) => Err(InputError::HeaderOnly { file: file.to_owned() }),
        (0, false) => Err(InputError::Empty { file: file.to_owned() }),
        _ => Ok(table),
    }
}

/// The line, counted from 1, that a position stands in.
fn line_of(text: &str, at: usize) -> usize {
    1 + memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}

/// Which cells mean "missing".
struct Missing(Option<String>);

impl Missing {
    fn is(&self, cell: &str) -> bool {
        matches!(cell, "" | "NA" | "NaN" | "nan") || self.0.as_deref() == Some(cell)
    }
}

/// Cuts a stream of bytes into pieces that end with a record.
struct Pieces<'a> {
    source: Box<dyn Read + Send>,
    file: &'a str,
    /// Bytes read but not yet handed out.
    rest: Vec<u8>,
    ended: bool,
    separator: u8,
    /// How many bytes were handed out.
    taken: u64,
    /// How many lines were handed out.
    lines: usize,
}

impl<'a> Pieces<'a> {
    fn new(source: Box<dyn Read + Send>, file: &'a str) -> Self {
        Pieces { source, file, rest: Vec::new(), ended: false, separator: b',', taken: 0, lines: 0 }
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
    fn head(&mut self) -> Result<&str> {
        let file = || self.file.to_owned();
        let mut len = PIECE;
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
    fn begin(&mut self, skip: usize, separator: u8) {
        self.lines = memchr_iter(b'\n', &self.rest[..skip]).count();
        self.taken = skip as u64;
        self.rest.drain(..skip);
        self.separator = separator;
    }

    /// The next pieces, none at the end.
    fn batch(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let Some(piece) = self.piece()? else { break };
            batch.push(piece);
        }
        Ok(batch)
    }

    /// The next piece: whole records, then the padding.
    fn piece(&mut self) -> Result<Option<Vec<u8>>> {
        let mut len = PIECE;
        let end = loop {
            self.pull(len)?;
            if let Some(end) = self.last_record_end()? {
                break end;
            }
            if self.ended {
                if self.rest.is_empty() {
                    return Ok(None);
                }
                self.rest.push(b'\n');
                // An empty last line is no record; a quote that is still open was refused above.
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

    /// Where the last record ends that is whole; `None` if the text must be read on to tell.
    fn last_record_end(&self) -> Result<Option<usize>> {
        let last_line = memrchr(b'\n', &self.rest).map(|at| at + 1);
        if memchr(b'"', &self.rest).is_none() {
            return Ok(last_line);
        }
        // With quotes about, line ends may be inside them: walk through the records.
        let valid = match std::str::from_utf8(&self.rest) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && !self.ended => {
                std::str::from_utf8(&self.rest[..error.valid_up_to()]).expect("valid up to there")
            }
            // The parser will say where.
            Err(_) => return Ok(last_line),
        };
        let mut end = None;
        loop {
            match dialect::record_end(valid, end.unwrap_or(0), self.separator) {
                Ok(Some(next)) => end = Some(next),
                Ok(None) => return Ok(end),
                Err(OpenQuote(_)) if !self.ended => return Ok(end),
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

/// What a piece turned into.
struct Piece<'a> {
    rows: usize,
    labels: Vec<Coder<'a>>,
    /// Row by row.
    numbers: Vec<f64>,
    texts: Vec<Ids>,
    /// Rows and lines, counted within the piece, where their difference changes.
    jumps: Vec<(usize, usize)>,
    lines: usize,
    /// How many blank lines at the end were read as rows (tables of one column only).
    blank_tail: usize,
}

/// What is wrong in a piece, the line counted within it.
struct Flaw {
    line: usize,
    column: usize,
    kind: FlawKind,
}

enum FlawKind {
    Ragged { found: usize },
    NotANumber { value: String },
    NotUtf8,
    OpenQuote,
}

/// How pieces are parsed.
struct Layout<'a> {
    separator: u8,
    roles: &'a [Role],
    missing: &'a Missing,
}

impl Layout<'_> {
    fn parse<'a>(&self, padded: &'a [u8]) -> Result<Piece<'a>, Flaw> {
        let bytes = &padded[..padded.len() - PADDING];
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
            Flaw { line, column: 0, kind: FlawKind::NotUtf8 }
        })?;
        let count = |role| self.roles.iter().filter(|&&r| r == role).count();
        let mut piece = Piece {
            rows: 0,
            labels: (0..count(Role::Labels)).map(|_| Coder::new()).collect(),
            numbers: Vec::new(),
            texts: vec![Ids::default(); count(Role::Text)],
            jumps: Vec::new(),
            lines: 0,
            blank_tail: 0,
        };
        if memchr(b'"', bytes).is_some() {
            self.parse_quoted(text, &mut piece)?;
        } else {
            self.parse_plain(text, padded, &mut piece)?;
        }
        Ok(piece)
    }

    /// Parses a piece without any quote.
    fn parse_plain<'a>(
        &self,
        text: &'a str,
        padded: &'a [u8],
        piece: &mut Piece<'a>,
    ) -> Result<(), Flaw> {
        let words = Words::new(self.separator);
        let last = self.roles.len() - 1;
        let mut at = 0;
        while at < text.len() {
            let blank = padded[at] <= b' ' && self.is_blank(text, at);
            if self.begin_row(text, &mut at, blank, piece) {
                continue;
            }
            let (mut label, mut words_of_text) = (0, 0);
            for (column, role) in self.roles.iter().enumerate() {
                let end = match role {
                    Role::Labels => {
                        let coder = &mut piece.labels[label];
                        label += 1;
                        coder.take(text, padded, at, &words, self.missing)
                    }
                    Role::Numbers => {
                        let end = words.end(padded, at);
                        let number = self.number(dialect::trim(&text[at..end]));
                        piece.numbers.push(number.map_err(|kind| Flaw {
                            line: piece.lines,
                            column,
                            kind,
                        })?);
                        end
                    }
                    Role::Text => {
                        let end = words.end(padded, at);
                        piece.texts[words_of_text].push(dialect::trim(&text[at..end]));
                        words_of_text += 1;
                        end
                    }
                    Role::Skip => words.end(padded, at),
                };
                if (padded[end] == b'\n') != (column == last) {
                    let rest = text.as_bytes()[end..].iter().take_while(|&&b| b != b'\n');
                    let more = rest.filter(|&&b| b == self.separator).count();
                    let kind = FlawKind::Ragged { found: column + 1 + more };
                    return Err(Flaw { line: piece.lines, column, kind });
                }
                at = end + 1;
            }
            piece.rows += 1;
            piece.lines += 1;
        }
        Ok(())
    }

    /// Parses a piece that has quotes.
    fn parse_quoted<'a>(&self, text: &'a str, piece: &mut Piece<'a>) -> Result<(), Flaw> {
        let last = self.roles.len() - 1;
        let mut at = 0;
        while at < text.len() {
            let blank = self.is_blank(text, at);
            if self.begin_row(text, &mut at, blank, piece) {
                continue;
            }
            let line = piece.lines;
            let flaw = |column, kind| Flaw { line, column, kind };
            let start = at;
            let (mut label, mut words_of_text) = (0, 0);
            for (column, role) in self.roles.iter().enumerate() {
                let field = dialect::field(text, at, self.separator)
                    .map_err(|_| flaw(column, FlawKind::OpenQuote))?;
                match role {
                    Role::Labels => {
                        let code = piece.labels[label].code(field.text, self.missing);
                        piece.labels[label].codes.push(code);
                        label += 1;
                    }
                    Role::Numbers => {
                        let number = self.number(&field.text);
                        piece.numbers.push(number.map_err(|kind| flaw(column, kind))?);
                    }
                    Role::Text => {
                        piece.texts[words_of_text].push(&field.text);
                        words_of_text += 1;
                    }
                    Role::Skip => {}
                }
                if (text.as_bytes().get(field.end) == Some(&b'\n')) != (column == last) {
                    let found = dialect::record(text, start, self.separator)
                        .map_or(column + 1, |(cells, _)| cells.len());
                    return Err(flaw(column, FlawKind::Ragged { found }));
                }
                at = field.end + 1;
            }
            piece.rows += 1;
            piece.lines += memchr_iter(b'\n', &text.as_bytes()[start..at]).count();
        }
        Ok(())
    }

    /// Whether the line at `at` holds nothing but blanks.
    fn is_blank(&self, text: &str, at: usize) -> bool {
        let line = text.as_bytes()[at..].iter().take_while(|&&b| b != b'\n');
        let mut line = line.copied();
        line.all(|b| b != self.separator && matches!(b, b' ' | b'\t' | b'\r'))
    }

    /// Begins a row, or passes over a blank line and returns true. In a table of one column a blank
    /// line is a row with a missing cell, unless only such lines follow.
    fn begin_row(&self, text: &str, at: &mut usize, blank: bool, piece: &mut Piece<'_>) -> bool {
        if blank && self.roles.len() > 1 {
            piece.lines += 1;
            *at = memchr(b'\n', &text.as_bytes()[*at..]).map_or(text.len(), |d| *at + d + 1);
            return true;
        }
        piece.blank_tail = if blank { piece.blank_tail + 1 } else { 0 };
        let expected = piece.jumps.last().map(|&(row, line)| piece.rows - row + line);
        if expected != Some(piece.lines) {
            piece.jumps.push((piece.rows, piece.lines));
        }
        false
    }

    fn number(&self, cell: &str) -> Result<f64, FlawKind> {
        if self.missing.is(cell) {
            return Ok(f64::NAN);
        }
        cell.parse().map_err(|_| FlawKind::NotANumber { value: cell.to_owned() })
    }
}

/// Finds the end of a cell, a machine word at a time.
struct Words {
    separator: u8,
    separators: u64,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const LINE_FEEDS: u64 = ONES * b'\n' as u64;

impl Words {
    fn new(separator: u8) -> Self {
        Words { separator, separators: ONES * u64::from(separator) }
    }

    /// The eight bytes at `at`, and a mark at the first of them that ends a cell (marks after it
    /// mean nothing).
    #[inline]
    fn look(&self, padded: &[u8], at: usize) -> (u64, u64) {
        // The well-known test for a zero byte: exact up to and including the lowest one.
        let zeros = |x: u64| x.wrapping_sub(ONES) & !x & (ONES << 7);
        let word = u64::from_le_bytes(padded[at..at + 8].try_into().expect("eight bytes"));
        (word, zeros(word ^ self.separators) | zeros(word ^ LINE_FEEDS))
    }

    /// Where the cell that starts at `at` ends.
    #[inline]
    fn end(&self, padded: &[u8], at: usize) -> usize {
        let (_, mark) = self.look(padded, at);
        if mark != 0 {
            at + (mark.trailing_zeros() >> 3) as usize
        } else {
            self.far_end(padded, at)
        }
    }

    fn far_end(&self, padded: &[u8], at: usize) -> usize {
        let distance = memchr2(self.separator, b'\n', &padded[at..]);
        at + distance.expect("the padding is line feeds")
    }
}

/// Gives the labels of one column of a piece codes by first appearance.
struct Coder<'a> {
    names: Vec<Cow<'a, str>>,
    table: HashTable<u32>,
    codes: Vec<u32>,
    /// Cells of up to seven bytes as they stand in the file, with their codes.
    short: Box<[(u64, u32); SHORT]>,
}

const SHORT: usize = 256;

impl<'a> Coder<'a> {
    fn new() -> Self {
        // A key's top byte is a length below 8, so this one is nobody's.
        let nobody = (u64::MAX, 0);
        Coder {
            names: Vec::new(),
            table: HashTable::new(),
            codes: Vec::new(),
            short: Box::new([nobody; SHORT]),
        }
    }

    /// Codes the cell that starts at `at`; returns where it ends.
    #[inline]
    fn take(
        &mut self,
        text: &'a str,
        padded: &'a [u8],
        at: usize,
        words: &Words,
        missing: &Missing,
    ) -> usize {
        let (word, mark) = words.look(padded, at);
        if mark == 0 {
            let end = words.far_end(padded, at);
            let code = self.code(dialect::trim(&text[at..end]).into(), missing);
            self.codes.push(code);
            return end;
        }
        let len = u64::from(mark.trailing_zeros() >> 3);
        let end = at + len as usize;
        let key = (word & ((1 << (8 * len)) - 1)) | (len << 56);
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SHORT;
        if self.short[slot].0 != key {
            let code = self.code(dialect::trim(&text[at..end]).into(), missing);
            self.short[slot] = (key, code);
        }
        self.codes.push(self.short[slot].1);
        end
    }

    /// The code of a cell, a new one if it was not met before.
    fn code(&mut self, cell: Cow<'a, str>, missing: &Missing) -> u32 {
        if missing.is(&cell) {
            return MISSING;
        }
        let names = &self.names;
        let hash = hash(cell.as_bytes());
        if let Some(&code) = self.table.find(hash, |&code| names[code as usize] == cell) {
            return code;
        }
        let code = names.len() as u32;
        self.names.push(cell);
        let names = &self.names;
        let rehash = |&code: &u32| super::table::hash(names[code as usize].as_bytes());
        self.table.insert_unique(hash, code, rehash);
        code
    }
}

/// The table as far as it is put together.
struct Join {
    table: Table,
    /// The line that the next piece begins with.
    line: usize,
    /// How many rows at the end are blank lines.
    blank_tail: usize,
    separator: u8,
}

impl Join {
    /// Appends pieces in their order; reports the first flaw.
    fn append(&mut self, parsed: Vec<Result<Piece<'_>, Flaw>>, run: &Run) -> Result<()> {
        let mut pieces = Vec::with_capacity(parsed.len());
        let mut row = self.table.rows;
        for piece in parsed {
            let piece = piece.map_err(|flaw| self.located(flaw))?;
            for &(r, line) in &piece.jumps {
                self.table.places.note(row + r, self.line + line);
            }
            row += piece.rows;
            self.line += piece.lines;
            self.blank_tail =
                if piece.blank_tail == piece.rows { self.blank_tail } else { 0 } + piece.blank_tail;
            pieces.push(piece);
        }
        self.table.rows = row;
        // The place of each column among those of its kind.
        let (mut labels, mut texts) = (0, 0);
        let columns = self.table.columns.iter_mut().map(|column| {
            let counter =
                if matches!(column, Column::Labels(_)) { &mut labels } else { &mut texts };
            let place = *counter;
            *counter += usize::from(matches!(column, Column::Labels(_) | Column::Text(_)));
            (place, column)
        });
        let columns: Vec<(usize, &mut Column)> = columns.collect();
        columns.into_par_iter().for_each(|(place, column)| match column {
            Column::Labels(labels) => {
                for piece in &pieces {
                    labels.append(&piece.labels[place].names, &piece.labels[place].codes);
                }
            }
            Column::Text(texts) => {
                pieces.iter().for_each(|piece| texts.append(&piece.texts[place]))
            }
            Column::Number(_) | Column::Skipped => {}
        });
        for piece in &pieces {
            self.table.numbers.extend_from_slice(&piece.numbers);
        }
        self.table.ask_memory(run)?;
        Ok(())
    }

    fn finish(mut self) -> Table {
        self.table.truncate(self.table.rows - self.blank_tail);
        self.table
    }

    fn located(&self, flaw: Flaw) -> InputError {
        let file = self.table.file.clone();
        let line = self.line + flaw.line;
        match flaw.kind {
            FlawKind::Ragged { found } => InputError::Ragged {
                file,
                line,
                found,
                expected: self.table.names.len(),
                separator: Separator(self.separator).to_string(),
            },
            FlawKind::NotANumber { value } => InputError::NotANumber {
                file,
                place: Place::Line(line),
                column: self.table.names[flaw.column].clone(),
                hint: number_hint(&value),
                value,
            },
            FlawKind::NotUtf8 => InputError::NotUtf8 { file, place: Place::Line(line) },
            FlawKind::OpenQuote => InputError::OpenQuote { file, line },
        }
    }
}

/// What to do about a cell that should be a number.
fn number_hint(value: &str) -> String {
    if value.contains(',') && value.replace(',', ".").parse::<f64>().is_ok() {
        return "write decimals with a point".to_owned();
    }
    "correct it, or name the column by --id, --truth or --drop".to_owned()
}

/// A separator as messages show it.
struct Separator(u8);

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("(tab)"),
            other => write!(f, "`{}`", char::from(other)),
        }
    }
}
