//! Members of an ensemble, from and to R: a list with the name, the names of the clusters, and either
//! codes into these (from 1, `NA` where there is no label) or a matrix of memberships.

use consilience::Matrix;
use consilience::ensemble::{Ensemble, HardMember, Labels, Member, SoftMember};
use extendr_api::prelude::*;

use crate::failure::Outcome;
use crate::given::{Given, place};
use crate::told::{list, matrix, places};

/// The member that R describes.
fn member(given: &Given) -> Outcome<Member> {
    let (name, clusters) = (given.text("name")?, given.texts("clusters")?);
    if given.some("memberships").is_some() {
        let memberships = given.matrix("memberships")?;
        return Ok(SoftMember::new(name, memberships, clusters)?.into());
    }
    let codes = given.integers("codes")?.iter().map(|&code| place(code));
    // A code without a name is told by the library, once codes are wide enough to hold it.
    let most = codes.clone().flatten().max().map_or(0, |most| most + 1);
    let labels = Labels::from_indices(most.max(clusters.len()), codes);
    Ok(HardMember::from_codes(name, labels, clusters)?.into())
}

/// The members in the argument `name`.
pub(crate) fn members(given: &Given, name: &str) -> Outcome<Vec<Member>> {
    given.lists(name)?.iter().map(member).collect()
}

/// The ensemble of these members, with weights of the objects if there are any.
pub(crate) fn ensemble(members: Vec<Member>, weights: Option<Vec<f64>>) -> Outcome<Ensemble> {
    let ensemble = Ensemble::new(members)?;
    Ok(match weights {
        Some(weights) => ensemble.with_weights(weights)?,
        None => ensemble,
    })
}

/// What R is told of a hard member.
pub(crate) fn told_hard(
    name: &str,
    clusters: &[String],
    codes: impl Iterator<Item = Option<usize>>,
) -> Robj {
    let clusters: Vec<&str> = clusters.iter().map(String::as_str).collect();
    list([("name", name.into()), ("clusters", clusters.into()), ("codes", places(codes))])
}

/// What R is told of a soft member.
pub(crate) fn told_soft(name: &str, clusters: &[String], memberships: &Matrix) -> Robj {
    let clusters: Vec<&str> = clusters.iter().map(String::as_str).collect();
    list([
        ("name", name.into()),
        ("clusters", clusters.into()),
        ("memberships", matrix(memberships)),
    ])
}

/// What R is told of members.
pub(crate) fn told(members: &[Member]) -> Robj {
    let member = |member: &Member| match member {
        Member::Hard(hard) => told_hard(hard.name(), hard.clusters(), hard.labels().iter()),
        Member::Soft(soft) => told_soft(soft.name(), soft.clusters(), soft.memberships()),
    };
    List::from_values(members.iter().map(member)).into()
}
