//! $f(t) = t \ln t$, the term that entropies and mutual informations are sums of.

use crate::math;
use rayon::prelude::*;

/// $t \ln t$, with $f(0) = 0$.
pub fn xlogx(t: f64) -> f64 {
    if t > 0.0 { t * math::ln(t) } else { 0.0 }
}

/// $f(t) = t \ln t$ at the whole numbers $0 \ldots n$: a logarithm less in every inner loop over
/// counts.
#[derive(Clone, Debug)]
pub struct XLogXTable(Vec<f64>);

impl XLogXTable {
    /// The table up to and including `n`.
    pub fn up_to(n: usize) -> Self {
        XLogXTable((0..=n).into_par_iter().map(|t| xlogx(t as f64)).collect())
    }

    /// $f(t)$.
    ///
    /// # Panics
    ///
    /// If `t` is above the table's end.
    #[inline(always)]
    pub fn at(&self, t: u32) -> f64 {
        self.0[t as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_the_function_bit_by_bit() {
        let table = XLogXTable::up_to(1000);
        for t in 0..=1000 {
            assert_eq!(table.at(t).to_bits(), xlogx(f64::from(t)).to_bits());
        }
        assert_eq!((xlogx(0.0), xlogx(1.0)), (0.0, 0.0));
    }
}
