//! The profiles that a consensus was computed on: what answers questions about it later.

use consilience::consensus::Merge;
use consilience::ensemble::{CoAssociation, NO_PROFILE, Profiles, Votes};
use consilience::judge::{Nearest, scipy_linkage};
use consilience::{Matrix, Run};
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::given::{Given, place};
use crate::job::{Telling, start};
use crate::members::{ensemble, members, told_hard, told_soft};
use crate::told::{list, matrix, or_null, places};

/// A profile that is none of them.
const NO_LABEL: u32 = u32::MAX;

/// What R holds of profiles: their members, weights, and the profile of every object.
pub(crate) fn told(profiles: &Profiles, clusters: &[Vec<String>]) -> Robj {
    let u = profiles.len();
    let member = |(h, names): (usize, &Vec<String>)| {
        let member = &profiles.members()[h];
        if member.is_hard() {
            return told_hard(&member.name, names, (0..u).map(|s| profiles.label(s, h)));
        }
        let row = |s: usize| profiles.memberships(s, h).unwrap_or_default().to_vec();
        let rows = Matrix::from_vec(u, member.n_clusters(), (0..u).flat_map(row).collect());
        told_soft(&member.name, names, &rows)
    };
    let members: Vec<Robj> = clusters.iter().enumerate().map(member).collect();
    let map = profiles.map().iter().map(|&s| (s != NO_PROFILE).then_some(s as usize));
    list([
        ("members", List::from_values(members).into()),
        ("weights", profiles.weights().into()),
        ("map", places(map)),
    ])
}

/// Profiles that R holds, ready to be made again on the thread that works.
pub(crate) struct Held {
    ensemble: consilience::Ensemble,
    map: Vec<u32>,
    clusters: Vec<Vec<String>>,
}

impl Held {
    /// The argument `profiles`.
    pub(crate) fn new(given: &Given) -> Outcome<Self> {
        let state = given.list("profiles")?;
        let ensemble = ensemble(members(&state, "members")?, state.some_numbers("weights")?)?;
        let members = ensemble.members().iter();
        let clusters = members.map(|member| member.clusters().to_vec()).collect();
        let profile = |&s: &i32| place(s).map_or(NO_PROFILE, |s| s as u32);
        let map = state.integers("map")?.iter().map(profile).collect();
        Ok(Held { ensemble, map, clusters })
    }

    /// The profiles, with the names of every member's clusters.
    pub(crate) fn profiles(self, run: &Run) -> consilience::Result<(Profiles, Vec<Vec<String>>)> {
        Ok((Profiles::restored(&self.ensemble, self.map, run)?, self.clusters))
    }

    fn len(&self) -> usize {
        self.ensemble.n_objects()
    }
}

/// The cluster of every profile, and how many clusters there are.
pub(crate) fn labels(given: &Given, held: &Held) -> Outcome<(Vec<u32>, usize)> {
    let k = given.whole("k")? as usize;
    let label = |&j: &i32| place(j).filter(|j| *j < k).map_or(NO_LABEL, |j| j as u32);
    let labels: Vec<u32> = given.integers("profile_labels")?.iter().map(label).collect();
    if labels.len() != held.len() {
        let message = format!("{} labels for {} profiles", labels.len(), held.len());
        return Err(Failure::argument(message));
    }
    Ok((labels, k))
}

/// The co-associations of some profiles with all.
#[extendr]
fn coassociation(args: List) -> Robj {
    start(&args, |given| {
        let held = Held::new(given)?;
        let u = held.len();
        let row = |&s: &i32| place(s).filter(|s| *s < u);
        let rows: Option<Vec<usize>> = given.integers("rows")?.iter().map(row).collect();
        let rows = rows.ok_or_else(|| Failure::argument("`rows`: there is no such profile"))?;
        Ok(move |run: &Run| {
            let bytes = 16 * (rows.len() * u) as u64;
            run.ask_memory("the consensus matrix", bytes, "ask for fewer rows")?;
            let (profiles, _) = held.profiles(run)?;
            let all = CoAssociation::new(&profiles).rows(&rows, run)?;
            Ok(Box::new(move || matrix(&all)) as Telling)
        })
    })
}

/// The co-associations of all objects; a number that is none where no member labels both.
#[extendr]
fn together(args: List) -> Robj {
    start(&args, |given| {
        let ensemble = ensemble(members(given, "members")?, None)?;
        Ok(move |run: &Run| {
            let n = ensemble.n_objects();
            // Rows of profiles, and the whole as R has it.
            run.ask_memory("the consensus matrix", 16 * (n * n) as u64, "ask for fewer objects")?;
            let profiles = Profiles::new(&ensemble, run)?;
            let all = CoAssociation::new(&profiles).matrix(run)?;
            Ok(Box::new(move || {
                let map = profiles.map();
                let entry = |i: usize, j: usize| match (map[i], map[j]) {
                    (NO_PROFILE, _) | (_, NO_PROFILE) => f64::NAN,
                    (s, t) => all[(s as usize, t as usize)],
                };
                RMatrix::new_matrix(n, n, entry).into()
            }) as Telling)
        })
    })
}

/// The dendrogram over objects from merges of profiles: rows of two nodes, height and size, where
/// objects are the nodes from 0 on and every row makes the next node.
#[extendr]
fn linkage(args: List) -> Robj {
    start(&args, |given| {
        let held = Held::new(given)?;
        let merges = given.matrix("merges")?;
        if merges.ncols() != 3 {
            return Err(Failure::argument(
                "`merges` must have three columns: two nodes and a height",
            ));
        }
        Ok(move |run: &Run| {
            // What is no number of a node is none that there is.
            let node = |x: f64| if x >= 0.0 { x as u32 } else { u32::MAX };
            let merge = |row: &[f64]| Merge { a: node(row[0]), b: node(row[1]), height: row[2] };
            let merges: Vec<Merge> = merges.iter_rows().map(merge).collect();
            let (profiles, _) = held.profiles(run)?;
            let rows = scipy_linkage(&profiles, &merges)?;
            Ok(Box::new(move || matrix(&rows)) as Telling)
        })
    })
}

/// Where new objects belong: clusters, profiles with their label tuples, how sure the clusters are, and
/// the share of the members that label them.
#[extendr]
fn assign(args: List) -> Robj {
    start(&args, |given| {
        let held = Held::new(given)?;
        let (labels, k) = labels(given, &held)?;
        let new = members(given, "new")?;
        Ok(move |run: &Run| {
            let (profiles, clusters) = held.profiles(run)?;
            let found = Nearest::new(&profiles, &clusters, &labels, k)?.assign(&new, run)?;
            Ok(Box::new(move || {
                let place = |number: Option<u32>| number.map(|number| number as usize);
                list([
                    ("labels", places(found.iter().map(|it| place(it.cluster)))),
                    ("profile", places(found.iter().map(|it| place(it.profile)))),
                    ("confidence", found.iter().map(|it| it.confidence).collect::<Vec<_>>().into()),
                    ("coverage", found.iter().map(|it| it.coverage).collect::<Vec<_>>().into()),
                ])
            }) as Telling)
        })
    })
}

/// The members' support of every cluster for new objects.
#[extendr]
fn support(args: List) -> Robj {
    start(&args, |given| {
        let held = Held::new(given)?;
        let (labels, k) = labels(given, &held)?;
        let new = members(given, "new")?;
        Ok(move |run: &Run| {
            let (profiles, clusters) = held.profiles(run)?;
            let found = Nearest::new(&profiles, &clusters, &labels, k)?.support(&new, run)?;
            Ok(Box::new(move || matrix(&found)) as Telling)
        })
    })
}

/// How the members vote about one profile: for each its cluster and the shares of that cluster in the
/// clusters of the consensus; then the support of each of those.
#[extendr]
fn votes(args: List) -> Robj {
    start(&args, |given| {
        let held = Held::new(given)?;
        let (labels, k) = labels(given, &held)?;
        let s = place(given.whole("profile")? as i32).filter(|s| *s < held.len());
        let s = s.ok_or_else(|| Failure::argument("there is no such profile"))?;
        Ok(move |run: &Run| {
            let (profiles, clusters) = held.profiles(run)?;
            let votes = Votes::new(&profiles, &labels, k);
            let vote = |(h, names): (usize, &Vec<String>)| {
                let name = profiles.label(s, h).map(|c| names[c].clone());
                (name, votes.of_member(&profiles, s, h))
            };
            let each: Vec<_> = clusters.iter().enumerate().map(vote).collect();
            let support = votes.support(&profiles, s);
            Ok(Box::new(move || {
                let shares = RMatrix::new_matrix(each.len(), k, |i, j| each[i].1[j]);
                let name =
                    |(name, _): &(Option<String>, Vec<f64>)| or_null(name.as_deref(), Robj::from);
                list([
                    ("clusters", List::from_values(each.iter().map(name)).into()),
                    ("shares", shares.into()),
                    ("support", support.into()),
                ])
            }) as Telling)
        })
    })
}

extendr_module! {
    mod profiles;
    fn coassociation;
    fn together;
    fn linkage;
    fn assign;
    fn support;
    fn votes;
}
