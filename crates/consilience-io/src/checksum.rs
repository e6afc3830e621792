//! XXH64, the checksum that results carry of their inputs; `xxhsum -H64` prints the same digits.
//!
//! Not cryptographic: it tells whether a file is still the same, not whether somebody tampered with it.

use std::hash::Hasher as _;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use twox_hash::XxHash64;

/// A checksum in the making; bytes may come in any pieces.
#[derive(Debug)]
pub struct Xxh64(XxHash64);

impl Xxh64 {
    /// The checksum of nothing, with seed 0.
    #[allow(clippy::new_without_default)] // Nobody needs one.
    pub fn new() -> Self {
        Xxh64(XxHash64::with_seed(0))
    }

    /// Takes in bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Takes in numbers, as little-endian bytes.
    pub fn update_numbers(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|x| self.update(&x.to_le_bytes()));
    }

    /// The checksum.
    pub fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// What tells whether a file is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// How long it is.
    pub bytes: u64,
    /// Its checksum.
    pub xxh64: u64,
}

impl Fingerprint {
    /// Of a file, which is read for it.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = Watched::new(std::fs::File::open(path)?);
        io::copy(&mut file, &mut io::sink())?;
        Ok(file.seen().now())
    }
}

/// A source, whose bytes are taken in as they are read.
pub(super) struct Watched<R> {
    source: R,
    seen: Seen,
}

/// What was read of a watched source.
#[derive(Clone)]
pub(super) struct Seen(Arc<Mutex<(Xxh64, u64)>>);

impl Seen {
    /// Of what was read until now.
    pub(super) fn now(&self) -> Fingerprint {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Fingerprint { bytes: seen.1, xxh64: seen.0.finish() }
    }
}

impl<R> Watched<R> {
    pub(super) fn new(source: R) -> Self {
        Watched { source, seen: Seen(Arc::new(Mutex::new((Xxh64::new(), 0)))) }
    }

    /// What is read of it, also later.
    pub(super) fn seen(&self) -> Seen {
        self.seen.clone()
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        let mut seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.0.update(&buffer[..read]);
        seen.1 += read as u64;
        Ok(read)
    }
}
