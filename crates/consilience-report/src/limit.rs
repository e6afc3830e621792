//! What keeps a page small whatever it is about: long names are cut, long lists too, and the page
//! says so.

use crate::data::{Cluster, Flow, Members, Report, Tracking};

/// Letters of a name.
const LETTERS: usize = 60;
/// Letters of a paragraph.
const PARAGRAPH: usize = 3000;
/// Clusters that are shown by themselves.
const CLUSTERS: usize = 60;
/// Bins of the consensus matrix.
const BINS: usize = 220;
/// Members of the agreement matrix.
const MEMBERS: usize = 150;
/// Flows, and clusters and cells of each.
const FLOWS: usize = 16;
const FLOW_CLUSTERS: usize = 40;
const FLOW_CELLS: usize = 200;
/// Objects of the scatter plot, and of the table of doubtful ones.
const POINTS: usize = 2000;
const DOUBTFUL: usize = 60;
/// Groups of objects that are tracked, and moves between clusters.
const TRACKS: usize = 300;
const MOVES: usize = 30;
/// Numbers of a curve.
const CURVE: usize = 200;

/// The report with everything that grows with the data cut to a fixed size.
pub(crate) fn limited(mut report: Report) -> Report {
    let mut notes = Vec::new();
    cut(&mut report.title, 2 * LETTERS);
    cut(&mut report.subtitle, PARAGRAPH);
    report.verdict.truncate(20);
    for sentence in &mut report.verdict {
        cut(&mut sentence.about, LETTERS);
        cut(&mut sentence.text, PARAGRAPH);
    }
    report.facts.truncate(20);
    for fact in &mut report.facts {
        cut(&mut fact.name, LETTERS);
        cut(&mut fact.value, PARAGRAPH);
    }
    limit_clusters(&mut report, &mut notes);
    if let Some(matrix) = &mut report.matrix {
        let bins = matrix.weights.len();
        if bins > BINS {
            notes.push(format!("The consensus matrix shows the first {BINS} of {bins} bins."));
            matrix.clusters.truncate(BINS);
            matrix.weights.truncate(BINS);
            matrix.confidence.truncate(BINS);
            matrix.support.truncate(BINS);
            matrix.values.truncate(BINS * (BINS + 1) / 2);
        }
    }
    if let Some(scatter) = &mut report.scatter {
        scatter.places.truncate(POINTS);
        scatter.outside.retain(|&at| at < POINTS);
        scatter.clusters.truncate(POINTS);
        scatter.confidence.truncate(POINTS);
        scatter.names.truncate(POINTS);
        scatter.names.iter_mut().for_each(|name| cut(name, 24));
        scatter.axes.iter_mut().for_each(|axis| cut(axis, 2 * LETTERS));
    }
    report.flows.truncate(FLOWS);
    report.flows.iter_mut().for_each(limit_flow);
    limit_members(&mut report.members);
    if report.members.hidden > 0 {
        let (shown, hidden) = (report.members.names.len(), report.members.hidden);
        notes.push(format!("Of {} clusterings {shown} are shown.", shown + hidden));
    }
    limit_tracking(&mut report.tracking, &mut notes);
    if let Some(moved) = &mut report.moved {
        cut(&mut moved.earlier, LETTERS);
        moved.moves.truncate(MOVES);
        for (from, to, _) in &mut moved.moves {
            cut(from, LETTERS);
            cut(to, LETTERS);
        }
        for list in [&mut moved.new, &mut moved.gone] {
            list.truncate(MOVES);
            list.iter_mut().for_each(|name| cut(name, LETTERS));
        }
    }
    report.trace = thinned(&report.trace);
    report.doubtful.truncate(DOUBTFUL);
    report.doubtful.iter_mut().for_each(|object| cut(&mut object.name, LETTERS));
    report.methods_compared.truncate(CLUSTERS);
    report.methods_compared.iter_mut().for_each(|row| cut(&mut row.problem, LETTERS));
    if let Some(truth) = &mut report.truth {
        cut(&mut truth.name, LETTERS);
        truth.classes.truncate(CLUSTERS);
        truth.classes.iter_mut().for_each(|class| cut(class, LETTERS));
        truth.table.truncate(CLUSTERS);
        truth.table.iter_mut().for_each(|row| row.truncate(CLUSTERS));
        truth.scores.truncate(20);
        truth.scores.iter_mut().for_each(|(name, ..)| cut(name, LETTERS));
    }
    let methods = &mut report.methods;
    [&mut methods.paragraph, &mut methods.bibtex, &mut methods.command]
        .into_iter()
        .for_each(|text| cut(text, PARAGRAPH));
    methods.record.truncate(60);
    methods.record.iter_mut().for_each(|fact| cut(&mut fact.value, 400));
    report.notes.truncate(20);
    report.notes.iter_mut().for_each(|note| cut(note, PARAGRAPH));
    report.notes.extend(notes);
    report
}

/// Cuts a text to so many letters, the last an ellipsis.
fn cut(text: &mut String, letters: usize) {
    if let Some((end, _)) = text.char_indices().nth(letters) {
        let keep = text[..end].char_indices().last().map_or(0, |(last, _)| last);
        text.truncate(keep);
        text.push('…');
    }
}

/// Clusters beyond the first become one, "others".
fn limit_clusters(report: &mut Report, notes: &mut Vec<String>) {
    report.clusters.iter_mut().for_each(|cluster| cut(&mut cluster.name, LETTERS));
    let k = report.clusters.len();
    if k <= CLUSTERS {
        return;
    }
    notes.push(format!("The {CLUSTERS} largest of {k} clusters are shown, the others as one."));
    let rest = report.clusters.split_off(CLUSTERS);
    let mut others = Cluster { name: format!("{} others", rest.len()), ..Cluster::default() };
    others.colour = u32::MAX;
    others.histogram = vec![0; rest[0].histogram.len()];
    let mut weighted = 0;
    for cluster in &rest {
        others.objects += cluster.objects;
        others.safe += cluster.safe;
        weighted += cluster.confidence as usize * cluster.objects;
        others.histogram.iter_mut().zip(&cluster.histogram).for_each(|(sum, n)| *sum += n);
    }
    others.confidence = (weighted / others.objects.max(1)) as u32;
    report.clusters.push(others);
    let place = |cluster: &mut usize| *cluster = (*cluster).min(CLUSTERS);
    for cluster in &mut report.clusters {
        cluster.nearest = cluster.nearest.filter(|(other, _)| *other < CLUSTERS);
    }
    if let Some(matrix) = &mut report.matrix {
        matrix.clusters.iter_mut().flatten().for_each(place);
        for support in &mut matrix.support {
            let others = support.iter().skip(CLUSTERS).sum();
            support.truncate(CLUSTERS);
            support.push(others);
        }
    }
    if let Some(scatter) = &mut report.scatter {
        scatter.clusters.iter_mut().flatten().for_each(place);
    }
    report.flows.iter_mut().flat_map(|flow| &mut flow.cells).for_each(|cell| place(&mut cell.1));
    for object in &mut report.doubtful {
        place(&mut object.cluster);
        place(&mut object.second);
    }
}

/// Clusters beyond the first become one, and cells of one pair one cell.
fn limit_flow(flow: &mut Flow) {
    cut(&mut flow.member, LETTERS);
    let k = flow.clusters.len();
    if k > FLOW_CLUSTERS {
        flow.clusters.truncate(FLOW_CLUSTERS);
        flow.clusters.push(format!("{} others", k - FLOW_CLUSTERS));
    }
    flow.clusters.iter_mut().for_each(|name| cut(name, 24));
    let mut cells = std::collections::BTreeMap::<(usize, usize), f64>::new();
    for &(from, to, weight) in &flow.cells {
        *cells.entry((from.min(FLOW_CLUSTERS), to)).or_default() += weight;
    }
    flow.cells = cells.into_iter().map(|((from, to), weight)| (from, to, weight)).collect();
    if flow.cells.len() > FLOW_CELLS {
        flow.cells.sort_by(|a, b| b.2.total_cmp(&a.2));
        flow.cells.truncate(FLOW_CELLS);
        flow.cells.sort_by_key(|cell| (cell.0, cell.1));
    }
}

/// Of too many tracks the heaviest.
fn limit_tracking(tracking: &mut Tracking, notes: &mut Vec<String>) {
    tracking.consensus.iter_mut().flatten().for_each(|place| *place = (*place).min(CLUSTERS));
    let all = tracking.weights.len();
    if all <= TRACKS {
        return;
    }
    let mut keep: Vec<usize> = (0..all).collect();
    keep.sort_by(|&a, &b| tracking.weights[b].total_cmp(&tracking.weights[a]));
    keep.truncate(TRACKS);
    keep.sort_unstable();
    notes.push(format!("The tracking plot shows the {TRACKS} largest of {all} groups of objects."));
    tracking.weights = keep.iter().map(|&t| tracking.weights[t]).collect();
    tracking.consensus = keep.iter().map(|&t| tracking.consensus[t]).collect();
    for clusters in &mut tracking.clusters {
        *clusters = keep.iter().map(|&t| clusters[t]).collect();
    }
}

/// Of too many members those that dissent and others evenly spaced.
fn limit_members(members: &mut Members) {
    members.names.iter_mut().for_each(|name| cut(name, LETTERS));
    let r = members.names.len();
    if r <= MEMBERS {
        return;
    }
    let dissent = (0..r).filter(|&h| members.dissents[h]).take(MEMBERS / 3);
    let mut keep: Vec<usize> = dissent.collect();
    let others: Vec<usize> = (0..r).filter(|h| !keep.contains(h)).collect();
    let room = MEMBERS - keep.len();
    keep.extend((0..room).map(|i| others[i * others.len() / room]));
    keep.sort_unstable();
    let value = |g: usize, h: usize| members.values[g.max(h) * (g.max(h) + 1) / 2 + g.min(h)];
    members.values = keep
        .iter()
        .enumerate()
        .flat_map(|(i, &g)| keep[..=i].iter().map(move |&h| (g, h)))
        .map(|(g, h)| value(g, h))
        .collect();
    fn only<T: Clone>(values: &[T], keep: &[usize]) -> Vec<T> {
        keep.iter().map(|&h| values[h].clone()).collect()
    }
    members.names = only(&members.names, &keep);
    members.k = only(&members.k, &keep);
    members.consensus = only(&members.consensus, &keep);
    members.dissents = only(&members.dissents, &keep);
    members.camps = only(&members.camps, &keep);
    members.hidden += r - keep.len();
}

/// A curve of at most so many points, its ends among them.
fn thinned(curve: &[f64]) -> Vec<f64> {
    if curve.len() <= CURVE {
        return curve.to_vec();
    }
    (0..CURVE).map(|i| curve[i * (curve.len() - 1) / (CURVE - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_at_letters_not_bytes() {
        let mut name = "🧬".repeat(100);
        cut(&mut name, 10);
        assert_eq!(name, "🧬".repeat(9) + "…");
        let mut short = "abc".to_owned();
        cut(&mut short, 3);
        assert_eq!(short, "abc");
    }

    #[test]
    fn many_clusters_become_others() {
        let cluster = |i: usize| Cluster {
            name: i.to_string(),
            objects: 2,
            safe: 1,
            confidence: 500,
            histogram: vec![1, 1],
            nearest: Some((99, 10)),
            ..Cluster::default()
        };
        let report = Report { clusters: (0..100).map(cluster).collect(), ..Report::default() };
        let found = limited(report);
        assert_eq!(found.clusters.len(), CLUSTERS + 1);
        let others = &found.clusters[CLUSTERS];
        assert_eq!((others.objects, others.safe, others.confidence), (80, 40, 500));
        assert_eq!(others.histogram, [40, 40]);
        assert!(found.clusters.iter().all(|cluster| cluster.nearest.is_none()));
        assert_eq!(found.notes.len(), 1);
    }

    #[test]
    fn of_many_tracks_the_heaviest_stay() {
        let all = 2 * TRACKS;
        let tracking = Tracking {
            k: 2,
            ks: vec![2],
            weights: (0..all).map(|t| (t % 2) as f64).collect(),
            consensus: vec![Some(0); all],
            clusters: vec![(0..all as u32).collect()],
        };
        let found = limited(Report { tracking, ..Report::default() });
        assert_eq!(found.tracking.weights, vec![1.0; TRACKS]);
        assert!(found.tracking.clusters[0].iter().all(|t| t % 2 == 1));
        assert_eq!(found.notes.len(), 1);
    }

    #[test]
    fn dissenters_stay_among_many_members() {
        let r = 400;
        let members = Members {
            names: (0..r).map(|h| format!("m{h}")).collect(),
            k: (0..r).collect(),
            consensus: vec![500; r],
            dissents: (0..r).map(|h| h == 333).collect(),
            camps: vec![0; r],
            values: (0..r).flat_map(|g| (0..=g).map(move |h| (1000 * g + h) as u32)).collect(),
            hidden: 0,
        };
        let found = limited(Report { members, ..Report::default() }).members;
        assert_eq!((found.names.len(), found.hidden), (MEMBERS, r - MEMBERS));
        let place = found.names.iter().position(|name| name == "m333").unwrap();
        assert!(found.dissents[place] && found.k[place] == 333);
        // The diagonal of its row is its own.
        assert_eq!(found.values[place * (place + 1) / 2 + place], 333_333);
    }
}
