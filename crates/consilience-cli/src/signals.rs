//! Ctrl-C.
//!
//! While files are read nothing has been written and a read may wait for ever (a pipe, say), so the
//! first Ctrl-C ends the program at once. Once the computation runs, the first raises the cancel
//! flag: the library stops within a second, finished members stay for the next `run`, and
//! half-written files are removed on the way out. A second Ctrl-C ends the program at once.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use consilience::CancelFlag;

use crate::errors::Exit;

/// Whether a computation is under way that stops by itself when the flag is raised.
static COMPUTING: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on. Without a handler (none can be set on this system) Ctrl-C simply
/// kills the program.
pub(crate) fn listen(flag: CancelFlag) {
    let _ = ctrlc::set_handler(move || {
        if flag.is_cancelled() || !COMPUTING.load(Ordering::SeqCst) {
            let _ = writeln!(anstream::stderr(), "error: interrupted");
            std::process::exit(Exit::Interrupted as i32);
        }
        flag.cancel();
    });
}

/// From here on the first Ctrl-C asks, instead of ending the program.
pub(crate) fn computing() {
    COMPUTING.store(true, Ordering::SeqCst);
}
