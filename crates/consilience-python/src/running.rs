//! Computations without the interpreter's lock, that Ctrl-C can stop.
//!
//! The work runs on a thread of its own. The calling thread waits without holding the lock, so that
//! other Python threads go on, and takes it a few times a second to ask for signals and to tell of
//! progress.

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use consilience::{CancelFlag, Observer, Result, Run};
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

/// Hears what the computation tells and keeps it until the calling thread has the lock.
#[derive(Default)]
struct Listener {
    latest: Mutex<Option<(&'static str, u64, Option<u64>)>>,
    warnings: Mutex<Vec<String>>,
}

impl Observer for Listener {
    fn progress(&self, stage: &'static str, done: u64, total: Option<u64>) {
        *hold(&self.latest) = Some((stage, done, total));
    }

    fn warn(&self, message: &str) {
        hold(&self.warnings).push(message.to_owned());
    }
}

/// Whether the work has ended, in one way or another.
#[derive(Default)]
struct Finished {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Finished {
    /// Waits at most so long; true once the work has ended.
    fn wait(&self, at_most: Duration) -> bool {
        let ended = hold(&self.ended);
        let waited = self.changed.wait_timeout_while(ended, at_most, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Tells that the work has ended when it goes out of scope, even in a panic.
struct Ending<'a>(&'a Finished);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *hold(&self.0.ended) = true;
        self.0.changed.notify_all();
    }
}

/// A panic elsewhere leaves nothing half-done behind these locks.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A computation as the calling thread sees it.
#[derive(Default)]
struct Watch {
    listener: Arc<Listener>,
    flag: CancelFlag,
    finished: Finished,
}

impl Watch {
    fn run(&self, circumstances: &Circumstances) -> Run {
        Run::new(circumstances.seed)
            .threads(circumstances.threads)
            .memory(circumstances.memory)
            .observer(self.listener.clone())
            .cancel_flag(self.flag.clone())
    }

    /// Waits until the work has ended; if a signal comes first, or who is told of progress objects,
    /// the work is told to stop, and the error says why.
    fn wait(&self, py: Python<'_>, circumstances: &Circumstances) -> PyResult<()> {
        while !py.detach(|| self.finished.wait(POLL)) {
            let go_on = py.check_signals().and_then(|()| tell(py, circumstances, &self.listener));
            if go_on.is_err() {
                self.flag.cancel();
                return go_on;
            }
        }
        Ok(())
    }

    /// What the work gave, and what it warned of.
    fn outcome<T>(&self, joined: thread::Result<Result<T>>) -> PyResult<(T, Vec<String>)> {
        let given = joined.map_err(broken_promise)?.map_err(to_python)?;
        Ok((given, std::mem::take(&mut *hold(&self.listener.warnings))))
    }
}

/// Runs `work` under `circumstances`; also gives what it warned of.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    circumstances: &Circumstances,
    work: impl FnOnce(&Run) -> Result<T> + Send,
) -> PyResult<(T, Vec<String>)> {
    let watch = Watch::default();
    let run = watch.run(circumstances);
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _ending = Ending(&watch.finished);
            work(&run)
        });
        let waited = watch.wait(py, circumstances);
        // What the work says of being stopped is of no interest.
        let joined = py.detach(|| worker.join());
        waited?;
        watch.outcome(joined)
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
    let (theirs, run) = (watch.clone(), watch.run(circumstances));
    let apart = move || {
        let _ending = Ending(&theirs.finished);
        work(&run)
    };
    let worker = thread::Builder::new()
        .spawn(apart)
        .map_err(|error| ConsilienceError::new_err(format!("no thread can be started: {error}")))?;
    if let Err(error) = watch.wait(py, circumstances) {
        py.detach(|| watch.finished.wait(PATIENCE));
        return Err(error);
    }
    watch.outcome(py.detach(|| worker.join()))
}

/// Tells the latest progress to who asked for it.
fn tell(py: Python<'_>, circumstances: &Circumstances, listener: &Listener) -> PyResult<()> {
    let (Some(progress), Some(latest)) = (&circumstances.progress, *hold(&listener.latest)) else {
        return Ok(());
    };
    progress.call1(py, latest).map(drop)
}

/// A panic is a bug of ours; the user should still get an exception that can be caught.
fn broken_promise(panic: Box<dyn std::any::Any + Send>) -> PyErr {
    let message = if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        resume_unwind(panic)
    };
    ConsilienceError::new_err(format!("internal error, please report it: {message}"))
}
