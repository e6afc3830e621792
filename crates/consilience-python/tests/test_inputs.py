"""Every kind of label table gives the same result as the plain integer array."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
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
