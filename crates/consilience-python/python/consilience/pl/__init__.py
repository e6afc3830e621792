"""Figures on matplotlib: ``pip install consilience[plot]``.

Every function takes axes to draw in (``ax``, new ones by default) and returns them, so that figures can be put
together; colours can be told apart by the colour-blind, and the same cluster has the same colour everywhere. What
is drawn are the data of the report page: of many objects bins or samples, never an n x n matrix.

>>> import matplotlib; matplotlib.use("Agg")
>>> import consilience as co
>>> X, y = co.make_blobs()
>>> result = co.consensus(co.generate(X, n_members=20), n_clusters=4)
>>> ax = co.pl.matrix(result)
>>> ax.get_title()
'Consensus matrix'
"""

from __future__ import annotations

from importlib.util import find_spec as _find_spec

if _find_spec("matplotlib") is None:
    raise ImportError("consilience.pl needs matplotlib: pip install 'consilience[plot]'")

from consilience.pl._curves import cdf, delta_area, k_evidence, reliability
from consilience.pl._flow import flow
from consilience.pl._matrix import agreement, items, matrix, sizes
from consilience.pl._tree import tree

__all__ = [
    "agreement",
    "cdf",
    "delta_area",
    "flow",
    "items",
    "k_evidence",
    "matrix",
    "reliability",
    "sizes",
    "tree",
]
