//! The consensus of an ensemble, and the number of clusters.

use std::sync::Arc;

use consilience::consensus::{METHODS, NO_CLUSTER, Offers, Value};
use consilience::ensemble::{Member, Profiles};
use consilience::judge::KCriteria;
use consilience::pipeline::{Answer, Checked, Clusters, Input, Members, Methods, Request};
use consilience::{Edges, Run};
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::given::Given;
use crate::job::{Telling, start};
use crate::members::{ensemble, members};
use crate::profiles;
use crate::told::{json, list, matrix, or_null, places};

/// The table of methods.
#[extendr]
fn method_table() -> Robj {
    serde_json::to_value(METHODS).map_or_else(|_| ().into(), |table| json(&table))
}

/// What is asked for, checked.
fn request(given: &Given) -> Outcome<Checked> {
    let (names, values) = (given.texts("param_names")?, given.texts("param_values")?);
    let request = Request {
        methods: Methods::named(&given.text("method")?)?,
        clusters: match given.span("k")? {
            None => Clusters::Auto,
            Some((least, most)) if least == most => Clusters::Exactly(least),
            Some((least, most)) => Clusters::Between(least..=most),
        },
        settings: names.into_iter().zip(values).collect(),
        wanted: Offers::default(),
        start: given.some("init").is_some(),
        edges: given.is_true("network") || given.some("edges").is_some(),
    };
    Ok(request.check()?)
}

/// Fails if method, number of clusters and parameters cannot be asked for, whatever the data.
#[extendr]
fn check_request(args: List) -> Robj {
    match request(&Given::new(&args)) {
        Ok(_) => true.into(),
        Err(failure) => failure.told(),
    }
}

/// The consensus of members.
#[extendr]
fn combine(args: List) -> Robj {
    start(&args, |given| {
        // What is wrong with the parameters is told before anything is computed.
        let request = request(given)?;
        let init = given.some("init").map(|_| members(given, "init")).transpose()?;
        let start = init.and_then(|mut init| init.pop()).map(|init| start_labels(&init));
        let ensemble =
            Arc::new(ensemble(members(given, "members")?, given.some_numbers("weights")?)?);
        let edges = edges(given, ensemble.n_objects())?;
        Ok(move |run: &Run| {
            let members = Members::Ensemble(ensemble);
            let (start, edges) = (start.as_deref(), edges.as_ref());
            let input = Input { keep: false, start, edges, ..Input::new(members) };
            let answer = request.answer(input, run)?;
            let labels = answer.labels();
            let partition = run.install(|| answer.partition());
            let sure = |(label, &s): (&Option<u32>, &u32)| match label {
                None => 0.0,
                Some(_) => partition.confidence.get(s as usize).copied().unwrap_or(0.0),
            };
            let confidence = labels.iter().zip(partition.profiles.map()).map(sure).collect();
            drop(partition);
            Ok(Box::new(move || told(answer, &labels, confidence)) as Telling)
        })
    })
}

/// The network of `n` objects whose edges are given as rows of two ends, and their weights.
fn edges(given: &Given, n: usize) -> Outcome<Option<Edges>> {
    let Some(ends) = given.some_matrix("edges")? else { return Ok(None) };
    let end = |x: f64| if x >= 1.0 { x as u32 - 1 } else { u32::MAX };
    let pairs = ends.iter_rows().map(|row| [end(row[0]), end(row[1])]).collect();
    Ok(Some(Edges::new(n, pairs, given.some_numbers("edge_weights")?)?))
}

/// The labels of a member.
fn start_labels(init: &Member) -> Vec<Option<u32>> {
    init.hardened().labels().iter().map(|code| code.map(|code| code as u32)).collect()
}

/// The answer as R holds it.
fn told(answer: Answer, labels: &[Option<u32>], confidence: Vec<f64>) -> Robj {
    let coverage = answer.coverage();
    let params = answer.choice.info.in_force(&answer.settings);
    let (names, texts): (Vec<&str>, Vec<String>) = params.into_iter().unzip();
    let params = List::from_names_and_values(names, texts);
    let number =
        answer.choice.number.as_ref().and_then(|number| serde_json::to_string(number).ok());
    let criteria = answer.choice.criteria.as_ref();
    let criteria = criteria.and_then(|criteria| serde_json::to_value(criteria).ok());
    let board = answer.board.as_ref().and_then(|board| serde_json::to_value(board.record()).ok());
    let (method, reason) = (answer.choice.info.name, answer.choice.reason);
    let Answer { profiles, clusters, consensus, anmi, .. } = answer;
    let convergence = &consensus.convergence;
    let stop = serde_json::to_value(convergence.stop).unwrap_or_default();
    let of_profiles = consensus.labels.iter();
    let of_profiles = of_profiles.map(|&j| (j != NO_CLUSTER).then_some(j as usize));
    let (diagnostic_names, diagnostics): (Vec<&str>, Vec<Robj>) =
        consensus.diagnostics.iter().map(|(name, value)| (name, diagnostic(value))).unzip();
    let per_member = consensus.diagnostics.iter();
    let per_member = per_member.filter(|(_, value)| matches!(value, Value::Members(_)));
    let per_member: Vec<&str> = per_member.map(|(name, _)| name).collect();
    let correspondence = consensus.correspondences.as_ref();
    let merges = consensus.dendrogram.as_ref().map(|merges| {
        let entry = |i: usize, j: usize| match j {
            0 => f64::from(merges[i].a),
            1 => f64::from(merges[i].b),
            _ => merges[i].height,
        };
        RMatrix::new_matrix(merges.len(), 3, entry).into()
    });
    list([
        ("labels", places(labels.iter().map(|label| label.map(|j| j as usize)))),
        ("confidence", confidence.into()),
        ("coverage", or_null(coverage, Robj::from)),
        ("method", method.into()),
        ("reason", or_null(reason, Robj::from)),
        ("number", or_null(number, Robj::from)),
        ("criteria", or_null(criteria, |value| json(&value))),
        ("board", or_null(board.as_ref(), json)),
        ("board_json", or_null(board, |value| value.to_string().into())),
        ("params", params.map_or_else(|_| ().into(), Robj::from)),
        ("profile_labels", places(of_profiles)),
        ("k", (consensus.k as i32).into()),
        ("anmi", anmi.into()),
        ("profile_membership", or_null(consensus.membership.as_ref(), matrix)),
        (
            "correspondence",
            or_null(correspondence, |all| List::from_values(all.iter().map(matrix)).into()),
        ),
        ("merges", or_null(merges, |merges: Robj| merges)),
        ("affinity", or_null(consensus.affinity.as_ref(), matrix)),
        ("objective", or_null(convergence.objective, Robj::from)),
        ("trace", convergence.trace.clone().into()),
        ("iterations", (convergence.iterations as i32).into()),
        ("stop", stop.as_str().unwrap_or_default().into()),
        (
            "diagnostics",
            List::from_names_and_values(diagnostic_names, diagnostics)
                .map_or_else(|_| ().into(), Robj::from),
        ),
        ("per_member", per_member.into()),
        ("profiles", profiles::told(&profiles, &clusters)),
    ])
}

fn diagnostic(value: &Value) -> Robj {
    match value {
        Value::Integer(x) => (*x as f64).into(),
        Value::Number(x) => (*x).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(xs) | Value::Members(xs) => xs.clone().into(),
        Value::Table(columns) => {
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
            let columns: Vec<Robj> = columns.iter().map(|(_, xs)| xs.clone().into()).collect();
            List::from_names_and_values(names, columns).map_or_else(|_| ().into(), Robj::from)
        }
    }
}

/// How many clusters features speak for, as JSON, where that is to be found and can be.
#[extendr]
fn number(args: List) -> Robj {
    start(&args, |given| {
        let request = request(given)?;
        let data = given.matrix("x")?;
        Ok(move |run: &Run| {
            let number = request.number_in((&data).into(), run)?;
            let number = number.as_ref().and_then(|number| serde_json::to_string(number).ok());
            Ok(Box::new(move || or_null(number, Robj::from)) as Telling)
        })
    })
}

/// How many clusters members speak for.
#[extendr]
fn criteria(args: List) -> Robj {
    start(&args, |given| {
        let range = given.span("k")?.map(|(least, most)| least..=most);
        if range.as_ref().is_some_and(|range| range.is_empty() || *range.start() == 0) {
            return Err(Failure::argument("`k` must be a range from at least 1 upwards"));
        }
        let ensemble = ensemble(members(given, "members")?, given.some_numbers("weights")?)?;
        Ok(move |run: &Run| {
            let profiles = Profiles::new(&ensemble.hardened(), run)?;
            let criteria = KCriteria::new(&profiles, range.as_ref(), run)?;
            let told = serde_json::to_value(criteria).unwrap_or_default();
            Ok(Box::new(move || json(&told)) as Telling)
        })
    })
}

/// A text of JSON as R's lists and vectors.
#[extendr]
fn from_json(text: &str) -> Robj {
    serde_json::from_str(text).map_or_else(|_| ().into(), |value| json(&value))
}

extendr_module! {
    mod consensus;
    fn method_table;
    fn check_request;
    fn combine;
    fn number;
    fn criteria;
    fn from_json;
}
