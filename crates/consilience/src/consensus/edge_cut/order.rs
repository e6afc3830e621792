//! An order of vertices that does not depend on rows.

use rayon::prelude::*;

use super::components;
use crate::ensemble::Linked;
use crate::error::Result;
use crate::graph::Edges;
use crate::run::Run;

/// The share from which on an edge keeps its ends side by side.
const SURE: f32 = 0.9;

/// Vertices in an order that their edges tell: by their colours, those that sure edges connect side by side. A search
/// that looks at vertices in turn then finds their neighbours in the cache.
pub(super) fn by_neighbours(edges: &Edges, linked: &Linked, run: &Run) -> Result<Vec<u32>> {
    let colours = colours(edges, linked, run)?;
    let n = colours.len();
    let parts = components(n, edges, |edge| linked.shares[edge] >= SURE);
    run.check()?;
    let mut least = vec![u64::MAX; n];
    for (&part, &colour) in parts.iter().zip(&colours) {
        least[part as usize] = least[part as usize].min(colour);
    }
    let key = |v: usize| (least[parts[v] as usize], colours[v], v as u32);
    let mut keys: Vec<(u64, u64, u32)> = (0..n).map(key).collect();
    keys.par_sort_unstable();
    Ok(keys.into_iter().map(|(.., v)| v).collect())
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
