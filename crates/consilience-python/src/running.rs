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
    /// Waits a little; true once the work has ended.
    fn wait(&self) -> bool {
        let ended = hold(&self.ended);
        let waited = self.changed.wait_timeout_while(ended, POLL, |ended| !*ended);
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

/// Runs `work` under `circumstances`; also gives what it warned of.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    circumstances: &Circumstances,
    work: impl FnOnce(&Run) -> Result<T> + Send,
) -> PyResult<(T, Vec<String>)> {
    let listener = Arc::new(Listener::default());
    let flag = CancelFlag::default();
    let finished = Finished::default();
    let run = Run::new(circumstances.seed)
        .threads(circumstances.threads)
        .memory(circumstances.memory)
        .observer(listener.clone())
        .cancel_flag(flag.clone());
    let outcome = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _ending = Ending(&finished);
            work(&run)
        });
        while !py.detach(|| finished.wait()) {
            if let Err(error) = py.check_signals().and_then(|()| tell(py, circumstances, &listener))
            {
                flag.cancel();
                // What the work says of being stopped is of no interest.
                py.detach(|| drop(worker.join()));
                return Err(error);
            }
        }
        match worker.join() {
            Ok(result) => result.map_err(to_python),
            Err(panic) => Err(broken_promise(panic)),
        }
    })?;
    let warnings = std::mem::take(&mut *hold(&listener.warnings));
    Ok((outcome, warnings))
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
