//! What a method says of itself is true: missing labels, soft members, starts, parameters.

use std::sync::{Arc, Mutex};

use consilience::consensus::{ChoosesK, MethodInfo, OnSoft, Settings, combine, prepare};
use consilience::{Error, Observer, Run};

use crate::order::{brief, large, structured};
use crate::sound::sound;
use crate::support::{Draft, partition, planted, rng};
use crate::told::{Failure, build, fit_with, ks, run, try_fit};

/// An observer that keeps the warnings.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn progress(&self, _: &'static str, _: u64, _: Option<u64>) {}
    fn warn(&self, message: &str) {
        self.0.lock().expect("no panic while warning").push(message.to_owned());
    }
}

/// Clear structure with gaps in it.
fn gappy() -> Draft {
    let mut rng = rng(300);
    let truth = partition(&[12, 10, 8], &mut rng);
    let draft = planted(&truth, 9, 0.05, &mut rng).with_gaps(0.15, &mut rng);
    assert!(draft.ensemble().n_missing() > 0);
    draft
}

pub(crate) fn missing_labels_are_used_or_refused(info: &'static MethodInfo) -> Result<(), Failure> {
    let draft = gappy();
    for draft in [draft.clone(), draft.softened(0.7, &mut rng(301))] {
        for k in ks(info, 3) {
            match (info.missing, try_fit(&draft, info, k, &run())) {
                (Some(_), Ok(fit)) => sound(&fit, info, k)?,
                (None, Err(Error::Unsupported { method, what, .. }))
                    if method == info.name && what == "missing labels" => {}
                (says, Ok(_)) => return Err(format!("says {says:?}, but answers").into()),
                (says, Err(error)) => return Err(format!("says {says:?}, but: {error}").into()),
            }
        }
    }
    Ok(())
}

/// A method that uses soft members says something else of them than of their hardened form; one
/// that hardens warns and says just the same.
pub(crate) fn soft_members_are_used_or_hardened(info: &'static MethodInfo) -> Result<(), Failure> {
    let mut rng = rng(302);
    let truth = partition(&[10, 9, 8], &mut rng);
    let draft = planted(&truth, 6, 0.25, &mut rng).softened(0.3, &mut rng);
    let soft = draft.ensemble();
    for k in ks(info, 3) {
        let warnings = Arc::new(Warnings::default());
        let listening = run().observer(warnings.clone());
        let answer = |ensemble: &consilience::ensemble::Ensemble, run: &Run| {
            let profiles = prepare(ensemble, info, run)?;
            let consensus = combine(&profiles, build(info, k).as_ref(), None, run)?;
            Ok::<_, Error>((consensus.object_labels(&profiles), consensus))
        };
        let (of_soft, of_hard) = (answer(&soft, &listening), answer(&soft.hardened(), &run()));
        let (labels, of_soft) = of_soft?;
        let (hard_labels, of_hard) = of_hard?;
        let told = warnings.0.lock().expect("no panic while warning");
        let warned = told.iter().filter(|told| told.contains("takes hard labels")).count();
        let same = labels == hard_labels
            && of_soft.membership == of_hard.membership
            && of_soft.convergence == of_hard.convergence
            && of_soft.diagnostics == of_hard.diagnostics;
        match info.soft {
            OnSoft::Hardens if !same || of_soft != of_hard => {
                return Err(format!("k {k:?}: hardens, yet the hardened ensemble differs").into());
            }
            OnSoft::Hardens if warned != 1 => return Err(format!("{warned} warnings").into()),
            OnSoft::Uses if same => {
                return Err(format!("k {k:?}: uses memberships to no effect").into());
            }
            OnSoft::Uses if warned != 0 => return Err("warns although it uses them".into()),
            _ => {}
        }
    }
    Ok(())
}

/// A start is taken, or refused by name; one of the wrong length is always refused. A start that is
/// taken counts: where nothing in the ensemble decides, different starts do not all lead to one answer
/// in one iteration.
pub(crate) fn a_start_is_used_or_refused(info: &'static MethodInfo) -> Result<(), Failure> {
    let mut rng = rng(303);
    let mut random = || -> Vec<u32> { (0..60).map(|_| rng.below(3) as u32).collect() };
    let labels = |labels: Vec<u32>| labels.into_iter().map(|c| Some(i64::from(c))).collect();
    let draft = Draft::hard((0..7).map(|_| labels(random())));
    let starts: Vec<Vec<Option<u32>>> =
        (0..4).map(|_| random().into_iter().map(Some).collect()).collect();
    let profiles = prepare(&draft.ensemble(), info, &run())?;
    let iterates = info.parameters.iter().any(|parameter| parameter.name == "max_iter");
    let settings = Settings::from_iter(iterates.then_some(("max_iter", "1")));
    for k in ks(info, 3) {
        let method = info.with(k, &settings)?;
        let answer =
            |start: &[Option<u32>]| combine(&profiles, method.as_ref(), Some(start), &run());
        if answer(&starts[0][1..]).is_ok() {
            return Err("a start for one object too few is taken".into());
        }
        let mut answers = Vec::new();
        for start in &starts {
            match (info.takes_start, answer(start)) {
                (true, Ok(consensus)) => answers.push(consensus),
                (false, Err(Error::Unsupported { method: named, what, .. }))
                    if named == method.info().name && what == "a start" => {}
                (takes, Ok(_)) => return Err(format!("takes a start: {takes}, but answers").into()),
                (takes, Err(error)) => {
                    return Err(format!("takes a start: {takes}, but: {error}").into());
                }
            }
        }
        if info.takes_start && answers.iter().all(|answer| *answer == answers[0]) {
            return Err(format!("k {k:?}: four starts, one answer: the start is not used").into());
        }
        for consensus in answers {
            let (ensemble, profiles) = (draft.ensemble(), profiles.clone());
            sound(&crate::told::Fit { ensemble, profiles, consensus }, info, k)?;
        }
    }
    Ok(())
}

/// A parameter set to the value that the table calls its default changes nothing.
pub(crate) fn documented_defaults_are_the_defaults(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    defaults(&structured(info).remove(0), 3, info, |_| true)
}

/// The sizes of samples bind: above them the default is what is documented, and half of it is something
/// else.
pub(crate) fn documented_samples_are_drawn(info: &'static MethodInfo) -> Result<(), Failure> {
    let Some(sample) = info.parameters.iter().find(|parameter| parameter.name == "sample") else {
        return Ok(());
    };
    let draft = large(info, 0.4);
    let profiles = prepare(&draft.ensemble(), info, &run())?;
    let default: usize = sample.default().parse().map_err(|_| "the sample is no number")?;
    if default >= profiles.len() {
        return Err(format!("{} profiles are not more than {default}", profiles.len()).into());
    }
    let k = ks(info, 4)[0];
    let answer = |sample: Option<usize>| {
        let sample = sample.map(|sample| ("sample", sample.to_string()));
        let brief = brief(info).into_iter().map(|(name, value)| (name, value.to_owned()));
        let settings = brief.chain(sample).collect();
        combine(&profiles, info.with(k, &settings)?.as_ref(), None, &run())
    };
    let unset = answer(None)?;
    if answer(Some(default))? != unset {
        return Err(format!("sample={default} is not the default").into());
    }
    if answer(Some(default / 2))? == unset {
        return Err(format!("sample={} changes nothing", default / 2).into());
    }
    Ok(())
}

/// Iterations run out where there is nothing to find: the default is what is documented, and one is not
/// enough.
pub(crate) fn documented_iterations_are_run(info: &'static MethodInfo) -> Result<(), Failure> {
    if !info.parameters.iter().any(|parameter| parameter.name == "max_iter") {
        return Ok(());
    }
    let mut rng = rng(304);
    let truth: Vec<i64> = (0..50).map(|_| rng.below(5) as i64).collect();
    let draft = planted(&truth, 9, 0.9, &mut rng);
    defaults(&draft, 4, info, |name| name == "max_iter")?;
    let k = ks(info, 4)[0];
    let one = Settings::from_iter([("max_iter", "1")]);
    let [all, one] =
        [Settings::default(), one].map(|settings| fit_with(&draft, info, k, &settings));
    if all?.consensus == one?.consensus {
        return Err("max_iter=1 changes nothing".into());
    }
    Ok(())
}

fn defaults(
    draft: &Draft,
    k: usize,
    info: &'static MethodInfo,
    asked: impl Fn(&str) -> bool,
) -> Result<(), Failure> {
    let profiles = prepare(&draft.ensemble(), info, &run())?;
    for k in ks(info, k) {
        let unset = combine(&profiles, build(info, k).as_ref(), None, &run())?;
        for parameter in info.parameters.iter().filter(|parameter| asked(parameter.name)) {
            let (name, default) = (parameter.name, parameter.default());
            let settings = Settings::from_iter([(name, default.as_str())]);
            let method = match info.with(k, &settings) {
                Ok(method) => method,
                // A default that depends on the data, like n / k, is told in words.
                Err(_) if default.parse::<f64>().is_err() => continue,
                Err(error) => return Err(format!("refuses its own default: {error}").into()),
            };
            if combine(&profiles, method.as_ref(), None, &run())? != unset {
                return Err(format!("k {k:?}: {name}={default} is not the default").into());
            }
        }
    }
    Ok(())
}

/// Nonsense is refused before any work, naming what was wrong.
pub(crate) fn unknown_parameters_and_k_of_zero_are_refused(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    let k = ks(info, 2)[0];
    let unknown = Settings::from_iter([("no-such-parameter", "1")]);
    match info.with(k, &unknown) {
        Err(Error::UnknownParameter { method, name, .. })
            if method == info.name && name == "no-such-parameter" => {}
        other => return Err(format!("an unknown parameter: {:?}", other.err()).into()),
    }
    match info.with(Some(0), &Settings::default()) {
        Err(Error::Parameter { name, .. }) if name == "k" => {}
        other => return Err(format!("k = 0: {:?}", other.err()).into()),
    }
    let none = info.with(None, &Settings::default());
    let some = info.with(Some(2), &Settings::default());
    let as_told = match info.chooses_k {
        ChoosesK::Never => matches!(none, Err(Error::NeedsK { .. })) && some.is_ok(),
        ChoosesK::UnlessGiven => none.is_ok() && some.is_ok(),
        ChoosesK::Always => none.is_ok() && matches!(some, Err(Error::Beyond { .. })),
    };
    if !as_told {
        return Err(format!("says {:?} of k, but does otherwise", info.chooses_k).into());
    }
    for parameter in info.parameters {
        let nonsense = Settings::from_iter([(parameter.name, "no such value")]);
        match info.with(k, &nonsense) {
            Err(Error::Parameter { name, .. }) if name == parameter.name => {}
            other => return Err(format!("{}=nonsense: {:?}", parameter.name, other.err()).into()),
        }
    }
    Ok(())
}
