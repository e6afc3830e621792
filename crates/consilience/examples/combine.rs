//! Five sites grouped the same patients, two of them only in part: one grouping from all.
//!
//! `cargo run -p consilience --example combine`

#![allow(clippy::print_stdout)]

use consilience::pipeline::{Input, Request};
use consilience::{Ensemble, HardMember, Result, Run};

fn main() -> Result<()> {
    // A dot is a patient whom the site did not see. Names of groups mean nothing across sites.
    let sites = [
        ("north", "aaaabbbbcccc"),
        ("south", "xxxxyyyyyzzz"),
        ("east", "1112222.3333"),
        ("west", "....mmmmnnnn"),
        ("centre", "ppppqqqqrrr."),
    ];
    let members = sites.map(|(name, groups)| {
        let labels =
            groups.chars().map(|group| (group != '.').then_some(i64::from(u32::from(group))));
        HardMember::from_integers(name, labels).into()
    });
    let ensemble = Ensemble::new(members.into())?;

    // The method and the number of clusters are chosen; `Request` has what else can be asked for.
    let answer = Request::default().check()?.answer(Input::ensemble(ensemble), &Run::new(0))?;

    println!("{}: {}", answer.choice.info.name, answer.choice.info.title);
    for (patient, cluster) in answer.labels().iter().enumerate() {
        println!("patient {patient}: cluster {cluster:?}");
    }
    println!("agreement with the sites: {:.2} (mean NMI)", answer.anmi);
    Ok(())
}
