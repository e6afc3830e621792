//! Half rings, which k-means cuts across: a committee of several kinds of clusterers, and one answer.
//!
//! `cargo run -p consilience --example cluster`

#![allow(clippy::print_stdout)]

use consilience::base::Scaling;
use consilience::data::data_set;
use consilience::generate::{BaseK, Committee, GenerateParams};
use consilience::pipeline::{Clusters, Input, Members, Recipe, Request};
use consilience::{Result, Run};

fn main() -> Result<()> {
    let run = Run::new(0);
    let set = (data_set("half-rings")?.make)(&run);

    let k = 2;
    let params =
        GenerateParams::committee(Committee::default(), BaseK::Auto { consensus: Some(k) });
    let recipe = Recipe { generator: params.check()?, scaling: Scaling::ZScore };
    let members = Members::Features {
        data: (&set.features).into(),
        names: &set.feature_names,
        weights: None,
        recipe: &recipe,
        store: None,
    };
    let request = Request { clusters: Clusters::Exactly(k), ..Request::default() };
    let answer = request.check()?.answer(Input::new(members), &run)?;

    for seat in answer.members.made.iter().flat_map(|made| &made.seats) {
        let why = seat.left_out.as_deref().unwrap_or("kept");
        println!("{} of {} clusters: {why}", seat.kind, seat.k);
    }
    println!("sizes of the clusters: {:?}", answer.sizes);
    Ok(())
}
