//! The objects in two dimensions: computed once, when the features are at hand, and kept in
//! `result.json`, so that the page can be made again without them.

use serde::{Deserialize, Serialize};

use crate::base::{Float, Table, principal_components};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;
use crate::words::named;

/// Objects that are shown, and that the components are computed from.
const SHOWN: usize = 2000;
const COMPUTED: usize = 20_000;
/// One in so many may be an outlier at either end of an axis, and lies far off beyond so many times the
/// width of the others.
const FEW: usize = 50;
const FAR: f64 = 0.5;
/// Features that are named at an axis.
const NAMED: usize = 2;

/// Some of the objects in two dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Kept", into = "Kept")]
pub struct Scatter {
    /// What the axes are.
    pub axes: [String; 2],
    /// How long the second axis is by the measure of the first, in thousandths.
    pub aspect: u32,
    /// Which objects are shown.
    pub objects: Vec<usize>,
    /// Where, in ten-thousandths of the axes.
    pub places: Vec<[u32; 2]>,
    /// Which of them lie so far off that they stand at the edge instead: a few outliers would else
    /// leave no room for the others.
    pub outside: Vec<usize>,
}

/// At most `size` of `n` objects, spread evenly but not in step with any pattern of the rows:
/// multiples of the golden section, in ascending order.
fn some(n: usize, size: usize) -> Vec<usize> {
    if n <= size {
        return (0..n).collect();
    }
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut chosen: Vec<usize> =
        (0..size).map(|i| ((i as f64 * GOLDEN).fract() * n as f64) as usize).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The part of an axis that is shown: all of it, unless a few values lie further off than half the
/// width of the others.
fn frame(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return (0.0, 0.0) };
    let few = values.len() / FEW;
    let (low, high) = (values[few], values[last - few]);
    if high <= low {
        return (values[0], values[last]);
    }
    let room = FAR * (high - low);
    (values[0].max(low - room), values[last].min(high + room))
}

impl Scatter {
    /// Of the objects with these features; `scaled` brings rows to the scale they were clustered in.
    pub fn new<'a, T: Float>(
        values: impl Into<Table<'a, T>>,
        names: &[String],
        scaled: impl FnOnce(&Matrix) -> Result<Matrix>,
        run: &Run,
    ) -> Result<Self> {
        let values = values.into();
        let rows = some(values.nrows(), COMPUTED);
        let chosen = values.select_rows(&rows);
        let chosen = Table::new(rows.len(), values.ncols(), &chosen).to_matrix();
        let found = principal_components(&scaled(&chosen)?, 2, run)?;
        let shown = some(rows.len(), SHOWN);
        let column = |j: usize| shown.iter().map(move |&i| (i, j));
        let bounds = [0, 1].map(|j| frame(column(j).map(|place| found.scores[place]).collect()));
        let share = |i: usize, j: usize| {
            let (low, high) = bounds[j];
            if high > low { (found.scores[(i, j)] - low) / (high - low) } else { 0.5 }
        };
        let place =
            |i: usize| [0, 1].map(|j| (10_000.0 * share(i, j).clamp(0.0, 1.0)).round() as u32);
        let far_off = |i: usize| (0..2).any(|j| !(0.0..=1.0).contains(&share(i, j)));
        let axis = |j: usize| {
            let loadings = found.loadings.row(j);
            let mut order: Vec<usize> = (0..names.len()).collect();
            // Of two features both weigh the same, but for rounding, which is the machine's.
            let weight = |f: usize| (1e9 * loadings[f].abs()).round();
            order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
            let features: Vec<String> = order
                .iter()
                .take(NAMED)
                .filter(|&&f| loadings[f] != 0.0)
                .map(|&f| named(&names[f]))
                .collect();
            let share = 100.0 * found.shares[j];
            let mainly = if features.is_empty() {
                String::new()
            } else {
                format!(", mainly {}", features.join(" and "))
            };
            format!("component {} ({share:.0} % of the variance{mainly})", j + 1)
        };
        let length = |j: usize| bounds[j].1 - bounds[j].0;
        let aspect = if length(0) > 0.0 { 1000.0 * length(1) / length(0) } else { 1000.0 };
        Ok(Scatter {
            axes: [axis(0), axis(1)],
            aspect: aspect.clamp(0.0, 100_000.0) as u32,
            places: shown.iter().map(|&i| place(i)).collect(),
            outside: (0..shown.len()).filter(|&at| far_off(shown[at])).collect(),
            objects: shown.iter().map(|&i| rows[i]).collect(),
        })
    }
}

/// A scatter as it is kept: numbers in two texts, since thousands of lines of them help nobody.
#[derive(Serialize, Deserialize)]
struct Kept {
    axes: [String; 2],
    aspect: u32,
    objects: String,
    places: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outside: Vec<usize>,
}

impl From<Scatter> for Kept {
    fn from(scatter: Scatter) -> Self {
        let words = |numbers: Vec<String>| numbers.join(" ");
        Kept {
            objects: words(scatter.objects.iter().map(ToString::to_string).collect()),
            places: words(scatter.places.iter().flatten().map(ToString::to_string).collect()),
            axes: scatter.axes,
            aspect: scatter.aspect,
            outside: scatter.outside,
        }
    }
}

impl TryFrom<Kept> for Scatter {
    type Error = &'static str;
    fn try_from(kept: Kept) -> Result<Self, Self::Error> {
        let numbers = |text: &str| -> Option<Vec<usize>> {
            text.split_whitespace().map(|word| word.parse().ok()).collect()
        };
        let places = numbers(&kept.places).unwrap_or_default();
        let places: Vec<[u32; 2]> =
            places.chunks_exact(2).map(|pair| [pair[0] as u32, pair[1] as u32]).collect();
        match numbers(&kept.objects) {
            Some(objects) if objects.len() == places.len() => {
                let Kept { axes, aspect, outside, .. } = kept;
                Ok(Scatter { axes, aspect, objects, places, outside })
            }
            _ => Err("a scatter has one place for every object"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let values = Matrix::from_fn(40, 3, |i, j| ((i * (j + 2)) % 7) as f64);
        let names = ["a", "b", "c"].map(str::to_owned);
        let made = Scatter::new(&values, &names, |m| Ok(m.clone()), &Run::new(0)).unwrap();
        assert_eq!(made.objects, (0..40).collect::<Vec<_>>());
        assert!(made.places.iter().flatten().all(|&x| x <= 10_000));
        let mut kept = serde_json::to_value(&made).unwrap();
        assert_eq!(serde_json::from_value::<Scatter>(kept.clone()).unwrap(), made);
        kept["objects"] = "1 2".into();
        assert!(serde_json::from_value::<Scatter>(kept).is_err());
    }

    #[test]
    fn a_few_outliers_leave_room_for_the_others() {
        let far = |i: usize| if i == 7 { 1e6 } else { (i % 10) as f64 };
        let values = Matrix::from_fn(200, 2, |i, j| if j == 0 { far(i) } else { (i / 20) as f64 });
        let names = ["a", "b"].map(str::to_owned);
        let made = Scatter::new(&values, &names, |m| Ok(m.clone()), &Run::new(0)).unwrap();
        assert_eq!(made.outside, [7]);
        let mut first: Vec<u32> =
            made.places.iter().enumerate().filter(|(i, _)| *i != 7).map(|(_, p)| p[0]).collect();
        first.sort_unstable();
        assert!(first[198] - first[0] > 4000, "{} {}", first[0], first[198]);
        let plain = Matrix::from_fn(200, 2, |i, j| ((i * (j + 3)) % 17) as f64);
        let made = Scatter::new(&plain, &names, |m| Ok(m.clone()), &Run::new(0)).unwrap();
        assert!(made.outside.is_empty());
    }

    #[test]
    fn many_objects_are_thinned_evenly() {
        let chosen = some(1_000_000, 3000);
        assert!(chosen.len() > 2990 && chosen.windows(2).all(|pair| pair[0] < pair[1]));
        let in_first_tenth = chosen.iter().filter(|&&i| i < 100_000).count();
        assert!((295..=305).contains(&in_first_tenth), "{in_first_tenth}");
        assert_eq!(some(3, 10), [0, 1, 2]);
    }
}
