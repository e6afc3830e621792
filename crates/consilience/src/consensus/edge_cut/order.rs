//! An order of vertices that does not depend on rows.

use rayon::prelude::*;

use crate::ensemble::Linked;
use crate::error::Result;
use crate::graph::Edges;
use crate::run::Run;

/// Vertices in an order that their edges tell: by their colours.
pub(super) fn by_neighbours(edges: &Edges, linked: &Linked, run: &Run) -> Result<Vec<u32>> {
    let colours = colours(edges, linked, run)?;
    let mut order: Vec<u32> = (0..colours.len() as u32).collect();
    order.par_sort_by_key(|&v| colours[v as usize]);
    Ok(order)
}

/// Colours of the vertices, refined by those of their neighbours until that tells no more of them apart.
pub(super) fn colours(edges: &Edges, linked: &Linked, run: &Run) -> Result<Vec<u64>> {
    const ROUNDS: usize = 3;
    const MOST_ROUNDS: usize = 20;
    let n = edges.n_objects();
    let mut colours = vec![1u64; n];
    let mut known = 0;
    for round in 1..=MOST_ROUNDS {
        run.check()?;
        let mut sums = vec![0u64; n];
        for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
            let bits = |x: f32| u64::from(x.to_bits());
            let own = mixed(bits(linked.shares[edge]) << 32 | bits(edges.weight(edge) as f32));
            for (from, to) in [(a, b), (b, a)] {
                let sum = &mut sums[from as usize];
                *sum = sum.wrapping_add(mixed(colours[to as usize] ^ own));
            }
        }
        for (colour, sum) in colours.iter_mut().zip(sums) {
            *colour = mixed(colour.wrapping_add(sum));
        }
        if round >= ROUNDS {
            let told = different(&colours);
            if told == n || told == known {
                break;
            }
            known = told;
        }
    }
    Ok(colours)
}

fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// How many different colours there are.
pub(super) fn different(colours: &[u64]) -> usize {
    let mut sorted = colours.to_vec();
    sorted.par_sort_unstable();
    sorted.chunk_by(|a, b| a == b).count()
}
