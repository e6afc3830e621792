//! Which method and how many clusters are asked for, and which are taken.

use std::ops::RangeInclusive;

use crate::consensus::{METHODS, MethodInfo, method};
use crate::error::{Error, Result};
use crate::judge::{KCriteria, Number};

/// Which methods are asked for.
#[derive(Clone, Debug, Default)]
pub enum Methods {
    /// What suits the ensemble.
    #[default]
    Auto,
    /// This one.
    One(&'static MethodInfo),
    /// All of these, side by side; the answer is that of the highest agreement with the members.
    Several(Vec<&'static MethodInfo>),
}

impl Methods {
    /// What a user may write: `auto`, a name, several names with commas between, or `all`.
    ///
    /// # Errors
    ///
    /// If there is no such method, or one is named twice.
    pub fn named(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Methods::Auto),
            // What works on a network is no match for what works on labels alone.
            "all" => {
                let all = METHODS.iter().copied().filter(|info| !info.edges);
                Ok(Methods::Several(all.collect()))
            }
            names if names.contains(',') => {
                let mut methods: Vec<&'static MethodInfo> = Vec::new();
                for name in names.split(',').map(str::trim) {
                    let info = method(name)?;
                    if methods.iter().any(|known| known.name == info.name) {
                        let got = format!("`{name}` twice");
                        return Err(Error::parameter("method", "a list of different names", got));
                    }
                    methods.push(info);
                }
                Ok(Methods::Several(methods))
            }
            name => method(name).map(Methods::One),
        }
    }
}

/// How many clusters are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// As many as there are: the method's own choice where it is named and has one, otherwise what
    /// the features speak for ([`Number`]), or the members ([`KCriteria`]) where there are none.
    #[default]
    Auto,
    /// This many.
    Exactly(usize),
    /// As many as an earlier result has, which found the number: this many, but nobody asked for it.
    Kept(usize),
    /// What speaks for one in this range, likewise.
    Between(RangeInclusive<usize>),
}

impl Clusters {
    /// The number, if it is asked for.
    pub fn exactly(&self) -> Option<usize> {
        match self {
            Clusters::Exactly(k) => Some(*k),
            _ => None,
        }
    }

    /// The number, if it is known beforehand.
    pub(super) fn known(&self) -> Option<usize> {
        match self {
            Clusters::Exactly(k) | Clusters::Kept(k) => Some(*k),
            _ => None,
        }
    }

    /// The numbers that may be chosen from, if only some may.
    pub(super) fn range(&self) -> Option<&RangeInclusive<usize>> {
        match self {
            Clusters::Between(range) => Some(range),
            _ => None,
        }
    }
}

/// The method and the number of clusters that were taken.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The method.
    pub info: &'static MethodInfo,
    /// Why it was taken, as a clause that follows "because"; `None` if it was named.
    pub reason: Option<&'static str>,
    /// The number of clusters that was asked for, if it was.
    pub asked: Option<usize>,
    /// The number of clusters that the method was told; `None` if it found it by itself.
    pub k: Option<usize>,
    /// How many clusters the features speak for, where there are features.
    pub number: Option<Number>,
    /// What the members say of which number, if it was looked for among them.
    pub criteria: Option<KCriteria>,
}
