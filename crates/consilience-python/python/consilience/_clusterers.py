"""Clusterers of other packages as members: whatever has ``fit_predict`` or ``labels_``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

#: What a clusterer may call its number of clusters, the first that it has.
_COUNTS = ("n_clusters", "n_components")


def name_of(clusterer: Any) -> str:
    return type(clusterer).__name__


def copy_of(clusterer: Any) -> Any:
    """An unfitted copy, once it is something that clusters."""
    if isinstance(clusterer, type):
        raise TypeError(f"base holds the class {clusterer.__name__}: give it as {clusterer.__name__}()")
    # Some have labels_ only once they are fitted; then fit is all there is to see.
    if not any(hasattr(clusterer, what) for what in ("fit_predict", "labels_", "fit")):
        raise TypeError(f"{name_of(clusterer)} cannot be a base: it has neither fit_predict nor labels_")
    return clone(clusterer, safe=False)


def count_of(clusterer: Any) -> str | None:
    """What the clusterer calls its number of clusters."""
    own = _params(clusterer)
    return next((name for name in _COUNTS if name in own), None)


def chosen_count(clusterer: Any) -> int | None:
    """The number of clusters that was given to the clusterer, if it is not its default."""
    name = count_of(clusterer)
    if name is None:
        return None
    parameter = inspect.signature(type(clusterer)).parameters.get(name)
    own = _params(clusterer)[name]
    return None if parameter is not None and own == parameter.default else own


def has_seed(clusterer: Any) -> bool:
    """Whether the clusterer, or what it is made of, begins at random."""
    return any(name.split("__")[-1] == "random_state" for name in _params(clusterer))


def seed_anew(clusterer: Any, rng: np.random.Generator) -> None:
    """Seeds the clusterer, and what it is made of, in the order of names."""
    for name in sorted(_params(clusterer)):
        if name.split("__")[-1] == "random_state":
            clusterer.set_params(**{name: int(rng.integers(2**31 - 1))})


def labels_of(clusterer: Any, X: Any) -> np.ndarray[Any, Any]:
    """The clusters of the rows; errors tell whose they are."""
    try:
        if hasattr(clusterer, "fit_predict"):
            labels = clusterer.fit_predict(X)
        else:
            clusterer.fit(X)
            labels = clusterer.labels_
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{name_of(clusterer)} failed: {error}") from error
    return _checked(labels, clusterer, X)


def predicted(clusterer: Any, X: Any) -> np.ndarray[Any, Any]:
    """The clusters of new rows."""
    if not hasattr(clusterer, "predict"):
        raise TypeError(f"{name_of(clusterer)} cannot label new objects: it has no predict")
    return _checked(clusterer.predict(X), clusterer, X)


def takes_sparse(clusterer: Any) -> bool:
    """Whether it says that it takes sparse tables; one that says nothing takes dense ones."""
    says = hasattr(clusterer, "__sklearn_tags__") and not isinstance(clusterer, type)
    return says and bool(get_tags(clusterer).input_tags.sparse)


def _params(clusterer: Any) -> Mapping[str, Any]:
    """The parameters of the clusterer; none if it is not of scikit-learn's kind."""
    has_both = hasattr(clusterer, "get_params") and hasattr(clusterer, "set_params")
    return clusterer.get_params() if has_both and not isinstance(clusterer, type) else {}


def _checked(labels: Any, clusterer: Any, X: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(labels)
    if array.shape != (X.shape[0],):
        raise ValueError(
            f"{name_of(clusterer)} gave labels of shape {array.shape} for {X.shape[0]} objects"
        )
    return array
