//! Average normalised mutual information of a consensus with the members.

use rayon::prelude::*;

use crate::ensemble::{Contingency, Profiles};
use crate::metrics::Information;

/// The average normalised mutual information of a clustering of the profiles with the members
/// (Strehl and Ghosh 2002): $\phi = \sum_q n_q \mathrm{NMI}_q / \sum_q n_q$, geometric, $n_q$ being
/// the weight of the objects that member $q$ labels.
///
/// *Range* [0, 1]; larger means that the consensus keeps more of what the members say.
///
/// *Degenerate cases.* Unlike [`nmi`](crate::metrics::nmi), a member or consensus of one cluster
/// gives 0, whatever the other: agreeing that everything is one is no information. A member that
/// shares no labelled object with the consensus has weight 0; if none does, the average is 0.
///
/// # Panics
///
/// If there is not one label a profile.
///
/// # Cost
///
/// Time $O(u r)$.
pub fn anmi(profiles: &Profiles, labels: &[u32]) -> f64 {
    let of_member = |q| weighted_nmi(&Contingency::of_consensus(profiles, labels, q));
    let members: Vec<_> = (0..profiles.n_members()).into_par_iter().map(of_member).collect();
    average(&members)
}

/// The same average of a clustering that is not one of profiles, from its contingency tables with
/// the members.
pub fn anmi_of_tables(tables: &[Contingency]) -> f64 {
    average(&tables.iter().map(weighted_nmi).collect::<Vec<_>>())
}

/// A member's weight and NMI.
fn weighted_nmi(table: &Contingency) -> (f64, f64) {
    let Information { mutual, row_entropy, column_entropy } = Information::of(table);
    let scale = (row_entropy * column_entropy).sqrt();
    let nmi = if scale > 0.0 { (mutual / scale).min(1.0) } else { 0.0 };
    (table.total(), nmi)
}

fn average(members: &[(f64, f64)]) -> f64 {
    let weight: f64 = members.iter().map(|(n_q, _)| n_q).sum();
    let sum: f64 = members.iter().map(|(n_q, nmi)| n_q * nmi).sum();
    if weight > 0.0 { (sum / weight).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::metrics::{Normalisation, nmi};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};
    use proptest::prelude::*;

    #[test]
    fn members_count_by_the_objects_they_label() {
        let a = HardMember::from_integers("a", [0, 0, 1, 1].map(Some));
        let b = HardMember::from_integers("b", [Some(0), Some(1), None, None]);
        let ensemble = Ensemble::new(vec![a.into(), b.into()]).unwrap();
        let profiles = profiles(&ensemble);
        let labels: Vec<u32> = vec![0, 0, 1];
        assert_eq!(profiles.weights(), [1.0, 1.0, 2.0]);
        // Four objects agree wholly with a; on b's two the consensus is one cluster.
        assert_eq!(anmi(&profiles, &labels), 4.0 / 6.0);
    }

    #[test]
    fn tables_and_profiles_tell_the_same() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 2], [0, 1, 1, 0, 0]]));
        let labels = [0, 1, 0, 1, 1];
        let table = |q| Contingency::of_consensus(&profiles, &labels, q);
        let found = anmi_of_tables(&[table(0), table(1)]);
        assert!(found > 0.0 && found < 1.0);
        assert_eq!(found, anmi(&profiles, &labels));
        assert_eq!(anmi_of_tables(&[]), 0.0, "nothing to agree with");
    }

    #[test]
    fn one_cluster_is_worth_nothing() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0]]));
        assert_eq!(anmi(&profiles, &[0]), 0.0);
    }

    proptest! {
        /// On profiles as on objects.
        #[test]
        fn profiles_do_not_show(ensemble in ensembles(Kinds::HARD, 12, 4), k in 1..4u32) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % k).collect();
            let of_objects: Vec<Option<u32>> = profiles.expand(&labels);
            let (mut sum, mut total) = (0.0, 0.0);
            for member in ensemble.members() {
                let member = member.hardened();
                let codes: Vec<Option<u32>> =
                    member.labels().iter().map(|c| c.map(|c| c as u32)).collect();
                let table = Contingency::of_labels(&of_objects, &codes, ensemble.weights()).unwrap();
                let informative = table.n_rows() > 1 && table.n_columns() > 1;
                if informative {
                    sum += table.total() * nmi(&table, Normalisation::Geometric);
                }
                total += table.total();
            }
            prop_assert!((anmi(&profiles, &labels) - sum / total).abs() < 1e-12);
        }
    }
}
