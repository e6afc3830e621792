"""Base clusterers fitted to samples of a Spark table, and the consensus of what they say of all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from consilience._circumstances import Progress, circumstances, seed_of, whole
from consilience._consensus import Clusters, make_members, number_of
from consilience._inputs import table as as_table
from consilience._native import Ensemble, Models
from consilience.spark import _workers
from consilience.spark._consensus import MAX_PROFILES, SparkConsensus, consensus
from consilience.spark._frames import (
    Features,
    carried_columns,
    check_frame,
    check_new,
    check_numbers,
    column,
    names_of,
    numbered,
    shared,
)

Floats = np.ndarray[Any, np.dtype[np.float64]]

#: Bytes of sampled features that are brought to the driver at a time.
_AT_A_TIME = 512 << 20


@dataclass(frozen=True)
class Members:
    """Fitted base clusterers and the table that they labelled.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        The identifiers (or all columns) with a column of integers for every member. It is computed
        when Spark is asked for it.
    names : tuple of str
        The names of the members: the columns of ``frame`` with labels.
    n_rows_ : int
        The number of rows.
    sample_share_ : float
        The share of rows that each member was fitted to.
    """

    frame: DataFrame
    names: tuple[str, ...]
    n_rows_: int
    sample_share_: float
    _models: Models = field(repr=False)
    _features: Features = field(repr=False)

    def label(self, new: Any, *, id: str | Sequence[str] | None = None) -> DataFrame | Ensemble:
        """The labels of new rows: a Spark table for a Spark table, an ``Ensemble`` for an array."""
        if not hasattr(new, "mapInArrow"):
            return self._models.predict(as_table(new), circumstances())
        df = check_frame(new)
        carried = carried_columns(df, id)
        check_new(df, carried, self.names)
        self._features.count(df)
        return labelled(df, carried, self._features, self._models, self.names)


def members(
    df: Any,
    features: str | Sequence[str],
    *,
    id: str | Sequence[str] | None = None,
    n_members: int = 50,
    base: str = "kmeans",
    scheme: str | None = None,
    base_n_clusters: int | tuple[int, int] | None = None,
    n_clusters: Clusters = "auto",
    sample: int = 10**6,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> Members:
    """Fits base clusterers to samples of a Spark table and labels all its rows with them.

    Each member is fitted on the driver to a sample of its own, which makes members differ beyond what
    the scheme does. Which rows a sample has depends on the rows (on ``id`` if given, else on the features)
    and the seed, not on how the table is partitioned.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row per object.
    features : str or list of str
        The columns with the features: numbers, arrays of numbers or vectors (``VectorAssembler``), none
        missing. Bring them to one scale first.
    id : str or list of str, optional
        The columns that the answer carries along; all by default.
    n_members, scheme, base, base_n_clusters
        As in :func:`consilience.generate`.
    n_clusters : int or "auto"
        The number of clusters that is wanted of the consensus later, where the scheme asks for it.
    sample : int, default 1,000,000
        About how many rows each member is fitted to; all rows if the table has no more.
    random_state, n_jobs, progress, memory
        As in :func:`consilience.consensus`, for the driver.

    Returns
    -------
    Members
    """
    df = check_frame(df)
    wanted = Features.of(df, features)
    carried = carried_columns(df, id)
    m = whole(n_members, "n_members", least=1)
    size = whole(sample, "sample", least=1)
    names = [f"m{i:0{len(str(m))}}" for i in range(1, m + 1)]
    check_new(df, carried, names)
    seed = seed_of(random_state)
    n = wanted.count(df)
    if n == 0:
        raise ValueError("features: the table is empty: at least one row is needed")
    recipe: dict[str, Any] = {
        "scheme": scheme,
        "base": base,
        "base_n_clusters": base_n_clusters,
        "n_clusters": number_of(n_clusters),
        "soft": False,
    }
    x_columns = wanted.columns(df)
    key = F.xxhash64(*([column(name) for name in names_of(id, "id")] if id else wanted.keys(df)))
    if n <= size:
        x = _sampled(df, x_columns, key, [], 1.0)[0]
        around = circumstances(seed, n_jobs, progress, memory)
        _, models = make_members(x, n_members=m, circumstances=around, **recipe)
        share = 1.0
    else:
        share = size / n
        seeds = np.random.SeedSequence(seed).generate_state(m, np.uint64) >> np.uint64(1)
        at_a_time = max(1, min(62, _AT_A_TIME // (size * 8 * (len(x_columns) + 2))))
        found: list[Models] = []
        for start in range(0, m, at_a_time):
            some = [int(s) for s in seeds[start : start + at_a_time]]
            for own, x in zip(some, _sampled(df, x_columns, key, some, share), strict=True):
                around = circumstances(own, n_jobs, progress, memory)
                found.append(make_members(x, n_members=1, circumstances=around, **recipe)[1])
        models = found[0]
        for others in found[1:]:
            models = models.joined(others)
    return Members(
        frame=labelled(df, carried, wanted, models, names),
        names=tuple(names),
        n_rows_=n,
        sample_share_=share,
        _models=models,
        _features=wanted,
    )


def cluster(
    df: Any,
    features: str | Sequence[str],
    *,
    id: str | Sequence[str] | None = None,
    weight: str | None = None,
    n_members: int = 50,
    base: str = "kmeans",
    scheme: str | None = None,
    base_n_clusters: int | tuple[int, int] | None = None,
    sample: int = 10**6,
    method: str | Sequence[str] = "auto",
    n_clusters: Clusters = "auto",
    params: Mapping[str, Any] | None = None,
    max_profiles: int = MAX_PROFILES,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> SparkConsensus:
    """Clusters the rows of a Spark table many times and combines the clusterings.

    Members are fitted as by :func:`members`, all rows are labelled in one pass, and the labels are
    combined as by :func:`consensus`, whose arguments these are.

    Returns
    -------
    SparkConsensus
        Its ``predict`` takes new rows with the same features, in Spark or local.
    """
    df = check_frame(df)
    carried = carried_columns(df, id)
    check_new(df, carried, ["cluster", "confidence"])
    seed = seed_of(random_state)
    if weight is not None:
        check_numbers(df, names_of(weight, "weight"), "weight")
    # What the answer carries along, and the weight, which the labelled table must have too.
    through = list(dict.fromkeys([*carried, *([weight] if weight else [])]))
    made = members(
        df,
        features,
        id=id,
        n_members=n_members,
        base=base,
        scheme=scheme,
        base_n_clusters=base_n_clusters,
        n_clusters=n_clusters,
        sample=sample,
        random_state=seed,
        n_jobs=n_jobs,
        progress=progress,
        memory=memory,
    )
    frame = made.frame
    if through != carried:
        frame = labelled(df, through, made._features, made._models, made.names)
    found = consensus(
        frame,
        list(made.names),
        id=carried,
        weight=weight,
        method=method,
        n_clusters=n_clusters,
        params=params,
        max_profiles=max_profiles,
        random_state=seed,
        n_jobs=n_jobs,
        progress=progress,
        memory=memory,
    )
    return replace(found, _models=made._models, _features=made._features)


def labelled(
    df: DataFrame,
    carried: Sequence[str],
    features: Features,
    models: Models,
    names: Sequence[str],
) -> DataFrame:
    """The table with a column of labels for every model."""
    columns = [*(column(name) for name in carried), *features.columns(df)]
    kernel = partial(
        _workers.label_rows,
        carried=list(range(len(carried))),
        features=list(range(len(carried), len(columns))),
        broadcast=shared(df, models),
    )
    kinds: list[T.DataType] = [df.schema[name].dataType for name in carried]
    kinds += [T.IntegerType()] * len(names)
    schema = T.StructType([T.StructField(f"c{i}", kind) for i, kind in enumerate(kinds)])
    return numbered(df, columns).mapInArrow(kernel, schema).toDF(*carried, *names)


def _sampled(
    df: DataFrame, features: Sequence[Column], key: Column, seeds: Sequence[int], share: float
) -> list[Floats]:
    """The features of the rows that each seed draws, in an order free of partitions.

    Without seeds all rows. A row is drawn if the hash of its key and the seed is small.
    """
    columns = [values.alias(f"c{i}") for i, values in enumerate(features)]
    table = df.select(*columns, key.alias("key"))
    if seeds:
        bound = int(share * 2.0**64) - 2**63
        drawn = [F.xxhash64("key", F.lit(seed)) < F.lit(bound) for seed in seeds]
        mask = sum(
            (F.when(d, F.lit(1 << i)).otherwise(F.lit(0)).cast("bigint") for i, d in enumerate(drawn)),
            start=F.lit(0).cast("bigint"),
        )
        table = table.withColumn("drawn", mask).where(F.col("drawn") != 0)
    rows = table.toArrow()
    x = np.column_stack([rows.column(f"c{i}").to_numpy() for i in range(len(features))])
    order = np.lexsort([*x.T[::-1], rows.column("key").to_numpy()])
    x = np.ascontiguousarray(x[order], dtype=np.float64)
    if not seeds:
        return [x]
    masks = rows.column("drawn").to_numpy()[order]
    return [np.ascontiguousarray(x[(masks >> i) & 1 == 1]) for i in range(len(seeds))]
