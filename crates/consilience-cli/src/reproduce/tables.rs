//! The published figures and ours, side by side.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::experiment::{Experiment, Protocol};
use super::measure::{Measure, deviation};
use super::runner::{Journal, Scope};

/// All cells of an experiment under one protocol.
pub(crate) struct Table<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) protocol: Protocol,
    /// By row, column and measure.
    cells: Vec<Vec<Vec<Cell>>>,
    /// How many runs every cell should have.
    pub(crate) runs: usize,
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
    /// The tables of `scope`, from what `journal` has.
    pub(crate) fn all(scope: &Scope<'a>, journal: &Journal, seed: u64) -> Vec<Self> {
        let inside = scope.data.is_none();
        let mut tables: Vec<Table<'a>> = Vec::new();
        for job in scope.jobs() {
            let experiment = job.experiment;
            let known =
                |t: &Table<'_>| t.experiment.id == experiment.id && t.protocol == job.protocol;
            if !tables.last().is_some_and(known) {
                tables.push(Table::empty(experiment, job.protocol, scope.runs));
            }
            let table = tables.last_mut().expect("just pushed");
            let Some(done) = journal.get(&job.key(seed, inside)) else { continue };
            for (cells, (values, failure)) in
                table.cells[job.row].iter_mut().zip(done.values.iter().zip(&done.failures))
            {
                for (cell, value) in cells.iter_mut().zip(values) {
                    cell.values.extend(value.filter(|value| value.is_finite()));
                    if cell.failure.is_none() {
                        cell.failure.clone_from(failure);
                    }
                }
            }
        }
        tables.iter_mut().for_each(Table::settle);
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
        Table { experiment, protocol, cells, runs: runs.unwrap_or(experiment.runs) }
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

    /// Our figures (or the published ones) of one column and measure, one a row.
    pub(crate) fn column(
        &self,
        column: usize,
        measure: usize,
        published: bool,
    ) -> Vec<Option<f64>> {
        let figure = |cell: &Cell| if published { cell.published } else { cell.ours };
        self.cells.iter().map(|row| figure(&row[column][measure])).collect()
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

    /// The first reason for which cells of a column are empty or incomplete.
    pub(crate) fn failures(&self) -> Vec<(String, String)> {
        let columns = self.experiment.columns.iter().enumerate();
        let first = |c: usize| self.cells.iter().find_map(|row| row[c][0].failure.clone());
        columns.filter_map(|(c, column)| Some((column.name.clone(), first(c)?))).collect()
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
        let Table { experiment, runs, .. } = table;
        let _ = writeln!(text, "## {}: {}\n", experiment.id, table.title());
        let _ = writeln!(text, "{}. {runs} runs a cell. Ours (printed).\n", experiment.paper);
        for note in &experiment.notes {
            let _ = writeln!(text, "- {note}");
        }
        for (column, failure) in table.failures() {
            let _ = writeln!(text, "- {column}, in some run: {failure}");
        }
        let _ = writeln!(text, "\n`{}`", table.command());
        for (m, measure) in experiment.measures.iter().enumerate() {
            let names: Vec<&str> = experiment.columns.iter().map(|c| c.name.as_str()).collect();
            let _ = writeln!(text, "\n| {measure} | {} |", names.join(" | "));
            let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
            for row in 0..experiment.rows.len() {
                let cells = (0..names.len()).map(|c| {
                    let cell = table.cell(row, c, m);
                    let printed = cell.published.map(|p| format!(" ({p:.4})")).unwrap_or_default();
                    format!("{}{printed}", shown(cell.ours))
                });
                let cells: Vec<String> = cells.collect();
                let _ = writeln!(text, "| {} | {} |", experiment.row_name(row), cells.join(" | "));
            }
            if experiment.rows.len() > 1 {
                let average = |published| {
                    move |c: usize| {
                        let all: Option<Vec<f64>> =
                            table.column(c, m, published).into_iter().collect();
                        all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
                    }
                };
                let cells = (0..names.len()).map(|c| {
                    let printed = average(true)(c).map(|p| format!(" ({p:.4})"));
                    format!("{}{}", shown(average(false)(c)), printed.unwrap_or_default())
                });
                let _ = writeln!(text, "| **mean** | {} |", cells.collect::<Vec<_>>().join(" | "));
            }
        }
        text.push('\n');
    }
    text
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
