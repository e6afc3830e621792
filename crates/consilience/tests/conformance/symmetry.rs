//! Answers that differ by a symmetry of the ensemble only.
//!
//! Three clusters of equal weight in a single member can be exchanged, and the ensemble stays what it
//! is. A partition that sets one of them apart then has images that are exactly as good (the best
//! partitions may all be of this kind), and nothing but the order of the file tells them apart. So
//! two answers to one ensemble, written down twice, must be equal or images of each other under
//! such an exchange. The exchange is exhibited and checked: it carries to each other the profiles
//! that stand at one place of the two canonical orders.

use std::collections::BTreeMap;

use consilience::consensus::Value;
use consilience::ensemble::{Canonical, Profiles};

use crate::told::{Fit, TOLERANCE, Told, by_appearance, whichever_of_equals};

/// Whether `a` and `b` say the same of the profiles that a symmetry carries onto each other.
pub(crate) fn are_images(a: &Fit, b: &Fit) -> Result<(), String> {
    let (order_a, order_b) = (Canonical::new(&a.profiles), Canonical::new(&b.profiles));
    same_ensemble(&order_a.profiles, &order_b.profiles)?;
    told_by_place(a, &order_a).same_as(&told_by_place(b, &order_b))
}

/// Whether equal places hold equal profiles: the exchange of what stands there is a symmetry.
fn same_ensemble(a: &Profiles, b: &Profiles) -> Result<(), String> {
    let shape = |p: &Profiles| (p.len(), p.n_members(), p.n_clusters());
    if shape(a) != shape(b) {
        return Err("other profiles".to_owned());
    }
    let close = |x: f64, y: f64| (x - y).abs() <= TOLERANCE * x.abs();
    let row = |p: &Profiles, s: usize| {
        let mut row = Vec::new();
        p.for_each_entry(s, |h, c, p| row.push((h, c, p)));
        row
    };
    for s in 0..a.len() {
        let (of_a, of_b) = (row(a, s), row(b, s));
        let same = of_a.len() == of_b.len()
            && close(a.weights()[s], b.weights()[s])
            && of_a.iter().zip(&of_b).all(|(x, y)| (x.0, x.1) == (y.0, y.1) && close(x.2, y.2));
        if !same {
            return Err(format!("place {s} holds profiles that are not interchangeable"));
        }
    }
    Ok(())
}

/// All that was told, by canonical places instead of objects and names.
fn told_by_place(fit: &Fit, order: &Canonical) -> Told {
    let consensus = &fit.consensus;
    let places = || order.profile_at.iter().map(|&s| s as usize);
    let labels = match &consensus.parted {
        None => places().map(|s| Some(consensus.labels[s])).collect(),
        // The labels of all objects of every place.
        Some(parted) => {
            let (mut labels, mut own) = (Vec::new(), Vec::new());
            for s in places() {
                let map = fit.profiles.map().iter().enumerate();
                for (i, &profile) in map.filter(|(_, profile)| **profile as usize == s) {
                    labels.push(Some(parted[i]));
                    own.push(profile);
                }
            }
            whichever_of_equals(&labels, &own)
        }
    };
    let groups = by_appearance(&labels);
    let mut group_of = vec![0; consensus.k];
    for (label, group) in labels.iter().flatten().zip(groups.iter().flatten()) {
        if let Some(of) = group_of.get_mut(*label as usize) {
            *of = *group;
        }
    }
    let by_group = |row: &[f64]| {
        let mut moved = vec![0.0; row.len()];
        row.iter().zip(&group_of).for_each(|(&p, &g)| moved[g] = p);
        moved
    };
    let membership = consensus.membership.as_ref();
    let membership = membership.map(|rows| places().map(|s| Some(by_group(rows.row(s)))).collect());
    let mut correspondences = BTreeMap::new();
    if let Some(matrices) = &consensus.correspondences {
        let mut clusters = order.cluster_at.iter();
        for (place, &h) in order.member_at.iter().enumerate() {
            let member = &fit.profiles.members()[h as usize].clusters;
            for (i, &c) in clusters.by_ref().take(member.len()).enumerate() {
                let row = matrices[h as usize].row(c as usize - member.start);
                correspondences.insert((place.to_string(), i.to_string()), by_group(row));
            }
        }
    }
    let mut of_members = BTreeMap::new();
    for (name, value) in consensus.diagnostics.iter() {
        if let Value::Members(values) = value {
            for (place, &h) in order.member_at.iter().enumerate() {
                of_members.insert((name, place.to_string()), values[h as usize]);
            }
        }
    }
    Told {
        groups,
        strength: places().map(|s| Some(consensus.strength[s])).collect(),
        membership,
        correspondences,
        of_members,
        objective: consensus.convergence.objective,
    }
}
