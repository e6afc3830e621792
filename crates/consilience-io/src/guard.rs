//! Readers of other crates that panic on damaged files, turned into errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::error::{InputError, Result};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; a panic in it means that `file` is damaged, and is not shown.
///
/// The Parquet reader checks much but not all of what a file claims about itself.
pub(super) fn guarded<T>(file: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let shown = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                shown(info);
            }
        }));
    });
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
