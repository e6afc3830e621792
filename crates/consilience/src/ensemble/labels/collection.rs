//! The ensemble: many clusterings of the same objects.

use crate::ensemble::labels::Code;
use crate::ensemble::labels::member::{HardMember, Member};
use crate::ensemble::labels::with_codes;
use crate::error::{Error, Result};

/// Many clusterings of the same objects, with optional object weights.
///
/// A value of this type is proof that there is at least one object and one member, that all
/// members cover the same objects, that each labels some object, and that weights are positive.
///
/// ```
/// use consilience::ensemble::{Ensemble, HardMember};
/// let ensemble = Ensemble::from_labels([[0, 0, 1, 1], [5, 5, 5, 9]])?;
/// assert_eq!((ensemble.n_objects(), ensemble.members().len()), (4, 2));
///
/// // Members with names, and an object that the second does not label.
/// let a = HardMember::from_integers("spring", [0, 0, 1, 1].map(Some));
/// let b = HardMember::from_integers("autumn", [Some(5), Some(5), None, Some(9)]);
/// let ensemble = Ensemble::new(vec![a.into(), b.into()])?;
/// assert_eq!(ensemble.n_missing(), 1);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    members: Vec<Member>,
    weights: Option<Vec<f64>>,
}

impl Ensemble {
    /// An ensemble of these members; every object has weight 1.
    pub fn new(members: Vec<Member>) -> Result<Self> {
        let Some(first) = members.first() else {
            return Err(Error::Empty {
                what: "the ensemble".to_owned(),
                hint: "give at least one clustering".to_owned(),
            });
        };
        let n = first.n_objects();
        if n == 0 {
            return Err(Error::Empty {
                what: format!("member `{}`", first.name()),
                hint: "a clustering needs at least one object".to_owned(),
            });
        }
        for member in &members {
            let by_name = |member: &Member| format!("member `{}`", member.name());
            Error::unless_length(by_name(member), member.n_objects(), by_name(first), n)?;
            if member.clusters().is_empty() {
                return Err(Error::MemberWithoutLabels { member: member.name().to_owned() });
            }
        }
        Ok(Ensemble { members, weights: None })
    }

    /// An ensemble of clusterings that label every object by a whole number, called `0`, `1` and so on.
    pub fn from_labels<C, L>(clusterings: impl IntoIterator<Item = C>) -> Result<Self>
    where
        C: IntoIterator<Item = L>,
        L: Into<i64>,
    {
        let member = |(h, labels): (usize, C)| {
            let labels = labels.into_iter().map(|label| Some(label.into()));
            HardMember::from_integers(h.to_string(), labels).into()
        };
        Ensemble::new(clusterings.into_iter().enumerate().map(member).collect())
    }

    /// The same ensemble with these object weights, all positive.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        let what = "the list of object weights";
        Error::unless_length(what, weights.len(), "the ensemble", self.n_objects())?;
        check_weights(&weights)?;
        Ok(Ensemble { weights: Some(weights), ..self })
    }

    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The object weights, if any were given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The number of objects.
    pub fn n_objects(&self) -> usize {
        self.members[0].n_objects()
    }

    /// Whether all members are hard.
    pub fn is_hard(&self) -> bool {
        self.members.iter().all(Member::is_hard)
    }

    /// The same ensemble with one label per object in every member.
    #[must_use]
    pub fn hardened(&self) -> Ensemble {
        let members = self.members.iter().map(|m| m.hardened().into()).collect();
        Ensemble { members, weights: self.weights.clone() }
    }

    /// How many (object, member) pairs have no label.
    pub fn n_missing(&self) -> usize {
        let missing = |member: &Member| match member {
            Member::Hard(m) => {
                with_codes!(m.labels(), codes => codes.iter().filter(|c| c.index().is_none()).count())
            }
            Member::Soft(m) => {
                m.memberships().iter_rows().filter(|row| row.iter().all(|&p| p == 0.0)).count()
            }
        };
        self.members.iter().map(missing).sum()
    }
}

/// Refuses weights that are not numbers > 0.
pub(crate) fn check_weights(weights: &[f64]) -> Result<()> {
    check_each_weight(weights, |w| w > 0.0, "> 0")
}

/// Refuses weights that are not finite or not in the `range` that `fits` says.
pub(crate) fn check_each_weight(
    weights: &[f64],
    fits: impl Fn(f64) -> bool,
    range: &str,
) -> Result<()> {
    match weights.iter().position(|&w| !w.is_finite() || !fits(w)) {
        None => Ok(()),
        Some(row) => {
            let problem = format!("a weight must be a finite number {range}, got {}", weights[row]);
            Err(Error::value("object weights", row, problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::HardMember;

    fn member(name: &str, labels: &[Option<i64>]) -> Member {
        HardMember::from_integers(name, labels.iter().copied()).into()
    }

    #[test]
    fn members_of_different_lengths_are_refused_by_name() {
        let members = vec![member("a", &[Some(0), Some(1)]), member("b", &[Some(0)])];
        assert_eq!(
            Ensemble::new(members).unwrap_err().to_string(),
            "member `b` has 1 entry, but member `a` has 2"
        );
    }

    #[test]
    fn no_member_no_object_no_label_are_refused() {
        assert!(matches!(Ensemble::new(vec![]), Err(Error::Empty { .. })));
        assert!(matches!(Ensemble::new(vec![member("a", &[])]), Err(Error::Empty { .. })));
        let unlabelled = Ensemble::new(vec![member("a", &[None, None])]);
        assert_eq!(unlabelled, Err(Error::MemberWithoutLabels { member: "a".to_owned() }));
    }

    #[test]
    fn weights_must_be_positive_finite_and_one_an_object() {
        let ensemble = Ensemble::new(vec![member("a", &[Some(0), Some(1)])]).unwrap();
        for bad in [vec![1.0], vec![1.0, 0.0], vec![f64::NAN, 1.0], vec![1.0, f64::INFINITY]] {
            assert!(ensemble.clone().with_weights(bad).is_err());
        }
        assert!(ensemble.with_weights(vec![0.5, 2.0]).is_ok());
    }

    #[test]
    fn missing_labels_are_counted() {
        let members = vec![member("a", &[Some(0), None]), member("b", &[None, Some(1)])];
        assert_eq!(Ensemble::new(members).unwrap().n_missing(), 2);
    }
}
