//! What a table holds, if nobody says: features or clusterings, and which column identifies its rows.

use std::path::Path;

use bytes::Bytes;
use consilience::Run;
use consilience_io::looks::{holds_features, identifies, is_distinct};
use consilience_io::{Format, Held, InputError, RawColumn, ReadOptions, read_raw};

use crate::asked::Asked;
use crate::failure::Failure;

/// So much of a text is looked at.
const HEAD: usize = 1 << 20;

/// What a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Guess {
    /// Whether these are features and no clusterings.
    pub(crate) features: bool,
    /// The column that tells all rows apart.
    pub(crate) id: Option<String>,
    /// The columns, if they are known.
    pub(crate) columns: Vec<String>,
}

/// Looks at the table; what is asked for wins over what is seen.
pub(crate) fn guess(asked: &Asked, bytes: &Bytes, run: &Run) -> Result<Guess, Failure> {
    let path = Path::new(&asked.name);
    let text =
        matches!(Format::of(path), Some(Format::Csv { gzip: false } | Format::Tsv { gzip: false }));
    let looked_at = if text { head(bytes) } else { bytes.clone() };
    let options = ReadOptions {
        drop: Vec::new(),
        held: Some(Held { name: path.to_owned(), bytes: looked_at }),
        ..asked.reading(Bytes::new())
    };
    let known = match asked.kind.as_str() {
        "features" => Some(true),
        "clusterings" => Some(false),
        _ => None,
    };
    let table = match read_raw(path, &options, run) {
        Ok(table) => table,
        // A column of fractions in a file that has types.
        Err(InputError::MeantRun { .. }) => {
            let features = known.unwrap_or(true);
            return Ok(Guess { features, id: asked.id().map(str::to_owned), columns: Vec::new() });
        }
        Err(error) => return Err(error.into()),
    };
    let columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let dropped = asked.drop().join(",");
    let unused = |column: &&RawColumn| {
        let name = column.name.as_str();
        asked.truth() == Some(name) || dropped.split(',').any(|gone| gone.trim() == name)
    };
    let used: Vec<&RawColumn> = table.columns.iter().filter(|column| !unused(column)).collect();
    let id = match asked.id.as_str() {
        "" => {
            let first = used.iter().find(|column| identifies(column) && is_distinct(column));
            first.map(|column| column.name.clone())
        }
        _ => asked.id().map(str::to_owned),
    };
    let data: Vec<&RawColumn> =
        used.into_iter().filter(|column| Some(&column.name) != id.as_ref()).collect();
    let features = known.unwrap_or_else(|| holds_features(&data, table.rows));
    Ok(Guess { features, id, columns })
}

/// The first lines of a text.
fn head(bytes: &Bytes) -> Bytes {
    if bytes.len() <= HEAD {
        return bytes.clone();
    }
    // A line that is longer than all this is read whole.
    let end =
        bytes[..HEAD].iter().rposition(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
    bytes.slice(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, asked: Asked) -> Guess {
        let asked = Asked { name: "t.csv".to_owned(), ..asked };
        guess(&asked, &Bytes::from(text.to_owned()), &Run::new(0)).unwrap()
    }

    #[test]
    fn labels_and_features_are_told_apart() {
        let labels = "name,a,b\nx,0,1\ny,0,1\nz,1,0\nu,1,0\nv,1,1\n";
        let found = seen(labels, Asked::default());
        assert_eq!((found.features, found.id.as_deref()), (false, Some("name")));
        assert_eq!(found.columns, ["name", "a", "b"]);
        let features = "name,a,b\nx,0.5,1.25\ny,0.1,1.75\nz,1.5,0.25\nu,1.0,0.5\nv,1.1,1.5\n";
        let found = seen(features, Asked::default());
        assert_eq!((found.features, found.id.as_deref()), (true, Some("name")));
    }

    #[test]
    fn what_is_asked_for_wins() {
        let labels = "name,a,b\nx,0,1\ny,0,1\nz,1,0\nu,1,0\nv,1,1\n";
        let none = Asked { id: "none".to_owned(), ..Asked::default() };
        assert_eq!(seen(labels, none).id, None);
        let features = Asked { kind: "features".to_owned(), ..Asked::default() };
        assert!(seen(labels, features).features);
        let other = Asked { id: "a".to_owned(), ..Asked::default() };
        assert_eq!(seen(labels, other).id.as_deref(), Some("a"));
    }

    #[test]
    fn long_texts_are_looked_at_in_part() {
        let line = "1,2,3\n";
        let text = Bytes::from(line.repeat(2 * HEAD / line.len()));
        let head = head(&text);
        assert!(head.len() <= HEAD && head.ends_with(b"\n"));
        let endless = Bytes::from(vec![b'x'; 2 * HEAD]);
        assert_eq!(super::head(&endless).len(), endless.len());
    }
}
