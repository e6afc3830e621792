//! Work on a thread of its own, which R waits for in small steps.
//!
//! Between the steps R looks for interrupts and tells of progress in its own ways; when it does not
//! want to wait any longer, it drops the job, which raises the flag that stops the work.

use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use consilience::Run;
use consilience::watch::{Watch, panic_text};
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::given::Given;
use crate::told::list;

/// What tells R of a result: R's memory is touched by its own thread only.
pub(crate) type Telling = Box<dyn FnOnce() -> Robj + Send>;

/// Work under way.
pub(crate) struct Job {
    watch: Arc<Watch>,
    worker: Mutex<Option<JoinHandle<Outcome<Telling>>>>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.watch.cancel();
    }
}

/// Starts `work` under the circumstances that R gave; `prepare` takes the arguments apart first.
pub(crate) fn start<W>(args: &List, prepare: impl FnOnce(&Given) -> Outcome<W>) -> Robj
where
    W: FnOnce(&Run) -> consilience::Result<Telling> + Send + 'static,
{
    let given = Given::new(args);
    begin(&given, prepare).unwrap_or_else(Failure::told)
}

fn begin<W>(given: &Given, prepare: impl FnOnce(&Given) -> Outcome<W>) -> Outcome<Robj>
where
    W: FnOnce(&Run) -> consilience::Result<Telling> + Send + 'static,
{
    let around = given.list("around")?;
    let watch = Arc::new(Watch::default());
    let run = Run::new(around.whole("seed")?).threads(around.whole("threads")? as usize);
    let mut run = watch.over(run);
    if let Some(memory) = around.some_whole("memory")? {
        run = run.memory(memory);
    }
    let work = prepare(given)?;
    let theirs = watch.clone();
    let apart = move || theirs.work(|| work(&run).map_err(Failure::from));
    let no_thread = |error| Failure::internal(&format!("no thread can be started: {error}"));
    let worker = thread::Builder::new().spawn(apart).map_err(no_thread)?;
    let job = Job { watch, worker: Mutex::new(Some(worker)) };
    Ok(ExternalPtr::new(job).into())
}

/// Waits at most so many seconds; tells whether the work has ended, and how far it is.
#[extendr]
fn wait(job: ExternalPtr<Job>, seconds: f64) -> Robj {
    let at_most = Duration::from_secs_f64(seconds.clamp(0.0, 1.0));
    let ended = job.watch.wait(at_most);
    let (stage, done, total) = job.watch.latest().unwrap_or(("", 0, None));
    let total = total.map_or(Rfloat::na(), |total| Rfloat::from(total as f64));
    list([
        ("ended", ended.into()),
        ("stage", stage.into()),
        ("done", (done as f64).into()),
        ("total", total.into()),
    ])
}

/// What the work that has ended gave, and what it warned of.
#[extendr]
fn finish(job: ExternalPtr<Job>) -> Robj {
    let Some(worker) = job.worker.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return Failure::internal("this work was asked for its result twice").told();
    };
    let outcome = worker.join().unwrap_or_else(|panic| Err(broken_promise(panic.as_ref())));
    match outcome {
        Ok(telling) => list([("value", telling()), ("warnings", job.watch.warnings().into())]),
        Err(failure) => failure.told(),
    }
}

/// Tells the work to stop; it is not waited for.
#[extendr]
fn cancel(job: ExternalPtr<Job>) {
    job.watch.cancel();
}

/// What a panic says is raised as an error by R; nothing is printed.
#[extendr]
fn silence() {
    panic::set_hook(Box::new(|_| {}));
}

/// A panic is a bug of ours; the user should still get an error that can be caught.
fn broken_promise(panic: &(dyn std::any::Any + Send)) -> Failure {
    Failure::internal(panic_text(panic).unwrap_or("a panic without words"))
}

extendr_module! {
    mod job;
    fn wait;
    fn finish;
    fn cancel;
    fn silence;
}
