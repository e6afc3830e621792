//! How the consensus is found: the arguments that `run` and `combine` share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};

pub(super) const CONSENSUS: &str = "Consensus";

/// How the consensus is found.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = CONSENSUS)]
pub(crate) struct ConsensusArgs {
    /// The consensus method; `consilience methods` lists them [default: auto]
    #[arg(short, long, value_name = "NAME")]
    pub method: Option<String>,

    /// The number of clusters, or auto to let the method choose
    #[arg(
        short,
        long,
        value_name = "K|auto",
        default_value = "auto",
        allow_negative_numbers = true
    )]
    pub k: KChoice,

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

/// `--k K|auto`. A number below 1 is kept as 0: whoever counts clusters refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KChoice(pub Option<usize>);

impl FromStr for KChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(KChoice(None)),
            _ => match text.parse::<i64>() {
                Ok(k) => Ok(KChoice(Some(usize::try_from(k).unwrap_or(0)))),
                Err(_) => Err("give a whole number from 1 on, or `auto`".to_owned()),
            },
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
        assert_eq!("auto".parse(), Ok(KChoice(None)));
        assert_eq!("3".parse(), Ok(KChoice(Some(3))));
        assert_eq!("-3".parse(), Ok(KChoice(Some(0))));
        for bad in ["2.5", "", "many"] {
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
