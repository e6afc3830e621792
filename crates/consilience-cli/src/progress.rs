//! Progress and warnings on stderr.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use clap::builder::styling::{AnsiColor, Style};
use consilience::Observer;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::named;

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// If stderr is a terminal
    Auto,
    /// Always: as lines of text where stderr is no terminal
    Always,
    /// Never
    Never,
}

/// Shows how far the computation has come, and says every warning once.
pub(crate) struct Progress {
    show: Show,
    started: Instant,
    /// When something was shown last, in milliseconds since `started`: the library ticks far more
    /// often than anybody can read.
    last: AtomicU64,
    /// Where the text of the stage shown last stands: tells a new stage without a lock.
    stage: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Bars,
    Lines,
    Nothing,
}

struct State {
    stage: &'static str,
    bar: Option<ProgressBar>,
    warnings: Vec<String>,
}

impl Progress {
    /// Progress shown as `when` says.
    pub(crate) fn new(when: When) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let show = match when {
            When::Auto | When::Always if terminal => Show::Bars,
            When::Always => Show::Lines,
            When::Auto | When::Never => Show::Nothing,
        };
        Progress {
            show,
            started: Instant::now(),
            last: AtomicU64::new(0),
            stage: AtomicUsize::new(0),
            state: Mutex::new(State { stage: "", bar: None, warnings: Vec::new() }),
        }
    }

    /// Takes the bar off the screen: something else is to be said there.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock().expect("no observer panics");
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        state.stage = "";
    }

    /// The warnings so far, in the order they were first said.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.state.lock().expect("no observer panics").warnings.clone()
    }

    /// How often something new is shown.
    fn pause(&self) -> Duration {
        match self.show {
            Show::Bars => Duration::from_millis(50),
            Show::Lines | Show::Nothing => Duration::from_secs(1),
        }
    }
}

impl Observer for Progress {
    fn progress(&self, stage: &'static str, done: u64, total: Option<u64>) {
        if self.show == Show::Nothing {
            return;
        }
        let now = self.started.elapsed().as_millis() as u64;
        let last = self.last.load(Ordering::Relaxed);
        let soon = u128::from(now.saturating_sub(last)) < self.pause().as_millis();
        let same =
            self.stage.swap(stage.as_ptr().addr(), Ordering::Relaxed) == stage.as_ptr().addr();
        if soon && same {
            return;
        }
        self.last.store(now, Ordering::Relaxed);
        let mut state = self.state.lock().expect("no observer panics");
        let new_stage = state.stage != stage;
        if self.show == Show::Lines {
            state.stage = stage;
            let of = total.map_or(String::new(), |total| format!(" of {total}"));
            let _ = writeln!(anstream::stderr(), "{stage}: {done}{of}");
            return;
        }
        if new_stage {
            if let Some(bar) = state.bar.take() {
                bar.finish_and_clear();
            }
            state.stage = stage;
            state.bar = Some(new_bar(stage, total));
        }
        if let Some(bar) = &state.bar {
            if bar.length() != total {
                bar.set_style(style(total));
                bar.set_length(total.unwrap_or(0));
            }
            bar.set_position(done);
        }
    }

    fn warn(&self, message: &str) {
        let mut state = self.state.lock().expect("no observer panics");
        if state.warnings.iter().any(|said| said == message) {
            return;
        }
        state.warnings.push(message.to_owned());
        let message = named(message);
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        let say = || {
            let _ = writeln!(anstream::stderr(), "{yellow}warning:{yellow:#} {message}");
        };
        match &state.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }
}

fn new_bar(stage: &'static str, total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::new_spinner(),
    };
    bar.set_style(style(total));
    bar.set_message(stage);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn style(total: Option<u64>) -> ProgressStyle {
    let template = match total {
        Some(_) => "{msg:<26} {bar:30} {human_pos}/{human_len} {eta:>4} left",
        None => "{msg:<26} {spinner} {human_pos}",
    };
    ProgressStyle::with_template(template).expect("our templates are valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_said_once() {
        let progress = Progress::new(When::Never);
        progress.warn("column `x` is constant");
        progress.warn("column `x` is constant");
        progress.warn("column `y` is constant");
        assert_eq!(progress.warnings(), ["column `x` is constant", "column `y` is constant"]);
    }

    #[test]
    fn stages_come_and_go() {
        let progress = Progress { show: Show::Bars, ..Progress::new(When::Never) };
        progress.progress("members", 1, Some(10));
        progress.progress("members", 2, Some(20));
        assert_eq!(progress.state.lock().unwrap().bar.as_ref().unwrap().length(), Some(10));
        progress.progress("scec", 5, None);
        assert_eq!(progress.state.lock().unwrap().stage, "scec");
        progress.clear();
        assert!(progress.state.lock().unwrap().bar.is_none());
    }
}
