//! Clusterings of one kind of objects at successive times, one table each.
//!
//! Unlike clusterings that are to be combined, these may have few objects in common: some come, some go.

use std::path::{Path, PathBuf};

use consilience::Run;
use consilience::ensemble::{HardMember, Member};

use super::clusterings::Part;
use super::columns::{Named, no_column};
use super::error::{InputError, Result, listed};
use super::join::{Objects, rows_of};
use super::members::label_role;
use super::table::{Ids, Plan, Role};
use super::{Format, ReadOptions};
use crate::spelling::Setting;

/// Where the clustering of one time is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The table.
    pub path: PathBuf,
    /// The column of labels, if the table has several.
    pub column: Option<String>,
    /// What the time is called.
    pub name: String,
    /// Whether this program wrote the table, whatever is said of the others.
    pub as_written: bool,
}

/// Clusterings at successive times.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceTable {
    /// The identifiers of all objects that are in any of the tables, if they have any.
    pub ids: Option<Ids>,
    /// The clustering of each time; objects that are not in its table have no label.
    pub times: Vec<HardMember>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Reads the clusterings of successive times: one of each table, or all columns of a single one.
///
/// Objects are brought together by their identifiers; without any, the tables must have the same rows.
pub fn read_sequence(slices: &[Slice], options: &ReadOptions, run: &Run) -> Result<SequenceTable> {
    let mut parts = Vec::with_capacity(slices.len());
    for slice in slices {
        let as_written = ReadOptions { id: None, ..options.as_written() };
        let options = if slice.as_written { &as_written } else { options };
        let plan = Chosen { options, column: slice.column.as_deref() };
        let part = Part::read(&slice.path, options, &plan, run)?;
        if slices.len() > 1 && part.members.len() > 1 {
            let names: Vec<&str> = part.members.iter().map(Member::name).collect();
            return Err(InputError::Unsupported {
                file: part.table.file,
                problem: format!(
                    "one clustering is expected, but it holds {}: {}",
                    names.len(),
                    listed(&names)
                ),
                hint: format!("name one of them: {}:{}", slice.path.display(), names[0]),
            });
        }
        parts.push(part);
    }
    let with = parts.iter().filter(|part| part.objects.is_some()).count();
    let numbered = |part: &Part| part.objects.as_ref().is_some_and(|o| o.ids.are_row_numbers());
    let by_id = with == parts.len() && (options.id.is_some() || !parts.iter().all(numbered));
    let ids = by_id.then(|| {
        let mut all = Objects::default();
        parts.iter().filter_map(|part| part.objects.as_ref()).for_each(|o| all.extend(&o.ids));
        all.ids
    });
    let first = &parts[0].table;
    if let Some(odd) = parts.iter().find(|part| ids.is_none() && part.table.rows != first.rows) {
        return Err(InputError::Unsupported {
            file: odd.table.file.clone(),
            problem: format!(
                "it has {} rows, but {} has {}, so rows cannot be paired",
                odd.table.rows, first.file, first.rows
            ),
            hint: format!("name the column that identifies objects by {}", Setting::Id),
        });
    }
    let n = ids.as_ref().map_or(first.rows, Ids::len);
    let (mut times, mut warnings) = (Vec::new(), Vec::new());
    let single = slices.len() == 1;
    for (part, slice) in parts.iter_mut().zip(slices) {
        warnings.append(&mut part.table.warnings);
        let rows = rows_of(part.objects.as_ref().filter(|_| by_id), ids.as_ref());
        for member in std::mem::take(&mut part.members) {
            let member = rows.aligned(member, n)?;
            let several = single && slice.column.is_none();
            let name = if several { member.name().to_owned() } else { slice.name.clone() };
            times.push(member.renamed(name).hardened());
        }
    }
    Ok(SequenceTable { ids, times, warnings })
}

/// A table of which one column is wanted: the one that is named, the one called `cluster`, or the only
/// one.
struct Chosen<'a> {
    options: &'a ReadOptions,
    column: Option<&'a str>,
}

impl Plan for Chosen<'_> {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        let named = Named::in_clusterings(self.options, names);
        if let (Some(id), None) = (&self.options.id, named.id) {
            return Err(no_column(Setting::Id, id, file, names));
        }
        let wanted = |name: &str| names.iter().position(|n| n == name);
        let chosen = match self.column {
            Some(column) => Some(wanted(column).ok_or_else(|| InputError::Unsupported {
                file: file.to_owned(),
                problem: format!("there is no column `{column}`"),
                hint: format!("it has {}", listed(names)),
            })?),
            None => wanted("cluster"),
        };
        if !(0..names.len()).any(|j| named.is_data(j)) {
            return Err(InputError::NoColumns { file: file.to_owned() });
        }
        Ok(named.roles(names.len(), |j| match chosen {
            Some(chosen) if chosen != j => Role::Skip,
            _ => label_role(names, j),
        }))
    }
}

impl Slice {
    /// The clustering in a table; its time is called as the file is, without folder and ending.
    #[must_use]
    pub fn new(path: &Path, column: Option<&str>) -> Self {
        let file = path.file_name().map_or("stdin".into(), |name| name.to_string_lossy());
        let column = column.map(str::to_owned);
        Slice { path: path.to_owned(), name: time_of(&file).to_owned(), column, as_written: false }
    }
}

/// The name of a file without the ending that tells its format: what stands before it may hold dots.
fn time_of(file: &str) -> &str {
    let without = |name| match Path::new(name) {
        path if path.extension().is_some() => path.file_stem().and_then(|stem| stem.to_str()),
        _ => None,
    };
    let inner = match Format::of(Path::new(file)) {
        None => None,
        Some(Format::Csv { gzip: true } | Format::Tsv { gzip: true }) => {
            without(file).and_then(without)
        }
        Some(_) => without(file),
    };
    inner.unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::tempdir;

    use super::*;

    fn read(files: &[(&str, &str)], id: Option<&str>) -> Result<SequenceTable> {
        let folder = tempdir().unwrap();
        let slice = |&(name, text): &(&str, &str)| {
            let (file, column) = name.split_once(':').map_or((name, None), |(f, c)| (f, Some(c)));
            let path = folder.path().join(file);
            fs::write(&path, text).unwrap();
            Slice::new(&path, column)
        };
        let slices: Vec<Slice> = files.iter().map(slice).collect();
        let options = ReadOptions { id: id.map(str::to_owned), ..ReadOptions::default() };
        read_sequence(&slices, &options, &Run::new(0))
    }

    fn labels(member: &HardMember) -> Vec<Option<&str>> {
        let name = |code: usize| member.clusters()[code].as_str();
        member.labels().iter().map(|code| code.map(name)).collect()
    }

    #[test]
    fn objects_come_and_go_and_other_columns_do_not_matter() {
        let jan = "customer,segment,spent\na,x,1.25\nb,y,7.5\n";
        let feb = "spent,customer,segment\n0.5,c,y\n2.25,a,x\n";
        let files = [("jan.csv:segment", jan), ("feb.csv:segment", feb)];
        let table = read(&files, Some("customer")).unwrap();
        assert_eq!(table.ids.unwrap().iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(labels(&table.times[0]), [Some("x"), Some("y"), None]);
        assert_eq!(labels(&table.times[1]), [Some("x"), None, Some("y")]);
        assert_eq!(table.times[1].name(), "feb");
    }

    #[test]
    fn times_are_called_as_files_without_the_ending_of_the_format() {
        for (file, name) in [
            ("jan.csv", "jan"),
            ("in/2024.05.csv", "2024.05"),
            ("2024.06.tsv.gz", "2024.06"),
            ("v1.2.PARQUET", "v1.2"),
            ("a.npy", "a"),
            ("a.b.arrow", "a.b"),
            ("2024.05", "2024.05"),
            ("a.gz", "a.gz"),
            (".csv", ".csv"),
            ("-", "-"),
        ] {
            assert_eq!(Slice::new(Path::new(file), None).name, name, "{file}");
        }
    }

    #[test]
    fn the_columns_of_one_table_are_times() {
        let table = read(&[("a.csv", "id,jan,feb\np,0,-1\nq,1,0\n")], Some("id")).unwrap();
        let names: Vec<&str> = table.times.iter().map(HardMember::name).collect();
        assert_eq!(names, ["jan", "feb"]);
        assert_eq!(labels(&table.times[1]), [None, Some("0")]);
        assert_eq!(table.warnings.len(), 1, "{:?}", table.warnings);
    }

    #[test]
    fn what_cannot_be_paired_or_chosen_is_refused() {
        let two = "id,a,b\np,0,1\nq,1,1\n";
        let told = read(&[("x.csv", two), ("y.csv", two)], Some("id")).unwrap_err().to_string();
        assert!(told.contains("holds 2: `a`, `b`") && told.contains("x.csv:a"), "{told}");
        let files = [("x.csv", "a\n0\n1\n"), ("y.csv", "a\n0\n1\n1\n")];
        let told = read(&files, None).unwrap_err().to_string();
        assert!(told.contains("cannot be paired"), "{told}");
        let told = read(&[("x.csv:c", two)], Some("id")).unwrap_err().to_string();
        assert!(told.contains("no column `c`"), "{told}");
    }
}
