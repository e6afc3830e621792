"""The consensus of clusterings that stand in the columns of a Spark table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.storagelevel import StorageLevel

from consilience._circumstances import Progress, circumstances, whole
from consilience._consensus import Clusters, combined
from consilience._inputs import MISSING, Missing, builder
from consilience._inputs import table as as_table
from consilience._inputs import _missing as missing_labels
from consilience._native import Ensemble, Lookup, Models
from consilience._result import ConsensusResult
from consilience._warnings import ConvergenceWarning
from consilience.spark import _workers
from consilience.spark._frames import (
    Features,
    carried_columns,
    check_frame,
    check_labels,
    check_new,
    check_numbers,
    column,
    names_of,
    numbered,
    shared,
)

#: How many distinct label tuples the driver computes with, unless told otherwise.
MAX_PROFILES = 1_000_000

_EXCEPTIONS = {"TypeError": TypeError, "ValueError": ValueError}


@dataclass(frozen=True)
class Fitted:
    """What the clusters of new rows are told by."""

    result: ConsensusResult
    labels: tuple[str, ...]
    missing: Missing
    models: Models | None = None
    features: Features | None = None

    def predict_frame(
        self, new: Any, id: str | Sequence[str] | None, cluster: str = "cluster"
    ) -> DataFrame:
        """The clusters of the rows of a Spark table, in a column called ``cluster``."""
        df = check_frame(new)
        carried = carried_columns(df, id)
        check_new(df, carried, [cluster])
        if self.models is not None and self.features is not None:
            from consilience.spark._cluster import labelled

            self.features.count(df)
            names = _free_names(df, self.labels)
            df = labelled(df, carried, self.features, self.models, names)
        else:
            names = list(self.labels)
            check_labels(df, names)
        places, columns = _positions([*carried, *names])
        kernel = partial(
            _workers.predict,
            carried=places[: len(carried)],
            labels=places[len(carried) :],
            names=names,
            missing=self.missing,
            broadcast=shared(df, self.result),
        )
        schema = _schema(df, carried, [("cluster", T.IntegerType())])
        given = numbered(df, [column(name) for name in columns])
        return given.mapInArrow(kernel, schema).toDF(*carried, cluster)


@dataclass(frozen=True)
class SparkConsensus:
    """A consensus of the rows of a Spark table; unpacks into ``frame, result``.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        The identifiers (or all columns) with ``cluster`` (int, from 0 by falling weight, -1 for a row
        without any label) and ``confidence`` (double). It is computed when Spark is asked for it.
    result : ConsensusResult
        The consensus of the distinct label tuples, on the driver: one object a tuple, weighted.
    n_rows_ : int
        The number of rows.
    n_profiles_ : int
        The number of distinct label tuples among them.
    n_merged_rows_ : int
        How many rows have a tuple that was merged into a more frequent one, because there were more
        than ``max_profiles``; 0 if the answer is exact.
    """

    frame: DataFrame
    result: ConsensusResult
    n_rows_: int
    n_profiles_: int
    n_merged_rows_: int
    labels: tuple[str, ...]
    _missing: Missing = field(repr=False)
    _models: Models | None = field(default=None, repr=False)
    _features: Features | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.frame, self.result))

    @property
    def merged_share_(self) -> float:
        """The share of rows whose tuple was merged into a more frequent one."""
        return self.n_merged_rows_ / self.n_rows_

    def predict(self, new: Any, *, id: str | Sequence[str] | None = None) -> Any:
        """The clusters of new rows.

        Parameters
        ----------
        new : pyspark.sql.DataFrame, or what the local functions take
            New rows: with the features if this comes from :func:`cluster`, else with the labels. A
            Spark table needs columns of the same names.
        id : str or list of str, optional
            The columns of a Spark table that are carried along; all by default.

        Returns
        -------
        pyspark.sql.DataFrame or (m,) array of int64
            A Spark table with a column ``cluster`` for a Spark table, otherwise an array. -1 where no
            label is known.
        """
        if hasattr(new, "mapInArrow"):
            return self._fitted.predict_frame(new, id)
        if self._models is None:
            return self.result.predict(new)
        return self.result.predict(self._models.predict(as_table(new), circumstances()))

    @property
    def _fitted(self) -> Fitted:
        return Fitted(self.result, self.labels, self._missing, self._models, self._features)


def consensus(
    df: Any,
    labels: Sequence[str],
    *,
    id: str | Sequence[str] | None = None,
    weight: str | None = None,
    method: str | Sequence[str] = "auto",
    n_clusters: Clusters = "auto",
    params: Mapping[str, Any] | None = None,
    clustering_weight: Any = None,
    missing: Any = MISSING,
    max_profiles: int = MAX_PROFILES,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> SparkConsensus:
    """Combines clusterings that stand in the columns of a Spark table.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row per object.
    labels : list of str
        The columns with the clusterings: texts, integers, whole numbers stored as floats, or booleans.
    id : str or list of str, optional
        The columns that the answer carries along; all by default. Fewer are faster.
    weight : str, optional
        A column of object weights, numbers >= 0. They are added up exactly and rounded once, so the sum
        does not depend on how the table is partitioned. A row of weight 0 is left out of the consensus
        and gets the cluster that ``predict`` gives it.
    max_profiles : int
        How many distinct label tuples the driver computes with. If there are more, the heaviest are
        kept and each of the others is counted with the closest of them; its rows get the cluster that
        ``predict`` gives. The share of rows that this touches is in the answer and in a warning.
    method, n_clusters, params, clustering_weight, missing, random_state, n_jobs, progress, memory
        As in :func:`consilience.consensus`; threads and memory are the driver's.

    Returns
    -------
    SparkConsensus
        ``frame, result = consensus(...)``.
    """
    df = check_frame(df)
    names = names_of(labels, "labels")
    check_labels(df, names)
    carried = carried_columns(df, id)
    check_new(df, carried, ["cluster", "confidence"])
    if weight is not None:
        if not isinstance(weight, str):
            raise TypeError(f"weight must be the name of a column, got {type(weight).__name__}")
        check_numbers(df, [weight], "weight")
    limit = whole(max_profiles, "max_profiles", least=1)
    gone = missing_labels(missing)
    around = circumstances(random_state, n_jobs, progress, memory)

    counted, left_out = df, False
    if weight is not None:
        left_out = bool(df.where(column(weight) == 0).select(F.lit(1)).head(1))
        # What is missing there is told of, not left out.
        counted = df.where((column(weight) != 0) | column(weight).isNull()) if left_out else df
    grouped = _grouped(counted, names, weight, gone).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        tuples = _collected(grouped, names, limit, around["memory"], -1 in gone["integers"])
    finally:
        grouped.unpersist()
    result, messages, settled = combined(
        tuples.ensemble,
        method=method,
        n_clusters=n_clusters,
        params=params,
        sample_weight=tuples.weights,
        clustering_weight=clustering_weight,
        circumstances=around,
    )
    for message in messages:
        warnings.warn(message, UserWarning if settled else ConvergenceWarning, stacklevel=2)
    if tuples.merged:
        warnings.warn(
            f"{tuples.n_profiles} distinct label tuples are more than max_profiles={limit}: "
            f"{tuples.merged} of {tuples.rows} rows ({tuples.merged / tuples.rows:.2%}) have one of "
            "the others and were counted with the closest tuple that was kept",
            UserWarning,
            stacklevel=2,
        )
    return SparkConsensus(
        frame=_joined(df, names, carried, gone, tuples, result, left_out or tuples.merged > 0),
        result=result,
        n_rows_=tuples.rows,
        n_profiles_=tuples.n_profiles,
        n_merged_rows_=tuples.merged,
        labels=tuple(names),
        _missing=gone,
    )


@dataclass(frozen=True)
class _Tuples:
    """The distinct label tuples on the driver, sorted, with their weights."""

    ensemble: Ensemble
    weights: np.ndarray[Any, np.dtype[np.float64]]
    lookup: Lookup
    rows: int
    n_profiles: int
    merged: int


def _grouped(df: DataFrame, names: list[str], weight: str | None, missing: Missing) -> DataFrame:
    """The distinct tuples of the table as labels (text), count, weight and problem."""
    r = len(names)
    columns = [column(name) for name in names]
    if weight is not None:
        columns.append(column(weight).cast("double"))
    keys = [f"c{i}" for i in range(r)]
    schema = ", ".join(f"{key} string" for key in keys)
    kernel = partial(
        _workers.count_tuples, names=names, weighted=weight is not None, missing=missing
    )
    partials = numbered(df, columns).mapInArrow(
        kernel, f"{schema}, count bigint, terms array<double>, problem string"
    )
    by = partials.groupBy(*keys, "problem")
    if weight is None:
        grouped = by.agg(F.sum("count").alias("count"))
        return grouped.select(*keys, "count", F.col("count").cast("double").alias("weight"), "problem")
    terms = F.flatten(F.collect_list("terms")).alias("terms")
    summed = by.agg(F.sum("count").alias("count"), terms).select(*keys, "count", "terms", "problem")
    return summed.mapInArrow(
        _workers.round_sums, f"{schema}, count bigint, weight double, problem string"
    )


def _collected(
    grouped: DataFrame, names: list[str], limit: int, memory: int, minus_one: bool
) -> _Tuples:
    """The tuples on the driver; the heaviest ``limit`` of them with the others merged into them."""
    r = len(names)
    keys = [f"c{i}" for i in range(r)]
    labelled = F.coalesce(*keys).isNotNull()
    overview = grouped.agg(
        F.min("problem").alias("problem"),
        F.sum("count").alias("rows"),
        F.sum(F.when(labelled, 1).otherwise(0)).alias("profiles"),
        F.sum(F.when(labelled, F.lit(0)).otherwise(F.col("count"))).alias("blank"),
    ).collect()[0]
    if overview["problem"] is not None:
        kind, _, text = overview["problem"].partition(": ")
        raise _EXCEPTIONS.get(kind, ValueError)(text)
    n_profiles = int(overview["profiles"] or 0)
    rows = int(overview["rows"] or 0)
    # Texts and codes of a label, and what else there is of a tuple.
    needed = min(n_profiles, limit) * (24 * r + 64)
    if needed > memory:
        raise MemoryError(
            f"{min(n_profiles, limit)} distinct label tuples of {r} labels would need about "
            f"{needed >> 20} MiB on the driver, but the ceiling is {memory >> 20} MiB; lower "
            "max_profiles, or give the driver more memory"
        )
    heaviest = grouped.where(labelled).drop("problem")
    if n_profiles > limit:
        order = [F.col("weight").desc(), *(F.col(key).asc_nulls_last() for key in keys)]
        heaviest = heaviest.orderBy(*order).limit(limit)
    table = heaviest.toArrow()
    # An order that does not depend on partitions, and that of a table of the labels when sorted.
    table = table.sort_by([(key, "ascending") for key in keys])
    weights = table.column("weight").to_numpy()
    if n_profiles == 0 and overview["blank"]:
        # All rows are without labels: let the library say which member has none.
        table = pa.table({key: pa.nulls(1, pa.string()) for key in keys})
        weights = np.ones(1)
    texts = table.select(keys).rename_columns(names)
    # Labels are texts by now: what means "missing" among them was taken out by the workers, but for
    # the -1 of columns of texts, which is a matter of the whole column.
    ensemble = builder(texts, missing=-1 if minus_one else ()).finish()
    lookup = Lookup(ensemble.with_weights(weights))
    merged = 0
    if n_profiles > limit:
        kept = int(table.column("count").to_numpy().sum())
        merged = rows - int(overview["blank"]) - kept
        weights = _with_rare(grouped, names, texts, lookup)
    return _Tuples(ensemble, weights, lookup, rows, n_profiles, merged)


def _with_rare(
    grouped: DataFrame, names: list[str], texts: pa.Table, lookup: Lookup
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The weights of the kept tuples together with those of the rare ones that are closest to them."""
    keys = [f"c{i}" for i in range(len(names))]
    kernel = partial(
        _workers.closest_profiles,
        names=names,
        broadcast=shared(grouped, lookup),
    )
    found = (
        grouped.where(F.coalesce(*keys).isNotNull())
        .select(*keys, "count", "weight")
        .mapInArrow(kernel, "profile bigint, weight double")
        .groupBy("profile")
        .agg(F.collect_list("weight").alias("terms"))
        .toArrow()
    )
    # Kept tuples were found as themselves, so the lists have their own weights too.
    together = np.zeros(len(lookup))
    sums = _workers.sums_of(found.column("terms").combine_chunks())
    # Tuples none of whose labels any kept one has are closest to nothing, and stay without a cluster.
    profile = found.column("profile").to_numpy()
    placed = profile >= 0
    together[profile[placed]] = sums[placed]
    batch = texts.combine_chunks().to_batches()[0]
    own = lookup.find(batch, {"integers": [], "texts": []})
    # Rows that differ by a -1 that means "missing" share a profile.
    share: np.ndarray[Any, np.dtype[np.float64]] = together[own] / np.bincount(own)[own]
    return share


def _joined(
    df: DataFrame,
    names: list[str],
    carried: list[str],
    missing: Missing,
    tuples: _Tuples,
    result: ConsensusResult,
    predicting: bool,
) -> DataFrame:
    """The table with the cluster and the confidence of every row; rows with a tuple that is not among
    ``tuples`` have those of new ones, if ``predicting``."""
    lookup = tuples.lookup
    profiles = result._map
    known = profiles >= 0
    # One entry more: what rows without any label get, which are found as profile -1.
    clusters = np.full(len(lookup) + 1, -1, dtype=np.int32)
    confidence = np.zeros(len(lookup) + 1)
    clusters[profiles[known]] = result.labels_[known]
    confidence[profiles[known]] = result.confidence_[known]
    places, columns = _positions([*carried, *names])
    state = (lookup, clusters, confidence, result if predicting else None)
    kernel = partial(
        _workers.look_up,
        carried=places[: len(carried)],
        labels=places[len(carried) :],
        names=names,
        missing=missing,
        broadcast=shared(df, state),
    )
    schema = _schema(
        df, carried, [("cluster", T.IntegerType()), ("confidence", T.DoubleType())]
    )
    given = numbered(df, [column(name) for name in columns])
    return given.mapInArrow(kernel, schema).toDF(*carried, "cluster", "confidence")


def _positions(names: Sequence[str]) -> tuple[list[int], list[str]]:
    """Where each name stands in the list of different names, and that list."""
    columns = list(dict.fromkeys(names))
    where = {name: i for i, name in enumerate(columns)}
    return [where[name] for name in names], columns


def _schema(
    df: DataFrame, carried: Sequence[str], new: Sequence[tuple[str, T.DataType]]
) -> T.StructType:
    """The types of the carried columns and of the new ones, under the names c0, c1, ..."""
    kinds = [df.schema[name].dataType for name in carried] + [kind for _, kind in new]
    return T.StructType([T.StructField(f"c{i}", kind) for i, kind in enumerate(kinds)])


def _free_names(df: DataFrame, names: Sequence[str]) -> list[str]:
    """Names for columns that stay among ourselves, none of them a column of the table."""
    free = []
    for name in names:
        while name in df.columns:
            name = f"_{name}"
        free.append(name)
    return free
