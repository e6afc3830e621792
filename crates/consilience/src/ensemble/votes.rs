//! Whom the members vote for: how their clusters are spread over the clusters of one clustering.

use crate::ensemble::profiles::Profiles;
use crate::linalg::Matrix;

/// How the clusters of all members are spread over the clusters of one clustering of the profiles.
///
/// An object's cluster in member $h$ votes for each cluster of the clustering by the share of its
/// objects that lie there.
///
/// ```
/// use consilience::Run;
/// use consilience::ensemble::{Ensemble, HardMember, Profiles, Votes};
/// let a = HardMember::from_integers("a", [0, 0, 0, 1].map(Some));
/// let b = HardMember::from_integers("b", [0, 0, 1, 1].map(Some));
/// let ensemble = Ensemble::new(vec![a.into(), b.into()])?;
/// let profiles = Profiles::new(&ensemble, &Run::new(0))?;
/// let votes = Votes::new(&profiles, &[0, 0, 1], 2);
/// // The third object: all of a's cluster 0 is in cluster 0, half of b's cluster 1.
/// assert_eq!(votes.share(3), [0.5, 0.5]);
/// assert_eq!(votes.support(&profiles, 1), [0.75, 0.25]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Votes {
    /// The weight of every cluster of the members.
    mass: Vec<f64>,
    /// The weight that it shares with every cluster of the clustering.
    shared: Matrix,
}

impl Votes {
    /// The votes for the clustering `labels` of the profiles into `k` clusters; a label of `k` or
    /// above means none.
    ///
    /// # Panics
    ///
    /// If there is not one label a profile.
    pub fn new(profiles: &Profiles, labels: &[u32], k: usize) -> Self {
        assert_eq!(labels.len(), profiles.len(), "one label a profile");
        let mut mass = vec![0.0; profiles.n_clusters()];
        let mut shared = Matrix::zeros(profiles.n_clusters(), k);
        for (s, (&label, &w)) in labels.iter().zip(profiles.weights()).enumerate() {
            profiles.for_each_entry(s, |_, c, p| {
                mass[c] += w * p;
                if (label as usize) < k {
                    shared[(c, label as usize)] += w * p;
                }
            });
        }
        Votes { mass, shared }
    }

    /// The share of cluster `c`, counted through all members, in every cluster of the clustering.
    pub fn share(&self, c: usize) -> Vec<f64> {
        self.shared.row(c).iter().map(|shared| shared / self.mass[c]).collect()
    }

    /// The share of cluster `c`, counted through all members, in one cluster of the clustering.
    pub fn share_of(&self, c: usize, label: usize) -> f64 {
        self.shared[(c, label)] / self.mass[c]
    }

    /// The support of profile `s` for every cluster: the members' votes, averaged over those that
    /// label it (weighted by membership where soft).
    pub fn support(&self, profiles: &Profiles, s: usize) -> Vec<f64> {
        (0..self.shared.ncols()).map(|label| self.support_of(profiles, s, label)).collect()
    }

    /// The support of profile `s` for one cluster, in [0, 1].
    pub fn support_of(&self, profiles: &Profiles, s: usize, label: usize) -> f64 {
        let (mut sum, mut votes) = (0.0, 0.0);
        profiles.for_each_entry(s, |_, c, p| {
            sum += p * self.shared[(c, label)] / self.mass[c];
            votes += p;
        });
        (sum / votes).clamp(0.0, 1.0)
    }
}
