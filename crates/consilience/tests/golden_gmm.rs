//! Mixtures of Gaussians against scikit-learn's from the same start (`golden/gmm.py` made them).

use consilience::base::{Covariance, GmmParams};
use consilience::{Matrix, Run, Stream};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    match value.as_array() {
        Some(list) => list.iter().flat_map(numbers).collect(),
        None => vec![value.as_f64().expect("a number")],
    }
}

#[test]
fn mixtures_agree_with_scikit_learn() {
    let golden: Value =
        serde_json::from_str(include_str!("golden/gmm.json")).expect("the golden file is JSON");
    let cases = golden["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 8);
    let run = Run::new(0);
    for (i, case) in cases.iter().enumerate() {
        let covariance = match case["covariance"].as_str() {
            Some("full") => Covariance::Full,
            Some("tied") => Covariance::Tied,
            Some("diag") => Covariance::Diagonal,
            _ => Covariance::Spherical,
        };
        let integer = |name: &str| case[name].as_u64().expect("an integer") as usize;
        let whole = |name: &str| numbers(&case[name]).iter().map(|&x| x as u32).collect::<Vec<_>>();
        let (k, n) = (integer("k"), case["data"].as_array().expect("rows").len());
        let data = numbers(&case["data"]);
        let data = Matrix::from_vec(n, data.len() / n, data);
        let gmm = GmmParams::new(k).covariance(covariance).ridge(0.0).tol(0.0);
        let gmm = gmm.max_iter(integer("iterations")).check().unwrap();
        let mut rng = run.rng(Stream::Member(0));
        let fit = gmm.fit_from(&data, &whole("start"), &run, &mut rng).unwrap();
        assert_eq!(fit.labels, whole("labels"), "case {i}");
        let expected = case["log_likelihood"].as_f64().expect("a number");
        // scikit-learn takes products around 0, where the data are up to 1000 deviations away: six
        // digits of sixteen are lost to that.
        let slack = 1e-9;
        let off = (fit.log_likelihood - expected).abs() / expected.abs();
        assert!(off < slack, "case {i}: {} or {expected}", fit.log_likelihood);
        let near = |found: &[f64], name: &str| {
            for (found, expected) in found.iter().zip(numbers(&case[name])) {
                let off = (found - expected).abs();
                assert!(off < slack * expected.abs().max(1.0), "case {i}, {name}: {off}");
            }
        };
        near(fit.model.weights(), "weights");
        near(fit.model.means().as_slice(), "means");
    }
}
