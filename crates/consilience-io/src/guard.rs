//! Readers of other crates that panic on damaged files, turned into errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

use super::error::{InputError, Result};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does not show panics of readers that `guarded` turns into errors. A program calls it once for
/// itself; inside somebody else's process the hook is not ours to set.
pub fn hide_reader_panics() {
    let shown = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !QUIET.get() {
            shown(info);
        }
    }));
}

/// Whether a reader of another crate is at work, whose panics mean that the file is damaged: for programs that cannot go
/// on after a panic, such as those in a browser.
pub fn is_reader_at_work() -> bool {
    QUIET.get()
}

/// Runs `work`; a panic in it means that `file` is damaged.
///
/// The Parquet reader checks much but not all of what a file claims about itself.
pub(super) fn guarded<T>(file: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.unwrap_or_else(|_| Err(InputError::contradictory(file)))
}
