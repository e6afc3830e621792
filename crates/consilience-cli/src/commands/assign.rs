//! `consilience assign RESULT NEW...`: the clusters of new objects that the same clusterings label.

use std::path::Path;

use consilience::ensemble::{HardMember, Labels, Member};
use consilience::judge::{Assignment, Nearest, Partition, Unknown, is_whole};
use consilience_io::{
    Cells, ClusteringTable, Ids, InputError, ReadOptions, Setting, Target, identify,
    read_clusterings, write_table,
};
use serde_json::json;

use super::files::check_output;
use super::saved::Saved;
use crate::args::{AssignArgs, Common};
use crate::errors::data;
use crate::output::{self, count, counted, listed, named};
use crate::session::Session;

/// Labels, or members, that a message names.
const NAMED: usize = 5;

pub(super) fn run(args: &AssignArgs, common: &Common) -> anyhow::Result<()> {
    let target = match &args.output {
        Some(path) => {
            check_output("-o", path, &args.files, args.force)?;
            Some(Target::table(path)?)
        }
        None if common.json => None,
        None => Some(Target::stdout()),
    };
    let session = Session::new(common);
    let run = &session.run;
    let saved = Saved::read(&args.result, &session)?;
    let table = read(args, &saved, &session)?;
    let known = saved.record.data.features.as_deref().unwrap_or_default();
    if let Some(first) = args.files.first()
        && !known.is_empty()
        && known.iter().all(|name| table.members.iter().any(|member| member.name() == name))
    {
        return Err(features_given(&first.display().to_string(), args));
    }
    let new = Matched::new(&saved, table)?;
    let Partition { profiles, labels, numbers, .. } = &saved.partition;
    let nearest = Nearest::new(profiles, &saved.clusters, labels, numbers.len())?;
    let unknown = nearest.unknown(&new.members);
    let found = nearest.assign(&new.members, run)?;

    let clusters: Vec<Option<u32>> =
        found.iter().map(|one| one.cluster.map(|c| numbers[c as usize])).collect();
    let confidence: Vec<f64> = found.iter().map(sure).collect();
    let matches: Vec<String> = found.iter().map(|one| matched(one).to_owned()).collect();
    if let Some(target) = &target {
        let mut columns = vec![
            ("id".to_owned(), new.ids.as_ref().map_or(Cells::Rows(found.len()), Cells::Ids)),
            ("cluster".to_owned(), Cells::Clusters(&clusters)),
            ("confidence".to_owned(), Cells::Numbers(confidence.into())),
        ];
        // As in a consensus, only where labels are missing.
        let coverage: Vec<f64> = found.iter().map(|one| one.coverage).collect();
        if !coverage.iter().all(|&share| is_whole(share)) {
            columns.push(("coverage".to_owned(), Cells::Numbers(coverage.into())));
        }
        columns.push(("match".to_owned(), Cells::Text(matches.as_slice().into())));
        write_table(target, &columns, run)?;
    }
    session.progress.clear();
    let number = |kind: &str| matches.iter().filter(|one| *one == kind).count();
    let (exact, nearest, none) = (number("exact"), number("nearest"), number("none"));
    let members = saved.ensemble.members();
    if session.json {
        let unknown: Vec<_> = unknown
            .iter()
            .map(|one| {
                json!({
                    "clustering": members[one.member].name(),
                    "labels": one.labels,
                    "objects": one.objects,
                })
            })
            .collect();
        let mut sizes = vec![0; numbers.len()];
        found.iter().filter_map(|one| one.cluster).for_each(|c| sizes[c as usize] += 1);
        let told = json!({
            "schema": 1,
            "n": found.len(),
            "exact": exact,
            "nearest": nearest,
            "none": none,
            "numbers": numbers,
            "sizes": sizes,
            "missing": new.missing,
            "ignored": new.ignored,
            "unknown": unknown,
            "warnings": session.progress.warnings(),
        });
        return output::json(&told);
    }
    let mut lines = vec![format!(
        "{}: {} with a known tuple of labels, {} by the nearest, {} without a known label",
        counted(found.len(), "object"),
        count(exact),
        count(nearest),
        count(none),
    )];
    lines.extend(unknown.iter().map(|one| unknown_labels(one, members)));
    output::note(&lines.join("\n"));
    Ok(())
}

/// Reads the new labels, by the identifiers of the result if nothing else is said and they have them,
/// or else by a column that names the rows.
fn read(args: &AssignArgs, saved: &Saved, session: &Session) -> anyhow::Result<ClusteringTable> {
    let mut options = args.reading.options(None, None);
    options.may_be_empty = true;
    let told = options.id.is_some();
    options.id = options.id.or_else(|| saved.record.data.id.clone());
    let read = |options: &ReadOptions| read_clusterings(&args.files, options, &session.run);
    let by_name = options.id.is_some().then(|| read(&options));
    let table = match by_name {
        Some(Err(InputError::NoSuchColumn { option: Setting::Id, .. })) if !told => None,
        table => table,
    };
    let table = table.unwrap_or_else(|| {
        named_rows(args, saved, &mut options, session)?;
        read(&options)
    });
    let table = match table {
        Err(InputError::MeantRun { file, .. }) => return Err(features_given(&file, args)),
        Err(InputError::UnknownEnding { file }) if is_sparse(&file) => {
            return Err(features_given(&file, args));
        }
        table => table?,
    };
    table.warnings.iter().for_each(|warning| session.run.warn(warning));
    Ok(table)
}

/// Takes the column that names the rows for the identifiers, as every command does; a clustering of the result is none.
fn named_rows(
    args: &AssignArgs,
    saved: &Saved,
    options: &mut ReadOptions,
    session: &Session,
) -> Result<(), InputError> {
    let known = saved.ensemble.members().iter().map(|member| member.name().to_owned());
    let drop = known.chain(options.drop.iter().cloned()).collect();
    let mut looked_at = ReadOptions { id: None, drop, ..options.clone() };
    identify(&args.files, &mut looked_at, &session.run)?;
    (options.id, options.id_is_guessed) = (looked_at.id, looked_at.id_is_guessed);
    Ok(())
}

/// Whether a file is one of sparse features.
fn is_sparse(file: &str) -> bool {
    let ending = Path::new(file.trim_end_matches(".gz")).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("mtx"))
}

/// Features were given, of which a result knows nothing.
fn features_given(file: &str, args: &AssignArgs) -> anyhow::Error {
    data(format!(
        "{file} holds features, but a result keeps the labels of its clusterings, not what made them: \
         put the new rows into the data and give `consilience run ... --align-to {}`, which calls the \
         clusters as they are there, or use ConsensusClustering of the Python package, whose `predict` \
         takes features",
        args.result.display()
    ))
}

/// New labels in the order of the result's clusterings.
struct Matched {
    ids: Option<Ids>,
    members: Vec<Member>,
    /// Clusterings of the result that the new table has not, and the other way round.
    missing: Vec<String>,
    ignored: Vec<String>,
}

impl Matched {
    fn new(saved: &Saved, table: ClusteringTable) -> anyhow::Result<Self> {
        let n = table.members.first().map_or(0, Member::n_objects);
        let mut given: Vec<Option<Member>> = table.members.into_iter().map(Some).collect();
        let (mut members, mut missing) = (Vec::new(), Vec::new());
        for known in saved.ensemble.members() {
            let same = |new: &&mut Option<Member>| {
                new.as_ref().is_some_and(|new| new.name() == known.name())
            };
            members.push(if let Some(found) = given.iter_mut().find(same).and_then(Option::take) {
                found
            } else {
                missing.push(known.name().to_owned());
                let nothing = Labels::U8(vec![u8::MAX; n]);
                HardMember::from_codes(known.name(), nothing, Vec::new())?.into()
            });
        }
        let ignored: Vec<String> = given.iter().flatten().map(|m| m.name().to_owned()).collect();
        let list = |names: &[String]| {
            listed(
                &names.iter().map(|name| format!("`{}`", named(name))).collect::<Vec<_>>(),
                NAMED,
            )
        };
        if missing.len() == members.len() {
            let known: Vec<String> = missing;
            return Err(data(format!(
                "no column is called as a clustering of the result: these are {}, the new table has {}; \
                 rename its columns",
                list(&known),
                list(&ignored)
            )));
        }
        for (names, one, several) in [
            (
                &missing,
                "of the result is not among the new labels and counts as missing",
                "of the result are not among the new labels and count as missing",
            ),
            (
                &ignored,
                "is no clustering of the result and is left out",
                "are no clusterings of the result and are left out",
            ),
        ] {
            if !names.is_empty() {
                let what = if names.len() == 1 { one } else { several };
                output::note(&format!("note: {} {what}", list(names)));
            }
        }
        Ok(Matched { ids: table.ids, members, missing, ignored })
    }
}

/// How sure an object's cluster is; NaN if it has none.
fn sure(found: &Assignment) -> f64 {
    found.cluster.map_or(f64::NAN, |_| found.confidence)
}

/// How an object was found.
fn matched(found: &Assignment) -> &'static str {
    match (found.profile, found.cluster) {
        (Some(_), _) => "exact",
        (None, Some(_)) => "nearest",
        (None, None) => "none",
    }
}

/// A sentence on labels that a clustering never gave before.
fn unknown_labels(unknown: &Unknown, members: &[Member]) -> String {
    let labels: Vec<String> =
        unknown.labels.iter().map(|label| format!("`{}`", named(label))).collect();
    format!(
        "clustering `{}` never gave {} before: missing for {}",
        named(members[unknown.member].name()),
        listed(&labels, NAMED),
        counted(unknown.objects, "object"),
    )
}
