//! Parquet and Arrow IPC files: reading.
//!
//! Columns of labels are read apart from one another, each by a thread of its own, straight into
//! codes; text comes as the file's dictionaries, so no cell becomes a string. Columns of numbers
//! are read together, a batch at a time, and turned into rows.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use bytes::Bytes;
use consilience::Run;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use rayon::prelude::*;

use super::ReadOptions;
use super::arrays::{self, Flaw};
use super::error::{InputError, Place, Result, shown};
use super::guard::guarded;
use super::numbers::Numbers;
use super::parse::Missing;
use super::source::{Source, open};
use super::table::{Column, Places, Plan, Role, Table, check_names};
use crate::spelling::{Setting, other_columns};

/// Rows a batch.
pub(super) const BATCH: usize = 1 << 16;

/// Reads a Parquet file.
pub(super) fn read_parquet(
    path: &Path,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let file = shown(path);
    let source = open(path, options)?;
    let metadata = parquet_metadata(&file, &source)?;
    let schema = Arc::clone(metadata.schema());
    let (mut table, roles) = start(&file, &schema, plan)?;
    let (rows, width) = (count_rows(&metadata), table.width());
    let single = is_single(&schema, &roles);
    let numbers = (rows as u64).saturating_mul((width * Numbers::size(single)) as u64);
    run.ask_memory(&file, numbers, &format!("raise {}", Setting::Memory))?;

    // Ask for the dictionaries of text as they stand in the file.
    let with_dictionaries = dictionaries(&schema, &roles);
    let asked = ArrowReaderOptions::new().with_schema(Arc::new(with_dictionaries));
    let metadata =
        ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), asked).unwrap_or(metadata);
    let batches = |columns: &[usize]| {
        // A file of its own for every reader: clones would share the position in it.
        let source = Pages(open(path, options)?);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let builder = builder.with_projection(mask).with_batch_size(BATCH);
        let build = || builder.build().map_err(|error| parquet_error(&file, &error));
        let batches = guarded(&file, build)?;
        Ok::<_, InputError>(Guarded { file: &file, batches })
    };
    let missing = Missing(options.missing.clone());
    run.install(|| {
        let (numbers, columns) = rayon::join(
            || -> Result<Numbers> {
                let places = positions(&roles, Role::Numbers);
                let mut numbers = Numbers::with_capacity(rows * width, single);
                if places.is_empty() {
                    return Ok(numbers);
                }
                for batch in batches(&places)? {
                    run.tick("reading", (numbers.len() / width) as u64, Some(rows as u64))?;
                    let batch = batch?;
                    let row = numbers.len() / width;
                    let arrays: Vec<(usize, &ArrayRef)> =
                        places.iter().copied().zip(batch.columns()).collect();
                    numbers.extend_by(|to| {
                        append_numbers(to, &arrays, batch.num_rows(), row, &file, &schema)
                    })?;
                }
                Ok(numbers)
            },
            || {
                each(&mut table.columns, |j, column| {
                    if !matches!(column, Column::Labels(_) | Column::Text(_)) {
                        return Ok(());
                    }
                    let mut row = 0;
                    for batch in batches(&[j])? {
                        run.check()?;
                        let batch = batch?;
                        append_column(column, batch.column(0), &missing)
                            .map_err(|flaw| located(flaw, &file, &schema, j, row))?;
                        row += batch.num_rows();
                    }
                    Ok(())
                })
            },
        );
        columns?;
        table.numbers = numbers?;
        Ok::<(), InputError>(())
    })?;
    table.rows = rows;
    finish(table, plan, run)
}

/// A Parquet file of which nothing can be read beyond its end.
///
/// The reader passes over what it does not know in the head of a page, and takes the end of the file
/// for bytes passed over: a damaged head that claims two thousand million of them keeps it busy for
/// hours.
pub(super) struct Pages(pub(super) Source);

impl Length for Pages {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Pages {
    type T = NotBeyond<BufReader<Source>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(NotBeyond(self.0.get_read(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}

/// Bytes whose end is an error.
pub(super) struct NotBeyond<R>(R);

impl<R: Read> Read for NotBeyond<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

/// What a Parquet file says of itself.
pub(super) fn parquet_metadata(file: &str, source: &Source) -> Result<ArrowReaderMetadata> {
    guarded(file, || {
        ArrowReaderMetadata::load(source, ArrowReaderOptions::new())
            .map_err(|error| parquet_error(file, &error))
    })
}

/// How many rows a Parquet file claims to have.
pub(super) fn count_rows(metadata: &ArrowReaderMetadata) -> usize {
    let groups = metadata.metadata().row_groups().iter();
    let rows: i64 = groups.map(parquet::file::metadata::RowGroupMetaData::num_rows).sum();
    usize::try_from(rows).unwrap_or(0)
}

/// Reads an Arrow IPC file.
pub(super) fn read_arrow(
    path: &Path,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let file = shown(path);
    let mut source = open(path, options)?;
    check_blocks(&mut source, &file)?;
    let source = BufReader::new(source);
    let reader = guarded(&file, || {
        FileReader::try_new(source, None).map_err(|error| arrow_error(&file, &error))
    })?;
    read_batches(&file, &reader.schema(), reader, options, plan, run)
}

/// Refuses an Arrow file whose footer points outside the file. The reader would take the memory
/// that the footer asks for before it finds out.
fn check_blocks(source: &mut Source, file: &str) -> Result<()> {
    const MAGIC: &[u8] = b"ARROW1";
    let damaged =
        |problem: &str| InputError::Damaged { file: file.to_owned(), problem: problem.to_owned() };
    let io = |error: std::io::Error| InputError::io(file, &error);
    let size = source.seek(SeekFrom::End(0)).map_err(io)?;
    if size == 0 {
        return Err(InputError::Empty { file: file.to_owned() });
    }
    let mut magic = Vec::new();
    source.rewind().map_err(io)?;
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(io)?;
    if magic != MAGIC {
        return Err(damaged("it does not begin like an Arrow IPC file (streams are not read)"));
    }
    let mut end = [0; 10];
    source.seek(SeekFrom::Start(size.saturating_sub(10))).map_err(io)?;
    source.read_exact(&mut end).map_err(io)?;
    let length = i32::from_le_bytes(end[..4].try_into().expect("four bytes"));
    let start = size.checked_sub(10 + u64::from(length.unsigned_abs()));
    let (Some(start), true, true) = (start, length >= 0, &end[4..] == MAGIC) else {
        return Err(damaged("it does not end like an Arrow IPC file (truncated)"));
    };
    let mut footer = vec![0; length as usize];
    source.seek(SeekFrom::Start(start)).map_err(io)?;
    source.read_exact(&mut footer).map_err(io)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    let outside = |block: &arrow_ipc::Block| {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let total = parts.iter().try_fold(0i64, |sum, &part| sum.checked_add(part));
        parts.iter().any(|&part| part < 0) || total.is_none_or(|total| total as u64 > size)
    };
    if blocks.into_iter().any(outside) {
        return Err(damaged("its footer points outside the file"));
    }
    source.rewind().map_err(io)
}

/// Batches of a file that may be damaged.
struct Guarded<'a, I> {
    file: &'a str,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Guarded<'_, I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = || self.batches.next().transpose().map_err(|e| arrow_error(self.file, &e));
        guarded(self.file, next).transpose()
    }
}

fn read_batches(
    file: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let (mut table, roles) = start(file, schema, plan)?;
    table.numbers = Numbers::with_capacity(0, is_single(schema, &roles));
    let missing = Missing(options.missing.clone());
    let places = positions(&roles, Role::Numbers);
    for batch in (Guarded { file, batches }) {
        run.tick("reading", table.rows as u64, None)?;
        let batch = batch?;
        let row = table.rows;
        run.install(|| {
            each(&mut table.columns, |j, column| {
                append_column(column, batch.column(j), &missing)
                    .map_err(|flaw| located(flaw, file, schema, j, row))
            })
        })?;
        let arrays: Vec<(usize, &ArrayRef)> =
            places.iter().map(|&j| (j, batch.column(j))).collect();
        table
            .numbers
            .extend_by(|to| append_numbers(to, &arrays, batch.num_rows(), row, file, schema))?;
        table.rows += batch.num_rows();
        table.ask_memory(run)?;
    }
    finish(table, plan, run)
}

/// Does something with every column in parallel; of several errors, the first column's counts.
fn each(
    columns: &mut [Column],
    work: impl Fn(usize, &mut Column) -> Result<()> + Sync,
) -> Result<()> {
    let columns = columns.par_iter_mut().enumerate();
    let results: Vec<Result<()>> = columns.map(|(j, column)| work(j, column)).collect();
    results.into_iter().collect()
}

fn start(file: &str, schema: &Schema, plan: &dyn Plan) -> Result<(Table, Vec<Role>)> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if names.is_empty() {
        return Err(InputError::Empty { file: file.to_owned() });
    }
    check_names(file, &names)?;
    let roles = plan.roles(file, &names)?;
    Ok((Table::new(file, names, &roles, Places::Rows), roles))
}

fn finish(table: Table, plan: &dyn Plan, run: &Run) -> Result<Table> {
    if table.rows == 0 {
        return Err(InputError::Empty { file: table.file });
    }
    let lengths = table.columns.iter().map(|column| match column {
        Column::Labels(labels) => labels.labels.len(),
        Column::Text(text) => text.len(),
        Column::Number(_) => table.numbers.len() / table.width(),
        Column::Skipped => table.rows,
    });
    if lengths.into_iter().any(|length| length != table.rows) {
        let problem = "its columns differ in length".to_owned();
        return Err(InputError::Damaged { file: table.file, problem });
    }
    table.ask_memory(run)?;
    plan.inspect(&table)?;
    Ok(table)
}

/// Whether single precision holds all columns of numbers.
fn is_single(schema: &Schema, roles: &[Role]) -> bool {
    let mut numbers = schema.fields().iter().zip(roles).filter(|(_, role)| **role == Role::Numbers);
    numbers.all(|(field, _)| matches!(field.data_type(), DataType::Float16 | DataType::Float32))
}

fn positions(roles: &[Role], role: Role) -> Vec<usize> {
    (0..roles.len()).filter(|&j| roles[j] == role).collect()
}

/// The schema with text that is read as labels in the form of dictionaries.
pub(super) fn dictionaries(schema: &Schema, roles: &[Role]) -> Schema {
    let fields = schema.fields().iter().zip(roles).map(|(field, role)| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if *role == Role::Labels => {
            let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            let field = Field::new(field.name(), text, field.is_nullable());
            Arc::new(field)
        }
        _ => Arc::clone(field),
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
}

pub(super) fn append_column(
    column: &mut Column,
    array: &ArrayRef,
    missing: &Missing,
) -> Result<(), Flaw> {
    match column {
        Column::Labels(labels) => {
            let coded = arrays::labels(array, &|text| missing.is(text))?;
            labels.append(&coded.names, &coded.codes);
        }
        Column::Text(ids) => arrays::texts(array, &mut |_, text| ids.push(text.unwrap_or("")))?,
        Column::Number(_) | Column::Skipped => {}
    }
    Ok(())
}

/// Appends rows from arrays of numbers, each with the place of its column in the file.
pub(super) fn append_numbers(
    numbers: &mut Vec<f64>,
    arrays: &[(usize, &ArrayRef)],
    rows: usize,
    first_row: usize,
    file: &str,
    schema: &Schema,
) -> Result<()> {
    let start = numbers.len();
    numbers.resize(start + rows * arrays.len(), 0.0);
    for (place, &(j, array)) in arrays.iter().enumerate() {
        let cells = numbers[start..].iter_mut().skip(place).step_by(arrays.len());
        arrays::numbers(array, cells).map_err(|flaw| located(flaw, file, schema, j, first_row))?;
    }
    Ok(())
}

pub(super) fn located(
    flaw: Flaw,
    file: &str,
    schema: &Schema,
    column: usize,
    row: usize,
) -> InputError {
    let (file, column) = (file.to_owned(), schema.field(column).name().clone());
    match flaw {
        Flaw::Fraction { row: i, value } => {
            let place = Place::Row(row + i);
            InputError::MeantRun { file, place, column, value: value.to_string() }
        }
        Flaw::NotANumber { row: i, value } => {
            let hint = format!("correct it, or name the column by {}", other_columns());
            InputError::NotANumber { file, place: Place::Row(row + i), column, value, hint }
        }
        Flaw::Type(kind) => InputError::Unsupported {
            file,
            problem: format!("column `{column}` is of type {kind}, which is not read"),
            hint: format!(
                "leave it out with {}, or store numbers or text",
                Setting::DropThis(&column)
            ),
        },
    }
}

pub(super) fn parquet_error(file: &str, error: &ParquetError) -> InputError {
    let file = file.to_owned();
    match error {
        ParquetError::External(inner) if inner.is::<std::io::Error>() => {
            InputError::io(&file, inner.downcast_ref().expect("just asked"))
        }
        ParquetError::NYI(problem) => unsupported(file, problem),
        other => damaged(file, &other.to_string()),
    }
}

pub(super) fn arrow_error(file: &str, error: &ArrowError) -> InputError {
    let file = file.to_owned();
    match error {
        ArrowError::IoError(_, error) => InputError::io(&file, error),
        ArrowError::NotYetImplemented(problem) => unsupported(file, problem),
        // Which codecs are there is decided when the program is built.
        ArrowError::InvalidArgumentError(problem) if problem.contains("compression") => {
            unsupported(file, problem)
        }
        other => damaged(file, &other.to_string()),
    }
}

fn damaged(file: String, problem: &str) -> InputError {
    // The readers begin their sentences with names of their own error types.
    let mut problem = problem;
    for prefix in
        ["Parquet argument error: ", "Parquet error: ", "Ipc error: ", "EOF: ", "External: "]
    {
        problem = problem.strip_prefix(prefix).unwrap_or(problem);
    }
    if problem.contains("Disabled feature") {
        return unsupported(file, problem);
    }
    InputError::Damaged { file, problem: problem.to_owned() }
}

/// The compressions of Parquet that are read; zstd is C code.
#[cfg(not(target_family = "wasm"))]
const COMPRESSIONS: &str = "snappy, gzip or zstd";
#[cfg(target_family = "wasm")]
const COMPRESSIONS: &str = "snappy or gzip";

fn unsupported(file: String, problem: &str) -> InputError {
    InputError::Unsupported {
        file,
        problem: format!("something in it is not read ({problem})"),
        hint: format!("write it again without compression, or by {COMPRESSIONS}"),
    }
}
