//! Work on a thread of its own, which R waits for in small steps.
//!
//! Between the steps R looks for interrupts and tells of progress in its own ways; when it does not
//! want to wait any longer, it drops the job, which raises the flag that stops the work.

use std::panic;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use consilience::{CancelFlag, Observer, Run};
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::given::Given;
use crate::told::list;

/// What tells R of a result: R's memory is touched by its own thread only.
pub(crate) type Telling = Box<dyn FnOnce() -> Robj + Send>;

/// Hears what the computation tells and keeps it until R asks.
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

/// A computation as the thread that waits sees it.
#[derive(Default)]
struct Watch {
    listener: Arc<Listener>,
    flag: CancelFlag,
    ended: Mutex<bool>,
    changed: Condvar,
}

/// Tells that the work has ended when it goes out of scope, even in a panic.
struct Ending(Arc<Watch>);

impl Drop for Ending {
    fn drop(&mut self) {
        *hold(&self.0.ended) = true;
        self.0.changed.notify_all();
    }
}

/// A panic elsewhere leaves nothing half-done behind these locks.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work under way.
pub(crate) struct Job {
    watch: Arc<Watch>,
    worker: Mutex<Option<JoinHandle<Outcome<Telling>>>>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.watch.flag.cancel();
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
    let mut run = Run::new(around.whole("seed")?)
        .threads(around.whole("threads")? as usize)
        .observer(watch.listener.clone())
        .cancel_flag(watch.flag.clone());
    if let Some(memory) = around.some_whole("memory")? {
        run = run.memory(memory);
    }
    let work = prepare(given)?;
    let ending = Ending(watch.clone());
    let apart = move || {
        let _ending = ending;
        work(&run).map_err(Failure::from)
    };
    let no_thread = |error| Failure::internal(&format!("no thread can be started: {error}"));
    let worker = thread::Builder::new().spawn(apart).map_err(no_thread)?;
    let job = Job { watch, worker: Mutex::new(Some(worker)) };
    Ok(ExternalPtr::new(job).into())
}

/// Waits at most so many seconds; tells whether the work has ended, and how far it is.
#[extendr]
fn wait(job: ExternalPtr<Job>, seconds: f64) -> Robj {
    let at_most = Duration::from_secs_f64(seconds.clamp(0.0, 1.0));
    let ended = hold(&job.watch.ended);
    let waited = job.watch.changed.wait_timeout_while(ended, at_most, |ended| !*ended);
    let ended = *waited.unwrap_or_else(PoisonError::into_inner).0;
    let latest = *hold(&job.watch.listener.latest);
    let (stage, done, total) = latest.unwrap_or(("", 0, None));
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
    let Some(worker) = hold(&job.worker).take() else {
        return Failure::internal("this work was asked for its result twice").told();
    };
    let outcome = worker.join().unwrap_or_else(|panic| Err(broken_promise(panic.as_ref())));
    match outcome {
        Ok(telling) => {
            let warnings = std::mem::take(&mut *hold(&job.watch.listener.warnings));
            list([("value", telling()), ("warnings", warnings.into())])
        }
        Err(failure) => failure.told(),
    }
}

/// Tells the work to stop; it is not waited for.
#[extendr]
fn cancel(job: ExternalPtr<Job>) {
    job.watch.flag.cancel();
}

/// What a panic says is raised as an error by R; nothing is printed.
#[extendr]
fn silence() {
    panic::set_hook(Box::new(|_| {}));
}

/// A panic is a bug of ours; the user should still get an error that can be caught.
fn broken_promise(panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Failure::internal(text.unwrap_or("a panic without words"))
}

extendr_module! {
    mod job;
    fn wait;
    fn finish;
    fn cancel;
    fn silence;
}
