//! Mini-batch k-means: centres that learn from small samples, for tables too large to read often.
//!
//! D. Sculley. *Web-scale k-means clustering.* WWW 2010, Algorithm 1.
//!
//! Centres start at $k$ rows of different content. In each step $b$ rows are drawn with replacement
//! and each is put to its nearest centre; then, row by row, the count $v_c$ of its centre grows by
//! one and the centre moves towards the row by the rate $1 / v_c$: a centre is the mean of all rows
//! it was ever given. At the end every row goes to its nearest centre; a centre that is nearest to
//! none leaves no cluster.

use serde::Serialize;

use crate::base::distance::check_columns;
use crate::base::predict::{CentreFit, frame_of, nearest_centres_sparse, nearest_in_frame};
use crate::base::sparse_matrix::SparseMatrix;
use crate::base::start::{Rows, Start, centres_at, random_rows};
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::rng::Rng;
use crate::run::Run;
use crate::setters::setters;

/// Parameters of mini-batch k-means, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MiniBatchParams {
    k: usize,
    start: Start,
    batch: usize,
    steps: usize,
}

impl MiniBatchParams {
    /// At most `k` clusters, from random rows, by 200 steps of 4096 rows.
    pub fn new(k: usize) -> Self {
        MiniBatchParams { k, start: Start::Random, batch: 4096, steps: 200 }
    }

    setters! {
        /// The number of centres, at least 1.
        k: usize,

        /// Where the centres start: at random rows, or at given centres. k-means++ would read the
        /// whole table for every centre, and is refused.
        start: Start,

        /// How many rows are drawn in a step, at least 1.
        batch: usize,

        /// The number of steps, at least 1.
        steps: usize,
    }

    /// Where the centres start, as set.
    pub(crate) fn start_of(&self) -> &Start {
        &self.start
    }

    /// Proves the parameters valid, whatever the data.
    pub(crate) fn check(self) -> Result<MiniBatch> {
        for (name, value) in [("k", self.k), ("batch", self.batch), ("steps", self.steps)] {
            if value == 0 {
                return Err(Error::parameter(name, "at least 1", value));
            }
        }
        match &self.start {
            Start::Random => {}
            Start::PlusPlus => {
                let expected = "random or given centres: k-means++ reads the table k times";
                return Err(Error::parameter("start", expected, "k-means++"));
            }
            Start::Given(centres) => {
                if centres.nrows() != self.k {
                    let expected = format!("{} centres, one per cluster", self.k);
                    return Err(Error::parameter("start", expected, centres.nrows()));
                }
                Table::from(centres).check()?;
            }
        }
        Ok(MiniBatch(self))
    }
}

/// Mini-batch k-means with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MiniBatch(MiniBatchParams);

impl MiniBatch {
    /// Clusters the rows of `data`; starts and samples are drawn from `rng`.
    ///
    /// # Cost
    ///
    /// Time $O(k d)$ for each of the rows drawn and, once, for each row of the table; memory $O(b d)$
    /// beyond the labels.
    pub(crate) fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<CentreFit> {
        let data = data.into();
        let frame = frame_of(&data, run)?;
        let centres = self.learn(&data, run, rng, |drawn, centres| {
            let sample = data.select_rows(drawn);
            let sample = Table::new(drawn.len(), data.ncols(), &sample);
            nearest_in_frame(&sample, &frame, centres, run)
        })?;
        let labels = nearest_in_frame(&data, &frame, &centres, run)?;
        Ok(CentreFit { centres, labels })
    }

    /// Clusters the rows of a sparse table without writing out more than one at a time. Labels and
    /// centres are, bit by bit, those of [`fit`](Self::fit) on the table written out.
    ///
    /// # Cost
    ///
    /// Time $O(d)$ for each of the rows drawn, since centres are dense, and $O(k)$ for each number
    /// that is not 0, of the rows drawn and, once, of the table.
    pub(crate) fn fit_sparse(
        &self,
        data: &SparseMatrix,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<CentreFit> {
        data.check()?;
        let centres = self.learn(data, run, rng, |drawn, centres| {
            nearest_centres_sparse(&data.select_rows(drawn), centres, run)
        })?;
        let labels = nearest_centres_sparse(data, &centres, run)?;
        Ok(CentreFit { centres, labels })
    }

    /// The centres after all steps; `nearest` finds those of the rows drawn.
    fn learn(
        &self,
        rows: &impl Rows,
        run: &Run,
        rng: &mut Rng,
        nearest: impl Fn(&[usize], &Matrix) -> Result<Vec<u32>>,
    ) -> Result<Matrix> {
        let mut centres = match &self.0.start {
            Start::Given(centres) => {
                check_columns(rows.ncols(), centres)?;
                centres.clone()
            }
            _ => centres_at(rows, &random_rows(rows, None, self.0.k, rng)?),
        };
        let mut counts = vec![0.0; self.0.k];
        let mut row = vec![0.0; rows.ncols()];
        for _ in 0..self.0.steps {
            run.check()?;
            let drawn: Vec<usize> = (0..self.0.batch).map(|_| rng.below(rows.nrows())).collect();
            for (&i, c) in drawn.iter().zip(nearest(&drawn, &centres)?) {
                let c = c as usize;
                counts[c] += 1.0;
                rows.write(i, &mut row);
                for (mean, x) in centres.row_mut(c).iter_mut().zip(&row) {
                    *mean += (x - *mean) / counts[c];
                }
            }
        }
        Ok(centres)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::distance::inertia;
    use crate::base::kmeans::KMeansParams;
    use crate::rng::Stream;

    /// Overlapping clouds around `k` places.
    fn clouds(n: usize, d: usize, k: usize) -> Matrix {
        let mut rng = Rng::new(7, Stream::Data);
        let places: Vec<f64> = (0..k * d).map(|_| 2.0 * rng.normal()).collect();
        let values = (0..n * d).map(|i| places[(i / d % k) * d + i % d] + rng.normal()).collect();
        Matrix::from_vec(n, d, values)
    }

    fn fit(params: MiniBatchParams, data: &Matrix, threads: usize) -> Result<CentreFit> {
        let run = Run::new(3).threads(threads);
        params.check()?.fit(data, &run, &mut run.rng(Stream::Member(0)))
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let two = || MiniBatchParams::new(2);
        for (bad, name) in [
            (two().k(0), "`k`"),
            (two().batch(0), "`batch`"),
            (two().steps(0), "`steps`"),
            (two().start(Start::PlusPlus), "`start`"),
            (two().start(Start::Given(Matrix::zeros(3, 1))), "`start`"),
        ] {
            let refusal = bad.check().unwrap_err().to_string();
            assert!(refusal.contains(name), "{refusal}");
        }
        let wide = two().start(Start::Given(Matrix::zeros(2, 4)));
        assert!(fit(wide, &clouds(10, 2, 2), 1).is_err());
        let constant = Matrix::zeros(5, 2);
        assert_eq!(fit(two(), &constant, 1), Err(Error::TooFewRows { k: 2, distinct: 1 }));
    }

    /// From the same start it ends about where Lloyd's iteration does.
    #[test]
    fn the_inertia_is_near_that_of_all_rows() {
        let (k, data) = (10, clouds(20_000, 8, 10));
        let start = Start::Given(data.select_rows(&(0..k).collect::<Vec<_>>()));
        let params = MiniBatchParams::new(k).start(start.clone()).batch(1024).steps(60);
        let small = fit(params, &data, 0).unwrap();
        let lloyd = KMeansParams::new(k).start(start).tol(0.0).check().unwrap();
        let whole = lloyd.fit(&data, &Run::new(0), Stream::Restart).unwrap();
        let small = inertia(&Table::from(&data), None, &small.centres, &small.labels);
        let ratio = small / whole.inertia;
        assert!(ratio < 1.05, "{ratio}");
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let data = clouds(5000, 3, 7);
        let on = |threads| fit(MiniBatchParams::new(9).batch(500).steps(20), &data, threads);
        assert_eq!(on(1), on(2));
    }

    /// Single precision and zeros left out change nothing.
    #[test]
    fn however_the_table_is_stored_the_answer_is_the_same() {
        let mut rng = Rng::new(1, Stream::Data);
        let values: Vec<f32> = (0..600 * 9).map(|_| rng.normal().max(0.0) as f32 * 3.0).collect();
        let single = Table::new(600, 9, &values);
        let dense = single.to_matrix();
        let kmeans = MiniBatchParams::new(5).batch(100).steps(20).check().unwrap();
        let run = Run::new(3);
        let rng = || run.rng(Stream::Member(0));
        let expected = kmeans.fit(&dense, &run, &mut rng()).unwrap();
        assert_eq!(kmeans.fit(single, &run, &mut rng()), Ok(expected.clone()));
        let sparse = SparseMatrix::from_dense(&dense);
        assert_eq!(kmeans.fit_sparse(&sparse, &run, &mut rng()), Ok(expected));
    }

    /// After one step from given centres, each is the mean of the rows it was given.
    #[test]
    fn a_centre_is_the_mean_of_what_it_was_given() {
        let data = Matrix::from_vec(2, 1, vec![1.0, 5.0]);
        let start = Start::Given(Matrix::from_vec(2, 1, vec![0.0, 9.0]));
        let found = fit(MiniBatchParams::new(2).start(start).batch(50).steps(1), &data, 1).unwrap();
        // Row 5 is nearer to 9.
        assert_eq!(found.centres.as_slice(), [1.0, 5.0]);
        assert_eq!(found.labels, [0, 1]);
    }

    #[test]
    fn a_raised_flag_stops_it() {
        let flag = crate::CancelFlag::default();
        flag.cancel();
        let run = Run::new(0).cancel_flag(flag);
        let kmeans = MiniBatchParams::new(1).check().unwrap();
        let stopped = kmeans.fit(&clouds(10, 1, 1), &run, &mut run.rng(Stream::Member(0)));
        assert_eq!(stopped, Err(Error::Cancelled));
    }
}
