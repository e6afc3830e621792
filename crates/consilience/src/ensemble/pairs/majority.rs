//! Which share of the votes is a majority.

// Only what is inlined into the dispatched call is compiled for the vector unit.
#![allow(clippy::inline_always)]

use std::str::FromStr;

use crate::ensemble::pairs::blocks::{Lane, Lanes};
use crate::error::{Error, Result};

/// The share of votes above which a pair is joined: an exact fraction in [0, 1).
///
/// Votes are compared in whole numbers. In floating point, ten of twenty votes can be more than
/// half of them.
///
/// ```
/// use consilience::ensemble::Majority;
/// let third: Majority = "1/3".parse()?;
/// assert!(!third.joins(6, 18) && third.joins(7, 18));
/// assert_eq!("0.50".parse::<Majority>()?, Majority::HALF);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Majority {
    p: u32,
    q: u32,
}

impl Majority {
    /// More than half the votes.
    pub const HALF: Majority = Majority { p: 1, q: 2 };

    /// More than $p/q$ of the votes.
    pub fn new(p: u32, q: u32) -> Result<Self> {
        if p >= q {
            return Err(refused(&format!("{p}/{q}")));
        }
        let divisor = gcd(p, q);
        Ok(Majority { p: p / divisor, q: q / divisor })
    }

    /// The share as a number.
    pub(crate) fn share(self) -> f64 {
        f64::from(self.p) / f64::from(self.q)
    }

    /// Whether `votes` of `both` votes join a pair: $q v > p b$.
    pub fn joins(self, votes: u32, both: u32) -> bool {
        u64::from(self.q) * u64::from(votes) > u64::from(self.p) * u64::from(both)
    }

    /// [`joins`](Self::joins) in every lane.
    #[inline(always)]
    pub(super) fn joins_lanes<L: Lane>(self, votes: &Lanes<L>, both: &Lanes<L>) -> Lanes<bool> {
        let (p, q) = (u64::from(self.p), u64::from(self.q));
        std::array::from_fn(|c| q * votes[c].into() > p * both[c].into())
    }

    /// The smallest number of votes out of `both` that joins a pair.
    pub fn needed(self, both: u32) -> u32 {
        (u64::from(self.p) * u64::from(both) / u64::from(self.q)) as u32 + 1
    }
}

impl FromStr for Majority {
    type Err = Error;

    /// Reads `0.5` or `1/2`, exactly.
    fn from_str(text: &str) -> Result<Self> {
        let digits = |text: &str| -> Option<u32> {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            if plain { text.parse().ok() } else { None }
        };
        let parse = || {
            if let Some((p, q)) = text.split_once('/') {
                return Some((digits(p.trim())?, digits(q.trim())?));
            }
            let (whole, fraction) = match text.split_once('.') {
                Some((whole, fraction)) => (if whole.is_empty() { "0" } else { whole }, fraction),
                None => (text, "0"),
            };
            let whole = digits(whole)?;
            let q = 10u32.checked_pow(fraction.len().try_into().ok()?)?;
            Some((whole.checked_mul(q)?.checked_add(digits(fraction)?)?, q))
        };
        let (p, q) = parse().ok_or_else(|| refused(text))?;
        Majority::new(p, q).map_err(|_| refused(text))
    }
}

fn refused(got: &str) -> Error {
    let expected = "at least 0 and below 1, as a decimal or a fraction of up to nine digits";
    Error::parameter("threshold", expected, got)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
