//! What every answer must look like.

use consilience::Matrix;
use consilience::consensus::{MethodInfo, NO_CLUSTER, Offers, Value};
use consilience::ensemble::NO_PROFILE;

use crate::table::{Promise, leaves_unassigned, row};
use crate::told::{Fit, TOLERANCE};

/// Checks everything that must hold of any answer whatever the ensemble.
pub(crate) fn sound(fit: &Fit, info: &MethodInfo, k: Option<usize>) -> Result<(), String> {
    let (profiles, c) = (&fit.profiles, &fit.consensus);
    let u = profiles.len();
    if c.labels.len() != u || c.strength.len() != u {
        let lengths = (c.labels.len(), c.strength.len());
        return Err(format!("{lengths:?} labels and strengths of {u} profiles"));
    }
    let offers = Offers {
        membership: c.membership.is_some(),
        correspondences: c.correspondences.is_some(),
        dendrogram: c.dendrogram.is_some(),
        affinity: c.affinity.is_some(),
    };
    if offers != info.offers {
        return Err(format!("offers {:?}, but gives {offers:?}", info.offers));
    }
    numbering(fit, info)?;
    if let Some(k) = k {
        let kept = match row(info.name).k {
            Promise::Exactly => c.k == k,
            Promise::AtMost => c.k <= k,
            Promise::Own => return Err("told k although it takes none".to_owned()),
        };
        if !kept {
            return Err(format!("{} clusters where {k} were asked for", c.k));
        }
    }
    if let Some(bad) = c.strength.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(format!("strength {bad}"));
    }
    if let Some(matrix) = &c.membership {
        stochastic("membership", matrix, (u, c.k))?;
        for (s, &label) in c.labels.iter().enumerate().filter(|(_, label)| **label != NO_CLUSTER) {
            let most = matrix.row(s).iter().copied().fold(0.0, f64::max);
            if matrix[(s, label as usize)] < most - TOLERANCE {
                return Err(format!(
                    "profile {s} is in {label}, but its row is {:?}",
                    matrix.row(s)
                ));
            }
        }
    }
    if let Some(all) = &c.correspondences {
        if all.len() != profiles.n_members() {
            return Err(format!(
                "{} correspondences of {} members",
                all.len(),
                profiles.n_members()
            ));
        }
        for (member, matrix) in profiles.members().iter().zip(all) {
            stochastic("correspondence", matrix, (member.n_clusters(), c.k))?;
        }
    }
    if let Some(matrix) = &c.affinity
        && ((matrix.nrows(), matrix.ncols()) != (u, u)
            || matrix.as_slice().iter().any(|x| !x.is_finite()))
    {
        return Err("the affinity is not a finite u x u matrix".to_owned());
    }
    if let Some(merges) = &c.dendrogram {
        if merges.len() + 1 != u {
            return Err(format!("{} merges of {u} profiles", merges.len()));
        }
        let proper = |(i, m): (usize, &consilience::consensus::Merge)| {
            m.a != m.b && m.a.max(m.b) < (u + i) as u32 && m.height.is_finite()
        };
        if !merges.iter().enumerate().all(proper) {
            return Err("a merge of nodes that do not stand yet".to_owned());
        }
    }
    let told = c.convergence.trace.iter().copied().chain(c.convergence.objective);
    if let Some(bad) = told.into_iter().find(|x| !x.is_finite()) {
        return Err(format!("objective {bad}"));
    }
    diagnostics(fit)?;
    expansion(fit, info)
}

/// Clusters are numbered from 0 by falling weight, ties by first appearance, none empty.
fn numbering(fit: &Fit, info: &MethodInfo) -> Result<(), String> {
    let c = &fit.consensus;
    let mut mass = vec![0.0; c.k];
    let mut first = vec![usize::MAX; c.k];
    let (map, weights) = (fit.profiles.map(), fit.profiles.weights());
    let labels: Vec<(u32, f64)> = match &c.parted {
        // Equal objects share the weight of their profile.
        Some(parted) => {
            let size = |s: u32| map.iter().filter(|&&t| t == s).count() as f64;
            let labelled = parted.iter().zip(map).filter(|(_, s)| **s != NO_PROFILE);
            labelled.map(|(&label, &s)| (label, weights[s as usize] / size(s))).collect()
        }
        None => c.labels.iter().copied().zip(weights.iter().copied()).collect(),
    };
    for (s, &(label, w)) in labels.iter().enumerate() {
        if label == NO_CLUSTER && leaves_unassigned(info.name) {
            continue;
        }
        let label = label as usize;
        if label >= c.k {
            return Err(format!("label {label} of {} clusters", c.k));
        }
        mass[label] += w;
        first[label] = first[label].min(s);
    }
    if mass.contains(&0.0) {
        return Err(format!("an empty cluster: {mass:?}"));
    }
    let in_order =
        |j: usize| mass[j - 1] > mass[j] || (mass[j - 1] == mass[j] && first[j - 1] < first[j]);
    if !(1..c.k).all(in_order) {
        return Err(format!("clusters are not by falling weight: {mass:?}, first seen {first:?}"));
    }
    Ok(())
}

fn stochastic(what: &str, matrix: &Matrix, shape: (usize, usize)) -> Result<(), String> {
    if (matrix.nrows(), matrix.ncols()) != shape {
        return Err(format!("{what} is {} x {}, not {shape:?}", matrix.nrows(), matrix.ncols()));
    }
    for row in matrix.iter_rows() {
        let sum: f64 = row.iter().sum();
        if !(row.iter().all(|&p| p >= 0.0) && (sum - 1.0).abs() <= TOLERANCE) {
            return Err(format!("{what} row {row:?}"));
        }
    }
    Ok(())
}

fn diagnostics(fit: &Fit) -> Result<(), String> {
    for (name, value) in fit.consensus.diagnostics.iter() {
        let numbers: Vec<f64> = match value {
            Value::Integer(_) | Value::Text(_) => vec![],
            Value::Number(x) => vec![*x],
            Value::List(list) => list.clone(),
            Value::Members(list) if list.len() == fit.profiles.n_members() => list.clone(),
            Value::Members(list) => return Err(format!("`{name}` has {} members", list.len())),
            Value::Table(columns) => {
                if columns.iter().any(|(_, c)| c.len() != columns[0].1.len()) {
                    return Err(format!("`{name}` has columns of different lengths"));
                }
                columns.iter().flat_map(|(_, column)| column.clone()).collect()
            }
        };
        if let Some(bad) = numbers.iter().find(|x| !x.is_finite()) {
            return Err(format!("diagnostic `{name}` holds {bad}"));
        }
    }
    Ok(())
}

/// An object has a label just when some member labels it and the method does not leave it out.
fn expansion(fit: &Fit, info: &MethodInfo) -> Result<(), String> {
    for (i, (label, &s)) in fit.labels().iter().zip(fit.profiles.map()).enumerate() {
        let left_out = leaves_unassigned(info.name)
            && fit.consensus.labels.get(s as usize) == Some(&NO_CLUSTER);
        if label.is_none() != (s == NO_PROFILE || left_out) {
            return Err(format!("object {i} has label {label:?}, profile {s}"));
        }
    }
    Ok(())
}
