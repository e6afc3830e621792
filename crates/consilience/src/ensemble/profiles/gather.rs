//! Rows of profiles, read from the objects that show them first.

use rayon::prelude::*;

use crate::ensemble::labels::collection::Ensemble;
use crate::ensemble::labels::member::Member;
use crate::ensemble::labels::{Code, with_codes};
use crate::linalg::Matrix;

/// Profiles whose rows are gathered at a time, column by column.
const GATHER: usize = 1024;

/// The codes of the hard members of the objects in `first`, row by row.
pub(super) fn gather<C: Code>(ensemble: &Ensemble, first: &[u32], n_hard: usize) -> Vec<C> {
    // Zeros are memory that the threads below are the first to touch.
    let mut rows = vec![C::from_index(0); first.len() * n_hard];
    if n_hard > 0 {
        rows.par_chunks_mut(GATHER * n_hard).zip(first.par_chunks(GATHER)).for_each(
            |(rows, first)| {
                let hard = ensemble.members().iter().filter_map(|member| match member {
                    Member::Hard(m) => Some(m.labels()),
                    Member::Soft(_) => None,
                });
                for (column, labels) in hard.enumerate() {
                    with_codes!(labels, codes => {
                        for (row, &i) in rows.chunks_exact_mut(n_hard).zip(first) {
                            row[column] = codes[i as usize].convert();
                        }
                    });
                }
            },
        );
    }
    rows
}

/// The memberships of the soft members of the objects in `first`, row by row.
pub(super) fn gather_soft(ensemble: &Ensemble, first: &[u32], n_soft: usize) -> Matrix {
    let mut rows = vec![0.0; first.len() * n_soft];
    if n_soft > 0 {
        rows.par_chunks_mut(GATHER * n_soft).zip(first.par_chunks(GATHER)).for_each(
            |(rows, first)| {
                for (row, &i) in rows.chunks_exact_mut(n_soft).zip(first) {
                    let mut rest = row;
                    for member in ensemble.members() {
                        if let Member::Soft(m) = member {
                            let memberships = m.memberships().row(i as usize);
                            let (own, others) = rest.split_at_mut(memberships.len());
                            own.copy_from_slice(memberships);
                            rest = others;
                        }
                    }
                }
            },
        );
    }
    Matrix::from_vec(first.len(), n_soft, rows)
}
