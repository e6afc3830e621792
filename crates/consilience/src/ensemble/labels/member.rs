//! One clustering of the ensemble, hard or soft.

use rayon::prelude::*;

use crate::ensemble::labels::{Code, Labels, with_codes};
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// How far the sum of a membership row may be from 1 before it is refused.
pub const MEMBERSHIP_TOLERANCE: f64 = 1e-6;

/// One clustering of the objects.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// Every object is in one cluster, or unlabelled.
    Hard(HardMember),
    /// Every object is in every cluster to some degree, or unlabelled.
    Soft(SoftMember),
}

/// What one member says about one object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Assignment<'a> {
    /// Its cluster, if it has one.
    Label(Option<usize>),
    /// Its memberships in all clusters, all 0 where missing.
    Memberships(&'a [f64]),
}

/// A clustering with one label per object.
#[derive(Clone, Debug, PartialEq)]
pub struct HardMember {
    name: String,
    labels: Labels,
    clusters: Vec<String>,
}

/// A clustering with a row of memberships per object.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftMember {
    name: String,
    memberships: Matrix,
    clusters: Vec<String>,
}

impl HardMember {
    /// A member from label codes and the clusters' names; every cluster must occur.
    ///
    /// [`LabelEncoder`](crate::ensemble::LabelEncoder) makes both from raw labels.
    pub(crate) fn from_parts(name: String, labels: Labels, clusters: Vec<String>) -> Self {
        debug_assert!(labels.iter().flatten().all(|c| c < clusters.len()));
        HardMember { name, labels, clusters }
    }

    /// A member from label codes and the clusters' names, for readers that number labels themselves.
    /// Every code must have a name; every name should occur.
    pub fn from_codes(
        name: impl Into<String>,
        labels: Labels,
        clusters: Vec<String>,
    ) -> Result<Self> {
        let name = name.into();
        fn first_beyond<C: Code>(codes: &[C], clusters: usize) -> Option<usize> {
            codes.iter().position(|code| code.index().is_some_and(|c| c >= clusters))
        }
        let beyond = with_codes!(&labels, codes => first_beyond(codes, clusters.len()));
        if let Some(row) = beyond {
            let problem = format!("there are names for {} clusters only", clusters.len());
            return Err(Error::value(format!("member `{name}`"), row, problem));
        }
        Ok(Self::from_parts(name, labels, clusters))
    }

    /// The member's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The label codes, one per object.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The clusters' names, in the order of their codes.
    pub fn clusters(&self) -> &[String] {
        &self.clusters
    }
}

impl SoftMember {
    /// A member from an n × k matrix of memberships.
    ///
    /// Rows must be non-negative and sum to 1 within [`MEMBERSHIP_TOLERANCE`] (they are then
    /// renormalised), or be all zero, which means missing. Clusters without any mass are dropped:
    /// a cluster nobody is in is not a cluster.
    pub fn new(
        name: impl Into<String>,
        mut memberships: Matrix,
        mut clusters: Vec<String>,
    ) -> Result<Self> {
        let name = name.into();
        Error::unless_length(
            format!("the list of cluster names of member `{name}`"),
            clusters.len(),
            "its matrix of memberships, by columns,",
            memberships.ncols(),
        )?;
        for i in 0..memberships.nrows() {
            let row = memberships.row_mut(i);
            let what = || format!("member `{name}`");
            if let Some(j) = row.iter().position(|&m| !m.is_finite() || m < 0.0) {
                let column = Some(clusters[j].clone());
                let problem = format!("a membership must be a number >= 0, got {}", row[j]);
                return Err(Error::Value { what: what(), row: i, column, problem });
            }
            let sum: f64 = row.iter().sum();
            if sum == 0.0 {
                continue;
            }
            if (sum - 1.0).abs() > MEMBERSHIP_TOLERANCE {
                let problem = format!("memberships must sum to 1, they sum to {sum}");
                return Err(Error::value(what(), i, problem));
            }
            // Dividing by an exact 1 changes nothing, so rows that are right stay bit-equal.
            row.iter_mut().for_each(|m| *m /= sum);
        }
        let occurs: Vec<bool> = (0..memberships.ncols())
            .map(|j| memberships.iter_rows().any(|row| row[j] > 0.0))
            .collect();
        if occurs.contains(&false) {
            let kept: Vec<usize> = (0..occurs.len()).filter(|&j| occurs[j]).collect();
            memberships =
                Matrix::from_fn(memberships.nrows(), kept.len(), |i, j| memberships[(i, kept[j])]);
            clusters = kept.iter().map(|&j| clusters[j].clone()).collect();
        }
        Ok(SoftMember { name, memberships, clusters })
    }

    /// The member's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The memberships, n × k; a row of zeros is missing.
    pub fn memberships(&self) -> &Matrix {
        &self.memberships
    }

    /// The clusters' names, in the order of the columns.
    pub fn clusters(&self) -> &[String] {
        &self.clusters
    }
}

impl Member {
    /// The member's name.
    pub fn name(&self) -> &str {
        match self {
            Member::Hard(m) => m.name(),
            Member::Soft(m) => m.name(),
        }
    }

    /// How many objects it covers.
    pub fn n_objects(&self) -> usize {
        match self {
            Member::Hard(m) => m.labels.len(),
            Member::Soft(m) => m.memberships.nrows(),
        }
    }

    /// The clusters' names.
    pub fn clusters(&self) -> &[String] {
        match self {
            Member::Hard(m) => m.clusters(),
            Member::Soft(m) => m.clusters(),
        }
    }

    /// Whether every object has one label at most.
    pub fn is_hard(&self) -> bool {
        matches!(self, Member::Hard(_))
    }

    /// What the member says about object `i`.
    #[inline]
    pub(crate) fn value(&self, i: usize) -> Assignment<'_> {
        match self {
            Member::Hard(m) => Assignment::Label(m.labels.get(i)),
            Member::Soft(m) => Assignment::Memberships(m.memberships.row(i)),
        }
    }

    /// The same member under another name.
    #[must_use]
    pub fn renamed(self, name: impl Into<String>) -> Self {
        let name = name.into();
        match self {
            Member::Hard(m) => Member::Hard(HardMember { name, ..m }),
            Member::Soft(m) => Member::Soft(SoftMember { name, ..m }),
        }
    }

    /// The same member with one label per object: the cluster of largest membership, the first of
    /// equals.
    #[must_use]
    pub fn hardened(&self) -> HardMember {
        match self {
            Member::Hard(m) => m.clone(),
            Member::Soft(m) => {
                let largest = |i: usize| {
                    let row = m.memberships.row(i);
                    argmax(row).filter(|&j| row[j] > 0.0).map_or(u32::MAX, |j| j as u32)
                };
                let largest: Vec<u32> =
                    (0..m.memberships.nrows()).into_par_iter().map(largest).collect();
                let (labels, clusters) = Labels::from_integers(&largest, |_, j| j == u32::MAX);
                let clusters = clusters.iter().map(|&j| m.clusters[j as usize].clone()).collect();
                HardMember::from_parts(m.name.clone(), labels, clusters)
            }
        }
    }
}

impl From<HardMember> for Member {
    fn from(member: HardMember) -> Self {
        Member::Hard(member)
    }
}

impl From<SoftMember> for Member {
    fn from(member: SoftMember) -> Self {
        Member::Soft(member)
    }
}

/// The index of the largest value, the first of equals; `None` of an empty slice.
pub(crate) fn argmax(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|best, j| if values[j] > values[best] { j } else { best })
}

/// The index of the largest value, of those equal but for rounding (1e-12) the first; `None` of an
/// empty slice.
///
/// For scores that are sums of logarithms: scaling all weights moves their last bits, and must not
/// decide between equals.
pub(crate) fn first_of_largest(scores: &[f64]) -> Option<usize> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|&score| score >= most - 1e-12 * most.abs().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(k: usize) -> Vec<String> {
        (0..k).map(|j| j.to_string()).collect()
    }

    #[test]
    fn integers_are_numbered_by_first_appearance() {
        let member = HardMember::from_integers("a", [Some(7), None, Some(-3), Some(7)]);
        assert_eq!(member.clusters(), ["7", "-3"]);
        let codes: Vec<_> = member.labels().iter().collect();
        assert_eq!(codes, [Some(0), None, Some(1), Some(0)]);
    }

    #[test]
    fn the_first_of_equals_is_the_largest_whatever_its_last_bits() {
        assert_eq!(first_of_largest(&[0.1, 0.5 - 1e-15, 0.5, 0.4]), Some(1));
        assert_eq!(first_of_largest(&[-3.0, -2.0]), Some(1));
        assert_eq!(first_of_largest(&[]), None);
    }

    #[test]
    fn codes_without_a_name_are_refused() {
        let labels = Labels::U8(vec![0, u8::MAX, 1]);
        let clusters = vec!["x".to_owned(), "y".to_owned()];
        let member = HardMember::from_codes("a", labels.clone(), clusters).unwrap();
        assert_eq!(
            member,
            HardMember::from_codes("a", labels.clone(), member.clusters().to_vec()).unwrap()
        );
        let error = HardMember::from_codes("a", labels, vec!["x".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "member `a`, row 2: there are names for 1 clusters only");
    }

    #[test]
    fn a_negative_membership_is_refused_with_its_place() {
        let m = Matrix::from_vec(2, 2, vec![0.5, 0.5, -0.5, 1.5]);
        let error = SoftMember::new("fuzzy", m, names(2)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "member `fuzzy`, row 1, column `0`: a membership must be a number >= 0, got -0.5"
        );
    }

    #[test]
    fn a_row_that_does_not_sum_to_one_is_refused() {
        let m = Matrix::from_vec(1, 2, vec![0.5, 0.4]);
        let error = SoftMember::new("fuzzy", m, names(2)).unwrap_err().to_string();
        assert!(error.contains("memberships must sum to 1, they sum to 0.9"), "{error}");
    }

    #[test]
    fn clusters_without_mass_are_dropped_and_zero_rows_are_missing() {
        let m = Matrix::from_vec(2, 3, vec![0.25, 0.0, 0.75, 0.0, 0.0, 0.0]);
        let member = Member::Soft(SoftMember::new("fuzzy", m, names(3)).unwrap());
        assert_eq!(member.clusters(), ["0", "2"]);
        let hard: Vec<_> = member.hardened().labels().iter().collect();
        assert_eq!(hard, [Some(0), None]);
        assert_eq!(member.hardened().clusters(), ["2"]);
    }
}
