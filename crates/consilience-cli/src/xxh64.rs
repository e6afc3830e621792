//! XXH64, the checksum that results carry of their inputs; `xxhsum -H64` prints the same digits.
//!
//! Y. Collet. *xxHash fast digest algorithm*, specification 0.1.1. Not cryptographic: it tells
//! whether a file is still the same, not whether somebody tampered with it.

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

const STRIPE: usize = 32;

/// A checksum in the making; bytes may come in any pieces.
#[derive(Clone, Debug)]
pub(crate) struct Xxh64 {
    lanes: [u64; 4],
    /// Bytes that do not fill a stripe yet.
    rest: Vec<u8>,
    total: u64,
}

impl Xxh64 {
    /// The checksum of nothing, with seed 0.
    pub(crate) fn new() -> Self {
        let lanes = [P1.wrapping_add(P2), P2, 0, 0u64.wrapping_sub(P1)];
        Xxh64 { lanes, rest: Vec::with_capacity(STRIPE), total: 0 }
    }

    /// Takes in bytes.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if !self.rest.is_empty() {
            let (head, tail) = bytes.split_at(bytes.len().min(STRIPE - self.rest.len()));
            self.rest.extend_from_slice(head);
            bytes = tail;
            if self.rest.len() < STRIPE {
                return;
            }
            let stripe = std::mem::take(&mut self.rest);
            self.stripe(&stripe);
        }
        let mut stripes = bytes.chunks_exact(STRIPE);
        stripes.by_ref().for_each(|stripe| self.stripe(stripe));
        self.rest.extend_from_slice(stripes.remainder());
    }

    /// Takes in numbers, as little-endian bytes.
    pub(crate) fn update_numbers(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|x| self.update(&x.to_le_bytes()));
    }

    /// The checksum.
    pub(crate) fn finish(&self) -> u64 {
        let mut hash = if self.total < STRIPE as u64 {
            P5
        } else {
            let [a, b, c, d] = self.lanes;
            let mut hash = a
                .rotate_left(1)
                .wrapping_add(b.rotate_left(7))
                .wrapping_add(c.rotate_left(12))
                .wrapping_add(d.rotate_left(18));
            for lane in self.lanes {
                hash = (hash ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4);
            }
            hash
        };
        hash = hash.wrapping_add(self.total);
        let mut rest = self.rest.as_slice();
        while let Some((eight, tail)) = rest.split_first_chunk() {
            hash ^= round(0, u64::from_le_bytes(*eight));
            hash = hash.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
            rest = tail;
        }
        if let Some((four, tail)) = rest.split_first_chunk() {
            hash ^= u64::from(u32::from_le_bytes(*four)).wrapping_mul(P1);
            hash = hash.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
            rest = tail;
        }
        for &byte in rest {
            hash ^= u64::from(byte).wrapping_mul(P5);
            hash = hash.rotate_left(11).wrapping_mul(P1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(P2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(P3);
        hash ^ (hash >> 32)
    }

    fn stripe(&mut self, stripe: &[u8]) {
        for (lane, eight) in self.lanes.iter_mut().zip(stripe.chunks_exact(8)) {
            *lane = round(*lane, u64::from_le_bytes(eight.try_into().expect("eight bytes")));
        }
    }
}

fn round(lane: u64, input: u64) -> u64 {
    lane.wrapping_add(input.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u64 {
        let mut hash = Xxh64::new();
        hash.update(bytes);
        hash.finish()
    }

    #[test]
    fn published_checksums() {
        assert_eq!(of(b""), 0xef46_db37_51d8_e999);
        assert_eq!(of(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(of(b"abc"), 0x44bc_2cf5_ad77_0999);
        let pangram = b"Nobody inspects the spammish repetition";
        assert_eq!(of(pangram), 0xfbce_a83c_8a37_8bf1);
    }

    #[test]
    fn the_pieces_do_not_matter() {
        let bytes: Vec<u8> = (0..200u8).collect();
        for cut in 0..bytes.len() {
            let mut hash = Xxh64::new();
            hash.update(&bytes[..cut]);
            hash.update(&bytes[cut..]);
            assert_eq!(hash.finish(), of(&bytes), "cut at {cut}");
        }
    }
}
