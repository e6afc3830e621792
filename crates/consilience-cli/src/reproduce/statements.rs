//! The papers' claims, judged on our runs with the papers' own test.

use std::fmt::Write as _;

use consilience::metrics::paired_t_test;
use serde::{Deserialize, Serialize};

use super::experiment::Protocol;
use super::measure::Measure;
use super::tables::Table;

/// A claim: one column of some experiments has better figures than another.
struct Claim {
    /// Experiments whose name begins so.
    experiments: &'static str,
    measure: &'static str,
    /// Whether better is larger.
    larger: bool,
    better: &'static str,
    worse: &'static [&'static str],
    words: &'static str,
}

const CLAIMS: [Claim; 7] = [
    Claim {
        experiments: "000-t",
        measure: "nmi",
        larger: true,
        better: "SCEC",
        worse: &["CSPA", "MCLA", "QMI", "MMEC", "BL"],
        words: "SCEC agrees better with the classes than",
    },
    Claim {
        experiments: "001-f",
        measure: "error",
        larger: false,
        better: "w-MI",
        worse: &["f-MI", "h-MI", "MCLA", "HGPA", "CSPA", "QMI"],
        words: "w-MI errs less than",
    },
    Claim {
        experiments: "001-f",
        measure: "error",
        larger: false,
        better: "f-MI",
        worse: &["h-MI", "MCLA", "HGPA", "CSPA", "QMI"],
        words: "f-MI errs less than",
    },
    Claim {
        experiments: "002-t1",
        measure: "k_sd",
        larger: false,
        better: "SA",
        worse: &["EA-S", "EA-A"],
        words: "SA's number of clusters is steadier than that of",
    },
    Claim {
        experiments: "002-t1",
        measure: "pc_error",
        larger: false,
        better: "SA",
        worse: &["K-means", "EA-S", "EA-A"],
        words: "SA errs less than",
    },
    Claim {
        experiments: "004-t2",
        measure: "accuracy",
        larger: true,
        better: "RCE",
        worse: &["K-means", "KC", "CSPA", "HGPA", "MCLA", "NMFC", "GWCA", "BCE", "RMSC"],
        words: "RCE is more accurate than",
    },
    Claim {
        experiments: "004-t2",
        measure: "nmi-max",
        larger: true,
        better: "RCE",
        worse: &["K-means", "KC", "CSPA", "HGPA", "MCLA", "NMFC", "GWCA", "BCE", "RMSC"],
        words: "RCE agrees better with the classes than",
    },
];

/// The level at which a claim holds, the papers' own.
const LEVEL: f64 = 0.05;

/// A claim and what became of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judged {
    pub(crate) claim: String,
    /// One-sided p-value of the paired t-test on the published figures.
    pub(crate) published_p: Option<f64>,
    pub(crate) as_printed: Option<Verdict>,
    pub(crate) fair: Option<Verdict>,
}

/// What our runs say of a claim.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    pub(crate) holds: bool,
    /// Over how many cells.
    pub(crate) cells: usize,
    /// By how much the one is better, on average over the cells.
    pub(crate) advantage: f64,
    /// One-sided p-value of the paired t-test over the cells.
    pub(crate) p: f64,
    /// In how many cells the one is better by the same test over the runs, which share ensembles;
    /// and in how many it is worse.
    pub(crate) won: usize,
    pub(crate) lost: usize,
}

/// The tables that count under `protocol`: an experiment without protocols of its own is the same
/// under both, and other readings of a table would count its cells twice.
fn evidence<'a, 'b>(
    tables: &'b [Table<'a>],
    experiments: &str,
    protocol: Protocol,
) -> Vec<&'b Table<'a>> {
    let here = |t: &&Table<'_>| {
        t.experiment.id.starts_with(experiments)
            && t.experiment.variant_of.is_none()
            && (t.protocol == protocol || t.experiment.protocols().len() == 1)
    };
    tables.iter().filter(here).collect()
}

/// Judges every claim that the tables have at least two cells for.
pub(crate) fn judge(tables: &[Table<'_>]) -> Vec<Judged> {
    let mut judged = Vec::new();
    for claim in &CLAIMS {
        let [as_printed, fair] = [Protocol::AsPrinted, Protocol::Fair]
            .map(|protocol| evidence(tables, claim.experiments, protocol));
        let printed = if as_printed.is_empty() { &fair } else { &as_printed };
        for worse in claim.worse {
            let as_printed = verdict(&as_printed, claim, worse);
            let fair = verdict(&fair, claim, worse);
            if as_printed.is_none() && fair.is_none() {
                continue;
            }
            let (a, b) = pairs(printed, claim, worse, true);
            judged.push(Judged {
                claim: format!("{} {worse}", claim.words),
                published_p: one_sided(&a, &b, claim.larger).map(|(_, p)| p),
                as_printed,
                fair,
            });
        }
    }
    judged
}

fn verdict(tables: &[&Table<'_>], claim: &Claim, worse: &str) -> Option<Verdict> {
    let (a, b) = pairs(tables, claim, worse, false);
    let (advantage, p) = one_sided(&a, &b, claim.larger)?;
    let (mut won, mut lost) = (0, 0);
    for table in tables {
        let Some((a, b, m)) = places(table, claim, worse) else { continue };
        // Of a deviation over the runs there is one a cell, and nothing to test.
        if matches!(table.measures()[m], Measure::ClustersDeviation) {
            continue;
        }
        for row in 0..table.experiment.rows.len() {
            let (a, b) = (&table.cell(row, a, m).values, &table.cell(row, b, m).values);
            if a.len() != b.len() {
                continue;
            }
            let p = one_sided(a, b, claim.larger).map_or(0.5, |(_, p)| p);
            won += usize::from(p < LEVEL);
            lost += usize::from(p > 1.0 - LEVEL);
        }
    }
    Some(Verdict { holds: p < LEVEL, cells: a.len(), advantage, p, won, lost })
}

/// Where the two columns and the measure of a claim stand in a table.
fn places(table: &Table<'_>, claim: &Claim, worse: &str) -> Option<(usize, usize, usize)> {
    let place = |name: &str| table.experiment.columns.iter().position(|c| c.name == name);
    let measure = table.experiment.measures.iter().position(|m| m == claim.measure);
    Some((place(claim.better)?, place(worse)?, measure?))
}

/// The figures of both columns in all cells where both have one.
fn pairs(
    tables: &[&Table<'_>],
    claim: &Claim,
    worse: &str,
    published: bool,
) -> (Vec<f64>, Vec<f64>) {
    let mut both = Vec::new();
    for table in tables {
        if let Some((a, b, m)) = places(table, claim, worse) {
            let columns =
                table.column(a, m, published).into_iter().zip(table.column(b, m, published));
            both.extend(columns.filter_map(|(a, b)| Some((a?, b?))));
        }
    }
    both.into_iter().unzip()
}

/// By how much `a` is better than `b`, and the p-value of "not better".
fn one_sided(a: &[f64], b: &[f64], larger: bool) -> Option<(f64, f64)> {
    let test = if larger { paired_t_test(a, b) } else { paired_t_test(b, a) }.ok()?;
    let p = if test.t > 0.0 { test.p / 2.0 } else { 1.0 - test.p / 2.0 };
    Some((test.mean_difference, p))
}

#[derive(Deserialize)]
struct Table11 {
    columns: Vec<String>,
    p: Vec<Vec<Option<f64>>>,
}

static TABLE_11: &str = include_str!("../../experiments/000-t11.json");

/// Table 11 of paper 000 under one protocol.
pub(crate) struct Tests {
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    /// Is the method of the row better than that of the column? Our p-value, that of the printed
    /// cells, and the printed one; nothing on the diagonal.
    pub(crate) rows: Vec<Vec<Option<[String; 3]>>>,
}

/// What the cells of [`Tests`] are.
pub(crate) const TESTS_LEGEND: &str = "Is the row better than the column? Ours / recomputed from the \
     printed cells / as printed (all 99 cells).";

/// Table 11 of paper 000 under both protocols, as far as there are cells.
pub(crate) fn paired_tests(tables: &[Table<'_>]) -> Vec<Tests> {
    let both = [Protocol::AsPrinted, Protocol::Fair];
    both.into_iter().filter_map(|protocol| table_11(tables, protocol)).collect()
}

fn table_11(tables: &[Table<'_>], protocol: Protocol) -> Option<Tests> {
    let printed: Table11 = serde_json::from_str(TABLE_11).expect("tested");
    let tables = evidence(tables, "000-t", protocol);
    let column = |name: &str, published| -> Vec<Option<f64>> {
        let place = |t: &Table<'_>| t.experiment.columns.iter().position(|c| c.name == name);
        let figures = |&t: &&Table<'_>| match place(t) {
            Some(column) => t.column(column, 0, published),
            None => vec![None; t.experiment.rows.len()],
        };
        tables.iter().flat_map(figures).collect()
    };
    let p = |row: &str, other: &str, published| {
        let both = column(row, published).into_iter().zip(column(other, published));
        let (a, b): (Vec<f64>, Vec<f64>) = both.filter_map(|(a, b)| Some((a?, b?))).unzip();
        one_sided(&a, &b, true).map(|(_, p)| p)
    };
    let shown = |p: Option<f64>| p.map_or("–".to_owned(), |p| format!("{p:.3}"));
    let names = &printed.columns;
    let rows = names.iter().zip(&printed.p).map(|(row, as_printed)| {
        let cell = |(other, &printed): (&String, &Option<f64>)| {
            let ours = [p(row, other, false), p(row, other, true), printed];
            (row != other).then(|| ours.map(shown))
        };
        names.iter().zip(as_printed).map(cell).collect()
    });
    let rows: Vec<Vec<_>> = rows.collect();
    let cells = column(&names[0], false).iter().flatten().count();
    let title = format!(
        "000-t11: Table 11: p-values of paired t-tests over {cells} cells ({})",
        protocol.name()
    );
    (cells > 1).then(|| Tests { title, columns: names.clone(), rows })
}

/// Claims and tests as Markdown.
pub(crate) fn statements_markdown(tables: &[Table<'_>], judged: &[Judged]) -> String {
    let mut text = String::new();
    if judged.is_empty() {
        return text;
    }
    text += "## The papers' statements, judged on these runs\n\n\
             One-sided paired t-tests over cells, level 0.05, as paper 000 tests. In brackets: the mean \
             advantage, and in how many single cells the same test over the runs finds the one better (+) \
             and worse (−).\n\n\
             | statement | p of the printed cells | as printed | fair |\n|---|---|---|---|\n";
    let told = |v: &Verdict| format!("{} ({})", v.told(), v.detail());
    for Judged { claim, published_p, as_printed, fair } in judged {
        let printed = published_p.map_or("–".to_owned(), |p| format!("{p:.3}"));
        let [as_printed, fair] =
            [as_printed, fair].map(|v| v.as_ref().map_or("–".to_owned(), told));
        let _ = writeln!(text, "| {claim} | {printed} | {as_printed} | {fair} |");
    }
    text.push('\n');
    for Tests { title, columns, rows } in paired_tests(tables) {
        let _ = writeln!(text, "## {title}\n\n{TESTS_LEGEND}\n");
        let _ = writeln!(text, "| | {} |", columns.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(columns.len()));
        for (name, row) in columns.iter().zip(rows) {
            let cell = |cell: Option<[String; 3]>| cell.map_or("–".to_owned(), |c| c.join(" / "));
            let cells: Vec<String> = row.into_iter().map(cell).collect();
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
        text.push('\n');
    }
    text
}

impl Verdict {
    /// The verdict in words.
    pub(crate) fn told(&self) -> String {
        let holds = if self.holds { "holds" } else { "does not hold" };
        if self.p < 0.001 {
            return format!("{holds}, p < 0.001");
        }
        format!("{holds}, p = {:.3}", self.p)
    }

    /// What it rests on.
    pub(crate) fn detail(&self) -> String {
        let Verdict { cells, advantage, won, lost, .. } = self;
        let single = if won + lost > 0 { format!("; +{won} −{lost}") } else { String::new() };
        format!("{advantage:+.4} over {cells} cells{single}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::reproduce::{Journal, Scope, experiments};

    #[test]
    fn table_11_fits_its_columns() {
        let printed: Table11 = serde_json::from_str(TABLE_11).unwrap();
        assert_eq!(printed.p.len(), printed.columns.len());
        for (i, row) in printed.p.iter().enumerate() {
            assert_eq!(row.len(), printed.columns.len());
            for (j, p) in row.iter().enumerate() {
                assert_eq!(p.is_none(), i == j);
                // Both sides of one test.
                if let (Some(p), Some(q)) = (p, printed.p[j][i]) {
                    assert!((p + q - 1.0).abs() < 2e-3, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn claims_name_columns_that_exist() {
        let all = experiments().unwrap();
        for claim in &CLAIMS {
            let mut found = false;
            for experiment in all.iter().filter(|e| e.id.starts_with(claim.experiments)) {
                let has = |name: &str| experiment.columns.iter().any(|c| c.name == name);
                found |= has(claim.better) && claim.worse.iter().all(|worse| has(worse));
                assert!(experiment.measures.iter().any(|m| m == claim.measure), "{}", claim.words);
            }
            assert!(found, "{}", claim.words);
        }
    }

    #[test]
    fn better_by_direction() {
        let (low, high) = ([0.1, 0.2, 0.3], [0.2, 0.4, 0.5]);
        let (advantage, p) = one_sided(&high, &low, true).unwrap();
        assert!(advantage > 0.0 && p < 0.05);
        let (advantage, p) = one_sided(&low, &high, false).unwrap();
        assert!(advantage > 0.0 && p < 0.05);
        assert!(one_sided(&low, &high, true).unwrap().1 > 0.95);
    }

    #[test]
    fn other_readings_of_a_table_are_no_evidence() {
        let all = experiments().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), false).unwrap();
        let protocols = [Protocol::AsPrinted, Protocol::Fair];
        let scope = Scope { experiments: &all, protocols: &protocols, runs: Some(1), data: None };
        let tables = Table::all(&scope, &journal, 0, &BTreeMap::new());
        let ids = |start, protocol| -> Vec<&str> {
            let tables = evidence(&tables, start, protocol);
            tables.iter().map(|table| table.experiment.id.as_str()).collect()
        };
        for protocol in protocols {
            assert_eq!(ids("002-t1", protocol), ["002-t1"]);
            assert_eq!(ids("004-t2", protocol), ["004-t2"]);
            let cells = ids("000-t", protocol);
            assert!(cells.len() == 9 && !cells.contains(&"000-t03b"), "{cells:?}");
        }
        assert!(judge(&tables).is_empty());
    }
}
