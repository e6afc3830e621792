//! `consilience demo --tables`: the tables that the commands in the README read.

use std::fs;
use std::path::{Path, PathBuf};

use consilience::Run;
use consilience::data::{DataSet, data_set};
use consilience_io::{Cells, OutputError, Stage, Target, write_table};

use super::files::check_output;

/// Columns by name.
type Table = Vec<(String, Vec<String>)>;

/// How many patients there are.
const PATIENTS: usize = 60;

/// Writes the tables to a folder, all or none, and tells their paths.
pub(super) fn write(dir: &Path, force: bool, run: &Run) -> anyhow::Result<Vec<PathBuf>> {
    let tables = tables(run)?;
    let paths: Vec<PathBuf> = tables.iter().map(|(name, _)| dir.join(name)).collect();
    paths.iter().try_for_each(|path| check_output("--tables:", path, &[], force))?;
    let stage = Stage::default();
    for ((_, table), path) in tables.iter().zip(&paths) {
        let folder = path.parent().unwrap_or(dir);
        fs::create_dir_all(folder)
            .map_err(|error| OutputError::io(folder.display().to_string(), &error))?;
        let columns: Vec<(String, Cells<'_>)> =
            table.iter().map(|(name, cells)| (name.clone(), Cells::Text(cells.into()))).collect();
        write_table(&Target::table(path)?.on(&stage), &columns, run)?;
    }
    stage.commit()?;
    Ok(paths)
}

fn tables(run: &Run) -> anyhow::Result<Vec<(&'static str, Table)>> {
    let made = |name: &str| data_set(name).map(|info| (info.make)(run));
    let mut flowers = of_data(&made("iris")?, "species");
    let names = (1..=flowers[0].1.len()).map(|i| format!("f{i:03}")).collect();
    flowers.insert(0, ("name".to_owned(), names));
    // Ten flowers have gone, and every seventh has grown.
    let mut june = rows(&flowers, 10..flowers[0].1.len());
    for cell in june[3].1.iter_mut().step_by(7) {
        *cell = cell.parse::<f64>().map_or(cell.clone(), |length| format!("{:.1}", length + 0.4));
    }
    let mut rings = of_data(&made("half-rings")?, "ring");
    rings.pop();
    let labels = clusterings(&["north", "south", "east", "west", "coast"], 0..PATIENTS);
    let truth = vec![
        ("patient".to_owned(), (0..PATIENTS).map(patient).collect()),
        ("diagnosis".to_owned(), (0..PATIENTS).map(diagnosis).collect()),
    ];
    Ok(vec![
        ("flowers.csv", flowers),
        ("june.csv", june),
        ("rings.csv", rings),
        ("labels.parquet/part-0.parquet", rows(&labels, 0..PATIENTS / 2)),
        ("labels.parquet/part-1.parquet", rows(&labels, PATIENTS / 2..PATIENTS)),
        ("labels.csv", labels),
        ("site1.csv", clusterings(&["ward", "night shift"], 0..PATIENTS - 10)),
        ("site2.csv", clusterings(&["laboratory"], 10..PATIENTS)),
        ("truth.csv", truth),
        (
            "new.csv",
            clusterings(&["north", "south", "east", "west", "coast"], PATIENTS..PATIENTS + 8),
        ),
        ("more.csv", clusterings(&["review", "second review"], 0..PATIENTS)),
        ("runs.csv", runs()),
        ("contacts.tsv", contacts()),
    ])
}

/// Clusterings of cells at three resolutions with four seeds each: at the lowest two clusters, then three, then noise.
fn runs() -> Table {
    let cells = 0..3 * PATIENTS;
    let label = |level: usize, seed: usize, i: usize| match level {
        // A few cells stand between two clusters.
        0 | 1 if i.is_multiple_of(29) => seed % 2,
        0 => (i % 3).min(1),
        1 => i % 3,
        _ => (i * i * 7919 * (seed + 1) + i * 104_729) / 13 % 7,
    };
    let mut table = vec![("cell".to_owned(), cells.clone().map(|i| format!("c{i:03}")).collect())];
    for (level, name) in ["0.2", "0.8", "2.0"].iter().enumerate() {
        for seed in 0..4 {
            let labels = cells.clone().map(|i| label(level, seed, i).to_string()).collect();
            table.push((format!("leiden_{name}_{seed}"), labels));
        }
    }
    table
}

/// Who met whom: mostly patients who have the same.
fn contacts() -> Table {
    let met = |a: usize, b: usize| {
        (a - b <= 15 && (a - b).is_multiple_of(3)) || (a == b + 1 && a.is_multiple_of(9))
    };
    let pairs = (0..PATIENTS).flat_map(|a| (0..a).map(move |b| (a, b)));
    let (one, other) =
        pairs.filter(|&(a, b)| met(a, b)).map(|(a, b)| (patient(a), patient(b))).unzip();
    vec![("one".to_owned(), one), ("other".to_owned(), other)]
}

/// The features and classes of a data set.
fn of_data(data: &DataSet, truth: &str) -> Table {
    let feature = |(j, name): (usize, &String)| {
        (name.clone(), data.features.iter_rows().map(|row| row[j].to_string()).collect())
    };
    let mut table: Table = data.feature_names.iter().enumerate().map(feature).collect();
    let class = |&class: &u32| data.class_names[class as usize].clone();
    table.push((truth.to_owned(), data.truth.iter().map(class).collect()));
    table
}

/// What a patient is called.
fn patient(patient: usize) -> String {
    format!("p{:02}", patient + 1)
}

/// What a patient has.
fn diagnosis(patient: usize) -> String {
    ["cold", "flu", "fever"][patient % 3].to_owned()
}

/// What these doctors found: each calls the three groups by names of its own, errs now and then, and
/// has not seen everybody.
fn clusterings(doctors: &[&str], patients: std::ops::Range<usize>) -> Table {
    let ids = patients.clone().map(patient).collect();
    let label = |j: usize, i: usize| {
        let group = (i + usize::from((7 * i + 11 * j).is_multiple_of(13))) % 3;
        let seen = !(5 * i + 3 * j).is_multiple_of(17);
        if seen { format!("{}{group}", doctors[j]) } else { String::new() }
    };
    let column = |(j, name): (usize, &&str)| {
        ((*name).to_owned(), patients.clone().map(|i| label(j, i)).collect())
    };
    let columns = doctors.iter().enumerate().map(column);
    std::iter::once(("patient".to_owned(), ids)).chain(columns).collect()
}

/// Some rows of a table.
fn rows(table: &Table, rows: std::ops::Range<usize>) -> Table {
    table.iter().map(|(name, cells)| (name.clone(), cells[rows.clone()].to_vec())).collect()
}
