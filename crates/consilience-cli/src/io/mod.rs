//! Results as tables: a list of named columns goes to any format, first under a temporary name. What
//! is read is read by `consilience-io`.

mod cells;
#[cfg(test)]
mod round_trip;
mod target;
mod write;
mod write_columnar;
mod write_npy;
mod write_text;

pub(crate) use cells::Cells;
pub(crate) use target::{OutputError, Stage, Target};
pub(crate) use write::{
    write_consensus, write_correspondences, write_matrix, write_members, write_membership,
    write_table, write_text,
};
