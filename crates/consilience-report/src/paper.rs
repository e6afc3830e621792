//! What a saved result says of itself: a title, the exact command, a paragraph and references for
//! a paper. Everything is read from the record in `result.json`, so that a page made later says the
//! same.

use consilience::consensus::method;
use consilience::data::data_set;
use serde_json::Value;

use crate::bibtex;
use crate::words::{count, counted, listed};

/// What the data are called.
pub fn title(record: &Value) -> String {
    if let Some(title) = record["title"].as_str() {
        return title.to_owned();
    }
    let command = &record["command"];
    if let Some(info) = command["data"].as_str().and_then(|name| data_set(name).ok()) {
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

/// Whether the number of clusters was asked for, not found.
pub fn k_given(record: &Value) -> bool {
    let command = &record["command"];
    command["k"].is_number()
        || command["options"].as_str().is_some_and(|options| options.contains("--k "))
}

/// The files that hold the data.
fn data_files(record: &Value) -> Vec<String> {
    let inputs = record["inputs"].as_array().map_or(&[][..], Vec::as_slice);
    let data = inputs.iter().filter(|input| input["as"].is_null());
    data.filter_map(|input| input["file"].as_str().map(str::to_owned)).collect()
}

/// The arguments of the command in the record, without those that say where results go.
pub fn arguments(record: &Value) -> Vec<String> {
    let command = &record["command"];
    let name = command["name"].as_str().unwrap_or("run");
    let mut all = vec![name.to_owned()];
    if name == "demo" {
        all.extend(command["data"].as_str().map(str::to_owned));
    } else {
        all.extend(data_files(record));
        options(command, &mut all);
    }
    if let Some(seed) = record["seed"].as_u64().filter(|&seed| seed != 0) {
        all.extend(["--seed".to_owned(), seed.to_string()]);
    }
    all
}

/// The options of `run` and `combine` as the record has them; those not given are left out.
fn options(command: &Value, all: &mut Vec<String>) {
    const DEFAULTS: [(&str, &str); 6] = [
        ("method", "auto"),
        ("size", "50"),
        ("scheme", "random-k"),
        ("base", "kmeans"),
        ("scale", "zscore"),
        ("k", "auto"),
    ];
    let plain = [
        "method",
        "k",
        "add",
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
        "missing",
    ];
    for key in plain {
        let text = match &command[key] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            other => match spelled(other) {
                Some(text) => text,
                None => continue,
            },
        };
        if DEFAULTS.contains(&(key, text.as_str())) {
            continue;
        }
        all.extend([format!("--{}", key.replace('_', "-")), text]);
    }
    for (key, option) in [
        ("leave_out", "--leave-out"),
        ("as_features", "--as-features"),
        ("soft", "--soft"),
        ("no_header", "--no-header"),
        ("rows", "--rows"),
    ] {
        if command[key] == true {
            all.push(option.to_owned());
        }
    }
    for (key, value) in command["set"].as_object().into_iter().flatten() {
        all.extend(["--set".to_owned(), format!("{key}={}", value.as_str().unwrap_or_default())]);
    }
    for column in command["drop"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        all.extend(["--drop".to_owned(), column.to_owned()]);
    }
}

/// Numbers of clusters and shares as they are written on the command line.
fn spelled(value: &Value) -> Option<String> {
    match value.as_object()?.values().next()? {
        Value::Array(ends) if ends.len() == 2 => Some(format!("{}..{}", ends[0], ends[1])),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The command as it is typed.
pub fn command_line(record: &Value) -> String {
    // From another language.
    if let Some(call) = record["command"]["call"].as_str() {
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
    let output = match record["command"]["name"].as_str() {
        Some("combine") if record["command"]["saved"] == true => "--save results",
        Some("combine") => "-o consensus.csv",
        Some("demo") => "",
        _ => "-o results",
    };
    format!("{} {output}", words.join(" ")).trim_end().to_owned()
}

/// A paragraph for the methods section of a paper.
pub fn paragraph(record: &Value, safe: (usize, usize)) -> String {
    let consensus = &record["consensus"];
    let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let ensemble = &record["ensemble"];
    let n = number(&consensus["n"]);
    let text = if let (Some(scheme), Some(base)) =
        (ensemble["scheme"].as_str(), ensemble["base"].as_str())
    {
        let k = ensemble["base_k"].as_array().map_or_else(String::new, |k| {
            if k[0] == k[1] {
                format!(" into {} clusters each", k[0])
            } else {
                format!(" into {} to {} clusters", k[0], k[1])
            }
        });
        let scale = match ensemble["scale"].as_str() {
            Some("zscore") => "features scaled to mean 0 and standard deviation 1",
            Some("minmax") => "features scaled to [0, 1]",
            _ => "features not scaled",
        };
        format!(
            "{} with {} were clustered {} times by {base}{k} (scheme {scheme}; {scale}). ",
            counted(n, "object"),
            counted(record["data"]["features"].as_array().map_or(0, Vec::len), "feature"),
            count(number(&ensemble["size"])),
        )
    } else {
        format!(
            "{} of {} were combined. ",
            counted(number(&consensus["clusterings"]), "clustering"),
            counted(n, "object")
        )
    };
    let name = consensus["method"].as_str().unwrap_or("unknown");
    let info = method(name).ok();
    let sizes: Vec<String> = consensus["sizes"]
        .as_array()
        .map_or_else(Vec::new, |sizes| sizes.iter().map(|size| count(number(size))).collect());
    let aligned = &consensus["aligned"];
    let followed = if aligned.is_object() {
        format!(
            " Clusters are called as in an earlier result ({}; optimal assignment); {} of the {} in \
             both moved to another cluster.",
            aligned["to"].as_str().unwrap_or_default(),
            count(number(&aligned["moved"])),
            counted(number(&aligned["common"]), "object"),
        )
    } else {
        String::new()
    };
    let asked = if k_given(record) { " was set" } else { " was found from the clusterings" };
    let combined = format!(
        "The clusterings were combined by {} ({}) with consilience {} (seed {}); the number of \
         clusters, {},{asked}. The consensus has clusters of {} objects and agrees with the \
         clusterings by {:.3} (average normalised mutual information). {} of {} objects ({:.0} %) \
         are supported by the clusterings at least twice as much in their cluster as in any other.{followed}",
        info.map_or(name, |info| info.title),
        info.map_or("", |info| info.reference),
        record["version"].as_str().unwrap_or_default(),
        record["seed"],
        consensus["k"],
        listed(&sizes, 12),
        consensus["anmi"].as_f64().unwrap_or(f64::NAN),
        count(safe.0),
        count(safe.1),
        100.0 * safe.0 as f64 / safe.1.max(1) as f64,
    );
    text + &combined
}

/// References for a bibliography.
pub fn bibtex(record: &Value) -> String {
    let version = record["version"].as_str().unwrap_or_default();
    let mut text = format!(
        "@software{{consilience,\n  title   = {{consilience: consensus clustering}},\n  author  = \
         {{{{The consilience developers}}}},\n  version = {{{version}}}\n}}\n"
    );
    let name = record["consensus"]["method"].as_str().unwrap_or_default();
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
        let record = json!({
            "seed": 7,
            "inputs": [
                { "file": "my data.csv" },
                { "file": "start.csv", "as": "init" },
                { "file": "old/labels.csv", "as": "align_to" },
            ],
            "command": {
                "name": "run", "method": "scec", "k": 3, "set": { "alpha": "0.5" },
                "init": "start.csv", "align_to": "old/labels.csv", "size": 20, "scheme": "random-k", "base": "kmeans",
                "base_k": { "between": [2, 8] }, "scale": "none", "id": "it's", "drop": ["note"], "soft": true,
            },
        });
        assert_eq!(
            command_line(&record),
            r"consilience run 'my data.csv' --method scec --k 3 --init start.csv --align-to old/labels.csv --size 20 --base-k 2..8 --scale none --id 'it'\''s' --soft --set alpha=0.5 --drop note --seed 7 -o results"
        );
        let demo = json!({ "seed": 0, "command": { "name": "demo", "data": "iris" } });
        assert_eq!(command_line(&demo), "consilience demo iris");
        assert!(title(&demo).starts_with(char::is_uppercase));
    }
}
