//! Voting-k-means on the data of Fred's paper: many runs of MacQueen's k-means with too many
//! clusters, joined by a majority of votes.

use consilience::consensus::{Settings, Value, combine, method, prepare};
use consilience::data::{DataSet, half_rings, iris};
use consilience::ensemble::{Ensemble, HardMember, Majority, Profiles};
use consilience::generate::{BaseK, GenerateParams, base, scheme};
use consilience::judge::voting_convergence;
use consilience::{Result, Rng, Run, Stream};

fn members(data: &DataSet, k: usize, size: usize, run: &Run) -> Result<Ensemble> {
    let scheme = (scheme("random-init")?.make)();
    let base = (base("macqueen")?.make)(k);
    let generator = GenerateParams::new(scheme, base).k(BaseK::Exactly(k)).size(size).check()?;
    Ok(generator.ensemble(&data.features, run)?.ensemble)
}

fn convergence(ensemble: &Ensemble, truth: &HardMember, run: &Run) -> Result<Value> {
    let profiles = Profiles::new(ensemble, run)?;
    voting_convergence(&profiles, None, Majority::HALF, Some(truth), run)
}

fn truth(data: &DataSet) -> HardMember {
    HardMember::from_integers("truth", data.truth.iter().map(|&class| Some(i64::from(class))))
}

fn n_clusters(ensemble: &Ensemble, run: &Run) -> Result<usize> {
    let voting = method("voting")?;
    let profiles = prepare(ensemble, voting, run)?;
    let voting = voting.with(None, &Settings::default())?;
    Ok(combine(&profiles, voting.as_ref(), None, run)?.k)
}

fn column(table: &Value, name: &str) -> Vec<f64> {
    let Value::Table(columns) = table else { panic!("not a table: {table:?}") };
    let column = columns.iter().find(|(n, _)| n == name);
    column.unwrap_or_else(|| panic!("no column `{name}`")).1.clone()
}

/// Figure 3: two half rings, k = 20, right and stable after 25 runs.
#[test]
fn half_rings_are_told_apart() -> Result<()> {
    for seed in 0..5 {
        let data = half_rings(&mut Rng::new(seed, Stream::Data));
        let truth = truth(&data);
        let run = Run::new(seed);
        let ensemble = members(&data, 20, 50, &run)?;
        assert_eq!(n_clusters(&ensemble, &run)?, 2);
        let table = convergence(&ensemble, &truth, &run)?;
        assert!(column(&table, "clusters")[25..].iter().all(|&k| k == 2.0), "seed {seed}");
        assert!(column(&table, "pc_idx_truth")[25..].iter().all(|&i| i == 1.0), "seed {seed}");
    }
    Ok(())
}

/// Figure 4: Iris, k = 8, R = 100: setosa apart from the other two, most of the time. Where a third
/// cluster stays it parts those two, and the index is higher, as the paper says too.
#[test]
fn iris_is_two_clusters_most_of_the_time() -> Result<()> {
    let data = iris();
    let truth = truth(&data);
    let mut twos = 0;
    for seed in 0..10 {
        let run = Run::new(seed);
        let ensemble = members(&data, 8, 100, &run)?;
        let table = convergence(&ensemble, &truth, &run)?;
        let (k, index) = (column(&table, "clusters")[99], column(&table, "pc_idx_truth")[99]);
        assert_eq!(k as usize, n_clusters(&ensemble, &run)?);
        match k as usize {
            2 => assert!((index - 100.0 / 150.0).abs() < 1e-12, "seed {seed}: {index}"),
            3 => assert!(index > 0.7, "seed {seed}: {index}"),
            k => panic!("seed {seed}: {k} clusters"),
        }
        twos += usize::from(k == 2.0);
    }
    assert!(twos >= 7, "{twos} of 10");
    Ok(())
}
