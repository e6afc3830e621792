"""Measures of agreement between clusterings, and of diversity within an ensemble.

All take labels of any kind (integers, texts, with missing ones) and look at the objects that both
clusterings label. Missing are None, NaN, NA and the empty text, and what ``missing`` names: -1 is a
label like any other here, as it is in scikit-learn. To leave out the noise of a density clusterer, or
what a consensus has no label for, give ``missing=-1``.

pandas Series, and results of clusterings that had an index, are compared by their indexes, and refused
where these do not agree.

>>> from consilience import metrics
>>> metrics.nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
1.0
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from consilience import _native
from consilience._circumstances import circumstances
from consilience._inputs import aligned, along, along_ensemble, builder, one, pair
from consilience._native import Ensemble

Floats = np.ndarray[Any, np.dtype[np.float64]]

__all__ = [
    "accuracy",
    "ami",
    "anmi",
    "ari",
    "completeness",
    "consistency",
    "diversity",
    "ecs",
    "error_rate",
    "fmi",
    "homogeneity",
    "inconsistency",
    "nmi",
    "pc_idx",
    "purity",
    "rand",
    "v_measure",
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


def nmi(a: Any, b: Any, average: str = "geometric", *, missing: Any = None) -> float:
    """Normalised mutual information, in [0, 1].

    Parameters
    ----------
    a, b : 1-D arrays of labels
        Two clusterings of the same objects.
    average : str, default "geometric"
        What the mutual information is divided by: the "geometric" or "arithmetic" mean of the
        entropies, their "max" or "min", the "joint" entropy, or "log_k".
    missing : label or sequence of labels, optional
        Labels that mean "no label", such as -1. None, NaN, NA and the empty text always do.

    Returns
    -------
    float

    Examples
    --------
    >>> from consilience import metrics
    >>> round(metrics.nmi([0, 0, 1, 1], [0, 0, 1, 2], average="max"), 4)
    0.6667
    >>> noisy = [0, 0, 1, -1]
    >>> metrics.nmi(noisy, [0, 0, 1, 1]) < metrics.nmi(noisy, [0, 0, 1, 1], missing=-1)
    True
    """
    if average not in _AVERAGES:
        raise ValueError(f"average must be one of {', '.join(_AVERAGES)}, got {average!r}")
    return _native.agreement(_AVERAGES[average], pair(a, b, missing))


def ari(a: Any, b: Any, *, missing: Any = None) -> float:
    """Adjusted Rand index: 1 for equal clusterings, 0 on average for independent ones."""
    return _native.agreement("ari", pair(a, b, missing))


def rand(a: Any, b: Any, *, missing: Any = None) -> float:
    """Rand index: the share of pairs of objects on which the clusterings agree."""
    return _native.agreement("rand", pair(a, b, missing))


def accuracy(a: Any, b: Any, *, missing: Any = None) -> float:
    """The share of objects in matched clusters, clusters matched one to one as well as can be."""
    return _native.agreement("accuracy", pair(a, b, missing))


def error_rate(a: Any, b: Any, *, missing: Any = None) -> float:
    """One minus :func:`accuracy`."""
    return _native.agreement("error", pair(a, b, missing))


def vi(a: Any, b: Any, *, missing: Any = None) -> float:
    """Variation of information, in nats: 0 for equal clusterings."""
    return _native.agreement("vi", pair(a, b, missing))


def purity(a: Any, b: Any, *, missing: Any = None) -> float:
    """The share of objects that are in the most frequent class ``b`` of their cluster ``a``."""
    return _native.agreement("purity", pair(a, b, missing))


def pc_idx(a: Any, b: Any, *, missing: Any = None) -> float:
    """Fred's partitions consistency index: the share of objects in greedily matched clusters."""
    return _native.agreement("pc_idx", pair(a, b, missing))


def ami(a: Any, b: Any, *, missing: Any = None) -> float:
    """Adjusted mutual information: 1 for equal clusterings, 0 on average for independent ones."""
    return _native.agreement("ami", pair(a, b, missing))


def fmi(a: Any, b: Any, *, missing: Any = None) -> float:
    """Fowlkes-Mallows index: the geometric mean of precision and recall of pairs.

    Two clusterings of singletons are equal and have 1; scikit-learn says 0.
    """
    return _native.agreement("fmi", pair(a, b, missing))


def homogeneity(a: Any, b: Any, *, missing: Any = None) -> float:
    """How far every cluster of ``a`` holds objects of one class of ``b`` only.

    The classes come second, as in :func:`purity`; in scikit-learn they come first.
    """
    return _native.agreement("homogeneity", pair(a, b, missing))


def completeness(a: Any, b: Any, *, missing: Any = None) -> float:
    """How far every class of ``b`` is in one cluster of ``a`` only."""
    return _native.agreement("completeness", pair(a, b, missing))


def v_measure(a: Any, b: Any, *, missing: Any = None) -> float:
    """The harmonic mean of :func:`homogeneity` and :func:`completeness`."""
    return _native.agreement("v_measure", pair(a, b, missing))


def ecs(a: Any, b: Any, *, missing: Any = None) -> float:
    """Element-centric similarity: how far objects have the same companions, on average.

    Examples
    --------
    >>> from consilience import metrics
    >>> round(metrics.ecs([0, 0, 0, 1], [0, 0, 1, 1]), 4)
    0.5417
    """
    return _native.agreement("ecs", pair(a, b, missing))


def consistency(ensemble: Any, *, missing: Any = None, n_jobs: int | None = None) -> Floats:
    """How far the members of an ensemble give each object the same companions.

    Returns
    -------
    (n,) array of float
        The mean over all pairs of members of the element-centric similarity of every object, in
        [0, 1]; NaN where fewer than two members label it.
    """
    return _native.element_centric(_members(ensemble, missing), circumstances(n_jobs=n_jobs))[0]


def inconsistency(ensemble: Any, *, missing: Any = None, n_jobs: int | None = None) -> float:
    """How far the members of an ensemble disagree: 1 if all are equal, the larger the less alike.

    One over the mean element-centric similarity of all members with each other and with themselves.

    Examples
    --------
    >>> from consilience import metrics
    >>> metrics.inconsistency([[0, 0, 1, 1], [1, 1, 0, 0]])
    1.0
    """
    return _native.element_centric(_members(ensemble, missing), circumstances(n_jobs=n_jobs))[1]


def anmi(labels: Any, ensemble: Any, *, missing: Any = None) -> float:
    """Average normalised mutual information of a clustering with the members of an ensemble.

    With ``missing=-1`` it is what ``anmi_`` of a result tells.

    Examples
    --------
    >>> from consilience import metrics
    >>> metrics.anmi([0, 0, 1, 1], [[0, 0, 1, 1], [1, 1, 0, 0]])
    1.0
    """
    if isinstance(ensemble, Ensemble):
        labels = along_ensemble(labels, ensemble, "labels")
    else:
        ensemble, index = aligned(ensemble)
        labels = along(labels, index, "labels", "the ensemble")
    return _native.anmi(one(labels, "labels", missing), _members(ensemble, missing))


def diversity(
    ensemble: Any, *, missing: Any = None, n_jobs: int | None = None
) -> dict[str, dict[str, float]]:
    """How much the members of an ensemble differ.

    Returns
    -------
    dict
        For "nmi" and "ari" (one minus each) and "vi": count, mean, deviation, min and max over all
        pairs of members.
    """
    told = _native.diversity(_members(ensemble, missing), circumstances(n_jobs=n_jobs))
    spread: dict[str, dict[str, float]] = json.loads(told)
    return spread


def _members(ensemble: Any, missing: Any) -> Ensemble:
    return ensemble if isinstance(ensemble, Ensemble) else builder(ensemble, missing).finish()
