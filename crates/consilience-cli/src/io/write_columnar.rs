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
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::cells::{Cell, Cells, Kind, NamedCells};
use super::target::WriteError;

/// Rows a batch.
const BATCH: usize = 1 << 16;

/// Writes a Parquet file. Nothing in it depends on when or where it was written.
pub(super) fn parquet(
    writer: &mut (dyn Write + Send),
    columns: &[NamedCells<'_>],
    run: &Run,
) -> Result<(), WriteError> {
    let columns = Columns::new(columns);
    // The codec that every reader has.
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut out = ArrowWriter::try_new(writer, Arc::clone(&columns.schema), Some(properties))?;
    columns.for_each_batch(run, |batch| Ok(out.write(&batch)?))?;
    out.close()?;
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

    fn for_each_batch(
        &self,
        run: &Run,
        mut write: impl FnMut(RecordBatch) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let rows = self.columns.first().map_or(0, |(_, cells)| cells.len());
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
