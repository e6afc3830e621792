//! Random projections: every member sees the objects along other Gaussian directions.
//!
//! X. Z. Fern, C. E. Brodley. *Random Projection for High Dimensional Data Clustering: A Cluster
//! Ensemble Approach.* ICML 2003.

use crate::generate::model::Features;
use crate::generate::scheme::{Scheme, SchemeInfo, Share, View};
use crate::linalg::Matrix;
use crate::rng::Rng;

/// What there is to know about the scheme.
pub(super) const INFO: SchemeInfo = SchemeInfo {
    name: "random-projection",
    title: "every member sees the objects along other random directions, by default d/2 of them",
    make: || Scheme::RandomProjection { dimensions: Share::Fraction(0.5) },
};

/// Draws the directions of one member: independent normal entries of variance $1/D$, so that
/// squared distances are kept on average.
pub(super) fn draw(share: Share, d: usize, rng: &mut Rng) -> View {
    let dimensions = share.of(d);
    let scale = 1.0 / (dimensions as f64).sqrt();
    let entries = (0..d * dimensions).map(|_| scale * rng.normal()).collect();
    let directions = Matrix::from_vec(d, dimensions, entries);
    View { features: Features::Projection(directions), ..View::whole() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn squared_lengths_are_kept_on_average() {
        let mut rng = Rng::new(0, Stream::Member(0));
        let Features::Projection(p) = draw(Share::Count(400), 3, &mut rng).features else {
            panic!("a projection");
        };
        for row in p.iter_rows() {
            // A chi-square of 400 degrees over 400: mean 1, standard deviation 0.07.
            let length: f64 = row.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 0.35, "{length}");
        }
    }
}
