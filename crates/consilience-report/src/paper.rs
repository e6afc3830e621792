//! What a saved result says of itself: a title, the exact command, a paragraph and references for
//! a paper. Everything is read from the record in `result.json`, so that a page made later says the
//! same.

use consilience::consensus::{ChoosesK, MethodInfo, method};
use consilience::data::data_set;
use consilience::pipeline::{GivenOptions, MadeRecord, Record};
use consilience::words::{count, counted, listed};
use serde_json::Value;

use crate::bibtex;

/// What the data are called.
pub fn title(record: &Record) -> String {
    if let Some(title) = &record.title {
        return title.clone();
    }
    if let Some(info) = record.command.text("data").and_then(|name| data_set(name).ok()) {
        let mut letters = info.title.chars();
        let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        return first + letters.as_str();
    }
    let files = data_files(record);
    match files.as_slice() {
        [] => "A consensus".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {}", counted(rest.len(), "other file")),
    }
}

/// The files that hold the data.
fn data_files(record: &Record) -> Vec<String> {
    let data = record.inputs.iter().filter(|input| input.role.is_none());
    data.map(|input| input.file.clone()).collect()
}

/// The arguments of the command in the record, without those that say where results go.
pub fn arguments(record: &Record) -> Vec<String> {
    let command = &record.command;
    let name = command.text("name").unwrap_or("run");
    let mut all = vec![name.to_owned()];
    if name == "demo" {
        all.extend(command.text("data").map(str::to_owned));
    } else {
        all.extend(data_files(record));
        options(command, &mut all);
    }
    if record.seed != 0 {
        all.extend(["--seed".to_owned(), record.seed.to_string()]);
    }
    all
}

/// The options of `run` and `combine` as the record has them; those not given are left out.
fn options(command: &GivenOptions, all: &mut Vec<String>) {
    const DEFAULTS: [(&str, &str); 6] = [
        ("method", "auto"),
        ("size", "50"),
        ("scheme", "committee"),
        ("base", "kmeans"),
        ("scale", "zscore"),
        ("k", "auto"),
    ];
    let plain = [
        "method",
        "k",
        "add",
        "edges",
        "init",
        "align_to",
        "weights",
        "size",
        "scheme",
        "base",
        "base_k",
        "representatives",
        "neighbours",
        "subspace",
        "sample",
        "scale",
        "id",
        "truth",
        "impute",
        "decimal",
        "noise",
    ];
    for key in plain {
        let Some(text) = command.0.get(key).and_then(spelled) else { continue };
        if DEFAULTS.contains(&(key, text.as_str())) {
            continue;
        }
        all.extend([format!("--{}", key.replace('_', "-")), text]);
    }
    let kinds: Vec<&str> = command.list("kinds").collect();
    if !kinds.is_empty() {
        all.extend(["--kinds".to_owned(), kinds.join(",")]);
    }
    for (key, option) in [
        ("leave_out", "--leave-out"),
        ("as_features", "--as-features"),
        ("soft", "--soft"),
        ("no_header", "--no-header"),
        ("rows", "--rows"),
    ] {
        if command.is_on(key) {
            all.push(option.to_owned());
        }
    }
    for (key, value) in command.settings() {
        all.extend(["--set".to_owned(), format!("{key}={value}")]);
    }
    for (key, option) in [("drop", "--drop"), ("missing", "--missing")] {
        for given in command.list(key) {
            all.extend([option.to_owned(), given.to_owned()]);
        }
    }
}

/// A value as it is written on the command line; numbers of clusters and shares are kept by kind.
fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(ends) if ends.len() == 2 => Some(format!("{}..{}", ends[0], ends[1])),
        Value::Object(kinds) => kinds.values().next().and_then(spelled),
        _ => None,
    }
}

/// The command as it is typed.
pub fn command_line(record: &Record) -> String {
    // From another language.
    if let Some(call) = record.command.text("call") {
        return call.to_owned();
    }
    let quoted = |argument: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:+%@".contains(c);
        if !argument.is_empty() && argument.chars().all(plain) {
            argument.clone()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    };
    let mut words: Vec<String> = vec!["consilience".to_owned()];
    words.extend(arguments(record).iter().map(quoted));
    let output = match record.command.text("name") {
        Some("combine") if record.command.is_on("saved") => "--save results",
        Some("combine") => "-o consensus.csv",
        Some("demo") => "",
        _ => "-o results",
    };
    format!("{} {output}", words.join(" ")).trim_end().to_owned()
}

/// What a committee left out, as a sentence.
fn left_out(made: &MadeRecord) -> String {
    match made.seats.iter().filter(|seat| seat.left_out.is_some()).count() {
        0 => String::new(),
        out => format!(
            "Of these clusterings {} {} left out, since their clusters cut through more \
             neighbourhoods (nearest objects) than those of others with as many clusters. ",
            count(out),
            if out == 1 { "was" } else { "were" }
        ),
    }
}

/// A paragraph for the methods section of a paper.
pub fn paragraph(record: &Record, safe: (usize, usize)) -> String {
    let consensus = &record.consensus;
    let text = if let Some(made) = &record.ensemble.made {
        // What was made, not what it was drawn from.
        let made_k = || {
            let seats = made.seats.iter().map(|seat| seat.k);
            let members = record.ensemble.members.iter().map(|member| member.k);
            seats.chain(members.filter(|_| made.seats.is_empty()))
        };
        let range = made_k().min().zip(made_k().max()).or(made.base_k);
        let k = range.map_or_else(String::new, |(low, high)| {
            if low == high {
                format!(" into {}", counted(low, "cluster"))
            } else {
                format!(" into {low} to {high} clusters")
            }
        });
        let scale = match made.scale.as_str() {
            "zscore" => "features scaled to mean 0 and standard deviation 1",
            "minmax" => "features scaled to [0, 1]",
            _ => "features as they were given",
        };
        format!(
            "{} with {} were clustered {} by {}{k} (scheme {}; {scale}). ",
            counted(consensus.n, "object"),
            counted(record.data.features.as_ref().map_or(0, Vec::len), "feature"),
            match record.ensemble.size.max(made.seats.len()) {
                1 => "once".to_owned(),
                times => format!("{} times", count(times)),
            },
            made.base,
            made.scheme,
        ) + &left_out(made)
    } else {
        let linked = record.command.text("edges");
        let linked =
            linked.map_or_else(String::new, |file| format!(", linked by the edges in {file},"));
        format!(
            "{} of {}{linked} were combined. ",
            counted(consensus.clusterings, "clustering"),
            counted(consensus.n, "object")
        )
    };
    let info = method(&consensus.method).ok();
    let sizes: Vec<String> = consensus.sizes.iter().map(|&size| count(size)).collect();
    let followed = consensus.aligned.as_ref().map_or_else(String::new, |aligned| {
        format!(
            " Clusters are called as in an earlier result ({}; optimal assignment); {} of the {} in \
             both moved to another cluster.",
            aligned.to,
            count(aligned.moved),
            counted(aligned.common, "object"),
        )
    });
    let asked = match (record.k_asked(), &record.consensus.number) {
        (Some(_), _) => " was set",
        (None, Some(_)) => " was found from the features",
        (None, None) if keeps_number(record) => {
            " was kept from the result that clusterings were added to"
        }
        (None, None) => " was found from the clusterings",
    };
    let combined = format!(
        "The clusterings were combined by {} ({}) with consilience {} (seed {}); the number of \
         clusters, {},{asked}. The consensus has {} of {} {} and agrees with the clusterings by {:.3} \
         (average normalised mutual information). {} of {} ({:.0} %) {} supported by the clusterings at \
         least twice as much in their cluster as in any other.{followed}",
        info.map_or(consensus.method.as_str(), |info| info.title),
        info.map_or("", |info| info.reference),
        record.version,
        record.seed,
        consensus.k,
        if sizes.len() == 1 { "one cluster" } else { "clusters" },
        listed(&sizes, 12),
        if consensus.sizes == [1] { "object" } else { "objects" },
        consensus.anmi.unwrap_or(f64::NAN),
        count(safe.0),
        counted(safe.1, "object"),
        100.0 * safe.0 as f64 / safe.1.max(1) as f64,
        if safe.0 == 1 { "is" } else { "are" },
    );
    text + &combined
}

/// Whether the number of clusters is that of a result that clusterings were added to, which found it.
fn keeps_number(record: &Record) -> bool {
    let finds = |info: &MethodInfo| info.chooses_k == ChoosesK::Always;
    let told = !method(&record.consensus.method).is_ok_and(finds);
    record.command.text("add").is_some() && record.command.text("k").is_none() && told
}

/// References for a bibliography.
pub fn bibtex(record: &Record) -> String {
    let version = &record.version;
    let mut text = format!(
        "@software{{consilience,\n  title   = {{consilience: consensus clustering}},\n  author  = \
         {{{{The consilience developers}}}},\n  version = {{{version}}}\n}}\n"
    );
    let name = &record.consensus.method;
    if let Ok(info) = method(name) {
        text = format!("{text}\n{}", bibtex::entries(info.reference, name));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_command_can_be_typed_again() {
        let parsed = |value: Value| serde_json::from_value::<Record>(value).unwrap();
        let record = parsed(json!({
            "seed": 7,
            "inputs": [
                { "file": "my data.csv" },
                { "file": "start.csv", "as": "init" },
                { "file": "old/labels.csv", "as": "align_to" },
                { "file": "g.tsv", "as": "edges" },
            ],
            "command": {
                "name": "run", "method": "scec", "k": 3, "set": { "alpha": "0.5" },
                "edges": "g.tsv", "init": "start.csv", "align_to": "old/labels.csv", "size": 20, "scheme": "random-k", "base": "kmeans",
                "base_k": { "between": [2, 8] }, "scale": "none", "id": "it's", "drop": ["note"], "soft": true,
            },
        }));
        assert_eq!(
            command_line(&record),
            r"consilience run 'my data.csv' --method scec --k 3 --edges g.tsv --init start.csv --align-to old/labels.csv --size 20 --scheme random-k --base-k 2..8 --scale none --id 'it'\''s' --soft --set alpha=0.5 --drop note --seed 7 -o results"
        );
        let demo = parsed(json!({ "seed": 0, "command": { "name": "demo", "data": "iris" } }));
        assert_eq!(command_line(&demo), "consilience demo iris");
        assert!(title(&demo).starts_with(char::is_uppercase));
    }

    #[test]
    fn numbers_of_clusters_are_those_that_were_made() {
        let text = |members: Value, seats: Value| {
            let record = json!({
                "ensemble": {
                    "size": 1, "scheme": "random-k", "base": "kmeans", "base_k": [2, 6],
                    "members": members, "seats": seats,
                },
            });
            paragraph(&serde_json::from_value(record).unwrap(), (0, 0))
        };
        let [three, five] = [3, 5].map(|k| json!({ "name": "m", "k": k }));
        assert!(
            text(json!([three]), json!([])).contains("clustered once by kmeans into 3 clusters")
        );
        assert!(text(json!([three, five]), json!([])).contains("by kmeans into 3 to 5 clusters"));
        assert!(text(json!([]), json!([])).contains("by kmeans into 2 to 6 clusters"));
        let seat = json!({ "name": "m1-gmm", "kind": "gmm", "k": 4, "cut": null, "leak": null });
        assert!(text(json!([three]), json!([seat])).contains("into 4 clusters"));
    }
}
