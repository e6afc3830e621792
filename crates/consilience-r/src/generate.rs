//! Ensembles made from features.

use consilience::ensemble::{HardMember, Member, SoftMember};
use consilience::generate::{
    BaseK, Committee, GenerateParams, Model, NO_CLUSTER, Scheme, base, scheme,
};
use consilience::pipeline::warn_of_columns;
use consilience::{Error, Run};
use extendr_api::prelude::*;

use crate::failure::Outcome;
use crate::given::Given;
use crate::job::{Telling, start};
use crate::told::list;
use crate::{members, models};

/// How members are made.
fn recipe(given: &Given) -> Outcome<consilience::generate::Generator> {
    let base_k = match given.span("base_k")? {
        Some((low, high)) if low == high => BaseK::Exactly(low),
        Some((low, high)) => BaseK::Between(low, high),
        None => BaseK::Auto { consensus: given.some_whole("k")?.map(|k| k as usize) },
    };
    let params = match ((scheme(&given.text("scheme")?)?.make)(), given.some_texts("kinds")?) {
        (Scheme::Committee(committee), None) => GenerateParams::committee(committee, base_k),
        (Scheme::Committee(_), Some(kinds)) => {
            let kinds = kinds.iter().map(String::as_str);
            GenerateParams::committee(Committee::of(kinds)?, base_k)
        }
        (scheme, _) => GenerateParams::new(scheme, (base(&given.text("base")?)?.make)(1)).k(base_k),
    };
    let params = match given.some_whole("size")? {
        Some(size) => params.size(size as usize),
        None => params,
    };
    Ok(params.soft(given.is_true("soft")).check()?)
}

/// Makes an ensemble from features, and the models that label new objects.
#[extendr]
fn make_members(args: List) -> Robj {
    start(&args, |given| {
        let generator = recipe(given)?;
        let (data, names) = (given.matrix("x")?, given.texts("names")?);
        let keep = given.is_true("keep");
        Ok(move |run: &Run| {
            warn_of_columns((&data).into(), &names, run)?;
            let made = generator.ensemble(&data, run)?;
            let seats = serde_json::to_string(&made.seats).unwrap_or_default();
            Ok(Box::new(move || {
                let models = if keep { models::told(&made.models) } else { ().into() };
                list([
                    ("members", members::told(made.ensemble.members())),
                    ("models", models),
                    ("seats", seats.into()),
                ])
            }) as Telling)
        })
    })
}

/// The members' labels of new objects.
#[extendr]
fn label_new(args: List) -> Robj {
    start(&args, |given| {
        let models = models::models(given)?;
        let (data, soft) = (given.matrix("x")?, given.is_true("soft"));
        Ok(move |run: &Run| {
            let member = |(i, model): (usize, &Model)| -> Result<Member, Error> {
                let name = i.to_string();
                if soft {
                    let memberships = model.memberships(&data, run)?;
                    let clusters = (0..memberships.ncols()).map(|j| j.to_string()).collect();
                    return SoftMember::new(name, memberships, clusters).map(Member::from);
                }
                let labels = model.predict(&data, run)?;
                let none = |_, label| label == NO_CLUSTER;
                Ok(HardMember::from_integer_slice(name, &labels, none).into())
            };
            let new = models.iter().enumerate().map(member).collect::<Result<Vec<_>, Error>>()?;
            Ok(Box::new(move || members::told(&new)) as Telling)
        })
    })
}

extendr_module! {
    mod generate;
    fn make_members;
    fn label_new;
}
