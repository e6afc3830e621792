"""Stand-ins for packages that people used before: scripts run by changing one import."""

from consilience.compat._cluster_ensembles import cluster_ensembles
from consilience.compat._consensus_cluster_plus import ConsensusTables, consensus_tables

__all__ = ["ConsensusTables", "cluster_ensembles", "consensus_tables"]
