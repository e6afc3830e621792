"""Consensus clustering as a stage of a ``pyspark.ml`` pipeline."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasPredictionCol, HasSeed, HasWeightCol
from pyspark.sql import DataFrame

from consilience._result import ConsensusResult
from consilience.spark._cluster import cluster
from consilience.spark._consensus import SparkConsensus
from consilience.spark._frames import check_frame, column


class ConsensusClustering(Estimator[Any], HasFeaturesCol, HasPredictionCol, HasWeightCol, HasSeed):
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

    k: Param[Any] = Param(Params._dummy(), "k", "the number of clusters", TypeConverters.identity)
    method: Param[Any] = Param(Params._dummy(), "method", "the consensus method", TypeConverters.identity)
    nMembers: Param[int] = Param(
        Params._dummy(), "nMembers", "how many clusterings are made", TypeConverters.toInt
    )
    base: Param[str] = Param(Params._dummy(), "base", "the clusterer", TypeConverters.toString)
    scheme: Param[Any] = Param(
        Params._dummy(), "scheme", "what makes clusterings differ", TypeConverters.identity
    )
    baseK: Param[Any] = Param(
        Params._dummy(), "baseK", "the number of clusters of a clustering", TypeConverters.identity
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
        model = ConsensusClusteringModel(found)
        return self._copyValues(model)


class ConsensusClusteringModel(Model, HasFeaturesCol, HasPredictionCol):
    """What :class:`ConsensusClustering` fitted.

    Attributes
    ----------
    result : ConsensusResult
        The consensus of the distinct label tuples, on the driver.
    """

    def __init__(self, found: SparkConsensus) -> None:
        super().__init__()
        self._found = found

    @property
    def result(self) -> ConsensusResult:
        return self._found.result

    def _transform(self, dataset: DataFrame) -> DataFrame:
        features = self._found._features
        assert features is not None, "it was fitted to features"
        found = replace(self._found, _features=replace(features, names=(self.getFeaturesCol(),)))
        return found._predict_frame(dataset, None, self.getPredictionCol())
