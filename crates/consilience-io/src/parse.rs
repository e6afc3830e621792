//! Parsing a piece of a text table.
//!
//! A short cell is looked up by its bytes as one machine word; trimming, missing tokens and hashing
//! happen once a piece and label.

use std::borrow::Cow;

use hashbrown::HashTable;
use memchr::{memchr, memchr_iter, memchr2};

use super::cut::PADDING;
use super::dialect;
use super::piece::{Coded, Piece, count};
use super::table::{Ids, MISSING, Role, hash};

/// Which cells mean "missing".
pub(super) struct Missing(pub(super) Vec<String>);

impl Missing {
    pub(super) fn is(&self, cell: &str) -> bool {
        matches!(cell, "" | "NA" | "NaN" | "nan") || self.0.iter().any(|token| token == cell)
    }
}

/// A piece of text as it is parsed.
struct Rows<'a> {
    rows: usize,
    labels: Vec<Coder<'a>>,
    numbers: Vec<f64>,
    texts: Vec<Ids>,
    lines: Lines,
}

/// Where the rows of a piece stand.
#[derive(Default)]
pub(super) struct Lines {
    /// Rows and lines, counted within the piece, where their difference changes.
    pub(super) jumps: Vec<(usize, usize)>,
    /// How many lines there are.
    pub(super) count: usize,
    /// How many blank lines at the end were read as rows (tables of one column only).
    pub(super) blank_tail: usize,
}

/// What is wrong in a piece, the line counted within it.
pub(super) struct Flaw {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) kind: FlawKind,
}

pub(super) enum FlawKind {
    Ragged { found: usize },
    NotANumber { value: String },
    NotUtf8,
    OpenQuote,
}

/// How pieces are parsed.
pub(super) struct Layout<'a> {
    pub(super) separator: u8,
    pub(super) roles: &'a [Role],
    pub(super) missing: &'a Missing,
    pub(super) decimal_comma: bool,
}

impl Layout<'_> {
    /// Parses a piece: whole records, then the padding.
    pub(super) fn parse<'a>(&self, padded: &'a [u8]) -> Result<(Piece<'a>, Lines), Flaw> {
        let bytes = &padded[..padded.len() - PADDING];
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
            Flaw { line, column: 0, kind: FlawKind::NotUtf8 }
        })?;
        let mut rows = Rows {
            rows: 0,
            labels: {
                let columns = count(self.roles, Role::Labels);
                (0..columns).map(|_| Coder::new(columns)).collect()
            },
            numbers: Vec::new(),
            texts: vec![Ids::default(); count(self.roles, Role::Text)],
            lines: Lines::default(),
        };
        if memchr(b'"', bytes).is_some() {
            self.parse_quoted(text, &mut rows)?;
        } else {
            self.parse_plain(text, padded, &mut rows)?;
        }
        let labels = rows.labels.into_iter().map(|coder| coder.coded).collect();
        let piece = Piece { rows: rows.rows, labels, numbers: rows.numbers, texts: rows.texts };
        Ok((piece, rows.lines))
    }

    /// Parses a piece without any quote.
    fn parse_plain<'a>(
        &self,
        text: &'a str,
        padded: &'a [u8],
        rows: &mut Rows<'a>,
    ) -> Result<(), Flaw> {
        let words = Words::new(self.separator);
        let last = self.roles.len() - 1;
        let mut at = 0;
        while at < text.len() {
            let blank = padded[at] <= b' ' && self.is_blank(text, at);
            if self.begin_row(text, &mut at, blank, rows) {
                continue;
            }
            let (mut label, mut words_of_text) = (0, 0);
            for (column, role) in self.roles.iter().enumerate() {
                let end = match role {
                    Role::Labels => {
                        let coder = &mut rows.labels[label];
                        label += 1;
                        coder.take(text, padded, at, &words, self.missing)
                    }
                    Role::Numbers => {
                        let end = words.end(padded, at);
                        let number = self.number(dialect::trim(&text[at..end]));
                        rows.numbers.push(number.map_err(|kind| Flaw {
                            line: rows.lines.count,
                            column,
                            kind,
                        })?);
                        end
                    }
                    Role::Text => {
                        let end = words.end(padded, at);
                        rows.texts[words_of_text].push(dialect::trim(&text[at..end]));
                        words_of_text += 1;
                        end
                    }
                    Role::Skip => words.end(padded, at),
                };
                if (padded[end] == b'\n') != (column == last) {
                    let rest = text.as_bytes()[end..].iter().take_while(|&&b| b != b'\n');
                    let more = rest.filter(|&&b| b == self.separator).count();
                    let kind = FlawKind::Ragged { found: column + 1 + more };
                    return Err(Flaw { line: rows.lines.count, column, kind });
                }
                at = end + 1;
            }
            rows.rows += 1;
            rows.lines.count += 1;
        }
        Ok(())
    }

    /// Parses a piece that has quotes.
    fn parse_quoted<'a>(&self, text: &'a str, rows: &mut Rows<'a>) -> Result<(), Flaw> {
        let last = self.roles.len() - 1;
        let mut at = 0;
        while at < text.len() {
            let blank = self.is_blank(text, at);
            if self.begin_row(text, &mut at, blank, rows) {
                continue;
            }
            let line = rows.lines.count;
            let flaw = |column, kind| Flaw { line, column, kind };
            let start = at;
            let (mut label, mut words_of_text) = (0, 0);
            for (column, role) in self.roles.iter().enumerate() {
                let field = dialect::field(text, at, self.separator)
                    .map_err(|_| flaw(column, FlawKind::OpenQuote))?;
                match role {
                    Role::Labels => {
                        let code = rows.labels[label].code(field.text, self.missing);
                        rows.labels[label].coded.codes.push(code);
                        label += 1;
                    }
                    Role::Numbers => {
                        let number = self.number(&field.text);
                        rows.numbers.push(number.map_err(|kind| flaw(column, kind))?);
                    }
                    Role::Text => {
                        rows.texts[words_of_text].push(&field.text);
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
            rows.rows += 1;
            rows.lines.count += memchr_iter(b'\n', &text.as_bytes()[start..at]).count();
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
    fn begin_row(&self, text: &str, at: &mut usize, blank: bool, rows: &mut Rows<'_>) -> bool {
        if blank && self.roles.len() > 1 {
            rows.lines.count += 1;
            *at = memchr(b'\n', &text.as_bytes()[*at..]).map_or(text.len(), |d| *at + d + 1);
            return true;
        }
        rows.lines.blank_tail = if blank { rows.lines.blank_tail + 1 } else { 0 };
        let expected = rows.lines.jumps.last().map(|&(row, line)| rows.rows - row + line);
        if expected != Some(rows.lines.count) {
            rows.lines.jumps.push((rows.rows, rows.lines.count));
        }
        false
    }

    fn number(&self, cell: &str) -> Result<f64, FlawKind> {
        if self.missing.is(cell) {
            return Ok(f64::NAN);
        }
        let number = if self.decimal_comma { with_point(cell) } else { Some(cell.into()) };
        let number = number.and_then(|number| number.parse().ok());
        number.ok_or_else(|| FlawKind::NotANumber { value: cell.to_owned() })
    }
}

/// A number with a decimal comma as one with a point. Where commas are decimal, a point parts
/// thousands, or is a mistake: neither is guessed.
pub(super) fn with_point(cell: &str) -> Option<Cow<'_, str>> {
    (!cell.contains('.')).then(|| cell.replace(',', ".").into())
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
    coded: Coded<'a>,
    table: HashTable<u32>,
    /// Cells of up to seven bytes as they stand in the file, with their codes.
    short: Box<[(u64, u32)]>,
}

/// How many short cells of a column are remembered, out of so many columns: a table of a million columns
/// would take gigabytes for what few rows repeat.
fn remembered(columns: usize) -> usize {
    if columns > 4096 { 8 } else { 256 }
}

impl<'a> Coder<'a> {
    fn new(columns: usize) -> Self {
        // A key's top byte is a length below 8, so this one is nobody's.
        let short = vec![(u64::MAX, 0); remembered(columns)];
        Coder { coded: Coded::default(), table: HashTable::new(), short: short.into() }
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
            self.coded.codes.push(code);
            return end;
        }
        let len = u64::from(mark.trailing_zeros() >> 3);
        let end = at + len as usize;
        let key = (word & ((1 << (8 * len)) - 1)) | (len << 56);
        let slot =
            (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize & (self.short.len() - 1);
        if self.short[slot].0 != key {
            let code = self.code(dialect::trim(&text[at..end]).into(), missing);
            self.short[slot] = (key, code);
        }
        self.coded.codes.push(self.short[slot].1);
        end
    }

    /// The code of a cell, a new one if it was not met before.
    fn code(&mut self, cell: Cow<'a, str>, missing: &Missing) -> u32 {
        if missing.is(&cell) {
            return MISSING;
        }
        let names = &self.coded.names;
        let hash = hash(cell.as_bytes());
        if let Some(&code) = self.table.find(hash, |&code| names[code as usize] == cell) {
            return code;
        }
        let code = names.len() as u32;
        self.coded.names.push(cell);
        let names = &self.coded.names;
        let rehash = |&code: &u32| super::table::hash(names[code as usize].as_bytes());
        self.table.insert_unique(hash, code, rehash);
        code
    }
}
