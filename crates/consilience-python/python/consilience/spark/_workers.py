"""What runs inside Spark's workers: batches of Arrow in, batches of Arrow out.

A worker never raises for bad data. Spark would try the task again several times and then show a page of
traces; so what is wrong travels as a row of its own, and the driver says it.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consilience._circumstances import circumstances
from consilience._native import Builder, TupleCounter, exact_sums
from consilience._result import placed

Batches = Iterator[pa.RecordBatch]

#: Tuples that a worker keeps before it hands them on: some 10 MB with 20 members.
KEPT = 1 << 17


#: What came in files; a worker process does many tasks.
_LOADED: dict[str, Any] = {}
#: How much of it is kept.
_AT_ONCE = 4


@dataclass(frozen=True)
class Shipped:
    """A value that went to the workers in a file."""

    name: str

    @property
    def value(self) -> Any:
        if self.name not in _LOADED:
            from pyspark import SparkFiles

            if len(_LOADED) >= _AT_ONCE:
                _LOADED.clear()
            _LOADED[self.name] = pickle.loads(Path(SparkFiles.get(self.name)).read_bytes())
        return _LOADED[self.name]


def count_tuples(
    batches: Batches, *, names: Sequence[str], weighted: bool, missing: Any
) -> Batches:
    """The distinct label tuples of a partition with counts and exact sums of weights.

    The columns are the labels, then the weight if there is one.
    """
    r = len(names)
    counter = TupleCounter(list(names), weighted, missing)
    try:
        for batch in batches:
            weights = None
            if weighted:
                weights = batch.column(r).to_numpy(zero_copy_only=False).astype(np.float64)
            counter.update(batch.select(list(range(r))), weights)
            if len(counter) >= KEPT:
                yield _partial(counter, r)
        yield _partial(counter, r)
    except (TypeError, ValueError) as error:
        yield _problem(r, error)


def _partial(counter: TupleCounter, r: int) -> pa.RecordBatch:
    batch = counter.take()
    columns = [*batch.columns, pa.nulls(batch.num_rows, pa.string())]
    return pa.RecordBatch.from_arrays(columns, names=_partial_names(r))


def _problem(r: int, error: Exception) -> pa.RecordBatch:
    # The number of a row within a batch means nothing to the user.
    text = re.sub(r", row \d+", "", str(error))
    columns = [pa.array([None], pa.string())] * r
    columns += [pa.array([0], pa.int64()), pa.array([[]], pa.list_(pa.float64()))]
    columns += [pa.array([f"{type(error).__name__}: {text}"])]
    return pa.RecordBatch.from_arrays(columns, names=_partial_names(r))


def _partial_names(r: int) -> list[str]:
    return [*(f"c{i}" for i in range(r)), "count", "terms", "problem"]


def round_sums(batches: Batches) -> Batches:
    """Puts the exact sum of a list of terms, rounded once, in place of the list."""
    for batch in batches:
        at = batch.schema.get_field_index("terms")
        columns = batch.columns
        columns[at] = pa.array(sums_of(columns[at]))
        names = ["weight" if name == "terms" else name for name in batch.schema.names]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def sums_of(lists: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The exact sums of lists of numbers, each rounded once."""
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    return exact_sums(values, np.cumsum(lengths))


def closest_profiles(batches: Batches, *, names: Sequence[str], broadcast: Any) -> Batches:
    """For tuples (labels, count, weight) the kept tuple that each is or joins, and the weight."""
    r = len(names)
    lookup = broadcast.value
    for batch in batches:
        found = lookup.find(batch.select(list(range(r))), {"integers": [], "texts": []})
        columns = [pa.array(found), batch.column(r + 1)]
        yield pa.RecordBatch.from_arrays(columns, names=["profile", "weight"])


def _members(batch: pa.RecordBatch, names: Sequence[str], missing: Any) -> Builder:
    """The labels of a batch; whoever asks about them takes them away."""
    members = Builder(missing)
    members.add_batch(list(names), batch)
    return members


def look_up(
    batches: Batches,
    *,
    carried: Sequence[int],
    labels: Sequence[int],
    names: Sequence[str],
    missing: Any,
    broadcast: Any,
) -> Batches:
    """The cluster and confidence of every row, beside the columns that are carried along.

    Rows whose tuple was not kept, or has no weight, are what ``predict`` makes of new rows.
    """
    lookup, clusters, confidence, result = broadcast.value
    for batch in batches:
        given = batch.select(list(labels))
        found = lookup.find(given, missing, False)
        # The last entry is that of rows without any label.
        cluster, sure = clusters[found], confidence[found]
        rare = np.flatnonzero(found < 0)
        if result is not None and len(rare):
            rows = given.take(pa.array(rare))
            new = _members(rows, names, missing)
            cluster[rare], sure[rare], *_ = placed(result._answer, new, circumstances(0, 1))
        columns = [batch.column(i) for i in carried]
        columns += [pa.array(cluster), pa.array(sure)]
        names_out = [f"c{i}" for i in range(len(columns))]
        yield pa.RecordBatch.from_arrays(columns, names=names_out)


def predict(
    batches: Batches,
    *,
    carried: Sequence[int],
    labels: Sequence[int],
    names: Sequence[str],
    missing: Any,
    broadcast: Any,
) -> Batches:
    """The clusters of new rows, as the local ``predict`` gives them."""
    result = broadcast.value
    for batch in batches:
        new = _members(batch.select(list(labels)), names, missing)
        columns = [batch.column(i) for i in carried]
        columns.append(pa.array(result.predict(new, n_jobs=1).astype(np.int32)))
        names_out = [f"c{i}" for i in range(len(columns))]
        yield pa.RecordBatch.from_arrays(columns, names=names_out)


def label_rows(
    batches: Batches, *, carried: Sequence[int], features: Sequence[int], broadcast: Any
) -> Batches:
    """The labels of every row by all members, beside the columns that are carried along."""
    models = broadcast.value
    alone = circumstances(0, 1)
    for batch in batches:
        # Arrow's own copies to one row after the other would go through a Python object a value.
        x = np.column_stack(
            [batch.column(i).to_numpy(zero_copy_only=False) for i in features]
        ).astype(np.float64, copy=False)
        columns = [batch.column(i) for i in carried]
        columns += [pa.array(labels) for labels in models.labels(np.ascontiguousarray(x), alone)]
        names = [f"c{i}" for i in range(len(columns))]
        yield pa.RecordBatch.from_arrays(columns, names=names)
