//! The paper's statements, and Algorithm 1 written down plainly to compare with.
#![cfg(test)]

use proptest::prelude::*;

use super::*;
use crate::consensus::outcome::Stop;
use crate::consensus::{Settings, combine, method};
use crate::ensemble::{Ensemble, HardMember, Member, SoftMember};

/// Section 3's example: lambda, its relabelling lambda^(1), and the coarser lambda^(2).
const SECTION_3: [[i64; 6]; 3] = [[1, 1, 2, 2, 3, 3], [3, 3, 1, 1, 2, 2], [1, 1, 1, 1, 2, 2]];

fn hard(labels: &[i64]) -> Member {
    HardMember::from_integers("m", labels.iter().map(|&l| (l >= 0).then_some(l))).into()
}

fn profiles(members: Vec<Member>) -> Profiles {
    Profiles::new(&Ensemble::new(members).unwrap(), &Run::new(0)).unwrap()
}

fn scec(k: usize) -> Scec {
    Scec::new(k)
}

fn number(consensus: &Consensus, name: &str) -> f64 {
    match consensus.diagnostics.get(name) {
        Some(Value::Number(x)) => *x,
        Some(Value::Integer(i)) => *i as f64,
        other => panic!("{name}: {other:?}"),
    }
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "at {i}: {a} and {b}");
    }
}

// The paper's example.

#[test]
fn section_3_gives_the_papers_correspondences() {
    let profiles = profiles(SECTION_3.iter().map(|m| hard(m)).collect());
    let consensus = combine(&profiles, &scec(3), None, &Run::new(0)).unwrap();
    assert_eq!(profiles.expand(&consensus.labels), [0, 0, 1, 1, 2, 2].map(Some));
    let s = consensus.correspondences.unwrap();
    // A member's clusters stand in order of appearance: the rows of lambda^(1) are its labels 3, 1,
    // 2, so the paper's permutation matrix has become the identity.
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_close(s[0].as_slice(), &identity, 1e-6);
    assert_close(s[1].as_slice(), &identity, 1e-6);
    assert_close(s[2].as_slice(), &[0.5, 0.5, 0.0, 0.0, 0.0, 1.0], 1e-6);
}

/// Equation (1) by itself: a member's correspondence with a fixed target.
#[test]
fn correspondence_with_a_fixed_target_is_the_papers() {
    let members = SECTION_3[1..].iter().map(|m| hard(m)).collect();
    let profiles = profiles(members);
    // alpha = 0 and row sums that are 1 by themselves leave (1). An entry whose target is 0 falls as
    // beta k / (N_i t) in t steps: here to 1e-7.
    let problem = Problem::new(&profiles, 3, (0.0, 1e-3), OnMissing::Uniform, false);
    let g = problem.targets(&start_from_labels(&[0, 1, 2], 3));
    let mut s = Matrix::from_fn(5, 3, |_, _| 1.0 / 3.0);
    for h in 0..2 {
        problem.improve(h, &mut s, &g, (15_000, 0.0), &mut Scratch::default());
    }
    let expected = [1., 0., 0., 0., 1., 0., 0., 0., 1., 0.5, 0.5, 0., 0., 0., 1.];
    assert_close(s.as_slice(), &expected, 1e-6);
}

// What alpha does.

/// Rings of overlapping pairs: everything hangs together, but only by a thread.
fn chain() -> Vec<Member> {
    vec![
        hard(&[0, 0, 0, 1, 1, 1, 2, 2, 2]),
        hard(&[0, 0, 1, 1, 1, 2, 2, 2, 2]),
        hard(&[0, 0, 0, 0, 1, 1, 1, 2, 2]),
    ]
}

/// With alpha = 0 an iteration is one step of a power iteration with a doubly stochastic matrix.
#[test]
fn without_alpha_an_iteration_averages_over_clusters() {
    let profiles = profiles(chain());
    let start: Vec<u32> = (0..profiles.len() as u32).map(|x| x % 3).collect();
    // As above: entries whose target is 0 are down to beta k / (N_i t) = 1e-7 after t steps.
    let params = Scec::new(3).alpha(0.0).beta(1e-3).inner_max_iter(15_000).inner_tol(0.0);
    let once = params.max_iter(1);
    let m = once.solve(&profiles, Some(&start), &Run::new(0)).unwrap().membership.unwrap();

    let objects: Vec<Vec<usize>> = (0..profiles.len())
        .map(|x| (0..3).map(|h| profiles.label(x, h).unwrap()).collect())
        .collect();
    let w = profiles.weights();
    for x in 0..objects.len() {
        let mut expected = [0.0; 3];
        for h in 0..3 {
            let same = |y: &usize| objects[*y][h] == objects[x][h];
            let size: f64 = (0..objects.len()).filter(same).map(|y| w[y]).sum();
            for y in (0..objects.len()).filter(same) {
                expected[start[y] as usize] += w[y] / size / 3.0;
            }
        }
        assert_close(m.row(x), &expected, 1e-6);
    }
}

#[test]
fn without_alpha_connected_clusters_melt_into_one() {
    let profiles = profiles(chain());
    let params = Scec::new(3).alpha(0.0).tol(0.0).max_iter(3000);
    let melted = combine(&profiles, &params, None, &Run::new(0)).unwrap();
    assert_eq!(melted.k, 1);
    assert_eq!(number(&melted, "effective_clusters"), 1.0);
    let kept = combine(&profiles, &scec(3), None, &Run::new(0)).unwrap();
    assert_eq!(kept.k, 3);
}

#[test]
fn superfluous_clusters_are_dropped() {
    // Two groups, whatever k says: the members tell six kinds of object apart, but agree on two.
    let members = vec![
        hard(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
        hard(&[1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        hard(&[1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        hard(&[1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
    ];
    let profiles = profiles(members);
    let consensus = combine(&profiles, &scec(4), None, &Run::new(0)).unwrap();
    assert_eq!(consensus.k, 2);
    assert_eq!(number(&consensus, "effective_clusters"), 2.0);
    let labels: Vec<u32> = profiles.expand(&consensus.labels).into_iter().flatten().collect();
    assert!(labels[..8].iter().all(|&l| l == labels[0]));
    assert!(labels[8..].iter().all(|&l| l == 1 - labels[0]));
    let membership = consensus.membership.unwrap();
    assert_eq!(membership.ncols(), 2);
    assert!(membership.iter_rows().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
}

/// What the columns that win nothing hold is shared out among the others, in the strength too.
#[test]
fn strength_is_a_share_of_the_clusters_that_there_are() {
    let members = (0..6)
        .map(|h| hard(&(0..12).map(|i| (i * (h + 1) + h * i * i) % 5 % 3).collect::<Vec<_>>()));
    let profiles = profiles(members.collect());
    // Little alpha, few iterations: columns that win nothing still hold something.
    let scec = Scec::new(5).alpha(0.5).beta(1.0).max_iter(2);
    let inside = scec.solve(&profiles, None, &Run::new(0)).unwrap();
    let consensus = combine(&profiles, &scec, None, &Run::new(0)).unwrap();
    assert!(consensus.k < 5 && inside.k == 5);
    let membership = consensus.membership.unwrap();
    for (s, (&label, &sure)) in consensus.labels.iter().zip(&consensus.strength).enumerate() {
        assert_eq!(sure, membership[(s, label as usize)]);
    }
    let most = |row: &[f64]| row.iter().copied().fold(0.0, f64::max);
    let before: f64 = inside.membership.unwrap().iter_rows().map(most).sum();
    assert!(consensus.strength.iter().sum::<f64>() > before + 1e-3);
}

#[test]
fn a_unanimous_ensemble_is_returned() {
    let labels = [4, 4, 4, 7, 7, 1, 1, 1, 1, 2];
    let renamed = labels.map(|l| 10 - l);
    let profiles = profiles(vec![hard(&labels), hard(&renamed), hard(&labels)]);
    let consensus = combine(&profiles, &scec(4), None, &Run::new(3)).unwrap();
    let found = profiles.expand(&consensus.labels);
    assert_eq!(found, [1, 1, 1, 2, 2, 0, 0, 0, 0, 3].map(Some));
    assert!(consensus.strength.iter().all(|&c| c > 0.99));
    assert_eq!(consensus.convergence.stop, Stop::Converged);
}

#[test]
fn one_cluster_asked_for_is_one_cluster() {
    let profiles = profiles(chain());
    let consensus = combine(&profiles, &scec(1), None, &Run::new(0)).unwrap();
    assert_eq!((consensus.k, number(&consensus, "soft_effective_clusters")), (1, 1.0));
}

// Parameters.

#[test]
fn defaults_follow_the_total_weight() {
    let members = SECTION_3.iter().map(|m| hard(m)).collect();
    let ensemble = Ensemble::new(members).unwrap().with_weights(vec![2.0; 6]).unwrap();
    let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
    let consensus = scec(3).solve(&profiles, None, &Run::new(0)).unwrap();
    assert_eq!(number(&consensus, "alpha"), 4.0);
    assert_eq!(number(&consensus, "beta"), 8.0 / 3.0);
    // A large alpha takes beta with it.
    let large = Scec::new(3).alpha(90.0);
    assert_eq!(large.weights_for(12.0), Ok((90.0, 60.0)));
}

#[test]
fn the_rule_on_alpha_and_beta_is_named() {
    let refusal = Scec::new(4).alpha(8.0).beta(2.0).check().unwrap_err().to_string();
    assert!(refusal.contains("0 <= alpha < beta k"), "{refusal}");
    assert!(Scec::new(4).alpha(7.999).beta(2.0).check().is_ok());
    // With alpha = n / k = 3 the rule asks for beta > 3/4, known only once the data are.
    let small = Scec::new(4).beta(0.75);
    let refusal = small.weights_for(12.0).unwrap_err().to_string();
    assert!(refusal.contains("0 <= alpha < beta k"), "{refusal}");
    let profiles = profiles(chain());
    let small = Scec::new(3).beta(1.0);
    assert!(small.solve(&profiles, None, &Run::new(0)).is_err());
}

#[test]
fn bad_parameters_are_refused() {
    let base = || Scec::new(3);
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(base().alpha(bad).check().is_err(), "alpha {bad}");
        assert!(base().beta(bad).check().is_err(), "beta {bad}");
        assert!(base().tol(bad).check().is_err(), "tol {bad}");
        assert!(base().inner_tol(bad).check().is_err(), "inner_tol {bad}");
    }
    assert!(base().beta(0.0).check().is_err());
    assert!(base().alpha(0.0).beta(0.0).check().is_err());
    assert!(Scec::new(0).check().is_err());
    assert!(base().restarts(0).check().is_err());
    assert!(base().max_iter(0).check().is_err());
    assert!(base().inner_max_iter(0).check().is_err());
}

#[test]
fn settings_are_read_by_name() {
    let info = method("scec").unwrap();
    let with = |name: &str, value: &str| info.with(Some(3), &Settings::from_iter([(name, value)]));
    for (name, value) in [
        ("alpha", "auto"),
        ("beta", "7.5"),
        ("missing", "ignore"),
        ("restarts", "1"),
        ("init", "random"),
        ("max_iter", "9"),
        ("tol", "0"),
        ("inner_max_iter", "3"),
        ("inner_tol", "1e-7"),
    ] {
        assert!(with(name, value).is_ok(), "{name}={value}");
    }
    assert!(with("missing", "drop").is_err());
    assert!(with("alpha", "many").is_err());
    assert!(matches!(info.with(None, &Settings::default()), Err(Error::NeedsK { .. })));
    assert!(info.with(Some(0), &Settings::default()).is_err());
}

#[test]
fn an_overflowing_objective_is_an_error() {
    let profiles = profiles(chain());
    let scec = Scec::new(3).alpha(1e308);
    assert!(matches!(
        scec.solve(&profiles, None, &Run::new(0)),
        Err(Error::Numerical { what: "scec", .. })
    ));
}

// Starts.

#[test]
fn a_start_is_kept_where_the_members_allow_it() {
    // Members that disagree evenly: the start decides.
    let profiles = profiles(vec![hard(&[0, 0, 1, 1]), hard(&[0, 1, 0, 1])]);
    for start in [[0, 0, 1, 1], [0, 1, 0, 1]] {
        let found = scec(2).solve(&profiles, Some(&start), &Run::new(0)).unwrap();
        assert_eq!(found.labels, start);
        // Once is enough.
        assert_eq!(found.diagnostics.get("restart_objectives"), None);
    }
}

#[test]
fn members_with_k_clusters_are_starts_once_each() {
    let profiles = profiles(chain());
    let scec = Scec::new(3).restarts(4);
    let problem = Problem::new(&profiles, 3, (3.0, 2.0), OnMissing::Uniform, false);
    let run = Run::new(0);
    let descent = Descent::new(&scec, problem, None, &run);
    let starts: Vec<Matrix> = (0..4).map(|i| descent.targets(i, &run)).collect();
    for a in 0..4 {
        for b in 0..a {
            assert_ne!(starts[a], starts[b]);
        }
    }
}

// Algorithm 1, plainly, on objects.

/// A random ensemble for comparison: some objects are repeated, some labels missing, one member may
/// be soft, objects may weigh.
#[derive(Clone, Debug)]
struct Case {
    members: Vec<Member>,
    weights: Vec<f64>,
    start: Vec<u32>,
    k: usize,
    missing: OnMissing,
    alpha: f64,
    beta: f64,
}

impl Case {
    fn profiles(&self) -> Profiles {
        let ensemble = Ensemble::new(self.members.clone()).unwrap();
        Profiles::new(&ensemble.with_weights(self.weights.clone()).unwrap(), &Run::new(0)).unwrap()
    }

    /// The start of every profile: that of its first object.
    fn start_of(&self, profiles: &Profiles) -> Vec<u32> {
        let first = |x| profiles.map().iter().position(|&s| s as usize == x).unwrap();
        (0..profiles.len()).map(|x| self.start[first(x)]).collect()
    }

    fn scec(&self) -> Scec {
        Scec::new(self.k).alpha(self.alpha).beta(self.beta).missing(self.missing)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let shape = (2..5usize, 6..25usize, 1..4usize, 1..5usize);
    shape.prop_flat_map(|(kinds, n, r, k)| {
        // Few kinds of object, so that tuples repeat; -1 is missing.
        let kind_labels = prop::collection::vec(prop::collection::vec(-1..4i64, kinds + 3), r);
        let kind_of = prop::collection::vec(0..kinds + 3, n);
        let soft = prop::option::of(prop::collection::vec((0..5u32, 0..5u32, 0..5u32), kinds + 3));
        let weights = prop::collection::vec(prop_oneof![Just(1.0), 0.1..4.0], n);
        let starts = prop::collection::vec(0..k as u32, kinds + 3);
        (kind_labels, kind_of, soft, weights, starts, any::<bool>(), 0.0..2.0, 1.01..6.0).prop_map(
            move |(labels, kind_of, soft, weights, starts, ignore, a, b)| {
                let mut members: Vec<Member> = labels
                    .iter()
                    .map(|labels| {
                        // The first object is labelled everywhere, so no member is empty.
                        let mut of_objects: Vec<i64> = kind_of.iter().map(|&t| labels[t]).collect();
                        of_objects[0] = of_objects[0].max(0);
                        hard(&of_objects)
                    })
                    .collect();
                if let Some(rows) = soft {
                    let row = |(i, &t): (usize, &usize)| {
                        let (a, b, c) = rows[t];
                        let sum = f64::from(a + b + c);
                        // All zero means missing, but not for the first object.
                        match (sum > 0.0, i) {
                            (true, _) => [a, b, c].map(|x| f64::from(x) / sum),
                            (false, 0) => [1.0, 0.0, 0.0],
                            (false, _) => [0.0; 3],
                        }
                    };
                    let values = kind_of.iter().enumerate().flat_map(row).collect();
                    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
                    let matrix = Matrix::from_vec(n, 3, values);
                    members.push(SoftMember::new("soft", matrix, names).unwrap().into());
                }
                let scale = weights.iter().sum::<f64>() / k as f64;
                Case {
                    members,
                    start: kind_of.iter().map(|&t| starts[t]).collect(),
                    weights,
                    k,
                    missing: if ignore { OnMissing::Ignore } else { OnMissing::Uniform },
                    alpha: a * scale,
                    beta: f64::max(a * b, 0.1) * scale / k as f64,
                }
            },
        )
    })
}

/// Algorithm 1 as printed, with dense matrices over objects; every half step is recorded.
struct Plain {
    /// $M^{(h)}$, n × k_h; a row of `None` is left out.
    members: Vec<Vec<Option<Vec<f64>>>>,
    weights: Vec<f64>,
    m: Vec<Vec<f64>>,
    s: Vec<Vec<Vec<f64>>>,
    k: usize,
    alpha: f64,
    beta: f64,
}

impl Plain {
    fn new(case: &Case) -> Self {
        let row = |member: &Member, i: usize| {
            let k_h = member.clusters().len();
            let row = match member {
                Member::Hard(m) => m
                    .labels()
                    .get(i)
                    .map(|c| (0..k_h).map(|j| f64::from(u8::from(j == c))).collect::<Vec<_>>()),
                Member::Soft(m) => {
                    let row = m.memberships().row(i);
                    row.iter().any(|&p| p > 0.0).then(|| row.to_vec())
                }
            };
            match case.missing {
                OnMissing::Uniform => Some(row.unwrap_or_else(|| vec![1.0 / k_h as f64; k_h])),
                OnMissing::Ignore => row,
            }
        };
        // An object without any label takes no part.
        let labelled = |i: usize| {
            case.members.iter().any(|member| match member {
                Member::Hard(m) => m.labels().get(i).is_some(),
                Member::Soft(m) => m.memberships().row(i).iter().any(|&p| p > 0.0),
            })
        };
        let objects: Vec<usize> = (0..case.weights.len()).filter(|&i| labelled(i)).collect();
        let members: Vec<Vec<_>> = case
            .members
            .iter()
            .map(|member| objects.iter().map(|&i| row(member, i)).collect())
            .collect();
        // Objects that the members cannot tell apart must start alike.
        let profiles = case.profiles();
        let start = case.start_of(&profiles);
        let one_hot = |&i: &usize| {
            let start = start[profiles.map()[i] as usize];
            (0..case.k).map(|j| f64::from(u8::from(j as u32 == start))).collect()
        };
        Plain {
            s: case
                .members
                .iter()
                .map(|m| vec![vec![1.0 / case.k as f64; case.k]; m.clusters().len()])
                .collect(),
            m: objects.iter().map(one_hot).collect(),
            weights: objects.iter().map(|&i| case.weights[i]).collect(),
            members,
            k: case.k,
            alpha: case.alpha,
            beta: case.beta,
        }
    }

    /// $\sum_i M^{(h)}_{xi} S^{(h)}_{ij}$, if member h has a row for x.
    fn transformed(&self, h: usize, x: usize, j: usize) -> Option<f64> {
        let row = self.members[h][x].as_ref()?;
        Some(row.iter().zip(&self.s[h]).map(|(p, s)| p * s[j]).sum())
    }

    /// (3).
    fn objective(&self) -> f64 {
        let mut f = 0.0;
        for h in 0..self.members.len() {
            for x in 0..self.m.len() {
                for j in 0..self.k {
                    if let Some(t) = self.transformed(h, x, j) {
                        f += self.weights[x] * (self.m[x][j] - t).powi(2);
                    }
                }
            }
            let s = &self.s[h];
            let k_h = s.len() as f64;
            for j in 0..self.k {
                let mean = s.iter().map(|row| row[j]).sum::<f64>() / k_h;
                f -= self.alpha * s.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>();
            }
            for row in s {
                f += self.beta * self.k as f64 * (row.iter().sum::<f64>() - 1.0).powi(2);
            }
        }
        f
    }

    /// (10) for member h, once; returns the largest change.
    fn update(&mut self, h: usize) -> f64 {
        let (k, k_h) = (self.k, self.s[h].len());
        let old = self.s[h].clone();
        let rows: Vec<(f64, &Vec<f64>, &Vec<f64>)> = (0..self.m.len())
            .filter_map(|x| Some((self.weights[x], self.members[h][x].as_ref()?, &self.m[x])))
            .collect();
        let mut new = old.clone();
        for i in 0..k_h {
            for j in 0..k {
                let g: f64 = rows.iter().map(|(w, a, m)| w * a[i] * m[j]).sum();
                let q_s: f64 = (0..k_h)
                    .map(|l| rows.iter().map(|(w, a, _)| w * a[i] * a[l]).sum::<f64>() * old[l][j])
                    .sum();
                let mean = (0..k_h).map(|l| old[l][j]).sum::<f64>() / k_h as f64;
                let row_sum: f64 = old[i].iter().sum();
                let beta_k = self.beta * k as f64;
                let d = q_s - self.alpha * old[i][j] + self.alpha * mean + beta_k * row_sum;
                new[i][j] = old[i][j] * (g + beta_k) / d;
            }
        }
        let change = new.iter().flatten().zip(old.iter().flatten());
        let change = change.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        self.s[h] = new;
        change
    }

    /// (6).
    fn average(&mut self) {
        for x in 0..self.m.len() {
            for j in 0..self.k {
                let all: Vec<f64> =
                    (0..self.members.len()).filter_map(|h| self.transformed(h, x, j)).collect();
                self.m[x][j] = all.iter().sum::<f64>() / all.len() as f64;
            }
        }
    }

    /// One iteration; returns the objective after each of its steps.
    fn iterate(&mut self, inner_max_iter: usize, inner_tol: f64) -> Vec<f64> {
        let mut trace = Vec::new();
        for h in 0..self.members.len() {
            for _ in 0..inner_max_iter {
                let change = self.update(h);
                trace.push(self.objective());
                if change < inner_tol {
                    break;
                }
            }
        }
        self.average();
        trace.push(self.objective());
        trace
    }
}

fn normalised(rows: &[Vec<f64>]) -> Vec<f64> {
    let normalise = |row: &Vec<f64>| {
        let sum: f64 = row.iter().sum();
        row.iter().map(|x| x / sum).collect::<Vec<_>>()
    };
    rows.iter().flat_map(normalise).collect()
}

proptest! {
    /// Theorem 5.1, and with it (6): the objective never rises, not even within an iteration.
    #[test]
    fn objective_never_rises(case in cases()) {
        let mut plain = Plain::new(&case);
        let mut before = plain.objective();
        let size = before.abs() + case.weights.iter().sum::<f64>();
        for _ in 0..8 {
            for after in plain.iterate(10, 1e-5) {
                prop_assert!(after <= before + 1e-12 * size, "{before} -> {after}");
                before = after;
            }
        }
        let params = case.scec().init(ScecStart::Random);
        let profiles = case.profiles();
        let trace = params.solve(&profiles, None, &Run::new(1)).unwrap().convergence.trace;
        for pair in trace.windows(2) {
            prop_assert!(pair[1] <= pair[0] + 1e-12 * size, "{trace:?}");
        }
    }

    /// Profiles are exact: the same from repeated rows, by the equations as printed, whichever way
    /// the products are taken.
    #[test]
    fn profiles_give_what_repeated_rows_give(case in cases(), iterations in 1..9usize) {
        let mut plain = Plain::new(&case);
        let trace: Vec<f64> =
            (0..iterations).map(|_| *plain.iterate(10, 1e-5).last().unwrap()).collect();

        let profiles = case.profiles();
        let scec = case.scec().max_iter(iterations).tol(0.0);
        let (start, run) = (case.start_of(&profiles), Run::new(0));
        for with_overlaps in [false, true] {
            let weights = (case.alpha, case.beta);
            let problem = Problem::new(&profiles, case.k, weights, case.missing, with_overlaps);
            let descent = Descent::new(&scec, problem, Some(&start), &run);
            let mut state = descent.start(0, &run).unwrap();
            let found: Vec<f64> =
                (0..iterations).map(|_| descent.step(&mut state, &run).unwrap().objective).collect();
            let size = 1.0 + case.weights.iter().sum::<f64>();
            assert_close(&found, &trace, 1e-9 * size);
            let s: Vec<f64> = plain.s.iter().flatten().flatten().copied().collect();
            assert_close(state.s.as_slice(), &s, 1e-9);
            let m = descent.problem.consensus(&state.s);
            let rows = profiles.map().iter().filter_map(|&x| (x != u32::MAX).then_some(x as usize));
            let objects: Vec<f64> = rows.flat_map(|x| m.row(x).to_vec()).collect();
            let expected: Vec<f64> = plain.m.iter().flatten().copied().collect();
            assert_close(&objects, &expected, 1e-9);
        }

        // And through the front door of the method, normalised.
        let found = scec.solve(&profiles, Some(&case.start_of(&profiles)), &Run::new(0)).unwrap();
        let membership = found.membership.unwrap();
        let rows = profiles.expand(&membership.iter_rows().map(<[f64]>::to_vec).collect::<Vec<_>>());
        let rows: Vec<f64> = rows.into_iter().flatten().flatten().collect();
        assert_close(&rows, &normalised(&plain.m), 1e-9);
        for (found, s) in found.correspondences.unwrap().iter().zip(&plain.s) {
            assert_close(found.as_slice(), &normalised(s), 1e-9);
        }
    }

    /// Both ways of taking the products start alike, from any member.
    #[test]
    fn both_ways_start_alike(case in cases(), seed in 0..100u64) {
        let profiles = case.profiles();
        let problem = |with_overlaps| {
            Problem::new(&profiles, case.k, (case.alpha, case.beta), case.missing, with_overlaps)
        };
        let (rows, overlaps) = (problem(false), problem(true));
        for (h, member) in profiles.members().iter().enumerate() {
            let mut rng = Run::new(seed).rng(Stream::Restart(0));
            let r = stochastic(member.n_clusters(), case.k, &mut rng);
            let by_rows = rows.targets_of_member(h, &r);
            assert_close(overlaps.targets_of_member(h, &r).as_slice(), by_rows.as_slice(), 1e-9);
        }
    }

    /// Both ways of taking the products stop at the same iteration.
    #[test]
    fn both_ways_settle_alike(case in cases()) {
        let profiles = case.profiles();
        let scec = case.scec().max_iter(60);
        let (start, run) = (case.start_of(&profiles), Run::new(0));
        let [rows, overlaps] = [false, true].map(|with_overlaps| {
            let weights = (case.alpha, case.beta);
            let problem = Problem::new(&profiles, case.k, weights, case.missing, with_overlaps);
            let descent = Descent::new(&scec, problem, Some(&start), &run);
            let effort = Effort { tol: scec.tol, ..Effort::new(1, 60) };
            solve(&descent, None, effort, &run).unwrap().convergence
        });
        prop_assert_eq!(rows.iterations, overlaps.iterations);
        prop_assert_eq!(rows.stop, overlaps.stop);
    }

    #[test]
    fn threads_do_not_change_a_bit(case in cases(), seed in 0..100u64) {
        let profiles = case.profiles();
        prop_assume!(case.k <= profiles.len());
        let scec = case.scec().init(ScecStart::Random);
        let run = |threads| combine(&profiles, &scec, None, &Run::new(seed).threads(threads));
        prop_assert_eq!(run(1).unwrap(), run(2).unwrap());
    }
}
