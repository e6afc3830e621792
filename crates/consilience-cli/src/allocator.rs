//! What happens when there is no more memory, or no more than `--memory` allows.
//!
//! Methods ask the ceiling of `--memory` before they allocate. What they estimate leaves out the rest of the
//! program, and the ceiling may be above what the system has left; where the system refuses, Rust aborts the
//! program, which leaves temporary files and a core dump behind. This allocator counts large blocks and ends
//! the program in words, with the exit code of a refusal, where they pass the ceiling by a tenth or the
//! system has no more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use consilience_io::cleanup::leave_without_memory;

use crate::errors::Exit;

/// The system's allocator, which ends the program instead of returning nothing.
pub(crate) struct OrLeave;

/// Whether a thread is ending the program.
static LEAVING: AtomicBool = AtomicBool::new(false);
/// Blocks of so many bytes and more are counted; there are few of them, and they are nearly all memory.
const LARGE: usize = 64 << 10;
/// What the program itself takes, whatever it works on.
const OWN: usize = 64 << 20;
/// How many bytes counted blocks have.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// How many they may have.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Lets the program hold so many bytes and a tenth, besides what it takes itself.
pub(crate) fn limit(ceiling: u64) {
    let most = usize::try_from(ceiling).unwrap_or(usize::MAX);
    MOST.store(most.saturating_add(most / 10).saturating_add(OWN), Ordering::Relaxed);
}

// SAFETY: every call is handed on to the system's allocator as it is, and so is every answer; where
// there is none, or the block would be one too many, the function does not return.
unsafe impl GlobalAlloc for OrLeave {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        given_back(layout.size());
        taken(size);
        granted(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        given_back(layout.size());
        unsafe { System.dealloc(old, layout) }
    }
}

/// Counts a block that is asked for.
#[inline]
fn taken(bytes: usize) {
    if bytes >= LARGE {
        let held = HELD.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if held > MOST.load(Ordering::Relaxed) && !ENDS.get() {
            leave(bytes, "--memory does not allow");
        }
    }
}

#[inline]
fn given_back(bytes: usize) {
    if bytes >= LARGE {
        HELD.fetch_sub(bytes, Ordering::Relaxed);
    }
}

thread_local! {
    /// Whether it is this thread that ends the program: what fails now fails for good.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

#[inline]
fn granted(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && !ENDS.get() {
        leave(bytes, "the system refused");
    }
    memory
}

#[cold]
fn leave(bytes: usize, why: &str) -> ! {
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
            "error: out of memory: {why} {} MB more; give less data, or more memory by --memory SIZE \
             where the machine has it, or take fewer --threads",
            bytes.div_ceil(1_000_000)
        );
    })
}
