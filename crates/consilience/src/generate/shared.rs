//! What the members of a committee share, made once: the rows that they learn from, the spanning tree
//! and the nearest rows of these, and the directions in which they spread.

use std::sync::{Arc, OnceLock};

use crate::base::{Neighbours, SpanningTree, Table, principal_components};
use crate::ensemble::Member;
use crate::error::Result;
use crate::generate::base::{Base, BaseFit};
use crate::generate::committee::Committee;
use crate::generate::cuts::cut_and_leak;
use crate::generate::data::{Data, Seen};
use crate::generate::model::{Features, Fitted, KnownRows, NO_CLUSTER, needs_dense};
use crate::generate::scheme::View;
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Nearest rows that cuts are counted by.
const NEIGHBOURS: usize = 10;

/// Columns that a mixture sees at most. Where there are more, it sees as many principal components:
/// covariances of hundreds of columns learn nothing.
const COMPONENTS: usize = 20;

/// Does the same with a dense table of either precision.
macro_rules! with_table {
    ($data:expr, $table:ident => $work:expr) => {
        match $data {
            Data::Dense(data) => {
                let $table = Table::from(data);
                $work
            }
            Data::Single($table) => $work,
            Data::Sparse(_) => return Err(needs_dense("one that needs distances of rows")),
        }
    };
}

/// What members share. Each thing is made when [`prepare`](Self::prepare) is told of a clusterer that
/// needs it: not within parallel loops, where a thread could come to wait for itself.
pub(super) struct Shared<'a> {
    data: Data<'a>,
    /// How many rows a member learns from.
    size: usize,
    /// The rows that those learn from that label others by the nearest of them; `None` for all.
    rows: Option<Vec<usize>>,
    /// These rows alone.
    training: Option<Seen<'static>>,
    tree: OnceLock<SpanningTree>,
    neighbours: OnceLock<Neighbours>,
    known: OnceLock<Known>,
    directions: OnceLock<Matrix>,
}

/// The rows learned from, ready to be found.
struct Known {
    rows: Arc<KnownRows>,
    /// Which of them is the nearest of every row of the table; `None` if all are learned from.
    nearest: Option<Vec<u32>>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(data: Data<'a>, committee: &Committee, run: &Run) -> Result<Self> {
        let n = data.nrows();
        let size = committee.learned_from(n);
        let rows = (size < n).then(|| sample(n, size, &mut run.rng(Stream::Order)));
        let training = match &rows {
            Some(rows) => Some(Features::All.of(data, run)?.rows(rows)),
            None => None,
        };
        let (tree, neighbours, known) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let directions = OnceLock::new();
        Ok(Shared { data, size, rows, training, tree, neighbours, known, directions })
    }

    /// How many bytes is shared beside a table of `n` rows and `d` columns, `m` of which are learned from.
    pub(super) fn cost(n: usize, m: usize, d: usize) -> u64 {
        // Three copies of the rows learned from, each row's neighbours, and the nearest row of all.
        (m * (24 * d + 24 * NEIGHBOURS + 64) + if n > m { 4 * n } else { 0 }) as u64
    }

    fn training(&self) -> Data<'_> {
        self.training.as_ref().map_or(self.data, Seen::data)
    }

    /// Makes what `base` needs, unless it is there.
    pub(super) fn prepare(&self, base: &Base, run: &Run) -> Result<()> {
        if base.labels_by_rows() {
            if self.known.get().is_none() {
                let rows =
                    with_table!(self.training(), table => KnownRows::new(table.to_matrix(), run)?);
                let nearest = match &self.rows {
                    Some(_) => Some(with_table!(self.data, table => rows.nearest(table, run)?)),
                    None => None,
                };
                let _ = self.known.set(Known { rows: Arc::new(rows), nearest });
            }
            if base.merges_along_tree() && self.tree.get().is_none() {
                let tree = with_table!(self.training(), table => SpanningTree::new(table, run)?);
                let _ = self.tree.set(tree);
            }
        }
        if self.sees_components(base) && self.directions.get().is_none() {
            let rows = with_table!(self.training(), table => table.to_matrix());
            let found = principal_components(&rows, COMPONENTS, run)?;
            let d = rows.ncols();
            let directions = Matrix::from_fn(d, COMPONENTS, |i, j| found.loadings[(j, i)]);
            let _ = self.directions.set(directions);
        }
        Ok(())
    }

    fn sees_components(&self, base: &Base) -> bool {
        matches!(base, Base::Gmm(_)) && self.data.ncols() > COMPONENTS
    }

    /// What a member made by `base` sees. Those that label others by the nearest row learned from share
    /// these; the others draw their own.
    pub(super) fn view(&self, base: &Base, rng: &mut Rng) -> View {
        let n = self.data.nrows();
        let own = self.size < n && !base.labels_by_rows();
        let rows = own.then(|| sample(n, self.size, rng));
        let features = match self.directions.get().filter(|_| self.sees_components(base)) {
            Some(directions) => Features::Projection(directions.clone()),
            None => Features::All,
        };
        View { rows, features, ..View::whole() }
    }

    /// The answer of a clusterer that labels others by the nearest row learned from, for all rows.
    pub(super) fn fit(&self, base: &Base, run: &Run, rng: &mut Rng) -> Result<BaseFit> {
        let labels = match (base, self.tree.get()) {
            (Base::Hierarchy(p), Some(tree)) if base.merges_along_tree() => {
                p.clone().check()?.fit_along(tree, run)?
            }
            _ => base.fit(self.training(), None, run, rng)?.labels,
        };
        let Some(Known { rows, nearest }) = self.known.get() else {
            unreachable!("made by `prepare`")
        };
        let of_all = match nearest {
            Some(nearest) => nearest.iter().map(|&row| labels[row as usize]).collect(),
            None => labels.clone(),
        };
        let fitted = Fitted::Nearest { rows: Arc::clone(rows), labels };
        Ok(BaseFit { fitted, labels: of_all })
    }

    /// How much each of these members cuts nearest rows apart, and close ones; nothing if there is no
    /// telling.
    pub(super) fn cuts(&self, members: &[&Member], run: &Run) -> Result<Option<Vec<(f64, f64)>>> {
        let m = NEIGHBOURS.min(self.training().nrows().saturating_sub(1));
        if m == 0 || matches!(self.data, Data::Sparse(_)) {
            return Ok(None);
        }
        if self.neighbours.get().is_none() {
            let found = with_table!(self.training(), table => Neighbours::new(table, m, run)?);
            let _ = self.neighbours.set(found);
        }
        let neighbours = self.neighbours.get().expect("made above");
        let cuts = members.iter().map(|member| {
            run.check()?;
            let labels = member.hardened();
            let code = |label: Option<usize>| label.map_or(NO_CLUSTER, |label| label as u32);
            let all: Vec<u32> = labels.labels().iter().map(code).collect();
            let learned = self.rows.as_ref().map(|rows| rows.iter().map(|&i| all[i]).collect());
            Ok(cut_and_leak(&learned.unwrap_or(all), neighbours))
        });
        cuts.collect::<Result<_>>().map(Some)
    }
}

/// `size` of `n` rows to learn from, in order.
fn sample(n: usize, size: usize, rng: &mut Rng) -> Vec<usize> {
    let mut rows = rng.distinct(n, size);
    rows.sort_unstable();
    rows
}
