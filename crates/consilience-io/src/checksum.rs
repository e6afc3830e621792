//! XXH64, the checksum that results carry of their inputs; `xxhsum -H64` prints the same digits.
//!
//! Not cryptographic: it tells whether a file is still the same, not whether somebody tampered with it.

use std::hash::Hasher as _;

use twox_hash::XxHash64;

/// A checksum in the making; bytes may come in any pieces.
pub(crate) struct Xxh64(XxHash64);

impl Xxh64 {
    /// The checksum of nothing, with seed 0.
    pub(crate) fn new() -> Self {
        Xxh64(XxHash64::with_seed(0))
    }

    /// Takes in bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Takes in numbers, as little-endian bytes.
    pub(crate) fn update_numbers(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|x| self.update(&x.to_le_bytes()));
    }

    /// The checksum.
    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}
