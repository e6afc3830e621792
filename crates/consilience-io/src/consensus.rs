//! A consensus as this program writes it: `id,cluster,confidence`, and `coverage` where labels are missing.

use std::path::Path;

use consilience::Run;

use super::columns::{CONSENSUS, is_consensus};
use super::error::{InputError, Result};
use super::table::{Column, Ids, Plan, Role};
use super::{ReadOptions, read_table};

/// A consensus read back.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsensusTable {
    /// The objects' identifiers.
    pub ids: Ids,
    /// The number of every object's cluster.
    pub clusters: Vec<Option<u32>>,
    /// How sure it is; NaN where there is none.
    pub confidence: Vec<f64>,
}

/// The columns of a consensus.
struct Consensus;

impl Plan for Consensus {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        let hard = names.get(1).is_some_and(|name| *name == CONSENSUS[1]);
        if is_consensus(names) && hard {
            let role = |(j, name): (usize, &String)| match j {
                0 => Role::Text,
                1 => Role::Labels,
                _ if name.starts_with("level_") => Role::Skip,
                _ => Role::Numbers,
            };
            return Ok(names.iter().enumerate().map(role).collect());
        }
        Err(InputError::Unsupported {
            file: file.to_owned(),
            problem: "the columns are not `id,cluster,confidence`".to_owned(),
            hint: "name a consensus that was written by consilience".to_owned(),
        })
    }
}

/// Reads a consensus that `run` or `combine` wrote.
pub fn read_consensus(path: &Path, run: &Run) -> Result<ConsensusTable> {
    let mut table = read_table(path, &ReadOptions::default(), &Consensus, run)?;
    let labels = table.take_labels(1);
    let number = |name: &String| {
        name.parse::<u32>().map_err(|_| InputError::Unsupported {
            file: table.file.clone(),
            problem: format!("`{name}` in column `cluster` is no number"),
            hint: "name a consensus that was written by consilience".to_owned(),
        })
    };
    let numbers = labels.names.list.iter().map(number).collect::<Result<Vec<u32>>>()?;
    let member = labels.finish("cluster".to_owned())?;
    let clusters = member.labels().iter().map(|code| code.map(|c| numbers[c])).collect();
    let confidence = table.numbers_of(2);
    let Column::Text(ids) = std::mem::replace(&mut table.columns[0], Column::Skipped) else {
        unreachable!("the first column was read as text");
    };
    Ok(ConsensusTable { ids, clusters, confidence })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn clusters_and_confidence_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        fs::write(&path, "id,cluster,confidence\na,2,0.5\nb,,\n\"c,d\",0,1\n").unwrap();
        let found = read_consensus(&path, &Run::new(0).threads(1)).unwrap();
        assert_eq!(found.ids.iter().collect::<Vec<_>>(), ["a", "b", "c,d"]);
        assert_eq!(found.clusters, [Some(2), None, Some(0)]);
        assert_eq!((found.confidence[0], found.confidence[2]), (0.5, 1.0));
        assert!(found.confidence[1].is_nan());
        fs::write(&path, "id,cluster,confidence,coverage\na,2,0.5,0.25\n").unwrap();
        assert_eq!(read_consensus(&path, &Run::new(0)).unwrap().confidence, [0.5]);
        fs::write(&path, "id,x\na,2\n").unwrap();
        let refused = read_consensus(&path, &Run::new(0).threads(1)).unwrap_err().to_string();
        assert!(refused.contains("the columns are not `id,cluster,confidence`"), "{refused}");
    }
}
