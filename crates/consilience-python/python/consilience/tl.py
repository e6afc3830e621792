"""Tools for AnnData, in scanpy's manner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from consilience._consensus import Clusters
from consilience._consensus import consensus as _consensus
from consilience._resolve import levels_of
from consilience._resolve import resolve as _resolve

__all__ = ["consensus", "resolve"]


def consensus(
    adata: Any,
    keys: str | Iterable[str] = "leiden_*",
    key_added: str = "consensus",
    method: str | Sequence[str] = "auto",
    n_clusters: Clusters = "auto",
    copy: bool = False,
    **arguments: Any,
) -> Any:
    """Combines clusterings of the cells that stand in ``adata.obs``.

    Parameters
    ----------
    adata : AnnData
        The annotated data.
    keys : str or iterable of str, default "leiden_*"
        The columns of ``obs`` to combine; a text may be a pattern. Each must match something. Columns of
        numbers with very many different values, such as counts of genes, are refused: make them
        categorical if they are clusterings.
    key_added : str, default "consensus"
        Where the result goes: ``obs[key_added]`` (categorical), ``obs[key_added + "_confidence"]``,
        ``obs[key_added + "_coverage"]`` where labels are missing, and ``uns[key_added]`` (method, parameters, diagnostics).
    method, n_clusters
        As in :func:`consilience.consensus`.
    copy : bool, default False
        Whether to return a copy instead of writing into ``adata``.
    **arguments
        Further arguments of :func:`consilience.consensus`.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.
    """
    import pandas

    if not (hasattr(adata, "obs") and hasattr(adata, "uns")):
        raise TypeError(
            f"adata must be an AnnData, got {type(adata).__name__}: consilience.consensus(labels) combines "
            "the columns of a table"
        )
    adata = adata.copy() if copy else adata
    patterns = [keys] if isinstance(keys, str) else list(keys)
    own = {key_added, f"{key_added}_confidence", f"{key_added}_coverage"}
    found: dict[Any, None] = {}
    for pattern in patterns:
        named = [name for name in adata.obs.columns if fnmatchcase(str(name), pattern)]
        if not set(named) - own:
            there = ", ".join(map(str, adata.obs.columns)) or "none"
            raise ValueError(f"keys: no column of obs matches {pattern}; there are {there}")
        found |= dict.fromkeys(name for name in named if name not in own)
    columns = [name for name in adata.obs.columns if name in found]
    for name in columns:
        _refuse_measurements(adata.obs[name])
    result = _consensus(
        adata.obs[columns], method=method, n_clusters=n_clusters, **arguments
    )
    names = pandas.Index([str(j) for j in range(result.n_clusters_)])
    adata.obs[key_added] = pandas.Categorical.from_codes(result.labels_, categories=names)
    adata.obs[f"{key_added}_confidence"] = result.confidence_
    if (result.coverage_ < 1).any():
        adata.obs[f"{key_added}_coverage"] = result.coverage_
    adata.uns[key_added] = {
        "keys": [str(name) for name in columns],
        "method": result.method_,
        "params": result.params_,
        "n_clusters": result.n_clusters_,
        "n_unique": result.n_unique_,
        "anmi": result.anmi_,
        "stop": result.stop_,
        "diagnostics": {
            name: np.asarray(value) if isinstance(value, list) else value
            for name, value in result.diagnostics_.items()
        },
    }
    return adata if copy else None


def resolve(
    adata: Any,
    levels: str = "leiden_{level}_{seed}",
    key_added: str = "resolved",
    level: Any = None,
    copy: bool = False,
    **arguments: Any,
) -> Any:
    """Finds out which resolution to take, from clusterings of the cells in ``adata.obs``.

    Parameters
    ----------
    adata : AnnData
        The annotated data.
    levels : str, default "leiden_{level}_{seed}"
        The pattern of the columns of ``obs``, as in :func:`consilience.resolve`; other columns do not count.
    key_added : str, default "resolved"
        Where the result goes: ``obs[key_added]`` (categorical) and ``obs[key_added + "_confidence"]`` at the recommended level,
        ``obs[key_added + "_coverage"]`` where labels are missing, ``obs[key_added + "_" + level]`` for every recommended level, and
        ``uns[key_added]`` (``level``, ``recommended``, ``verdict``, ``levels``, ``tree``).
    level : optional
        The level to take, whatever is recommended.
    copy : bool, default False
        Whether to return a copy instead of writing into ``adata``.
    **arguments
        Further arguments of :func:`consilience.resolve`.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.
    """
    import pandas

    if not (hasattr(adata, "obs") and hasattr(adata, "uns")):
        raise TypeError(
            f"adata must be an AnnData, got {type(adata).__name__}: consilience.resolve(labels, levels) takes "
            "the columns of a table"
        )
    adata = adata.copy() if copy else adata
    names = [str(name) for name in adata.obs.columns]
    found = [
        name for name, at in zip(adata.obs.columns, levels_of(levels, names), strict=True) if at is not None
    ]
    for name in found:
        _refuse_measurements(adata.obs[name])
    result = _resolve(adata.obs[found], levels, level=level, **arguments)

    def categorical(labels: Any) -> Any:
        clusters = np.unique(labels[labels >= 0])
        codes = np.where(labels >= 0, np.searchsorted(clusters, labels), -1)
        return pandas.Categorical.from_codes(codes, categories=pandas.Index([str(j) for j in clusters]))

    adata.obs[key_added] = categorical(result.labels_)
    adata.obs[f"{key_added}_confidence"] = result.confidence_
    if (result.coverage_ < 1).any():
        adata.obs[f"{key_added}_coverage"] = result.coverage_
    for name in result.recommended:
        adata.obs[f"{key_added}_{name}"] = categorical(result.labels_at(name))
    adata.uns[key_added] = {
        "level": result.level or "",
        "recommended": list(result.recommended),
        "verdict": result.verdict,
        "levels": result.levels,
        "tree": result.tree,
    }
    return adata if copy else None


def _refuse_measurements(column: Any) -> None:
    """Refuses numbers of which there are too many different ones for clusters."""
    if getattr(column.dtype, "kind", "O") not in "iuf" or hasattr(column.dtype, "categories"):
        return
    different, n = column.nunique(), len(column)
    # Scanpy's clusterings are categories; of a clustering in numbers most clusters have several cells.
    if different > max(10, min(n / 4, 500)):
        raise ValueError(
            f"keys: column {column.name!r} of obs has {different} different numbers for {n} cells, which "
            "looks like measurements; if it is a clustering, make it categorical: "
            f"adata.obs[{column.name!r}] = adata.obs[{column.name!r}].astype('category')"
        )
