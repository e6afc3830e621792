"""Every kind of label table gives the same result as the plain integer array."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xarray as xr
from sklearn.cluster import KMeans

import consilience as co

N, R = 60, 5
PLAIN = np.random.default_rng(7).integers(0, 4, size=(N, R))
HOLES = PLAIN.astype(np.int64)
HOLES[::7, 1] = -1
HOLES[3::11, 4] = -1


def with_none(table: np.ndarray) -> np.ndarray:
    objects = table.astype(object)
    objects[table == -1] = None
    return objects


def text(table: np.ndarray) -> np.ndarray:
    objects = with_none(table)
    return np.vectorize(lambda x: x if x is None else f"c{x}", otypes=[object])(objects)


def with_nan(table: np.ndarray) -> np.ndarray:
    return np.where(table == -1, np.nan, table)


def answer(labels: object, **more: object) -> list[int]:
    return co.consensus(labels, method="scec", n_clusters=3, **more).labels_.tolist()


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS + [">i4", "<u2", ">u8", np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_widths_and_orders(dtype: object, order: str) -> None:
    assert answer(np.asarray(PLAIN, dtype=dtype, order=order)) == answer(PLAIN)


def test_views(tmp_path) -> None:
    wide = np.zeros((2 * N, 3 * R), dtype=np.int16)
    wide[::2, ::3] = PLAIN
    assert answer(wide[::2, ::3]) == answer(PLAIN)
    mapped = np.memmap(tmp_path / "labels", dtype=np.uint8, mode="w+", shape=PLAIN.shape)
    mapped[:] = PLAIN
    mapped.flush()
    read_only = np.memmap(tmp_path / "labels", dtype=np.uint8, mode="r", shape=PLAIN.shape)
    assert answer(read_only) == answer(PLAIN)


@pytest.mark.parametrize("table", [PLAIN, HOLES], ids=["complete", "missing"])
@pytest.mark.parametrize(
    "make",
    [
        lambda t: [list(column) for column in with_none(t).T],
        lambda t: list(with_nan(t).T),
        lambda t: {f"m{j}": column for j, column in enumerate(t.T)},
        with_nan,
        with_none,
        text,
        lambda t: np.where(t == -1, "", text(t)).astype(str),
        lambda t: np.where(t == -1, "", text(t)).astype(str).astype("S"),
        lambda t: [list(column) for column in text(t).T],
        lambda t: np.ma.masked_equal(t, -1),
        lambda t: pd.DataFrame(t),
        lambda t: pd.DataFrame(with_nan(t)),
        lambda t: pd.DataFrame(text(t)),
        lambda t: pd.DataFrame(text(t)).astype("category"),
        lambda t: pd.DataFrame(text(t)).astype("string"),
        lambda t: pd.DataFrame(with_none(t)).astype("Int64"),
        lambda t: pd.DataFrame(with_none(t)).astype("Int16").astype("category"),
        lambda t: pd.DataFrame(text(t)).replace({None: pd.NA}),
        lambda t: pl.DataFrame(t),
        lambda t: pl.DataFrame(with_none(t).tolist(), orient="row"),
        lambda t: pl.DataFrame(text(t).tolist(), orient="row"),
        lambda t: pl.DataFrame(text(t).tolist(), orient="row").cast(pl.Categorical),
        lambda t: pl.DataFrame(with_none(t).tolist(), orient="row").cast(pl.Float32),
        lambda t: pl.concat(
            [pl.DataFrame(with_none(part).tolist(), orient="row") for part in (t[:25], t[25:])],
            rechunk=False,
        ),
        lambda t: pa.table({str(j): pa.array(list(c)) for j, c in enumerate(text(t).T)}),
        lambda t: pa.table({str(j): pa.array(list(c)) for j, c in enumerate(with_none(t).T)}),
        lambda t: pa.table(
            {str(j): pa.array(list(c)).dictionary_encode() for j, c in enumerate(text(t).T)}
        ),
        lambda t: pa.table(
            {
                str(j): pa.chunked_array([list(c[:20]), list(c[20:])])
                for j, c in enumerate(with_none(t).T)
            }
        ),
        lambda t: [pd.Series(column) for column in with_nan(t).T],
        lambda t: [pl.Series(list(column)) for column in text(t).T],
        lambda t: [pd.Categorical(column) for column in text(t).T],
        lambda t: [pd.array(list(column), dtype="Int64") for column in with_none(t).T],
        lambda t: xr.DataArray(t),
        lambda t: [xr.DataArray(column) for column in t.T],
        lambda t: co.ensemble(t),
    ],
)
def test_kinds(make, table: np.ndarray) -> None:
    assert answer(make(table)) == answer(table)


def test_spellings_of_missing() -> None:
    spelt = HOLES.astype(object)
    spelt[HOLES == -1] = "?"
    spelt = np.vectorize(str)(spelt)
    assert answer(spelt, missing="?") == answer(HOLES)
    assert answer(np.where(HOLES == -1, 99, HOLES), missing=99) == answer(HOLES)
    assert answer(np.where(HOLES == -1, 99, HOLES), missing=[99, None]) == answer(HOLES)
    # Texts that are all integers are read as on the command line.
    assert answer(HOLES.astype(str)) == answer(HOLES)
    # Told that nothing is missing, -1 is a label like any other.
    kept = co.ensemble(HOLES, missing=())
    assert "-1" in kept.clusters(1)


def test_soft_and_mixed() -> None:
    soft = np.eye(4)[PLAIN[:, 0]]
    mixed = [soft, *PLAIN.T[1:]]
    assert answer(mixed) == answer(PLAIN)
    gone = soft.copy()
    gone[4] = np.nan
    zeros = soft.copy()
    zeros[4] = 0.0
    assert answer([gone, *PLAIN.T[1:]]) == answer([zeros, *PLAIN.T[1:]])
    with pytest.warns(UserWarning, match="takes hard labels"):
        co.consensus(mixed, method="voting")


def test_clusters_that_are_never_the_largest_go_when_members_are_hardened() -> None:
    soft = [np.array([[0.8, 0.2], [0.7, 0.3]]), [0, 1]]
    with pytest.warns(UserWarning, match="takes hard labels"):
        result = co.consensus(soft, method="voting")
    assert result.predict(soft).tolist() == result.labels_.tolist()


def test_a_table_the_other_way_round_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="60 clusterings of 5 objects.*give labels.T"):
        co.consensus(PLAIN.T)
    with pytest.warns(UserWarning, match="one row per object"):
        co.ensemble(pd.DataFrame(PLAIN.T))
    with pytest.warns(UserWarning, match="lists one item per clustering"):
        co.ensemble(PLAIN.tolist())
    with pytest.warns(UserWarning, match="60 clusterings of 5 objects"):
        co.LabelConsensus(n_clusters=2).fit(PLAIN.T)


def test_identifiers_among_clusterings_are_warned_of() -> None:
    frame = pd.DataFrame(PLAIN, columns=list("abcde")).assign(cell=range(N))
    with pytest.warns(UserWarning, match="`cell` puts every object in a cluster of its own"):
        co.consensus(frame, n_clusters=3)
    with pytest.warns(UserWarning, match="`cell` puts every object in a cluster of its own"):
        co.LabelConsensus(n_clusters=2).fit(frame)


def test_clusterings_of_other_objects_are_warned_of() -> None:
    sites = {"east": [0, 0, 1, None, None, None], "west": [None, None, None, 0, 1, 1]}
    with pytest.warns(UserWarning, match="`west` shares no object with the other clusterings"):
        co.consensus(sites, n_clusters=2)


def test_columns_that_are_no_features_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["width", "depth"])
    X["nr"] = rng.permutation(60) + 100
    X["species"] = np.arange(60) % 3
    X["again"] = X["width"]
    for use in (co.generate, co.ConsensusClustering(2, base="kmeans", random_state=0).fit):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            use(X)
        texts = [str(warning.message) for warning in told]
        assert len(texts) == 3 and all(warning.filename == __file__ for warning in told), texts
        for text, start in zip(texts, ("`nr` counts", "`species` may", "`width`, `again` are"), strict=True):
            assert text.startswith(start), text
    with pytest.warns(UserWarning, match=r"`X\[:, 2\]` counts the rows"):
        co.generate(X.to_numpy()[:, :3])


def test_tables_as_they_should_be_are_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    co.consensus(PLAIN)
    co.consensus([[0, 1, 2], [0, 0, 1]])
    co.consensus(co.generate(co.load_iris().data[:20], n_members=30, base="kmeans"))
    assert not [str(w.message) for w in recwarn]


def test_series_are_combined_by_their_index() -> None:
    names = [f"cell {i}" for i in range(N)]
    columns = [pd.Series(column, index=names) for column in PLAIN.T]
    shuffled = [columns[0], *(c.sample(frac=1, random_state=j) for j, c in enumerate(columns[1:]))]
    assert answer(columns) == answer(shuffled) == answer(PLAIN)
    assert answer(dict(enumerate(shuffled))) == answer(PLAIN)
    found = co.consensus(shuffled, method="scec", n_clusters=3)
    assert found.ids_ == names == co.ensemble(shuffled).ids
    assert found.predict(shuffled).tolist() == answer(PLAIN)
    assert co.metrics.ari(columns[0], columns[0].sample(frac=1, random_state=1)) == 1
    weight = pd.Series(np.arange(N) + 1.0, index=names)
    assert answer(columns, sample_weight=weight[::-1]) == answer(PLAIN, sample_weight=weight.to_numpy())
    start = pd.Series(PLAIN[:, 0] % 3, index=names)
    assert answer(columns, init=start[::-1]) == answer(PLAIN, init=start.to_numpy())


@pytest.mark.parametrize(
    "other",
    [
        pd.Series(PLAIN[:, 1], index=range(100, 100 + N)),
        pd.Series(PLAIN[:, 1], index=np.arange(N)[::-1]),
        pd.Series(PLAIN[:, 1], index=["same"] * N),
        pd.Series(PLAIN[:, 1], index=[f"cell {i}" for i in range(N)]),
    ],
)
def test_series_of_different_objects_are_refused(other: pd.Series) -> None:
    one = pd.Series(PLAIN[:, 0])
    with pytest.raises(ValueError, match="member `1` has another index than member `0`.*pandas.concat"):
        co.consensus([one, other])
    with pytest.raises(ValueError, match="member `b` has another index than member `a`"):
        co.metrics.ari(one, other)
    frame = pd.DataFrame(PLAIN, index=[f"patient {i}" for i in range(N)])
    with pytest.raises(ValueError, match="sample_weight has another index than the labels"):
        co.consensus(frame, sample_weight=other + 1)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Path("labels.csv"), "labels is a path: consilience.read"),
        ({(0, 1), (1, 0)}, "labels is a set, which has no order"),
        ([{0, 1}, [0, 1]], "member `0` is a set"),
        (pl.DataFrame(PLAIN).lazy(), "labels is a LazyFrame: give .collect"),
        (scipy.sparse.csr_matrix(PLAIN), r"labels is sparse: .*\.toarray"),
        ([scipy.sparse.csr_matrix(PLAIN)], "member `0` is sparse"),
    ],
)
def test_what_is_close_to_labels_is_refused_kindly(labels: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        co.consensus(labels)


def test_weight_zero_leaves_an_object_out() -> None:
    counts = np.arange(N) % 3
    kept = counts > 0
    weighted = co.consensus(PLAIN, method="scec", n_clusters=3, sample_weight=counts)
    without = co.consensus(PLAIN[kept], method="scec", n_clusters=3, sample_weight=counts[kept])
    assert weighted.labels_[kept].tolist() == without.labels_.tolist()
    assert weighted.confidence_[kept].tolist() == without.confidence_.tolist()
    assert weighted.labels_[~kept].tolist() == without.predict(PLAIN[~kept]).tolist()
    assert (weighted.confidence_[~kept] > 0).all() and (weighted.confidence_ <= 1).all()
    # One with the labels of another is as sure as that.
    twice = np.vstack([PLAIN[kept], PLAIN[kept][:1]])
    double = co.consensus(twice, method="scec", n_clusters=3, sample_weight=[*counts[kept], 0])
    assert double.confidence_[-1] == double.confidence_[0] == without.confidence_[0]
    assert double.explain(-1).votes == double.explain(0).votes
    assert (weighted.anmi_, weighted.n_unique_) == (without.anmi_, without.n_unique_)
    assert len(weighted.membership_) == N and np.isnan(weighted.coassociation([0])).all()
    with pytest.raises(ValueError, match="object 0 was left out"):
        weighted.explain(0)
    assert weighted.verdict_ and weighted.explain(1).label == weighted.labels_[1]
    # A clustering that labels none of those left out is asked about them as well.
    alone = np.where(kept[:, None], PLAIN, -1)
    alone[:, 1:] = PLAIN[:, 1:]
    found = co.consensus(alone, n_clusters=3, sample_weight=counts, clustering_weight=[2, 1, 1, 1, 0])
    assert (found.labels_ >= 0).all()
    start = PLAIN[:, 0] % 3
    started = co.consensus(PLAIN, method="scec", n_clusters=3, sample_weight=counts, init=start)
    assert len(started.labels_) == N
    with pytest.raises(ValueError, match="all are 0"):
        co.consensus(PLAIN, sample_weight=np.zeros(N))
    with pytest.raises(ValueError, match="no objects of weight 0.*consensus"):
        co.ensemble(PLAIN, sample_weight=counts)


def test_weights_are_copies() -> None:
    counts = np.arange(N) % 3 + 1
    weighted = co.consensus(PLAIN, method="scec", n_clusters=3, sample_weight=counts)
    repeated = co.consensus(np.repeat(PLAIN, counts, axis=0), method="scec", n_clusters=3)
    assert np.repeat(weighted.labels_, counts).tolist() == repeated.labels_.tolist()

    copies = [1, 2, 0, 1, 3]
    weighted = co.consensus(PLAIN, method="scec", n_clusters=3, clustering_weight=copies)
    repeated = co.consensus(np.repeat(PLAIN, copies, axis=1), method="scec", n_clusters=3)
    assert weighted.labels_.tolist() == repeated.labels_.tolist()
    assert weighted.members_ == ["0", "1", "3", "4"]
    assert len(weighted.correspondence_) == 4


def test_names_come_from_columns() -> None:
    frame = pd.DataFrame(PLAIN, columns=list("abcde"))
    assert co.consensus(frame).members_ == list("abcde")
    assert co.consensus(pl.from_pandas(frame)).members_ == list("abcde")


def test_iterators_and_fitted_clusterers_are_clusterings() -> None:
    X = co.load_iris().data
    fitted = [KMeans(k, n_init=1, random_state=0).fit(X) for k in (2, 3, 4)]
    expected = answer([model.labels_ for model in fitted])
    assert answer(fitted) == answer(model.labels_ for model in fitted) == expected
    assert answer(memoryview(np.ascontiguousarray(PLAIN))) == answer(PLAIN)


def test_names_of_methods_may_be_spelled_as_in_papers() -> None:
    assert co.consensus(PLAIN, method="W_MI", n_clusters=3).method_ == "w-mi"


def test_a_number_in_quotes_means_the_number() -> None:
    for missing in ("99", 99.0, ["99", None]):
        assert answer(np.where(HOLES == -1, 99, HOLES), missing=missing) == answer(HOLES)
    # Among texts only the text does.
    words = co.ensemble([["a", "99", "b"]], missing=99)
    assert words.clusters(0) == ["a", "99", "b"]
    with pytest.raises(TypeError, match="missing must hold integers"):
        co.ensemble(HOLES, missing=0.5)


def test_the_text_nan_is_a_label_and_told_of() -> None:
    # What NumPy makes of a NaN among texts.
    labels = np.array(["x", "x", "y", np.nan, "y"])
    with pytest.warns(UserWarning, match="the text 'nan' is a label in `1`"):
        kept = co.ensemble([[0, 0, 1, 1, 1], labels])
    assert kept.clusters(1) == ["x", "y", "nan"]
    assert co.ensemble([[0, 0, 1, 1, 1], labels], missing="nan").clusters(1) == ["x", "y"]


def test_what_is_no_table_of_labels_is_sent_to_the_right_door() -> None:
    with pytest.raises(TypeError, match=r"consilience.read\(path\) reads files"):
        co.consensus("labels.csv")
    with pytest.raises(ValueError, match="features are clustered by ConsensusClustering"):
        co.consensus(np.array([[0.5, 1.5], [2.5, 0.25]]))


def test_weights_of_clusterings_go_by_name() -> None:
    frame = pd.DataFrame(HOLES, columns=list("abcde"))
    by_position = co.consensus(frame, n_clusters=3, clustering_weight=[2, 0, 1, 1, 3])
    named = {"e": 3, "d": 1, "c": 1, "b": 0, "a": 2}
    for weight in (named, pd.Series(named)):
        result = co.consensus(frame, n_clusters=3, clustering_weight=weight)
        assert result.members_ == by_position.members_ == list("acde")
        assert (result.labels_ == by_position.labels_).all()
    with pytest.raises(ValueError, match="there is no clustering `f` and `e` is missing"):
        co.consensus(frame, clustering_weight={**dict.fromkeys("abcd", 1), "f": 1})
    with pytest.raises(ValueError, match="clustering_weight has 2 entries, but there are 5"):
        co.consensus(frame, clustering_weight=[1, 2])


def test_weights_and_starts_of_an_ensemble_go_by_its_names() -> None:
    frame = pd.DataFrame(PLAIN, index=[f"o{i}" for i in range(N)])
    made, weight = co.ensemble(frame), pd.Series(np.arange(N) + 1.0, index=frame.index)
    expected = co.consensus(frame, n_clusters=3, sample_weight=weight.to_numpy()).labels_
    shuffled = weight.sample(frac=1, random_state=0)
    assert (co.consensus(made, n_clusters=3, sample_weight=shuffled).labels_ == expected).all()
