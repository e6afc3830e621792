//! Parameters as a user writes them: names and texts, read into numbers by the methods.

use std::collections::BTreeMap;

/// Parameters by name, as text, from `--set NAME=VALUE` or a Python dictionary.
///
/// ```
/// use consilience::consensus::Settings;
/// let settings = Settings::from_iter([("alpha", "50")]);
/// assert_eq!(settings.text("alpha"), Some("50"));
/// assert_eq!(settings.text("restarts"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, String>);

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Settings {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(settings: I) -> Self {
        Settings(settings.into_iter().map(|(n, v)| (n.into(), v.into())).collect())
    }
}

impl Settings {
    /// The names that are set.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The text set for `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets `name` to this text.
    pub fn set(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), text.to_owned());
    }
}
