//! RCE (paper 004): the objective after every iteration, on all pairs of objects.

use crate::{Square, Table, answer, assert_close, distinct, eigen, random};

const MU: f64 = 0.001;

fn connected(table: &Table, h: usize, p: usize, q: usize) -> bool {
    table[p][h] == table[q][h]
}

/// The cleaned value of an entry that is 0, and 1 less that of one that is 1 where `s` is 1 - s.
fn cleaned_zero(s: f64, lambda: f64) -> f64 {
    2.0 * s / ((1.0 + lambda) + ((1.0 + lambda).powi(2) - 4.0 * lambda * s).sqrt())
}

/// The consensus matrix as it is learned.
struct Learner<'a> {
    table: &'a Table,
    lambda: (f64, f64),
    a: Square,
}

impl Learner<'_> {
    fn members(&self) -> usize {
        self.table[0].len()
    }

    /// The cleaned values of zeros and of ones at a pair.
    fn cleaned(&self, p: usize, q: usize) -> (f64, f64) {
        let s = f64::midpoint(self.a[p][q], self.a[q][p]);
        (cleaned_zero(s, self.lambda.0), 1.0 - cleaned_zero(1.0 - s, self.lambda.0))
    }

    /// Pairs on which all members agree stay as they are.
    fn is_frozen(&self, p: usize, q: usize) -> bool {
        let votes = (0..self.members()).filter(|&h| connected(self.table, h, p, q)).count();
        votes == 0 || votes == self.members()
    }

    /// Eigenvalues and eigenvectors of $A A^T$.
    fn spectrum(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.a.len();
        let entry = |p: usize, q: usize| (0..n).map(|l| self.a[p][l] * self.a[q][l]).sum();
        eigen((0..n).map(|p| (0..n).map(|q| entry(p, q)).collect()).collect())
    }

    /// $J$ with the best errors.
    fn objective(&self) -> f64 {
        let term = |a: f64, y: f64| if a == 0.0 { 0.0 } else { a * (a / y).ln() };
        let n = self.a.len();
        let root = |value: &f64| (value.max(0.0) + MU).sqrt();
        let mut j = 2.0 * self.lambda.1 * self.spectrum().0.iter().map(root).sum::<f64>();
        for (p, q) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
            for h in (0..self.members()).filter(|_| !self.is_frozen(p, q)) {
                let (zero, one) = self.cleaned(p, q);
                let c = connected(self.table, h, p, q);
                let y = if c { one } else { zero };
                let a = self.a[p][q];
                j += term(a, y) + term(1.0 - a, 1.0 - y);
                j += self.lambda.0 * (f64::from(u8::from(c)) - y).abs();
            }
        }
        j
    }

    fn step(&mut self) {
        let n = self.a.len();
        let (values, vectors) = self.spectrum();
        let inverse_root = |p: usize, q: usize| -> f64 {
            let terms = values.iter().zip(&vectors);
            terms.map(|(x, v)| v[p] * v[q] / (x.max(0.0) + MU).sqrt()).sum()
        };
        let mut next = self.a.clone();
        for (p, q) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
            if self.is_frozen(p, q) {
                continue;
            }
            let (zero, one) = self.cleaned(p, q);
            let logit = |y: f64| ((1.0 - y) / y).ln();
            let c: f64 = (0..self.members())
                .map(|h| logit(if connected(self.table, h, p, q) { one } else { zero }))
                .sum();
            let (mut plus, mut minus) = (0.0, 0.0);
            for l in 0..n {
                let d = self.lambda.1 * inverse_root(p, l);
                plus += d.max(0.0) * self.a[l][q];
                minus += (-d).max(0.0) * self.a[l][q];
            }
            let (a, m) = (self.a[p][q], self.members() as f64);
            let b = m * (a / (1.0 - a)).ln() - 2.0 * m / (1.0 - a);
            let g = 2.0 * m / (1.0 - a) + c.max(0.0) + 2.0 * plus;
            let h = (-c).max(0.0) + 2.0 * minus;
            let to = a * (-b + (b * b + 4.0 * g * h).sqrt()) / (2.0 * g);
            next[p][q] = to.clamp(1e-12, 1.0 - 1e-12);
        }
        self.a = next;
    }
}

#[test]
fn the_objective_falls_as_it_does_on_all_pairs() {
    for (seed, lambda) in
        (0..8).zip([(1.0, 1.0), (0.5, 3.0), (2.0, 0.1), (10.0, 1.0)].into_iter().cycle())
    {
        let (n, r) = (9, 4);
        let table = random(300 + seed, n, r, 3, 0.0);
        if distinct(&table) < 2 {
            continue;
        }
        let (first, second) = (lambda.0.to_string(), lambda.1.to_string());
        let settings =
            [("lambda1", &*first), ("lambda2", &*second), ("max_iter", "6"), ("tol", "0")];
        let found = answer("rce", Some(2), &settings, &table, None);
        let share = |p: usize, q: usize| {
            (0..r).filter(|&h| connected(&table, h, p, q)).count() as f64 / r as f64
        };
        let a = (0..n).map(|p| (0..n).map(|q| share(p, q)).collect()).collect();
        let mut learner = Learner { table: &table, lambda, a };
        assert_eq!(found.consensus.convergence.trace.len(), 6);
        for &expected in &found.consensus.convergence.trace {
            learner.step();
            assert_close("J", expected, learner.objective());
        }
    }
}
