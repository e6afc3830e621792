//! Prim's algorithm without a matrix of distances.
//!
//! The tree grows row by row: the row that joined last may bring the rows outside nearer, and the nearest
//! of them joins next. Rows outside are kept in panels, coordinate by coordinate, and the last of them
//! takes the place of the one that left, so that only pairs that can matter are looked at.

use rayon::prelude::*;

use super::Link;
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;

/// Rows of a panel.
const PANEL: usize = 16;

/// Panels of one unit of parallel work.
const CHUNK: usize = 16;

/// Fewer coordinates than this are looked at on one thread.
const SERIAL: usize = 1 << 17;

/// Rows outside the tree, with the first edge from each into it.
struct Panel {
    /// Coordinate by coordinate.
    values: Vec<[f64; PANEL]>,
    rows: [u32; PANEL],
    core: [f64; PANEL],
    /// Squared lengths of the first edges; infinite where no row is left.
    squares: [f64; PANEL],
    distances: [f64; PANEL],
    to: [u32; PANEL],
}

impl Panel {
    fn empty(d: usize) -> Self {
        Panel {
            values: vec![[0.0; PANEL]; d],
            rows: [u32::MAX; PANEL],
            core: [f64::INFINITY; PANEL],
            squares: [f64::INFINITY; PANEL],
            distances: [f64::INFINITY; PANEL],
            to: [u32::MAX; PANEL],
        }
    }

    fn link(&self, l: usize) -> Link {
        Link::new(self.squares[l], self.distances[l], self.rows[l], self.to[l])
    }

    /// Looks whether `row`, which has joined, is nearer than the tree was before, and gives the first edge.
    #[inline(always)]
    fn join(&mut self, row: u32, point: &[f64], core: f64) -> (Link, usize) {
        let mut distances = [0.0; PANEL];
        for (values, &x) in self.values.iter().zip(point) {
            for l in 0..PANEL {
                let difference = values[l] - x;
                distances[l] += difference * difference;
            }
        }
        let mut squares = self.core;
        let mut news = false;
        for l in 0..PANEL {
            squares[l] = if core > squares[l] { core } else { squares[l] };
            squares[l] = if distances[l] > squares[l] { distances[l] } else { squares[l] };
            news |= squares[l] <= self.squares[l];
        }
        if news {
            for l in 0..PANEL {
                let new = Link::new(squares[l], distances[l], self.rows[l], row);
                if self.rows[l] != u32::MAX && new.is_before(&self.link(l)) {
                    (self.squares[l], self.distances[l], self.to[l]) =
                        (squares[l], distances[l], row);
                }
            }
        }
        let least = self.squares.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a });
        let mut first = (Link::NONE, 0);
        for l in 0..PANEL {
            if self.squares[l] == least && self.link(l).is_before(&first.0) {
                first = (self.link(l), l);
            }
        }
        first
    }
}

/// The tree's edges in the order they are found; `core` has squared core distances by row.
pub(super) fn links(points: &Matrix, core: Option<&[f64]>, run: &Run) -> Result<Vec<Link>> {
    let (n, d) = (points.nrows(), points.ncols());
    let core = |row: usize| core.map_or(0.0, |core| core[row]);
    let mut panels: Vec<Panel> = (0..(n - 1).div_ceil(PANEL)).map(|_| Panel::empty(d)).collect();
    for row in 1..n {
        let (panel, l) = (&mut panels[(row - 1) / PANEL], (row - 1) % PANEL);
        (0..d).for_each(|f| panel.values[f][l] = points[(row, f)]);
        (panel.rows[l], panel.core[l]) = (row as u32, core(row));
    }
    let mut links = Vec::with_capacity(n - 1);
    let mut newest = 0;
    for outside in (1..n).rev() {
        if outside % 64 == 0 {
            run.tick("spanning tree", links.len() as u64, Some(n as u64 - 1))?;
        }
        panels.truncate(outside.div_ceil(PANEL));
        let (point, own) = (points.row(newest), core(newest));
        let look = |(chunk, panels): (usize, &mut [Panel])| {
            let mut first = (Link::NONE, 0);
            vectorised(
                #[inline(always)]
                || {
                    for (p, panel) in panels.iter_mut().enumerate() {
                        let (link, l) = panel.join(newest as u32, point, own);
                        if link.is_before(&first.0) {
                            first = (link, (chunk * CHUNK + p) * PANEL + l);
                        }
                    }
                },
            );
            first
        };
        let before = |x: (Link, usize), y: (Link, usize)| if y.0.is_before(&x.0) { y } else { x };
        let (link, place) = if outside * d < SERIAL {
            panels.chunks_mut(CHUNK).enumerate().map(look).fold((Link::NONE, 0), before)
        } else {
            let chunks = panels.par_chunks_mut(CHUNK).enumerate();
            chunks.map(look).reduce(|| (Link::NONE, 0), before)
        };
        links.push(link);
        newest = panels[place / PANEL].rows[place % PANEL] as usize;
        replace(&mut panels, place, outside - 1);
    }
    Ok(links)
}

/// Moves the row at place `last` to `place`, and leaves `last` empty.
fn replace(panels: &mut [Panel], place: usize, last: usize) {
    let (to, from) = (place % PANEL, last % PANEL);
    let (front, back) = panels.split_at_mut(last / PANEL);
    let source = &mut back[0];
    if let Some(target) = front.get_mut(place / PANEL) {
        for (to_values, from_values) in target.values.iter_mut().zip(&source.values) {
            to_values[to] = from_values[from];
        }
        (target.rows[to], target.core[to]) = (source.rows[from], source.core[from]);
        target.squares[to] = source.squares[from];
        target.distances[to] = source.distances[from];
        target.to[to] = source.to[from];
    } else {
        source.values.iter_mut().for_each(|values| values[to] = values[from]);
        (source.rows[to], source.core[to]) = (source.rows[from], source.core[from]);
        source.squares[to] = source.squares[from];
        source.distances[to] = source.distances[from];
        source.to[to] = source.to[from];
    }
    source.rows[from] = u32::MAX;
    source.core[from] = f64::INFINITY;
    source.squares[from] = f64::INFINITY;
}
