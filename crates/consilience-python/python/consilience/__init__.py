"""Consensus clustering: many clusterings of the same objects combined into one.

>>> import consilience as co
>>> labels = [[0, 0, 0, 1, 1], [1, 1, 1, 0, 0], ["b", "b", "a", "a", "a"]]
>>> result = co.consensus(labels)
>>> result.labels_
array([0, 0, 0, 1, 1])
>>> result.n_clusters_
2

Functions need numpy and nothing else. The estimators :class:`ConsensusClustering` and
:class:`LabelConsensus` need scikit-learn, :mod:`consilience.pl` needs matplotlib, and
:mod:`consilience.spark` needs pyspark and pyarrow: they are imported when they are first asked for, and ``dir`` and ``import *`` name them where they can be.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from consilience import metrics
from consilience._align import AlignResult, align
from consilience._consensus import consensus, generate, methods
from consilience._data import (
    DataSet,
    load_iris,
    make_blobs,
    make_cigar,
    make_half_rings,
    make_three_rings,
)
from consilience._inputs import ensemble
from consilience._native import ConsilienceError, Ensemble, __version__
from consilience._read import read
from consilience._resolve import Resolution, resolve
from consilience._result import ConsensusResult, Explanation, Vote, load
from consilience._warnings import ConvergenceWarning

if TYPE_CHECKING:
    from consilience import compat, pl, spark, tl
    from consilience._estimators import ConsensusClustering, LabelConsensus

__all__ = [
    "AlignResult",
    "ConsensusClustering",
    "ConsensusResult",
    "ConsilienceError",
    "ConvergenceWarning",
    "DataSet",
    "Ensemble",
    "Explanation",
    "LabelConsensus",
    "Resolution",
    "Vote",
    "__version__",
    "align",
    "compat",
    "consensus",
    "ensemble",
    "generate",
    "load",
    "load_iris",
    "make_blobs",
    "make_cigar",
    "make_half_rings",
    "make_three_rings",
    "methods",
    "metrics",
    "pl",
    "read",
    "resolve",
    "spark",
    "tl",
]

_ESTIMATORS = ("ConsensusClustering", "LabelConsensus")
_MODULES = ("compat", "pl", "spark", "tl")


def _lacks(name: str) -> bool:
    """Whether something that this name needs is not installed."""
    needed = {"pl": ("matplotlib",), "spark": ("pyarrow", "pyspark")} | dict.fromkeys(_ESTIMATORS, ("sklearn",))
    return any(find_spec(package) is None for package in needed.get(name, ()))


# What cannot be imported would end `help(consilience)` and `from consilience import *` in an error.
__all__[:] = [name for name in __all__ if not _lacks(name)]


def __getattr__(name: str) -> Any:
    """Imports what needs more than numpy when it is first asked for."""
    import importlib

    if name in _ESTIMATORS:
        try:
            module = importlib.import_module("consilience._estimators")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "sklearn":
                raise
            raise ImportError(
                f"consilience.{name} needs scikit-learn: pip install scikit-learn. "
                "consilience.consensus works without it."
            ) from error
        return getattr(module, name)
    if name in _MODULES:
        return importlib.import_module(f"consilience.{name}")
    raise AttributeError(f"module 'consilience' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
