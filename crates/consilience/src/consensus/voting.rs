//! Majority voting: objects that most members put together belong together.
//!
//! A. L. N. Fred. *Finding Consistent Clusters in Data Partitions.* MCS 2001.
//!
//! With $v_{ij}$ the number of members that give objects $i$ and $j$ the same label and $b_{ij}$ the
//! number that label both, $i$ and $j$ are joined when $v_{ij} / b_{ij} > t$ ($t = 1/2$ in the
//! paper); clusters are the connected components.

use crate::consensus::method::{
    ChoosesK, ConsensusMethod, MethodInfo, OnSoft, ParameterInfo, Shape,
};
use crate::consensus::outcome::Consensus;
use crate::consensus::settings::Settings;
use crate::ensemble::{MISSING, Profiles};
use crate::error::{Error, Result};
use crate::graph::UnionFind;
use crate::run::Run;

/// What there is to know about majority voting.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "voting",
    title: "majority voting: components of the graph of pairs that most members join",
    reference: "A. L. N. Fred. Finding Consistent Clusters in Data Partitions. MCS 2001.",
    chooses_k: ChoosesK::Always,
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    takes_start: false,
    parameters: &[ParameterInfo {
        name: "threshold",
        range: "0 <= threshold < 1",
        default: "0.5",
        help: "two objects are joined when more than this share of the members that label both agree",
    }],
    time: "O(u^2 r) at worst, far less when components are large",
    memory: "O(u r)",
    build: |_, settings| {
        let mut params = VotingParams::new();
        if let Some(threshold) = settings.real("threshold")? {
            params = params.threshold(threshold);
        }
        Ok(Box::new(params.check()?))
    },
};

/// Parameters of [majority voting](self), not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct VotingParams {
    threshold: f64,
}

impl Default for VotingParams {
    fn default() -> Self {
        Self::new()
    }
}

impl VotingParams {
    /// The paper's majority: threshold 1/2.
    pub fn new() -> Self {
        VotingParams { threshold: 0.5 }
    }

    /// The share of agreeing members, in [0, 1), above which two objects are joined.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<Voting> {
        // `< 0.0` alone would let NaN through.
        if !(0.0..1.0).contains(&self.threshold) {
            return Err(Error::parameter("threshold", "at least 0 and below 1", self.threshold));
        }
        Ok(Voting(self))
    }
}

/// Majority voting with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Voting(VotingParams);

impl ConsensusMethod for Voting {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn k(&self) -> Option<usize> {
        None
    }

    fn cost(&self, shape: &Shape) -> u64 {
        (shape.u * (8 + 4 * shape.r)) as u64
    }

    fn fit(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let (u, r) = (profiles.len(), profiles.n_members());
        let mut rows = vec![0; u * r];
        for s in 0..u {
            profiles.clusters_into(s, &mut rows[s * r..(s + 1) * r]);
        }
        let row = |s: usize| &rows[s * r..(s + 1) * r];
        let mut sets = UnionFind::new(u);
        for s in 0..u {
            run.check()?;
            for t in s + 1..u {
                let (mut agree, mut both) = (0u32, 0u32);
                for (&a, &b) in row(s).iter().zip(row(t)) {
                    let labelled = a != MISSING && b != MISSING;
                    both += u32::from(labelled);
                    agree += u32::from(labelled && a == b);
                }
                if f64::from(agree) > self.0.threshold * f64::from(both) {
                    sets.union(s, t);
                }
            }
        }
        let labels = sets.labels();
        Ok(Consensus::from_labels(labels, sets.n_sets()))
    }
}
