//! Measures of agreement and diversity.

use consilience::ensemble::{Contingency, Profiles};
use consilience::metrics::{Diversity, ElementCentric, METRICS, anmi_of_tables, metric};
use consilience::{Error, Run};
use extendr_api::prelude::*;

use crate::failure::Failure;
use crate::job::{Telling, start};
use crate::members::{ensemble, members};
use crate::told::{json, list};

/// The table of measures.
#[extendr]
fn measures() -> Robj {
    serde_json::to_value(METRICS).map_or_else(|_| ().into(), |table| json(&table))
}

/// Measures of agreement of two clusterings.
#[extendr]
fn agreement(args: List) -> Robj {
    start(&args, |given| {
        let pair = ensemble(members(given, "pair")?, given.some_numbers("weights")?)?;
        let names = given.texts("measures")?;
        let chosen = names.iter().map(|name| metric(name)).collect::<Result<Vec<_>, Error>>()?;
        Ok(move |run: &Run| {
            let [a, b] = pair.members() else {
                return Err(Error::parameter("labels", "two", pair.members().len()));
            };
            let compare = || {
                let table = Contingency::new(a, b, pair.weights())?;
                Ok(chosen.iter().map(|measure| (measure.value)(&table)).collect::<Vec<_>>())
            };
            let values = run.install(compare)?;
            Ok(Box::new(move || values.into()) as Telling)
        })
    })
}

/// The average normalised mutual information of a clustering with the members of an ensemble.
#[extendr]
fn mean_agreement(args: List) -> Robj {
    start(&args, |given| {
        let one = members(given, "one")?.pop();
        let one = one.ok_or_else(|| Failure::argument("`labels` is missing"))?;
        let ensemble = ensemble(members(given, "members")?, given.some_numbers("weights")?)?;
        Ok(move |run: &Run| {
            let compare = || {
                let with = |member| Contingency::new(&one, member, ensemble.weights());
                let tables = ensemble.members().iter().map(with);
                Ok(anmi_of_tables(&tables.collect::<Result<Vec<_>, Error>>()?))
            };
            let value: f64 = run.install(compare)?;
            Ok(Box::new(move || value.into()) as Telling)
        })
    })
}

/// How much the members of an ensemble differ.
#[extendr]
fn spread(args: List) -> Robj {
    start(&args, |given| {
        let ensemble = ensemble(members(given, "members")?, given.some_numbers("weights")?)?;
        Ok(move |run: &Run| {
            let profiles = Profiles::new(&ensemble, run)?;
            let diversity = run.install(|| Diversity::of(&profiles));
            let told = serde_json::to_value(diversity).unwrap_or_default();
            Ok(Box::new(move || json(&told)) as Telling)
        })
    })
}

/// The element-centric consistency of every object, and the inconsistency of all.
#[extendr]
fn companions(args: List) -> Robj {
    start(&args, |given| {
        let ensemble = ensemble(members(given, "members")?, given.some_numbers("weights")?)?;
        Ok(move |run: &Run| {
            let profiles = Profiles::new(&ensemble, run)?;
            let found = run.install(|| ElementCentric::of(&profiles));
            let consistency = profiles.expand(&found.consistency);
            let inconsistency = found.inconsistency();
            Ok(Box::new(move || {
                let number =
                    |c: Option<Option<f64>>| c.flatten().map_or(Rfloat::na(), Rfloat::from);
                let consistency: Doubles = consistency.into_iter().map(number).collect();
                list([("consistency", consistency.into()), ("inconsistency", inconsistency.into())])
            }) as Telling)
        })
    })
}

extendr_module! {
    mod agreement;
    fn measures;
    fn agreement;
    fn mean_agreement;
    fn spread;
    fn companions;
}
