//! Which profiles surely stay, told at a glance: by adding up whole numbers.
//!
//! For a unit of weight a profile of weight $w$ gains by joining a cluster $c$ the mean, over the
//! weights between $T_{cj}$ and $T_{cj} + w$, of the logarithm, added up over its labels $j$, less the
//! same of the totals $n_c$; and where it is it has the mean between $T_{cj} - w$ and $T_{cj}$. Let $W$
//! be a weight that few profiles exceed. For all $w \le W$ the former is at most
//!
//! $$ \ln (T_{cj} + W/2) - \ln n_c, $$
//!
//! as the logarithm is concave and rises, and the latter, with $x = \min(1, W / T_{cj})$, at least
//!
//! $$ \ln T_{cj} - \ell(x) - \ln n_c, \qquad \ell(x) = \sum_{i \ge 1} \frac{x^i}{i (i + 1)} \le
//!    \frac x2 + \frac{x^2}6 + \frac{x^3}{12} + \frac{x^4}4 . $$
//!
//! Neither depends on the profile but for its labels, so both are kept in tables, as multiples of
//! $2^{-16}$, the one too large and the other too small by about that; a move changes two columns in
//! the rows of its labels. A profile whose sum of the one, in all other clusters, is below its sum of
//! the other, in its own, stays. After the first pass or two that is nearly all of them. Where members
//! have weights $\omega_q$, both bounds of a member are taken so many times.
//!
//! By how much it is below is the profile's *lead*. What a move adds to the tables is known, so that
//! profiles that would keep a part of their lead, whatever their labels, need [not even be
//! looked at](super::drift). As all are whole numbers, this leaves out what would have been decided in
//! the same way, and nothing else.

use super::drift::{Change, Drift};
use super::screen::{LANES, Lane};
use crate::ensemble::Code;
use crate::linalg::ln_branchless;

/// Columns handled together.
const WIDE: usize = 8;
type Wide = [i32; WIDE];

/// Units in 1.
const UNITS: f64 = 65536.0;

/// The most groups of columns that are added up together, so as to stay in registers.
const SLAB: usize = 4;

/// Sums of bounds on what clusters are worth to profiles.
pub(super) struct Glance {
    k: usize,
    /// Groups of columns in a row.
    width: usize,
    /// $W$.
    heavy: f64,
    /// What bounds are multiplied by: $\omega_q$, a number for every row, and their sum over members.
    omega: Vec<f64>,
    total_omega: f64,
    /// What joining is worth at most, a row for every cluster of a member.
    joining: Vec<Wide>,
    /// What staying is worth at least, the same rows.
    staying: Vec<i32>,
    /// What the totals take off at least where one joins, and at most where one stays.
    off_joining: Vec<Wide>,
    off_staying: Vec<i32>,
    /// The leads, and what has become of them; kept once few profiles move.
    leads: Option<Drift>,
    /// Room for an update.
    cells: Cells,
}

/// The weights $\omega_q$, for every row of the tables and added up over members.
pub(super) struct Omega {
    pub(super) of_row: Vec<f64>,
    pub(super) total: f64,
}

impl Glance {
    /// Bounds for profiles of weight at most `heavy` and `r` members with these masses, rows of
    /// `width` lanes with a column for each of `k` clusters, the totals last; if sums fit. All masses
    /// are whole numbers.
    pub(super) fn new(
        (k, r): (usize, usize),
        heavy: f64,
        omega: Omega,
        mass: &[Lane],
        width: usize,
    ) -> Option<Self> {
        let rows = mass.len() / width - 1;
        let most: f64 = mass.as_flattened().iter().copied().fold(heavy, f64::max);
        let wide = k.div_ceil(WIDE);
        let largest = omega.total * (2.0 * most).ln() * UNITS + 2.0 * r as f64;
        if wide > SLAB || largest >= f64::from(i32::MAX / 4) {
            return None;
        }
        let mut glance = Glance {
            k,
            width: wide,
            heavy,
            omega: omega.of_row,
            total_omega: omega.total,
            joining: vec![[0; WIDE]; rows * wide],
            staying: vec![0; rows * wide * WIDE],
            // Columns that only fill up the last group are worth least of all.
            off_joining: vec![[i32::MIN / 2; WIDE]; wide],
            off_staying: vec![0; wide * WIDE],
            leads: None,
            cells: Cells::default(),
        };
        for c in 0..k {
            let at = |row: usize| mass[row * width + c / LANES][c % LANES];
            glance.update((0..rows).map(|row| (row, at(row))), c, at(rows));
        }
        Some(glance)
    }

    /// Notes that column `c` has these masses now, each with its row, and the total `n`; by how much,
    /// at most, that makes joining `c` worth more, and staying in it worth less, to a profile that is
    /// in one of the rows for every member at most.
    #[inline(always)]
    pub(super) fn update(
        &mut self,
        cells: impl Iterator<Item = (usize, f64)> + Clone,
        c: usize,
        n: f64,
    ) -> (f64, f64) {
        let Self { width, heavy, omega, joining, staying, cells: room, .. } = self;
        room.clear();
        for (row, t) in cells.clone() {
            room.mass.push(t);
            room.omega.push(omega[row]);
        }
        room.bound(*heavy);
        let (mut fall, mut rise) = (0, 0);
        for (((row, _), &join), &stay) in cells.zip(&room.join).zip(&room.stay) {
            let at = row * *width + c / WIDE;
            let old_join = std::mem::replace(&mut joining[at][c % WIDE], join);
            let old_stay = std::mem::replace(&mut staying[at * WIDE + c % WIDE], stay);
            fall += (join - old_join).max(0);
            rise += (old_stay - stay).max(0);
        }
        let off = units(self.total_omega * ln_branchless(if n > 1.0 { n } else { 1.0 }));
        let old_join = std::mem::replace(&mut self.off_joining[c / WIDE][c % WIDE], 1 - off);
        let old_stay = std::mem::replace(&mut self.off_staying[c], 1 + off);
        fall += 1 - off - old_join;
        rise += 1 + off - old_stay;
        (f64::from(fall.max(0)), f64::from(rise.max(0)))
    }

    /// Notes what two updates told of a move of profile `s`.
    #[inline(always)]
    pub(super) fn moved(&mut self, s: usize, from: usize, to: usize, by: [(f64, f64); 2]) {
        let [(fall_from, rise_from), (fall_to, rise_to)] = by;
        if let Some(leads) = &mut self.leads {
            leads.moved(from, to, Change { fall_to, fall_from, rise_to, rise_from });
            leads.forget(s);
        }
    }

    /// Keeps the leads of `u` profiles from now on.
    pub(super) fn keep_leads(&mut self, u: usize) {
        self.leads.get_or_insert_with(|| Drift::new(self.k, u));
    }

    /// Leads are counted from the beginning of an epoch.
    pub(super) fn begin_epoch(&mut self) {
        if let Some(leads) = &mut self.leads {
            leads.begin_epoch();
        }
    }

    /// Whether profile `s`, in cluster `own`, is known to stay. No cluster may be empty.
    #[inline(always)]
    pub(super) fn settles(&self, s: usize, own: usize) -> bool {
        // A closure would be a call, and not of the vector instructions that are at hand here.
        match &self.leads {
            Some(leads) => leads.settles(s, own),
            None => false,
        }
    }

    /// Whether profile `s` with these codes, of weight `w` and in cluster `own`, surely stays. No
    /// cluster may be empty, and `firsts` are the first rows of the members.
    #[inline(always)]
    pub(super) fn stays<C: Code>(
        &mut self,
        s: usize,
        codes: &[C],
        firsts: &[usize],
        (own, w): (usize, f64),
    ) -> bool {
        if w > self.heavy {
            return false;
        }
        let lead = match self.width {
            1 => self.compare::<1, C>(codes, firsts, own),
            2 => self.compare::<2, C>(codes, firsts, own),
            3 => self.compare::<3, C>(codes, firsts, own),
            SLAB => self.compare::<SLAB, C>(codes, firsts, own),
            _ => None,
        };
        let Some(lead) = lead.filter(|&lead| lead > 0.0) else { return false };
        if let Some(leads) = &mut self.leads {
            leads.visited(s, lead);
        }
        true
    }

    #[inline(always)]
    fn compare<const B: usize, C: Code>(
        &self,
        codes: &[C],
        firsts: &[usize],
        own: usize,
    ) -> Option<f64> {
        let mut sums: [Wide; B] = self.off_joining[..B].try_into().expect("B groups");
        let mut stay = -self.off_staying[own];
        for (code, first) in codes.iter().zip(firsts) {
            let c = code.index()?;
            let at = (first + c) * B;
            let row: &[Wide; B] = self.joining[at..at + B].try_into().expect("B groups");
            for b in 0..B {
                for l in 0..WIDE {
                    sums[b][l] += row[b][l];
                }
            }
            stay += self.staying[at * WIDE + own];
        }
        let mut most = [i32::MIN; WIDE];
        for (b, group) in sums.iter().enumerate() {
            for l in 0..WIDE {
                let other = if b * WIDE + l == own { i32::MIN } else { group[l] };
                most[l] = most[l].max(other);
            }
        }
        Some(f64::from(stay) - f64::from(most.into_iter().fold(i32::MIN, i32::max)))
    }
}

/// Cells of a column: their masses and weights, and the bounds that follow, each in an array of its
/// own for vectors.
#[derive(Default)]
struct Cells {
    mass: Vec<f64>,
    omega: Vec<f64>,
    join: Vec<i32>,
    stay: Vec<i32>,
}

impl Cells {
    fn clear(&mut self) {
        self.mass.clear();
        self.omega.clear();
    }

    /// What joining and staying are worth to profiles of weight at most `heavy`.
    #[inline(always)]
    fn bound(&mut self, heavy: f64) {
        let Cells { mass, omega, join, stay } = self;
        join.resize(mass.len(), 0);
        stay.resize(mass.len(), 0);
        let cells = mass.iter().zip(&*omega);
        for (((&t, &omega), join), stay) in cells.zip(join).zip(stay) {
            let most = ln_branchless(t + 0.5 * heavy);
            // Nobody stays where there is nothing; any number will do.
            let t = if t > 1.0 { t } else { 1.0 };
            let x = heavy / t;
            let x = if x < 1.0 { x } else { 1.0 };
            let loss = x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 12.0 + x * 0.25)));
            let least = ln_branchless(t) - loss;
            *join = units(omega * most) + 1;
            *stay = units(omega * least) - 1;
        }
    }
}

/// The nearest whole number of units, by way of the bits of a number so large that its last bit
/// counts them: unlike a conversion this becomes vector instructions.
#[inline(always)]
fn units(x: f64) -> i32 {
    const ROUNDER: f64 = (3u64 << 51) as f64;
    (x * UNITS + ROUNDER).to_bits() as i32
}
