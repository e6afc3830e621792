//! Tables inside the page, as files that could have been dropped on it.

use consilience::data::{DataSet, data_set};
use consilience::{Rng, Run, Stream};

/// A table to try.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The name of the file.
    pub file: &'static str,
    /// What is in it, on its button.
    pub title: &'static str,
    /// Its column of known classes, or nothing.
    pub truth: &'static str,
    /// Makes it.
    pub make: fn() -> String,
}

/// All of them.
pub static EXAMPLES: &[Example] = &[
    Example {
        file: "iris.csv",
        title: "iris flowers (measurements)",
        truth: "species",
        make: || features("iris", "species"),
    },
    Example {
        file: "half-rings.csv",
        title: "two half rings (measurements)",
        truth: "ring",
        make: || features("half-rings", "ring"),
    },
    Example {
        file: "labels.csv",
        title: "patients grouped by eight sites (labels)",
        truth: "",
        make: labels,
    },
];

/// A data set of the library.
fn features(name: &str, class: &str) -> String {
    let data: DataSet = data_set(name).map(|info| (info.make)(&Run::new(0))).expect("listed");
    let mut rows = vec![format!("{},{class}", data.feature_names.join(","))];
    for (row, &of) in data.features.iter_rows().zip(&data.truth) {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        rows.push(format!("{},{}", cells.join(","), data.class_names[of as usize]));
    }
    rows.join("\n") + "\n"
}

/// Eight clusterings of 120 patients: three groups, of which each clustering gets some wrong and leaves some out.
fn labels() -> String {
    let mut rng = Rng::new(0, Stream::Data);
    let sites = ["north", "south", "east", "west", "coast", "ward", "laboratory", "review"];
    let mut rows = vec![format!("patient,{}", sites.join(","))];
    for i in 0..120 {
        let mut row = format!("p{:03}", i + 1);
        for h in 0..sites.len() {
            let wrong = usize::from(rng.unit() < 0.12);
            let left_out = rng.unit() < 0.05;
            let group = char::from(b'A' + ((i % 3 + wrong + h) % 3) as u8);
            row.push(',');
            row.extend((!left_out).then_some(group));
        }
        rows.push(row);
    }
    rows.join("\n") + "\n"
}
