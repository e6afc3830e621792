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

/// Runs `work`; a panic in it means that `file` is damaged.
///
/// The Parquet reader checks much but not all of what a file claims about itself.
pub(super) fn guarded<T>(file: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.unwrap_or_else(|_| {
        Err(InputError::Damaged {
            file: file.to_owned(),
            problem: "its contents contradict one another".to_owned(),
        })
    })
}
