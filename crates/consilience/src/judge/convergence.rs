//! How majority voting settles as members come in: figures 2 to 4 of Fred's paper.

use crate::consensus::Value;
use crate::ensemble::{
    Code, Contingency, HardMember, Majority, NO_PROFILE, Profiles, components_of_prefixes,
    with_codes,
};
use crate::error::{Error, Result};
use crate::metrics::pc_idx;
use crate::run::Run;

/// The number of clusters and the consistency of [majority voting](crate::consensus::Voting) after
/// the first member of `profiles`, the first two, and so on. The profiles are hard, `weights` those of
/// the objects.
///
/// The table has one row a member and the columns `members`, `clusters`, `pc_idx` (the consistency
/// index with the partition of all members, so that the last is 1) and, if `truth` is given,
/// `pc_idx_truth`. Objects that no member so far labels are left out of both.
///
/// # Errors
///
/// If `truth` is of other objects, if memory does not suffice, or if the run is cancelled.
///
/// # Cost
///
/// One comparison of all pairs of profiles for all rows together, time $O(u^2 r)$, 64 pairs at once;
/// memory $O(u r)$ for every thread.
///
/// ```
/// use consilience::Run;
/// use consilience::consensus::Value;
/// use consilience::ensemble::{Ensemble, HardMember, Majority, Profiles};
/// use consilience::judge::voting_convergence;
///
/// let columns = [[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 1, 1]].map(|labels| labels.map(Some));
/// let members = columns.map(|labels| HardMember::from_integers("", labels).into());
/// let ensemble = Ensemble::new(members.into())?;
/// let run = Run::new(0);
/// let profiles = Profiles::new(&ensemble, &run)?;
/// let table = voting_convergence(&profiles, None, Majority::HALF, None, &run)?;
/// let Value::Table(columns) = table else { unreachable!() };
/// assert_eq!(columns[1], ("clusters".to_owned(), vec![3.0, 3.0, 2.0]));
/// assert_eq!(columns[2], ("pc_idx".to_owned(), vec![0.75, 0.75, 1.0]));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn voting_convergence(
    profiles: &Profiles,
    weights: Option<&[f64]>,
    threshold: Majority,
    truth: Option<&HardMember>,
    run: &Run,
) -> Result<Value> {
    if let Some(truth) = truth.filter(|truth| truth.labels().len() != profiles.n_objects()) {
        return Err(Error::Length {
            what: "the truth".to_owned(),
            got: truth.labels().len(),
            expected_by: "the ensemble".to_owned(),
            expected: profiles.n_objects(),
        });
    }
    let mut after = components_of_prefixes(profiles, threshold, run)?;
    let mut seen = vec![false; profiles.len()];
    for (h, components) in after.iter_mut().enumerate() {
        for (s, component) in components.iter_mut().enumerate() {
            seen[s] |= profiles.is_labelled(s, h);
            if !seen[s] {
                *component = NO_PROFILE;
            }
        }
    }
    let last = after.last().expect("an ensemble has a member");
    let mut columns = vec![
        ("members", (1..=after.len()).map(|h| h as f64).collect::<Vec<f64>>()),
        ("clusters", after.iter().map(|components| n_clusters(components) as f64).collect()),
    ];
    let with_last = |components: &Vec<u32>| {
        let table = Contingency::of_labels(last, components, Some(profiles.weights()))?;
        Ok(pc_idx(&table).index)
    };
    columns.push(("pc_idx", after.iter().map(with_last).collect::<Result<_>>()?));
    if let Some(truth) = truth {
        let with_truth = |components: &Vec<u32>| {
            let of_object = |&s: &u32| components.get(s as usize).copied().unwrap_or(u32::MISSING);
            let labels: Vec<u32> = profiles.map().iter().map(of_object).collect();
            with_codes!(truth.labels(), truth => {
                let table = Contingency::of_labels(truth, &labels, weights)?;
                Ok(pc_idx(&table).index)
            })
        };
        columns.push(("pc_idx_truth", after.iter().map(with_truth).collect::<Result<_>>()?));
    }
    Ok(Value::Table(columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()))
}

fn n_clusters(components: &[u32]) -> usize {
    let mut present: Vec<u32> = components.iter().copied().filter(|&c| c != NO_PROFILE).collect();
    present.sort_unstable();
    present.dedup();
    present.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::Ensemble;
    use crate::testing::{hard_ensemble, profiles};

    fn column(table: &Value, name: &str) -> Vec<f64> {
        let Value::Table(columns) = table else { panic!("not a table: {table:?}") };
        columns.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no `{name}`")).1.clone()
    }

    #[test]
    fn members_count_in_the_order_of_the_ensemble() {
        let run = Run::new(0);
        let truth = HardMember::from_integers("truth", [0, 0, 0, 1, 1, 1].map(Some));
        let fine = [0, 1, 2, 3, 4, 5];
        let halves = [0, 0, 0, 1, 1, 1];
        let one_first = hard_ensemble(&[fine, halves, halves]);
        let table =
            voting_convergence(&profiles(&one_first), None, Majority::HALF, Some(&truth), &run)
                .unwrap();
        assert_eq!(column(&table, "members"), [1.0, 2.0, 3.0]);
        assert_eq!(column(&table, "clusters"), [6.0, 6.0, 2.0]);
        let third = 1.0 / 3.0;
        assert_eq!(column(&table, "pc_idx"), [third, third, 1.0]);
        assert_eq!(column(&table, "pc_idx_truth"), [third, third, 1.0]);
        let one_last = hard_ensemble(&[halves, halves, fine]);
        let table =
            voting_convergence(&profiles(&one_last), None, Majority::HALF, None, &run).unwrap();
        assert_eq!(column(&table, "clusters"), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn objects_without_labels_so_far_are_left_out() {
        let a = HardMember::from_integers("a", [Some(0), Some(0), None, None]);
        let b = HardMember::from_integers("b", [Some(0), Some(0), Some(1), Some(2)]);
        let ensemble = Ensemble::new(vec![a.into(), b.into()]).unwrap();
        let table =
            voting_convergence(&profiles(&ensemble), None, Majority::HALF, None, &Run::new(0))
                .unwrap();
        assert_eq!(column(&table, "clusters"), [1.0, 3.0]);
        assert_eq!(column(&table, "pc_idx"), [1.0, 1.0]);
    }

    #[test]
    fn a_truth_of_other_objects_is_refused() {
        let ensemble = hard_ensemble(&[[0, 1, 1]]);
        let truth = HardMember::from_integers("truth", [Some(0)]);
        let refused = voting_convergence(
            &profiles(&ensemble),
            None,
            Majority::HALF,
            Some(&truth),
            &Run::new(0),
        );
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the truth has 1 entry, but the ensemble has 3"
        );
    }
}
