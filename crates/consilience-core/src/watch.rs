//! A computation as the thread that waits for it sees it.
//!
//! Where a thread must stay free for others (the interpreter of Python, the console of R), work runs on a
//! thread of its own, and the first waits for it in small steps.

use std::any::Any;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::run::{CancelFlag, Observer, Run};

/// How far work has come: its stage, steps done, and steps in all if that is known.
pub type Progress = (&'static str, u64, Option<u64>);

/// Knows how far work on another thread has come and what it warned of, waits for its end, and stops it.
///
/// ```
/// use std::{thread, time::Duration};
/// use consilience_core::{Run, watch::Watch};
///
/// let watch = Watch::default();
/// let run = watch.over(Run::new(7));
/// thread::scope(|scope| {
///     scope.spawn(|| watch.work(|| run.warn("labels are missing")));
///     while !watch.wait(Duration::from_millis(50)) {}
/// });
/// assert_eq!(watch.warnings(), ["labels are missing"]);
/// ```
#[derive(Default)]
pub struct Watch {
    heard: Arc<Heard>,
    flag: CancelFlag,
    ended: Mutex<bool>,
    changed: Condvar,
}

/// What was heard and not yet asked for.
#[derive(Default)]
struct Heard {
    latest: Mutex<Option<Progress>>,
    warnings: Mutex<Vec<String>>,
}

impl Observer for Heard {
    fn progress(&self, stage: &'static str, done: u64, total: Option<u64>) {
        *hold(&self.latest) = Some((stage, done, total));
    }

    fn warn(&self, message: &str) {
        hold(&self.warnings).push(message.to_owned());
    }
}

/// Tells that the work has ended when it goes out of scope, even in a panic.
struct Ending<'a>(&'a Watch);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *hold(&self.0.ended) = true;
        self.0.changed.notify_all();
    }
}

impl Watch {
    /// The same circumstances, heard and stopped by this watch.
    pub fn over(&self, run: Run) -> Run {
        run.observer(self.heard.clone()).cancel_flag(self.flag.clone())
    }

    /// Does the work on this thread; who waits is told of its end, also if it panics.
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        let _ending = Ending(self);
        work()
    }

    /// Waits at most so long; true once the work has ended.
    pub fn wait(&self, at_most: Duration) -> bool {
        let ended = hold(&self.ended);
        let waited = self.changed.wait_timeout_while(ended, at_most, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// How far the work has come.
    pub fn latest(&self) -> Option<Progress> {
        *hold(&self.heard.latest)
    }

    /// What the work warned of since this was last asked.
    pub fn warnings(&self) -> Vec<String> {
        mem::take(&mut *hold(&self.heard.warnings))
    }

    /// Tells the work to stop; it is not waited for.
    pub fn cancel(&self) {
        self.flag.cancel();
    }
}

/// A panic elsewhere leaves nothing half-done behind these locks.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic said, if it used words.
pub fn panic_text(panic: &(dyn Any + Send)) -> Option<&str> {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::error::Error;

    #[test]
    fn progress_is_heard_and_work_can_be_stopped() {
        let watch = Watch::default();
        let run = watch.over(Run::new(0));
        assert_eq!((watch.latest(), watch.wait(Duration::ZERO)), (None, false));
        let stopped = thread::scope(|scope| {
            let worker = scope.spawn(|| {
                watch.work(|| {
                    loop {
                        if let Err(error) = run.tick("moving", 3, Some(9)) {
                            return error;
                        }
                        thread::yield_now();
                    }
                })
            });
            while watch.latest().is_none() {
                thread::yield_now();
            }
            assert!(!watch.wait(Duration::from_millis(1)));
            watch.cancel();
            worker.join().unwrap()
        });
        assert_eq!(stopped, Error::Cancelled);
        assert_eq!(watch.latest(), Some(("moving", 3, Some(9))));
        assert!(watch.wait(Duration::ZERO));
    }

    #[test]
    fn a_panic_ends_the_wait_and_keeps_its_words() {
        let watch = Arc::new(Watch::default());
        let theirs = watch.clone();
        let of_a_text = thread::spawn(move || theirs.work(|| panic!("{} is odd", 3)));
        while !watch.wait(Duration::from_millis(50)) {}
        assert_eq!(panic_text(&*of_a_text.join().unwrap_err()), Some("3 is odd"));
        let of_words = thread::spawn(|| panic!("words")).join().unwrap_err();
        assert_eq!(panic_text(&*of_words), Some("words"));
        assert_eq!(panic_text(&3_u8), None);
    }
}
