//! The data sets of the papers: files of a folder, or what is inside the program.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, bail};
use consilience::Matrix;
use consilience::Run;
use consilience::data::data_set;
use consilience::ensemble::{HardMember, Member};
use consilience_io::{ReadOptions, read_features};
use flate2::read::GzDecoder;

/// A data set: features and classes.
pub(crate) struct Set {
    pub(crate) values: Matrix,
    pub(crate) truth: Member,
}

/// Sets that the program can make itself, by the name of their file.
const INSIDE: [(&str, &str); 4] = [
    ("iris", "iris"),
    ("synth_half_rings", "half-rings"),
    ("synth_3rings", "three-rings"),
    ("synth_cigar", "cigar"),
];

/// Reads the set `name` from `folder`, or takes it from inside the program if there is none.
pub(crate) fn load(name: &str, folder: Option<&Path>, run: &Run) -> anyhow::Result<Set> {
    let Some(folder) = folder else {
        let Some((_, inside)) = INSIDE.iter().find(|(file, _)| *file == name) else {
            bail!("not inside the program: name a folder with it by --data");
        };
        let set = (data_set(inside)?.make)(run);
        let truth = set.truth.iter().map(|&class| Some(i64::from(class)));
        let truth = HardMember::from_integers("label", truth).into();
        return Ok(Set { values: set.features, truth });
    };
    let table = folder.join(format!("{name}.csv.gz"));
    let matrix = folder.join(format!("{name}.mtx.gz"));
    if !table.exists() && matrix.exists() {
        return market(&matrix, &folder.join(format!("{name}.labels.txt")), run);
    }
    let options = ReadOptions { truth: Some("label".to_owned()), ..ReadOptions::default() };
    let table = read_features(&table, &options, run)?;
    let truth = table.truth.context("the column `label` holds no classes")?;
    Ok(Set { values: table.values.into_dense(), truth: truth.into() })
}

/// A MatrixMarket file of coordinates, made dense, with one label a line in a file of its own.
fn market(matrix: &Path, labels: &Path, run: &Run) -> anyhow::Result<Set> {
    let shown = matrix.display().to_string();
    let file = File::open(matrix).with_context(|| format!("{shown} cannot be read"))?;
    let mut lines = BufReader::new(GzDecoder::new(file)).lines();
    let mut next = || -> anyhow::Result<Option<String>> {
        for line in lines.by_ref() {
            let line = line.with_context(|| format!("{shown} is damaged"))?;
            if !line.starts_with('%') && !line.trim().is_empty() {
                return Ok(Some(line));
            }
        }
        Ok(None)
    };
    let numbers = |line: &str| -> anyhow::Result<[f64; 3]> {
        let parsed: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let parsed = parsed.ok().and_then(|numbers| numbers.try_into().ok());
        parsed.with_context(|| format!("{shown}: `{line}` is not three numbers"))
    };
    let size = next()?.with_context(|| format!("{shown} is empty"))?;
    let [rows, columns, entries] = numbers(&size)?.map(|x| x as usize);
    run.ask_memory(&format!("{shown} as a dense table"), 8 * (rows * columns) as u64, "")?;
    let mut values = Matrix::zeros(rows, columns);
    for _ in 0..entries {
        let line = next()?.with_context(|| format!("{shown} ends early"))?;
        let [i, j, value] = numbers(&line)?;
        let (i, j) = (i as usize, j as usize);
        if !(1..=rows).contains(&i) || !(1..=columns).contains(&j) {
            bail!("{shown}: `{line}` lies outside of the matrix of {rows} x {columns}");
        }
        values[(i - 1, j - 1)] = value;
    }
    let shown = labels.display();
    let text =
        std::fs::read_to_string(labels).with_context(|| format!("{shown} cannot be read"))?;
    let labels: Result<Vec<i64>, _> = text.split_whitespace().map(str::parse).collect();
    let labels = labels.with_context(|| format!("{shown}: labels must be whole numbers"))?;
    if labels.len() != rows {
        bail!("{shown} has {} labels for {rows} rows", labels.len());
    }
    let truth = HardMember::from_integers("label", labels.into_iter().map(Some));
    Ok(Set { values, truth: truth.into() })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn folder_with(matrix: &str, labels: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("t.mtx.gz")).unwrap();
        let mut packed = GzEncoder::new(file, Compression::fast());
        packed.write_all(matrix.as_bytes()).unwrap();
        packed.finish().unwrap();
        std::fs::write(folder.path().join("t.labels.txt"), labels).unwrap();
        folder
    }

    #[test]
    fn a_sparse_matrix_is_read() {
        let text =
            "%%MatrixMarket matrix coordinate integer general\n% words\n2 3 2\n1 3 5\n2 1 7\n";
        let folder = folder_with(text, "0\n1\n");
        let set = load("t", Some(folder.path()), &Run::new(0)).unwrap();
        assert_eq!(set.values.as_slice(), [0.0, 0.0, 5.0, 7.0, 0.0, 0.0]);
        assert_eq!(set.truth.clusters(), ["0", "1"]);
    }

    #[test]
    fn damage_is_named() {
        for (text, labels, problem) in [
            ("2 3 1\n3 1 7\n", "0\n1\n", "outside of the matrix"),
            ("2 3 2\n1 1 7\n", "0\n1\n", "ends early"),
            ("2 3 1\n1 1\n", "0\n1\n", "not three numbers"),
            ("2 3 1\n1 1 7\n", "0\n", "1 labels for 2 rows"),
        ] {
            let folder = folder_with(text, labels);
            let error = load("t", Some(folder.path()), &Run::new(0)).err().unwrap().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn without_a_folder_only_what_is_inside() {
        let run = Run::new(0);
        assert_eq!(load("iris", None, &run).unwrap().values.nrows(), 150);
        assert!(load("wine", None, &run).err().unwrap().to_string().contains("--data"));
    }
}
