//! Many small ensembles of every kind: an answer or an error, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use consilience::consensus::{MethodInfo, Settings, combine, prepare};
use consilience::{Rng, Run};

use crate::support::{Draft, Values, anything, rng};
use crate::table::methods;
use crate::told::ks;

/// Ensembles a method.
const CASES: u64 = 10_000;

/// Any ensemble of up to 30 objects and 8 members; often with hardly any labels left, with labels at
/// the ends of their range, or with weights of very different size.
fn wild(rng: &mut Rng) -> Draft {
    let mut draft = anything(30, 8, rng);
    if rng.below(3) == 0 {
        let share = rng.unit();
        draft = draft.with_gaps(share, rng);
    }
    if rng.below(4) == 0 {
        let ends = [i64::MIN, i64::MAX, 0, -1, i64::from(i32::MIN), i64::from(u32::MAX)];
        for column in &mut draft.members {
            if let Values::Hard(labels) = &mut column.values {
                labels.iter_mut().flatten().for_each(|label| *label = ends[*label as usize]);
            }
        }
    }
    if rng.below(8) == 0 {
        let weight = |rng: &mut Rng| 10f64.powi(rng.below(13) as i32 - 6);
        let weights = (0..draft.n_objects()).map(|_| weight(rng)).collect();
        draft = draft.weighing(weights);
    }
    draft
}

/// Few restarts and iterations, for methods that have any: it is the first ones that meet the
/// oddities of an ensemble, and the default effort is tried elsewhere.
fn brief(info: &MethodInfo, case: u64) -> Settings {
    let efforts = [("restarts", 1 + case % 2), ("max_iter", 1 + case % 7)];
    let has = |name: &str| info.parameters.iter().any(|parameter| parameter.name == name);
    efforts.iter().filter(|(name, _)| has(name)).map(|(n, x)| (*n, x.to_string())).collect()
}

/// What came of one ensemble: whether there was an answer.
fn answered(info: &MethodInfo, case: u64, run: &Run) -> bool {
    let mut rng = rng(20_000 + case);
    let draft = wild(&mut rng);
    let choices = ks(info, rng.between(1, draft.n_objects() + 1));
    let k = choices[rng.below(choices.len())];
    let run = run.with_seed(case);
    let answer = draft.try_ensemble().and_then(|ensemble| {
        let profiles = prepare(&ensemble, info, &run)?;
        let method = info.with(k, &brief(info, case))?;
        combine(&profiles, method.as_ref(), None, &run)
    });
    answer.is_ok()
}

/// The cases in which the method panicked, and the number of answers.
fn try_all(info: &'static MethodInfo) -> (Vec<u64>, usize) {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let share = |first: u64| {
        let run = Run::new(0).threads(1);
        let (mut panicked, mut answers) = (Vec::new(), 0);
        for case in (first..CASES).step_by(threads as usize) {
            match catch_unwind(AssertUnwindSafe(|| answered(info, case, &run))) {
                Ok(answered) => answers += usize::from(answered),
                Err(_) => panicked.push(case),
            }
        }
        (panicked, answers)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|t| scope.spawn(move || share(t))).collect();
        let done = workers.into_iter().map(|worker| worker.join().expect("panics are caught"));
        done.fold((Vec::new(), 0), |(mut all, sum), (panicked, answers)| {
            all.extend(panicked);
            (all, sum + answers)
        })
    })
}

#[test]
fn ten_thousand_small_ensembles_are_answered_or_refused() {
    for &info in methods() {
        let (panicked, answers) = try_all(info);
        assert!(panicked.is_empty(), "{}: panicked in the cases {panicked:?}", info.name);
        // Were nearly all refused, nothing would have been tried.
        assert!(answers > CASES as usize / 4, "{}: {answers} answers", info.name);
    }
}
