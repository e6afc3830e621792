"""Bad input is refused with a message that names the argument and the place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import consilience as co

MIXTURE = GaussianMixture(2, random_state=0).fit(np.arange(8.0).reshape(4, 2))
GOOD = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 2, 0]])


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([[0, 1], [0, 1, 2]], ValueError, "member `1` has 3 entries, but member `0` has 2"),
        (np.empty((0, 3), dtype=int), ValueError, "at least one object"),
        (np.empty((3, 0), dtype=int), ValueError, "at least one clustering"),
        ([], ValueError, "at least one clustering"),
        (np.full((4, 2), -1), ValueError, "member `0` labels no object"),
        (np.zeros(4, dtype=int), ValueError, "two dimensions"),
        (np.zeros((2, 2, 2), dtype=int), ValueError, "two dimensions"),
        (np.array([[0.0], [np.inf]]), ValueError, "member `0`, row 1.*inf"),
        (np.array([[0.0], [0.5]]), ValueError, "member `0`, row 1.*whole number.*0.5"),
        (np.array([["a"], [1]], dtype=object), TypeError, "member `0`: row 0 is text.*row 1"),
        (np.array([[1], [object()]], dtype=object), TypeError, "member `0`, row 1.*object"),
        (np.array([[1j], [2]]), TypeError, "complex"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), TypeError, "datetime"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), TypeError, "when"),
        (pl.DataFrame({"a": [[1, 2], [3]]}), TypeError, "column `a`"),
        ([0, 1, 1], TypeError, "a single clustering is written"),
        ("abc", TypeError, "labels"),
        (None, TypeError, "labels"),
        (5, TypeError, "labels"),
        ([np.array([[0.5, 0.4]])], ValueError, "sum to 1"),
        ([np.array([[1.5, -0.5]])], ValueError, "membership must be"),
        ([np.array([[np.nan, 1.0]])], ValueError, "membership must be"),
        ([KMeans(3), KMeans(4)], TypeError, r"member `0` is a KMeans that is not fitted.*clusterer.fit_predict\(X\)"),
        ([KMeans], TypeError, r"the class KMeans: give labels, KMeans\(\).fit_predict\(X\)"),
        ([MIXTURE], TypeError, r"GaussianMixture, which keeps no labels: give mixture.predict\(X\).*predict_proba\(X\)"),
        ({"a": make_pipeline(MIXTURE)}, TypeError, "member `a` is a Pipeline, which keeps no labels"),
        (KMeans(2), TypeError, "labels is a KMeans that is not fitted"),
    ],
)
def test_labels(labels: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        co.consensus(labels)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_clusters": 9}, ValueError, "n_clusters: k = 9"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1"),
        ({"n_clusters": -1}, ValueError, "n_clusters"),
        ({"n_clusters": 2.5}, TypeError, "n_clusters"),
        ({"n_clusters": True}, TypeError, "n_clusters must be an integer, got True"),
        ({"n_clusters": "two"}, ValueError, "n_clusters"),
        ({"n_clusters": (2, 3, 4)}, ValueError, "n_clusters must be"),
        ({"n_clusters": (3, 2)}, ValueError, r"n_clusters must be a pair \(least, most\), got \(3, 2\)"),
        ({"n_clusters": range(2, 9, 2)}, ValueError, "one after the other"),
        ({"n_clusters": range(0)}, ValueError, "one after the other"),
        ({"n_clusters": (0, 3)}, ValueError, "n_clusters must be at least 1"),
        ({"n_clusters": (2, 3), "method": "voting"}, ValueError, "n_clusters"),
        ({"method": []}, ValueError, "method must hold at least one name"),
        ({"method": ["scec", 3]}, TypeError, "method"),
        ({"method": ["scec", "qmi"], "params": {"alpha": 1}}, ValueError, "params goes with one method"),
        ({"init": [0, 1, 2, 3], "method": "scec", "n_clusters": 2}, ValueError, "the start has 3 clusters, but k = 2"),
        ({"method": "kmeans"}, ValueError, "there is no method `kmeans`"),
        ({"method": 3}, TypeError, "method"),
        ({"params": {"alpha": 1}}, ValueError, "no parameter `alpha`"),
        ({"params": {"threshold": 7}}, ValueError, "threshold"),
        ({"params": [1]}, TypeError, "params"),
        ({"sample_weight": [1, 1, 1]}, ValueError, "sample_weight has 3 entries"),
        ({"sample_weight": [1, 1, -1, 1]}, ValueError, "sample_weight, position 2.*-1"),
        ({"sample_weight": [1, np.nan, 1, 1]}, ValueError, "sample_weight, position 1.*nan"),
        ({"sample_weight": ["a", "b", "c", "d"]}, TypeError, "sample_weight"),
        ({"sample_weight": [[1, 1, 1, 1]]}, ValueError, "sample_weight"),
        ({"clustering_weight": [1, 1]}, ValueError, "clustering_weight has 2"),
        ({"clustering_weight": [1, -1, 1]}, ValueError, "clustering_weight, position 1"),
        ({"clustering_weight": [1, 1, 0.5]}, ValueError, "clustering_weight, position 2"),
        ({"clustering_weight": [0, 0, 0]}, ValueError, "at least one clustering"),
        ({"init": [0, 1, 0, 1], "method": "voting"}, ValueError, "start"),
        ({"init": [0, 1], "method": "scec", "n_clusters": 2}, ValueError, "the start has 2"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": "seed"}, TypeError, "random_state"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"missing": object()}, TypeError, "missing"),
        ({"memory": 0}, ValueError, "memory"),
    ],
)
def test_arguments(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        co.consensus(GOOD, **arguments)


def test_memory_is_refused_before_it_is_taken() -> None:
    with pytest.raises(MemoryError, match="`rce`.*these would fit"):
        co.consensus(np.arange(400).reshape(100, 4) % 97, method="rce", n_clusters=2, memory=50_000)


def test_one_row_is_one_cluster() -> None:
    assert co.consensus(np.zeros((1, 3), dtype=int)).labels_.tolist() == [0]


@pytest.mark.parametrize(
    ("X", "arguments", "error", "message"),
    [
        ([[1.0], [np.nan]], {}, ValueError, "row 1"),
        ([[1.0], [np.inf]], {}, ValueError, "row 1"),
        ([1.0, 2.0], {}, ValueError, "two dimensions"),
        ([["a"]], {}, ValueError, "column `0` holds text or dates, such as 'a'"),
        (np.array([[{}]]), {}, TypeError, "table of numbers"),
        (np.empty((0, 2)), {}, ValueError, "empty"),
        (np.empty((3, 0)), {}, ValueError, "empty: 3 objects of 0 features"),
        (np.eye(5), {"scheme": "other"}, ValueError, "there is no scheme `other`"),
        (np.eye(5), {"base": "other"}, ValueError, "there is no base clusterer `other`"),
        (np.eye(5), {"base": 3}, TypeError, "base must be a name, got int$"),
        (np.eye(5), {"base": KMeans(3)}, TypeError, r"got KMeans; ConsensusClustering\(base=...\) takes clusterers"),
        (np.eye(5), {"n_members": 0}, ValueError, "n_members"),
        (np.eye(5), {"base_n_clusters": (5, 2)}, ValueError, r"base_n_clusters.*\(least, most\), got \(5, 2\)"),
        (
            np.eye(5),
            {"scheme": "random_k", "base_n_clusters": 3},
            ValueError,
            r'base_n_clusters must be a pair \(least, most\) for scheme "random_k", got 3',
        ),
        (np.eye(5), {"base_n_clusters": (1, 2, 3)}, ValueError, "pair"),
        (np.eye(5), {"scheme": "random_init", "base_n_clusters": 9}, ValueError, "base_n_clusters: .*9"),
    ],
)
def test_features(X: object, arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        co.generate(X, **arguments)


def coal() -> pd.DataFrame:
    """Twelve objects of two numbers, with names."""
    numbers = np.random.default_rng(0).normal(size=(12, 2))
    return pd.DataFrame(numbers, columns=["ash", "water"], index=[f"w{i}" for i in range(12)])


FEATURES = pytest.mark.parametrize(
    "call",
    [co.generate, co.ConsensusClustering(2, n_members=4).fit, co.ConsensusClustering(2, base=KMeans()).fit],
    ids=["generate", "fit", "foreign"],
)


@FEATURES
@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_gaps_are_told_by_row_and_name(call, make) -> None:
    for bad, message in ((np.nan, "NaN, a missing number"), (-np.inf, "infinity")):
        table = coal().reset_index(drop=True)
        table.loc[3, "water"] = bad
        with pytest.raises(ValueError, match=f"row 3, column `water` is {message}: .*SimpleImputer"):
            call(make(table))
        table.columns = pd.Index([10, 20])
        with pytest.raises(ValueError, match="row 3, column `20`"):
            call(table)
    table.loc[5] = np.inf
    with pytest.raises(ValueError, match=r"row 3, column `20`.*\(2 more like it\)"):
        call(table)


@FEATURES
def test_numbers_that_pandas_calls_na_are_gaps(call) -> None:
    table = coal().assign(year=pd.array([1, 2, pd.NA] * 4, dtype="Int64"))
    with pytest.raises(ValueError, match="row 2, column `year` is NaN"):
        call(table)


@FEATURES
def test_columns_of_texts_and_dates_are_named(call) -> None:
    table = coal().assign(mine=[f"m{i}" for i in range(12)])
    with pytest.raises(ValueError, match="column `mine` holds text or dates, such as 'm0'.*set_index"):
        call(table)
    with pytest.raises(ValueError, match="column `mine` holds"):
        call(pl.from_pandas(table))
    with pytest.raises(ValueError, match="column `mine` holds"):
        call(table.astype({"mine": "category"}))
    day = pd.Timestamp("2020-01-01")
    for when in (day, day.tz_localize("UTC"), day.date()):
        with pytest.raises(ValueError, match="columns `mine`, `when` hold text or dates"):
            call(table.assign(when=when))
        with pytest.raises(ValueError, match="column `when` holds text or dates, such as '2020-01-01"):
            call(coal().assign(when=when)[["when"]])
    with pytest.raises(ValueError, match="column `2` holds"):
        call(table.to_numpy())
    # Texts that spell numbers are numbers, as to scikit-learn.
    call(coal().astype(str))


def test_a_report_says_where_numbers_are_missing(tmp_path) -> None:
    table = coal()
    result = co.consensus(np.arange(24).reshape(12, 2) % 5)
    table.iloc[7, 0] = np.nan
    with pytest.raises(ValueError, match="row 7, column `ash` is NaN.*SimpleImputer"):
        result.report(tmp_path / "x.html", X=table)
    with pytest.raises(ValueError, match="row 7, column `0` is NaN"):
        result.report(tmp_path / "x.html", X=table.to_numpy())
    with pytest.raises(ValueError, match=r"path ends in '.pdf'.*ends in .html"):
        result.report(tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())
    result.report(tmp_path / "X.HTM")


def test_anndata_is_told_from_tables() -> None:
    with pytest.raises(TypeError, match=r"adata must be an AnnData, got DataFrame: consilience.consensus"):
        co.tl.consensus(coal())


def test_metrics_refuse_what_they_cannot_compare() -> None:
    with pytest.raises(ValueError, match="member `b` has 3 entries"):
        co.metrics.nmi([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="one dimension"):
        co.metrics.ari(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="average"):
        co.metrics.nmi([0, 1], [0, 1], average="harmonic")


ANY_ARRAY = hnp.arrays(
    dtype=st.one_of(hnp.integer_dtypes(), hnp.floating_dtypes(), hnp.boolean_dtypes(),
                    hnp.unicode_string_dtypes(max_len=3), hnp.byte_string_dtypes(max_len=3)),
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6),
)
ANY_CELL = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=2), st.booleans())
ANY_LABELS = st.one_of(
    ANY_ARRAY,
    st.lists(st.one_of(ANY_ARRAY, st.lists(ANY_CELL, max_size=6)), max_size=4),
    st.dictionaries(st.text(max_size=2), st.lists(ANY_CELL, max_size=5), max_size=3),
)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    labels=ANY_LABELS,
    method=st.sampled_from([m["name"] for m in co.methods()] + ["auto"]),
    n_clusters=st.one_of(st.just("auto"), st.integers(-1, 5)),
    weights=st.one_of(
        st.none(),
        st.lists(st.floats(-1, 1e9) | st.sampled_from([np.nan, np.inf]), max_size=6),
    ),
)
@pytest.mark.filterwarnings("ignore")
def test_anything_gives_a_result_or_a_clean_error(labels, method, n_clusters, weights) -> None:
    try:
        result = co.consensus(
            labels, method=method, n_clusters=n_clusters, sample_weight=weights, n_jobs=1
        )
    except (ValueError, TypeError):
        return
    assert result.labels_.min() >= -1
    assert result.labels_.max() < result.n_clusters_
    assert ((result.confidence_ >= 0) & (result.confidence_ <= 1)).all()
