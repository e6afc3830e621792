//! The published figures and ours, side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::experiment::{Experiment, Protocol};
use super::measure::{Measure, deviation};
use super::runner::{Done, Job, Journal, Scope};
use crate::output::counted;

/// All cells of an experiment under one protocol.
pub(crate) struct Table<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) protocol: Protocol,
    /// By row, column and measure.
    cells: Vec<Vec<Vec<Cell>>>,
    /// How many runs every cell should have.
    pub(crate) runs: usize,
    /// Data sets that could not be read, and why.
    left_out: Vec<(String, String)>,
}

/// One cell: what the paper printed, and what our runs gave.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Cell {
    pub(crate) published: Option<f64>,
    /// Our figure: the mean over the runs, or their deviation where that is what is printed.
    pub(crate) ours: Option<f64>,
    pub(crate) deviation: Option<f64>,
    /// One value a run.
    pub(crate) values: Vec<f64>,
    /// Why runs gave no value, the first reason.
    pub(crate) failure: Option<String>,
}

impl<'a> Table<'a> {
    /// The tables of `scope`, from what `journal` has; `missing` says which sets could not be read.
    pub(crate) fn all(
        scope: &Scope<'a>,
        journal: &Journal,
        seed: u64,
        missing: &BTreeMap<String, String>,
    ) -> Vec<Self> {
        let mut tables = Vec::new();
        for experiment in scope.experiments {
            for protocol in scope.protocols_of(experiment) {
                let mut table = Table::empty(experiment, protocol, scope.runs);
                for (row, cells) in table.cells.iter_mut().enumerate() {
                    for (column, cells) in experiment.columns.iter().zip(cells) {
                        for repeat in 0..table.runs {
                            let job = Job { experiment, row, repeat };
                            let key = job.key(column, protocol, seed, scope.data.is_none());
                            journal.get(&key).into_iter().for_each(|done| add(cells, &done));
                        }
                    }
                }
                table.settle();
                let of_this = |set: &str| experiment.rows.iter().any(|row| row.set == set);
                let left_out = missing.iter().filter(|(set, _)| of_this(set));
                table.left_out = left_out.map(|(set, why)| (set.clone(), why.clone())).collect();
                tables.push(table);
            }
        }
        tables
    }

    fn empty(experiment: &'a Experiment, protocol: Protocol, runs: Option<usize>) -> Self {
        let cell = |row, column, measure: &String| Cell {
            published: experiment.published(row, column, measure),
            ..Cell::default()
        };
        let cells = (0..experiment.rows.len()).map(|row| {
            let columns = 0..experiment.columns.len();
            columns.map(|c| experiment.measures.iter().map(|m| cell(row, c, m)).collect()).collect()
        });
        let cells = cells.collect();
        let runs = runs.unwrap_or(experiment.runs);
        Table { experiment, protocol, cells, runs, left_out: Vec::new() }
    }

    fn settle(&mut self) {
        let measures = self.measures();
        for cell_of in self.cells.iter_mut().flatten() {
            for (cell, measure) in cell_of.iter_mut().zip(&measures) {
                if cell.values.is_empty() {
                    continue;
                }
                let mean = cell.values.iter().sum::<f64>() / cell.values.len() as f64;
                let spread = deviation(&cell.values);
                if matches!(measure, Measure::ClustersDeviation) {
                    cell.ours = Some(spread);
                } else {
                    cell.ours = Some(mean);
                    cell.deviation = Some(spread);
                }
            }
        }
    }

    /// The measures of the experiment.
    pub(crate) fn measures(&self) -> Vec<Measure> {
        let names = self.experiment.measures.iter();
        names.map(|name| name.parse().expect("experiments are tested to be complete")).collect()
    }

    /// The cell of a row, column and measure.
    pub(crate) fn cell(&self, row: usize, column: usize, measure: usize) -> &Cell {
        &self.cells[row][column][measure]
    }

    /// Our figures (or the published ones) of one column and measure, one per row.
    pub(crate) fn column(
        &self,
        column: usize,
        measure: usize,
        published: bool,
    ) -> Vec<Option<f64>> {
        let figure = |cell: &Cell| if published { cell.published } else { cell.ours };
        self.cells.iter().map(|row| figure(&row[column][measure])).collect()
    }

    /// The mean of a column, if all its cells have a figure.
    pub(crate) fn mean(&self, column: usize, measure: usize, published: bool) -> Option<f64> {
        let all: Option<Vec<f64>> = self.column(column, measure, published).into_iter().collect();
        all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Whether the table has so many columns that it reads better the other way round.
    pub(crate) fn transposed(&self) -> bool {
        self.experiment.columns.len() > 12
    }

    /// The mean absolute difference from print, over the rows that have both.
    pub(crate) fn distance(&self, column: usize, measure: usize) -> Option<f64> {
        let both = self.column(column, measure, false).into_iter();
        let both = both.zip(self.column(column, measure, true));
        let all: Vec<f64> = both.filter_map(|(a, b)| Some((a? - b?).abs())).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// A cell in Markdown: ours, the printed figure, and how many runs if too few.
    fn figures(&self, row: usize, column: usize, measure: usize) -> String {
        let cell = self.cell(row, column, measure);
        let mut text = shown(cell.ours);
        if let Some(printed) = cell.published {
            let _ = write!(text, " ({printed:.4})");
        }
        if (1..self.runs).contains(&cell.values.len()) {
            let _ = write!(text, " [{}]", cell.values.len());
        }
        text
    }

    /// The command that gives the table.
    pub(crate) fn command(&self) -> String {
        let protocol = if self.experiment.protocols().len() > 1 {
            format!(" --protocol {}", self.protocol.name())
        } else {
            String::new()
        };
        format!(
            "consilience reproduce {}{protocol} --runs {} --data DIR -o OUT",
            self.experiment.id, self.runs
        )
    }

    /// How many runs there are, in words.
    pub(crate) fn amount(&self) -> String {
        let cells = self.cells.iter().flatten().filter_map(|cells| cells.first());
        let fewer = cells.clone().any(|cell| (1..self.runs).contains(&cell.values.len()));
        let none = cells.filter(|cell| cell.values.is_empty() && cell.failure.is_none()).count();
        let mut text = format!("{} runs a cell", self.runs);
        text += if fewer { "; where there are fewer, [n] says how many." } else { "." };
        if none > 0 {
            let _ = write!(text, " Not run: {}.", counted(none, "cell"));
        }
        text
    }

    /// What is told of the table in JSON.
    pub(crate) fn told(&self) -> Value {
        let Table { experiment, protocol, .. } = self;
        let rows = experiment.rows.iter().zip(&self.cells).map(|(row, cells)| {
            let columns = experiment.columns.iter().zip(cells).map(|(column, cells)| {
                let measures = experiment.measures.iter().cloned();
                let cells: Map<String, Value> =
                    measures.zip(cells.iter().map(|cell| json!(cell))).collect();
                json!({ "column": column.name, "method": column.method, "cells": cells })
            });
            let columns: Vec<Value> = columns.collect();
            json!({ "set": row.set, "size": row.size, "k": row.k, "columns": columns })
        });
        json!({
            "id": experiment.id,
            "paper": experiment.paper,
            "title": experiment.title,
            "protocol": protocol,
            "command": self.command(),
            "rows": rows.collect::<Vec<_>>(),
        })
    }

    /// The title, with the protocol where it matters.
    pub(crate) fn title(&self) -> String {
        if self.experiment.protocols().len() > 1 {
            format!("{} ({})", self.experiment.title, self.protocol.name())
        } else {
            self.experiment.title.clone()
        }
    }

    /// What a reader should know: the notes of the experiment, and why cells are empty.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.experiment.notes.clone();
        notes.extend(self.left_out.iter().map(|(set, why)| format!("Left out: {set}: {why}")));
        for (c, column) in self.experiment.columns.iter().enumerate() {
            let first = self.cells.iter().find_map(|row| row[c][0].failure.as_ref());
            notes.extend(first.map(|why| format!("{}, in some run: {why}", column.name)));
        }
        notes
    }
}

/// Adds a run to the cells of all measures.
fn add(cells: &mut [Cell], done: &Done) {
    for (cell, value) in cells.iter_mut().zip(&done.values) {
        cell.values.extend(value.filter(|value| value.is_finite()));
        if cell.failure.is_none() {
            cell.failure.clone_from(&done.failure);
        }
    }
}

/// Whole numbers of digits that suit the papers' tables.
pub(crate) fn shown(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.4}"))
}

/// All tables as Markdown: ours, and what is printed in brackets.
pub(crate) fn markdown(tables: &[Table<'_>]) -> String {
    let mut text = String::new();
    for table in tables {
        let experiment = table.experiment;
        let _ = writeln!(text, "## {}: {}\n", experiment.id, table.title());
        let _ = writeln!(text, "{}. {} Ours (printed).\n", experiment.paper, table.amount());
        for note in table.notes() {
            let _ = writeln!(text, "- {note}");
        }
        let _ = writeln!(text, "\n`{}`", table.command());
        for m in 0..experiment.measures.len() {
            if table.transposed() {
                transposed(&mut text, table, m);
            } else {
                upright(&mut text, table, m);
            }
        }
        text.push('\n');
    }
    text
}

/// A row for every row of the experiment, and what they come to.
fn upright(text: &mut String, table: &Table<'_>, m: usize) {
    let experiment = table.experiment;
    let columns = 0..experiment.columns.len();
    let names: Vec<&str> = experiment.columns.iter().map(|c| c.name.as_str()).collect();
    head(text, &experiment.measures[m], &names);
    for row in 0..experiment.rows.len() {
        let cells = columns.clone().map(|c| table.figures(row, c, m));
        line(text, &experiment.row_name(row), cells);
    }
    if experiment.rows.len() > 1 {
        let mean = |c| {
            let printed = table.mean(c, m, true).map(|p| format!(" ({p:.4})"));
            format!("{}{}", shown(table.mean(c, m, false)), printed.unwrap_or_default())
        };
        line(text, "**mean**", columns.clone().map(mean));
        let distances: Vec<_> = columns.map(|c| table.distance(c, m)).collect();
        if distances.iter().any(Option::is_some) {
            line(text, "**mean distance from print**", distances.into_iter().map(shown));
        }
    }
}

/// A row for every column of the experiment.
fn transposed(text: &mut String, table: &Table<'_>, m: usize) {
    let experiment = table.experiment;
    let rows = 0..experiment.rows.len();
    let names: Vec<String> = rows.clone().map(|row| experiment.row_name(row)).collect();
    head(text, &experiment.measures[m], &names.iter().map(String::as_str).collect::<Vec<_>>());
    for (c, column) in experiment.columns.iter().enumerate() {
        line(text, &column.name, rows.clone().map(|row| table.figures(row, c, m)));
    }
}

fn head(text: &mut String, measure: &str, names: &[&str]) {
    let _ = writeln!(text, "\n| {measure} | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
}

fn line(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

/// All cells as CSV, one a line.
pub(crate) fn csv(tables: &[Table<'_>]) -> String {
    let mut text =
        "experiment,protocol,set,size,k,method,measure,published,ours,deviation,runs\n".to_owned();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for table in tables {
        let Table { experiment, protocol, .. } = table;
        for (i, row) in experiment.rows.iter().enumerate() {
            for (c, column) in experiment.columns.iter().enumerate() {
                for (m, measure) in experiment.measures.iter().enumerate() {
                    let cell = table.cell(i, c, m);
                    let k = row.k.map_or(String::new(), |k| k.to_string());
                    let _ = writeln!(
                        text,
                        "{},{},{},{},{k},{},{measure},{},{},{},{}",
                        experiment.id,
                        protocol.name(),
                        row.set,
                        row.size,
                        column.name,
                        number(cell.published),
                        number(cell.ours),
                        number(cell.deviation),
                        cell.values.len(),
                    );
                }
            }
        }
    }
    text
}
