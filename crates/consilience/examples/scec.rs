//! Three clusterings of six objects, combined by soft correspondence: the example of section 3 of
//! the paper.
//!
//! `cargo run -p consilience --example scec`

#![allow(clippy::print_stdout)]

use consilience::{Ensemble, HardMember, Member, Result, Run, Scec};

fn main() -> Result<()> {
    // The second only renames the clusters of the first; the third cannot tell two of them apart.
    let clusterings = [
        ("first", [1, 1, 2, 2, 3, 3]),
        ("renamed", [3, 3, 1, 1, 2, 2]),
        ("coarser", [1, 1, 1, 1, 2, 2]),
    ];
    let member = |(name, labels): (&str, [i64; 6])| -> Member {
        HardMember::from_integers(name, labels.map(Some)).into()
    };
    let ensemble = Ensemble::new(clusterings.map(member).into())?;

    let answer = Scec::new(3).fit_with(&ensemble, &Run::new(42))?;

    println!("clusters of the objects: {:?}", answer.labels());
    println!("how strongly: {:.2?}", answer.strength());
    let correspondences = answer.consensus().correspondences.iter().flatten();
    for (member, correspondence) in ensemble.members().iter().zip(correspondences) {
        println!("clusters of `{}` in the consensus:", member.name());
        for (cluster, shares) in member.clusters().iter().zip(correspondence.iter_rows()) {
            println!("  {cluster}: {shares:.2?}");
        }
    }
    Ok(())
}
