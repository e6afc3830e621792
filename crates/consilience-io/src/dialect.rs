//! How a text table is written down: its separator, its quotes, whether it has a header.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// A cell of a text table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// The content: without quotes, without blanks around it.
    pub(super) text: Cow<'a, str>,
    /// Where the separator, the line break or the end of the text stands that ends the cell.
    pub(super) end: usize,
}

/// A quote that never closes; the position where it opens.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenQuote(pub(super) usize);

/// The cell that starts at `start`.
///
/// A cell is quoted if its first character that is not a blank is `"`; two quotes inside stand for
/// one. Quotes elsewhere are ordinary characters, as in `5" pipe`.
pub(super) fn field(text: &str, start: usize, separator: u8) -> Result<Field<'_>, OpenQuote> {
    let bytes = text.as_bytes();
    let stop = |from: usize| {
        memchr2(separator, b'\n', &bytes[from..]).map_or(bytes.len(), |distance| from + distance)
    };
    let blanks = bytes[start..].iter().take_while(|&&b| b == b' ').count();
    let quote = start + blanks;
    if bytes.get(quote) != Some(&b'"') {
        let end = stop(start);
        return Ok(Field { text: trim(&text[start..end]).into(), end });
    }
    let mut content = Cow::Borrowed("");
    let mut from = quote + 1;
    loop {
        let Some(distance) = memchr(b'"', &bytes[from..]) else {
            return Err(OpenQuote(quote));
        };
        let close = from + distance;
        content += &text[from..close];
        if bytes.get(close + 1) == Some(&b'"') {
            content += "\"";
            from = close + 2;
            continue;
        }
        let end = stop(close + 1);
        content += trim(&text[close + 1..end]);
        return Ok(Field { text: content, end });
    }
}

/// Without blanks and carriage returns around it.
pub(super) fn trim(cell: &str) -> &str {
    cell.trim_matches([' ', '\t', '\r'])
}

/// Where the record that starts at `start` ends: just after its line break. `None` if the text ends
/// first.
pub(super) fn record_end(
    text: &str,
    start: usize,
    separator: u8,
) -> Result<Option<usize>, OpenQuote> {
    let mut at = start;
    loop {
        let end = field(text, at, separator)?.end;
        match text.as_bytes().get(end) {
            None => return Ok(None),
            Some(b'\n') => return Ok(Some(end + 1)),
            Some(_) => at = end + 1,
        }
    }
}

/// The cells of the record that starts at `start`, and where the record ends.
pub(super) fn record(
    text: &str,
    start: usize,
    separator: u8,
) -> Result<(Vec<Cow<'_, str>>, usize), OpenQuote> {
    let mut cells = Vec::new();
    let mut at = start;
    loop {
        let field = field(text, at, separator)?;
        cells.push(field.text);
        match text.as_bytes().get(field.end) {
            None => return Ok((cells, field.end)),
            Some(b'\n') => return Ok((cells, field.end + 1)),
            Some(_) => at = field.end + 1,
        }
    }
}

/// The separator of a text that starts like `head`; `preferred` where nothing speaks against it.
///
/// A separator is believed if it cuts all records into the same number of cells, more than one;
/// among several the one that makes most. If none does (a ragged table), the one that cuts the
/// first record into most cells. Where decimals have commas, a comma cuts only what nothing else does.
pub(super) fn separator(head: &str, preferred: u8, decimal_comma: bool) -> u8 {
    const RECORDS: usize = 50;
    let mut candidates = vec![preferred];
    candidates.extend([b',', b'\t', b';'].into_iter().filter(|&s| s != preferred));
    let count = |separator: u8| {
        let mut widths = Vec::new();
        let mut at = 0;
        while at < head.len() && widths.len() < RECORDS {
            let Ok((cells, end)) = record(head, at, separator) else { break };
            let blank = cells.len() == 1 && cells[0].is_empty();
            // The last record may be cut off.
            let whole = end < head.len() || head.ends_with('\n');
            if !blank && (whole || widths.is_empty()) {
                widths.push(cells.len());
            }
            at = end;
        }
        let first = widths.first().copied().unwrap_or(1);
        let decimal = decimal_comma && separator == b',';
        (first > 1 && !decimal && widths.iter().all(|&w| w == first), first)
    };
    // The last of the largest wins, hence the reversed order.
    candidates.into_iter().rev().max_by_key(|&s| count(s)).expect("there are candidates")
}

/// Whether the first record of a table is a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Present,
    Absent,
    /// The cells are consecutive integers: most likely columns numbered by the program that wrote
    /// them.
    Numbered,
}

impl Header {
    /// Judges by the cells of the first record.
    ///
    /// A record without any number is a header. A record with numbers is data, unless the numbers
    /// are consecutive integers with a name beside them (`id,0,1,2`) or at least three of them
    /// (`0,1,2`): that is how tables without column names are written by data-frame libraries.
    pub(super) fn detect<S: AsRef<str>>(cells: &[S], is_missing: impl Fn(&str) -> bool) -> Self {
        let cells = cells.iter().map(AsRef::as_ref);
        let cells: Vec<&str> = cells.filter(|cell| !is_missing(cell)).collect();
        let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
        let n_names = cells.len() - numbers.len();
        if numbers.is_empty() {
            return if cells.is_empty() { Header::Absent } else { Header::Present };
        }
        let consecutive = numbers[0].fract() == 0.0
            && numbers[0] >= 0.0
            && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
        match (consecutive, n_names) {
            (true, 1..) => Header::Present,
            (true, 0) if numbers.len() >= 3 => Header::Numbered,
            _ => Header::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<String> {
        record(text, 0, b',').unwrap().0.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn quotes_hide_separators_line_breaks_and_quotes() {
        assert_eq!(cells("a,\"b,c\",d\ne"), ["a", "b,c", "d"]);
        assert_eq!(cells("\"b\nc\",\"say \"\"hi\"\"\""), ["b\nc", "say \"hi\""]);
        assert_eq!(cells(" \"b\" , \"\" ,\r\n"), ["b", "", ""]);
        assert_eq!(cells("5\" pipe,\"x\"y"), ["5\" pipe", "xy"]);
    }

    #[test]
    fn an_open_quote_is_found() {
        assert_eq!(record("a,\"b,c\nd", 0, b','), Err(OpenQuote(2)));
    }

    #[test]
    fn separators_are_detected() {
        assert_eq!(separator("a,b\n1,2\n", b',', false), b',');
        assert_eq!(separator("a;b\n1,5;2,5\n", b',', false), b';');
        assert_eq!(separator("a\tb\n1,5\t2\n", b',', false), b'\t');
        assert_eq!(separator("a,b\n1,2\n", b'\t', false), b',');
        assert_eq!(separator("\"a;b\",c\n1,2\n", b',', false), b',');
        assert_eq!(separator("a\n1\n", b';', false), b';');
        // Ragged, and cut off in the middle of a record.
        assert_eq!(separator("a;b;c\n1;2\n", b',', false), b';');
        assert_eq!(separator("a,b,c\n1,2,3\n4,", b';', false), b',');
    }

    #[test]
    fn headers_are_detected() {
        let detect = |text: &str| Header::detect(&cells(text), str::is_empty);
        assert_eq!(detect("f1,f2,label"), Header::Present);
        assert_eq!(detect("T cell"), Header::Present);
        assert_eq!(detect("5.1,3.5,1.4,setosa"), Header::Absent);
        assert_eq!(detect("1,2,2"), Header::Absent);
        assert_eq!(detect("0,1"), Header::Absent);
        assert_eq!(detect("0,1,2"), Header::Numbered);
        assert_eq!(detect(",0,1,2"), Header::Numbered);
        assert_eq!(detect("id,0,1"), Header::Present);
        assert_eq!(detect("country,2001,2002"), Header::Present);
        assert_eq!(detect(",,"), Header::Absent);
    }
}
