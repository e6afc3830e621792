//! What goes into a consensus.

use std::sync::Arc;

use crate::ensemble::{Ensemble, Member, Profiles};
use crate::generate::Data;
use crate::graph::Edges;
use crate::pipeline::align::Earlier;
use crate::pipeline::recipe::{Recipe, Store};

/// What is combined, and what else is known of the objects.
#[derive(Clone)]
pub struct Input<'a> {
    /// The members, or what they are made from.
    pub members: Members<'a>,
    /// Whether the answer is to have the ensemble; otherwise it is given up as soon as its objects are
    /// merged.
    pub keep: bool,
    /// The clustering that the method starts from, one label for every object.
    pub start: Option<&'a [Option<u32>]>,
    /// The edges of a network of the objects.
    pub edges: Option<&'a Edges>,
    /// The result that clusters are called after.
    pub earlier: Option<&'a Earlier>,
    /// The known classes, to compare with.
    pub truth: Option<&'a Member>,
    /// Whether to tell how voting settled as members came in.
    pub convergence: bool,
    /// Whether to judge the consensus.
    pub judge: bool,
}

/// The members of an ensemble, or what they are made from.
#[derive(Clone)]
pub enum Members<'a> {
    /// Features, to be clustered many times.
    Features {
        /// One row for every object.
        data: Data<'a>,
        /// The names of the features.
        names: &'a [String],
        /// The weights of the objects; they count in the consensus, not in the members.
        weights: Option<&'a [f64]>,
        /// How the members are made.
        recipe: &'a Recipe,
        /// Where finished members are kept.
        store: Option<&'a dyn Store>,
    },
    /// An ensemble, with its weights.
    Ensemble(Arc<Ensemble>),
    /// Hard members whose objects are merged already.
    Merged {
        /// The distinct objects.
        profiles: Profiles,
        /// The same members of one object for every profile.
        tuples: Ensemble,
        /// The weights of all objects.
        weights: Option<Vec<f64>>,
    },
}

impl<'a> Input<'a> {
    /// These members and nothing else.
    pub fn new(members: Members<'a>) -> Self {
        Input {
            members,
            keep: true,
            start: None,
            edges: None,
            earlier: None,
            truth: None,
            convergence: false,
            judge: false,
        }
    }

    /// An ensemble and nothing else.
    pub fn ensemble(ensemble: impl Into<Arc<Ensemble>>) -> Self {
        Self::new(Members::Ensemble(ensemble.into()))
    }
}
