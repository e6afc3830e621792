"""Consensus clustering on Apache Spark, for tables that no longer fit one machine.

Label every row with the fitted base models (a map), group by the label tuple with counts (an
aggregation), compute the exact weighted consensus of the distinct tuples on the driver, and look every
row up again (a map). What Spark does well, Spark does; the rest is the library's native code, inside the
workers and on the driver. The answer is that of :func:`consilience.consensus` on the same rows.

>>> from consilience import spark                                     # doctest: +SKIP
>>> frame, result = spark.consensus(df, labels=["a", "b", "c"])       # doctest: +SKIP
>>> frame.write.parquet("consensus")                                  # doctest: +SKIP

:class:`ConsensusClustering` is the same as a stage of a ``pyspark.ml`` pipeline. All of it works on classic
sessions and on those of Spark Connect.

Needs ``pip install 'consilience[spark]'`` on the driver and ``consilience`` and ``pyarrow`` on the workers.
"""

from __future__ import annotations

from importlib.util import find_spec

for _name in ("pyarrow", "pyspark"):
    if find_spec(_name) is None:
        raise ImportError(
            f"consilience.spark needs {_name}: pip install 'consilience[spark]'. "
            "Everything else works without it."
        )

from consilience.spark._cluster import Members, cluster, members
from consilience.spark._consensus import MAX_PROFILES, SparkConsensus, consensus
from consilience.spark._pipeline import ConsensusClustering, ConsensusClusteringModel

__all__ = [
    "MAX_PROFILES",
    "ConsensusClustering",
    "ConsensusClusteringModel",
    "Members",
    "SparkConsensus",
    "cluster",
    "consensus",
    "members",
]
