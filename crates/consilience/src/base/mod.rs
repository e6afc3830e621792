//! Clusterings of plain tables: what ensembles are made of and methods end with.

pub mod linkage;
