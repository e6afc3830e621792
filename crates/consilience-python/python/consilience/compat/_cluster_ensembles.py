"""The call of the package ClusterEnsembles."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._circumstances import seed_of
from consilience._consensus import consensus, methods
from consilience._inputs import builder

#: The solvers by their names there, and ours.
_SOLVERS = {"cspa": "cspa", "hgpa": "hgpa", "mcla": "mcla", "hbgf": "hbgf", "nmf": "nmfc"}


def cluster_ensembles(
    base_clusters: Any,
    nclass: int | None = None,
    solver: str = "hbgf",
    random_state: int | None = None,
    verbose: bool = False,
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Combines clusterings, called as ``ClusterEnsembles.cluster_ensembles``.

    Parameters
    ----------
    base_clusters : (r, n) array
        One *row* a clustering; NaN is missing.
    nclass : int, optional
        The number of clusters; by default the largest of the clusterings.
    solver : {"cspa", "hgpa", "mcla", "hbgf", "nmf", "all"}, default "hbgf"
        The method; "all" runs every one of them that this version has and keeps the one with the
        largest average normalised mutual information with the clusterings.
    random_state : int, optional
        The seed.
    verbose : bool, default False
        Whether to print what is done.

    Returns
    -------
    (n,) array of int64
        The cluster of every object.

    Raises
    ------
    ValueError
        If there is no such solver; the message names those that there are.
    """
    table = np.asarray(base_clusters, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"base_clusters must have two dimensions, got {table.ndim}")
    there = {method["name"] for method in methods()}
    solvers = {name: ours for name, ours in _SOLVERS.items() if ours in there}
    wanted = solvers if solver == "all" else {n: o for n, o in solvers.items() if n == solver}
    if not wanted:
        known = ", ".join([*solvers, "all"]) if solvers else "none in this version"
        raise ValueError(f"there is no solver {solver!r}; there are {known}")
    # There -1 is an ordinary label.
    members = builder(list(table), missing=None).finish()
    if nclass is None:
        nclass = max(len(members.clusters(i)) for i in range(len(members)))
    seed = seed_of(random_state)
    best = None
    for name, method in wanted.items():
        result = consensus(members, method=method, n_clusters=nclass, random_state=seed)
        if verbose:
            print(f"{name}: {result.n_clusters_} clusters, ANMI {result.anmi_:.4f}")
        if best is None or result.anmi_ > best.anmi_:
            best = result
    assert best is not None, "at least one solver ran"
    return best.labels_
