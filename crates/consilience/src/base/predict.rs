//! The nearest of several centres for every row of a table.

use rayon::prelude::*;

use crate::base::distance::{CHUNK, check_columns};
use crate::base::kmeans::nearest_of_sparse;
use crate::base::panels::{Frame, PANEL, PackedCentres, Search};
use crate::base::sparse_matrix::SparseMatrix;
use crate::base::stats::Stats;
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// What a k-means that does not settle produced, whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CentreFit {
    /// The centres, one per row.
    pub centres: Matrix,
    /// The nearest centre of every row; some centre may be nearest to none.
    pub labels: Vec<u32>,
}

/// The nearest of `centres` for every row of `data`; the lowest index among equals.
pub(crate) fn nearest_centres<'a, T: Float>(
    data: impl Into<Table<'a, T>>,
    centres: &Matrix,
    run: &Run,
) -> Result<Vec<u32>> {
    let data = data.into();
    Table::from(centres).check()?;
    check_columns(data.ncols(), centres)?;
    nearest_in_frame(&data, &frame_of(&data, run)?, centres, run)
}

/// Reads the table and makes the frame in which its rows, all or some, are searched.
pub(super) fn frame_of<T: Float>(data: &Table<'_, T>, run: &Run) -> Result<Frame> {
    let stats = run.install(|| Stats::new(data, None, run))?;
    Ok(Frame::new(stats.mean(), stats.largest()))
}

/// The nearest of `centres`, which are of the table's width, for every row; the frame is that of the
/// rows or of more than them.
pub(super) fn nearest_in_frame<T: Float>(
    data: &Table<'_, T>,
    frame: &Frame,
    centres: &Matrix,
    run: &Run,
) -> Result<Vec<u32>> {
    run.install(|| {
        let packed = PackedCentres::new(centres, frame);
        let mut labels = vec![0; data.nrows()];
        labels.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, labels)| {
            run.check()?;
            let mut search = Search::new(&packed);
            let mut panel = vec![0.0; PANEL * data.ncols()];
            let mut norms = [0.0; PANEL];
            for (p, labels) in labels.chunks_mut(PANEL).enumerate() {
                let row = |l: usize| data.row(chunk * CHUNK + p * PANEL + l);
                frame.pack((0..labels.len()).map(row), &mut panel, &mut norms, |_| ());
                let n = labels.len();
                search.panel(&panel, &norms, n, row, |l, centre, _| labels[l] = centre);
            }
            Ok(())
        })?;
        Ok(labels)
    })
}

/// The nearest of `centres` for every row of a sparse table; the lowest index among equals.
pub(crate) fn nearest_centres_sparse(
    data: &SparseMatrix,
    centres: &Matrix,
    run: &Run,
) -> Result<Vec<u32>> {
    Table::from(centres).check()?;
    check_columns(data.ncols(), centres)?;
    run.install(|| nearest_of_sparse(data, centres, run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::distance::nearest;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_the_lowest_index() {
        let data = Matrix::from_vec(3, 1, vec![0.0, 1.0, 2.0]);
        let centres = Matrix::from_vec(3, 1, vec![2.0, 0.0, 2.0]);
        assert_eq!(nearest_centres(&data, &centres, &Run::new(0)), Ok(vec![1, 0, 0]));
    }

    #[test]
    fn data_of_another_width_are_refused() {
        let (data, centres) = (Matrix::zeros(2, 3), Matrix::zeros(1, 2));
        let refusal = nearest_centres(&data, &centres, &Run::new(0)).unwrap_err().to_string();
        assert_eq!(refusal, "a row of the data has 3 entries, but a centre has 2");
    }

    /// Coordinates that differ little, wildly, or not at all.
    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (-3..=3i32).prop_map(f64::from),
            4 => -1.0..1.0,
            1 => (-9..9i32).prop_map(|i| 1.0 + f64::from(i) * f64::EPSILON),
            1 => -1e9..1e9,
            1 => -1e-9..1e-9,
            1 => prop_oneof![Just(1e140), Just(-1e140), Just(1e-300), Just(1e-30)],
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn the_search_is_the_plain_one(
            (n, k, d, values) in (1..40usize, 1..30usize, 1..40usize).prop_flat_map(|(n, k, d)| {
                let values = prop::collection::vec(coordinate(), (n + k) * d);
                (Just(n), Just(k), Just(d), values)
            }),
            offset in prop_oneof![Just(0.0), Just(1e6), Just(-1e12)],
        ) {
            let values: Vec<f64> = values.into_iter().map(|x| x + offset).collect();
            let data = Matrix::from_vec(n, d, values[..n * d].to_vec());
            let centres = Matrix::from_vec(k, d, values[n * d..].to_vec());
            let found = nearest_centres(&data, &centres, &Run::new(0).threads(1)).unwrap();
            for (row, label) in data.iter_rows().zip(found) {
                prop_assert_eq!(label, nearest(row, &centres).0);
            }
        }
    }
}
