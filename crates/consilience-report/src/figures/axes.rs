//! Axes, bars and curves of small charts.

use super::picture::{Colour, Picture, Stroke};
use super::theme::{ACCENT, CAUTION, LINE, SOFT, TICK, WORD, thin};

/// A place in a picture.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) w: f64,
    pub(super) h: f64,
}

/// Ticks: how far along the axis, and what stands there.
pub(super) type Ticks = Vec<(f64, String)>;

/// Draws axes around an area: a name above, ticks to the left, ticks and a name below.
pub(super) fn axes(
    picture: &mut Picture,
    area: Area,
    above: &str,
    below: &str,
    xs: &Ticks,
    ys: &Ticks,
) {
    let Area { x, y, w, h } = area;
    for (at, label) in ys {
        let v = y + h * (1.0 - at);
        picture.line([x, v], [x + w, v], thin(LINE));
        picture.text([x - 4.0, v + 3.0], label, TICK.end());
    }
    picture.line([x, y + h], [x + w, y + h], thin(SOFT));
    for (at, label) in xs {
        picture.text([x + w * at, y + h + 11.0], label, TICK.middle());
    }
    if !below.is_empty() {
        picture.text([x + w / 2.0, y + h + 23.0], WORD.fit(below, w + 40.0), WORD.middle());
    }
    if !above.is_empty() {
        picture.text([x - 26.0, y - 12.0], WORD.bold().fit(above, w + 34.0), WORD.bold());
    }
}

/// Numbers for an axis, with as many digits as it takes to tell them apart.
pub(super) fn numbers(values: &[f64]) -> Vec<String> {
    let most = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let odd = most > 0.0 && !(1e-3..1e5).contains(&most);
    let fewest = if odd || most >= 10.0 { 1 } else { 2 };
    for digits in fewest..12 {
        let word = |x: &f64| match *x {
            0.0 => "0".to_owned(),
            x if odd => format!("{x:.digits$e}"),
            x => format!("{x:.digits$}"),
        };
        let words: Vec<String> = values.iter().map(word).collect();
        let distinct = |i: usize| (0..i).all(|j| values[i] == values[j] || words[i] != words[j]);
        if (0..words.len()).all(distinct) {
            return words;
        }
    }
    values.iter().map(f64::to_string).collect()
}

/// Three heights of an axis; of a flat curve only one.
pub(super) fn heights(low: f64, high: f64) -> Ticks {
    if high <= low {
        return vec![(0.0, numbers(&[low]).remove(0))];
    }
    let labels = numbers(&[low, f64::midpoint(low, high), high]);
    [0.0, 0.5, 1.0].into_iter().zip(labels).collect()
}

/// Percents from 0 to 100.
pub(super) fn percents() -> Ticks {
    [0.0, 0.5, 1.0].map(|at| (at, format!("{} %", 100.0 * at))).to_vec()
}

/// Bars over numbers of clusters.
pub(super) struct Bars<'a> {
    pub(super) name: &'a str,
    pub(super) ks: &'a [usize],
    pub(super) values: &'a [f64],
    /// The number of clusters of the result.
    pub(super) chosen: usize,
    /// The number that a rule says.
    pub(super) said: Option<usize>,
}

impl Bars<'_> {
    pub(super) fn draw(&self, picture: &mut Picture, area: Area) {
        let Area { x, y, w, h } = area;
        let most = self.values.iter().fold(1e-9_f64, |most, v| most.max(*v));
        let step = w / self.values.len() as f64;
        let every = self.values.len().div_ceil(((w / 16.0) as usize).max(2));
        let middle = |i: usize| (i as f64 + 0.5) / self.values.len() as f64;
        let xs = self.ks.iter().enumerate().step_by(every);
        let xs = xs.map(|(i, k)| (middle(i), k.to_string())).collect();
        axes(picture, area, self.name, "number of clusters k", &xs, &heights(0.0, most));
        for (i, (&v, &k)) in self.values.iter().zip(self.ks).enumerate() {
            let tall = (h * v / most).max(0.5);
            let (fill, opacity) = if k == self.chosen { (ACCENT, 1.0) } else { (SOFT, 0.5) };
            let left = x + (i as f64 + 0.14) * step;
            picture.rect([left, y + h - tall, 0.72 * step, tall], fill, opacity);
            if self.said == Some(k) {
                let (at, top) = (x + (i as f64 + 0.5) * step, y + h - tall - 2.0);
                let corners = [[at, top], [at - 3.5, top - 6.0], [at + 3.5, top - 6.0]];
                picture.polygon(&corners, CAUTION, 1.0);
            }
        }
    }
}

/// A curve through values at equal steps.
pub(super) fn curve(
    picture: &mut Picture,
    area: Area,
    values: &[f64],
    (low, high): (f64, f64),
    colour: Colour,
    width: f64,
) {
    let steps = (values.len().max(2) - 1) as f64;
    let at = |(i, v): (usize, &f64)| {
        let up = (v - low) / (high - low).max(1e-300);
        [area.x + area.w * i as f64 / steps, area.y + area.h * (1.0 - up)]
    };
    let points: Vec<[f64; 2]> = values.iter().enumerate().map(at).collect();
    picture.polyline(&points, Stroke { colour, width, dashed: false });
}

/// Where panel `p` of some in rows of `across` is.
pub(super) fn panel(p: usize, across: usize, width: f64, tall: f64) -> Area {
    let each = width / across as f64;
    Area {
        x: (p % across) as f64 * each + 36.0,
        y: (p / across) as f64 * tall + 24.0,
        w: each - 52.0,
        h: tall - 60.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_can_be_told_apart() {
        assert_eq!(numbers(&[0.0, 0.5, 1.0]), ["0", "0.50", "1.00"]);
        assert_eq!(numbers(&[100.0, 100.01]), ["100.00", "100.01"]);
        assert_eq!(numbers(&[1e-5, 2e-5]), ["1.0e-5", "2.0e-5"]);
        assert_eq!(heights(1.0, 1.0).len(), 1);
    }
}
