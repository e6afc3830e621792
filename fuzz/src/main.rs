//! The fuzzer: libFuzzer's loop around one of the [`targets`], which `FUZZ_TARGET` names.
//!
//! Besides what a target itself looks for, no input may take more memory than the target grants it: all
//! that is allocated while it runs is counted here. Time is bounded by libFuzzer (`-timeout`).
//!
//! Built by `scripts/fuzz`, with the instrumentation that tells libFuzzer which ways through the code an
//! input takes.

#![no_main]

mod targets;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use targets::{Target, target};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn taken(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<&'static Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        // libFuzzer's own hook ends the process at any panic; readers of other crates may panic, and are caught.
        std::panic::set_hook(Box::new(|info| {
            if !consilience_io::is_reader_at_work() {
                eprintln!("{info}\n{}", std::backtrace::Backtrace::force_capture());
            }
        }));
        let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
        target(&name).unwrap_or_else(|| panic!("no target {name}"))
    })
}

/// Called by libfuzzer-sys, which takes a panic for a finding.
#[unsafe(no_mangle)]
pub extern "C" fn rust_fuzzer_test_input(input: &[u8]) -> i32 {
    let target = chosen();
    let grant = (target.grant)(input);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let outcome = std::panic::catch_unwind(|| (target.run)(input));
    let took = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    if outcome.is_err() {
        std::process::abort();
    }
    if took > grant {
        eprintln!("took {took} bytes of memory for an input of {}: more than {grant}", input.len());
        std::process::abort();
    }
    0
}
