//! The header of a NumPy array: a Python dictionary of three entries.

use std::io::Read;

use super::error::{InputError, Result};
use super::source::fill;

/// What an array is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dtype {
    pub(super) kind: Kind,
    /// Bytes a cell.
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

impl Dtype {
    /// Whether single precision holds all numbers of this type.
    pub(super) fn is_single(self) -> bool {
        self.kind == Kind::Float && self.size <= size_of::<f32>()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Text, four bytes a character.
    Utf32,
    /// Text, one byte a character.
    Bytes,
}

/// What stands before the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    /// Whether the array stands column by column.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    /// The length of the header in bytes: where the numbers begin.
    pub(super) bytes: u64,
}

impl Header {
    const MAGIC: &'static [u8; 6] = b"\x93NUMPY";

    /// Reads a header.
    pub(super) fn read(source: &mut impl Read, file: &str) -> Result<Self> {
        let damaged = |problem: &str| InputError::Damaged {
            file: file.to_owned(),
            problem: problem.to_owned(),
        };
        let mut take = |buffer: &mut [u8]| -> Result<()> {
            let got = fill(source, buffer).map_err(|error| InputError::io(file, &error))?;
            if got < buffer.len() {
                return Err(damaged("it ends within its header (truncated)"));
            }
            Ok(())
        };
        let mut start = [0; 8];
        take(&mut start)?;
        if !start.starts_with(Self::MAGIC) {
            return Err(damaged("it does not begin like a NumPy array"));
        }
        // Version 1 has a length of two bytes, later ones of four.
        let (length, prefix) = if start[6] == 1 {
            let mut bytes = [0; 2];
            take(&mut bytes)?;
            (usize::from(u16::from_le_bytes(bytes)), 10)
        } else {
            let mut bytes = [0; 4];
            take(&mut bytes)?;
            (u32::from_le_bytes(bytes) as usize, 12)
        };
        // A table of numbers has a header of about a hundred bytes.
        if length > 1 << 16 {
            return Err(damaged("its header is too long"));
        }
        let mut text = vec![0; length];
        take(&mut text)?;
        let text = String::from_utf8(text).map_err(|_| damaged("its header is not text"))?;
        Self::parse(&text, length as u64 + prefix, file)
    }

    fn parse(text: &str, bytes: u64, file: &str) -> Result<Self> {
        let damaged = || InputError::Damaged {
            file: file.to_owned(),
            problem: format!("its header makes no sense: {}", text.trim()),
        };
        let entry = |key: &str| {
            let at = text.find(&format!("'{key}'"))?;
            let rest = text[at + key.len() + 2..].trim_start();
            Some(rest.strip_prefix(':')?.trim_start())
        };
        let descr = entry("descr").ok_or_else(damaged)?;
        let Some(descr) = descr.strip_prefix('\'').and_then(|d| d.split('\'').next()) else {
            return Err(InputError::Unsupported {
                file: file.to_owned(),
                problem: "records of several types are not read".to_owned(),
                hint: "save a plain array of numbers, or a Parquet file".to_owned(),
            });
        };
        let fortran = entry("fortran_order").ok_or_else(damaged)?.starts_with("True");
        let shape = entry("shape").and_then(|s| s.strip_prefix('(')?.split(')').next());
        let shape = shape
            .ok_or_else(damaged)?
            .split(',')
            .map(str::trim)
            .filter(|length| !length.is_empty())
            .map(|length| length.trim_end_matches('L').parse().map_err(|_| damaged()))
            .collect::<Result<Vec<usize>>>()?;
        let dtype = Dtype::parse(descr).ok_or_else(|| InputError::Unsupported {
            file: file.to_owned(),
            problem: format!("numbers of type `{descr}` are not read"),
            hint: "save integers, float32, float64, booleans or text".to_owned(),
        })?;
        Ok(Header { dtype, fortran, shape, bytes })
    }

    /// Rows and columns.
    pub(super) fn two_dimensions(&self, file: &str) -> Result<[usize; 2]> {
        match *self.shape {
            [rows] => Ok([rows, 1]),
            [rows, columns] => Ok([rows, columns]),
            _ => Err(InputError::Unsupported {
                file: file.to_owned(),
                problem: format!("an array of {} dimensions is not a table", self.shape.len()),
                hint: "save one of one or two dimensions".to_owned(),
            }),
        }
    }
}

impl Dtype {
    fn parse(descr: &str) -> Option<Self> {
        let order = descr.chars().next()?;
        let big_endian = match order {
            '<' | '|' => false,
            '=' => cfg!(target_endian = "big"),
            '>' => true,
            _ => return None,
        };
        let kind = descr.get(1..2)?;
        let size: usize = descr.get(2..)?.parse().ok()?;
        let (kind, size) = match (kind, size) {
            ("b", 1) => (Kind::Bool, 1),
            ("i", 1 | 2 | 4 | 8) => (Kind::Signed, size),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            ("f", 4 | 8) => (Kind::Float, size),
            ("U", 1..=4096) => (Kind::Utf32, 4 * size),
            ("S", 1..=4096) => (Kind::Bytes, size),
            _ => return None,
        };
        Some(Dtype { kind, size, big_endian })
    }
}

/// The bytes of a header of version 1, padded so that the numbers begin at a multiple of 64.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        shape.join(", ")
    );
    let padding = (64 - (10 + text.len() + 1) % 64) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut bytes = Header::MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_written() {
        let bytes = header("<i2", &[3, 4]);
        assert_eq!(bytes.len() % 64, 0);
        let read = Header::read(&mut &*bytes, "a.npy").unwrap();
        let dtype = Dtype { kind: Kind::Signed, size: 2, big_endian: false };
        let expected =
            Header { dtype, fortran: false, shape: vec![3, 4], bytes: bytes.len() as u64 };
        assert_eq!(read, expected);
        let flat = header("|u1", &[7]);
        assert_eq!(Header::read(&mut &*flat, "a.npy").unwrap().shape, [7]);
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let text = "{\"descr\": 1}";
        assert!(Header::parse(text, 0, "a.npy").is_err());
        let text = "{'shape':(5,),'fortran_order':True,'descr':'>f4'}";
        let header = Header::parse(text, 9, "a.npy").unwrap();
        let dtype = Dtype { kind: Kind::Float, size: 4, big_endian: true };
        assert_eq!(header, Header { dtype, fortran: true, shape: vec![5], bytes: 9 });
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let message = |text: &str| Header::parse(text, 0, "a.npy").unwrap_err().to_string();
        assert_eq!(
            message("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }"),
            "a.npy: numbers of type `<c16` are not read; save integers, float32, float64, booleans \
             or text"
        );
        assert_eq!(
            message("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,), }"),
            "a.npy: records of several types are not read; save a plain array of numbers, or a \
             Parquet file"
        );
        assert!(
            message("{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }")
                .contains("no sense")
        );
    }
}
