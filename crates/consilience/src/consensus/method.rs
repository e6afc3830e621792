//! The trait that every method implements, and the table of all methods.

use crate::consensus::outcome::Consensus;
use crate::consensus::params::ParameterInfo;
use crate::consensus::settings::Settings;
use crate::consensus::{
    anmi_greedy, bce, best_member, cspa, ea, ec_cms, ecpcs, ecpcs_mc, edge_cut, gwca, hbgf, hgpa,
    hierarchical, kc, kcc, local_search, lwea, lwgp, mcla, mmec, nmfc, pivot, pta, ptgp, qmi, rce,
    relabel_vote, rmsc, robust_clusters, sa, scec, sdgca, sec, voting, voting_merging, wct, wmi,
};
use crate::ensemble::Profiles;
use crate::error::{Asked, Error, Result};
use crate::graph::Edges;
use crate::run::Run;

/// What a method's declaration gives: which method it is, and parameters that can be checked.
pub trait Declared {
    /// The method's row in [`METHODS`].
    fn info(&self) -> &'static MethodInfo;

    /// The number of clusters asked for, if one was.
    fn k(&self) -> Option<usize>;

    /// Refuses parameters out of range, whatever the data.
    fn check(&self) -> Result<()>;
}

/// Combines the members of an ensemble into one clustering.
pub trait ConsensusMethod: Declared + Send + Sync {
    /// How many bytes `solve` will hold at its peak, beyond the profiles.
    fn cost(&self, shape: &Shape) -> u64;

    /// Computes the consensus of `profiles`; parameters are in range and the memory is granted.
    ///
    /// `start`, if given, is one label per profile from which an iterative method starts instead of
    /// at random. Equal profiles, parameters and seeds give bit-equal results, whatever the number
    /// of threads. Clusters may be numbered in any way, and some may be empty: [`combine`] puts
    /// that in order.
    ///
    /// [`combine`]: crate::consensus::combine
    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus>;

    /// The same as [`cost`](Self::cost) of a method that needs the edges of a network of the objects, of so many.
    fn cost_on(&self, shape: &Shape, _edges: u64) -> u64 {
        self.cost(shape)
    }

    /// Computes the consensus on a network of the objects. Only methods that [need](MethodInfo::edges) one have this;
    /// objects stand in the order of `profiles.map()`, since profiles in another order would be of no use.
    fn solve_on(&self, _: &Profiles, _: &Edges, _: &Run) -> Result<Consensus> {
        let able = METHODS.iter().filter(|info| info.edges).map(|info| info.name);
        let (method, able) = (self.info().name, able.collect::<Vec<_>>().join(", "));
        Err(Error::Beyond { method, asked: Asked::Edges, able })
    }
}

/// The size of a problem, from which a method says how much memory it will need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Objects.
    pub n: usize,
    /// Profiles.
    pub u: usize,
    /// Members.
    pub r: usize,
    /// Clusters of all members together.
    pub total_clusters: usize,
    /// Whether some member does not label some profile.
    pub missing: bool,
    /// Whether some member is soft, so that a profile may be in many clusters of it.
    pub soft: bool,
}

impl Shape {
    /// The shape of these profiles.
    pub fn of(profiles: &Profiles) -> Self {
        Shape {
            n: profiles.n_objects(),
            u: profiles.len(),
            r: profiles.n_members(),
            total_clusters: profiles.n_clusters(),
            missing: profiles.has_missing(),
            soft: !profiles.is_hard(),
        }
    }
}

/// Whether a method finds the number of clusters by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChoosesK {
    /// It must be told.
    Never,
    /// It chooses unless told.
    #[serde(rename = "unless given")]
    UnlessGiven,
    /// It always chooses; a given number is refused.
    Always,
}

/// What a method does with soft members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnSoft {
    /// Uses the memberships.
    Uses,
    /// Takes the cluster of largest membership; [`prepare`](crate::consensus::prepare) warns.
    Hardens,
}

/// What there is to know about a method. Help texts, documentation, the Python signatures and the
/// conformance tests all come from this.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct MethodInfo {
    /// The name on the command line and in papers, e.g. `"scec"`.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Who published it where.
    pub reference: &'static str,
    /// Whether it finds the number of clusters by itself.
    pub chooses_k: ChoosesK,
    /// What it does with soft members.
    pub soft: OnSoft,
    /// What it does with missing labels, in one line; `None` means it refuses them.
    pub missing: Option<&'static str>,
    /// Whether it can start from a given clustering.
    pub takes_start: bool,
    /// Whether it works on a network of the objects, and needs its edges.
    #[serde(rename = "needs_edges")]
    pub edges: bool,
    /// Its parameters besides k.
    pub parameters: &'static [ParameterInfo],
    /// Its cost in time: u profiles, r members, k clusters, K clusters of all members, t iterations.
    pub time: &'static str,
    /// Its cost in memory.
    pub memory: &'static str,
    /// What its answer has besides labels.
    #[serde(rename = "gives")]
    pub offers: Offers,
    /// Makes the method from k and the settings.
    #[serde(skip)]
    pub build: Build,
}

/// Makes a method from k and the settings.
type Build = fn(Option<usize>, &Settings) -> Result<Box<dyn ConsensusMethod>>;

impl MethodInfo {
    /// What its parameters tell of a method, and what it is unless it says otherwise: names, costs and
    /// what becomes of missing labels are its own to tell.
    pub(super) const fn declared(
        chooses_k: ChoosesK,
        parameters: &'static [ParameterInfo],
        build: Build,
    ) -> Self {
        MethodInfo {
            name: "",
            title: "",
            reference: "",
            chooses_k,
            soft: OnSoft::Hardens,
            missing: None,
            takes_start: false,
            edges: false,
            parameters,
            time: "",
            memory: "",
            offers: Offers::LABELS,
            build,
        }
    }
}

/// What a method's answer has besides labels and strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Offers {
    /// A soft consensus.
    pub membership: bool,
    /// A correspondence for every member.
    pub correspondences: bool,
    /// A tree of merges.
    pub dendrogram: bool,
    /// A consensus matrix of its own.
    pub affinity: bool,
}

impl Offers {
    /// Nothing besides labels.
    pub(super) const LABELS: Offers =
        Offers { membership: false, correspondences: false, dendrogram: false, affinity: false };
    /// A soft consensus.
    pub(super) const MEMBERSHIP: Offers = Offers { membership: true, ..Offers::LABELS };
    /// A tree of merges.
    pub(super) const TREE: Offers = Offers { dendrogram: true, ..Offers::LABELS };
}

/// All consensus methods, by name.
pub static METHODS: &[&MethodInfo] = &[
    &anmi_greedy::INFO,
    &relabel_vote::BAGCLUST,
    &bce::INFO,
    &best_member::INFO,
    &cspa::INFO,
    &ea::SINGLE,
    &ea::AVERAGE,
    &ea::COMPLETE,
    &ea::WEIGHTED,
    &ec_cms::INFO,
    &ecpcs::INFO,
    &ecpcs_mc::INFO,
    &edge_cut::INFO,
    &gwca::INFO,
    &hbgf::INFO,
    &hgpa::INFO,
    &hierarchical::INFO,
    &kc::INFO,
    &kcc::INFO,
    &local_search::INFO,
    &lwea::INFO,
    &lwgp::INFO,
    &mcla::INFO,
    &mmec::INFO,
    &nmfc::INFO,
    &pivot::INFO,
    &qmi::INFO,
    &pta::INFO,
    &ptgp::INFO,
    &rce::INFO,
    &relabel_vote::RELABEL_VOTE,
    &rmsc::INFO,
    &robust_clusters::INFO,
    &sa::INFO,
    &scec::INFO,
    &sdgca::INFO,
    &sec::INFO,
    &voting::INFO,
    &voting_merging::INFO,
    &wct::INFO,
    &wmi::W_MI,
    &wmi::F_MI,
    &wmi::H_MI,
];

/// The method of this name.
pub fn method(name: &str) -> Result<&'static MethodInfo> {
    let found = METHODS.iter().find(|info| info.name == name);
    found
        .copied()
        .ok_or_else(|| Error::unknown_name("method", name, METHODS.iter().map(|i| i.name)))
}

impl MethodInfo {
    /// The parameters in force, by name: the defaults, overlaid by what is set.
    pub fn in_force(&self, settings: &Settings) -> Vec<(&'static str, String)> {
        let value =
            |p: &ParameterInfo| settings.text(p.name).map_or_else(|| p.default(), str::to_owned);
        self.parameters.iter().map(|p| (p.name, value(p))).collect()
    }

    /// Refuses the name of a parameter that the method does not have.
    pub(super) fn knows(&self, name: &str) -> Result<()> {
        if self.parameters.iter().any(|p| p.name == name) {
            return Ok(());
        }
        let known: Vec<_> = self.parameters.iter().map(|p| p.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(Error::UnknownParameter { method: self.name, name: name.to_owned(), known })
    }

    /// The method with `k` clusters and these settings, checked.
    pub fn with(&self, k: Option<usize>, settings: &Settings) -> Result<Box<dyn ConsensusMethod>> {
        settings.names().try_for_each(|name| self.knows(name))?;
        match (self.chooses_k, k) {
            (_, Some(0)) => Err(Error::parameter("k", "at least 1", 0)),
            (ChoosesK::Never, None) => Err(Error::NeedsK { method: self.name }),
            (ChoosesK::Always, Some(_)) => Err(self.is_not_told()),
            _ => (self.build)(k, settings),
        }
    }

    /// The refusal of a number of clusters, with the method to take instead that is most like this one.
    pub(crate) fn is_not_told(&self) -> Error {
        let able = match self.name {
            "best-member" => anmi_greedy::INFO.name,
            "bagclust" | "relabel-vote" => voting_merging::INFO.name,
            _ => lwea::INFO.name,
        };
        Error::Beyond { method: self.name, asked: Asked::Clusters, able: able.to_owned() }
    }
}
