//! One column of a table whose rows are spread over files.

use std::sync::Arc;

use arrow_array::ArrayRef;
use consilience::Run;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};

use super::files::{RowFile, RowFiles};
use crate::ReadOptions;
use crate::columnar::{
    BATCH, Pages, append_column, append_numbers, arrow_error, dictionaries, located, parquet_error,
};
use crate::error::{InputError, Place, Result};
use crate::guard::guarded;
use crate::parse::Missing;
use crate::source::open_file;
use crate::table::{Column, Ids, LabelColumn, Role};

/// A column that is read file by file, and what was read of it.
pub(super) struct Stream<'a> {
    files: &'a [RowFile],
    pub(super) name: &'a str,
    role: Role,
    missing: Missing,
    /// The number that means a missing value.
    gaps: Vec<f64>,
    /// The file that is read next.
    next: usize,
    reader: Option<Reader<'a>>,
    /// Labels of the last wave with the names of all, or all texts.
    pub(super) column: Column,
    /// All numbers.
    pub(super) numbers: Vec<f64>,
}

/// A file that is being read.
struct Reader<'a> {
    file: &'a RowFile,
    batches: ParquetRecordBatchReader,
    place: usize,
    row: usize,
}

impl<'a> Stream<'a> {
    /// The column of this name in all files.
    pub(super) fn new(
        files: &'a RowFiles,
        name: &str,
        role: Role,
        options: &ReadOptions,
    ) -> Stream<'a> {
        let column = match role {
            Role::Labels => Column::Labels(LabelColumn::default()),
            Role::Text => Column::Text(Ids::default()),
            Role::Numbers => Column::Number(0),
            Role::Skip => Column::Skipped,
        };
        let fields = files.list[0].schema.fields();
        let own = fields.iter().find(|field| field.name() == name).expect("a column of the files");
        Stream {
            files: &files.list,
            name: own.name(),
            role,
            missing: Missing(options.missing.clone()),
            gaps: options.missing.iter().filter_map(|spelling| spelling.parse().ok()).collect(),
            next: 0,
            reader: None,
            column,
            numbers: Vec::new(),
        }
    }

    /// The labels of the last wave, if the column is one of labels.
    pub(super) fn labels(&self) -> Option<&LabelColumn> {
        match &self.column {
            Column::Labels(labels) => Some(labels),
            _ => None,
        }
    }

    /// Forgets the labels, not their names.
    pub(super) fn forget_labels(&mut self) {
        if let Column::Labels(labels) = &mut self.column {
            labels.truncate(0);
        }
    }

    /// Reads batches until there are `rows` more or the files end. Columns of the same files get the
    /// same rows, because batches end where files do.
    pub(super) fn fill(&mut self, rows: usize, run: &Run) -> Result<()> {
        let mut filled = 0;
        while filled < rows {
            run.check()?;
            if self.reader.is_none() {
                let Some(file) = self.files.get(self.next) else { break };
                self.next += 1;
                self.reader = Some(self.open(file)?);
            }
            let reader = self.reader.as_mut().expect("just opened");
            match reader.next()? {
                Some(array) => {
                    filled += array.len();
                    let (file, place, row) = (reader.file, reader.place, reader.row);
                    reader.row += array.len();
                    self.append(&array, file, place, row)?;
                }
                None => self.reader = None,
            }
        }
        Ok(())
    }

    fn open(&self, file: &'a RowFile) -> Result<Reader<'a>> {
        let place = file.place_of(self.name).expect("the columns are the same in all files");
        // Ask for the dictionaries of text as they stand in the file.
        let mut roles = vec![Role::Skip; file.schema.fields().len()];
        roles[place] = self.role;
        let asked =
            ArrowReaderOptions::new().with_schema(Arc::new(dictionaries(&file.schema, &roles)));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(file.metadata.metadata()), asked)
            .unwrap_or_else(|_| file.metadata.clone());
        let source = Pages(open_file(&file.path)?);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata);
        let mask = ProjectionMask::roots(builder.parquet_schema(), [place]);
        let builder = builder.with_projection(mask).with_batch_size(BATCH);
        let build = || builder.build().map_err(|error| parquet_error(&file.file, &error));
        Ok(Reader { file, batches: guarded(&file.file, build)?, place, row: 0 })
    }

    fn append(&mut self, array: &ArrayRef, file: &RowFile, place: usize, row: usize) -> Result<()> {
        let column = || self.name.to_owned();
        if let Column::Number(_) = self.column {
            let start = self.numbers.len();
            let arrays = [(place, array)];
            let numbers = &mut self.numbers;
            append_numbers(numbers, &arrays, array.len(), row, &file.file, &file.schema)?;
            for (i, weight) in self.numbers[start..].iter_mut().enumerate() {
                if self.gaps.contains(weight) {
                    *weight = f64::NAN;
                }
                if !weight.is_finite() || *weight <= 0.0 {
                    return Err(InputError::Weight {
                        file: file.file.clone(),
                        place: Place::Row(row + i),
                        column: column(),
                        value: *weight,
                    });
                }
            }
            return Ok(());
        }
        let before = match &self.column {
            Column::Text(texts) => texts.len(),
            _ => 0,
        };
        append_column(&mut self.column, array, &self.missing)
            .map_err(|flaw| located(flaw, &file.file, &file.schema, place, row))?;
        if let Column::Text(texts) = &self.column
            && let Some(i) = (before..texts.len()).find(|&i| texts.get(i).is_empty())
        {
            let place = Place::Row(row + i - before);
            return Err(InputError::MissingId { file: file.file.clone(), place, column: column() });
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// The next batch of the column; a file must have as many rows as it claims.
    fn next(&mut self) -> Result<Option<ArrayRef>> {
        let file = &self.file.file;
        let next = || self.batches.next().transpose().map_err(|error| arrow_error(file, &error));
        let array = guarded(file, next)?.map(|batch| Arc::clone(batch.column(0)));
        let seen = self.row + array.as_ref().map_or(0, |array| array.len());
        if seen > self.file.rows || (array.is_none() && seen < self.file.rows) {
            let problem = "its columns differ in length".to_owned();
            return Err(InputError::Damaged { file: file.clone(), problem });
        }
        Ok(array)
    }
}
