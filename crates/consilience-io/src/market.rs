//! MatrixMarket files: sparse tables of numbers.
//!
//! R. F. Boisvert, R. Pozo, K. A. Remington. *The Matrix Market Exchange Formats: Initial Design.*
//! NISTIR 5935, 1996.
//!
//! A line `%%MatrixMarket matrix coordinate integer general`, comments, a line with the numbers of
//! rows, columns and entries, then an entry a line: row and column, counted from 1, and the value
//! (none in a `pattern`, where every value is 1). `symmetric` and `skew-symmetric` files hold one half.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use consilience::Run;
use consilience::base::SparseMatrix;

use super::ReadOptions;
use super::error::{InputError, Place, Result, shown};
use super::source::open_text;

/// Entries between two looks at the cancel flag.
const BETWEEN_CHECKS: usize = 1 << 16;

/// The most entries that are made room for before they are seen: a damaged number of entries must
/// not take all memory.
const ROOM: usize = 1 << 24;

/// The fewest bytes of an entry: two digits, a blank and the end of the line.
const SHORTEST: u64 = 4;

/// What a row takes beside its entries, while the vector of where rows begin grows.
const BYTES_OF_ROW: u64 = 24;

/// What the name of a column takes.
const BYTES_OF_COLUMN: u64 = 64;

/// How many bytes at most come out of a byte of gzip.
const MOST_PACKED: u64 = 1032;

/// What the first line says.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether there are no values.
    pattern: bool,
    /// What an entry below the diagonal says of the one across it: a factor.
    across: Option<f64>,
}

/// Whether the ending is that of a MatrixMarket file, and if so, whether it is compressed by gzip.
pub(super) fn ending(path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (stem, gzip) = name.strip_suffix(".gz").map_or((&*name, false), |stem| (stem, true));
    (stem.rsplit_once('.')?.1 == "mtx").then_some(gzip)
}

/// Reads a file.
pub(super) fn read(
    path: &Path,
    gzip: bool,
    options: &ReadOptions,
    run: &Run,
) -> Result<SparseMatrix> {
    let opened = open_text(path, gzip, options)?;
    let bytes = opened.size.map(|bytes| bytes.saturating_mul(if gzip { MOST_PACKED } else { 1 }));
    let most = bytes.map_or(ROOM, |bytes| usize::try_from(bytes / SHORTEST + 1).unwrap_or(ROOM));
    let mut file = Lines::new(shown(path), opened.text);
    let first = file.next()?.map(str::to_ascii_lowercase);
    let kind = kind(&file, first.as_deref().unwrap_or_default())?;
    let size = loop {
        match file.next()? {
            Some(line) if line.starts_with('%') || line.trim().is_empty() => {}
            Some(line) => break numbers(line),
            None => return Err(InputError::Empty { file: file.name }),
        }
    };
    let Some([rows, columns, count]) = size else {
        return Err(file.wrong("the numbers of rows, columns and entries are expected"));
    };
    if rows.max(columns) > u32::MAX as usize {
        return Err(file.wrong("there are more than 2^32 rows or columns"));
    }
    if kind.across.is_some() && rows != columns {
        let problem =
            format!("a symmetric matrix has as many rows as columns, not {rows} x {columns}");
        return Err(file.wrong(&problem));
    }
    let wish = format!("{} with {rows} rows, {columns} columns and {count} entries", file.name);
    let stored = (count as u64).saturating_mul(if kind.across.is_some() { 2 } else { 1 });
    // Where rows begin, and what columns are called: of a table that is nearly empty they are most.
    let besides = BYTES_OF_ROW * rows as u64 + BYTES_OF_COLUMN * columns as u64;
    let bytes = stored.saturating_mul(28).saturating_add(besides);
    run.ask_memory(&wish, bytes, "leave out rare features")?;
    let mut entries = Vec::with_capacity(count.min(most).min(ROOM));
    let mut read = 0;
    while read < count {
        if read % BETWEEN_CHECKS == 0 {
            run.check()?;
        }
        let Some(line) = file.next()? else {
            let problem = format!("it ends after {read} of {count} entries");
            return Err(InputError::Damaged { file: file.name, problem });
        };
        if line.trim().is_empty() || line.starts_with('%') {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let mut place = |most: usize| {
            let number = words.next()?.parse::<usize>().ok()?;
            (1..=most).contains(&number).then(|| number as u32 - 1)
        };
        let (Some(i), Some(j)) = (place(rows), place(columns)) else {
            let problem = format!("row and column must lie within the {rows} x {columns} table");
            return Err(file.wrong(&problem));
        };
        let value = match (kind.pattern, words.next()) {
            (true, None) => Some(1.0),
            (false, Some(word)) => word.parse::<f64>().ok(),
            _ => None,
        };
        let Some(value) = value.filter(|_| words.next().is_none()) else {
            return Err(file.wrong(if kind.pattern {
                "two numbers are expected, the row and the column"
            } else {
                "three numbers are expected, the row, the column and the value"
            }));
        };
        if !value.is_finite() {
            let (file, place) = (file.name.clone(), Place::Line(file.number));
            return Err(InputError::NotFinite { file, place, column: (j + 1).to_string(), value });
        }
        entries.push((i, j, value));
        if let Some(factor) = kind.across.filter(|_| i != j) {
            entries.push((j, i, factor * value));
        }
        read += 1;
    }
    while let Some(line) = file.next()? {
        if !line.trim().is_empty() && !line.starts_with('%') {
            return Err(file.wrong(&format!("there are more than the {count} entries announced")));
        }
    }
    if rows == 0 || columns == 0 {
        return Err(InputError::Empty { file: file.name });
    }
    let matrix = SparseMatrix::from_entries(rows, columns, entries);
    if matrix.values().iter().any(|x| !x.is_finite()) {
        return Err(
            file.wrong("and before, entries of one place add up to more than the largest number")
        );
    }
    Ok(matrix)
}

fn kind(file: &Lines, line: &str) -> Result<Kind> {
    let unsupported = |problem: String| InputError::Unsupported {
        file: file.name.clone(),
        problem,
        hint: "write it as `matrix coordinate real general`".to_owned(),
    };
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let &["%%matrixmarket", "matrix", layout, field, symmetry] = &words[..] else {
        return Err(unsupported(
            "the first line does not say `%%MatrixMarket matrix ...`, so this is no MatrixMarket file"
                .to_owned(),
        ));
    };
    if layout != "coordinate" {
        return Err(unsupported(format!("the layout `{layout}` is not read, only `coordinate`")));
    }
    if !["real", "integer", "pattern"].contains(&field) {
        return Err(unsupported(format!("numbers of kind `{field}` are not read")));
    }
    let across = match symmetry {
        "general" => None,
        "symmetric" => Some(1.0),
        "skew-symmetric" => Some(-1.0),
        _ => return Err(unsupported(format!("a `{symmetry}` matrix is not read"))),
    };
    Ok(Kind { pattern: field == "pattern", across })
}

/// Three whole numbers, and nothing else.
fn numbers(line: &str) -> Option<[usize; 3]> {
    let numbers: Option<Vec<usize>> =
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The lines of a file, counted.
struct Lines {
    name: String,
    source: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    number: usize,
}

impl Lines {
    fn new(name: String, source: Box<dyn Read + Send>) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        Lines { name, source, line: Vec::new(), number: 0 }
    }

    fn next(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        self.number += 1;
        let read = self.source.read_until(b'\n', &mut self.line);
        if read.map_err(|error| InputError::io(&self.name, &error))? == 0 {
            return Ok(None);
        }
        let (file, place) = (&self.name, Place::Line(self.number));
        let line = std::str::from_utf8(&self.line);
        line.map(Some).map_err(|_| InputError::NotUtf8 { file: file.clone(), place })
    }

    /// The last line is wrong.
    fn wrong(&self, what: &str) -> InputError {
        InputError::Damaged {
            file: self.name.clone(),
            problem: format!("in line {} {what}", self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Result<SparseMatrix, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let place = format!("{}/", folder.path().display());
        let gzip = ending(&path).expect("a name of such a file");
        let read = super::read(&path, gzip, &ReadOptions::default(), &Run::new(0).threads(1));
        read.map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn the_ending_tells() {
        let of = |path: &str| ending(Path::new(path));
        assert_eq!([of("a/b.mtx"), of("b.MTX.gz")], [Some(false), Some(true)]);
        assert_eq!([of("b.csv"), of("mtx"), of("b.mtx/c")], [None; 3]);
    }

    const HEAD: &str = "%%MatrixMarket matrix coordinate integer general\n% words\n\n";

    #[test]
    fn entries_are_counted_from_one_and_added_up() {
        let text = format!("{HEAD}2 3 4\n1 3 5\n2 1 7\n\n% more\n2 1 -1\n1 1 0\n");
        let expected = SparseMatrix::from_entries(2, 3, vec![(0, 2, 5.0), (1, 0, 6.0)]);
        assert_eq!(read("t.mtx", text.as_bytes()), Ok(expected.clone()));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        assert_eq!(read("t.mtx.gz", &gzip.finish().unwrap()), Ok(expected));
    }

    #[test]
    fn halves_are_completed_and_patterns_are_ones() {
        let of = |kind: &str, entries: &str| {
            let text = format!("%%matrixmarket MATRIX coordinate {kind}\n2 2 2\n{entries}");
            read("t.mtx", text.as_bytes()).unwrap().to_dense().into_vec()
        };
        assert_eq!(of("real symmetric", "1 1 2.5\n2 1 1e1\n"), [2.5, 10.0, 10.0, 0.0]);
        assert_eq!(of("real skew-symmetric", "2 1 3\n2 2 0\n"), [0.0, -3.0, 3.0, 0.0]);
        assert_eq!(of("pattern general", "1 2\n2 2\n"), [0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn bad_files_are_refused_with_the_place() {
        let after = |text: &str| format!("{HEAD}{text}");
        let cases = [
            (
                "1,2\n3,4\n".to_owned(),
                "t.mtx: the first line does not say `%%MatrixMarket matrix ...`, so this is no \
                 MatrixMarket file; write it as `matrix coordinate real general`",
            ),
            (
                HEAD.replace("coordinate", "array"),
                "t.mtx: the layout `array` is not read, only `coordinate`; write it as `matrix \
                 coordinate real general`",
            ),
            (
                HEAD.replace("integer", "complex"),
                "t.mtx: numbers of kind `complex` are not read; write it as `matrix coordinate \
                 real general`",
            ),
            (
                HEAD.replace("general", "hermitian"),
                "t.mtx: a `hermitian` matrix is not read; write it as `matrix coordinate real \
                 general`",
            ),
            (HEAD.to_owned(), "t.mtx is empty; it needs at least one row"),
            (after("0 3 0\n"), "t.mtx is empty; it needs at least one row"),
            (
                after("2 2\n"),
                "t.mtx is damaged: in line 4 the numbers of rows, columns and entries are \
                 expected; make or copy the file again",
            ),
            (
                after("2 2 2\n1 1 1\n"),
                "t.mtx is damaged: it ends after 1 of 2 entries; make or copy the file again",
            ),
            (
                after("2 2 1\n1 1 1\n2 2 2\n"),
                "t.mtx is damaged: in line 6 there are more than the 1 entries announced; make or \
                 copy the file again",
            ),
            (
                after("2 2 1\n1 3 1\n"),
                "t.mtx is damaged: in line 5 row and column must lie within the 2 x 2 table; make \
                 or copy the file again",
            ),
            (
                after("2 2 1\n1 1 a\n"),
                "t.mtx is damaged: in line 5 three numbers are expected, the row, the column and \
                 the value; make or copy the file again",
            ),
            (
                after("2 2 1\n1 2 inf\n"),
                "t.mtx, line 5, column `2`: inf is not a finite number; correct or drop it",
            ),
            (
                HEAD.replace("general", "symmetric") + "2 5 1\n1 5 1\n",
                "t.mtx is damaged: in line 4 a symmetric matrix has as many rows as columns, not 2 x 5; make \
                 or copy the file again",
            ),
            (
                after("1 1 2\n1 1 1e308\n1 1 1e308\n"),
                "t.mtx is damaged: in line 7 and before, entries of one place add up to more than the \
                 largest number; make or copy the file again",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(read("t.mtx", text.as_bytes()).unwrap_err(), message);
        }
    }

    /// A few bytes must not ask for more memory than there is, nor make the reader count for minutes.
    #[test]
    fn tables_that_are_nearly_empty_ask_for_memory_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.mtx");
        for size in ["4000000000 2 1", "2 4000000000 1", "2 2 900000000000"] {
            fs::write(&path, format!("{HEAD}{size}\n1 1 1\n")).unwrap();
            let run = Run::new(0).threads(1).memory(1 << 30);
            let refused = super::read(&path, false, &ReadOptions::default(), &run).unwrap_err();
            assert!(refused.to_string().contains("of memory, but the ceiling is"), "{refused}");
        }
    }
}
