//! Tables of features: what is to be clustered.

use std::path::Path;

use consilience::Matrix;
use consilience::Run;
use consilience::base::{Float, SparseMatrix, Table as Rows};
use consilience::ensemble::HardMember;
use consilience::generate::Data;
use consilience::words::{count, counted};

use super::beside::{Known, read_truth, read_weights};
use super::checksum::Fingerprint;
use super::clusterings::file_and_column;
use super::columns::{Named, labels, weights};
use super::error::{InputError, Result, listed, shown};
use super::guess::{self, Guess};
use super::numbers::Numbers;
use super::table::{Column, Ids, Plan, Role, Table};
use super::texts::more_text;
use super::{Impute, ReadOptions, market, read_table};
use crate::spelling::Setting;

/// The numbers of a table, one row per object, all finite.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// All of them.
    Dense(Matrix),
    /// All of them, in single precision, row by row, as the file has them.
    Single {
        /// How many a row has.
        columns: usize,
        /// The numbers.
        values: Vec<f32>,
    },
    /// Those that are not 0.
    Sparse(SparseMatrix),
}

impl Values {
    /// The table that ensembles are made from.
    pub fn data(&self) -> Data<'_> {
        match self {
            Values::Dense(values) => values.into(),
            Values::Single { columns, values } => single(*columns, values).into(),
            Values::Sparse(values) => values.into(),
        }
    }

    /// Whether only those that are not 0 are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Values::Sparse(_))
    }

    /// All numbers in double precision, written out.
    pub fn into_dense(self) -> Matrix {
        match self {
            Values::Dense(values) => values,
            Values::Single { columns, values } => single(columns, &values).to_matrix(),
            Values::Sparse(values) => values.to_dense(),
        }
    }
}

fn single(columns: usize, values: &[f32]) -> Rows<'_, f32> {
    Rows::new(values.len() / columns, columns, values)
}

/// A table of features.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureTable {
    /// The file, as messages show it.
    pub file: String,
    /// The objects' identifiers, if a column of them was named.
    pub ids: Option<Ids>,
    /// The features' names.
    pub columns: Vec<String>,
    /// The features, one row per object.
    pub values: Values,
    /// The known classes, if a column of them was named.
    pub truth: Option<HardMember>,
    /// The objects' weights, if a column of them was named.
    pub weights: Option<Vec<f64>>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Of the file, if all of it passed by while it was read.
    pub fingerprint: Option<Fingerprint>,
}

impl FeatureTable {
    /// Why this may be a table of clusterings, given to the wrong command; `None` if nothing
    /// suggests it.
    pub fn looks_like_clusterings(&self) -> Option<Guess> {
        match &self.values {
            Values::Dense(values) => guess::clusterings(&self.columns, values),
            Values::Single { columns, values } => {
                let looked_at = &values[..values.len().min(guess::ROWS * columns)];
                guess::clusterings(&self.columns, &single(*columns, looked_at).to_matrix())
            }
            Values::Sparse(_) => None,
        }
    }
}

/// Reads a table of features. A MatrixMarket file has no columns by name: there the known classes and
/// the weights are files, one value a row.
pub fn read_features(path: &Path, options: &ReadOptions, run: &Run) -> Result<FeatureTable> {
    if let Some(gzip) = market::ending(path) {
        return read_sparse(path, gzip, options, run);
    }
    let mut table = match read_table(path, options, &Features(options), run) {
        Err(error @ InputError::NotANumber { .. }) if path != Path::new("-") => {
            return Err(more_text(path, options, error, run));
        }
        result => result?,
    };
    let file = table.file.clone();
    let mut warnings = std::mem::take(&mut table.warnings);
    let named = Named::find(options, &table.names);
    let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
    let truth = named.truth.map(|column| labels(&mut table, column, options)).transpose()?;
    let weights = named.weights.map(|column| weights(&table, column)).transpose()?;

    let is_feature =
        |&j: &usize| matches!(table.columns[j], Column::Number(_)) && named.weights != Some(j);
    let features: Vec<usize> = (0..table.names.len()).filter(is_feature).collect();
    let columns: Vec<String> = features.iter().map(|&j| table.names[j].clone()).collect();
    let width = features.len();
    let numbers = match named.weights {
        None => std::mem::take(&mut table.numbers),
        Some(_) => Numbers::Double(table.matrix(&features).into_vec()),
    };
    let (values, constant) = match numbers {
        Numbers::Single(values) if values.iter().all(|x| x.is_finite()) => {
            let constant = constant(single(width, &values));
            (Values::Single { columns: width, values }, constant)
        }
        // What is filled in may need double precision.
        Numbers::Single(values) => {
            checked(&table, &columns, single(width, &values).to_matrix(), options, &mut warnings)?
        }
        Numbers::Double(values) => {
            let values = Matrix::from_vec(table.rows, width, values);
            checked(&table, &columns, values, options, &mut warnings)?
        }
    };
    if constant.len() == columns.len() && table.rows > 1 {
        return Err(InputError::Unsupported {
            file,
            problem: "every feature has the same value in every row".to_owned(),
            hint: "there is nothing to cluster: check that these are the right columns".to_owned(),
        });
    }
    if !constant.is_empty() {
        let names: Vec<&str> = constant.iter().map(|&j| &*columns[j]).collect();
        warnings.push(format!(
            "{file}: {} of {} {} nothing: {}",
            count(constant.len()),
            counted(columns.len(), "feature"),
            if constant.len() == 1 {
                "has the same value in every row and tells"
            } else {
                "have the same value in every row and tell"
            },
            listed(&names)
        ));
    }
    let ids = objects.map(|objects| objects.ids);
    let fingerprint = table.fingerprint;
    Ok(FeatureTable { file, ids, columns, values, truth, weights, warnings, fingerprint })
}

fn read_sparse(path: &Path, gzip: bool, options: &ReadOptions, run: &Run) -> Result<FeatureTable> {
    let file = shown(path);
    if options.id.is_some() || !options.drop.is_empty() {
        return Err(InputError::Unsupported {
            file,
            problem: "a MatrixMarket file has no columns by name".to_owned(),
            hint: format!("leave out {} and {}", Setting::Id, Setting::Drop),
        });
    }
    let values = market::read(path, gzip, options, run)?;
    let n = values.nrows();
    // They name files here, whose own columns are not to be looked for by that name.
    let beside = ReadOptions { truth: None, weights: None, ..options.clone() };
    let beside_path = |name: &String| Path::new(name).to_owned();
    let truth = options.truth.as_ref().map(|name| match file_and_column(name) {
        Some((path, column)) => (path, Some(column)),
        None => (beside_path(name), None),
    });
    let read = |(path, column): (std::path::PathBuf, _)| {
        let known = Known { ids: None, n, witnesses: &[] };
        read_truth(&path, column, &known, &beside, run).map(|(truth, _)| truth)
    };
    let truth = truth.map(read).transpose()?;
    let weights = options.weights.as_ref().map(beside_path);
    let weights = weights.map(|path| read_weights(&path, None, n, &beside, run)).transpose()?;
    let columns = (1..=values.ncols()).map(|j| j.to_string()).collect();
    let values = Values::Sparse(values);
    let (ids, warnings, fingerprint) = (None, Vec::new(), None);
    Ok(FeatureTable { file, ids, columns, values, truth, weights, warnings, fingerprint })
}

struct Features<'a>(&'a ReadOptions);

impl Plan for Features<'_> {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        let roles = Named::demand(self.0, file, names)?.roles(names.len(), |_| Role::Numbers);
        if !roles.contains(&Role::Numbers) {
            return Err(InputError::NoColumns { file: file.to_owned() });
        }
        Ok(roles)
    }
}

/// The table without what is not a finite number, and the columns that are constant.
fn checked(
    table: &Table,
    columns: &[String],
    mut values: Matrix,
    options: &ReadOptions,
    warnings: &mut Vec<String>,
) -> Result<(Values, Vec<usize>)> {
    check_values(table, columns, &mut values, options.impute, warnings)?;
    let constant = constant(Rows::from(&values));
    Ok((Values::Dense(values), constant))
}

/// The columns that have one value only.
fn constant<T: Float>(values: Rows<'_, T>) -> Vec<usize> {
    let first = values.row(0);
    let is = |&j: &usize| (1..values.nrows()).all(|i| values.row(i)[j] == first[j]);
    (0..values.ncols()).filter(is).collect()
}

/// Refuses or fills in what is not a finite number.
fn check_values(
    table: &Table,
    columns: &[String],
    values: &mut Matrix,
    impute: Option<Impute>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let file = || table.file.clone();
    let at = |position: usize| (position / columns.len(), position % columns.len());
    let odd = |test: fn(&f64) -> bool| values.as_slice().iter().position(test).map(at);
    if let Some((i, j)) = odd(|v| v.is_infinite()) {
        return Err(InputError::NotFinite {
            file: file(),
            place: table.place(i),
            column: columns[j].clone(),
            value: values[(i, j)],
        });
    }
    // Squares of larger ones are no numbers.
    if let Some((i, j)) = odd(|v| v.abs() > 1e150) {
        let (place, column, value) = (table.place(i), columns[j].clone(), values[(i, j)]);
        return Err(InputError::TooLarge { file: file(), place, column, value });
    }
    let Some((i, j)) = odd(|v| v.is_nan()) else { return Ok(()) };
    let Some(impute) = impute else {
        return Err(InputError::MissingValue {
            file: file(),
            place: table.place(i),
            column: columns[j].clone(),
        });
    };
    let mut filled = 0;
    for (j, column) in columns.iter().enumerate() {
        let mut known: Vec<f64> =
            values.iter_rows().map(|row| row[j]).filter(|v| !v.is_nan()).collect();
        if known.len() == values.nrows() {
            continue;
        }
        if known.is_empty() {
            return Err(InputError::AllMissing { file: file(), column: column.clone() });
        }
        filled += values.nrows() - known.len();
        let fill = match impute {
            Impute::Mean => mean(&known),
            Impute::Median => median(&mut known),
        };
        for i in 0..values.nrows() {
            if values[(i, j)].is_nan() {
                values[(i, j)] = fill;
            }
        }
    }
    let how = match impute {
        Impute::Mean => "mean",
        Impute::Median => "median",
    };
    warnings.push(format!(
        "{}: {} {} replaced by the {how} of {} column",
        table.file,
        counted(filled, "missing value"),
        if filled == 1 { "was" } else { "were" },
        if filled == 1 { "its" } else { "their" },
    ));
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str, options: &ReadOptions) -> Result<FeatureTable, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, text).unwrap();
        let place = format!("{}/", folder.path().display());
        let run = Run::new(0).threads(1);
        let mut table = read_features(&path, options, &run)
            .map_err(|error| error.to_string().replace(&place, ""))?;
        for warning in &mut table.warnings {
            *warning = warning.replace(&place, "");
        }
        Ok(table)
    }

    fn named(id: &str, truth: &str, drop: &[&str]) -> ReadOptions {
        let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let drop = drop.iter().map(|&name| name.to_owned()).collect();
        ReadOptions { id: name(id), truth: name(truth), drop, ..ReadOptions::default() }
    }

    #[test]
    fn numeric_columns_are_features_and_the_rest_is_named() {
        let text = "name,x,note,y,class\na,1,?,0.5,-1\nb,2,?,1e-3,1\n";
        let table = read(text, &named("name", "class", &["note"])).unwrap();
        assert_eq!(table.columns, ["x", "y"]);
        assert_eq!(table.values.into_dense().as_slice(), [1.0, 0.5, 2.0, 1e-3]);
        assert_eq!(table.ids.unwrap().get(1), "b");
        assert_eq!(table.truth.unwrap().clusters(), ["-1", "1"]);
        assert_eq!(table.warnings, Vec::<String>::new());
    }

    #[test]
    fn weights_stand_apart_from_the_features() {
        let options = ReadOptions { weights: Some("w".to_owned()), ..ReadOptions::default() };
        let table = read("x,w,y\n1,2,3\n4,0.5,6\n", &options).unwrap();
        assert_eq!(table.values.into_dense().as_slice(), [1.0, 3.0, 4.0, 6.0]);
        assert_eq!(table.weights, Some(vec![2.0, 0.5]));
        assert_eq!(
            read("x,w,y\n1,2,3\n4,0,6\n", &options).unwrap_err(),
            "t.csv, line 3, column `w`: a weight must be a finite number > 0, got 0; correct it"
        );
    }

    #[test]
    fn missing_values_are_refused_or_filled_in() {
        let text = "x,y\n1,1\n,2\n2,NA\n6,NaN\n";
        assert_eq!(
            read(text, &ReadOptions::default()).unwrap_err(),
            "t.csv, line 3, column `x`: the value is missing; fill it in, leave the row out, or \
             give impute"
        );
        let filled = |impute| {
            let options = ReadOptions { impute: Some(impute), ..ReadOptions::default() };
            read(text, &options).unwrap()
        };
        let mean = filled(Impute::Mean);
        assert_eq!(mean.values.into_dense().as_slice(), [1.0, 1.0, 3.0, 2.0, 2.0, 1.5, 6.0, 1.5]);
        assert_eq!(
            mean.warnings,
            ["t.csv: 3 missing values were replaced by the mean of their column"]
        );
        assert_eq!(filled(Impute::Median).values.into_dense()[(1, 0)], 2.0);
        let options = ReadOptions { impute: Some(Impute::Mean), ..ReadOptions::default() };
        assert_eq!(
            read("x,y\n1,\n2,\n", &options).unwrap_err(),
            "t.csv, column `y`: every value is missing; leave it out with drop `y`"
        );
    }

    #[test]
    fn bad_tables_are_refused_with_the_place() {
        let plain = ReadOptions::default();
        let cases = [
            (
                "x,y\n1,2\n3,inf\n",
                plain.clone(),
                "t.csv, line 3, column `y`: inf is not a finite number; correct or drop it",
            ),
            (
                "x,species\n1.5,setosa\n3.5,setosa\n",
                plain.clone(),
                "t.csv, line 2, column `species`: `setosa` is not a number; no value of the \
                 column is: leave it out with drop `species`, or name it by id or truth",
            ),
            (
                "x,y\n1,2\n",
                named("key", "", &[]),
                "t.csv has no column `key` (id); it has `x`, `y`",
            ),
            (
                "x,y\n1,2\n",
                named("", "", &["z"]),
                "t.csv has no column `z` (drop); it has `x`, `y`",
            ),
            (
                "x,y\n1,2\n",
                named("x", "y", &[]),
                "t.csv has no columns left to read; all are named by id, truth, weights or \
                 drop",
            ),
            (
                "x,y\na,2\nb,1\na,3\n",
                named("x", "", &[]),
                "t.csv: `a` in column `x` stands in line 2 and again in line 4; identifiers must \
                 differ",
            ),
            (
                "x,y\na,2\n,1\n",
                named("x", "", &[]),
                "t.csv, line 3, column `x`: the identifier is missing; every row needs one",
            ),
            (
                "a,b\nT cell,low\nB cell,low\nT cell,high\nT cell,low\n",
                plain.clone(),
                "t.csv holds clusterings, not features (2 of 2 columns are text from few values, \
                 such as `T cell` in column `a`); combining clusterings was meant; if there are \
                 features too, name the other columns by id, truth or drop",
            ),
        ];
        for (text, options, message) in cases {
            assert_eq!(read(text, &options).unwrap_err(), message);
        }
    }

    #[test]
    fn all_columns_of_text_are_named_at_once() {
        let text = "x,y,z,place,\"note, short\"\n1.5,1,2,here,a\n3.5,2,3,there,b\n2.5,2,3,up,c\n";
        assert_eq!(
            read(text, &ReadOptions::default()).unwrap_err(),
            "t.csv: 2 columns hold text: `place`, `note, short`; leave them out with drop `place`, \
             `note, short`, or name one by id or truth"
        );
        let table = read(text, &named("", "", &["place", "note, short"])).unwrap();
        assert_eq!(table.columns, ["x", "y", "z"]);
    }

    #[test]
    fn what_makes_numbers_of_texts_is_told() {
        let plain = ReadOptions::default();
        let refused = |text: &str| read(text, &plain).unwrap_err();
        assert_eq!(
            refused("x;y;z\n1,5;2,0;1\n-0,25;1,5;2\n0,5;2,5;4\n"),
            "t.csv, line 2, column `x`: `1,5` is not a number; `x`, `y` are numbers with decimal_comma"
        );
        assert_eq!(
            refused("x,y\n1,2\n3,n/a\n4,3\n5,4\n"),
            "t.csv, line 3, column `y`: `n/a` is not a number; `y` is numbers with missing `n/a` and impute"
        );
        assert_eq!(
            refused("name;x;y\nann;1,5;2\nbob;2,5;-\ncat;3,5;4\ndan;3,5;5\neve;1,5;7\n"),
            "t.csv: 1 column holds text: `name`; leave it out with drop `name`, or name one by id or \
             truth; `x`, `y` are numbers with decimal_comma and missing `-` and impute"
        );
    }

    #[test]
    fn decimals_may_have_commas() {
        let options = ReadOptions { decimal_comma: true, ..ReadOptions::default() };
        for text in [
            "1,5;2,0\n-0,25;1e-3\n",
            "x;y\n1,5;2\n-0,25;1e-3\n",
            "x,y\n\"1,5\",2\n\"-0,25\",1e-3\n",
        ] {
            let table = read(text, &options).unwrap();
            assert_eq!(table.values.into_dense().as_slice(), [1.5, 2.0, -0.25, 1e-3], "{text}");
        }
        let refused = read("x;y\n1,5;1.234\n2,5;2,5\n", &options).unwrap_err();
        assert!(refused.contains("line 2, column `y`: `1.234` is not a number"), "{refused}");
    }

    #[test]
    fn a_list_of_spellings_is_told_to_be_one() {
        let options = ReadOptions { missing: vec!["n/a,-".to_owned()], ..ReadOptions::default() };
        assert_eq!(
            read("x,y\n1,2\n3,4\n", &options).unwrap().warnings,
            [
                "t.csv: cells that are `n/a,-`, comma and all, were read as missing; for several spellings \
              give missing `n/a` missing `-`"
            ]
        );
    }

    #[test]
    fn several_spellings_mean_missing() {
        let missing = ["n/a", "-"].map(str::to_owned).to_vec();
        let options = ReadOptions { missing, impute: Some(Impute::Mean), ..ReadOptions::default() };
        let table = read("x,y\n1,n/a\n-,2\n3,4\n", &options).unwrap();
        assert_eq!(table.values.into_dense().as_slice(), [1.0, 3.0, 2.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn classes_and_weights_of_a_sparse_table_are_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let head = "%%MatrixMarket matrix coordinate real general\n";
        let path = write("t.mtx", &format!("{head}3 4 2\n1 2 0.5\n3 4 2\n"));
        let file = |path: std::path::PathBuf| Some(path.display().to_string());
        let options = ReadOptions {
            truth: file(write("truth.csv", "class\na\nb\na\n")),
            weights: file(write("w.csv", "w\n1\n2\n3\n")),
            ..ReadOptions::default()
        };
        let run = Run::new(0).threads(1);
        let table = read_features(&path, &options, &run).unwrap();
        let entries = vec![(0, 1, 0.5), (2, 3, 2.0)];
        assert_eq!(table.values, Values::Sparse(SparseMatrix::from_entries(3, 4, entries)));
        assert_eq!(table.columns, ["1", "2", "3", "4"]);
        assert_eq!(table.truth.unwrap().clusters(), ["a", "b"]);
        assert_eq!(table.weights, Some(vec![1.0, 2.0, 3.0]));
        let refused = read_features(&path, &named("x", "", &[]), &run).unwrap_err().to_string();
        assert!(refused.ends_with("no columns by name; leave out id and drop"), "{refused}");
    }

    #[test]
    fn the_file_is_known_again_after_one_reading() {
        let folder = tempfile::tempdir().unwrap();
        let text = (0..200_000).map(|i| format!("{i},{}\n", i % 7)).collect::<Vec<_>>().concat();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
        let run = Run::new(0).threads(1);
        for (name, bytes) in [("t.csv", text.into_bytes()), ("t.csv.gz", gzip.finish().unwrap())] {
            let path = folder.path().join(name);
            fs::write(&path, &bytes).unwrap();
            let seen = read_features(&path, &ReadOptions::default(), &run).unwrap().fingerprint;
            assert_eq!(seen, Some(Fingerprint::of(&path).unwrap()));
            assert_eq!(seen.unwrap().bytes, bytes.len() as u64);
        }
    }

    #[test]
    fn constant_features_are_told_of() {
        let table = read("x,y\n1,7\n2,7\n", &ReadOptions::default()).unwrap();
        assert_eq!(
            table.warnings,
            ["t.csv: 1 of 2 features has the same value in every row and tells nothing: `y`"]
        );
    }
}
