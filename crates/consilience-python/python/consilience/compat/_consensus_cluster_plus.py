"""Tables as ConsensusClusterPlus writes them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from consilience._result import ConsensusResult


class ConsensusTables(NamedTuple):
    """What ConsensusClusterPlus and its ``calcICL`` tell, as rows. Clusters are numbered from 1."""

    #: For each k the class of every item: (item, class).
    consensus_class: dict[int, list[tuple[str, int]]]
    #: (k, cluster, mean consensus of the pairs of its items).
    cluster_consensus: list[tuple[int, int, float]]
    #: (k, cluster, item, mean consensus of the item with the items of the cluster).
    item_consensus: list[tuple[int, int, str, float]]


def consensus_tables(
    results: Mapping[int, ConsensusResult] | Iterable[ConsensusResult],
    items: Sequence[str] | None = None,
    *,
    directory: str | Path | None = None,
    title: str = "consensus",
) -> ConsensusTables:
    """Item consensus, cluster consensus and classes for several numbers of clusters.

    Parameters
    ----------
    results : mapping from k, or results
        The consensus for each number of clusters.
    items : sequence of str, optional
        The names of the objects; their numbers by default.
    directory : path, optional
        Where to write the tables, as ``TITLE.k=K.consensusClass.csv``,
        ``TITLE.summary.cluster.consensus.csv`` and ``TITLE.summary.item.consensus.csv``.
    title : str, default "consensus"
        How the names of the files begin.

    Returns
    -------
    ConsensusTables

    Examples
    --------
    >>> import consilience as co
    >>> from consilience.compat import consensus_tables
    >>> result = co.consensus([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]], n_clusters=2)
    >>> tables = consensus_tables({2: result}, items=["a", "b", "c", "d"])
    >>> tables.consensus_class[2]
    [('a', 1), ('b', 1), ('c', 2), ('d', 2)]
    """
    of_k = results if isinstance(results, Mapping) else {r.n_clusters_: r for r in results}
    classes: dict[int, list[tuple[str, int]]] = {}
    of_clusters: list[tuple[int, int, float]] = []
    of_items: list[tuple[int, int, str, float]] = []
    for k, result in sorted(of_k.items()):
        labels = result.labels_
        names = [str(i) for i in range(len(labels))] if items is None else [str(i) for i in items]
        if len(names) != len(labels):
            raise ValueError(f"items has {len(names)} entries, but there are {len(labels)} objects")
        classes[k] = [(name, int(c) + 1) for name, c in zip(names, labels, strict=True)]
        means = item_consensus(result)
        for j in range(result.n_clusters_):
            inside = labels == j
            # Every pair is counted from both its ends.
            mean = means[inside, j].mean() if inside.sum() > 1 else np.nan
            of_clusters.append((k, j + 1, float(mean)))
            for name, value in zip(names, means[:, j], strict=True):
                of_items.append((k, j + 1, name, float(value)))
    tables = ConsensusTables(classes, of_clusters, of_items)
    if directory is not None:
        _write(tables, Path(directory), title)
    return tables


def item_consensus(result: ConsensusResult) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The mean consensus of every object with the other objects of every cluster, (n, k).

    NaN where the object is alone in the cluster.
    """
    labels, k = result.labels_, result.n_clusters_
    members = np.zeros((len(labels), k))
    members[np.flatnonzero(labels >= 0), labels[labels >= 0]] = 1.0
    sizes = members.sum(axis=0)
    means = np.empty((len(labels), k))
    # In blocks of rows: the n x n matrix is never whole.
    for start in range(0, len(labels), 256):
        rows = np.arange(start, min(start + 256, len(labels)))
        block = np.nan_to_num(result.coassociation(rows))
        own = members[rows]
        itself = block[np.arange(len(rows)), rows][:, None] * own
        with np.errstate(invalid="ignore", divide="ignore"):
            means[rows] = (block @ members - itself) / (sizes - own)
    return means


def _write(tables: ConsensusTables, directory: Path, title: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)

    def table(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        target = directory / f"{title}.{name}.csv"
        temporary = target.with_name(f".{target.name}.part")
        try:
            with temporary.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(header)
                writer.writerows(rows)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    for k, rows in tables.consensus_class.items():
        table(f"k={k}.consensusClass", ["item", "class"], rows)
    table(
        "summary.cluster.consensus", ["k", "cluster", "clusterConsensus"], tables.cluster_consensus
    )
    table(
        "summary.item.consensus", ["k", "cluster", "item", "itemConsensus"], tables.item_consensus
    )
