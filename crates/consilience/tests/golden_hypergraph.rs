//! Cuts of HGPA against those of Mt-KaHyPar (`golden/hypergraph.py` made them).

use consilience::Run;
use consilience::consensus::{Settings, Value, combine, method, prepare};
use consilience::ensemble::{Ensemble, HardMember};

fn list(value: &serde_json::Value) -> &[serde_json::Value] {
    value.as_array().expect("a list")
}

#[test]
fn most_cuts_are_as_small_as_those_of_another_partitioner() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("golden/hypergraph.json")).expect("JSON");
    let cases = list(&golden["cases"]);
    assert_eq!(cases.len(), 8);
    let run = Run::new(0);
    let hgpa = method("hgpa").unwrap();
    let mut equal = 0;
    for (i, case) in cases.iter().enumerate() {
        let member = |(h, labels): (usize, &serde_json::Value)| {
            let known = |label: &serde_json::Value| label.as_i64().filter(|label| *label >= 0);
            HardMember::from_integers(h.to_string(), list(labels).iter().map(known)).into()
        };
        let members = list(&case["labels"]).iter().enumerate().map(member).collect();
        let profiles = prepare(&Ensemble::new(members).unwrap(), hgpa, &run).unwrap();
        let k = case["k"].as_u64().unwrap() as usize;
        let method = hgpa.with(Some(k), &Settings::default()).unwrap();
        let consensus = combine(&profiles, method.as_ref(), None, &run).unwrap();
        let told = |name: &str| match consensus.diagnostics.get(name) {
            Some(Value::Number(x)) => *x,
            other => panic!("{name}: {other:?}"),
        };
        let (cut, theirs) = (told("cut"), case["cut"].as_f64().unwrap());
        assert!(told("imbalance") <= 1.05 + 1e-9, "case {i}");
        // The best of ten runs finds 0.0338 where ours finds 0.0387 (case 7).
        assert!(cut <= theirs + 0.005, "case {i}: {cut} against {theirs}");
        // Edge weights are kept to six digits.
        equal += usize::from(cut <= theirs + 1e-5);
    }
    assert!(equal >= 7, "{equal} of {}", cases.len());
}
