//! The circumstances of a computation: seed, threads, memory ceiling, progress, cancelling.

use std::fmt;
use std::sync::Arc;
#[cfg(not(target_family = "wasm"))]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Asked, Error, Result};
use crate::rng::{Rng, Stream};

/// Hears how far a long computation has come.
///
/// Called from any thread, often; it must be quick and must not panic.
pub trait Observer: Send + Sync {
    /// `stage` has done `done` of `total` steps (`total` is `None` when not known beforehand).
    fn progress(&self, stage: &'static str, done: u64, total: Option<u64>);

    /// Something the user should know although the computation goes on.
    fn warn(&self, message: &str);
}

/// An observer that hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&self, _: &'static str, _: u64, _: Option<u64>) {}
    fn warn(&self, _: &str) {}
}

/// A flag that asks a computation to stop; clones share it.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Asks whoever holds the flag to stop soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether stopping was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a computation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// It is not iterative: the answer is complete.
    Done,
    /// Changes fell below the tolerance, or nothing could be improved.
    Converged,
    /// The largest number of iterations was reached first.
    MaxIterations,
}

/// The circumstances of a computation, shared by all its parts and threads.
///
/// ```
/// use consilience_core::Run;
/// let run = Run::new(42).threads(1).memory(8 << 30);
/// assert_eq!(run.install(|| 6 * 7), 42);
/// ```
#[derive(Clone)]
pub struct Run {
    seed: u64,
    pool: Arc<Pool>,
    memory: u64,
    observer: Arc<dyn Observer>,
    /// Whom warnings are about, where several work.
    subject: Option<&'static str>,
    cancel: CancelFlag,
}

impl Run {
    /// A run with this seed, all cores, no memory ceiling, and nobody listening.
    pub fn new(seed: u64) -> Self {
        Run {
            seed,
            pool: Arc::new(Pool::of(0)),
            memory: u64::MAX,
            observer: Arc::new(Silent),
            subject: None,
            cancel: CancelFlag::default(),
        }
    }

    /// Uses `threads` threads, at most [`most_threads`](Self::most_threads); 0 means all cores.
    /// Results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.pool = Arc::new(Pool::of(threads.min(Run::most_threads())));
        self
    }

    /// How many threads a run has at most: four for every core, and 64 on a small machine. More do
    /// not make it faster, and thousands of them can stop the machine.
    pub fn most_threads() -> usize {
        std::thread::available_parallelism()
            .map_or(64, |cores| cores.get().saturating_mul(4).max(64))
    }

    /// Sets the memory ceiling in bytes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets who hears of progress and warnings.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Sets the flag that stops the computation.
    #[must_use]
    pub fn cancel_flag(mut self, cancel: CancelFlag) -> Self {
        self.cancel = cancel;
        self
    }

    /// The same circumstances with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Run { seed, ..self.clone() }
    }

    /// The same circumstances, for one of several that work: its warnings begin with its name.
    #[must_use]
    pub fn on_behalf_of(&self, subject: &'static str) -> Self {
        Run { subject: Some(subject), ..self.clone() }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The memory ceiling in bytes.
    pub fn memory_ceiling(&self) -> u64 {
        self.memory
    }

    /// How many threads work.
    pub fn n_threads(&self) -> usize {
        self.pool.count()
    }

    /// A stream of random numbers of this run.
    pub fn rng(&self, stream: Stream) -> Rng {
        Rng::new(self.seed, stream)
    }

    /// Runs `work` on this run's threads: parallel iterators inside use them.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Fails if the caller asked to stop. Every long loop calls this or [`tick`](Self::tick).
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Tells the observer how far `stage` has come, and fails if the caller asked to stop.
    pub fn tick(&self, stage: &'static str, done: u64, total: Option<u64>) -> Result<()> {
        self.check()?;
        self.observer.progress(stage, done, total);
        Ok(())
    }

    /// Tells the observer of something that the user should know.
    pub fn warn(&self, message: &str) {
        match self.subject {
            Some(subject) => self.observer.warn(&format!("{subject}: {message}")),
            None => self.observer.warn(message),
        }
    }

    /// Fails if `bytes` would pass the memory ceiling; asked *before* allocating.
    ///
    /// `hint` says what would fit instead.
    pub fn ask_memory(&self, what: &str, bytes: u64, hint: &str) -> Result<()> {
        self.ask_memory_by(what, bytes, hint, &[])
    }

    /// The same with what sets how much is needed, which the refusal names as the front door spells it.
    pub fn ask_memory_by(
        &self,
        what: &str,
        bytes: u64,
        hint: &str,
        by: &'static [Asked],
    ) -> Result<()> {
        if bytes > self.memory {
            return Err(Error::Memory {
                what: what.to_owned(),
                needed: bytes,
                ceiling: self.memory,
                hint: hint.to_owned(),
                by,
            });
        }
        Ok(())
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("seed", &self.seed)
            .field("threads", &self.n_threads())
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// A stopwatch.
#[derive(Clone, Copy, Debug)]
pub struct Clock(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Clock {
    /// Starts now.
    #[cfg(not(target_family = "wasm"))]
    pub fn start() -> Self {
        Clock(std::time::Instant::now())
    }

    /// The seconds since it was started.
    #[cfg(not(target_family = "wasm"))]
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// In a browser the page has the clock, not the computation: no time passes.
#[cfg(target_family = "wasm")]
#[allow(missing_docs)]
impl Clock {
    pub fn start() -> Self {
        Clock()
    }

    pub fn seconds(&self) -> f64 {
        0.0
    }
}

/// Threads that are started when they are first needed: a run that is set up step by step starts one
/// set of them, and one that computes nothing starts none.
#[cfg(not(target_family = "wasm"))]
struct Pool {
    threads: usize,
    started: OnceLock<rayon::ThreadPool>,
}

#[cfg(not(target_family = "wasm"))]
impl Pool {
    fn of(threads: usize) -> Self {
        Pool { threads, started: OnceLock::new() }
    }

    fn count(&self) -> usize {
        self.get().current_num_threads()
    }

    fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.get().install(work)
    }

    fn get(&self) -> &rayon::ThreadPool {
        self.started.get_or_init(|| {
            let build = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build();
            // A machine that refuses us threads can still run on the calling one.
            build(self.threads).or_else(|_| build(1)).expect("one thread can be started")
        })
    }
}

/// In a browser threads cannot be started: parallel iterators run on the calling one, as rayon's
/// global pool does where the system has none.
#[cfg(target_family = "wasm")]
struct Pool;

#[cfg(target_family = "wasm")]
impl Pool {
    fn of(_: usize) -> Self {
        Pool
    }

    #[allow(clippy::unused_self)]
    fn count(&self) -> usize {
        1
    }

    #[allow(clippy::unused_self)]
    fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_flag_stops_the_run() {
        let flag = CancelFlag::default();
        let run = Run::new(0).cancel_flag(flag.clone());
        assert_eq!(run.check(), Ok(()));
        flag.cancel();
        assert_eq!(run.tick("stage", 1, None), Err(Error::Cancelled));
    }

    #[test]
    fn of_several_each_warns_by_name() {
        #[derive(Default)]
        struct Heard(std::sync::Mutex<Vec<String>>);
        impl Observer for Heard {
            fn progress(&self, _: &'static str, _: u64, _: Option<u64>) {}
            fn warn(&self, message: &str) {
                self.0.lock().unwrap().push(message.to_owned());
            }
        }
        let heard = Arc::new(Heard::default());
        let run = Run::new(0).observer(heard.clone());
        run.on_behalf_of("rce").warn("merges tie");
        run.warn("merges tie");
        assert_eq!(*heard.0.lock().unwrap(), ["rce: merges tie", "merges tie"]);
    }

    #[test]
    fn threads_have_a_ceiling() {
        assert_eq!(Run::new(0).threads(3).n_threads(), 3);
        assert_eq!(Run::new(0).threads(10_000_000).n_threads(), Run::most_threads());
    }

    #[test]
    fn memory_is_refused_before_it_is_taken() {
        let run = Run::new(0).memory(1000);
        assert_eq!(run.ask_memory("rce", 1000, ""), Ok(()));
        let refusal = run.ask_memory("rce", 5 << 30, "use scec").unwrap_err().to_string();
        assert_eq!(
            refusal,
            "rce would need 5.0 GiB of memory, but the ceiling is 1000 B; use scec"
        );
    }
}
