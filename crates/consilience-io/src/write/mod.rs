//! Results as tables: a list of named columns goes to any format, first under a temporary name.

mod cells;
mod columnar;
mod npy;
mod target;
#[cfg(test)]
mod tests;
mod text;

use consilience::ensemble::{Linked, Member};
use consilience::{Edges, Matrix, Run};

pub use self::cells::{Cells, NamedCells};
use self::target::gzipped;
pub use self::target::{Memory, OutputError, Stage, Target};
use self::text::TextRows;
use crate::columns::CONSENSUS;
use crate::{Format, Ids};

/// Writes a table in the format that the target's ending tells.
///
/// # Panics
///
/// If the columns differ in length.
pub fn write_table(
    target: &Target,
    columns: &[NamedCells<'_>],
    run: &Run,
) -> Result<(), OutputError> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    assert!(columns.iter().all(|(_, cells)| cells.len() == rows), "columns of one length");
    let format = target.format()?;
    let text = |separator| TextRows { columns, separator };
    target.write(|writer| match format {
        Format::Csv { gzip: false } => text(b',').write(writer, run),
        Format::Tsv { gzip: false } => text(b'\t').write(writer, run),
        Format::Csv { gzip: true } => gzipped(writer, |writer| text(b',').write(writer, run)),
        Format::Tsv { gzip: true } => gzipped(writer, |writer| text(b'\t').write(writer, run)),
        Format::Npy => npy::write(writer, columns, run),
        Format::Parquet => columnar::parquet(writer, columns, run),
        Format::Arrow => columnar::arrow(writer, columns, run),
    })
}

/// Writes text as it is: JSON, HTML, a report.
pub fn write_text(target: &Target, text: &str) -> Result<(), OutputError> {
    target.write(|writer| Ok(writer.write_all(text.as_bytes())?))
}

/// Writes bytes as they are: a figure.
pub fn write_bytes(target: &Target, bytes: &[u8]) -> Result<(), OutputError> {
    target.write(|writer| Ok(writer.write_all(bytes)?))
}

/// Identifiers, or row numbers where there are none.
fn id_cells(ids: Option<&Ids>, n: usize) -> Cells<'_> {
    ids.map_or(Cells::Rows(n), Cells::Ids)
}

/// Writes a consensus: `id,cluster,confidence`, and `coverage` if there is any to be told. As NPY only the
/// clusters, -1 for none.
pub fn write_consensus(
    target: &Target,
    ids: Option<&Ids>,
    clusters: &[Option<u32>],
    confidence: Cells<'_>,
    coverage: Option<Cells<'_>>,
    run: &Run,
) -> Result<(), OutputError> {
    let cells = [id_cells(ids, clusters.len()), Cells::Clusters(clusters), confidence];
    let names = CONSENSUS.map(str::to_owned).into_iter();
    let columns: Vec<_> = names.zip(cells.into_iter().chain(coverage)).collect();
    let arrays = matches!(target.format()?, Format::Npy);
    write_table(target, if arrays { &columns[1..2] } else { &columns }, run)
}

/// Writes an ensemble: a column for every hard member, columns `NAME:CLUSTER` for every soft one;
/// before them the identifiers, if there are any.
pub fn write_members(
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
/// `membership` is about profiles, `numbers` are those of its clusters, `map` gives the profile of
/// every object.
pub fn write_membership(
    target: &Target,
    ids: Option<&Ids>,
    membership: &Matrix,
    numbers: &[u32],
    map: &[u32],
    run: &Run,
) -> Result<(), OutputError> {
    let mut columns = vec![("id".to_owned(), id_cells(ids, map.len()))];
    columns.extend(
        (0..membership.ncols())
            .map(|j| (format!("consensus:{}", numbers[j]), Cells::Expanded(membership, j, map))),
    );
    let arrays = matches!(target.format()?, Format::Npy);
    write_table(target, &columns[usize::from(arrays)..], run)
}

/// Writes how members' clusters go over into those of the consensus: the long table
/// `clustering,cluster,consensus,weight`, without the zeros. `numbers` are those of the consensus'
/// clusters.
pub fn write_correspondences(
    target: &Target,
    members: &[Member],
    correspondences: &[Matrix],
    numbers: &[u32],
    run: &Run,
) -> Result<(), OutputError> {
    let (mut clusterings, mut clusters) = (Vec::new(), Vec::new());
    let (mut consensus, mut weights) = (Vec::new(), Vec::new());
    for (member, shares) in members.iter().zip(correspondences) {
        for (cluster, row) in member.clusters().iter().zip(shares.iter_rows()) {
            for (j, &weight) in row.iter().enumerate().filter(|&(_, &weight)| weight != 0.0) {
                clusterings.push(member.name().to_owned());
                clusters.push(cluster.clone());
                consensus.push(i64::from(numbers[j]));
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

/// Writes the edges of a network with what clusterings say of them: `source,target,weight,share`, where the weight is the
/// share of the clusterings that put the ends together, times the weight that the edge had. Both are empty where no clustering
/// labels both ends. As NPY the ends are row numbers.
pub fn write_edges(
    target: &Target,
    ids: Option<&Ids>,
    edges: &Edges,
    linked: &Linked,
    run: &Run,
) -> Result<(), OutputError> {
    let named = ids.filter(|_| !matches!(target.format(), Ok(Format::Npy)));
    let end = |side: usize| {
        let ends = edges.pairs().iter().map(|pair| pair[side]);
        if let Some(ids) = named {
            let names = ends.map(|row| ids.get(row as usize).to_owned());
            return Cells::Text(names.collect::<Vec<_>>().into());
        }
        Cells::Integers(ends.map(i64::from).collect::<Vec<_>>().into())
    };
    // Single precision, told without what it rounds.
    let share = |edge: usize| (f64::from(linked.shares[edge]) * 1e6).round() / 1e6;
    let given = |edge: usize| edges.weights().map_or(1.0, |weights| weights[edge]);
    let weights: Vec<f64> = (0..edges.len()).map(|edge| share(edge) * given(edge)).collect();
    let shares: Vec<f64> = (0..edges.len()).map(share).collect();
    let columns = [
        ("source".to_owned(), end(0)),
        ("target".to_owned(), end(1)),
        ("weight".to_owned(), Cells::Numbers(weights.into())),
        ("share".to_owned(), Cells::Numbers(shares.into())),
    ];
    write_table(target, &columns, run)
}

/// Writes a matrix, its columns under these names. As NPY it is a two-dimensional array.
pub fn write_matrix(
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
