//! Measures against values of independent implementations (`golden/metrics.py` made them).

use consilience::ensemble::Contingency;
use consilience::metrics::{METRICS, paired_t_test};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/metrics.json")).expect("the golden file is JSON")
}

fn labels(list: &Value) -> Vec<u32> {
    list.as_array().expect("a list").iter().map(|x| x.as_u64().expect("a label") as u32).collect()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

#[test]
fn measures_agree_with_scikit_learn() {
    let golden = golden();
    let cases = golden["clusterings"].as_array().expect("a list");
    assert_eq!(cases.len(), 36);
    for (i, case) in cases.iter().enumerate() {
        let table = Contingency::of_labels(&labels(&case["a"]), &labels(&case["b"]), None).unwrap();
        let scores = case["scores"].as_object().expect("scores by name");
        for (name, expected) in scores {
            let metric = METRICS.iter().find(|m| m.name == name).expect("a measure of ours");
            let expected = expected.as_f64().expect("a number");
            let found = (metric.value)(&table);
            // Both sum some hundred terms of size one at most.
            assert!((found - expected).abs() < 1e-13, "case {i}, {name}: {found}, not {expected}");
        }
    }
}

#[test]
fn t_tests_agree_with_scipy() {
    let golden = golden();
    let cases = golden["t_tests"].as_array().expect("a list");
    assert_eq!(cases.len(), 6);
    for case in cases {
        let test = paired_t_test(&numbers(&case["a"]), &numbers(&case["b"])).unwrap();
        let (t, p) = (case["t"].as_f64().unwrap(), case["p"].as_f64().unwrap());
        assert!((test.t - t).abs() <= 1e-10 * t.abs(), "{} {t}", test.t);
        assert!((test.p - p).abs() <= 1e-9 * p, "{} {p}", test.p);
    }
}
