//! From columns to clusterings, hard and soft.

use consilience::Matrix;
use consilience::ensemble::{HardMember, Labels, MEMBERSHIP_TOLERANCE, Member, SoftMember};
use consilience::words::{count, counted};

use super::columns::{Named, is_consensus, whole_numbers};
use super::error::{InputError, Result, listed};
use super::looks::number;
use super::table::{Column, LabelColumn, Role, Table};
use crate::ReadOptions;
use crate::spelling::Setting;

/// The role of a column that no option names.
pub(super) fn label_role(names: &[String], j: usize) -> Role {
    if is_consensus(names) && ["id", "confidence", "coverage"].contains(&&*names[j]) {
        return Role::Skip;
    }
    if soft_name(&names[j]).is_some() { Role::Numbers } else { Role::Labels }
}

/// `NAME:CLUSTER`, the name of a column of memberships.
///
/// The last colon counts, so that clusterings may be called `run:1`; a blank after it makes it
/// prose, such as `Unnamed: 0`.
pub(super) fn soft_name(column: &str) -> Option<(&str, &str)> {
    let (name, cluster) = column.rsplit_once(':')?;
    (!name.is_empty() && !cluster.is_empty() && !cluster.starts_with(' '))
        .then_some((name, cluster))
}

/// Refuses a column in which all labels are numbers, with a point or a comma, and some are not whole.
pub(super) fn refuse_measurements(table: &Table, j: usize, labels: &LabelColumn) -> Result<()> {
    // The labels met first tell enough, and a column of measurements has very many.
    const ENOUGH: usize = 1000;
    let names = &labels.names.list[..labels.names.list.len().min(ENOUGH)];
    let mut measured = None;
    for (code, name) in names.iter().enumerate() {
        match number(name) {
            None => return Ok(()),
            Some(value) if value.fract() != 0.0 => {
                measured.get_or_insert(code);
            }
            Some(_) => {}
        }
    }
    let Some(code) = measured else { return Ok(()) };
    Err(InputError::MeantRun {
        file: table.file.clone(),
        place: table.place(labels.first_row(code).unwrap_or(0)),
        column: table.names[j].clone(),
        value: names[code].clone(),
    })
}

/// The clusterings of a table, in the order of their first columns.
///
/// A clustering without any label is refused unless it may be empty.
pub(super) fn members(
    table: &mut Table,
    named: &Named,
    stem: &str,
    options: &ReadOptions,
) -> Result<Vec<Member>> {
    let data: Vec<usize> = (0..table.names.len())
        .filter(|&j| named.is_data(j) && table.columns[j] != Column::Skipped)
        .collect();
    let mut members = Vec::new();
    let mut done: Vec<String> = Vec::new();
    let mut noisy = Vec::new();
    for &j in &data {
        // A file without names that holds one clustering is best called by its own name.
        let only = data.len() == 1 && !table.named;
        let name = if only { stem.to_owned() } else { table.names[j].clone() };
        if matches!(table.columns[j], Column::Labels(_)) {
            members.push(hard_member(table, j, name, options, &mut noisy)?.into());
            continue;
        }
        let (member, _) = soft_name(&table.names[j]).expect("numbers are memberships");
        if done.iter().any(|name| name == member) {
            continue;
        }
        let member = member.to_owned();
        let of_member = |&j: &usize| {
            matches!(table.columns[j], Column::Number(_))
                && soft_name(&table.names[j]).is_some_and(|(name, _)| name == member)
        };
        let columns: Vec<usize> = data.iter().copied().filter(of_member).collect();
        members.push(match soft_member(table, &columns, &member) {
            Err(InputError::AllMissing { .. }) if options.may_be_empty => {
                let nothing = Labels::U8(vec![u8::MAX; table.rows]);
                HardMember::from_codes(member.as_str(), nothing, Vec::new())?.into()
            }
            soft => soft?.into(),
        });
        done.push(member);
    }
    if !noisy.is_empty() {
        let columns: Vec<&str> = noisy.iter().map(|&j| table.names[j].as_str()).collect();
        table.warnings.push(format!(
            "{}: -1 is read as missing, as programs write noise (HDBSCAN, BERTopic), in {} of {}: {}; if it \
             is a cluster, give {}",
            table.file,
            count(noisy.len()),
            counted(members.len(), "clustering"),
            listed(&columns),
            Setting::NoiseIsACluster
        ));
    }
    Ok(members)
}

fn hard_member(
    table: &mut Table,
    j: usize,
    name: String,
    options: &ReadOptions,
    noisy: &mut Vec<usize>,
) -> Result<HardMember> {
    let mut labels = table.take_labels(j);
    refuse_measurements(table, j, &labels)?;
    whole_numbers(&mut labels, &options.missing);
    let column = &table.names[j];
    let minus_one = !options.minus_one_is_a_label && minus_one_is_missing(&mut labels);
    if minus_one && labels.names.list.len() == 1 {
        table.warnings.push(format!(
            "{}, column `{column}`: -1 is read as missing, which leaves one cluster (`{}`); if -1 \
             is a cluster, give {}",
            table.file,
            labels.names.list[0],
            Setting::NoiseIsACluster
        ));
    } else if minus_one {
        noisy.push(j);
    }
    let distinct = labels.names.list.len();
    if options.may_be_empty {
        return labels.finish(name);
    }
    if distinct == 0 {
        return Err(InputError::AllMissing { file: table.file.clone(), column: column.clone() });
    }
    // Clusters of one or two objects each are no clustering that anybody combines.
    const ENOUGH: usize = 20;
    if distinct == table.rows && distinct > 3 {
        table.warnings.push(format!(
            "{}, column `{column}`: every row has a label of its own, which looks like an \
             identifier; if it is one, give {} or {}",
            table.file,
            Setting::IdIs(column),
            Setting::DropThis(column)
        ));
    } else if table.rows >= ENOUGH && 2 * distinct > table.rows {
        table.warnings.push(format!(
            "{}, column `{column}`: {distinct} different labels in {} rows look like measurements; if \
             this is a table of features, {} was meant; if not, {} leaves it out",
            table.file,
            table.rows,
            Setting::Cluster,
            Setting::DropThis(column)
        ));
    }
    labels.finish(name)
}

/// Reads `-1` as missing if all labels are integers; returns whether there was any.
fn minus_one_is_missing(labels: &mut LabelColumn) -> bool {
    let integers = labels.names.list.iter().all(|name| name.parse::<i64>().is_ok());
    integers && labels.take_as_missing("-1")
}

pub(super) fn soft_member(table: &mut Table, columns: &[usize], name: &str) -> Result<SoftMember> {
    let mut memberships = table.matrix(columns);
    let clusters: Vec<String> = columns
        .iter()
        .map(|&j| soft_name(&table.names[j]).map_or("", |(_, cluster)| cluster).to_owned())
        .collect();
    check_memberships(table, name, &clusters, &mut memberships)?;
    if memberships.as_slice().iter().all(|&m| m == 0.0) {
        let column = format!("{name}:{}", clusters[0]);
        return Err(InputError::AllMissing { file: table.file.clone(), column });
    }
    Ok(SoftMember::new(name, memberships, clusters)?)
}

/// How far from 1 memberships in some clusters may sum because they were written with few decimals:
/// half of the last one for each. One decimal alone is no sign of rounding.
pub fn rounding(memberships: &[f64], clusters: usize) -> f64 {
    let written_with = |decimals: &i32| {
        let unit = 10f64.powi(*decimals);
        let whole = |m: f64| (m * unit - (m * unit).round()).abs() < 1e-6;
        memberships.iter().copied().filter(|m| m.is_finite()).all(whole)
    };
    let few = (0..=6).find(written_with).filter(|&decimals| decimals >= 2);
    few.map_or(0.0, |decimals| 0.5 * clusters as f64 * 10f64.powi(-decimals))
        .max(MEMBERSHIP_TOLERANCE)
}

/// Refuses rows that are no memberships; rows without any value become zeros, which is missing, and
/// rows that sum to 1 but for rounding are divided by their sum.
fn check_memberships(
    table: &mut Table,
    member: &str,
    clusters: &[String],
    memberships: &mut Matrix,
) -> Result<()> {
    // A hair more: the limit itself may be met.
    let slack = rounding(memberships.as_slice(), clusters.len()) * (1.0 + 1e-6);
    let mut rounded = 0;
    for i in 0..memberships.nrows() {
        let row = memberships.row_mut(i);
        if row.iter().all(|m| m.is_nan()) {
            row.fill(0.0);
            continue;
        }
        let odd = row.iter().position(|&m| !m.is_finite() || m < 0.0);
        let sum: f64 = row.iter().sum();
        let (problem, hint) = if let Some(j) = odd {
            let cluster = &clusters[j];
            if row[j].is_nan() {
                let problem = format!("the membership in cluster `{cluster}` is missing");
                (problem, "fill it in, or empty all".to_owned())
            } else {
                let problem = format!("the membership in cluster `{cluster}` is {}", row[j]);
                (problem, "it must be a number >= 0".to_owned())
            }
        } else if (sum - 1.0).abs() > slack {
            let hint = format!(
                "if `{member}:{}` is a column of labels, rename it without the colon",
                clusters[0]
            );
            (format!("memberships must sum to 1, they sum to {sum}"), hint)
        } else {
            if (sum - 1.0).abs() > MEMBERSHIP_TOLERANCE {
                row.iter_mut().for_each(|m| *m /= sum);
                rounded += 1;
            }
            continue;
        };
        return Err(InputError::Membership {
            file: table.file.clone(),
            place: table.place(i),
            member: member.to_owned(),
            problem,
            hint,
        });
    }
    if rounded > 0 {
        table.warnings.push(format!(
            "{}, clustering `{member}`: {} of {} of memberships {} to 1 only up to rounding and {} divided \
             by the sum",
            table.file,
            count(rounded),
            counted(table.rows, "row"),
            if rounded == 1 { "sums" } else { "sum" },
            if rounded == 1 { "was" } else { "were" },
        ));
    }
    Ok(())
}
