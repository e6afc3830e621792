"""The function :func:`resolve`: which resolution to take."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _native
from consilience._circumstances import Progress, circumstances
from consilience._inputs import MISSING, aligned, along, builder, doubts, weights
from consilience._native import Ensemble

#: Figures of a level that have an interval.
_INTERVALS = ("stability", "inconsistency", "beyond_chance")


def resolve(
    labels: Any,
    levels: Any,
    *,
    level: Any = None,
    sample_weight: Any = None,
    missing: Any = MISSING,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> Resolution:
    """Finds out which of several resolutions to take, from clusterings at each with several seeds.

    Of every level it is told how much its clusterings agree, beside what shuffled labels would reach, and how
    many clusters they have. A level is recommended if its clusterings agree more than those of the levels beside it and
    at least half of the way from chance to full agreement. It may be that no level is stable.

    Parameters
    ----------
    labels : array, table, sequence, mapping or Ensemble
        The clusterings, as in :func:`consensus`.
    levels : str, mapping or sequence
        Which clustering is of which level: a pattern of their names such as ``"leiden_{level}_{seed}"`` (another
        word in braces, or ``*``, stands for anything), a mapping from names, or one level per clustering. Clusterings that do not
        match, or whose level is None, are left out.
    level : optional
        The level to take, whatever is recommended.
    sample_weight : array of n numbers > 0, optional
        The weights of the objects.
    missing, random_state, n_jobs, progress, memory
        As in :func:`consensus`.

    Returns
    -------
    Resolution

    Examples
    --------
    >>> import consilience as co
    >>> coarse, fine = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 2, 2]
    >>> result = co.resolve([coarse] * 3 + [fine] * 3, levels=[0.1] * 3 + [0.5] * 3)
    >>> result.recommended
    ['0.5']
    >>> result.labels_
    array([0, 0, 0, 0, 1, 1, 2, 2])
    >>> result.labels_at(0.1)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> result.levels["clusters"]
    array([2, 3])
    """
    index, messages = None, []
    if isinstance(labels, Ensemble):
        ensemble = labels
    else:
        labels, index = aligned(labels)
        ensemble = builder(labels, missing).finish()
        messages = doubts(ensemble)
    if sample_weight is not None:
        weight = weights(along(sample_weight, index, "sample_weight"), ensemble.n_objects)
        if not weight.all():
            raise ValueError("sample_weight: resolve takes weights above 0; leave the other objects out of the labels")
        ensemble = ensemble.with_weights(weight)
    around = circumstances(random_state, n_jobs, progress, memory)
    of = levels_of(levels, ensemble.names)
    left_out = [name for name, level in zip(ensemble.names, of, strict=True) if level is None]
    if left_out:
        some = ", ".join(map(repr, left_out[:5])) + (f" and {len(left_out) - 5} more" if len(left_out) > 5 else "")
        messages.append(f"{some} {'has' if len(left_out) == 1 else 'have'} no level and {'is' if len(left_out) == 1 else 'are'} left out")
    answer = _native.resolve(ensemble, of, None if level is None else str(level), around)
    for message in messages + answer.pop("warnings"):
        warnings.warn(message, UserWarning, stacklevel=2)
    return Resolution(answer, ids=ensemble.ids, index=index)


def levels_of(levels: Any, names: list[str]) -> list[str | None]:
    """The level of every clustering, as text."""
    if isinstance(levels, str):
        return _native.levels_of(levels, names)
    if isinstance(levels, Mapping):
        strangers = [name for name in levels if str(name) not in names]
        if strangers:
            raise ValueError(f"levels: there is no clustering {strangers[0]!r}; there are {', '.join(names[:5])}")
        known = {str(name): level for name, level in levels.items()}
        return [_text(known.get(name)) for name in names]
    if not isinstance(levels, (Sequence, np.ndarray)) and not hasattr(levels, "__iter__"):
        raise TypeError(f"levels must be a pattern, a mapping or a list of levels, got {type(levels).__name__}")
    given = [_text(level) for level in levels]
    if len(given) != len(names):
        raise ValueError(f"levels has {len(given)} entries, but there are {len(names)} clusterings")
    return given


def _text(level: Any) -> str | None:
    if level is None or level != level:
        return None
    return str(level)


class Resolution:
    """What clusterings at several levels say.

    Attributes
    ----------
    levels : dict of arrays
        The levels from coarse to fine: ``level`` (as text), ``members``, ``clusters`` (of the level's clustering), ``clusters_median``,
        ``clusters_least`` and ``clusters_most`` of its members; ``stability`` (mean element-centric similarity of its members),
        ``inconsistency`` and ``beyond_chance`` (how far the stability is on the way from chance to 1), each also with ``_low`` and
        ``_high``, the ends of a 95 % interval; ``chance`` (of shuffled labels), ``next`` (similarity with the next level) and ``recommended``.
    recommended : list of str
        The recommended levels, the first choice first; empty if no level is stable.
    level : str or None
        The level that the labels are of: the one asked for, or the first recommended.
    labels_ : array of int64
        The cluster of every object at that level; -1 if it has none, and everywhere if no level is stable.
    confidence_ : array of float64
        How sure the label of every object is, told by the clusterings of all stable levels: an object that leaves its cluster at
        another level is less sure.
    coverage_ : array of float64
        The share of the level's clusterings that label every object.
    tree : dict of dicts of arrays
        How clusters come apart: ``nodes`` (``level``, the place in ``levels``; ``cluster``, ``size``, ``recovery``, how well the members of
        its level find it too (mean element-centric similarity of its objects with them), ``confidence``, NaN at levels
        without a consensus) and
        ``edges`` (``level``, ``cluster``; ``next``, a cluster of the next level; ``count``, ``in_proportion``, the share of the lower cluster, and
        ``out_proportion``, that of the upper).
    verdict : str
        The choice in a sentence.
    """

    def __init__(self, answer: dict[str, Any], ids: Any = None, index: Any = None) -> None:
        record = json.loads(answer["record"])
        self._labels: list[NDArray[np.int32]] = answer["labels"]
        self._confidence = answer["confidence"]
        self._coverage = answer["coverage"]
        self._index, self.ids_ = index, ids
        self.recommended: list[str] = record["recommended"]
        self.level: str | None = record["chosen"]
        self.verdict: str = record["verdict"]
        self.levels: dict[str, NDArray[Any]] = _level_table(record["levels"])
        tree = record["tree"]
        kinds = {"level": np.int64, "cluster": np.int64, "next": np.int64}
        self.tree: dict[str, dict[str, NDArray[Any]]] = {
            part: {
                name: np.array([row[name] for row in tree[part]], kinds.get(name, np.float64))
                for name in names
            }
            for part, names in (
                ("nodes", ("level", "cluster", "size", "recovery", "confidence")),
                ("edges", ("level", "cluster", "next", "count", "in_proportion", "out_proportion")),
            )
        }
        n, chosen = (len(self._labels[0]) if self._labels else 0), answer["chosen"]
        self.labels_ = np.full(n, -1, np.int64) if chosen is None else self._labels[chosen].astype(np.int64)
        sure = None if chosen is None else self._confidence[chosen]
        self.confidence_: NDArray[np.float64] = np.zeros(n) if sure is None else sure
        covered = None if chosen is None else self._coverage[chosen]
        self.coverage_: NDArray[np.float64] = np.full(n, float(chosen is not None)) if covered is None else covered

    def labels_at(self, level: Any) -> NDArray[np.int64]:
        """The cluster of every object at a level, -1 where it has none; clusters have the same numbers at all levels."""
        return self._labels[self._place(level)].astype(np.int64)

    def confidence_at(self, level: Any) -> NDArray[np.float64] | None:
        """How sure the labels are at a recommended level; None at the others."""
        found: NDArray[np.float64] | None = self._confidence[self._place(level)]
        return found

    def _place(self, level: Any) -> int:
        names: list[str] = self.levels["level"].tolist()
        if str(level) in names:
            return names.index(str(level))
        for place, name in enumerate(names):
            try:
                if float(name) == float(level):
                    return place
            except (TypeError, ValueError):
                continue
        raise ValueError(f"there is no level {level!r}; there are {', '.join(names)}")

    def to_frame(self) -> Any:
        """Labels and confidence, coverage where labels are missing, and a column ``level_...`` for every recommended level, as a
        pandas or polars frame, whichever is installed."""
        try:
            import pandas
        except ImportError:
            pandas = None  # type: ignore[assignment]
        named = self.ids_ is not None and (self._index is None or pandas is None)
        columns: dict[str, Any] = {"id": self.ids_} if named else {}
        columns |= {"cluster": self.labels_, "confidence": self.confidence_}
        if (self.coverage_ < 1).any():
            columns["coverage"] = self.coverage_
        columns |= {f"level_{level}": self.labels_at(level) for level in self.recommended}
        if pandas is not None:
            return pandas.DataFrame(columns, index=self._index)
        try:
            import polars
        except ImportError:
            raise ImportError("to_frame needs pandas or polars: install one of them") from None
        return polars.DataFrame(columns)

    def __repr__(self) -> str:
        return f"<Resolution of {len(self.labels_)} objects at {len(self._labels)} levels: {self.verdict}>"


def _level_table(records: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    def numbers(values: list[Any]) -> NDArray[np.float64]:
        return np.array([np.nan if value is None else value for value in values], np.float64)

    table: dict[str, NDArray[Any]] = {
        "level": np.array([record["level"] for record in records], dtype=str),
        "members": np.array([record["members"] for record in records], np.int64),
        "clusters": np.array([record["clusters"] for record in records], np.int64),
        "clusters_median": numbers([record["counts"]["median"] for record in records]),
        "clusters_least": np.array([record["counts"]["least"] for record in records], np.int64),
        "clusters_most": np.array([record["counts"]["most"] for record in records], np.int64),
    }
    for name in _INTERVALS:
        for suffix, end in (("", "value"), ("_low", "low"), ("_high", "high")):
            table[name + suffix] = numbers([(record[name] or {}).get(end) for record in records])
    table["chance"] = numbers([record["chance"] for record in records])
    table["next"] = numbers([record["next"] for record in records])
    table["recommended"] = np.array([record["recommended"] for record in records], bool)
    return table
