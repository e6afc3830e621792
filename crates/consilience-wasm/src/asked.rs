//! The settings of the page, and the same as options of the command line.

use bytes::Bytes;
use consilience::consensus::{MethodInfo, Offers};
use consilience::generate::{BaseK, Committee, GenerateParams};
use consilience::pipeline::{Checked, Clusters, Methods, Recipe, Request};
use consilience_io::{Held, ReadOptions};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;

/// What the page is told: every field may be left out.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Asked {
    /// What the file is called.
    pub name: String,
    /// What it holds: `clusterings`, `features`, or nothing if that is to be seen.
    pub kind: String,
    /// The number of clusters as the command line takes it; nothing means `auto`.
    pub k: String,
    /// The method; nothing means `auto`.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The column of identifiers; nothing if one is to be looked for, `none` if there is none.
    pub id: String,
    /// The column of known classes: compared with, and nothing else.
    pub truth: String,
    /// Columns to leave out, commas between.
    pub drop: String,
    /// Words that mean a missing value, commas between.
    pub missing: String,
    /// How decimals are written in text: `,` or nothing, which means a point.
    pub decimal: String,
}

/// Methods that part a graph by METIS, which is C code and not in the page: another program would give another answer.
const BY_METIS: [&str; 3] = ["cspa", "mcla", "hbgf"];

impl Asked {
    /// Whether the page offers a method: labels are all it has, and no METIS.
    pub fn offers(info: &MethodInfo) -> bool {
        !info.edges && !BY_METIS.contains(&info.name)
    }

    /// The method's name.
    pub(crate) fn method(&self) -> &str {
        if self.method.is_empty() { "auto" } else { &self.method }
    }

    /// The column of identifiers that was named.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(self.id.as_str()).filter(|id| !id.is_empty() && *id != "none")
    }

    /// The column of known classes.
    pub(crate) fn truth(&self) -> Option<&str> {
        Some(self.truth.as_str()).filter(|name| !name.is_empty())
    }

    /// Words that mean a missing value.
    pub(crate) fn missing(&self) -> Vec<String> {
        let words = self.missing.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    /// The sign of decimals, if it is not the usual one.
    pub(crate) fn decimal(&self) -> Option<&str> {
        Some(self.decimal.as_str()).filter(|sign| *sign == ",")
    }

    /// What is dropped: one text, which the reader takes apart.
    pub(crate) fn drop(&self) -> Vec<String> {
        Some(self.drop.trim().to_owned()).filter(|names| !names.is_empty()).into_iter().collect()
    }

    /// What is dropped from a table of labels, as the command line has to be told: `combine` knows of no classes.
    pub(crate) fn no_clusterings(&self) -> Vec<String> {
        self.drop().into_iter().chain(self.truth().map(str::to_owned)).collect()
    }

    /// How the file is read; its bytes are in memory.
    pub(crate) fn reading(&self, bytes: Bytes) -> ReadOptions {
        ReadOptions {
            id: self.id().map(str::to_owned),
            drop: self.drop(),
            missing: self.missing(),
            decimal_comma: self.decimal().is_some(),
            held: Some(Held { name: self.name.clone().into(), bytes }),
            ..ReadOptions::default()
        }
    }

    /// The number of clusters.
    pub(crate) fn clusters(&self) -> Result<Clusters, Failure> {
        let wrong = || {
            let problem = format!("{:?} is no number of clusters", self.k);
            let hint = "give a whole number from 1 on, a range such as 2..10, or nothing";
            Failure::Setting(format!("{problem}: {hint}"))
        };
        let text = self.k.trim();
        if text.is_empty() || text == "auto" {
            return Ok(Clusters::Auto);
        }
        let whole = |text: &str| text.trim().parse::<usize>().ok().filter(|k| *k >= 1);
        match text.split_once("..") {
            Some((low, high)) => match (whole(low), whole(high)) {
                (Some(low), Some(high)) if low <= high => Ok(Clusters::Between(low..=high)),
                _ => Err(wrong()),
            },
            None => whole(text).map(Clusters::Exactly).ok_or_else(wrong),
        }
    }

    /// The number of clusters as a record has it.
    pub(crate) fn told_k(&self) -> Result<Value, Failure> {
        Ok(match self.clusters()? {
            Clusters::Exactly(k) => json!(k),
            Clusters::Between(range) => json!(format!("{}..{}", range.start(), range.end())),
            _ => Value::Null,
        })
    }

    /// The request, checked.
    pub(crate) fn request(&self) -> Result<Checked, Failure> {
        if BY_METIS.contains(&self.method()) {
            return Err(Failure::Setting(format!(
                "`{}` parts a graph by METIS, which is not in this page: choose another method, or use the \
                 command line",
                self.method()
            )));
        }
        let methods = Methods::named(self.method())?;
        let request = Request {
            methods,
            clusters: self.clusters()?,
            wanted: Offers::default(),
            ..Request::default()
        };
        Ok(request.check()?)
    }

    /// How features are clustered: as `consilience run` does unless it is told otherwise.
    pub(crate) fn recipe(&self) -> Result<Recipe, Failure> {
        let k = BaseK::Auto { consensus: self.clusters()?.exactly() };
        let generator = GenerateParams::committee(Committee::default(), k).check()?;
        Ok(Recipe { generator, scaling: "zscore".parse()? })
    }

    /// The command line that does the same with this file, as the command `name`.
    pub(crate) fn command(&self, name: &str, id: Option<&str>) -> String {
        let mut words = vec!["consilience".to_owned(), name.to_owned(), quoted(&self.name)];
        let mut option = |name: &str, value: &str| {
            words.extend([name.to_owned(), quoted(value)]);
        };
        if let Some(id) = id {
            option("--id", id);
        }
        if let Some(truth) = self.truth().filter(|_| name == "run") {
            option("--truth", truth);
        }
        let dropped = if name == "run" { self.drop() } else { self.no_clusterings() };
        dropped.iter().for_each(|names| option("--drop", names));
        self.missing().iter().for_each(|word| option("--missing", word));
        if let Some(sign) = self.decimal() {
            option("--decimal", sign);
        }
        if self.method() != "auto" {
            option("--method", self.method());
        }
        match self.k.trim() {
            "" | "auto" => {}
            k => option("--k", k),
        }
        if self.seed != 0 {
            option("--seed", &self.seed.to_string());
        }
        if name == "run" {
            option("-o", "results");
            // Otherwise the command refuses numbers that look like labels.
            words.extend((self.kind == "features").then(|| "--as-features".to_owned()));
        } else {
            option("-o", "labels-consensus.csv");
            option("--report", "report.html");
        }
        words.join(" ")
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_clusters_is_read_as_the_command_line_reads_it() {
        let of = |k: &str| Asked { k: k.to_owned(), ..Asked::default() }.clusters();
        assert_eq!(of("").unwrap(), Clusters::Auto);
        assert_eq!(of(" 3 ").unwrap(), Clusters::Exactly(3));
        assert_eq!(of("2..10").unwrap(), Clusters::Between(2..=10));
        for wrong in ["0", "-1", "many", "4..2", "0..3", "2.5"] {
            assert!(of(wrong).unwrap_err().to_string().contains("whole number"), "{wrong}");
        }
    }

    #[test]
    fn what_needs_metis_is_refused() {
        for method in BY_METIS {
            let asked = Asked { method: method.to_owned(), k: "3".to_owned(), ..Asked::default() };
            let refusal = asked.request().err().expect("refused").to_string();
            assert!(refusal.contains("METIS") && refusal.contains("command line"), "{refusal}");
        }
        assert!(Asked::default().request().is_ok());
    }

    #[test]
    fn the_command_line_is_what_a_shell_takes() {
        let asked = Asked {
            name: "it's labels.csv".to_owned(),
            k: "3".to_owned(),
            missing: "?, none,-1".to_owned(),
            decimal: ",".to_owned(),
            seed: 7,
            ..Asked::default()
        };
        assert_eq!(
            asked.command("combine", Some("patient")),
            r"consilience combine 'it'\''s labels.csv' --id patient --missing '?' --missing none --missing -1 --decimal , --k 3 --seed 7 -o labels-consensus.csv --report report.html"
        );
        let asked = Asked { name: "d.csv".to_owned(), truth: "a b".to_owned(), ..Asked::default() };
        assert_eq!(asked.command("run", None), "consilience run d.csv --truth 'a b' -o results");
    }

    #[test]
    fn the_command_line_is_told_what_was_chosen() {
        let asked = Asked {
            name: "d.csv".to_owned(),
            kind: "features".to_owned(),
            truth: "class".to_owned(),
            drop: "a,b".to_owned(),
            ..Asked::default()
        };
        assert_eq!(
            asked.command("run", None),
            "consilience run d.csv --truth class --drop a,b -o results --as-features"
        );
        let asked = Asked { kind: "clusterings".to_owned(), ..asked };
        assert_eq!(
            asked.command("combine", None),
            "consilience combine d.csv --drop a,b --drop class -o labels-consensus.csv --report report.html"
        );
    }
}
