//! Is this table of numbers perhaps a table of clusterings?

use consilience::Matrix;
use consilience::ensemble::MEMBERSHIP_TOLERANCE;

use super::members::soft_name;

/// How many rows and how many pairs of columns are looked at.
pub(super) const ROWS: usize = 10_000;
const PAIRS: usize = 20;
/// The mean adjusted Rand index of neighbouring columns from which on they may be clusterings of one
/// set of objects, and from which on they are taken for such.
///
/// Measured on the data sets of the papers and on 60 ensembles made of ten of them by all schemes:
/// features that are gapless small integers reach 0.06 at most, but for ratings of one thing on one
/// scale (Wisconsin breast cancer: 0.35); ensembles lie between 0.24 and 0.94, those with random
/// numbers of clusters at 0.31 to 0.44. In between nobody can tell.
const MAYBE: f64 = 0.2;
const SURELY: f64 = 0.45;

/// Why a table may be one of clusterings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// What speaks for it.
    pub evidence: String,
    /// Whether there is hardly any doubt.
    pub sure: bool,
}

/// Why the table may be one of clusterings; `None` if nothing suggests it.
///
/// Small integers alone are no evidence: pixels and counts look the same. It takes columns called
/// `NAME:CLUSTER` whose rows sum to 1, or columns that all number their values without gaps from 0
/// or 1 *and* agree with one another like clusterings of the same objects.
pub(super) fn clusterings(names: &[String], values: &Matrix) -> Option<Guess> {
    let memberships = memberships(names, values);
    memberships.map(|evidence| Guess { evidence, sure: true }).or_else(|| labels(values))
}

fn memberships(names: &[String], values: &Matrix) -> Option<String> {
    let members: Vec<&str> =
        names.iter().map(|name| Some(soft_name(name)?.0)).collect::<Option<_>>()?;
    let member = *members.first()?;
    let columns: Vec<usize> = (0..names.len()).filter(|&j| members[j] == member).collect();
    let sums_to_one = |row: &[f64]| {
        let sum: f64 = columns.iter().map(|&j| row[j]).sum();
        (sum - 1.0).abs() <= MEMBERSHIP_TOLERANCE
    };
    values
        .iter_rows()
        .take(ROWS)
        .all(sums_to_one)
        .then(|| format!("the columns `{member}:...` are memberships that sum to 1 in every row"))
}

fn labels(values: &Matrix) -> Option<Guess> {
    let rows = values.nrows().min(ROWS);
    // With few rows, agreement is chance.
    if values.ncols() < 2 || rows < 20 {
        return None;
    }
    let columns: Vec<(Vec<usize>, usize)> =
        (0..values.ncols()).map(|j| codes(values, j, rows)).collect::<Option<_>>()?;
    // Yes-or-no features are too common to be suspicious.
    if columns.iter().all(|&(_, groups)| groups == 2) {
        return None;
    }
    let pairs = columns.len().min(PAIRS + 1) - 1;
    let agreement: f64 =
        columns.windows(2).take(pairs).map(|pair| adjusted_rand(&pair[0].0, &pair[1].0)).sum();
    let agreement = agreement / pairs as f64;
    (agreement >= MAYBE).then(|| Guess {
        evidence: format!(
            "every column numbers groups from 0 or 1, and neighbouring columns group the rows \
             alike (adjusted Rand index {agreement:.2})"
        ),
        sure: agreement >= SURELY,
    })
}

/// The values of a column as group numbers, and how many groups there are, if they are integers
/// without gaps from 0 or 1 (or -1, for unassigned) and few.
fn codes(values: &Matrix, j: usize, rows: usize) -> Option<(Vec<usize>, usize)> {
    const FEW: usize = 256;
    let code = |i: usize| {
        let value = values[(i, j)] + 1.0;
        (value.fract() == 0.0 && (0.0..FEW as f64).contains(&value)).then_some(value as usize)
    };
    let codes: Vec<usize> = (0..rows).map(code).collect::<Option<_>>()?;
    let mut seen = [false; FEW];
    codes.iter().for_each(|&c| seen[c] = true);
    // Shifted by one, so 0 is -1 and groups start at 1 or 2.
    let first = if seen[1] { 1 } else { 2 };
    let groups = seen[first..].iter().take_while(|&&s| s).count();
    let gapless = seen[first + groups..].iter().all(|&s| !s);
    (gapless && groups >= 2 && groups <= rows / 2).then_some((codes, groups))
}

/// The adjusted Rand index of two groupings with few groups.
fn adjusted_rand(a: &[usize], b: &[usize]) -> f64 {
    let pairs = |n: f64| n * (n - 1.0) / 2.0;
    let width = |codes: &[usize]| codes.iter().max().map_or(0, |max| max + 1);
    let (wide, long) = (width(b), width(a));
    let mut table = Matrix::zeros(long, wide);
    a.iter().zip(b).for_each(|(&i, &j)| table[(i, j)] += 1.0);
    let together: f64 = table.as_slice().iter().map(|&n| pairs(n)).sum();
    let in_a: f64 = table.iter_rows().map(|row| pairs(row.iter().sum())).sum();
    let in_b: f64 = (0..wide).map(|j| pairs(table.iter_rows().map(|row| row[j]).sum())).sum();
    let expected = in_a * in_b / pairs(a.len() as f64);
    let largest = f64::midpoint(in_a, in_b);
    if largest == expected { 0.0 } else { (together - expected) / (largest - expected) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// Numbers that look random and are always the same.
    fn noise(i: usize, j: usize) -> usize {
        let mut x = (i as u64 * 31 + j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ (x >> 31)) as usize >> 8
    }

    #[test]
    fn members_of_an_ensemble_are_recognised() {
        // Four groups, numbered differently in every column, with an error in ten rows.
        let label = |i: usize, j: usize| {
            let group = if noise(i, j).is_multiple_of(10) { noise(i, j + 7) } else { i };
            ((group + j) % 4) as f64
        };
        let table = Matrix::from_fn(100, 5, label);
        let found = clusterings(&names(&["a", "b", "c", "d", "e"]), &table).unwrap();
        assert!(found.sure && found.evidence.contains("adjusted Rand index"), "{found:?}");
    }

    #[test]
    fn members_that_agree_a_little_leave_doubt() {
        // Four groups with an error in three rows of ten.
        let label = |i: usize, j: usize| {
            let group = if noise(i, j) % 10 < 3 { noise(i, j + 7) } else { i };
            ((group + j) % 4) as f64
        };
        let table = Matrix::from_fn(400, 5, label);
        let found = clusterings(&names(&["a", "b", "c", "d", "e"]), &table).unwrap();
        assert!(!found.sure, "{found:?}");
    }

    #[test]
    fn counts_and_answers_are_not() {
        let five = names(&["a", "b", "c", "d", "e"]);
        let counts = Matrix::from_fn(100, 5, |i, j| (noise(i, j) % 4) as f64);
        assert_eq!(clusterings(&five, &counts), None);
        let answers = Matrix::from_fn(100, 5, |i, _| (i % 2) as f64);
        assert_eq!(clusterings(&five, &answers), None);
        let measured = Matrix::from_fn(100, 5, |i, _| (i % 4) as f64 + 0.5);
        assert_eq!(clusterings(&five, &measured), None);
    }

    #[test]
    fn memberships_are_recognised_by_name_and_sum() {
        let soft = Matrix::from_vec(2, 2, vec![0.25, 0.75, 1.0, 0.0]);
        assert!(clusterings(&names(&["f:0", "f:1"]), &soft).unwrap().evidence.contains("`f:...`"));
        assert_eq!(clusterings(&names(&["f0", "f1"]), &soft), None);
        let not = Matrix::from_vec(2, 2, vec![0.25, 0.5, 1.0, 0.0]);
        assert_eq!(clusterings(&names(&["f:0", "f:1"]), &not), None);
    }

    #[test]
    fn the_adjusted_rand_index_of_worked_examples() {
        assert_eq!(adjusted_rand(&[0, 0, 1, 1], &[1, 1, 0, 0]), 1.0);
        // Two of six pairs agree; by hand 4/7 (Hubert and Arabie's formula).
        let index = adjusted_rand(&[0, 0, 1, 1], &[0, 0, 1, 2]);
        assert!((index - 4.0 / 7.0).abs() < 1e-12, "{index}");
        assert_eq!(adjusted_rand(&[0, 0], &[0, 0]), 0.0);
    }
}
