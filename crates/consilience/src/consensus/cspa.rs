//! CSPA: the cluster-based similarity partitioning algorithm.
//!
//! A. Strehl, J. Ghosh. *Cluster Ensembles: A Knowledge Reuse Framework for Combining Multiple
//! Partitions.* Journal of Machine Learning Research 3, 2002, section 3.2.
//!
//! Objects are the vertices of a graph, the similarity $S = H H^T / r$ (the share of members that
//! put two objects together) its edges; the graph is cut in $k$ parts of about equal size.
//!
//! Balance is part of the method: it cannot find clusters of unequal size, and it parts equal
//! objects where that evens the sizes. Therefore heavy profiles are vertices in
//! chunks, joined by the similarity they have; between chunks of weights
//! $w_a$ and $w_b$ an edge is $w_a w_b S_{ab}$. A cut that keeps profiles whole costs the same as in
//! the graph of all objects.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels.* $S$ is divided by $r$, whether or not all members label an object.
//! * *Order.* Which of several equal objects go where is drawn, not read off the order of the rows:
//!   in a file sorted by class the original parts equal objects along the classes, and scores for it.
//!
//! # Cost
//!
//! Time $O(v u r)$ and the cut, memory $O(v^2)$ for $v \le u + 100 k$ vertices.

use rayon::prelude::*;

use crate::consensus::balanced::of_chunks;
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{at_least, params};
use crate::ensemble::{Chunks, Profiles};
use crate::error::Result;
use crate::graph::Graph;
use crate::run::Run;

/// What there is to know about similarity partitioning.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "cspa",
    title: "similarity partitioning: the graph of co-associations cut in equal parts",
    reference: "A. Strehl, J. Ghosh. Cluster Ensembles: A Knowledge Reuse Framework for Combining \
                Multiple Partitions. JMLR 3, 2002.",
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    time: "O(v u r) and the cut, v <= u + 100 k",
    memory: "O(v^2)",
    ..Cspa::DECLARED
};

params! {
    /// [CSPA](self): similarity partitioning: the graph of co-associations cut in equal parts.
    pub struct Cspa(k): INFO {
        /// How much heavier than the mean a part may be, as a share.
        imbalance: f64 = 0.03, at_least(0.0);
    }
}

impl ConsensusMethod for Cspa {
    fn cost(&self, shape: &Shape) -> u64 {
        let v = Chunks::most(shape.n, shape.u, self.k) as u64;
        // The edges, then as whole numbers, then METIS's copy and its coarser graphs.
        48 * v * v + 8 * (shape.n as u64 + 16 * v)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("similarities", 0, Some(2))?;
        let chunks = Chunks::new(profiles, self.k);
        let graph = Graph::new(&chunks.weights, &similarities(profiles, &chunks, run)?);
        run.tick("cut", 1, Some(2))?;
        let parts = graph.partition(self.k, self.imbalance, run)?;
        let consensus = of_chunks(INFO.name, profiles, &chunks, &parts, self.k, run);
        run.tick("cut", 2, Some(2))?;
        Ok(consensus)
    }
}

/// For every chunk the others it shares clusters with, and the weight of the edge.
fn similarities(profiles: &Profiles, chunks: &Chunks, run: &Run) -> Result<Vec<Vec<(u32, f64)>>> {
    let r = profiles.n_members() as f64;
    let scratch = || (vec![0.0; profiles.n_clusters()], vec![0.0; profiles.len()]);
    let row = |(own, similar): &mut (Vec<f64>, Vec<f64>), a: usize| {
        run.check()?;
        let s = chunks.profiles[a] as usize;
        own.fill(0.0);
        profiles.for_each_entry(s, |_, c, p| own[c] = p / r);
        for (t, similar) in similar.iter_mut().enumerate() {
            *similar = 0.0;
            profiles.for_each_entry(t, |_, c, p| *similar += own[c] * p);
        }
        let edge = |b: usize| {
            let similarity = similar[chunks.profiles[b] as usize];
            let weight = chunks.weights[a] * chunks.weights[b] * similarity;
            (a != b && weight > 0.0).then_some((b as u32, weight))
        };
        Ok((0..chunks.len()).filter_map(edge).collect())
    };
    (0..chunks.len()).into_par_iter().map_init(scratch, row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::ensemble::Ensemble;
    use crate::testing::{hard_ensemble, profiles, strehl_and_ghosh};

    fn cspa(ensemble: &Ensemble, k: usize) -> Vec<Option<u32>> {
        let profiles = profiles(ensemble);
        let method = Cspa::new(k);
        combine(&profiles, &method, None, &Run::new(0)).unwrap().object_labels(&profiles)
    }

    /// The example of the paper, whose answer is $(2, 2, 2, 3, 3, 1, 1)$.
    #[test]
    fn seven_objects_of_the_paper_are_combined() {
        assert_eq!(cspa(&strehl_and_ghosh(), 3), [0, 0, 0, 1, 1, 2, 2].map(Some));
    }

    /// All members agree on 53 and 97; two even parts must tear the larger group apart, and only it.
    #[test]
    fn balance_parts_equal_objects() {
        let labels: [i64; 150] = std::array::from_fn(|i| i64::from(i >= 53));
        let found = cspa(&hard_ensemble(&[labels; 9]), 2);
        let larger = found.iter().filter(|&&label| label == Some(0)).count();
        assert!((75..=77).contains(&larger), "{larger}");
        assert!(found[..53].iter().all(|label| *label == found[0]));
        // Which of the larger group go is a draw, not the order of the rows.
        let torn: Vec<bool> = found[53..].iter().map(|label| *label == found[0]).collect();
        assert!(torn.windows(2).filter(|pair| pair[0] != pair[1]).count() > 10);
    }

    #[test]
    fn an_imbalance_below_nought_is_refused() {
        let build = |value: &str| {
            let settings = Settings::from_iter([("imbalance", value)]);
            method("cspa").unwrap().with(Some(2), &settings).map(|_| ())
        };
        for bad in ["-0.1", "NaN", "inf"] {
            assert!(build(bad).is_err(), "{bad}");
        }
        assert_eq!(build("0"), Ok(()));
    }
}
