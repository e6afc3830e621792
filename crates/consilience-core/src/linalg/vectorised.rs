//! Loops compiled for the widest registers of the machine they run on.

use pulp::{Arch, Simd, WithSimd};

/// Calls `work` compiled for the widest registers this machine has.
///
/// Safe loops over slices become vector instructions, if all they call is inlined: mark the closure
/// itself `#[inline(always)]`, and the functions in it. (`pulp::Arch::dispatch` takes closures too,
/// but calls those that change what they captured by way of a function that is not inlined, and so
/// is compiled for the narrowest registers there are.) Nothing is fused or reordered: the result
/// has the same bits on every machine.
///
/// ```
/// use consilience_core::linalg::vectorised;
/// let (x, mut sums) = ([1.0, 2.0, 3.0], [0.5; 3]);
/// vectorised(
///     #[inline(always)]
///     || sums.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x),
/// );
/// assert_eq!(sums, [1.5, 2.5, 3.5]);
/// ```
#[inline(always)]
pub fn vectorised<R>(work: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Work(work))
}

struct Work<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Work<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}
