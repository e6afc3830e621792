//! Values that several commands take: names from the library's tables, and counts.

use clap::builder::{PossibleValue, PossibleValuesParser};
use consilience::base::SCALINGS;
use consilience::data::DATA_SETS;
use consilience::generate::{BASES, SCHEMES};
use consilience::metrics::METRICS;

use super::preset::PRESETS;

/// The measure that is not one of two clusterings.
pub(crate) const INCONSISTENCY: &str = "ic";

/// Names with their one-line descriptions, for the help and for mistyped ones.
fn names(named: impl IntoIterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    named.into_iter().map(|(name, help)| PossibleValue::new(name).help(help)).into()
}

pub(super) fn scheme_names() -> PossibleValuesParser {
    names(SCHEMES.iter().map(|info| (info.name, info.title)))
}

pub(super) fn base_names() -> PossibleValuesParser {
    names(BASES.iter().map(|info| (info.name, info.title)))
}

pub(super) fn scaling_names() -> PossibleValuesParser {
    names(SCALINGS.iter().map(|(name, _, title)| (*name, *title)))
}

/// The measures of pairs, and that of all clusterings together.
pub(super) fn metric_names() -> PossibleValuesParser {
    let of_all =
        (INCONSISTENCY, "inconsistency of all clusterings: 1 if they are equal; without --truth");
    names(METRICS.iter().map(|info| (info.name, info.title)).chain([of_all]))
}

pub(super) fn preset_names() -> PossibleValuesParser {
    names(PRESETS.iter().map(|preset| (preset.name, preset.title)))
}

pub(super) fn dataset_names() -> PossibleValuesParser {
    names(DATA_SETS.iter().map(|info| (info.name, info.title)))
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("give a whole number from 1 on".to_owned()),
    }
}
