//! Text tables, read in pieces and without holding cells as strings.
//!
//! The bytes are cut at line ends into pieces of about a megabyte. Pieces are parsed in parallel,
//! each with codes of its own for the labels it meets, and joined in order, so codes follow first
//! appearance in the file whatever the number of threads.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use consilience::Run;
use memchr::memchr_iter;
use rayon::prelude::*;

use super::ReadOptions;
use super::cut::{PIECE, Pieces, line_of};
use super::dialect::{self, Header, OpenQuote};
use super::error::{InputError, Place, Result, shown};
use super::parse::{Flaw, FlawKind, Layout, Lines, Missing, with_point};
use super::piece::{Piece, count};
use super::source::{OpenText, open_text};
use super::table::{Places, Plan, Role, Table, check_names};
use crate::spelling::{Setting, fewer_columns, other_columns};

/// Reads a text table, separated by `preferred` where nothing speaks against it.
pub(super) fn read(
    path: &Path,
    gzip: bool,
    preferred: u8,
    options: &ReadOptions,
    plan: &dyn Plan,
    run: &Run,
) -> Result<Table> {
    let text = Text { file: &shown(path), preferred, piece: PIECE };
    let OpenText { text: source, size, seen } = open_text(path, gzip, options)?;
    let mut table = text.read(source, size.filter(|_| !gzip), options, plan, run)?;
    table.fingerprint = seen.map(|seen| seen.now()).filter(|whole| Some(whole.bytes) == size);
    Ok(table)
}

/// A source of text.
struct Text<'a> {
    file: &'a str,
    preferred: u8,
    /// Bytes a piece.
    piece: usize,
}

impl Text<'_> {
    fn read(
        &self,
        source: Box<dyn Read + Send>,
        size: Option<u64>,
        options: &ReadOptions,
        plan: &dyn Plan,
        run: &Run,
    ) -> Result<Table> {
        let file = self.file;
        let missing = Missing(options.missing.clone());
        let mut pieces = Pieces::new(source, file, self.piece);
        let head = pieces.head()?;
        let separator = dialect::separator(head, self.preferred, options.decimal_comma);
        let (cells, body) = first_record(head, separator)
            .map_err(|line| InputError::OpenQuote { file: file.to_owned(), line })?;
        let header = if options.no_header {
            Header::Absent
        } else {
            let pointed = |cell| with_point(cell).filter(|_| options.decimal_comma);
            let numbers = cells.iter().map(|cell| pointed(cell).unwrap_or(Cow::Borrowed(cell)));
            Header::detect(&numbers.collect::<Vec<_>>(), |cell| missing.is(cell))
        };
        let names: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(j, cell)| match header {
                Header::Present | Header::Numbered if !cell.is_empty() => cell.to_string(),
                _ => format!("c{j}"),
            })
            .collect();
        check_names(file, &names)?;
        let roles = plan.roles(file, &names)?;
        let has_header = header != Header::Absent;
        let skip = if has_header { body } else { 0 };
        let first_line = 1 + memchr_iter(b'\n', &head.as_bytes()[..skip]).count();
        pieces.begin(skip, separator);

        // Every column has tables of its own, in every piece that is parsed at the same time.
        let columns = count(&roles, Role::Labels) + count(&roles, Role::Text);
        let what = format!("{file} ({} columns)", roles.len());
        run.ask_memory(&what, 1024 * (columns * run.n_threads()) as u64, &fewer_columns())?;

        let decimal_comma = options.decimal_comma;
        let layout = Layout { separator, roles: &roles, missing: &missing, decimal_comma };
        let mut table = Table::new(file, names, &roles, Places::Lines(Vec::new()));
        if header == Header::Numbered {
            table.warnings.push(format!(
                "{file}: the first line numbers the columns and was read as a header; if it is data, \
                 give {}",
                Setting::NoHeader
            ));
        }
        let is_list = |token: &&String| token.contains(',') && !options.decimal_comma;
        for token in options.missing.iter().filter(is_list) {
            let each = token.split(',').map(|part| Setting::MissingIs(part.trim()).to_string());
            table.warnings.push(format!(
                "{file}: cells that are `{token}`, comma and all, were read as missing; for several \
                 spellings give {}",
                each.collect::<Vec<_>>().join(" ")
            ));
        }
        table.named = has_header;
        let mut join = Join { table, line: first_line, blank_tail: 0, separator };
        run.install(|| -> Result<()> {
            let mut batch = pieces.batch()?;
            while !batch.is_empty() {
                run.tick("reading", pieces.taken, size)?;
                let (next, parsed) = rayon::join(
                    || pieces.batch(),
                    || batch.par_iter().map(|piece| layout.parse(piece)).collect::<Vec<_>>(),
                );
                join.append(parsed, run)?;
                plan.inspect(&join.table)?;
                batch = next?;
            }
            Ok(())
        })?;
        let table = join.finish();
        match (table.rows, has_header) {
            (0, true) => Err(InputError::HeaderOnly { file: file.to_owned() }),
            (0, false) => Err(InputError::Empty { file: file.to_owned() }),
            _ => Ok(table),
        }
    }
}

/// The cells of the first record that is not blank, and where the next begins; otherwise the line
/// of an open quote.
fn first_record(head: &str, separator: u8) -> Result<(Vec<Cow<'_, str>>, usize), usize> {
    let mut start = 0;
    loop {
        let record = dialect::record(head, start, separator);
        let (cells, end) = record.map_err(|OpenQuote(at)| line_of(head, at))?;
        let blank = cells.len() == 1 && cells[0].is_empty();
        if !blank || end == head.len() {
            return Ok((cells, end));
        }
        start = end;
    }
}

/// The table as far as it is put together.
struct Join {
    table: Table,
    /// The line that the next piece begins with.
    line: usize,
    /// How many rows at the end are blank lines.
    blank_tail: usize,
    separator: u8,
}

impl Join {
    /// Appends pieces in their order; reports the first flaw.
    fn append(&mut self, parsed: Vec<Result<(Piece<'_>, Lines), Flaw>>, run: &Run) -> Result<()> {
        let mut pieces = Vec::with_capacity(parsed.len());
        let mut row = self.table.rows;
        for piece in parsed {
            let (piece, lines) = piece.map_err(|flaw| self.located(flaw))?;
            for &(r, line) in &lines.jumps {
                self.table.places.note(row + r, self.line + line);
            }
            row += piece.rows;
            self.line += lines.count;
            let all_blank = lines.blank_tail == piece.rows;
            self.blank_tail = if all_blank { self.blank_tail } else { 0 } + lines.blank_tail;
            pieces.push(piece);
        }
        self.table.append(&pieces, run)
    }

    fn finish(mut self) -> Table {
        self.table.truncate(self.table.rows - self.blank_tail);
        self.table
    }

    fn located(&self, flaw: Flaw) -> InputError {
        let file = self.table.file.clone();
        let line = self.line + flaw.line;
        match flaw.kind {
            FlawKind::Ragged { found } => InputError::Ragged {
                file,
                line,
                found,
                expected: self.table.names.len(),
                separator: match self.separator {
                    b'\t' => "(tab)".to_owned(),
                    separator => format!("`{}`", char::from(separator)),
                },
            },
            FlawKind::NotANumber { value } => InputError::NotANumber {
                file,
                place: Place::Line(line),
                column: self.table.names[flaw.column].clone(),
                hint: number_hint(&value),
                value,
            },
            FlawKind::NotUtf8 => InputError::NotUtf8 { file, place: Place::Line(line) },
            FlawKind::OpenQuote => InputError::OpenQuote { file, line },
        }
    }
}

/// What to do about a cell that should be a number.
fn number_hint(value: &str) -> String {
    if value.contains(',') && value.replace(',', ".").parse::<f64>().is_ok() {
        return format!("write decimals with a point, or give {}", Setting::DecimalComma);
    }
    let mut parts = value.split_whitespace();
    if value.contains(' ') && parts.all(|part| part.parse::<f64>().is_ok()) {
        return "if spaces part the cells, write commas or tabs instead".to_owned();
    }
    format!("correct it, or name the column by {}", other_columns())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::table::Column;

    /// All columns in one role.
    struct All(Role);

    impl Plan for All {
        fn roles(&self, _file: &str, names: &[String]) -> Result<Vec<Role>> {
            Ok(vec![self.0; names.len()])
        }
    }

    fn read_as(text: &[u8], role: Role, options: &ReadOptions) -> Result<Table, String> {
        let source = Box::new(Cursor::new(text.to_vec()));
        let run = Run::new(0).threads(2);
        let reader = Text { file: "t.csv", preferred: b',', piece: 16 };
        reader.read(source, None, options, &All(role), &run).map_err(|error| error.to_string())
    }

    fn texts(text: &str) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
        let table = read_as(text.as_bytes(), Role::Text, &ReadOptions::default())?;
        let columns = table.columns.iter().map(|column| match column {
            Column::Text(ids) => ids.iter().map(str::to_owned).collect(),
            other => panic!("{other:?}"),
        });
        let columns = columns.collect();
        Ok((table.names, columns))
    }

    fn error(text: &str, role: Role) -> String {
        read_as(text.as_bytes(), role, &ReadOptions::default()).unwrap_err()
    }

    #[test]
    fn byte_order_mark_carriage_returns_and_blank_lines_do_not_matter() {
        let plain = texts("a,b\n1,x\n2,y\n").unwrap();
        for same in [
            "\u{feff}a,b\n1,x\n2,y\n",
            "a,b\r\n1,x\r\n2,y\r\n",
            "a,b\n1,x\n2,y",
            "\na,b\n\n1,x\n  \n2,y\n\n\n",
            "a, b\n 1 ,x\n2,\"y\"\n",
            "a;b\n1;x\n2;y\n",
            "a\tb\r\n1\tx\r\n2\ty",
            "\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"y\"",
        ] {
            assert_eq!(texts(same).unwrap(), plain, "{same:?}");
        }
    }

    #[test]
    fn in_one_column_a_blank_line_is_a_missing_cell_unless_it_is_the_last() {
        let column = |text: &str| texts(text).unwrap().1.remove(0);
        assert_eq!(column("a\nx\n\ny\n"), ["x", "", "y"]);
        assert_eq!(column("a\nx\ny\n\n \n"), ["x", "y"]);
        assert_eq!(column("a\nx\n\"\"\n"), ["x", ""]);
        let long = format!("a\nx\n{}y\n{}", "\n".repeat(40), "\n".repeat(40));
        assert_eq!(column(&long).len(), 42);
    }

    #[test]
    fn a_table_without_header_gets_names() {
        assert_eq!(texts("1,5\n2,6\n").unwrap().0, ["c0", "c1"]);
        assert_eq!(texts("a,\n2,6\n").unwrap().0, ["a", "c1"]);
        let no_header = ReadOptions { no_header: true, ..ReadOptions::default() };
        let table = read_as(b"a,b\nc,d\n", Role::Labels, &no_header).unwrap();
        assert_eq!((table.rows, &*table.names[0]), (2, "c0"));
        let numbered = read_as(b"0,1,2\n5,5,5\n", Role::Labels, &ReadOptions::default()).unwrap();
        assert_eq!((numbered.rows, numbered.warnings.len()), (1, 1));
    }

    #[test]
    fn errors_name_the_line_whatever_stands_before() {
        let start = "a,b\n\n1,2\n\"x\ny\",2\n";
        assert_eq!(
            error(&format!("{start}1,2,3\n"), Role::Labels),
            "t.csv, line 6: 3 fields, but 2 are expected; mend the line, or quote cells that \
             contain the separator `,`"
        );
        assert_eq!(error(&format!("{start}1\n"), Role::Labels)[..22], *"t.csv, line 6: 1 field");
        assert_eq!(
            error(&format!("{start}1,\"2\n3,4\n"), Role::Labels),
            "t.csv, line 6: a quote opens here and never closes; close or remove it"
        );
        assert_eq!(
            error("a,b\n\n1,2\n1e3,NA\n4,x y\n", Role::Numbers),
            "t.csv, line 5, column `b`: `x y` is not a number; correct it, or name the column by \
             id, truth or drop"
        );
        assert!(error("a;b\n1,5;2\n", Role::Numbers).ends_with("give decimal_comma"));
        assert!(error("a b\n1 5\n", Role::Numbers).ends_with("write commas or tabs instead"));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let error =
            |bytes: &[u8]| read_as(bytes, Role::Labels, &ReadOptions::default()).unwrap_err();
        assert_eq!(error(b""), "t.csv is empty; it needs at least one row");
        assert_eq!(error(b" \n\r\n"), "t.csv is empty; it needs at least one row");
        assert!(error(b"a,b\n").starts_with("t.csv has a header but no rows"));
        assert_eq!(
            error(b"a,b\n1,2\n3,\xe9\n"),
            "t.csv, line 3: the bytes are not UTF-8 text; save the file as UTF-8"
        );
        assert!(error(b"\xff\xfea\0,\0").contains("line 1: the bytes are not UTF-8"));
        assert!(error(b"\x1f\x8b\x08").contains("this is gzip"));
        assert!(error(b"PAR1").contains("this is Parquet"));
        assert!(error(b"a,b\r1,2\r3,4\r").contains("carriage returns only"));
    }

    /// A cell that needs quotes or not.
    fn cell() -> impl Strategy<Value = String> {
        prop_oneof![
            3 => "[0-9]{1,3}",
            1 => "[q-zé]{0,12}", // no spelling of a missing label
            1 => "[a-c,;\"\n]{0,6}",
        ]
    }

    proptest! {
        /// Pieces of any size give what one look at the whole text gives.
        #[test]
        fn pieces_do_not_show(
            rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..40),
            piece in 1usize..200,
            threads in 1usize..3,
        ) {
            let mut text = "x,y,z\n".to_owned();
            for row in &rows {
                let quoted: Vec<String> = row
                    .iter()
                    .map(|cell| if cell.contains([',', ';', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() })
                    .collect();
                text += &quoted.join(",");
                text += "\n";
            }
            let reader = Text { file: "t.csv", preferred: b',', piece };
            let run = Run::new(0).threads(threads);
            let source = Box::new(Cursor::new(text.clone().into_bytes()));
            let table = reader
                .read(source, None, &ReadOptions::default(), &All(Role::Labels), &run)
                .unwrap();
            prop_assert_eq!(table.rows, rows.len());
            for (j, column) in table.columns.iter().enumerate() {
                let Column::Labels(labels) = column else { panic!("labels were asked for") };
                let names = &labels.names.list;
                let read: Vec<&str> =
                    labels.labels.iter().map(|c| c.map_or("", |c| &*names[c])).collect();
                let expected: Vec<&str> = rows.iter().map(|row| &*row[j]).collect();
                prop_assert_eq!(&read, &expected);
                let mut seen: Vec<&str> = Vec::new();
                for cell in expected {
                    if !cell.is_empty() && !seen.contains(&cell) {
                        seen.push(cell);
                    }
                }
                prop_assert_eq!(names, &seen);
            }
            let mut line = 2;
            for (i, row) in rows.iter().enumerate() {
                prop_assert_eq!(table.place(i), Place::Line(line));
                line += 1 + row.iter().map(|cell| cell.matches('\n').count()).sum::<usize>();
            }
        }
    }
}
