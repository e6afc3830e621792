//! Tables as Parquet and Arrow IPC files.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use consilience::Run;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::cells::{Cell, Cells, Kind, NamedCells};
use super::target::WriteError;

/// Rows a batch.
const BATCH: usize = 1 << 16;

/// Rows a row group of Parquet: what is encoded by one thread at a time, a column of it.
const GROUP: usize = 1 << 20;

/// Writes a Parquet file. Nothing in it depends on when or where it was written, or by how many
/// threads.
pub(super) fn parquet(
    writer: &mut (dyn Write + Send),
    columns: &[NamedCells<'_>],
    run: &Run,
) -> Result<(), WriteError> {
    let columns = Columns::new(columns);
    // The codec that every reader has.
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    for (name, cells) in columns.columns {
        // Numbers of rows never repeat, but their differences do.
        if let Cells::Rows(_) = cells {
            let path = ColumnPath::new(vec![name.clone()]);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let schema = Arc::clone(&columns.schema);
    let out = ArrowWriter::try_new(writer, schema, Some(properties.build()))?;
    let (mut file, factory) = out.into_serialized_writer()?;
    let rows = columns.rows();
    let groups: Vec<usize> = (0..rows).step_by(GROUP).collect();
    for (wave, starts) in groups.chunks(run.n_threads()).enumerate() {
        run.tick("writing", starts[0] as u64, Some(rows as u64))?;
        let mut work = Vec::new();
        for (i, &start) in starts.iter().enumerate() {
            let writers = factory.create_column_writers(wave * run.n_threads() + i)?;
            let group = start..rows.min(start + GROUP);
            work.extend(writers.into_iter().enumerate().map(|(j, out)| (j, group.clone(), out)));
        }
        let encode = |(j, rows, out)| columns.encode(j, rows, out, run);
        let chunks: Vec<Result<ArrowColumnChunk, WriteError>> =
            run.install(|| work.into_par_iter().map(encode).collect());
        let mut chunks = chunks.into_iter();
        for _ in starts {
            let mut group = file.next_row_group()?;
            for chunk in chunks.by_ref().take(columns.columns.len()) {
                chunk?.append_to_row_group(&mut group)?;
            }
            group.close()?;
        }
    }
    file.close()?;
    Ok(())
}

/// Writes an Arrow IPC file.
pub(super) fn arrow(
    writer: &mut (dyn Write + Send),
    columns: &[NamedCells<'_>],
    run: &Run,
) -> Result<(), WriteError> {
    let columns = Columns::new(columns);
    let mut out = FileWriter::try_new(writer, &columns.schema)?;
    columns.for_each_batch(run, |batch| Ok(out.write(&batch)?))?;
    out.finish()?;
    Ok(())
}

/// Columns with their Arrow types.
struct Columns<'a> {
    columns: &'a [NamedCells<'a>],
    schema: Arc<Schema>,
    /// The names of the clusters of columns of labels.
    dictionaries: Vec<Option<ArrayRef>>,
}

impl<'a> Columns<'a> {
    fn new(columns: &'a [NamedCells<'a>]) -> Self {
        let dictionary = |cells: &Cells<'_>| match cells {
            Cells::Labels(member) if cells.kind() == Kind::Text => {
                Some(Arc::new(StringArray::from_iter_values(member.clusters())) as ArrayRef)
            }
            _ => None,
        };
        let dictionaries: Vec<_> = columns.iter().map(|(_, cells)| dictionary(cells)).collect();
        let field = |((name, cells), dictionary): (&NamedCells<'_>, &Option<ArrayRef>)| {
            let text = DataType::Utf8;
            let kind = match (dictionary, cells.kind()) {
                (Some(_), _) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(text)),
                (None, Kind::Text) => text,
                (None, Kind::Integers) => DataType::Int64,
                (None, Kind::Numbers) => DataType::Float64,
            };
            Field::new(name, kind, true)
        };
        let fields: Vec<Field> = columns.iter().zip(&dictionaries).map(field).collect();
        Columns { columns, schema: Arc::new(Schema::new(fields)), dictionaries }
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }

    /// Encodes rows of column `j`.
    fn encode(
        &self,
        j: usize,
        rows: Range<usize>,
        mut out: ArrowColumnWriter,
        run: &Run,
    ) -> Result<ArrowColumnChunk, WriteError> {
        for start in rows.clone().step_by(BATCH) {
            run.check()?;
            let range = start..rows.end.min(start + BATCH);
            let array = array(&self.columns[j].1, self.dictionaries[j].as_ref(), &range)?;
            for leaf in compute_leaves(self.schema.field(j), &array)? {
                out.write(&leaf)?;
            }
        }
        Ok(out.close()?)
    }

    fn for_each_batch(
        &self,
        run: &Run,
        mut write: impl FnMut(RecordBatch) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let rows = self.rows();
        for start in (0..rows).step_by(BATCH) {
            run.tick("writing", start as u64, Some(rows as u64))?;
            let range = start..rows.min(start + BATCH);
            let arrays = self.columns.iter().zip(&self.dictionaries);
            let arrays =
                arrays.map(|((_, cells), dictionary)| array(cells, dictionary.as_ref(), &range));
            let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
            write(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)?;
        }
        Ok(())
    }
}

fn array(
    cells: &Cells<'_>,
    dictionary: Option<&ArrayRef>,
    rows: &Range<usize>,
) -> Result<ArrayRef, ArrowError> {
    if let (Some(names), Cells::Labels(member)) = (dictionary, cells) {
        let codes = rows.clone().map(|i| member.labels().get(i).map(|c| c as i32));
        let keys: Int32Array = codes.collect();
        let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(names))?;
        return Ok(Arc::new(array));
    }
    Ok(match cells.kind() {
        Kind::Integers => Arc::new(Int64Array::from(cells.integers(rows.clone()))),
        Kind::Numbers => {
            let numbers = cells.numbers(rows.clone()).into_iter();
            Arc::new(numbers.map(|x| (!x.is_nan()).then_some(x)).collect::<Float64Array>())
        }
        Kind::Text => {
            let texts = rows.clone().map(|i| match cells.get(i) {
                Cell::Text(text) => Some(text),
                _ => None,
            });
            Arc::new(texts.collect::<StringArray>())
        }
    })
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => WriteError::Io(*error),
                Err(other) => WriteError::Io(io::Error::other(other)),
            },
            other => WriteError::Io(io::Error::other(other)),
        }
    }
}

impl From<ArrowError> for WriteError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => WriteError::Io(error),
            other => WriteError::Io(io::Error::other(other)),
        }
    }
}
