//! Parameters as a user writes them: names and texts, read into numbers by the methods.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// Parameters by name, as text, from `--set NAME=VALUE` or a Python dictionary.
///
/// ```
/// use consilience::consensus::Settings;
/// let settings = Settings::from_iter([("alpha", "50")]);
/// assert_eq!(settings.real("alpha"), Ok(Some(50.0)));
/// assert_eq!(settings.integer("restarts"), Ok(None));
/// assert!(settings.integer("alpha").is_ok() && settings.flag("alpha").is_err());
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

    /// The number set for `name`.
    pub fn real(&self, name: &str) -> Result<Option<f64>> {
        self.parse(name, "a number")
    }

    /// The whole number set for `name`.
    pub fn integer(&self, name: &str) -> Result<Option<usize>> {
        self.parse(name, "a whole number >= 0")
    }

    /// The switch set for `name`: `true` or `false`.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        self.parse(name, "true or false")
    }

    /// The value set for `name`, one of `choices` by its word.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
            Ok(Some(*value))
        } else {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            Err(Error::parameter(name, words.join(" or "), text))
        }
    }

    fn parse<T: std::str::FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| Error::parameter(name, expected, text))
    }
}
