//! Made-up ensembles for tests: planted, random, unanimous, with ways to write the same ensemble
//! down differently.

// Each test program uses its own part of this.
#![allow(dead_code)]

use consilience::Matrix;
use consilience::ensemble::{Ensemble, HardMember, Member, SoftMember};
use consilience::{Rng, Stream};

/// An ensemble that can still be rearranged: plain columns, one a member.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub(crate) members: Vec<Column>,
    pub(crate) weights: Option<Vec<f64>>,
}

/// One member: its name, the names of its clusters by number, and its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// One label an object.
    Hard(Vec<Option<i64>>),
    /// One row an object, and the name of each cluster.
    Soft(Vec<Vec<f64>>, Vec<i64>),
}

/// A stream of random numbers for test `seed`.
pub(crate) fn rng(seed: u64) -> Rng {
    Rng::new(seed, Stream::Data)
}

impl Draft {
    /// An ensemble of hard members.
    pub(crate) fn hard(columns: impl IntoIterator<Item = Vec<Option<i64>>>) -> Self {
        let columns = columns.into_iter().enumerate();
        let members = columns
            .map(|(h, labels)| Column { name: format!("m{h}"), values: Values::Hard(labels) });
        Draft { members: members.collect(), weights: None }
    }

    /// An ensemble of complete hard members.
    pub(crate) fn complete(columns: &[&[i64]]) -> Self {
        Draft::hard(columns.iter().map(|labels| labels.iter().copied().map(Some).collect()))
    }

    pub(crate) fn n_objects(&self) -> usize {
        match &self.members[0].values {
            Values::Hard(labels) => labels.len(),
            Values::Soft(rows, _) => rows.len(),
        }
    }

    /// The ensemble; random drafts may break its rules, so this can fail.
    pub(crate) fn try_ensemble(&self) -> consilience::Result<Ensemble> {
        let member = |column: &Column| -> consilience::Result<Member> {
            Ok(match &column.values {
                Values::Hard(labels) => {
                    HardMember::from_integers(&column.name, labels.iter().copied()).into()
                }
                Values::Soft(rows, names) => {
                    let matrix = Matrix::from_fn(rows.len(), names.len(), |i, j| rows[i][j]);
                    let names = names.iter().map(ToString::to_string).collect();
                    SoftMember::new(&column.name, matrix, names)?.into()
                }
            })
        };
        let members = self.members.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        let ensemble = Ensemble::new(members)?;
        match &self.weights {
            Some(weights) => ensemble.with_weights(weights.clone()),
            None => Ok(ensemble),
        }
    }

    pub(crate) fn ensemble(&self) -> Ensemble {
        self.try_ensemble().expect("a draft of a proper ensemble")
    }

    /// The same ensemble with object `order[i]` at place `i`; an object may be named twice or not
    /// at all.
    #[must_use]
    pub(crate) fn with_objects(&self, order: &[u32]) -> Self {
        fn pick<T: Clone>(from: &[T], order: &[u32]) -> Vec<T> {
            order.iter().map(|&i| from[i as usize].clone()).collect()
        }
        let members = self.members.iter().map(|column| Column {
            name: column.name.clone(),
            values: match &column.values {
                Values::Hard(labels) => Values::Hard(pick(labels, order)),
                Values::Soft(rows, names) => Values::Soft(pick(rows, order), names.clone()),
            },
        });
        Draft { members: members.collect(), weights: self.weights.as_ref().map(|w| pick(w, order)) }
    }

    /// The same ensemble with member `order[h]` at place `h`.
    #[must_use]
    pub(crate) fn with_members(&self, order: &[u32]) -> Self {
        let members = order.iter().map(|&h| self.members[h as usize].clone()).collect();
        Draft { members, weights: self.weights.clone() }
    }

    /// The same ensemble with the clusters of every member renamed, and soft columns shuffled.
    #[must_use]
    pub(crate) fn renamed(&self, rng: &mut Rng) -> Self {
        let mut draft = self.clone();
        for column in &mut draft.members {
            let (factor, shift) = (1 + 2 * rng.below(50) as i64, rng.below(1000) as i64 - 500);
            match &mut column.values {
                Values::Hard(labels) => {
                    // An odd factor and a sign: distinct labels stay distinct.
                    labels.iter_mut().flatten().for_each(|l| *l = shift - *l * factor);
                }
                Values::Soft(rows, names) => {
                    let order = rng.permutation(names.len());
                    let pick = |row: &Vec<f64>| order.iter().map(|&j| row[j as usize]).collect();
                    *rows = rows.iter().map(pick).collect();
                }
            }
        }
        draft
    }

    /// Every object `times` times, the copies after the originals.
    #[must_use]
    pub(crate) fn repeated(&self, times: usize) -> Self {
        let n = self.n_objects() as u32;
        self.with_objects(&(0..times).flat_map(|_| 0..n).collect::<Vec<_>>())
    }

    #[must_use]
    pub(crate) fn weighing(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// The same ensemble with this share of all labels taken away at random, but never the last
    /// label of an object nor the last of a member.
    #[must_use]
    pub(crate) fn with_gaps(mut self, share: f64, rng: &mut Rng) -> Self {
        let (n, r) = (self.n_objects(), self.members.len());
        let (mut of_object, mut of_member) = (vec![r; n], vec![n; r]);
        for (h, column) in self.members.iter_mut().enumerate() {
            for i in 0..n {
                if rng.unit() < share && of_object[i] > 1 && of_member[h] > 1 {
                    of_object[i] -= 1;
                    of_member[h] -= 1;
                    match &mut column.values {
                        Values::Hard(labels) => labels[i] = None,
                        Values::Soft(rows, _) => rows[i].fill(0.0),
                    }
                }
            }
        }
        self
    }

    /// The same ensemble with every hard label turned into a row that leans on its cluster by
    /// `lean` and more, the rest spread at random.
    #[must_use]
    pub(crate) fn softened(mut self, lean: f64, rng: &mut Rng) -> Self {
        for column in &mut self.members {
            if let Values::Hard(labels) = &column.values {
                let mut names: Vec<i64> = labels.iter().copied().flatten().collect();
                names.sort_unstable();
                names.dedup();
                let row = |label: &Option<i64>| match label {
                    None => vec![0.0; names.len()],
                    Some(label) => {
                        let own = names.iter().position(|name| name == label);
                        let mut row = random_row(names.len(), rng);
                        row.iter_mut().for_each(|p| *p *= 1.0 - lean);
                        row[own.expect("a label has its name")] += lean;
                        let sum: f64 = row.iter().sum();
                        row.iter_mut().for_each(|p| *p /= sum);
                        row
                    }
                };
                let rows = labels.iter().map(row).collect();
                column.values = Values::Soft(rows, names);
            }
        }
        self
    }
}

/// A random row of `k` memberships.
fn random_row(k: usize, rng: &mut Rng) -> Vec<f64> {
    let row: Vec<f64> = (0..k).map(|_| rng.unit() + 1e-3).collect();
    let sum: f64 = row.iter().sum();
    row.into_iter().map(|p| p / sum).collect()
}

/// The partition with clusters of these sizes, its objects shuffled.
pub(crate) fn partition(sizes: &[usize], rng: &mut Rng) -> Vec<i64> {
    let mut labels: Vec<i64> =
        sizes.iter().enumerate().flat_map(|(c, &size)| vec![c as i64; size]).collect();
    rng.shuffle(&mut labels);
    labels
}

/// `r` copies of a partition, each with names of its own.
pub(crate) fn unanimous(truth: &[i64], r: usize, rng: &mut Rng) -> Draft {
    Draft::hard((0..r).map(|_| truth.iter().copied().map(Some).collect())).renamed(rng)
}

/// `r` copies of a partition into `k` clusters in each of which a share `noise` of the labels is
/// redrawn.
pub(crate) fn planted(truth: &[i64], r: usize, noise: f64, rng: &mut Rng) -> Draft {
    let k = truth.iter().max().map_or(1, |&c| c as usize + 1);
    let columns: Vec<Vec<Option<i64>>> = (0..r)
        .map(|_| {
            let label = |&c: &i64| if rng.unit() < noise { rng.below(k) as i64 } else { c };
            truth.iter().map(label).map(Some).collect()
        })
        .collect();
    Draft::hard(columns)
}

/// Any ensemble of up to `n` objects and `r` members: hard, soft or mixed, with or without gaps and
/// weights, members of one cluster and objects without labels among them. Not always proper.
pub(crate) fn anything(n: usize, r: usize, rng: &mut Rng) -> Draft {
    let (n, r) = (rng.between(1, n), rng.between(1, r));
    // Few clusters make many equal objects, many make none.
    let most = rng.between(1, 6).min(n);
    let (soft, gaps) = (rng.below(3), rng.below(2) == 0);
    let columns: Vec<Vec<Option<i64>>> = (0..r)
        .map(|_| {
            let k = rng.between(1, most);
            let gap = if gaps { rng.unit() * 0.5 } else { 0.0 };
            let label = |rng: &mut Rng| (rng.unit() >= gap).then(|| rng.below(k) as i64);
            (0..n).map(|_| label(rng)).collect()
        })
        .collect();
    let mut draft = Draft::hard(columns);
    if soft > 0 {
        let lean = rng.unit() * 0.9;
        let softened = draft.clone().softened(lean, rng);
        for (h, column) in draft.members.iter_mut().enumerate() {
            if soft == 1 || rng.below(2) == 0 {
                *column = softened.members[h].clone();
            }
        }
    }
    if rng.below(3) == 0 {
        let weights = (0..n).map(|_| 0.25 * rng.between(1, 12) as f64).collect();
        draft = draft.weighing(weights);
    }
    draft
}
