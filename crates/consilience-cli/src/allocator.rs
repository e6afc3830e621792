//! What happens when the system grants no more memory.
//!
//! Methods ask the ceiling of `--memory` before they allocate, but the ceiling may be above what the system
//! has left. Rust then aborts the program, which leaves temporary files and a core dump behind. This
//! allocator ends it in words instead, with the exit code of a refusal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use consilience_io::cleanup::leave_without_memory;

use crate::errors::Exit;

/// The system's allocator, which ends the program instead of returning nothing.
pub(crate) struct OrLeave;

/// Whether a thread is ending the program.
static LEAVING: AtomicBool = AtomicBool::new(false);

// SAFETY: every call is handed on to the system's allocator as it is, and so is every answer; where
// there is none, the function does not return.
unsafe impl GlobalAlloc for OrLeave {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        granted(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}

thread_local! {
    /// Whether it is this thread that ends the program: what fails now fails for good.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

#[inline]
fn granted(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && !ENDS.get() {
        leave(bytes);
    }
    memory
}

#[cold]
fn leave(bytes: usize) -> ! {
    if LEAVING.swap(true, Ordering::SeqCst) {
        // Another thread is on its way out.
        loop {
            thread::park();
        }
    }
    ENDS.set(true);
    leave_without_memory(Exit::Refused as i32, || {
        // Straight to the stream, without a buffer of its own.
        let _ = writeln!(
            std::io::stderr(),
            "error: out of memory: the system refused {bytes} bytes more; free some, give the program \
             less with --memory SIZE, or take fewer --threads"
        );
    })
}
