//! Ctrl-C.
//!
//! While files are read nothing has been written and a read may wait for ever (a pipe, say), so the
//! first Ctrl-C ends the program at once. Once the computation runs, the first raises the cancel
//! flag: finished members stay for the next `run`, and half-written files are removed on the way
//! out. That takes as long as the computation takes to look at the flag, and inside a long
//! eigendecomposition nobody looks, so a watchdog ends the program if it has not ended by itself.
//! A second Ctrl-C ends it at once. However it ends,
//! [`cleanup`](consilience_io::cleanup) leaves nothing half-done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use consilience::CancelFlag;
use consilience_io::cleanup::{leave, leave_unless_finished};

use crate::errors::Exit;
use crate::output;

/// How long the computation has to stop by itself: with all the rest, less than a second.
const PATIENCE: Duration = Duration::from_millis(600);

/// Whether a computation is under way that stops by itself when the flag is raised.
static COMPUTING: AtomicBool = AtomicBool::new(false);

/// The last words of an interrupted program.
fn interrupted() {
    output::note("error: interrupted");
}

/// Listens for Ctrl-C from now on. Without a handler (none can be set on this system) Ctrl-C simply
/// kills the program.
pub(crate) fn listen(flag: CancelFlag) {
    let _ = ctrlc::set_handler(move || {
        if flag.is_cancelled() || !COMPUTING.load(Ordering::SeqCst) {
            leave(Exit::Interrupted as i32, interrupted);
        }
        flag.cancel();
        // Without a watchdog the flag alone must do.
        let _ = thread::Builder::new().spawn(|| {
            thread::sleep(PATIENCE);
            leave_unless_finished(Exit::Interrupted as i32, interrupted);
        });
    });
}

/// From here on the first Ctrl-C asks, instead of ending the program.
pub(crate) fn computing() {
    COMPUTING.store(true, Ordering::SeqCst);
}
