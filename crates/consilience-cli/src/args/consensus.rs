//! How the consensus is found: the arguments that `run` and `combine` share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::UnknownArgumentValueParser;
use clap::{Args, ValueHint};
use consilience::pipeline::Clusters;
use serde_json::{Value, json};

pub(super) const CONSENSUS: &str = "Consensus";

/// How the consensus is found.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = CONSENSUS)]
pub(crate) struct ConsensusArgs {
    /// The consensus method; `consilience methods` lists them [default: auto]
    ///
    /// Several names with commas between, or all, are run side by side: the answer is that of the
    /// highest agreement with the clusterings (ANMI) among those with as many clusters as asked for.
    #[arg(short, long, value_name = "NAME|A,B,..|all")]
    pub method: Option<String>,

    /// The number of clusters, a range to choose from, or auto
    ///
    /// With auto, a method that chooses by itself does; for the others the number is found from the
    /// clusterings, and may be 1 if nothing speaks for clusters. A range such as 2..10 is chosen from.
    #[arg(
        short,
        long,
        value_name = "K|A..B|auto",
        default_value = "auto",
        allow_negative_numbers = true
    )]
    pub k: KChoice,

    /// What other programs call it: told what to give instead.
    #[arg(
        long = "clusters",
        aliases = ["n-clusters", "n_clusters", "num-clusters", "nclusters"],
        hide = true,
        value_parser = UnknownArgumentValueParser::suggest_arg("--k"),
    )]
    _clusters: Option<String>,

    /// Set a parameter of the method (repeatable); `consilience methods NAME` lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<Setting>,

    /// Start the iteration from this clustering instead of at random
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub init: Option<PathBuf>,

    /// Call the clusters as in an earlier result: its labels, or the folder that it is in
    ///
    /// Each cluster gets the number of the earlier one that it continues, matched so that as few
    /// objects as possible move; new clusters get numbers that were not used. Objects are matched by
    /// --id, or row by row. The objects that moved are listed in moved.csv (id,before,now).
    #[arg(long, value_name = "OLD_LABELS", value_hint = ValueHint::AnyPath)]
    pub align_to: Option<PathBuf>,
}

impl ConsensusArgs {
    /// The method; a preset may have set it.
    pub(crate) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or("auto")
    }
}

/// `--k K|A..B|auto`. A number below 1 is kept as 0: whoever counts clusters refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KChoice(pub Clusters);

impl KChoice {
    /// The number, if it is asked for.
    pub(crate) fn exactly(&self) -> Option<usize> {
        self.0.exactly()
    }

    /// As it stands in `result.json`: a number, a text such as `2..10`, or nothing.
    pub(crate) fn told(&self) -> Value {
        match &self.0 {
            // A number that is kept was not given.
            Clusters::Auto | Clusters::Kept(_) => Value::Null,
            Clusters::Exactly(k) => json!(k),
            Clusters::Between(range) => json!(format!("{}..{}", range.start(), range.end())),
        }
    }
}

impl FromStr for KChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        const HELP: &str = "give a whole number from 1 on, a range such as 2..10, or `auto`";
        if text == "auto" {
            return Ok(KChoice(Clusters::Auto));
        }
        if let Some((low, high)) = text.split_once("..") {
            return match (low.trim().parse(), high.trim().parse()) {
                (Ok(low), Ok(high)) if 1 <= low && low <= high => {
                    Ok(KChoice(Clusters::Between(low..=high)))
                }
                _ => Err(HELP.to_owned()),
            };
        }
        match text.parse::<i64>() {
            Ok(k) => Ok(KChoice(Clusters::Exactly(usize::try_from(k).unwrap_or(0)))),
            Err(_) => Err(HELP.to_owned()),
        }
    }
}

/// `--set KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub key: String,
    pub value: String,
}

impl FromStr for Setting {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Setting { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("write it as KEY=VALUE, such as threshold=0.6".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_clusters() {
        assert_eq!("auto".parse(), Ok(KChoice(Clusters::Auto)));
        assert_eq!("3".parse(), Ok(KChoice(Clusters::Exactly(3))));
        assert_eq!("-3".parse(), Ok(KChoice(Clusters::Exactly(0))));
        assert_eq!("2..10".parse(), Ok(KChoice(Clusters::Between(2..=10))));
        for bad in ["2.5", "", "many", "0..3", "5..4", "2.."] {
            assert!(bad.parse::<KChoice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn settings_are_pairs() {
        let setting: Setting = "threshold = 0.6".parse().unwrap();
        assert_eq!((setting.key.as_str(), setting.value.as_str()), ("threshold", "0.6"));
        for bad in ["threshold", "=0.6", "threshold="] {
            assert!(bad.parse::<Setting>().is_err(), "{bad}");
        }
    }
}
