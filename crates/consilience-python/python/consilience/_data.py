"""The data sets inside the package."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from consilience import _native
from consilience._circumstances import seed_of

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]


class DataSet(NamedTuple):
    """Features with known classes."""

    data: Floats
    target: Integers
    feature_names: list[str]
    target_names: list[str]


def load_iris() -> DataSet:
    """Fisher's iris flowers: 150 plants of 3 species, 4 lengths.

    Examples
    --------
    >>> import consilience as co
    >>> iris = co.load_iris()
    >>> iris.data.shape, iris.target_names
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    """
    return DataSet(*_native.data_set("iris", 0))


def make_half_rings(random_state: Any = 0) -> tuple[Floats, Integers]:
    """Two interleaved half rings of 200 points in the plane: features and classes."""
    return _made("half-rings", random_state)


def make_three_rings(random_state: Any = 0) -> tuple[Floats, Integers]:
    """Three concentric rings of 200, 200 and 50 points in the plane: features and classes."""
    return _made("three-rings", random_state)


def make_cigar(random_state: Any = 0) -> tuple[Floats, Integers]:
    """Two long and two small clouds of points in the plane: features and classes."""
    return _made("cigar", random_state)


def make_blobs(random_state: Any = 0) -> tuple[Floats, Integers]:
    """Five round clouds of 100 points in the plane: features and classes."""
    return _made("blobs", random_state)


def _made(name: str, random_state: Any) -> tuple[Floats, Integers]:
    data, target, _, _ = _native.data_set(name, seed_of(random_state))
    return data, target
