//! Tables as NumPy arrays.

use std::io::Write;

use consilience::Run;

use super::cells::{Kind, NamedCells};
use super::target::WriteError;
use crate::npy_header::header as npy_header;

/// Rows at a time.
const CHUNK: usize = 1 << 14;

/// Writes an array: integers of the narrowest type that holds them, -1 for empty cells, if all
/// columns are integers; otherwise `float64`, NaN for empty cells. One column makes an array of one
/// dimension.
pub(super) fn write(
    writer: &mut (dyn Write + Send),
    columns: &[NamedCells<'_>],
    run: &Run,
) -> Result<(), WriteError> {
    if let Some((name, _)) = columns.iter().find(|(_, cells)| cells.kind() == Kind::Text) {
        return Err(WriteError::Cannot {
            problem: format!("column `{name}` is text, and an array holds numbers only"),
            hint: "write .csv, .parquet or .arrow".to_owned(),
        });
    }
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let flat = [rows];
    let square = [rows, columns.len()];
    let shape: &[usize] = if columns.len() == 1 { &flat } else { &square };
    let width = if columns.iter().all(|(_, cells)| cells.kind() == Kind::Integers) {
        Some(integer_width(columns, rows))
    } else {
        None
    };
    let descr = width.map_or("<f8".to_owned(), |width| match width {
        1 => "|i1".to_owned(),
        width => format!("<i{width}"),
    });
    writer.write_all(&npy_header(&descr, shape))?;
    let mut bytes = Vec::new();
    for start in (0..rows).step_by(CHUNK) {
        run.tick("writing", start as u64, Some(rows as u64))?;
        let range = start..rows.min(start + CHUNK);
        bytes.clear();
        if let Some(width) = width {
            let columns: Vec<_> =
                columns.iter().map(|(_, cells)| cells.integers(range.clone())).collect();
            for i in 0..range.len() {
                for column in &columns {
                    bytes.extend(&column[i].unwrap_or(-1).to_le_bytes()[..width]);
                }
            }
        } else {
            let columns: Vec<_> =
                columns.iter().map(|(_, cells)| cells.numbers(range.clone())).collect();
            for i in 0..range.len() {
                for column in &columns {
                    bytes.extend(column[i].to_le_bytes());
                }
            }
        }
        writer.write_all(&bytes)?;
    }
    Ok(())
}

/// How many bytes the widest integer takes.
fn integer_width(columns: &[NamedCells<'_>], rows: usize) -> usize {
    let (mut smallest, mut largest) = (-1, 0);
    for start in (0..rows).step_by(CHUNK) {
        let range = start..rows.min(start + CHUNK);
        for (_, cells) in columns {
            for value in cells.integers(range.clone()).into_iter().flatten() {
                smallest = value.min(smallest);
                largest = value.max(largest);
            }
        }
    }
    let fits = |bits: u32| smallest >= -1 << (bits - 1) && largest < 1 << (bits - 1);
    [1, 2, 4].into_iter().find(|&bytes| fits(8 * bytes as u32)).unwrap_or(8)
}
