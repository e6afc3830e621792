//! Hierarchical and density clustering against other programs (`golden/trees.py` made their partitions).

use consilience::base::{DensityParams, HierarchyParams, Linkage};
use consilience::{Matrix, Run};
use serde_json::Value;

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn count(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

/// Labels numbered by their first rows; -1 is none.
fn numbered(labels: impl IntoIterator<Item = i64>) -> Vec<Option<usize>> {
    let mut seen = Vec::new();
    let number = |label: i64| {
        let known = seen.iter().position(|&other| other == label);
        known.unwrap_or_else(|| {
            seen.push(label);
            seen.len() - 1
        })
    };
    let mut number = number;
    labels.into_iter().map(|label| (label >= 0).then(|| number(label))).collect()
}

fn theirs(value: &Value) -> Vec<Option<usize>> {
    numbered(list(value).iter().map(|label| label.as_i64().expect("a whole number")))
}

/// Each table with its case.
fn each(test: impl Fn(&str, &Matrix, &Value)) {
    let golden: Value =
        serde_json::from_str(include_str!("golden/trees.json")).expect("the golden file is JSON");
    let cases = list(&golden["cases"]);
    assert_eq!(cases.len(), 5);
    for case in cases {
        let rows: Vec<Vec<f64>> = list(&case["rows"]).iter().map(numbers).collect();
        let data = Matrix::from_vec(rows.len(), rows[0].len(), rows.concat());
        test(case["name"].as_str().expect("a name"), &data, case);
    }
}

#[test]
fn genie_agrees_with_genieclust() {
    each(|name, data, case| {
        for expected in list(&case["genie"]) {
            let threshold = expected["threshold"].as_f64().expect("a number");
            let params = HierarchyParams::new(Linkage::Genie { threshold }, count(&expected["k"]));
            let labels = params.check().unwrap().fit(data, &Run::new(0)).unwrap();
            let ours = numbered(labels.into_iter().map(i64::from));
            assert_eq!(ours, theirs(&expected["labels"]), "{name} {threshold}");
        }
    });
}

#[test]
fn links_agree_with_fastcluster() {
    each(|name, data, case| {
        for expected in list(&case["link"]) {
            let link = expected["link"].as_str().expect("a name");
            let linkage = match link {
                "single" => Linkage::Single,
                "average" => Linkage::Average,
                "complete" => Linkage::Complete,
                _ => Linkage::Ward,
            };
            let hierarchy = HierarchyParams::new(linkage, 1).check().unwrap();
            let merges = hierarchy.merges(data, &Run::new(0)).unwrap();
            for (merge, height) in merges.merges().iter().zip(numbers(&expected["heights"])) {
                assert!((merge.height - height).abs() < 1e-9 * height, "{name} {link}");
            }
            for (k, labels) in expected["cuts"].as_object().expect("cuts by k") {
                let cut = merges.cut(k.parse().expect("a number")).unwrap();
                let ours = numbered(cut.into_iter().map(i64::from));
                assert_eq!(ours, theirs(labels), "{name} {link} {k}");
            }
        }
    });
}

#[test]
fn density_agrees_with_scikit_learn() {
    each(|name, data, case| {
        for expected in list(&case["density"]) {
            let (size, samples) = (count(&expected["size"]), count(&expected["samples"]));
            let params =
                DensityParams::new(1).min_cluster_size(Some(size)).min_samples(Some(samples));
            let labels = params.check().unwrap().fit(data, &Run::new(0)).unwrap();
            let ours = numbered(labels.into_iter().map(|label| label.map_or(-1, i64::from)));
            for (i, (ours, theirs)) in ours.iter().zip(list(&expected["labels"])).enumerate() {
                // Null is a row between clusters that only ties decide about.
                if let Some(theirs) = theirs.as_i64() {
                    let theirs = usize::try_from(theirs).ok();
                    assert_eq!(*ours, theirs, "{name} {size} {samples}, row {i}");
                }
            }
        }
    });
}
