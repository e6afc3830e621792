//! The committee, from data to answer: what it finds, what it says of itself, and what it does with data
//! that hardly are any.

use consilience::base::{Scaling, SparseMatrix};
use consilience::data::data_set;
use consilience::ensemble::{Contingency, HardMember, Member};
use consilience::generate::{BaseK, Committee, Data, GenerateParams, Generated, Generator};
use consilience::metrics::adjusted_rand;
use consilience::pipeline::{Answer, Clusters, Input, Members, Methods, Recipe, Request};
use consilience::{Error, Matrix, Result, Run};

fn committee(k: Option<usize>) -> GenerateParams {
    GenerateParams::committee(Committee::default(), BaseK::Auto { consensus: k })
}

fn answer(data: Data<'_>, params: GenerateParams, clusters: Clusters, run: &Run) -> Result<Answer> {
    let recipe = Recipe { generator: params.check()?, scaling: Scaling::ZScore };
    let members =
        Members::Features { data, names: &[], weights: None, recipe: &recipe, store: None };
    let request = Request { methods: Methods::named("auto")?, clusters, ..Request::default() };
    request.check()?.answer(Input::new(members), run)
}

fn agreement(labels: &[Option<u32>], truth: &[u32]) -> f64 {
    let found = HardMember::from_integers("found", labels.iter().map(|l| l.map(i64::from)));
    let truth = HardMember::from_integers("truth", truth.iter().map(|&l| Some(i64::from(l))));
    adjusted_rand(&Contingency::new(&found.into(), &truth.into(), None).unwrap())
}

#[test]
fn half_rings_and_cigars_are_found_without_naming_a_method() {
    for (name, k) in [("half-rings", 2), ("three-rings", 3), ("cigar", 4), ("blobs", 5)] {
        let run = Run::new(0);
        let set = (data_set(name).unwrap().make)(&run);
        let found =
            answer((&set.features).into(), committee(Some(k)), Clusters::Exactly(k), &run).unwrap();
        assert_eq!(found.choice.info.name, "lwgp");
        let score = agreement(&found.labels(), &set.truth);
        assert!(score > 0.95, "{name}: {score}");
    }
}

#[test]
fn what_was_made_and_left_out_is_told() {
    let run = Run::new(0);
    let set = (data_set("half-rings").unwrap().make)(&run);
    let data = Data::from(&set.features);
    let found = answer(data, committee(Some(2)), Clusters::Exactly(2), &run).unwrap();
    let made = found.members.made.as_ref().unwrap();
    let kept: Vec<&str> =
        made.seats.iter().filter(|s| s.left_out.is_none()).map(|s| s.name.as_str()).collect();
    let names: Vec<&str> = found.members.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(kept, names);
    assert!(made.seats.len() > kept.len(), "k-means cuts through rings");
    for seat in &made.seats {
        assert!(seat.name.ends_with(&seat.kind), "{seat:?}");
        assert!(seat.cut.is_some_and(|cut| (0.0..=1.0).contains(&cut)), "{seat:?}");
        assert!(seat.left_out.as_ref().is_none_or(|why| why.contains(" %")), "{seat:?}");
    }
    let out = made.seats.iter().filter(|seat| seat.left_out.is_some());
    assert!(out.clone().any(|seat| seat.kind == "kmeans"));
    assert!(out.into_iter().filter(|seat| seat.k == 2).all(|seat| seat.kind != "spectral"));
}

/// The members, made on one thread and on two.
fn made(generator: &Generator, data: Data<'_>) -> Generated {
    let of = |threads| generator.ensemble(data, &Run::new(3).threads(threads)).unwrap();
    let (one, two) = (of(1), of(2));
    assert_eq!(one, two);
    one
}

#[test]
fn members_that_learn_from_samples_label_all_rows() {
    let run = Run::new(0);
    let set = (data_set("half-rings").unwrap().make)(&run);
    let k = BaseK::Auto { consensus: Some(2) };
    let params = |rows| GenerateParams::committee(Committee::default().rows(rows), k);
    let n = set.features.nrows();
    for rows in [n / 2, n] {
        let generator = params(rows).check().unwrap();
        let found = made(&generator, (&set.features).into());
        for (member, model) in found.ensemble.members().iter().zip(&found.models) {
            let labels = model.predict(&set.features, &Run::new(3)).unwrap();
            let again = HardMember::from_integers(
                member.name(),
                labels.iter().map(|&label| Some(i64::from(label))),
            );
            assert_eq!(*member, Member::from(again));
        }
    }
    let data = Data::from(&set.features);
    let found = answer(data, params(n / 2), Clusters::Exactly(2), &run).unwrap();
    assert!(agreement(&found.labels(), &set.truth) > 0.95);
    assert!(params(0).check().is_err());
}

#[test]
fn soft_members_have_memberships() {
    let run = Run::new(0);
    let set = (data_set("cigar").unwrap().make)(&run);
    let generator = committee(Some(4)).soft(true).check().unwrap();
    let found = made(&generator, (&set.features).into());
    assert!(found.ensemble.members().iter().all(|member| !member.is_hard()));
    let data = Data::from(&set.features);
    let found = answer(data, committee(Some(4)).soft(true), Clusters::Exactly(4), &run).unwrap();
    assert_eq!(found.consensus.k, 4);
}

#[test]
fn data_that_hardly_are_any_have_an_answer() {
    let line = |n: usize| Matrix::from_fn(n, 2, |i, j| (i * i + j) as f64);
    for n in 1..12 {
        for k in 1..=n.min(3) {
            let found =
                answer((&line(n)).into(), committee(Some(k)), Clusters::Exactly(k), &Run::new(1));
            assert_eq!(found.unwrap().labels().len(), n, "{n} objects, {k} clusters");
        }
        let found = answer((&line(n)).into(), committee(None), Clusters::Auto, &Run::new(1));
        assert_eq!(found.unwrap().labels().len(), n, "{n} objects");
    }
    let equal = Matrix::from_fn(30, 3, |_, _| 4.0);
    let found = answer((&equal).into(), committee(None), Clusters::Auto, &Run::new(1)).unwrap();
    assert_eq!(found.consensus.k, 1);
    // Three different rows, twenty times each, and a column that says nothing.
    let copies = Matrix::from_fn(60, 2, |i, j| if j == 0 { (i % 3 * 10) as f64 } else { 1.0 });
    let found =
        answer((&copies).into(), committee(Some(3)), Clusters::Exactly(3), &Run::new(1)).unwrap();
    assert_eq!(agreement(&found.labels(), &(0..60).map(|i| i % 3).collect::<Vec<_>>()), 1.0);
}

#[test]
fn sparse_tables_are_clustered_by_those_that_can() {
    let run = Run::new(0);
    let dense =
        Matrix::from_fn(
            90,
            6,
            |i, j| {
                if i % 3 == j / 2 { 5.0 + ((i * 7 + j) % 5) as f64 } else { 0.0 }
            },
        );
    let sparse = SparseMatrix::from_dense(&dense);
    let found = answer((&sparse).into(), committee(Some(3)), Clusters::Exactly(3), &run).unwrap();
    assert_eq!(agreement(&found.labels(), &(0..90).map(|i| i % 3).collect::<Vec<_>>()), 1.0);
    let seats = &found.members.made.as_ref().unwrap().seats;
    assert!(seats.iter().all(|s| s.kind == "kmeans" && s.cut.is_none() && s.left_out.is_none()));
    let genie = Committee::of(["genie"]).unwrap();
    let genie = GenerateParams::committee(genie, BaseK::Exactly(3));
    let refused = answer((&sparse).into(), genie, Clusters::Exactly(3), &run);
    assert!(matches!(refused, Err(Error::Parameter { .. })), "{:?}", refused.err());
}
