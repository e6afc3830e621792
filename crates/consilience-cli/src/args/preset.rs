//! Presets of `run`: the setting of a paper under one name.

use consilience::generate::BaseK;

use super::data::RunArgs;

/// Options of `run` under one name. Each gives way to the option itself.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    /// What it is, in one line.
    pub(super) title: &'static str,
    size: usize,
    scheme: &'static str,
    base: &'static str,
    base_k: BaseK,
    scale: &'static str,
    method: &'static str,
}

/// All presets.
pub(super) static PRESETS: &[Preset] = &[
    Preset {
        name: "voting-k-means",
        title: "Fred 2001: 50 MacQueen runs of sqrt(n) clusters on the features as they are, then voting",
        size: 50,
        scheme: "random-init",
        base: "macqueen",
        base_k: BaseK::Auto { consensus: None },
        scale: "none",
        method: "voting",
    },
    Preset {
        name: "u-senc",
        title: "Huang et al. 2020: 20 u-spec runs of 20 to 60 clusters, then hbgf",
        size: 20,
        scheme: "random-k",
        base: "u-spec",
        base_k: BaseK::Between(20, 60),
        scale: "none",
        method: "hbgf",
    },
];

impl RunArgs {
    /// The arguments with what the preset says where the user said nothing.
    #[must_use]
    pub(crate) fn with_preset(mut self) -> Self {
        let Some(preset) = self.preset() else { return self };
        let ensemble = &mut self.ensemble;
        ensemble.size.get_or_insert(preset.size);
        ensemble.scheme.get_or_insert_with(|| preset.scheme.to_owned());
        ensemble.base.get_or_insert_with(|| preset.base.to_owned());
        ensemble.base_k.get_or_insert(preset.base_k);
        ensemble.scale.get_or_insert_with(|| preset.scale.to_owned());
        self.consensus.method.get_or_insert_with(|| preset.method.to_owned());
        self
    }

    /// The preset that was asked for.
    pub(crate) fn preset(&self) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| Some(preset.name) == self.preset.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parsed(options: &str) -> RunArgs {
        let arguments = format!("consilience run data.csv -o out {options}");
        let cli = Cli::try_parse_from(arguments.split_whitespace()).unwrap();
        let Command::Run(args) = cli.command else { panic!("`run` was written") };
        args.with_preset()
    }

    #[test]
    fn a_preset_sets_what_was_not_said() {
        let args = parsed("--preset voting-k-means");
        let ensemble = &args.ensemble;
        assert_eq!(
            (ensemble.size(), ensemble.scheme(), ensemble.base()),
            (50, "random-init", "macqueen")
        );
        assert_eq!((ensemble.scale(), args.consensus.method()), ("none", "voting"));
        assert_eq!(ensemble.base_k, Some(BaseK::Auto { consensus: None }));
    }

    #[test]
    fn u_senc_is_u_spec_and_hbgf() {
        let args = parsed("--preset u-senc");
        let ensemble = &args.ensemble;
        assert_eq!((ensemble.size(), ensemble.base()), (20, "u-spec"));
        assert_eq!((ensemble.scale(), args.consensus.method()), ("none", "hbgf"));
        assert_eq!(ensemble.base_k, Some(BaseK::Between(20, 60)));
    }

    #[test]
    fn options_come_before_the_preset() {
        let args = parsed(
            "--size 7 --scheme random-k --base kmeans --base-k 3..4 --scale minmax --method ea-al \
             --preset voting-k-means",
        );
        let ensemble = &args.ensemble;
        assert_eq!(
            (ensemble.size(), ensemble.scheme(), ensemble.base()),
            (7, "random-k", "kmeans")
        );
        assert_eq!((ensemble.scale(), args.consensus.method()), ("minmax", "ea-al"));
        assert_eq!(ensemble.base_k, Some(BaseK::Between(3, 4)));
    }

    #[test]
    fn without_a_preset_the_usual_defaults_hold() {
        let args = parsed("");
        let ensemble = &args.ensemble;
        assert_eq!(
            (ensemble.size(), ensemble.scheme(), ensemble.base()),
            (50, "committee", "kmeans")
        );
        assert_eq!((ensemble.scale(), args.consensus.method()), ("zscore", "auto"));
        assert_eq!(ensemble.base_k, None);
    }
}
