//! NumPy arrays: reading and writing `.npy`.
//!
//! An array is a table without names. It is read in pieces that stay in the file's own number type
//! until they become codes or memberships, so a table of bytes never takes eight times its size.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use consilience::Run;
use rayon::prelude::*;

use super::ReadOptions;
use super::error::{InputError, Place, Result, shown};
use super::npy_header::{Dtype, Header, Kind};
use super::numbers::Numbers;
use super::piece::{Coded, IntegerCoder, Piece, count};
use super::source::{Source, fill, open};
use super::table::{Column, Ids, Places, Plan, Role, Table};
use crate::spelling::Setting;

/// Bytes a piece.
const PIECE: usize = 1 << 20;
/// Pieces that are in memory at the same time, times two.
const BATCH: usize = 16;

/// Reads an array of one or two dimensions; columns are called `c0`, `c1`, ...
pub(super) fn read(
    path: &Path,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let file = shown(path);
    let source = open(path, options)?;
    let size = source.size().unwrap_or(0);
    let mut source = BufReader::with_capacity(PIECE, source);
    let header = Header::read(&mut source, &file)?;
    let &[rows, columns] = &header.two_dimensions(&file)?;
    let expected = (rows as u64)
        .checked_mul(columns as u64)
        .and_then(|cells| cells.checked_mul(header.dtype.size as u64))
        .and_then(|bytes| bytes.checked_add(header.bytes));
    if expected.is_none_or(|expected| expected > size) {
        let problem = format!(
            "its header announces {rows} x {columns} numbers of {} bytes, but the file has {size} \
             bytes (truncated)",
            header.dtype.size
        );
        return Err(InputError::Damaged { file, problem });
    }
    if rows == 0 || columns == 0 {
        return Err(InputError::Empty { file });
    }
    let names: Vec<String> = (0..columns).map(|j| format!("c{j}")).collect();
    let roles = plan.roles(&file, &names)?;
    let mut table = Table::new(&file, names, &roles, Places::Rows);
    table.named = false;
    let bytes = Numbers::size(header.dtype.is_single());
    let numbers = (count(&roles, Role::Numbers) * rows * bytes) as u64;
    run.ask_memory(&file, numbers, &format!("raise {}", Setting::Memory))?;
    run.install(|| {
        if header.fortran && columns > 1 {
            by_columns(&mut table, &mut source, &header, &roles, rows, run)
        } else {
            by_rows(&mut table, &mut source, &header, &roles, rows, run)
        }
    })?;
    plan.inspect(&table)?;
    Ok(table)
}

/// Reads an array that stands row by row.
fn by_rows(
    table: &mut Table,
    source: &mut BufReader<Source>,
    header: &Header,
    roles: &[Role],
    rows: usize,
    run: &Run,
) -> Result<()> {
    let row_bytes = roles.len() * header.dtype.size;
    let piece_rows = (PIECE / row_bytes).max(1);
    let numbers = count(roles, Role::Numbers) * rows;
    table.numbers = Numbers::with_capacity(numbers, header.dtype.is_single());
    let file = table.file.clone();
    let mut left = rows;
    let mut read = || -> Result<Vec<Vec<u8>>> {
        let mut batch = Vec::new();
        while batch.len() < BATCH && left > 0 {
            let n = left.min(piece_rows);
            batch.push(exactly(source, n * row_bytes, &file)?);
            left -= n;
        }
        Ok(batch)
    };
    let mut batch = read()?;
    while !batch.is_empty() {
        run.tick("reading", table.rows as u64, Some(rows as u64))?;
        let (next, pieces) = rayon::join(&mut read, || {
            let parse = |(b, bytes): (usize, &Vec<u8>)| {
                let n = bytes.len() / row_bytes;
                parse_rows(bytes, header.dtype, roles, n)
                    .map_err(|flaw| flaw.located(table, table.rows + b * piece_rows))
            };
            batch.par_iter().enumerate().map(parse).collect::<Vec<_>>()
        });
        let pieces: Vec<Piece<'_>> = pieces.into_iter().collect::<Result<_>>()?;
        table.append(&pieces, run)?;
        batch = next?;
    }
    Ok(())
}

/// Reads an array that stands column by column.
fn by_columns(
    table: &mut Table,
    source: &mut BufReader<Source>,
    header: &Header,
    roles: &[Role],
    rows: usize,
    run: &Run,
) -> Result<()> {
    let piece_rows = PIECE / header.dtype.size;
    let width = count(roles, Role::Numbers);
    table.numbers = Numbers::zeros(width * rows, header.dtype.is_single());
    for (j, &role) in roles.iter().enumerate() {
        if role == Role::Skip {
            let bytes = (rows * header.dtype.size) as u64;
            let at = header.bytes + bytes * (j as u64 + 1);
            source.seek(SeekFrom::Start(at)).map_err(|e| InputError::io(&table.file, &e))?;
            continue;
        }
        let mut done = 0;
        while done < rows {
            run.tick("reading", (j * rows + done) as u64, Some((roles.len() * rows) as u64))?;
            let mut batch = Vec::new();
            while batch.len() < BATCH && done < rows {
                let n = piece_rows.min(rows - done);
                batch.push((done, exactly(source, n * header.dtype.size, &table.file)?));
                done += n;
            }
            let parse = |(first, bytes): &(usize, Vec<u8>)| {
                let n = bytes.len() / header.dtype.size;
                parse_rows(bytes, header.dtype, &[role], n)
                    .map_err(|flaw| Flaw { column: j, ..flaw }.located(table, *first))
            };
            let pieces: Vec<Result<Piece<'_>>> = batch.par_iter().map(parse).collect();
            for ((first, _), piece) in batch.iter().zip(pieces) {
                let piece = piece?;
                match &mut table.columns[j] {
                    Column::Labels(labels) => {
                        labels.append(&piece.labels[0].names, &piece.labels[0].codes);
                    }
                    Column::Text(text) => text.append(&piece.texts[0]),
                    Column::Number(place) => {
                        for (i, &number) in piece.numbers.iter().enumerate() {
                            table.numbers.set((first + i) * width + *place, number);
                        }
                    }
                    Column::Skipped => {}
                }
            }
        }
    }
    table.rows = rows;
    table.ask_memory(run)
}

/// Reads this many bytes.
fn exactly(source: &mut impl Read, bytes: usize, file: &str) -> Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    let got = fill(source, &mut buffer).map_err(|error| InputError::io(file, &error))?;
    if got < bytes {
        return Err(InputError::io(file, &std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(buffer)
}

/// A number that is no label, by its place in a piece.
struct Flaw {
    row: usize,
    column: usize,
    kind: FlawKind,
}

enum FlawKind {
    Fraction(f64),
    NotANumber(String),
}

impl Flaw {
    fn located(self, table: &Table, first_row: usize) -> InputError {
        let file = table.file.clone();
        let place = Place::Row(first_row + self.row);
        let column = table.names[self.column].clone();
        match self.kind {
            FlawKind::Fraction(value) => {
                InputError::MeantRun { file, place, column, value: value.to_string() }
            }
            FlawKind::NotANumber(value) => {
                let hint = "an array of text cannot be features".to_owned();
                InputError::NotANumber { file, place, column, value, hint }
            }
        }
    }
}

/// Turns `rows` rows, cell by cell of type `dtype`, into a piece.
fn parse_rows(
    bytes: &[u8],
    dtype: Dtype,
    roles: &[Role],
    rows: usize,
) -> Result<Piece<'static>, Flaw> {
    macro_rules! numbers {
        ($t:ty) => {
            if dtype.big_endian {
                parse_numbers(bytes, roles, rows, |b| <$t>::from_be_bytes(b), dtype.kind)
            } else {
                parse_numbers(bytes, roles, rows, |b| <$t>::from_le_bytes(b), dtype.kind)
            }
        };
    }
    match (dtype.kind, dtype.size) {
        (Kind::Signed, 1) => numbers!(i8),
        (Kind::Signed, 2) => numbers!(i16),
        (Kind::Signed, 4) => numbers!(i32),
        (Kind::Signed, 8) => numbers!(i64),
        (Kind::Unsigned | Kind::Bool, 1) => numbers!(u8),
        (Kind::Unsigned, 2) => numbers!(u16),
        (Kind::Unsigned, 4) => numbers!(u32),
        (Kind::Unsigned, 8) => numbers!(u64),
        (Kind::Float, 4) => numbers!(f32),
        (Kind::Float, 8) => numbers!(f64),
        (Kind::Utf32 | Kind::Bytes, _) => parse_texts(bytes, dtype, roles, rows),
        other => unreachable!("the header refuses {other:?}"),
    }
}

/// A number as a label.
enum Label {
    /// A whole number; an unsigned one beyond the range by its bits.
    Whole(i64),
    Missing,
    Fraction,
}

/// A number type of NumPy.
trait Number: Copy {
    fn label(self) -> Label;
    fn number(self) -> f64;
}

macro_rules! impl_number {
    (whole: $($t:ty),*) => {$(
        impl Number for $t {
            fn label(self) -> Label {
                Label::Whole(self as i64)
            }
            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
    (float: $($t:ty),*) => {$(
        impl Number for $t {
            fn label(self) -> Label {
                if self.is_nan() {
                    Label::Missing
                } else if self.fract() == 0.0 && self.abs() < 9e15 {
                    Label::Whole(self as i64)
                } else {
                    Label::Fraction
                }
            }
            #[allow(clippy::cast_lossless)]
            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}
impl_number!(whole: i8, i16, i32, i64, u8, u16, u32, u64);
impl_number!(float: f32, f64);

fn parse_numbers<T: Number, const SIZE: usize>(
    bytes: &[u8],
    roles: &[Role],
    rows: usize,
    value: impl Fn([u8; SIZE]) -> T,
    kind: Kind,
) -> Result<Piece<'static>, Flaw> {
    let cells = bytes.as_chunks::<SIZE>().0;
    let mut coders: Vec<IntegerCoder> =
        (0..count(roles, Role::Labels)).map(|_| IntegerCoder::with_capacity(rows)).collect();
    let mut numbers = Vec::with_capacity(rows * count(roles, Role::Numbers));
    let mut texts = vec![Ids::default(); count(roles, Role::Text)];
    let name = |value: i64| match kind {
        Kind::Bool => (value != 0).to_string(),
        Kind::Unsigned => (value as u64).to_string(),
        _ => value.to_string(),
    };
    for (row, cells) in cells.chunks_exact(roles.len()).enumerate() {
        let (mut label, mut text) = (0, 0);
        for (column, (&cell, role)) in cells.iter().zip(roles).enumerate() {
            let value = value(cell);
            let fraction = || Flaw { row, column, kind: FlawKind::Fraction(value.number()) };
            match role {
                Role::Labels => {
                    match value.label() {
                        Label::Whole(whole) => coders[label].push(whole),
                        Label::Missing => coders[label].push_missing(),
                        Label::Fraction => return Err(fraction()),
                    }
                    label += 1;
                }
                Role::Numbers => numbers.push(value.number()),
                Role::Text => {
                    match value.label() {
                        Label::Whole(whole) => texts[text].push(&name(whole)),
                        Label::Missing => texts[text].push(""),
                        Label::Fraction => return Err(fraction()),
                    }
                    text += 1;
                }
                Role::Skip => {}
            }
        }
    }
    let labels = coders.into_iter().map(|coder| coder.finish(name)).collect();
    Ok(Piece { rows, labels, numbers, texts })
}

/// Arrays of text of fixed width, padded by zeros.
fn parse_texts(
    bytes: &[u8],
    dtype: Dtype,
    roles: &[Role],
    rows: usize,
) -> Result<Piece<'static>, Flaw> {
    let text = |cell: &[u8]| -> String {
        if dtype.kind == Kind::Bytes {
            let text = String::from_utf8_lossy(cell);
            return text.trim_end_matches('\0').to_owned();
        }
        let units = cell.as_chunks::<4>().0.iter().map(|&unit| {
            let unit =
                if dtype.big_endian { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) };
            char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
        });
        units.collect::<String>().trim_end_matches('\0').to_owned()
    };
    let mut names: Vec<super::table::Names> = Vec::new();
    names.resize_with(count(roles, Role::Labels), Default::default);
    let mut codes = vec![Vec::new(); names.len()];
    let mut texts = vec![Ids::default(); count(roles, Role::Text)];
    let mut cells = bytes.chunks_exact(dtype.size);
    for row in 0..rows {
        let (mut label, mut place) = (0, 0);
        for (column, role) in roles.iter().enumerate() {
            let cell = text(cells.next().expect("a cell for every column"));
            match role {
                Role::Labels => {
                    let missing = matches!(&*cell, "" | "NA" | "NaN" | "nan");
                    let code =
                        if missing { super::table::MISSING } else { names[label].code(&cell) };
                    codes[label].push(code);
                    label += 1;
                }
                Role::Numbers => {
                    return Err(Flaw { row, column, kind: FlawKind::NotANumber(cell) });
                }
                Role::Text => {
                    texts[place].push(&cell);
                    place += 1;
                }
                Role::Skip => {}
            }
        }
    }
    let coded = |(names, codes): (super::table::Names, Vec<u32>)| Coded {
        names: names.list.into_iter().map(Into::into).collect(),
        codes,
    };
    let labels = names.into_iter().zip(codes).map(coded).collect();
    Ok(Piece { rows, labels, numbers: Vec::new(), texts })
}
