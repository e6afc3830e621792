"""Measures of agreement between clusterings, and of diversity within an ensemble.

All take labels of any kind (integers, texts, with missing ones) and look at the objects that both
clusterings label.

>>> from consilience import metrics
>>> metrics.nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
1.0
"""

from __future__ import annotations

import json
from typing import Any

from consilience import _native
from consilience._circumstances import circumstances
from consilience._inputs import ensemble as _ensemble
from consilience._inputs import one, pair

__all__ = [
    "accuracy",
    "anmi",
    "ari",
    "diversity",
    "error_rate",
    "nmi",
    "pc_idx",
    "purity",
    "rand",
    "vi",
]

_AVERAGES = {
    "geometric": "nmi",
    "arithmetic": "nmi-arith",
    "max": "nmi-max",
    "min": "nmi-min",
    "joint": "nmi-joint",
    "log_k": "nmi-log-k",
}


def nmi(a: Any, b: Any, average: str = "geometric") -> float:
    """Normalised mutual information, in [0, 1].

    Parameters
    ----------
    a, b : 1-D arrays of labels
        Two clusterings of the same objects.
    average : str, default "geometric"
        What the mutual information is divided by: the "geometric" or "arithmetic" mean of the
        entropies, their "max" or "min", the "joint" entropy, or "log_k".

    Returns
    -------
    float

    Examples
    --------
    >>> from consilience import metrics
    >>> round(metrics.nmi([0, 0, 1, 1], [0, 0, 1, 2], average="max"), 4)
    0.6667
    """
    if average not in _AVERAGES:
        raise ValueError(f"average must be one of {', '.join(_AVERAGES)}, got {average!r}")
    return _native.agreement(_AVERAGES[average], pair(a, b))


def ari(a: Any, b: Any) -> float:
    """Adjusted Rand index: 1 for equal clusterings, 0 on average for independent ones."""
    return _native.agreement("ari", pair(a, b))


def rand(a: Any, b: Any) -> float:
    """Rand index: the share of pairs of objects on which the clusterings agree."""
    return _native.agreement("rand", pair(a, b))


def accuracy(a: Any, b: Any) -> float:
    """The share of objects in matched clusters, clusters matched one to one as well as can be."""
    return _native.agreement("accuracy", pair(a, b))


def error_rate(a: Any, b: Any) -> float:
    """One minus :func:`accuracy`."""
    return _native.agreement("error", pair(a, b))


def vi(a: Any, b: Any) -> float:
    """Variation of information, in nats: 0 for equal clusterings."""
    return _native.agreement("vi", pair(a, b))


def purity(a: Any, b: Any) -> float:
    """The share of objects that are in the most frequent class ``b`` of their cluster ``a``."""
    return _native.agreement("purity", pair(a, b))


def pc_idx(a: Any, b: Any) -> float:
    """Fred's partitions consistency index: the share of objects in greedily matched clusters."""
    return _native.agreement("pc_idx", pair(a, b))


def anmi(labels: Any, ensemble: Any) -> float:
    """Average normalised mutual information of a clustering with the members of an ensemble.

    Examples
    --------
    >>> from consilience import metrics
    >>> metrics.anmi([0, 0, 1, 1], [[0, 0, 1, 1], [1, 1, 0, 0]])
    1.0
    """
    return _native.anmi(one(labels, "labels"), _ensemble(ensemble))


def diversity(ensemble: Any, *, n_jobs: int | None = None) -> dict[str, dict[str, float]]:
    """How much the members of an ensemble differ.

    Returns
    -------
    dict
        For "nmi" and "ari" (one minus each) and "vi": count, mean, deviation, min and max over all
        pairs of members.
    """
    told = _native.diversity(_ensemble(ensemble), circumstances(n_jobs=n_jobs))
    spread: dict[str, dict[str, float]] = json.loads(told)
    return spread
