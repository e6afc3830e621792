//! Parameters of methods, each declared in one place.
//!
//! [`params!`] makes of one declaration the struct of a method, its setters, the check of ranges, the
//! parsing of `NAME=VALUE`, and the [`ParameterInfo`] that help texts, documentation and the other
//! languages' signatures come from. [`words!`] does the same for parameters that are one of several words.

use std::fmt;
use std::ops::Bound;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::error::{Error, Result};

/// What there is to know about a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParameterInfo {
    /// The name in `NAME=VALUE`.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
    pub(super) values: fn() -> String,
    pub(super) default: fn() -> String,
}

impl ParameterInfo {
    /// The values it may have, in words.
    pub fn range(&self) -> String {
        (self.values)()
    }

    /// The value it has if not set; a rule in words where that depends on the data.
    pub fn default(&self) -> String {
        (self.default)()
    }
}

impl Serialize for ParameterInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ParameterInfo", 4)?;
        fields.serialize_field("name", self.name)?;
        fields.serialize_field("range", &self.range())?;
        fields.serialize_field("default", &self.default())?;
        fields.serialize_field("help", self.help)?;
        fields.end()
    }
}

/// The numbers that a parameter may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    low: Bound<f64>,
    high: Bound<f64>,
}

/// Any finite number.
pub(super) const ANY: Range = Range { low: Bound::Unbounded, high: Bound::Unbounded };

/// The numbers from `low` on.
pub(super) const fn at_least(low: f64) -> Range {
    Range { low: Bound::Included(low), ..ANY }
}

/// The numbers above `low`.
pub(super) const fn above(low: f64) -> Range {
    Range { low: Bound::Excluded(low), ..ANY }
}

impl Range {
    /// Those of them up to `high`.
    pub(super) const fn at_most(self, high: f64) -> Self {
        Range { high: Bound::Included(high), ..self }
    }

    /// Those of them below `high`.
    pub(super) const fn below(self, high: f64) -> Self {
        Range { high: Bound::Excluded(high), ..self }
    }

    fn contains(&self, x: f64) -> bool {
        use std::ops::RangeBounds as _;
        x.is_finite() && (self.low, self.high).contains(&x)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.low {
            Bound::Included(low) => write!(f, "at least {low}")?,
            Bound::Excluded(low) => write!(f, "above {low}")?,
            Bound::Unbounded => write!(f, "finite")?,
        }
        match self.high {
            Bound::Included(high) => write!(f, " and at most {high}"),
            Bound::Excluded(high) => write!(f, " and below {high}"),
            Bound::Unbounded => Ok(()),
        }
    }
}

/// A type that parameters can have.
pub(super) trait Parameter: Sized {
    /// The value that a text spells, if it spells one.
    fn parse(text: &str) -> Option<Self>;

    /// The text that spells the value.
    fn spell(&self) -> String;

    /// The values there are, in words.
    fn values(range: &Range) -> String;

    /// The number that must lie within the range, if it is one.
    fn number(&self) -> Option<f64> {
        None
    }
}

impl Parameter for usize {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        self.to_string()
    }

    fn values(range: &Range) -> String {
        format!("a whole number, {range}")
    }

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Parameter for f64 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        // Small numbers as people write them: 1e-6, not 0.000001.
        if *self != 0.0 && self.abs() < 1e-3 { format!("{self:e}") } else { self.to_string() }
    }

    fn values(range: &Range) -> String {
        range.to_string()
    }

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Parameter for bool {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        self.to_string()
    }

    fn values(_: &Range) -> String {
        "true or false".to_owned()
    }
}

/// A value that the data decide unless it is given: `auto`.
impl<T: Parameter> Parameter for Option<T> {
    fn parse(text: &str) -> Option<Self> {
        if text == "auto" { Some(None) } else { T::parse(text).map(Some) }
    }

    fn spell(&self) -> String {
        self.as_ref().map_or_else(|| "auto".to_owned(), T::spell)
    }

    fn values(range: &Range) -> String {
        format!("{}, or auto", T::values(range))
    }

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}

/// The value of parameter `name` that `text` spells, within its range.
pub(super) fn parse<T: Parameter>(name: &str, text: &str, range: &Range) -> Result<T> {
    let value = T::parse(text).ok_or_else(|| Error::parameter(name, T::values(range), text))?;
    check(name, &value, range)?;
    Ok(value)
}

/// Refuses a value out of range.
pub(super) fn check<T: Parameter>(name: &str, value: &T, range: &Range) -> Result<()> {
    match value.number() {
        Some(x) if !range.contains(x) => {
            Err(Error::parameter(name, T::values(range), value.spell()))
        }
        _ => Ok(()),
    }
}

/// Words in a row: `a, b or c`.
pub(super) fn either(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.join(""),
    }
}

/// Declares an enumeration whose values are words.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $value:ident = $word:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])* $value,)+
        }

        impl $crate::consensus::params::Parameter for $name {
            fn parse(text: &str) -> Option<Self> {
                match text {
                    $($word => Some($name::$value),)+
                    _ => None,
                }
            }

            fn spell(&self) -> String {
                match self {
                    $($name::$value => $word.to_owned(),)+
                }
            }

            fn values(_: &$crate::consensus::params::Range) -> String {
                $crate::consensus::params::either(&[$($word),+])
            }
        }
    };
}

/// Declares a method with its parameters:
///
/// ```text
/// params! {
///     /// What the struct is, for the documentation.
///     pub struct Name(k): INFO {
///         /// What the parameter does: its documentation and its help text.
///         strength: f64 = 1.0, above(0.0);
///         /// The word `auto` stands for a value that the data decide, by the rule that is told here.
///         alpha: Option<f64> = "n / k", at_least(0.0);
///     }
/// }
/// ```
///
/// `(k)` must be told the number of clusters (`Name::new(3)`), `(k?)` may be (`Name::new().k(3)`), `()`
/// never is. One struct that is several methods names the field that tells them apart,
/// `(k?; link: Link)`, and tells the method of a value, `|own| own.link.info()`, in place of `INFO`. A
/// trailing `where |own| expression` checks what ranges cannot say.
macro_rules! params {
    ($(#[$doc:meta])* pub struct $name:ident(k $(; $own:ident: $type:ty)?): $($rest:tt)+) => {
        params! { @info [$(#[$doc])*] $name
            [$($own: $type,)? k: usize] [$($own: $type,)? k: usize,] [$($own,)? k,]
            [$($own: $type,)?] [$($own,)?] (given) $($rest)+ }
    };
    ($(#[$doc:meta])* pub struct $name:ident(k? $(; $own:ident: $type:ty)?): $($rest:tt)+) => {
        params! { @info [$(#[$doc])*] $name
            [$($own: $type)?] [$($own: $type,)? k: Option<usize>,] [$($own,)? k: None,]
            [$($own: $type,)?] [$($own,)?] (optional) $($rest)+ }
    };
    ($(#[$doc:meta])* pub struct $name:ident($($own:ident: $type:ty)?): $($rest:tt)+) => {
        params! { @info [$(#[$doc])*] $name
            [$($own: $type)?] [$($own: $type,)?] [$($own,)?]
            [$($own: $type,)?] [$($own,)?] (none) $($rest)+ }
    };

    (@info $doc:tt $name:ident $new:tt $own:tt $init:tt $of:tt $args:tt $k:tt
        $info:ident { $($fields:tt)* } $(where |$it:ident| $check:expr)?) => {
        params! { @field ($doc $name $new $own $init $of $args $k [|_own| &$info]
            [$(|$it| $check)?]) [] $($fields)* }
    };
    (@info $doc:tt $name:ident $new:tt $own:tt $init:tt $of:tt $args:tt $k:tt
        |$me:ident| $info:block { $($fields:tt)* } $(where |$it:ident| $check:expr)?) => {
        params! { @field ($doc $name $new $own $init $of $args $k [|$me| $info]
            [$(|$it| $check)?]) [] $($fields)* }
    };

    // Fields are brought to one form: help, name, type given, type kept, wrapping, default, its text, range.
    (@field $head:tt [$($done:tt)*]
        $(#[doc = $help:literal])+
        $field:ident: Option<$type:ty> = $default:literal $(, $range:expr)?; $($rest:tt)*) => {
        params! { @field $head [$($done)* {
            ($($help)+) $field ($type) (Option<$type>) (Some) (None) ($default.to_owned())
            (params!(@range $($range)?))
        }] $($rest)* }
    };
    (@field $head:tt [$($done:tt)*]
        $(#[doc = $help:literal])+
        $field:ident: $type:ty = $default:expr $(, $range:expr)?; $($rest:tt)*) => {
        params! { @field $head [$($done)* {
            ($($help)+) $field ($type) ($type) (std::convert::identity) ($default)
            ($crate::consensus::params::Parameter::spell(&$default))
            (params!(@range $($range)?))
        }] $($rest)* }
    };
    (@range $range:expr) => { $range };
    (@range) => { $crate::consensus::params::ANY };

    (@of (given) $name:ident $k:ident $($args:tt)*) => {
        $name::new($($args)* $k.ok_or($crate::Error::NeedsK { method: stringify!($name) })?)
    };
    (@of (optional) $name:ident $k:ident $($args:tt)*) => {{
        let mut own = $name::new($($args)*);
        own.k = $k;
        own
    }};
    (@of (none) $name:ident $k:ident $($args:tt)*) => {{
        let _ = $k;
        $name::new($($args)*)
    }};
    (@chooses (given)) => { $crate::consensus::ChoosesK::Never };
    (@chooses (optional)) => { $crate::consensus::ChoosesK::UnlessGiven };
    (@chooses (none)) => { $crate::consensus::ChoosesK::Always };
    (@k (given) $own:ident) => { Some($own.k) };
    (@k (optional) $own:ident) => { $own.k };
    (@k (none) $own:ident) => { None };
    // What the declaration says of the method, and what most methods have in common. A struct that is
    // several methods tells of each by itself.
    (@declared $k:tt) => {
        pub(super) const DECLARED: $crate::consensus::MethodInfo =
            $crate::consensus::MethodInfo::declared(params!(@chooses $k), Self::PARAMETERS, Self::of);
    };
    (@declared $k:tt $own:ident,) => {};
    (@setter (optional)) => {
        /// Asks for `k` clusters, at least 1, instead of as many as the method finds.
        #[must_use]
        pub fn k(mut self, k: usize) -> Self {
            self.k = Some(k);
            self
        }
    };
    (@setter $k:tt) => {};

    (@field ([$($doc:tt)*] $name:ident [$($new:tt)*] [$($own:tt)*] [$($init:tt)*] [$($of:tt)*]
        [$($args:tt)*] $k:tt [|$me:ident| $info:expr] [$(|$it:ident| $check:expr)?])
        [$({($($help:literal)+) $field:ident ($given:ty) ($kept:ty) ($wrap:expr) ($default:expr)
            ($text:expr) ($range:expr)})*]) => {
        $($doc)*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($own)*
            $($field: $kept,)*
        }

        impl $name {
            pub(super) const PARAMETERS: &'static [$crate::consensus::ParameterInfo] = &[
                $($crate::consensus::ParameterInfo {
                    name: stringify!($field),
                    help: concat!($($help),+).trim_ascii(),
                    values: || <$kept as $crate::consensus::params::Parameter>::values(&$range),
                    default: || $text,
                }),*
            ];

            params! { @declared $k $($args)* }

            /// The method with its documented defaults.
            #[allow(clippy::new_without_default)]
            pub fn new($($new)*) -> Self {
                $name { $($init)* $($field: $default,)* }
            }

            params! { @setter $k }

            $(
                $(#[doc = $help])+
                #[must_use]
                pub fn $field(mut self, $field: $given) -> Self {
                    self.$field = $wrap($field);
                    self
                }
            )*

            /// Refuses parameters out of range; [`fit`](Self::fit) asks by itself.
            pub fn check(&self) -> $crate::Result<()> {
                if $crate::consensus::Declared::k(self) == Some(0) {
                    return Err($crate::Error::parameter("k", "at least 1", 0));
                }
                $($crate::consensus::params::check(stringify!($field), &self.$field, &$range)?;)*
                $({
                    let $it = self;
                    $check?;
                })?
                Ok(())
            }

            /// The consensus of `ensemble`, with seed 0 and all processors.
            ///
            /// # Errors
            ///
            /// If a parameter is out of range or the method cannot use such an ensemble.
            pub fn fit(
                &self,
                ensemble: &$crate::ensemble::Ensemble,
            ) -> $crate::Result<$crate::consensus::Clustering> {
                self.fit_with(ensemble, &$crate::Run::new(0))
            }

            /// The same with a seed, threads and limits of one's own.
            ///
            /// # Errors
            ///
            /// As [`fit`](Self::fit), and if the run is cancelled or would need too much memory.
            pub fn fit_with(
                &self,
                ensemble: &$crate::ensemble::Ensemble,
                run: &$crate::Run,
            ) -> $crate::Result<$crate::consensus::Clustering> {
                $crate::consensus::Clustering::of(ensemble, self, run)
            }

            /// The method by name: with what was given for `k` and what is set.
            pub(super) fn of(
                $($of)*
                k: Option<usize>,
                settings: &$crate::consensus::Settings,
            ) -> $crate::Result<Box<dyn $crate::consensus::ConsensusMethod>> {
                #[allow(unused_mut)]
                let mut own = params!(@of $k $name k $($args)*);
                $(if let Some(text) = settings.text(stringify!($field)) {
                    own.$field =
                        $crate::consensus::params::parse(stringify!($field), text, &$range)?;
                })*
                // Some have no parameters.
                let _ = settings;
                own.check()?;
                Ok(Box::new(own))
            }
        }

        impl $crate::consensus::Declared for $name {
            fn info(&self) -> &'static $crate::consensus::MethodInfo {
                let $me = self;
                $info
            }

            fn k(&self) -> Option<usize> {
                params!(@k $k self)
            }

            fn check(&self) -> $crate::Result<()> {
                $name::check(self)
            }
        }
    };
}

pub(super) use {params, words};
