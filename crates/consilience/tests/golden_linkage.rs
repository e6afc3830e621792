//! Dendrograms against SciPy's on the full co-association (`golden/linkage.py` made them).

use consilience::Matrix;
use consilience::Run;
use consilience::consensus::{Settings, combine, method, prepare};
use consilience::ensemble::{Ensemble, HardMember, Member, SoftMember};
use consilience::judge::scipy_linkage;
use serde_json::Value;

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn member((h, values): (usize, &Value), soft: bool) -> Member {
    let name = h.to_string();
    if !soft {
        return HardMember::from_integers(name, list(values).iter().map(Value::as_i64)).into();
    }
    let rows: Vec<Vec<f64>> = list(values)
        .iter()
        .map(|row| list(row).iter().map(|x| x.as_f64().expect("a number")).collect())
        .collect();
    let clusters = (0..rows[0].len()).map(|c| c.to_string()).collect();
    let matrix = Matrix::from_vec(rows.len(), rows[0].len(), rows.concat());
    SoftMember::new(name, matrix, clusters).expect("rows sum to 1").into()
}

fn ensemble(case: &Value) -> Ensemble {
    let (values, soft) = match case.get("labels") {
        Some(labels) => (labels, false),
        None => (&case["memberships"], true),
    };
    let members = list(values).iter().enumerate().map(|m| member(m, soft)).collect();
    Ensemble::new(members).expect("members of one length")
}

#[test]
fn dendrograms_agree_with_scipy_where_nothing_ties() {
    let golden: Value =
        serde_json::from_str(include_str!("golden/linkage.json")).expect("the golden file is JSON");
    let cases = list(&golden["cases"]);
    assert_eq!(cases.len(), 9);
    let run = Run::new(0);
    for (i, case) in cases.iter().enumerate() {
        let ensemble = ensemble(case);
        for (name, link) in [
            ("ea-sl", "single"),
            ("ea-al", "average"),
            ("ea-cl", "complete"),
            ("ea-wl", "weighted"),
        ] {
            let info = method(name).unwrap();
            let profiles = prepare(&ensemble, info, &run).unwrap();
            let built = info.with(None, &Settings::default()).unwrap();
            let consensus = combine(&profiles, built.as_ref(), None, &run).unwrap();
            let merges = consensus.dendrogram.expect("evidence accumulation tells its tree");
            let found = scipy_linkage(&profiles, &merges).unwrap();
            let expected = list(&case["trees"][link]);
            assert_eq!(found.nrows(), expected.len(), "case {i}, {name}");
            for (row, (found, expected)) in found.iter_rows().zip(expected).enumerate() {
                for (x, y) in found.iter().zip(list(expected)) {
                    let y = y.as_f64().expect("a number");
                    assert!((x - y).abs() < 1e-12, "case {i}, {name}, merge {row}: {x}, not {y}");
                }
            }
        }
    }
}
