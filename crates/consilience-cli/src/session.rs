//! What the commands that compute have in common.

use std::sync::Arc;

use consilience::{CancelFlag, Run};
use consilience_io::cleanup::Duty;
use serde_json::{Map, Value, json};

use crate::allocator;
use crate::args::Common;
use crate::memory::default_ceiling;
use crate::progress::Progress;
use crate::signals;

/// The library's [`Run`] and who watches it.
pub(crate) struct Session {
    pub(crate) run: Run,
    pub(crate) progress: Arc<Progress>,
    pub(crate) json: bool,
    /// Takes the progress bar off the screen if the program ends at once.
    _duty: Duty,
}

impl Session {
    /// Sets up threads, memory ceiling, progress and Ctrl-C.
    pub(crate) fn new(common: &Common) -> Self {
        let cancel = CancelFlag::default();
        signals::listen(cancel.clone());
        let progress = Arc::new(Progress::new(common.progress));
        let ceiling = common.memory.unwrap_or_else(default_ceiling);
        allocator::limit(ceiling);
        let run = Run::new(common.seed)
            .threads(common.threads.unwrap_or(0))
            .memory(ceiling)
            .observer(progress.clone())
            .cancel_flag(cancel);
        if let Some(asked) = common.threads.filter(|&asked| asked > Run::most_threads()) {
            let most = Run::most_threads();
            run.warn(&format!(
                "--threads {asked} is more than this machine can use: {most} are started"
            ));
        }
        let shown = progress.clone();
        let duty = Duty::new(move || shown.clear());
        Session { run, progress, json: common.json, _duty: duty }
    }

    /// What is printed as JSON: the schema first, then `told`, then the warnings.
    pub(crate) fn finished(&self, told: Map<String, Value>) -> Value {
        let mut all = Map::new();
        all.insert("schema".to_owned(), json!(1));
        all.extend(told);
        all.insert("seed".to_owned(), json!(self.run.seed()));
        all.insert("warnings".to_owned(), json!(self.progress.warnings()));
        Value::Object(all)
    }
}
