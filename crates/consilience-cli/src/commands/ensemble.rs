//! The ensemble step that `run`, `demo` and `generate` share: options checked before data are read,
//! members made in parallel, those of an interrupted run reused.

use std::sync::atomic::{AtomicU64, Ordering};

use consilience::base::{Float, Scaler, Scaling, Table};
use consilience::ensemble::{Ensemble, Member};
use consilience::generate::{
    BaseK, Data, GenerateParams, GeneratedMember, Generator, Scheme, Unseen, base, scheme,
};
use serde_json::{Value, json};

use super::Session;
use super::members::MemberStore;
use crate::args::EnsembleArgs;
use crate::errors::usage;
use crate::output::{count, counted};
use crate::xxh64::Xxh64;

/// Checked options of an ensemble.
pub(super) struct Recipe {
    generator: Generator,
    scheme: Scheme,
    base: &'static str,
    base_k: BaseK,
    scaling: Scaling,
    scale: String,
    soft: bool,
}

impl Recipe {
    /// Checks everything that can be checked without data. `k` is the number of clusters that is
    /// wanted of the consensus, if known.
    pub(super) fn new(args: &EnsembleArgs, k: Option<usize>) -> anyhow::Result<Self> {
        let mut scheme = (scheme(args.scheme())?.make)();
        if let Some(share) = args.subspace {
            scheme = match scheme {
                Scheme::RandomSubspace { .. } | Scheme::RandomProjection { .. } => {
                    scheme.share(share)?
                }
                _ => {
                    return Err(usage(format!(
                        "--subspace goes with --scheme random-subspace or random-projection, not \
                         with {}",
                        args.scheme()
                    )));
                }
            };
        }
        if args.sample.is_some() || args.leave_out {
            if !matches!(scheme, Scheme::Bootstrap { .. } | Scheme::Subsample { .. }) {
                return Err(usage(format!(
                    "--sample and --leave-out go with --scheme bootstrap or subsample, not with {}",
                    args.scheme()
                )));
            }
            if let Some(share) = args.sample {
                scheme = scheme.share(share)?;
            }
            if args.leave_out {
                scheme = scheme.unseen(Unseen::Missing)?;
            }
        }
        let base_k = args.base_k.unwrap_or(BaseK::Auto { consensus: k });
        let info = base(args.base())?;
        // The number of clusters is set anew for every member.
        let made = (info.make)(1).representatives(args.representatives, args.neighbours)?;
        let generator = GenerateParams::new(scheme.clone(), made)
            .k(base_k)
            .size(args.size())
            .soft(args.soft)
            .check()?;
        Ok(Recipe {
            generator,
            scheme,
            base: info.name,
            base_k,
            scaling: args.scale().parse()?,
            scale: args.scale().to_owned(),
            soft: args.soft,
        })
    }

    /// What identifies the ensemble: the data and all that the members depend on.
    pub(super) fn fingerprint(&self, data: Data<'_>, seed: u64) -> u64 {
        let mut hash = Xxh64::new();
        let recipe = json!([env!("CARGO_PKG_VERSION"), seed, self.scale, self.generator]);
        hash.update(recipe.to_string().as_bytes());
        hash.update(&[data.nrows(), data.ncols()].map(usize::to_le_bytes).concat());
        match data {
            Data::Dense(data) => hash.update_numbers(data.as_slice()),
            // Their members are those of the same numbers in double precision.
            Data::Single(data) => {
                data.as_slice().iter().for_each(|&x| hash.update_numbers(&[f64::from(x)]));
            }
            Data::Sparse(data) => {
                for i in 0..data.nrows() {
                    let (columns, values) = data.row(i);
                    hash.update(&columns.len().to_le_bytes());
                    columns.iter().for_each(|j| hash.update(&j.to_le_bytes()));
                    hash.update_numbers(values);
                }
            }
        }
        hash.finish()
    }

    /// Makes the members, or takes those that `store` has; also tells how many those were.
    pub(super) fn make(
        &self,
        data: Data<'_>,
        store: Option<&MemberStore>,
        session: &Session,
    ) -> anyhow::Result<(Ensemble, usize)> {
        let run = &session.run;
        self.ask_memory(data, session)?;
        let (dense, sparse);
        let here = match data {
            // Scaled tables stand beside what was read.
            _ if self.scaling == Scaling::None => self.generator.on(data, run)?,
            Data::Dense(data) => {
                dense = self.scaler(data)?.apply(data)?;
                self.generator.on(&dense, run)?
            }
            Data::Single(data) => {
                dense = self.scaler(data)?.apply(data)?;
                self.generator.on(&dense, run)?
            }
            Data::Sparse(data) => {
                sparse = Scaler::fit_sparse(data, self.scaling)?.apply_sparse(data)?;
                self.generator.on(&sparse, run)?
            }
        };
        let size = self.generator.size();
        let (done, reused) = (AtomicU64::new(0), AtomicU64::new(0));
        let told = |member: Member| -> anyhow::Result<Member> {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            run.tick("base clusterings", done, Some(size as u64))?;
            Ok(member)
        };
        let known = |i: usize| -> anyhow::Result<Option<Member>> {
            let stored = store.and_then(|store| store.load(i));
            reused.fetch_add(u64::from(stored.is_some()), Ordering::Relaxed);
            stored.map(told).transpose()
        };
        let finish = |i: usize, made: GeneratedMember| -> anyhow::Result<Member> {
            told(match store {
                Some(store) => store.save(i, &made.member)?,
                None => made.member,
            })
        };
        run.tick("base clusterings", 0, Some(size as u64))?;
        let members = here.each(run, known, finish)?;
        Ok((Ensemble::new(members)?, reused.into_inner() as usize))
    }

    /// Rows of `data` in the scale that they are clustered in.
    pub(super) fn scaler<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
    ) -> consilience::Result<Scaler> {
        Scaler::fit(data, self.scaling)
    }

    /// How many bytes the scaled data take, which are always in double precision.
    fn scaled_bytes(&self, data: Data<'_>) -> u64 {
        match data {
            _ if self.scaling == Scaling::None => 0,
            Data::Single(data) => 8 * data.as_slice().len() as u64,
            data => data.bytes(),
        }
    }

    /// Asks for the memory of the scaled data, of the members, and of the making of one.
    fn ask_memory(&self, data: Data<'_>, session: &Session) -> consilience::Result<()> {
        let (n, size) = (data.nrows() as u64, self.generator.size() as u64);
        let (_, most) = self.base_k.range(&self.scheme, data.nrows());
        let label = match most {
            k if self.soft => 8 * k as u64,
            ..=255 => 1,
            256..=65_535 => 2,
            _ => 4,
        };
        session.run.ask_memory(
            &format!(
                "{} of {} objects",
                counted(self.generator.size(), "clustering"),
                count(data.nrows())
            ),
            self.scaled_bytes(data)
                + n * size * label
                + self.generator.cost(data.nrows(), data.ncols()),
            if self.soft {
                "make fewer (--size), or hard ones (without --soft)"
            } else {
                "make fewer (--size)"
            },
        )
    }

    /// What is told of the ensemble in JSON.
    pub(super) fn told(&self, ensemble: &Ensemble) -> Value {
        let (low, high) = self.base_k.range(&self.scheme, ensemble.n_objects());
        let members = ensemble.members().iter();
        let members = members.map(|m| json!({ "name": m.name(), "k": m.clusters().len() }));
        json!({
            "size": ensemble.members().len(),
            "scheme": self.scheme.name(),
            "base": self.base,
            "base_k": [low, high],
            "scale": self.scale,
            "soft": self.soft,
            "recipe": self.generator,
            "members": members.collect::<Vec<_>>(),
        })
    }

    /// What is told of the ensemble in words; the zeros of a `sparse` table are not shifted.
    pub(super) fn summary(&self, ensemble: &Ensemble, sparse: bool) -> String {
        let (low, high) = self.base_k.range(&self.scheme, ensemble.n_objects());
        let k = if low == high { low.to_string() } else { format!("{low} to {high}") };
        let scale = match self.scaling {
            Scaling::ZScore if sparse => {
                "features scaled to deviation 1, zeros left (--scale zscore)"
            }
            Scaling::ZScore => "features scaled to mean 0 and deviation 1 (--scale zscore)",
            Scaling::MinMax if sparse => {
                "features scaled to a range of 1, zeros left (--scale minmax)"
            }
            Scaling::MinMax => "features scaled to [0, 1] (--scale minmax)",
            Scaling::None => "features not scaled (--scale none)",
        };
        format!(
            "{} by {} of {k} clusters each ({})\n{scale}",
            counted(ensemble.members().len(), "clustering"),
            self.base,
            self.scheme.name(),
        )
    }
}
