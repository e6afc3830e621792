"""Clusters followed through time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from consilience import _native
from consilience._circumstances import circumstances
from consilience._inputs import MISSING, builder

#: Columns by name.
Table = dict[str, np.ndarray[Any, Any]]


class AlignResult:
    """Clusters followed through a sequence of clusterings.

    Attributes
    ----------
    times_ : list of str
        What the times are called.
    ids_ : list of int, or of str
        The identifiers of all clusters that ever were, by first appearance.
    objects_ : list or None
        The objects, where they have names; the order of the arrays below.
    labels_ : list of arrays
        For every time the identifier of every object's cluster: int64 with -1 where the object is away,
        or, if identifiers are texts, objects with None there.
    events_ : dict of arrays
        What happened: ``time``, ``event`` ("birth", "split", "return", "merge" or "death"), ``cluster``,
        ``other`` (the cluster that it comes from or went to, or None), ``objects`` and ``share``.
    moves_ : dict of arrays
        Who moved when: ``object``, ``from_time``, ``to_time``, ``from_cluster``, ``to_cluster``.
    clusters_ : dict of arrays
        Every cluster at every time: ``time``, ``cluster``, its ``label`` there, ``objects``, and how many
        of them ``stayed``, ``moved_in`` or are ``new``.
    flows_ : dict of arrays
        How many went where: ``from_time``, ``to_time``, ``from_cluster``, ``to_cluster``, ``objects``.
    share_ : float
        The share that the thresholds are.
    """

    def __init__(
        self,
        times: list[str],
        objects: list[Any] | None,
        found: tuple[list[Any], list[Any], str],
        share: float,
    ) -> None:
        places, moves, told = found
        rest = json.loads(told)
        self.times_, self.objects_, self.share_ = times, objects, share
        numbers = all(map(_is_number, rest["ids"]))
        self.ids_: list[Any] = [int(text) for text in rest["ids"]] if numbers else rest["ids"]
        empty = -1 if numbers else None
        ids = np.array([*self.ids_, empty], dtype=np.int64 if numbers else object)
        self.labels_: list[np.ndarray[Any, Any]] = [ids[place] for place in places]
        named = np.array(times, dtype=object)

        def cluster(text: str | None) -> Any:
            return text if text is None or not numbers else int(text)

        def column(rows: list[dict[str, Any]], key: str) -> np.ndarray[Any, Any]:
            return np.array([row[key] for row in rows], dtype=np.int64)

        def clusters(texts: list[str | None]) -> np.ndarray[Any, Any]:
            values = [cluster(text) for text in texts]
            whole = numbers and None not in values
            return np.array(values, dtype=np.int64 if whole else object)

        def time(rows: list[dict[str, Any]], key: str) -> np.ndarray[Any, Any]:
            values: np.ndarray[Any, Any] = named[column(rows, key)]
            return values

        events, at, flows = rest["events"], rest["clusters"], rest["flows"]
        self.events_: Table = {
            "time": time(events, "time"),
            "event": np.array([row["event"] for row in events], dtype=object),
            "cluster": clusters([row["cluster"] for row in events]),
            "other": clusters([row["other"] for row in events]),
            "objects": column(events, "objects"),
            "share": np.array([row["share"] for row in events], dtype=float),
        }
        self.clusters_: Table = {
            "time": time(at, "time"),
            "cluster": clusters([row["cluster"] for row in at]),
            "label": np.array([row["label"] for row in at], dtype=object),
            **{key: column(at, key) for key in ("objects", "stayed", "moved_in", "new")},
        }
        self.flows_: Table = {
            "from_time": time(flows, "from_time"),
            "to_time": time(flows, "to_time"),
            "from_cluster": ids[column(flows, "from")],
            "to_cluster": ids[column(flows, "to")],
            "objects": column(flows, "objects"),
        }
        who, from_time, to_time, origin, target = moves
        names = None if objects is None else np.array([*objects, None], dtype=object)[:-1]
        self.moves_: Table = {
            "object": who if names is None else names[who],
            "from_time": named[from_time],
            "to_time": named[to_time],
            "from_cluster": ids[origin],
            "to_cluster": ids[target],
        }

    def to_frame(self) -> Any:
        """The identifiers as a pandas table: one row per object, one column per time."""
        import pandas

        columns = dict(zip(self.times_, self.labels_, strict=True))
        frame = pandas.DataFrame(columns, index=self.objects_)
        if self.labels_[0].dtype != object:
            frame = frame.astype("Int64").mask(frame < 0)
        return frame

    def __repr__(self) -> str:
        return (
            f"<AlignResult: {len(self.ids_)} clusters through {len(self.times_)} times, "
            f"{len(self.moves_['object'])} moves, {len(self.events_['event'])} events>"
        )


def align(
    labels: Any,
    *,
    names: Sequence[str] | None = None,
    share: float = 0.5,
    missing: Any = MISSING,
    n_jobs: int | None = None,
) -> AlignResult:
    """Follows clusters through a sequence of clusterings: ids that persist, and who moved when.

    A cluster gets the identifier of the earlier cluster that it continues: clusters are matched so that as
    many objects as possible stay. An object that was away counts where it was seen last. The identifier of
    a cluster that is gone is never used for another one.

    Parameters
    ----------
    labels : sequence, mapping or table
        The clusterings in the order of time. Arrays are of the same objects in the same order. A pandas
        Series, a mapping from objects to labels, or a result with named objects brings the names of its
        objects, which may come and go. A mapping from names of times, or a pandas table with a column
        per time, names the times.
    names : sequence of str, optional
        What the times are called; by default as in ``labels``, or by number.
    share : float in (0, 1], default 0.5
        All thresholds: a cluster continues an earlier one if they have in common this share of the
        objects of either (of those seen in both); a new cluster is split off one that this share of its
        objects comes from, and otherwise born; a cluster that is gone has merged into one that has this
        share of its objects, and is otherwise dead.
    missing : label or sequence of labels, default (-1, None)
        Labels that mean "no label", such as the noise of HDBSCAN: the object is away.
    n_jobs : int, optional
        The number of threads; None means all cores.

    Returns
    -------
    AlignResult

    Examples
    --------
    >>> import consilience as co
    >>> months = {"may": [0, 0, 0, 0, 1, 1], "june": [5, 5, 7, 7, 3, 3]}
    >>> result = co.align(months)
    >>> result.labels_[1]
    array([0, 0, 2, 2, 1, 1])
    >>> result.events_["event"], result.events_["cluster"], result.events_["other"]
    (array(['split'], dtype=object), array([2]), array([0]))
    >>> result.moves_["object"]
    array([2, 3])
    """
    items = _times(labels, names)
    columns, objects = _together(items)
    members = builder(columns, missing).finish()
    if not members.is_hard:
        raise TypeError("labels must be one label per object: memberships cannot be followed")
    found = _native.align(members, float(share), circumstances(n_jobs=n_jobs))
    return AlignResult(list(items), objects, found, float(share))


def _is_number(text: str) -> bool:
    """Whether a label is a whole number as Python writes it, so that no two labels are one number."""
    return text.isascii() and text.isdigit() and len(text) <= 18 and str(int(text)) == text


def _times(labels: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The clusterings of all times, by the names of these."""
    if hasattr(labels, "columns") and hasattr(labels, "index"):
        items = {str(name): labels[name] for name in labels.columns}
    elif isinstance(labels, Mapping):
        items = {str(name): item for name, item in labels.items()}
    elif isinstance(labels, np.ndarray) and labels.ndim == 2:
        items = {str(j): labels[:, j] for j in range(labels.shape[1])}
    else:
        items = {str(i): item for i, item in enumerate(labels)}
    if names is not None:
        if len(names) != len(items):
            raise ValueError(f"names must list {len(items)} times, got {len(names)}")
        items = dict(zip(map(str, names), items.values(), strict=True))
    if len(items) < 2:
        raise ValueError(f"labels must hold the clusterings of two times or more, got {len(items)}")
    return items


def _together(items: dict[str, Any]) -> tuple[dict[str, Any], list[Any] | None]:
    """The labels of all objects at every time, None where one is away, and the objects' names."""
    named = {name: _named(item) for name, item in items.items()}
    if not any(known is not None for known, _ in named.values()):
        return {name: values for name, (_, values) in named.items()}, None
    without = [name for name, (known, _) in named.items() if known is None]
    if without:
        raise ValueError(
            f"labels of {without[0]!r} do not say which objects they are of, those of others do: give a pandas "
            "Series with an index, or a mapping from objects to labels, for every time"
        )
    place: dict[Any, int] = {}
    for name, (known, _) in named.items():
        if len(set(known)) != len(known):
            twice = next(key for i, key in enumerate(known) if key in known[:i])
            raise ValueError(f"labels of {name!r} hold object {twice!r} twice")
        for key in known:
            place.setdefault(key, len(place))
    columns = {}
    for name, (known, values) in named.items():
        column = np.full(len(place), None, dtype=object)
        column[[place[key] for key in known]] = _values(values)
        columns[name] = column
    return columns, list(place)


def _named(item: Any) -> tuple[Any, Any]:
    """The names of the objects of one clustering, if it has any, and their labels."""
    if isinstance(item, Mapping):
        return list(item), list(item.values())
    if hasattr(item, "labels_"):
        return getattr(item, "ids_", None), np.asarray(item.labels_)
    if hasattr(item, "index") and hasattr(item, "reindex"):
        counts = type(item.index).__name__ == "RangeIndex" and (item.index.start, item.index.step) == (0, 1)
        return (None if counts else list(item.index)), item
    return None, item


def _values(values: Any) -> np.ndarray[Any, Any]:
    """Labels as objects of Python, None where one is missing."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    found = np.empty(len(listed), dtype=object)
    found[:] = [None if value is None or value != value else value for value in map(_plain, listed)]
    return found


def _plain(value: Any) -> Any:
    """What pandas calls NA as None."""
    return None if type(value).__name__ in ("NAType", "NaTType") else value
