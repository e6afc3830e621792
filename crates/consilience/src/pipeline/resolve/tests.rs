//! Levels whose answers are known.

use super::*;
use crate::ensemble::HardMember;
use crate::rng::{Rng, Stream};

/// Three groups of unequal size; at level 0 the last two are one, at level 2 labels are noise.
fn planted(seeds: usize, noise: usize) -> (Ensemble, Levels) {
    let mut rng = Rng::new(11, Stream::Data);
    let group = |i: usize| {
        if i < 60 {
            0
        } else if i < 90 {
            1
        } else {
            2
        }
    };
    let (mut members, mut levels) = (Vec::new(), Vec::new());
    for (level, name) in ["0.1", "0.5", "2"].iter().enumerate() {
        for seed in 0..seeds {
            let labels = (0..120).map(|i| {
                let own = if level == 0 { group(i).min(1) } else { group(i) };
                let other = level == 2 || rng.below(100) < noise;
                let most = [2, 3, 5][level];
                Some(if other { rng.below(most) as i64 } else { own })
            });
            let labels: Vec<Option<i64>> = labels.collect();
            members.push(HardMember::from_integers(format!("leiden_{name}_{seed}"), labels).into());
            levels.push(Some(*name));
        }
    }
    (Ensemble::new(members).unwrap(), Levels::of_members(&levels).unwrap())
}

fn resolved(ensemble: &Ensemble, levels: &Levels, threads: usize) -> Resolution {
    let resolve = Resolve { levels: levels.clone(), level: None };
    resolve.of(ensemble, &Run::new(3).threads(threads)).unwrap()
}

#[test]
fn the_planted_levels_are_found_with_their_clusters() {
    let (ensemble, levels) = planted(6, 0);
    let found = resolved(&ensemble, &levels, 1);
    // Both planted levels are perfect: the finer tells more, noise is not recommended.
    assert_eq!(found.recommended_names(), ["0.5"]);
    let chosen = found.chosen_level().unwrap();
    assert_eq!(chosen.ids.len(), 3);
    let labels = chosen.labels();
    let mut sizes = vec![0; 3];
    labels.iter().flatten().for_each(|&id| sizes[id as usize] += 1);
    assert_eq!(sizes, [60, 30, 30]);
    assert!(chosen.confidence.as_ref().unwrap().iter().all(|&sure| sure > 0.5));
    assert!(chosen.coverage.is_none());
    let noise = found.levels[2].stability.unwrap();
    assert!(noise.beyond_chance.high < 0.1, "{noise:?}");
    assert!(found.levels[0].next.unwrap() > found.levels[1].next.unwrap());
}

#[test]
fn clusters_keep_their_ids_and_the_tree_adds_up() {
    let (ensemble, levels) = planted(4, 2);
    let found = resolved(&ensemble, &levels, 2);
    let ids = |at: usize| -> Vec<u32> {
        found.tree.nodes.iter().filter(|node| node.level == at).map(|node| node.cluster).collect()
    };
    assert_eq!(ids(0), [0, 1]);
    let mut second = ids(1);
    second.sort_unstable();
    assert_eq!(second, [0, 1, 2], "one comes apart: a part keeps the id, the other is new");
    for node in &found.tree.nodes {
        let of = |edge: &&Edge| edge.level == node.level && edge.cluster == node.cluster;
        let out: Vec<&Edge> = found.tree.edges.iter().filter(of).collect();
        if node.level + 1 < found.levels.len() {
            assert!((out.iter().map(|e| e.out_proportion).sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(out.iter().map(|e| e.count).sum::<f64>(), node.size);
        }
        let into = found.tree.edges.iter();
        let into = into.filter(|e| e.level + 1 == node.level && e.next == node.cluster);
        let share: f64 = into.map(|e| e.in_proportion).sum();
        assert!(node.level == 0 || (share - 1.0).abs() < 1e-12);
        assert!((0.0..=1.0).contains(&node.recovery));
    }
}

#[test]
fn threads_and_orders_change_nothing() {
    let (ensemble, levels) = planted(5, 10);
    let one = resolved(&ensemble, &levels, 1);
    assert_eq!(one, resolved(&ensemble, &levels, 3));
    let mut members = ensemble.members().to_vec();
    members.reverse();
    let texts: Vec<Option<String>> =
        members.iter().map(|member| member.name().split('_').nth(1).map(str::to_owned)).collect();
    let turned = Ensemble::new(members).unwrap();
    let again = resolved(&turned, &Levels::of_members(&texts).unwrap(), 1);
    assert_eq!((&again.recommended, &again.tree.edges), (&one.recommended, &one.tree.edges));
    for (a, b) in one.tree.nodes.iter().zip(&again.tree.nodes) {
        assert_eq!((a.level, a.cluster, a.size), (b.level, b.cluster, b.size));
        assert!((a.recovery - b.recovery).abs() < 1e-9);
    }
    for (a, b) in one.levels.iter().zip(&again.levels) {
        assert_eq!((a.labels(), a.stability.is_some()), (b.labels(), b.stability.is_some()));
    }
}

#[test]
fn noise_is_said_to_be_noise_and_any_level_can_be_taken() {
    let (ensemble, levels) = planted(5, 100);
    let found = resolved(&ensemble, &levels, 1);
    assert_eq!((found.recommended.len(), found.chosen), (0, None));
    assert!(found.verdict().starts_with("No level is stable"), "{}", found.verdict());
    let resolve = Resolve { levels, level: Some("0.50".to_owned()) };
    let asked = resolve.of(&ensemble, &Run::new(0)).unwrap();
    assert_eq!(asked.chosen, Some(1));
    assert!(asked.chosen_level().unwrap().confidence.is_some());
    let resolve = Resolve { level: Some("3".to_owned()), ..resolve };
    let error = resolve.of(&ensemble, &Run::new(0)).unwrap_err().to_string();
    assert!(error.contains("0.1, 0.5, 2"), "{error}");
}

#[test]
fn missing_labels_are_covered_and_single_clusterings_are_refused() {
    let member = |labels: [i64; 8]| {
        HardMember::from_integers("m", labels.map(|label| (label >= 0).then_some(label))).into()
    };
    let members = vec![
        member([0, 0, 0, 0, 1, 1, 1, -1]),
        member([0, 0, 0, -1, 1, 1, 1, -1]),
        member([0, 0, 0, 0, 1, 1, 1, -1]),
    ];
    let ensemble = Ensemble::new(members).unwrap();
    let levels = Levels::of_members(&["1"; 3].map(Some)).unwrap();
    let found = resolved(&ensemble, &levels, 1);
    let chosen = found.chosen_level().unwrap();
    assert_eq!((chosen.label(7), chosen.confidence.as_ref().unwrap()[7]), (None, 0.0));
    let coverage = chosen.coverage.as_ref().unwrap();
    assert_eq!((coverage[0], coverage[7]), (1.0, 0.0));
    assert!((coverage[3] - 2.0 / 3.0).abs() < 1e-12);

    let single = Levels::of_members(&["1", "2", "3"].map(Some)).unwrap();
    let error = Resolve { levels: single, level: None }.of(&ensemble, &Run::new(0)).unwrap_err();
    assert!(error.to_string().contains("other seeds"), "{error}");
    let long = Levels::of_members(&["1"; 4].map(Some)).unwrap();
    assert!(Resolve { levels: long, level: None }.of(&ensemble, &Run::new(0)).is_err());
}

#[test]
fn two_seeds_are_too_few_and_that_is_said() {
    let (ensemble, levels) = planted(2, 0);
    let found = resolved(&ensemble, &levels, 1);
    assert_eq!((found.recommended.len(), found.chosen), (0, None));
    assert!(found.verdict().contains("3 clusterings"), "{}", found.verdict());
}

#[test]
fn weights_count() {
    let (ensemble, levels) = planted(4, 0);
    let weighted = ensemble.clone().with_weights(vec![2.0; 120]).unwrap();
    let (plain, double) = (resolved(&ensemble, &levels, 1), resolved(&weighted, &levels, 1));
    assert_eq!(plain.recommended, double.recommended);
    for (a, b) in plain.tree.nodes.iter().zip(&double.tree.nodes) {
        assert_eq!(2.0 * a.size, b.size);
    }
}

/// The seeds of a level agree on everything; what differs between levels tells who is less sure.
#[test]
fn who_leaves_its_cluster_at_another_level_is_less_sure() {
    let coarse = |i: usize| usize::from(!(5..60).contains(&i));
    let fine = |i: usize| i / 30;
    let (mut members, mut levels) = (Vec::new(), Vec::new());
    for (name, of) in [("0.1", &coarse as &dyn Fn(usize) -> usize), ("0.5", &fine)] {
        for seed in 0..4 {
            let labels: Vec<_> = (0..120).map(|i| Some(of(i) as i64)).collect();
            members.push(HardMember::from_integers(format!("{name}_{seed}"), labels).into());
            levels.push(Some(name));
        }
    }
    let ensemble = Ensemble::new(members).unwrap();
    let levels = Levels::of_members(&levels).unwrap();
    let found = resolved(&ensemble, &levels, 1);
    let chosen = found.chosen_level().unwrap();
    assert_eq!((chosen.name.as_str(), chosen.ids.len()), ("0.5", 4));
    let sure = chosen.confidence.as_ref().unwrap();
    assert!(sure[..5].iter().all(|&x| x == sure[0]) && sure[5..30].iter().all(|&x| x == sure[5]));
    assert!(sure[0] < sure[5] - 0.1, "{} {}", sure[0], sure[5]);
    // The mean of a cluster is told where there is a consensus.
    let of = |level: usize| found.tree.nodes.iter().filter(move |node| node.level == level);
    assert!(of(1).all(|node| node.confidence.is_some()));
    let first = of(1).find(|node| Some(node.cluster) == chosen.label(0)).unwrap();
    let mean = sure[..30].iter().sum::<f64>() / 30.0;
    assert!((first.confidence.unwrap() - mean).abs() < 1e-9);
}
