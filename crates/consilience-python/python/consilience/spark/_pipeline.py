"""Consensus clustering as a stage of a ``pyspark.ml`` pipeline."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasPredictionCol, HasSeed, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame

from consilience._archive import read_state, write_state
from consilience._native import Models
from consilience._result import ConsensusResult, load
from consilience.spark._cluster import cluster
from consilience.spark._consensus import Fitted
from consilience.spark._frames import Features, check_frame, column

#: The version of what :class:`ConsensusClusteringModel` is written as.
_FORMAT = 1


def _numbers(value: Any) -> Any:
    """A number or several as plain ones, which can be written as JSON: a range by its ends, a list as a tuple."""
    if isinstance(value, range) and value.step == 1 and value:
        return (value.start, value.stop - 1)
    if isinstance(value, (list, tuple)):
        return tuple(_numbers(entry) for entry in value)
    return value.item() if isinstance(value, np.generic) else value


class ConsensusClustering(
    Estimator[Any],
    HasFeaturesCol,
    HasPredictionCol,
    HasWeightCol,
    HasSeed,
    DefaultParamsReadable[Any],
    DefaultParamsWritable,
):
    """Clusters the rows of a Spark table many times and combines the clusterings.

    An estimator of ``pyspark.ml``: ``fit`` gives a :class:`ConsensusClusteringModel`, whose ``transform``
    adds a column with the cluster of every row. It does what :func:`consilience.spark.cluster` does.

    Parameters
    ----------
    featuresCol : str, default "features"
        The column with the features: vectors, arrays of numbers, or numbers.
    predictionCol : str, default "prediction"
        The column for the clusters.
    weightCol : str, optional
        A column of weights.
    k : int, (int, int), range or "auto", default "auto"
        The number of clusters.
    method, nMembers, base, scheme, baseK, sample, seed
        ``method``, ``n_members``, ``base``, ``scheme``, ``base_n_clusters``, ``sample`` and ``random_state``
        of :func:`consilience.spark.cluster`.

    Examples
    --------
    >>> from pyspark.ml import Pipeline                                       # doctest: +SKIP
    >>> from pyspark.ml.feature import StandardScaler, VectorAssembler        # doctest: +SKIP
    >>> stages = [                                                            # doctest: +SKIP
    ...     VectorAssembler(inputCols=["x", "y"], outputCol="raw"),
    ...     StandardScaler(inputCol="raw", outputCol="features", withMean=True),
    ...     ConsensusClustering(k=8),
    ... ]
    >>> Pipeline(stages=stages).fit(df).transform(df)                         # doctest: +SKIP
    """

    #: What ``keyword_only`` leaves of a call.
    _input_kwargs: dict[str, Any]

    k: Param[Any] = Param(Params._dummy(), "k", "the number of clusters", _numbers)
    method: Param[Any] = Param(Params._dummy(), "method", "the consensus method", TypeConverters.identity)
    nMembers: Param[int] = Param(
        Params._dummy(), "nMembers", "how many clusterings are made", TypeConverters.toInt
    )
    base: Param[str] = Param(Params._dummy(), "base", "the clusterer", TypeConverters.toString)
    scheme: Param[Any] = Param(
        Params._dummy(), "scheme", "what makes clusterings differ", TypeConverters.identity
    )
    baseK: Param[Any] = Param(
        Params._dummy(), "baseK", "the number of clusters of a clustering", _numbers
    )
    sample: Param[int] = Param(
        Params._dummy(), "sample", "how many rows a clusterer is fitted to", TypeConverters.toInt
    )

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        k: Any = "auto",
        method: Any = "auto",
        nMembers: int = 50,
        base: str = "kmeans",
        scheme: str | None = None,
        baseK: Any = None,
        sample: int = 10**6,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._setDefault(
            k="auto", method="auto", nMembers=50, base="kmeans", scheme=None, baseK=None, sample=10**6, seed=0
        )
        # None is what is left out: there is no weight column, and scheme and baseK have it as default.
        self._set(**self._input_kwargs)

    def _fit(self, dataset: DataFrame) -> ConsensusClusteringModel:
        df = check_frame(dataset)
        weight = self.getOrDefault(self.weightCol) if self.isDefined(self.weightCol) else None
        wanted = [self.getFeaturesCol(), *([] if weight is None else [weight])]
        found = cluster(
            df.select(*(column(name) for name in wanted)),
            self.getFeaturesCol(),
            weight=weight,
            n_members=self.getOrDefault(self.nMembers),
            base=self.getOrDefault(self.base),
            scheme=self.getOrDefault(self.scheme),
            base_n_clusters=self.getOrDefault(self.baseK),
            sample=self.getOrDefault(self.sample),
            method=self.getOrDefault(self.method),
            n_clusters=self.getOrDefault(self.k),
            random_state=self.getSeed(),
        )
        model = ConsensusClusteringModel(found._fitted)
        return self._copyValues(model)


class ConsensusClusteringModel(Model, HasFeaturesCol, HasPredictionCol, MLReadable[Any], MLWritable):
    """What :class:`ConsensusClustering` fitted.

    ``save`` writes it to a folder that Spark can reach, alone or within a pipeline, and ``load`` reads it: arrays
    and text in Parquet, nothing that is executed.

    Attributes
    ----------
    result : ConsensusResult
        The consensus of the distinct label tuples, on the driver.
    """

    def __init__(self, fitted: Fitted) -> None:
        super().__init__()
        self._fitted = fitted

    @property
    def result(self) -> ConsensusResult:
        return self._fitted.result

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        return _Reader()

    def _transform(self, dataset: DataFrame) -> DataFrame:
        features = self._fitted.features
        assert features is not None, "it was fitted to features"
        fitted = replace(self._fitted, features=replace(features, names=(self.getFeaturesCol(),)))
        return fitted.predict_frame(dataset, None, self.getPredictionCol())


class _Writer(MLWriter):
    """Writes a model: its parameters as Spark does, the consensus and the clusterers as arrays."""

    def __init__(self, model: ConsensusClusteringModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        fitted, spark = self._model._fitted, self.sparkSession
        features, models = fitted.features, fitted.models
        assert features is not None and models is not None, "it was fitted to features"
        told = {
            "format": _FORMAT,
            "labels": list(fitted.labels),
            "missing": fitted.missing,
            "features": [list(features.names), list(features.widths)],
        }
        DefaultParamsWriter.saveMetadata(self._model, path, spark, {"consilience": told})
        state = BytesIO()
        write_state(state, models.__reduce__()[1])
        with TemporaryDirectory() as folder:
            file = Path(folder, "result.npz")
            fitted.result.save(file)
            row = (bytearray(file.read_bytes()), bytearray(state.getvalue()))
        data = spark.createDataFrame([row], "result binary, models binary")
        data.coalesce(1).write.parquet(posixpath.join(path, "data"))


class _Reader(MLReader[Any]):
    """Reads what :class:`_Writer` wrote."""

    def load(self, path: str) -> ConsensusClusteringModel:
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        told = metadata.get("consilience")
        if told is None:
            raise ValueError(f"{path} holds a {metadata['class']}, and no ConsensusClusteringModel")
        if told["format"] != _FORMAT:
            raise ValueError(f"{path}: its format is {told['format']}, this version reads {_FORMAT}")
        row = spark.read.parquet(posixpath.join(path, "data")).collect()[0]
        with TemporaryDirectory() as folder:
            file = Path(folder, "result.npz")
            file.write_bytes(row["result"])
            result = load(file)
        names, widths = told["features"]
        model = ConsensusClusteringModel(
            Fitted(
                result,
                tuple(told["labels"]),
                told["missing"],
                Models._from_state(*read_state(BytesIO(row["models"]))),
                Features(tuple(names), tuple(widths)),
            )
        )
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
