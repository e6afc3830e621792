//! Computations without the interpreter's lock, that Ctrl-C can stop.
//!
//! The work runs on a thread of its own. The calling thread waits without holding the lock, so that
//! other Python threads go on, and takes it a few times a second to ask for signals and to tell of
//! progress.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use consilience::watch::{Watch, panic_text};
use consilience::{Result, Run};
use pyo3::prelude::*;

use crate::error::{ConsilienceError, to_python};

/// How long a signal may wait.
const POLL: Duration = Duration::from_millis(50);
/// How long work that was told to stop is waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// The circumstances of a computation as Python gives them.
#[derive(FromPyObject)]
pub(crate) struct Circumstances {
    /// The seed.
    #[pyo3(item)]
    seed: u64,
    /// How many threads; 0 means all cores.
    #[pyo3(item)]
    threads: usize,
    /// The memory ceiling in bytes.
    #[pyo3(item)]
    memory: u64,
    /// Called with stage, steps done and steps in all.
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
}

impl Circumstances {
    fn over(&self, watch: &Watch) -> Run {
        watch.over(Run::new(self.seed).threads(self.threads).memory(self.memory))
    }

    /// Waits until the work has ended; if a signal comes first, or who is told of progress objects,
    /// the work is told to stop, and the error says why.
    fn wait(&self, py: Python<'_>, watch: &Watch) -> PyResult<()> {
        while !py.detach(|| watch.wait(POLL)) {
            let go_on = py.check_signals().and_then(|()| self.tell(py, watch));
            if go_on.is_err() {
                watch.cancel();
                return go_on;
            }
        }
        Ok(())
    }

    /// Tells the latest progress to who asked for it.
    fn tell(&self, py: Python<'_>, watch: &Watch) -> PyResult<()> {
        let (Some(progress), Some(latest)) = (&self.progress, watch.latest()) else {
            return Ok(());
        };
        progress.call1(py, latest).map(drop)
    }
}

/// What the work gave, and what it warned of.
fn outcome<T>(watch: &Watch, joined: thread::Result<Result<T>>) -> PyResult<(T, Vec<String>)> {
    let given = joined.map_err(broken_promise)?.map_err(to_python)?;
    Ok((given, watch.warnings()))
}

/// Runs `work` under `circumstances`; also gives what it warned of.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    circumstances: &Circumstances,
    work: impl FnOnce(&Run) -> Result<T> + Send,
) -> PyResult<(T, Vec<String>)> {
    let watch = Watch::default();
    let run = circumstances.over(&watch);
    thread::scope(|scope| {
        let worker = scope.spawn(|| watch.work(|| work(&run)));
        let waited = circumstances.wait(py, &watch);
        // What the work says of being stopped is of no interest.
        let joined = py.detach(|| worker.join());
        waited?;
        outcome(&watch, joined)
    })
}

/// The same for work with steps that cannot be stopped, such as the eigendecomposition of a large
/// matrix: it is not waited for longer than [`PATIENCE`], but left behind, and ends when it next
/// looks at the flag.
pub(crate) fn compute_apart<T: Send + 'static>(
    py: Python<'_>,
    circumstances: &Circumstances,
    work: impl FnOnce(&Run) -> Result<T> + Send + 'static,
) -> PyResult<(T, Vec<String>)> {
    let watch = Arc::new(Watch::default());
    let (theirs, run) = (watch.clone(), circumstances.over(&watch));
    let worker = thread::Builder::new()
        .spawn(move || theirs.work(|| work(&run)))
        .map_err(|error| ConsilienceError::new_err(format!("no thread can be started: {error}")))?;
    if let Err(error) = circumstances.wait(py, &watch) {
        py.detach(|| watch.wait(PATIENCE));
        return Err(error);
    }
    outcome(&watch, py.detach(|| worker.join()))
}

/// A panic is a bug of ours; the user should still get an exception that can be caught.
fn broken_promise(panic: Box<dyn std::any::Any + Send>) -> PyErr {
    let Some(message) = panic_text(&*panic) else { resume_unwind(panic) };
    ConsilienceError::new_err(format!("internal error, please report it: {message}"))
}
