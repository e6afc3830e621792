//! Tables as text.

use std::io::Write;
use std::ops::Range;

use consilience::Run;
use rayon::prelude::*;

use super::cells::{Cell, NamedCells};
use super::target::WriteError;

/// A table to be written as text.
pub(super) struct TextRows<'a> {
    pub(super) columns: &'a [NamedCells<'a>],
    pub(super) separator: u8,
}

impl TextRows<'_> {
    /// Writes the header and the rows. Chunks of rows are formatted in parallel and written in
    /// order.
    pub(super) fn write(
        &self,
        writer: &mut (dyn Write + Send),
        run: &Run,
    ) -> Result<(), WriteError> {
        const CHUNK: usize = 1 << 12;
        const BATCH: usize = 64;
        let mut header = Vec::new();
        for (j, (name, _)) in self.columns.iter().enumerate() {
            if j > 0 {
                header.push(self.separator);
            }
            push_text(&mut header, name, self.separator);
        }
        header.push(b'\n');
        writer.write_all(&header)?;
        let rows = self.columns.first().map_or(0, |(_, cells)| cells.len());
        for batch in (0..rows).step_by(CHUNK * BATCH) {
            run.tick("writing", batch as u64, Some(rows as u64))?;
            let starts: Vec<usize> =
                (batch..rows.min(batch + CHUNK * BATCH)).step_by(CHUNK).collect();
            let format = |start: usize| self.format(start..rows.min(start + CHUNK));
            let texts: Vec<Vec<u8>> = run.install(|| starts.into_par_iter().map(format).collect());
            for text in texts {
                writer.write_all(&text)?;
            }
        }
        Ok(())
    }

    fn format(&self, rows: Range<usize>) -> Vec<u8> {
        let mut text = Vec::new();
        for i in rows {
            for (j, (_, cells)) in self.columns.iter().enumerate() {
                if j > 0 {
                    text.push(self.separator);
                }
                match cells.get(i) {
                    // An empty line would be no row to other programs.
                    Cell::Empty if self.columns.len() == 1 => text.extend(b"\"\""),
                    Cell::Empty => {}
                    Cell::Text(cell) => push_text(&mut text, cell, self.separator),
                    Cell::Integer(cell) => write!(text, "{cell}").expect("memory takes all"),
                    Cell::Number(cell) => push_number(&mut text, cell),
                }
            }
            text.push(b'\n');
        }
        text
    }
}

/// Text, in quotes where a reader would misunderstand it.
fn push_text(out: &mut Vec<u8>, cell: &str, separator: u8) {
    let odd = |b: u8| b == separator || matches!(b, b'"' | b'\n' | b'\r');
    // Readers trim, and an empty text is not an empty cell to all of them.
    let blank_around = cell.trim_matches([' ', '\t']).len() != cell.len();
    if !cell.is_empty() && !blank_around && !cell.bytes().any(odd) {
        out.extend(cell.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in cell.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// The shortest decimal that reads back as the same number.
fn push_number(out: &mut Vec<u8>, number: f64) {
    let size = number.abs();
    let plain = size == 0.0 || (1e-5..1e16).contains(&size) || !number.is_finite();
    let written = if plain { write!(out, "{number}") } else { write!(out, "{number:e}") };
    written.expect("memory takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_the_same() {
        let numbers = [0.1, 1.0, -2.5e-7, 1e300, f64::MIN_POSITIVE, 1.0 / 3.0, -0.0, 123_456.75];
        let texts = numbers.map(|number| {
            let mut out = Vec::new();
            push_number(&mut out, number);
            String::from_utf8(out).unwrap()
        });
        assert_eq!(texts[..5], ["0.1", "1", "-2.5e-7", "1e300", "2.2250738585072014e-308"]);
        for (number, text) in numbers.iter().zip(&texts) {
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits(), "{text}");
        }
    }
}
