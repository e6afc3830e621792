//! The module's exports and imports: plain numbers and pointers into its memory. The one file with `unsafe` code.
//!
//! The worker asks for room with [`room`], writes the settings and the file there, and calls [`compute`], which takes both over
//! and tells what it finds by the imports. A panic cannot be caught here: its message is told, then the module traps.

#![allow(unsafe_code)]

use std::sync::Arc;

use bytes::Bytes;
use consilience::{METHODS, Observer, Run};
use consilience_io::{InputError, is_reader_at_work};
use serde_json::json;

use crate::asked::Asked;
use crate::examples::{EXAMPLES, Example};
use crate::job::{self, Hearer};

/// A module has at most 4 GiB; what is asked for beforehand is not all that is needed.
const MEMORY: u64 = 3 << 30;

// Imported from the worker.
unsafe extern "C" {
    /// Here is something of this name.
    fn hear(name: *const u8, name_len: usize, bytes: *const u8, len: usize);
    /// A stage has come so far; a negative total is not known.
    fn progress(stage: *const u8, len: usize, done: f64, total: f64);
}

struct Worker;

impl Hearer for Worker {
    fn hear(&self, name: &str, bytes: &[u8]) {
        // SAFETY: both are whole slices, which the worker copies before it returns.
        unsafe { hear(name.as_ptr(), name.len(), bytes.as_ptr(), bytes.len()) }
    }
}

impl Observer for Worker {
    fn progress(&self, stage: &'static str, done: u64, total: Option<u64>) {
        let total = total.map_or(-1.0, |total| total as f64);
        // SAFETY: a whole slice, which the worker copies before it returns.
        unsafe { progress(stage.as_ptr(), stage.len(), done as f64, total) }
    }

    fn warn(&self, message: &str) {
        self.hear("warning", message.as_bytes());
    }
}

/// Room for `len` bytes, to be handed to [`compute`] full.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn room(len: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; len].into_boxed_slice()).cast()
}

/// # Safety
///
/// `room(len)` gave this pointer, and nobody uses it any more.
unsafe fn taken(from: *mut u8, len: usize) -> Vec<u8> {
    // SAFETY: a boxed slice of this length, by the caller's word.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(from, len)) }.into_vec()
}

/// Computes everything about a file.
///
/// # Safety
///
/// Both pointers come from [`room`] with these lengths, and are not used afterwards.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn compute(
    settings: *mut u8,
    settings_len: usize,
    file: *mut u8,
    file_len: usize,
) {
    // SAFETY: what the caller promises.
    let (settings, file) = unsafe { (taken(settings, settings_len), taken(file, file_len)) };
    let asked: Asked = match serde_json::from_slice(&settings) {
        Ok(asked) => asked,
        Err(error) => return Worker.hear("failure", error.to_string().as_bytes()),
    };
    tell_panics(asked.name.clone());
    let run = Run::new(asked.seed).memory(MEMORY).observer(Arc::new(Worker));
    if let Err(failure) = job::run(&asked, Bytes::from(file), &run, &Worker) {
        Worker.hear("failure", failure.to_string().as_bytes());
    }
}

/// Tells what the page offers: the methods, and the tables inside it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn offer() {
    let methods = METHODS.iter().filter(|info| Asked::offers(info));
    let methods: Vec<_> =
        methods.map(|info| json!({ "name": info.name, "title": info.title })).collect();
    let told = |example: &Example| json!({ "file": example.file, "title": example.title, "truth": example.truth });
    let examples: Vec<_> = EXAMPLES.iter().map(told).collect();
    let offer = json!({ "methods": methods, "examples": examples });
    Worker.hear("offer", offer.to_string().as_bytes());
    for example in EXAMPLES {
        Worker.hear(example.file, (example.make)().as_bytes());
    }
}

/// Damaged files make some readers panic; anything else is a mistake of ours.
fn tell_panics(file: String) {
    std::panic::set_hook(Box::new(move |info| {
        let text = if is_reader_at_work() {
            InputError::contradictory(&file).to_string()
        } else {
            format!("this should not have happened: {info}; please report it")
        };
        Worker.hear("failure", text.as_bytes());
    }));
}
