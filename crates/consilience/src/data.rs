//! Data sets inside the library: Iris, and generated shapes.
//!
//! The shapes are those that papers on consensus clustering draw: clusters that k-means cannot
//! find, but a consensus of many k-means can.

use std::f64::consts::{PI, TAU};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::math;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// A table of features with known classes.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// Its name.
    pub name: &'static str,
    /// One row an object.
    pub features: Matrix,
    /// The names of the columns.
    pub feature_names: Vec<String>,
    /// The class of every object.
    pub truth: Vec<u32>,
    /// The names of the classes.
    pub class_names: Vec<String>,
}

/// What there is to know about a data set.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DataSetInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// How many classes it has.
    pub classes: usize,
    /// Makes it; a generated one from the stream [`Stream::Data`] of the run.
    #[serde(skip)]
    pub make: fn(&Run) -> DataSet,
}

/// All data sets inside the library.
pub static DATA_SETS: &[DataSetInfo] = &[
    DataSetInfo {
        name: "iris",
        title: "Fisher's iris flowers: 150 plants of 3 species, 4 lengths",
        classes: 3,
        make: |_| iris(),
    },
    DataSetInfo {
        name: "half-rings",
        title: "two interleaved half rings of 200 points in the plane",
        classes: 2,
        make: |run| half_rings(&mut run.rng(Stream::Data)),
    },
    DataSetInfo {
        name: "three-rings",
        title: "three concentric rings of 200, 200 and 50 points in the plane",
        classes: 3,
        make: |run| three_rings(&mut run.rng(Stream::Data)),
    },
    DataSetInfo {
        name: "cigar",
        title: "two long and two small clouds of 100, 100, 25 and 25 points in the plane",
        classes: 4,
        make: |run| cigar(&mut run.rng(Stream::Data)),
    },
    DataSetInfo {
        name: "blobs",
        title: "five round clouds of 100 points in the plane",
        classes: 5,
        make: |run| blobs(&mut run.rng(Stream::Data)),
    },
];

/// The data set of this name.
pub fn data_set(name: &str) -> Result<&'static DataSetInfo> {
    let found = DATA_SETS.iter().find(|info| info.name == name);
    found.ok_or_else(|| Error::unknown_name("data set", name, DATA_SETS.iter().map(|i| i.name)))
}

/// Fisher's iris flowers; where they come from stands in `data/README.md`.
#[allow(clippy::missing_panics_doc)] // The file is part of the library.
pub fn iris() -> DataSet {
    let text = include_str!("../data/iris.csv");
    let mut lines = text.lines();
    let header = lines.next().expect("a header");
    let class_names = header.split(',').skip(2).map(str::to_owned).collect();
    let (mut values, mut truth) = (Vec::new(), Vec::new());
    for line in lines {
        let (features, class) = line.rsplit_once(',').expect("features and a class");
        values.extend(features.split(',').map(|x| x.parse::<f64>().expect("a number")));
        truth.push(class.parse().expect("a class"));
    }
    let names = ["sepal length", "sepal width", "petal length", "petal width"];
    DataSet {
        name: "iris",
        features: Matrix::from_vec(truth.len(), names.len(), values),
        feature_names: names.map(str::to_owned).into(),
        truth,
        class_names,
    }
}

/// Two interleaved half rings of radius 1 and width 0.2, 200 points each.
pub fn half_rings(rng: &mut Rng) -> DataSet {
    let mut shape = Shape::new("half-rings");
    shape.arc(rng, 200, "upper", [0.0, 0.0], 1.0, 0.2, [0.0, PI]);
    shape.arc(rng, 200, "lower", [1.0, 0.25], 1.0, 0.2, [PI, TAU]);
    shape.finish()
}

/// Three concentric rings of radius 0.5, 1.75 and 3 and width 0.4.
pub fn three_rings(rng: &mut Rng) -> DataSet {
    let mut shape = Shape::new("three-rings");
    shape.arc(rng, 200, "inner", [0.0, 0.0], 0.5, 0.4, [0.0, TAU]);
    shape.arc(rng, 200, "middle", [0.0, 0.0], 1.75, 0.4, [0.0, TAU]);
    shape.arc(rng, 50, "outer", [0.0, 0.0], 3.0, 0.4, [0.0, TAU]);
    shape.finish()
}

/// Two long clouds side by side with a small one above each.
pub fn cigar(rng: &mut Rng) -> DataSet {
    let mut shape = Shape::new("cigar");
    shape.cloud(rng, 100, "left", [-0.75, 0.0], [0.15, 1.0]);
    shape.cloud(rng, 100, "right", [0.75, 0.0], [0.15, 1.0]);
    shape.cloud(rng, 25, "upper left", [-0.75, 4.0], [0.15, 0.15]);
    shape.cloud(rng, 25, "upper right", [0.75, 4.0], [0.15, 0.15]);
    shape.finish()
}

/// Five round clouds of standard deviation 1, their centres at least 6 apart in a square of side
/// 20.
pub fn blobs(rng: &mut Rng) -> DataSet {
    let mut shape = Shape::new("blobs");
    let mut centres: Vec<[f64; 2]> = Vec::new();
    while centres.len() < 5 {
        let centre = [20.0 * rng.unit() - 10.0, 20.0 * rng.unit() - 10.0];
        let distance = |other: &[f64; 2]| math::hypot(centre[0] - other[0], centre[1] - other[1]);
        if centres.iter().all(|other| distance(other) >= 6.0) {
            shape.cloud(rng, 100, &(centres.len() + 1).to_string(), centre, [1.0, 1.0]);
            centres.push(centre);
        }
    }
    shape.finish()
}

/// A set of points in the plane, under construction.
struct Shape {
    name: &'static str,
    values: Vec<f64>,
    truth: Vec<u32>,
    class_names: Vec<String>,
}

impl Shape {
    fn new(name: &'static str) -> Self {
        Shape { name, values: Vec::new(), truth: Vec::new(), class_names: Vec::new() }
    }

    fn class(&mut self, name: &str, points: impl IntoIterator<Item = [f64; 2]>) {
        let class = self.class_names.len() as u32;
        self.class_names.push(name.to_owned());
        for point in points {
            self.values.extend(point);
            self.truth.push(class);
        }
    }

    /// A class of points along an arc. Angles are stratified: with independent ones chance gaps
    /// would split the ring.
    #[allow(clippy::too_many_arguments)]
    fn arc(
        &mut self,
        rng: &mut Rng,
        n: usize,
        name: &str,
        centre: [f64; 2],
        radius: f64,
        width: f64,
        [from, to]: [f64; 2],
    ) {
        let step = (to - from) / n as f64;
        let angles: Vec<f64> = (0..n).map(|i| from + step * (i as f64 + rng.unit())).collect();
        let points: Vec<[f64; 2]> = angles
            .into_iter()
            .map(|angle| {
                let r = radius + width * (rng.unit() - 0.5);
                [centre[0] + r * math::cos(angle), centre[1] + r * math::sin(angle)]
            })
            .collect();
        self.class(name, points);
    }

    /// A class of normal points.
    fn cloud(&mut self, rng: &mut Rng, n: usize, name: &str, centre: [f64; 2], spread: [f64; 2]) {
        let mut along = |axis: usize| centre[axis] + spread[axis] * rng.normal();
        let points: Vec<[f64; 2]> = (0..n).map(|_| [along(0), along(1)]).collect();
        self.class(name, points);
    }

    fn finish(self) -> DataSet {
        DataSet {
            name: self.name,
            features: Matrix::from_vec(self.truth.len(), 2, self.values),
            feature_names: vec!["x".to_owned(), "y".to_owned()],
            truth: self.truth,
            class_names: self.class_names,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_set_is_complete_and_repeatable() {
        for info in DATA_SETS {
            let set = (info.make)(&Run::new(1));
            assert_eq!(set.name, info.name);
            assert_eq!(set.features.nrows(), set.truth.len());
            assert_eq!(set.features.ncols(), set.feature_names.len());
            assert_eq!(set.class_names.len(), info.classes);
            assert!(set.features.as_slice().iter().all(|x| x.is_finite()));
            let mut classes = set.truth.clone();
            classes.sort_unstable();
            classes.dedup();
            assert_eq!(classes, (0..info.classes as u32).collect::<Vec<_>>());
            assert_eq!((data_set(info.name).unwrap().make)(&Run::new(1)), set);
        }
        assert!(data_set("moons").unwrap_err().to_string().contains("iris, half-rings"));
    }

    /// Fisher's means, to the two digits that are printed everywhere.
    #[test]
    fn iris_is_fishers() {
        let iris = iris();
        let mean = |j: usize| iris.features.iter_rows().map(|row| row[j]).sum::<f64>() / 150.0;
        for (j, expected) in [5.84, 3.06, 3.76, 1.20].into_iter().enumerate() {
            assert!((mean(j) - expected).abs() < 0.005, "{j}: {}", mean(j));
        }
        assert_eq!(iris.class_names, ["setosa", "versicolor", "virginica"]);
        assert_eq!(iris.features.row(0), [5.1, 3.5, 1.4, 0.2]);
    }

    #[test]
    fn ring_points_lie_on_their_ring() {
        let set = three_rings(&mut Rng::new(4, Stream::Data));
        for (row, &class) in set.features.iter_rows().zip(&set.truth) {
            let radius = row[0].hypot(row[1]) - [0.5, 1.75, 3.0][class as usize];
            assert!(radius.abs() <= 0.2 + 1e-12);
        }
    }
}
