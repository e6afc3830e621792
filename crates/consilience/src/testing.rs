//! Random ensembles for the property tests of this crate.

use proptest::prelude::*;

use crate::ensemble::{Ensemble, HardMember, Member, Profiles, SoftMember};
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// What random ensembles may contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinds {
    /// Members with memberships instead of labels.
    pub(crate) soft: bool,
    /// Objects that a member does not label.
    pub(crate) missing: bool,
    /// Object weights other than 1.
    pub(crate) weights: bool,
}

impl Kinds {
    /// Hard, complete labels without weights.
    pub(crate) const PLAIN: Kinds = Kinds { soft: false, missing: false, weights: false };
    /// Hard labels, some missing, with weights.
    pub(crate) const HARD: Kinds = Kinds { soft: false, missing: true, weights: true };
    /// Everything.
    pub(crate) const ALL: Kinds = Kinds { soft: true, missing: true, weights: true };
}

/// Ensembles of 1 to `max_n` objects and 1 to `max_r` members with at most four clusters each, so
/// that equal tuples are frequent. Every member labels at least the first object.
pub(crate) fn ensembles(
    kinds: Kinds,
    max_n: usize,
    max_r: usize,
) -> impl Strategy<Value = Ensemble> {
    (1..=max_n, 1..=max_r).prop_flat_map(move |(n, r)| {
        let members: Vec<_> = (0..r).map(|h| member(kinds, n, h)).collect();
        let weights = prop::collection::vec(prop_oneof![Just(1.0), Just(2.0), 0.25..4.0], n);
        (members, weights).prop_map(move |(members, weights)| {
            let ensemble = Ensemble::new(members).expect("every member labels the first object");
            if kinds.weights {
                ensemble.with_weights(weights).expect("weights are positive")
            } else {
                ensemble
            }
        })
    })
}

fn member(kinds: Kinds, n: usize, h: usize) -> BoxedStrategy<Member> {
    let missing = if kinds.missing { 0.2 } else { 0.0 };
    let label = move |i: usize| {
        let missing = if i == 0 { 0.0 } else { missing };
        (prop::bool::weighted(missing), 0..4i64).prop_map(|(gone, label)| (!gone).then_some(label))
    };
    let hard = (0..n)
        .map(label)
        .collect::<Vec<_>>()
        .prop_map(move |labels| Member::from(HardMember::from_integers(format!("m{h}"), labels)));
    if !kinds.soft {
        return hard.boxed();
    }
    let row = move |i: usize| {
        let missing = if i == 0 { 0.0 } else { missing };
        // Quarters, so that equal rows occur and sums are exact.
        (prop::bool::weighted(missing), prop::sample::select(SOFT_ROWS))
            .prop_map(|(gone, row)| if gone { [0.0; 3] } else { row })
    };
    let soft = (0..n).map(row).collect::<Vec<_>>().prop_map(move |rows| {
        let memberships = Matrix::from_vec(rows.len(), 3, rows.concat());
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let member = SoftMember::new(format!("m{h}"), memberships, names);
        Member::from(member.expect("rows sum to 1"))
    });
    prop_oneof![hard, soft].boxed()
}

const SOFT_ROWS: &[[f64; 3]] = &[
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.5, 0.25, 0.25],
    [0.25, 0.5, 0.25],
    [0.0, 0.5, 0.5],
    [0.25, 0.0, 0.75],
];

/// The profiles of `ensemble`.
pub(crate) fn profiles(ensemble: &Ensemble) -> Profiles {
    Profiles::new(ensemble, &Run::new(0)).expect("a small ensemble has profiles")
}

/// The ensemble of hard, complete members with these labels, one slice a member.
pub(crate) fn hard_ensemble<const N: usize>(members: &[[i64; N]]) -> Ensemble {
    let member = |(h, labels): (usize, &[i64; N])| {
        HardMember::from_integers(format!("m{h}"), labels.map(Some)).into()
    };
    Ensemble::new(members.iter().enumerate().map(member).collect()).expect("members of one length")
}

/// The example of Strehl and Ghosh (2002, Table 1): seven objects, and a fourth clustering with gaps.
pub(crate) fn strehl_and_ghosh() -> Ensemble {
    let members = [
        [1, 1, 1, 2, 2, 3, 3],
        [2, 2, 2, 3, 3, 1, 1],
        [1, 1, 2, 2, 3, 3, 3],
        [1, 2, 0, 1, 2, 0, 0],
    ];
    let member = |(h, labels): (usize, &[i64; 7])| {
        let labels = labels.map(|c| (c > 0).then_some(c));
        HardMember::from_integers(format!("m{h}"), labels).into()
    };
    Ensemble::new(members.iter().enumerate().map(member).collect()).expect("members of one length")
}

/// The dense $u \times K$ incidence matrix $H$.
pub(crate) fn dense_incidence(profiles: &Profiles) -> Matrix {
    let mut h = Matrix::zeros(profiles.len(), profiles.n_clusters());
    for s in 0..profiles.len() {
        profiles.for_each_entry(s, |_, c, p| h[(s, c)] = p);
    }
    h
}

/// 12 members' labels of `n` objects in three clusters by turns, a third of them one of five at random.
pub(crate) fn three_noisy_clusters(n: usize, seed: u64) -> Ensemble {
    let mut rng = Rng::new(seed, Stream::Data);
    let mut label = |i| if rng.below(3) == 0 { rng.below(5) as i64 } else { i as i64 % 3 };
    let member = |h: usize| {
        let labels: Vec<_> = (0..n).map(|i| Some(label(i))).collect();
        HardMember::from_integers(h.to_string(), labels).into()
    };
    Ensemble::new((0..12).map(member).collect()).expect("members of one length")
}
