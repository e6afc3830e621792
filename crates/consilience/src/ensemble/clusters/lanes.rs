//! Numbers laid out for wide registers.

use crate::linalg::Matrix;

/// Numbers added together. Rows are padded to whole lanes, and a kernel takes up to eight lanes of a
/// row, so that they stay in registers.
pub(crate) const LANES: usize = 4;
pub(crate) type Lane = [f64; LANES];

/// Numbers that begin where a line of the cache does: no lane lies across two.
pub(crate) struct Aligned {
    room: Vec<f64>,
    start: usize,
}

impl Aligned {
    /// Numbers in a line.
    const LINE: usize = 8;

    pub(crate) fn zeros(len: usize) -> Self {
        let room = vec![0.0; len + Self::LINE];
        let start = room.as_ptr().align_offset(Self::LINE * size_of::<f64>()).min(Self::LINE);
        Aligned { room, start }
    }

    fn len(&self) -> usize {
        self.room.len() - Self::LINE
    }

    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.room[self.start..][..self.len()]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f64] {
        let len = self.len();
        &mut self.room[self.start..][..len]
    }

    pub(crate) fn lanes(&self) -> &[Lane] {
        self.as_slice().as_chunks().0
    }

    pub(crate) fn lanes_mut(&mut self) -> &mut [Lane] {
        self.as_mut_slice().as_chunks_mut().0
    }
}

/// The rows of a matrix, each padded to whole lanes.
pub(crate) struct Wide {
    pub(crate) columns: usize,
    pub(crate) lanes: usize,
    pub(crate) values: Aligned,
}

impl Wide {
    pub(crate) fn new(matrix: &Matrix) -> Self {
        let (columns, lanes) = (matrix.ncols(), matrix.ncols().div_ceil(LANES).max(1));
        let mut values = Aligned::zeros(matrix.nrows() * lanes * LANES);
        let padded = values.as_mut_slice().chunks_exact_mut(lanes * LANES);
        for (padded, row) in padded.zip(matrix.iter_rows()) {
            padded[..columns].copy_from_slice(row);
        }
        Wide { columns, lanes, values }
    }

    pub(crate) fn row(&self, i: usize) -> &[Lane] {
        &self.values.lanes()[i * self.lanes..][..self.lanes]
    }
}
