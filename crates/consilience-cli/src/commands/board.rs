//! The leaderboard: many methods on one ensemble, shown as a table and written to files.

use consilience::pipeline::{Leaderboard, Standing};
use consilience_io::Ids;
use serde_json::{Value, json};

use crate::output::aligned;
use consilience_io::{Cells, OutputError, Target, write_table};

/// The seconds that every method took, by its name.
pub(super) fn seconds(board: &Leaderboard) -> Value {
    let rows = board.standings.iter().map(|row| (row.method.to_string(), json!(row.seconds)));
    Value::Object(rows.collect())
}

/// As a table for people.
pub(super) fn shown(board: &Leaderboard) -> String {
    let header = ["method", "clusters", "anmi", "agreement", "seconds"].map(str::to_owned);
    let number = |value: Option<f64>| value.map_or(String::new(), |x| format!("{x:.4}"));
    let row = |row: &Standing| {
        let k = row.k.map_or(String::new(), |k| k.to_string());
        let seconds = format!("{:.3}", row.seconds);
        vec![row.method.to_string(), k, number(row.anmi), number(row.agreement), seconds]
    };
    let (answered, failed): (Vec<_>, Vec<_>) =
        board.standings.iter().partition(|row| row.problem.is_none());
    let rows: Vec<_> = answered.into_iter().map(row).collect();
    let mut text = aligned(&header, &rows);
    for row in failed {
        let problem = row.problem.as_deref().unwrap_or_default();
        text = format!("{text}\n{}: no answer: {problem}", row.method);
    }
    text
}

/// Writes one row per method: its number of clusters, agreement, or why it has no answer.
pub(super) fn write(
    target: &Target,
    board: &Leaderboard,
    run: &consilience::Run,
) -> Result<(), OutputError> {
    let rows = &board.standings;
    let text = |of: &dyn Fn(usize) -> String| -> Vec<String> { (0..rows.len()).map(of).collect() };
    let numbers = |of: &dyn Fn(usize) -> Option<f64>| -> Vec<f64> {
        (0..rows.len()).map(|i| of(i).unwrap_or(f64::NAN)).collect()
    };
    let columns = [
        ("method", Cells::Text(text(&|i| rows[i].method.to_string()).into())),
        ("k", Cells::Numbers(numbers(&|i| rows[i].k.map(|k| k as f64)).into())),
        ("anmi", Cells::Numbers(numbers(&|i| rows[i].anmi).into())),
        ("agreement", Cells::Numbers(numbers(&|i| rows[i].agreement).into())),
        ("problem", Cells::Text(text(&|i| rows[i].problem.clone().unwrap_or_default()).into())),
    ];
    write_table(target, &columns.map(|(name, cells)| (name.to_owned(), cells)), run)
}

/// Writes the answers: one row per object, one column per method.
pub(super) fn write_labels(
    target: &Target,
    board: &Leaderboard,
    ids: Option<&Ids>,
    run: &consilience::Run,
) -> Result<(), OutputError> {
    let answers: Vec<_> = board
        .standings
        .iter()
        .filter_map(|row| row.labels.as_deref().map(|labels| (&row.method, labels)))
        .collect();
    let n = answers.first().map_or(0, |(_, labels)| labels.len());
    let mut columns = vec![("id".to_owned(), ids.map_or(Cells::Rows(n), Cells::Ids))];
    columns
        .extend(answers.iter().map(|(name, labels)| (name.to_string(), Cells::Clusters(labels))));
    write_table(target, &columns, run)
}
