//! Numbers laid out for wide registers.

use crate::linalg::Matrix;

/// Numbers added together. Rows are padded to whole lanes, and a kernel takes up to eight lanes of a
/// row, so that they stay in registers.
pub(super) const LANES: usize = 4;
pub(super) type Lane = [f64; LANES];

/// Numbers that begin where a line of the cache does: no lane lies across two.
pub(super) struct Aligned {
    room: Vec<f64>,
    start: usize,
}

impl Aligned {
    /// Numbers in a line.
    const LINE: usize = 8;

    pub(super) fn zeros(len: usize) -> Self {
        let room = vec![0.0; len + Self::LINE];
        let start = room.as_ptr().align_offset(Self::LINE * size_of::<f64>()).min(Self::LINE);
        Aligned { room, start }
    }

    fn len(&self) -> usize {
        self.room.len() - Self::LINE
    }

    pub(super) fn as_slice(&self) -> &[f64] {
        &self.room[self.start..][..self.len()]
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [f64] {
        let len = self.len();
        &mut self.room[self.start..][..len]
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        self.as_slice().as_chunks().0
    }

    pub(super) fn lanes_mut(&mut self) -> &mut [Lane] {
        self.as_mut_slice().as_chunks_mut().0
    }
}

/// The rows of a matrix, each padded to whole lanes.
pub(super) struct Wide {
    pub(super) columns: usize,
    pub(super) lanes: usize,
    pub(super) values: Aligned,
}

impl Wide {
    pub(super) fn new(matrix: &Matrix) -> Self {
        let (columns, lanes) = (matrix.ncols(), matrix.ncols().div_ceil(LANES).max(1));
        let mut values = Aligned::zeros(matrix.nrows() * lanes * LANES);
        let padded = values.as_mut_slice().chunks_exact_mut(lanes * LANES);
        for (padded, row) in padded.zip(matrix.iter_rows()) {
            padded[..columns].copy_from_slice(row);
        }
        Wide { columns, lanes, values }
    }

    pub(super) fn row(&self, i: usize) -> &[Lane] {
        &self.values.lanes()[i * self.lanes..][..self.lanes]
    }
}
