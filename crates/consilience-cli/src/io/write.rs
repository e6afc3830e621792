//! Results as tables of named columns, and how each result becomes one.

use std::borrow::Cow;
use std::io::Write;

use consilience::Run;
use consilience::consensus::Merge;
use consilience::ensemble::{HardMember, Member, NO_PROFILE};
use consilience::linalg::Matrix;
use rayon::prelude::*;

use super::Format;
use super::table::Ids;
use super::target::{OutputError, Target, WriteError, gzipped};

/// The cells of a column, one a row.
#[derive(Clone, Debug)]
pub(crate) enum Cells<'a> {
    /// The numbers of this many rows, from 0.
    Rows(usize),
    /// Identifiers.
    Ids(&'a Ids),
    /// Any text.
    Text(Cow<'a, [String]>),
    /// Integers.
    Integers(Cow<'a, [i64]>),
    /// Clusters by number; `None` is an empty cell.
    Clusters(&'a [Option<u32>]),
    /// Clusters by name; missing labels are empty cells.
    Labels(&'a HardMember),
    /// Numbers; NaN is an empty cell.
    Numbers(Cow<'a, [f64]>),
    /// A column of a matrix; NaN is an empty cell.
    Column(&'a Matrix, usize),
    /// A column of memberships: the row is empty where it is zero in all columns.
    Membership(&'a Matrix, usize),
    /// A column of a matrix about profiles, told of objects; the third part is the profile of
    /// every object, [`NO_PROFILE`] for an empty cell.
    Expanded(&'a Matrix, usize, &'a [u32]),
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Empty,
    Text(&'a str),
    Integer(i64),
    Number(f64),
}

impl Cells<'_> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Rows(n) => *n,
            Cells::Ids(ids) => ids.len(),
            Cells::Text(cells) => cells.len(),
            Cells::Integers(cells) => cells.len(),
            Cells::Clusters(cells) => cells.len(),
            Cells::Labels(member) => member.labels().len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Column(matrix, _) | Cells::Membership(matrix, _) => matrix.nrows(),
            Cells::Expanded(_, _, map) => map.len(),
        }
    }

    /// The cell in row `i`.
    pub(super) fn get(&self, i: usize) -> Cell<'_> {
        let number = |x: f64| if x.is_nan() { Cell::Empty } else { Cell::Number(x) };
        match self {
            Cells::Rows(_) => Cell::Integer(i as i64),
            Cells::Ids(ids) => Cell::Text(ids.get(i)),
            Cells::Text(cells) => Cell::Text(&cells[i]),
            Cells::Integers(cells) => Cell::Integer(cells[i]),
            Cells::Clusters(cells) => cells[i].map_or(Cell::Empty, |c| Cell::Integer(c.into())),
            Cells::Labels(member) => match member.labels().get(i) {
                Some(c) => Cell::Text(&member.clusters()[c]),
                None => Cell::Empty,
            },
            Cells::Numbers(cells) => number(cells[i]),
            Cells::Column(matrix, j) => number(matrix[(i, *j)]),
            Cells::Membership(matrix, j) => {
                let row = matrix.row(i);
                if row.iter().all(|&m| m == 0.0) { Cell::Empty } else { number(row[*j]) }
            }
            Cells::Expanded(matrix, j, map) => match map[i] {
                NO_PROFILE => Cell::Empty,
                s => number(matrix[(s as usize, *j)]),
            },
        }
    }
}

/// A named column.
pub(crate) type NamedCells<'a> = (String, Cells<'a>);

/// Writes a table in the format that the target's ending tells.
///
/// # Panics
///
/// If the columns differ in length.
pub(crate) fn write_table(
    target: &Target,
    columns: &[NamedCells<'_>],
    run: &Run,
) -> Result<(), OutputError> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    assert!(columns.iter().all(|(_, cells)| cells.len() == rows), "columns of one length");
    let format = target.format()?;
    target.write(|writer| match format {
        Format::Csv { gzip: false } => write_text_table(writer, columns, b',', run),
        Format::Tsv { gzip: false } => write_text_table(writer, columns, b'\t', run),
        Format::Csv { gzip: true } => gzipped(writer, |w| write_text_table(w, columns, b',', run)),
        Format::Tsv { gzip: true } => gzipped(writer, |w| write_text_table(w, columns, b'\t', run)),
        Format::Parquet | Format::Npy | Format::Arrow => Err(WriteError::Cannot {
            problem: "this kind of file is only read".to_owned(),
            hint: "write .csv or .tsv".to_owned(),
        }),
    })
}

/// Writes text as it is: JSON, HTML, a report.
pub(crate) fn write_text(target: &Target, text: &str) -> Result<(), OutputError> {
    target.write(|writer| Ok(writer.write_all(text.as_bytes())?))
}

/// Identifiers, or row numbers where there are none.
fn id_cells(ids: Option<&Ids>, n: usize) -> Cells<'_> {
    ids.map_or(Cells::Rows(n), Cells::Ids)
}

/// Writes a consensus: `id,cluster,confidence`. As NPY only the clusters, -1 for none.
pub(crate) fn write_consensus(
    target: &Target,
    ids: Option<&Ids>,
    clusters: &[Option<u32>],
    confidence: &[f64],
    run: &Run,
) -> Result<(), OutputError> {
    let columns = [
        ("id".to_owned(), id_cells(ids, clusters.len())),
        ("cluster".to_owned(), Cells::Clusters(clusters)),
        ("confidence".to_owned(), Cells::Numbers(confidence.into())),
    ];
    let arrays = matches!(target.format()?, Format::Npy);
    write_table(target, if arrays { &columns[1..2] } else { &columns }, run)
}

/// Writes an ensemble: a column for every hard member, columns `NAME:CLUSTER` for every soft one;
/// before them the identifiers, if there are any.
pub(crate) fn write_members(
    target: &Target,
    ids: Option<(&str, &Ids)>,
    members: &[Member],
    run: &Run,
) -> Result<(), OutputError> {
    let mut columns = Vec::new();
    columns.extend(ids.map(|(name, ids)| (name.to_owned(), Cells::Ids(ids))));
    for member in members {
        match member {
            Member::Hard(hard) => columns.push((hard.name().to_owned(), Cells::Labels(hard))),
            Member::Soft(soft) => {
                columns.extend(soft.clusters().iter().enumerate().map(|(j, cluster)| {
                    let name = format!("{}:{cluster}", soft.name());
                    (name, Cells::Membership(soft.memberships(), j))
                }));
            }
        }
    }
    write_table(target, &columns, run)
}

/// Writes a soft consensus: `id` and a column for every cluster, called `consensus:CLUSTER` so that
/// the table can be read as a soft clustering. As NPY without the identifiers.
///
/// `membership` is about profiles, `map` gives the profile of every object.
pub(crate) fn write_membership(
    target: &Target,
    ids: Option<&Ids>,
    membership: &Matrix,
    map: &[u32],
    run: &Run,
) -> Result<(), OutputError> {
    let mut columns = vec![("id".to_owned(), id_cells(ids, map.len()))];
    columns.extend(
        (0..membership.ncols())
            .map(|j| (format!("consensus:{j}"), Cells::Expanded(membership, j, map))),
    );
    let arrays = matches!(target.format()?, Format::Npy);
    write_table(target, &columns[usize::from(arrays)..], run)
}

/// Writes how members' clusters go over into those of the consensus: the long table
/// `clustering,cluster,consensus,weight`, without the zeros.
pub(crate) fn write_correspondences(
    target: &Target,
    members: &[Member],
    correspondences: &[Matrix],
    run: &Run,
) -> Result<(), OutputError> {
    let (mut clusterings, mut clusters) = (Vec::new(), Vec::new());
    let (mut consensus, mut weights) = (Vec::new(), Vec::new());
    for (member, shares) in members.iter().zip(correspondences) {
        for (cluster, row) in member.clusters().iter().zip(shares.iter_rows()) {
            for (j, &weight) in row.iter().enumerate().filter(|&(_, &weight)| weight != 0.0) {
                clusterings.push(member.name().to_owned());
                clusters.push(cluster.clone());
                consensus.push(j as i64);
                weights.push(weight);
            }
        }
    }
    let columns = [
        ("clustering".to_owned(), Cells::Text(clusterings.into())),
        ("cluster".to_owned(), Cells::Text(clusters.into())),
        ("consensus".to_owned(), Cells::Integers(consensus.into())),
        ("weight".to_owned(), Cells::Numbers(weights.into())),
    ];
    write_table(target, &columns, run)
}

/// Writes a matrix, its columns under these names. As NPY it is a two-dimensional array.
pub(crate) fn write_matrix(
    target: &Target,
    names: &[String],
    matrix: &Matrix,
    run: &Run,
) -> Result<(), OutputError> {
    let columns: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(j, name)| (name.clone(), Cells::Column(matrix, j)))
        .collect();
    write_table(target, &columns, run)
}

/// Writes a tree of merges as SciPy's linkage rows: the two nodes, the height, how many leaves.
///
/// `leaves` are the sizes of the nodes before any merge.
pub(crate) fn write_dendrogram(
    target: &Target,
    merges: &[Merge],
    leaves: &[f64],
    run: &Run,
) -> Result<(), OutputError> {
    let mut sizes = leaves.to_vec();
    let mut rows = Vec::with_capacity(4 * merges.len());
    for merge in merges {
        let size = sizes[merge.a as usize] + sizes[merge.b as usize];
        sizes.push(size);
        rows.extend([f64::from(merge.a), f64::from(merge.b), merge.height, size]);
    }
    let names = ["a", "b", "height", "size"].map(str::to_owned);
    write_matrix(target, &names, &Matrix::from_vec(merges.len(), 4, rows), run)
}

/// Writes rows as text. Chunks of rows are formatted in parallel and written in order.
fn write_text_table(
    writer: &mut (dyn Write + Send),
    columns: &[NamedCells<'_>],
    separator: u8,
    run: &Run,
) -> Result<(), WriteError> {
    const CHUNK: usize = 1 << 12;
    const BATCH: usize = 64;
    let mut header = Vec::new();
    for (j, (name, _)) in columns.iter().enumerate() {
        if j > 0 {
            header.push(separator);
        }
        push_text(&mut header, name, separator);
    }
    header.push(b'\n');
    writer.write_all(&header)?;
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let format = |start: usize| {
        let mut text = Vec::new();
        for i in start..rows.min(start + CHUNK) {
            for (j, (_, cells)) in columns.iter().enumerate() {
                if j > 0 {
                    text.push(separator);
                }
                match cells.get(i) {
                    // An empty line would be no row to other programs.
                    Cell::Empty if columns.len() == 1 => text.extend(b"\"\""),
                    Cell::Empty => {}
                    Cell::Text(cell) => push_text(&mut text, cell, separator),
                    Cell::Integer(cell) => write!(text, "{cell}").expect("memory takes all"),
                    Cell::Number(cell) => push_number(&mut text, cell),
                }
            }
            text.push(b'\n');
        }
        text
    };
    for batch in (0..rows).step_by(CHUNK * BATCH) {
        run.tick("writing", batch as u64, Some(rows as u64))?;
        let starts: Vec<usize> = (batch..rows.min(batch + CHUNK * BATCH)).step_by(CHUNK).collect();
        let texts: Vec<Vec<u8>> = run.install(|| starts.into_par_iter().map(format).collect());
        for text in texts {
            writer.write_all(&text)?;
        }
    }
    Ok(())
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
