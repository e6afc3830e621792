//! Members made from features: a base clusterer, a scheme, and the scale of the features.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::{SCALINGS, Scaler, Scaling};
use crate::ensemble::{Ensemble, Member};
use crate::error::{Asked, Result};
use crate::generate::{Data, GeneratedMember, Generator, Seat, is_kept};
use crate::judge::{NUMBER_ROWS, Number, Scatter};
use crate::linalg::Matrix;
use crate::pipeline::record::MadeRecord;
use crate::rng::Stream;
use crate::run::Run;
use crate::words::{count, counted};

/// How members are made from features.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The base clusterer and the scheme.
    pub generator: Generator,
    /// How features are brought to one scale before.
    pub scaling: Scaling,
}

/// Where finished members are kept, so that an interrupted run can go on.
pub trait Store: Sync {
    /// Member `i`, if it is finished.
    fn load(&self, i: usize) -> Option<Member>;

    /// Keeps member `i`, and returns it as [`load`](Self::load) will, to the bit.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`](crate::Error::Cancelled) if it cannot be kept; the store then knows why.
    fn save(&self, i: usize, member: Member) -> Result<Member>;
}

/// What came of making members besides themselves.
pub(super) struct Making {
    /// How many came from the store.
    pub(super) reused: usize,
    /// What a committee made, those included that were left out.
    pub(super) seats: Vec<Seat>,
    /// What brings rows to the scale that they were clustered in; `None` if they are in it.
    scaler: Option<Scaler>,
    /// How many clusters the features speak for, if that was asked for and can be told.
    pub(super) number: Option<Number>,
    /// Who made the members: told the number of clusters, if that was found first.
    pub(super) generator: Generator,
}

/// How the number of clusters is looked for before members are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    /// The numbers that are allowed, if not all.
    pub(super) range: Option<&'a RangeInclusive<usize>>,
    /// Whether members are to be made for the number that is found.
    pub(super) tell: bool,
}

impl Recipe {
    /// The name of the scaling.
    pub fn scale(&self) -> &'static str {
        let named = SCALINGS.iter().find(|(_, scaling, _)| *scaling == self.scaling);
        named.map_or("none", |(name, ..)| name)
    }

    /// Makes the members alone, and says what a committee left out of them.
    ///
    /// # Errors
    ///
    /// If the data cannot be used, if memory does not suffice, or if the run is cancelled.
    pub fn ensemble(&self, data: Data<'_>, run: &Run) -> Result<(Ensemble, Vec<Seat>)> {
        self.make(data, None, None, run).map(|(ensemble, making)| (ensemble, making.seats))
    }

    /// Makes the members, but for those that `store` has.
    pub(super) fn make(
        &self,
        data: Data<'_>,
        look: Option<Look<'_>>,
        store: Option<&dyn Store>,
        run: &Run,
    ) -> Result<(Ensemble, Making)> {
        self.ask_memory(data, run)?;
        let fit = |scaler: Result<Scaler>| scaler.map(Some);
        let scaler = match data {
            _ if self.scaling == Scaling::None => None,
            Data::Dense(data) => fit(Scaler::fit(data, self.scaling))?,
            Data::Single(data) => fit(Scaler::fit(data, self.scaling))?,
            Data::Sparse(data) => fit(Scaler::fit_sparse(data, self.scaling))?,
        };
        let mut generator = self.generator.clone();
        let mut number = None;
        if let Some(Look { range, tell }) = look {
            number = number_in(data, scaler.as_ref(), range, run)?;
            if let Some(number) = number.as_ref().filter(|_| tell) {
                generator = generator.told(number.k);
            }
        }
        // Scaled tables stand beside what was read.
        let (dense, sparse);
        let here = match (&scaler, data) {
            (None, data) => generator.on(data, run)?,
            (Some(scaler), Data::Dense(data)) => {
                dense = scaler.apply(data)?;
                generator.on(&dense, run)?
            }
            (Some(scaler), Data::Single(data)) => {
                dense = scaler.apply(data)?;
                generator.on(&dense, run)?
            }
            (Some(scaler), Data::Sparse(data)) => {
                sparse = scaler.apply_sparse(data)?;
                generator.on(&sparse, run)?
            }
        };
        let size = generator.size() as u64;
        let (done, reused) = (AtomicU64::new(0), AtomicU64::new(0));
        let tick = |i: usize, member: Member| {
            run.tick(here.stage(i), done.fetch_add(1, Ordering::Relaxed) + 1, Some(size))?;
            Ok(member)
        };
        let known = |i: usize| {
            let stored = store.and_then(|store| store.load(i));
            reused.fetch_add(u64::from(stored.is_some()), Ordering::Relaxed);
            stored.map(|member| tick(i, member)).transpose()
        };
        let finish = |i: usize, made: GeneratedMember| match store {
            Some(store) => store.save(i, made.member).and_then(|member| tick(i, member)),
            None => tick(i, made.member),
        };
        run.tick(here.stage(0), 0, Some(size))?;
        let members = here.each(run, known, finish)?;
        let seats = here.seats(&members.iter().collect::<Vec<_>>(), run)?;
        let kept = members.into_iter().enumerate().filter(|(i, _)| is_kept(&seats, *i));
        let ensemble = Ensemble::new(kept.map(|(_, member)| member).collect())?;
        let reused = reused.into_inner() as usize;
        Ok((ensemble, Making { reused, seats, scaler, number, generator }))
    }

    /// Asks for the memory of the scaled data, of the members, and of the making of one.
    fn ask_memory(&self, data: Data<'_>, run: &Run) -> Result<()> {
        let (n, generator) = (data.nrows(), &self.generator);
        let label = match generator.base_k(n).1 {
            k if generator.is_soft() => 8 * k as u64,
            ..=255 => 1,
            256..=65_535 => 2,
            _ => 4,
        };
        // Scaled data are always in double precision.
        let scaled = match data {
            _ if self.scaling == Scaling::None => 0,
            Data::Single(data) => 8 * data.as_slice().len() as u64,
            data => data.bytes(),
        };
        let members = n as u64 * generator.size() as u64 * label;
        run.ask_memory_by(
            &format!("{} of {} objects", counted(generator.size(), "clustering"), count(n)),
            scaled + members + generator.cost(n, data.ncols()),
            if generator.is_soft() {
                "make fewer clusterings, or hard ones, or raise the ceiling"
            } else {
                "make fewer clusterings, or raise the ceiling"
            },
            &[Asked::Size, Asked::Ceiling],
        )
    }

    /// What a record says of the making of members of `n` objects; `seats` are those of a committee.
    pub fn record(&self, n: usize, seats: &[Seat]) -> MadeRecord {
        let generator = &self.generator;
        MadeRecord {
            scheme: generator.scheme().to_owned(),
            base: generator.base(),
            base_k: Some(generator.base_k(n)),
            scale: self.scale().to_owned(),
            soft: generator.is_soft(),
            seats: seats.to_vec(),
            recipe: serde_json::to_value(generator).unwrap_or_default(),
        }
    }
}

/// How many clusters `data`, brought to one scale by `scaler`, speak for; `None` of a sparse table or one of
/// a few rows, where that cannot be told.
pub(super) fn number_in(
    data: Data<'_>,
    scaler: Option<&Scaler>,
    range: Option<&RangeInclusive<usize>>,
    run: &Run,
) -> Result<Option<Number>> {
    data.check()?;
    let Some(mut rows) = sample(data, NUMBER_ROWS, run) else { return Ok(None) };
    if let Some(scaler) = scaler {
        rows = scaler.apply(&rows)?;
    }
    Ok(Number::new(&rows, range, run)?.map(|found| found.of_rows(data.nrows())))
}

/// At most `most` rows of dense `data`, evenly drawn.
fn sample(data: Data<'_>, most: usize, run: &Run) -> Option<Matrix> {
    let n = data.nrows();
    let mut rows: Vec<usize> = (0..n).collect();
    if n > most {
        rows = run.rng(Stream::Order).distinct(n, most);
        rows.sort_unstable();
    }
    let (m, d) = (rows.len(), data.ncols());
    match data {
        Data::Dense(data) => Some(Matrix::from_fn(m, d, |i, j| data[(rows[i], j)])),
        Data::Single(data) => Some(Matrix::from_fn(m, d, |i, j| f64::from(data.row(rows[i])[j]))),
        Data::Sparse(_) => None,
    }
}

impl Making {
    /// Some of the objects in two dimensions, in the scale that they were clustered in; `None` of
    /// sparse data, whose components would have to be computed of the table written out.
    pub(super) fn scatter(
        &self,
        data: Data<'_>,
        names: &[String],
        run: &Run,
    ) -> Result<Option<Scatter>> {
        let scaled = |rows: &Matrix| match &self.scaler {
            Some(scaler) => scaler.apply(rows),
            None => Ok(rows.clone()),
        };
        match data {
            Data::Dense(data) => Scatter::new(data, names, scaled, run).map(Some),
            Data::Single(data) => Scatter::new(data, names, scaled, run).map(Some),
            Data::Sparse(_) => Ok(None),
        }
    }
}
