//! The same question asked in several ways has one answer, whatever the ensemble: sizes from one object to above every
//! threshold of sampling, gaps, soft members, weights from 0.1 to 10^9, constant and repeated members, one cluster and
//! as many as distinct objects.
//!
//! `CONSILIENCE_ENSEMBLES=100000` tries as many (`make harden-ensembles`), `CONSILIENCE_ENSEMBLES=5000..5001` one
//! again. What the [table](crate::table) exempts a method from is not asked of it.

use std::fmt::Write as _;
use std::ops::Range;

use consilience::consensus::{Consensus, MethodInfo, combine};
use consilience::ensemble::{
    BlockMerge, Ensemble, HardMember, Labels, Member, NO_PROFILE, Profiles,
};
use consilience::{Rng, Run};

use crate::support::{Draft, partition, planted, rng};
use crate::symmetry::are_images;
use crate::table::{methods, row};
use crate::told::{Failure, Fit, build, ks, try_fit};

/// How many are tried in every run of the tests.
const FEW: usize = 400;

/// Where equal answers are asked for: runs whose threads are started once.
struct Runs {
    threads: [Run; 3],
}

/// What was compared how often, and where answers differed.
#[derive(Default)]
struct Seen {
    threads: usize,
    shuffled: usize,
    rows: usize,
    blocks: usize,
    refused: usize,
    differences: Vec<String>,
}

/// Which ensembles are asked for.
fn cases() -> Range<usize> {
    let Ok(text) = std::env::var("CONSILIENCE_ENSEMBLES") else { return 0..FEW };
    let number = |text: &str| text.parse::<usize>().expect("CONSILIENCE_ENSEMBLES is N or A..B");
    match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => 0..number(&text),
    }
}

#[test]
fn one_question_has_one_answer() {
    let runs = Runs { threads: [1, 2, 7].map(|threads| Run::new(7).threads(threads)) };
    let mut seen = Seen::default();
    let cases = cases();
    let many = cases.len() > FEW;
    for case in cases.clone() {
        let info = methods()[case % methods().len()];
        let mut rng = rng(1_000_000 + case as u64);
        if let Err(problem) = ask(info, &mut rng, &runs, &mut seen) {
            let (Failure::Broken(problem) | Failure::Error(problem)) = problem;
            let problem: String = problem.chars().take(600).collect();
            seen.differences.push(format!("case {case}, {}: {problem}", info.name));
            if many {
                note(&format!("DIFFERS {}", seen.differences[seen.differences.len() - 1]));
            }
        }
        if many && (case + 1) % 5000 == 0 {
            note(&format!("{} ensembles, {} differences", case + 1, seen.differences.len()));
        }
    }
    let Seen { threads, shuffled, rows, blocks, refused, differences } = seen;
    if many {
        note(&format!(
            "{} ensembles: {threads} compared by threads, {shuffled} shuffled, {rows} with repeated rows, {blocks} in \
             blocks, {refused} refused; {} differences",
            cases.len(),
            differences.len()
        ));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(
        threads > cases.len() / 2 && shuffled > cases.len() / 4 && rows > 0 && blocks > 0,
        "hardly anything was compared"
    );
}

/// Tells how far it is: many ensembles take an hour.
#[allow(clippy::print_stderr, reason = "a test that lasts tells how far it is")]
fn note(text: &str) {
    eprintln!("{text}");
}

/// An ensemble and its weights, which may be out of all proportion.
fn drawn(info: &MethodInfo, rng: &mut Rng) -> Draft {
    // Methods that compare all pairs, or worse, see few large ones.
    let slow = info.time.contains("u^3") || info.time.contains("n^3");
    let quick = !info.time.contains("u^2") && !info.time.contains("n^2") && !slow;
    let n = match rng.below(if quick { 4000 } else { 3980 }) {
        0..400 => rng.between(1, 4),
        400..2600 => rng.between(4, 25),
        2600..3800 => rng.between(10, 60),
        3800..3975 => {
            if slow {
                60
            } else {
                200
            }
        }
        3975..3980 => {
            if slow {
                80
            } else {
                700
            }
        }
        3980..3998 => 1500,
        _ => 13_000,
    };
    let r = rng.between(1, if n > 1000 { 9 } else { 11 });
    let k = [1, 2, 3, 5, 8, n][rng.below(6)].min(n).min(40);
    let mut sizes = vec![n / k; k];
    sizes[0] += n % k;
    let noise = [0.0, 0.05, 0.3, 1.0][rng.below(4)];
    let mut draft = planted(&partition(&sizes, rng), r, noise, rng);
    let labels = |draft: &mut Draft, h: usize, label: fn(usize) -> i64| {
        draft.members[h].values =
            crate::support::Values::Hard((0..n).map(|i| Some(label(i))).collect());
    };
    for h in 0..r {
        match rng.below(30) {
            0 => labels(&mut draft, h, |_| 0),
            1 if n <= 60 => labels(&mut draft, h, |i| i as i64),
            2 if h > 0 => draft.members[h].values = draft.members[0].values.clone(),
            _ => {}
        }
    }
    if rng.below(4) == 0 && n <= 200 {
        let softened = draft.clone().softened(rng.unit() * 0.9, rng);
        for h in 0..r {
            if rng.below(2) == 0 {
                draft.members[h] = softened.members[h].clone();
            }
        }
    }
    if info.missing.is_some() && rng.below(3) == 0 {
        draft = draft.with_gaps([0.05, 0.4][rng.below(2)], rng);
    }
    draft
}

/// Asks one question in all ways.
fn ask(
    info: &'static MethodInfo,
    rng: &mut Rng,
    runs: &Runs,
    seen: &mut Seen,
) -> Result<(), Failure> {
    let draft = drawn(info, rng);
    let n = draft.n_objects();
    let [run, others @ ..] = &runs.threads;
    let Ok(profiles) = consilience::consensus::prepare(&draft.ensemble(), info, run) else {
        return Err("no profiles".into());
    };
    let u = profiles.len();
    let k = [1, 2, 3, u, rng.between(1, u)][rng.below(5)].min(u);
    let choices = ks(info, k);
    let k = choices[rng.below(choices.len())];
    let first = match try_fit(&draft, info, k, run) {
        Ok(fit) => fit,
        Err(refusal) => {
            seen.refused += 1;
            return match try_fit(&draft, info, k, &others[0]) {
                Err(other) if other == refusal => Ok(()),
                Err(other) => Err(format!("refused in two ways: {refusal}; {other}").into()),
                Ok(_) => Err(format!("refused by one thread, not by two: {refusal}").into()),
            };
        }
    };
    same_bits(&draft, info, k, &first, others, seen)?;
    in_blocks(&draft, info, k, &first, run, rng, seen)?;

    // The order of objects and members, and names of clusters.
    let (order, members) = (rng.permutation(n), rng.permutation(draft.members.len()));
    let shuffled = draft.with_objects(&order).with_members(&members).renamed(rng);
    let other = try_fit(&shuffled, info, k, run)?;
    seen.shuffled += 1;
    let (a, b) = (first.told().nameless(), other.told_of(&order).nameless());
    let same = a.same_as(&b).or_else(|difference| {
        are_images(&first, &other).map_err(|e| format!("{difference}; no symmetry: {e}"))
    });
    same.map_err(|e| format!("shuffled, {n} objects, k {k:?}: {e}"))?;

    let exempt = row(info.name).exempt;
    let by_weight = !exempt.iter().any(|(name, _)| *name == "a_weight_is_a_number_of_equal_rows");
    if by_weight && n <= 200 {
        let times: Vec<usize> = (0..n).map(|_| rng.between(1, 4)).collect();
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rows.extend((0..n).flat_map(|i| vec![i as u32; times[i] - 1]));
        let repeated = try_fit(&draft.with_objects(&rows), info, k, run)?;
        let weighted = draft.clone().weighing(times.iter().map(|&t| t as f64).collect());
        let weighted = try_fit(&weighted, info, k, run)?;
        let mut of_rows = repeated.told();
        of_rows.groups.truncate(n);
        of_rows.strength.truncate(n);
        if let Some(membership) = &mut of_rows.membership {
            membership.truncate(n);
        }
        seen.rows += 1;
        let same = weighted.told().same_as(&of_rows).or_else(|difference| {
            are_images(&weighted, &repeated).map_err(|e| format!("{difference}; no symmetry: {e}"))
        });
        same.map_err(|e| format!("repeated, {n} objects, k {k:?}: {e}"))?;
    }
    if rng.below(4) == 0 {
        // Out of all proportion: sums in another order are other sums, but not with other threads.
        let weights = (0..n).map(|_| [0.1, 1.0, 1e9][rng.below(3)]).collect();
        let draft = draft.weighing(weights);
        if let Ok(first) = try_fit(&draft, info, k, run) {
            same_bits(&draft, info, k, &first, &others[..1], seen)?;
            in_blocks(&draft, info, k, &first, run, rng, seen)?;
        }
    }
    Ok(())
}

/// Every bit of an answer: the debug form of a number is exact.
fn bits(consensus: &Consensus) -> String {
    let mut text = String::new();
    write!(text, "{consensus:?}").expect("memory takes all");
    text
}

/// The same on more threads.
fn same_bits(
    draft: &Draft,
    info: &'static MethodInfo,
    k: Option<usize>,
    first: &Fit,
    runs: &[Run],
    seen: &mut Seen,
) -> Result<(), Failure> {
    let one = bits(&first.consensus);
    for run in runs {
        let other = try_fit(draft, info, k, run)?;
        seen.threads += 1;
        if bits(&other.consensus) != one || other.profiles.map() != first.profiles.map() {
            return Err(format!(
                "{} objects, k {k:?}, weights {}: {} threads answer otherwise than one",
                draft.n_objects(),
                draft.weights.is_some(),
                run.n_threads()
            )
            .into());
        }
    }
    Ok(())
}

/// The same where objects come in blocks and only their distinct tuples are kept, as rows of files do.
fn in_blocks(
    draft: &Draft,
    info: &'static MethodInfo,
    k: Option<usize>,
    first: &Fit,
    run: &Run,
    rng: &mut Rng,
    seen: &mut Seen,
) -> Result<(), Failure> {
    let ensemble = &first.ensemble;
    let hard: Option<Vec<&HardMember>> = ensemble
        .members()
        .iter()
        .map(|member| match member {
            Member::Hard(hard) => Some(hard),
            Member::Soft(_) => None,
        })
        .collect();
    let Some(hard) = hard else { return Ok(()) };
    let n = draft.n_objects();
    let clusters: Vec<usize> = hard.iter().map(|member| member.clusters().len()).collect();
    let mut merge = BlockMerge::new(hard.len(), n);
    let mut start = 0;
    while start < n {
        let end = n.min(start + rng.between(1, n));
        let columns: Vec<Labels> = hard.iter().map(|m| part(m.labels(), start..end)).collect();
        merge.update(&columns.iter().collect::<Vec<_>>(), &clusters, run)?;
        start = end;
    }
    let distinct = merge.finish(run)?;
    let member = |(labels, member): (Labels, &&HardMember)| {
        HardMember::from_codes(member.name(), labels, member.clusters().to_vec()).map(Member::from)
    };
    let members = distinct.columns.into_iter().zip(&hard).map(member);
    let tuples = Ensemble::new(members.collect::<Result<Vec<_>, _>>()?)?;
    let profiles = Profiles::new(&tuples, run)?;
    let place = |&t: &u32| profiles.map().get(t as usize).copied().unwrap_or(NO_PROFILE);
    let map = distinct.map.iter().map(place).collect();
    let profiles = profiles.of_objects(map, draft.weights.as_deref())?;
    let consensus = combine(&profiles, build(info, k).as_ref(), None, run)?;
    seen.blocks += 1;
    if profiles.map() != first.profiles.map() || bits(&consensus) != bits(&first.consensus) {
        return Err(format!("{n} objects, k {k:?}: in blocks the answer is another").into());
    }
    Ok(())
}

fn part(labels: &Labels, rows: Range<usize>) -> Labels {
    match labels {
        Labels::U8(codes) => Labels::U8(codes[rows].to_vec()),
        Labels::U16(codes) => Labels::U16(codes[rows].to_vec()),
        Labels::U32(codes) => Labels::U32(codes[rows].to_vec()),
    }
}
