//! What a table holds, if nobody says: features or clusterings, and which column identifies its rows.

use bytes::Bytes;
use consilience::Run;
use consilience_io::looks::{holds_features, is_distinct, names_rows};
use consilience_io::{Held, InputError, RawColumn, ReadOptions, head, read_raw, read_raw_column};

use crate::asked::Asked;
use crate::failure::Failure;

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

/// Looks at the table, or at its head; what is asked for wins over what is seen.
pub(crate) fn guess(asked: &Asked, bytes: &Bytes, run: &Run) -> Result<Guess, Failure> {
    let whole = Held { name: asked.name.clone().into(), bytes: bytes.clone() };
    let options = ReadOptions { held: Some(whole.clone()), ..ReadOptions::default() };
    match head(&whole.name, &options) {
        // If the head alone cannot be read, a cell of several lines may have been cut apart.
        Some(head) => {
            look(asked, &head, Some(&whole), run).or_else(|_| look(asked, &whole, None, run))
        }
        None => look(asked, &whole, None, run),
    }
}

/// Looks at a table, which may be the head of a longer one: `whole`.
fn look(asked: &Asked, held: &Held, whole: Option<&Held>, run: &Run) -> Result<Guess, Failure> {
    let options = |held: &Held| ReadOptions {
        drop: Vec::new(),
        held: Some(held.clone()),
        ..asked.reading(Bytes::new())
    };
    let known = match asked.kind.as_str() {
        "features" => Some(true),
        "clusterings" => Some(false),
        _ => None,
    };
    let table = match read_raw(&held.name, &options(held), run) {
        Ok(table) => table,
        // A column of fractions in a file that has types.
        Err(InputError::MeantRun { .. }) => {
            let features = known.unwrap_or(true);
            return Ok(Guess { features, id: asked.id().map(str::to_owned), columns: Vec::new() });
        }
        Err(error) => return Err(error.into()),
    };
    let columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let reading = asked.reading(Bytes::new());
    let unused: Vec<&str> = reading.dropped(&columns).chain(asked.truth()).collect();
    let used = table.columns.iter().filter(|column| !unused.contains(&column.name.as_str()));
    let used: Vec<&RawColumn> = used.collect();
    let mut id = asked.id().map(str::to_owned);
    if asked.id.is_empty() {
        for column in used.iter().filter(|column| names_rows(column)) {
            // After the head it may repeat.
            let column = match whole {
                Some(whole) => read_raw_column(&whole.name, &column.name, &options(whole), run)?,
                None => Some((*column).clone()),
            };
            if let Some(column) = column.filter(is_distinct) {
                id = Some(column.name);
                break;
            }
        }
    }
    let data: Vec<&RawColumn> =
        used.into_iter().filter(|column| Some(&column.name) != id.as_ref()).collect();
    let features = known.unwrap_or_else(|| holds_features(&data, table.rows));
    Ok(Guess { features, id, columns })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use std::path::Path;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// So much of a text is looked at.
    const HEAD: usize = 1 << 20;

    fn head(held: &Held) -> Option<Held> {
        let options = ReadOptions { held: Some(held.clone()), ..ReadOptions::default() };
        super::head(Path::new(&held.name), &options)
    }

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
    fn columns_that_are_left_out_do_not_count() {
        let text = "\"a,b\",name,c,d\nx,p,0,1\ny,q,0,1\nz,r,1,0\nu,s,1,0\nv,t,1,1\n";
        let id = |drop: &str| seen(text, Asked { drop: drop.to_owned(), ..Asked::default() }).id;
        assert_eq!(id("").as_deref(), Some("a,b"));
        // A name with a comma in it is one name.
        assert_eq!(id("a,b").as_deref(), Some("name"));
        assert_eq!(id("d, name").as_deref(), Some("a,b"));
    }

    fn held(name: &str, text: &str) -> Held {
        Held { name: name.into(), bytes: text.to_owned().into() }
    }

    #[test]
    fn long_texts_are_looked_at_in_part() {
        let text = "1,2,3\n".repeat(HEAD / 3);
        let part = head(&held("t.csv", &text)).unwrap();
        assert!(part.bytes.len() <= HEAD && part.bytes.ends_with(b"\n"));
        assert!(text.as_bytes().starts_with(&part.bytes) && part.bytes.len() > HEAD / 2);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = Held { name: "t.csv.gz".into(), bytes: packed.finish().unwrap().into() };
        assert_eq!(head(&packed), Some(part));
        assert_eq!(head(&held("t.csv", "1,2\n")), None);
        assert_eq!(head(&held("t.csv", &"x".repeat(2 * HEAD))), None);
        assert_eq!(head(&held("t.npy", &text)), None);
        // Damaged, or not packed at all: the reader says so.
        assert_eq!(head(&held("t.csv.gz", &text)), None);
    }

    #[test]
    fn cells_of_several_lines_are_not_cut_apart() {
        let cell = "line\n".repeat(HEAD / 5);
        let text = format!("name,a,b\np,0,1\n\"{cell}\",0,1\nq,1,0\nr,1,0\ns,0,1\n");
        let found = seen(&text, Asked::default());
        assert_eq!((found.features, found.id.as_deref()), (false, Some("name")));
    }

    #[test]
    fn identifiers_that_repeat_far_below_are_none() {
        let mut text = "name,other,a,b\n".to_owned();
        for i in 0..HEAD / 16 {
            text.extend([format!("x{i},y{i},{},{}\n", i % 2, i % 3)]);
        }
        assert!(text.len() > HEAD);
        assert_eq!(seen(&text, Asked::default()).id.as_deref(), Some("name"));
        text += "x1,y,0,1\n";
        let found = seen(&text, Asked::default());
        assert_eq!((found.features, found.id.as_deref()), (false, Some("other")));
    }
}
