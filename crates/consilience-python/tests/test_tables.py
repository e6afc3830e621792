"""Tables of features however they are stored: sparse matrices, single precision."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN, KMeans, MiniBatchKMeans
from sklearn.utils import get_tags

import consilience as co

SCHEMES = [
    "random_init",
    "random_k",
    "random_subspace",
    "bootstrap",
    "subsample",
    "random_projection",
]


def words(n: int = 240, d: int = 40) -> np.ndarray:
    """Counts of words in documents of three kinds, one in five not 0."""
    rng = np.random.default_rng(0)
    usual = np.arange(d)[None, :] % 3 == np.arange(n)[:, None] % 3
    return (rng.random((n, d)) < 0.2) * rng.integers(1, 4, (n, d)) * np.where(usual, 3.0, 1.0)


def same(a: co.Ensemble, b: co.Ensemble) -> bool:
    return len(a) == len(b) and all((a.member(i) == b.member(i)).all() for i in range(len(a)))


FORMATS = [
    sp.csr_array,
    sp.csr_matrix,
    sp.csc_array,
    sp.csc_matrix,
    sp.coo_array,
    sp.coo_matrix,
    sp.lil_array,
]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_sparse_matrices_give_what_they_give_written_out(kind: type, dtype: type) -> None:
    X = words().astype(dtype)
    given = {"n_members": 6, "base": "kmeans", "random_state": 3}
    assert same(co.generate(kind(X), **given), co.generate(X, **given))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("base", ["kmeans", "minibatch_kmeans"])
def test_every_scheme_takes_sparse_matrices(scheme: str, base: str) -> None:
    X = words()
    made = []
    for table in (sp.csr_array(X), X):
        model = co.ConsensusClustering(3, n_members=5, scheme=scheme, base=base, random_state=1)
        made.append(model.fit(table))
        assert get_tags(model).input_tags.sparse
    assert same(made[0].members_, made[1].members_)
    assert (made[0].labels_ == made[1].labels_).all()
    new = X[::-1] + (X[::-1] > 0)
    copy = pickle.loads(pickle.dumps(made[0]))
    for model in (made[0], copy):
        assert (model.predict(sp.csc_array(new)) == made[1].predict(new)).all()
        assert (model.transform(sp.coo_array(new)) == made[1].transform(new)).all()


def test_soft_members_of_sparse_matrices() -> None:
    X = words()
    given = {"n_members": 3, "base": "kmeans", "soft": True}
    assert same(co.generate(sp.csr_array(X), **given), co.generate(X, **given))


def test_entries_out_of_order_and_in_parts() -> None:
    X = np.array([[1.0, 0, 5], [0, 0, 0], [0, 3, 0], [0, 4, 1]])
    indptr, indices = [0, 4, 4, 5, 7], [2, 0, 2, 1, 1, 2, 1]
    values = [2.0, 1, 3, 0, 3, 1, 4]
    for number in (np.int32, np.int64):
        rows = sp.csr_array((values, np.array(indices, number), np.array(indptr, number)), (4, 3))
        assert (rows.toarray() == X).all()
        given = {"n_members": 4, "scheme": "random_init", "base_n_clusters": 2}
        assert same(co.generate(rows, **given), co.generate(X, **given))
        assert rows.nnz == 7, "what was given is as it was"


def test_whatever_has_tocsr_is_sparse() -> None:
    X = words()
    rows = sp.csr_array(X)
    parts = {name: getattr(rows, name) for name in ("shape", "indptr", "indices", "data")}
    foreign = SimpleNamespace(shape=rows.shape, tocsr=lambda: SimpleNamespace(**parts))
    given = {"n_members": 3, "base": "kmeans"}
    assert same(co.generate(foreign, **given), co.generate(X, **given))


@pytest.mark.parametrize(
    ("bad", "told"), [(np.nan, "is NaN, a missing number"), (np.inf, "infinity"), (-np.inf, "infinity"), (1e200, "1e150")]
)
@pytest.mark.parametrize("as_table", [sp.csr_array, sp.csc_array, np.asarray])
def test_what_is_not_finite_is_told_by_place(bad: float, told: str, as_table) -> None:
    X = words()
    model = co.ConsensusClustering(3, n_members=3).fit(X)
    X[7, 11] = bad
    for call in (co.generate, co.ConsensusClustering().fit, model.predict):
        with pytest.raises(ValueError, match=f"row 7, column `11`.*{told}"):
            call(as_table(X))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (sp.coo_array(np.ones(4)), ValueError, "two dimensions.*got 1"),
        (sp.csr_array((0, 4)), ValueError, "X is empty: 0 objects of 4 features"),
        (sp.csr_array((4, 0)), ValueError, "X is empty: 4 objects of 0 features"),
        (sp.csr_array(words().astype(complex)), TypeError, "table of numbers, got complex128"),
    ],
)
def test_sparse_matrices_that_are_refused(X: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        co.generate(X)


def test_damaged_matrices_are_refused() -> None:
    def matrix(**parts: object) -> SimpleNamespace:
        rows = {"shape": (2, 3), "indptr": [0, 1, 2], "indices": [0, 2], "data": [1.0, 2.0]} | parts
        arrays = {name: np.array(value) for name, value in rows.items() if name != "shape"}
        return SimpleNamespace(
            shape=rows["shape"], tocsr=lambda: SimpleNamespace(shape=rows["shape"], **arrays)
        )

    for parts, message in (
        ({"indices": [0, 3]}, "row 1, column `3`: there are 3 columns"),
        ({"indices": [0, -1]}, "row 1"),
        ({"indptr": [0, 2, 1]}, "indptr"),
        ({"indptr": [0, 1, 3]}, "indptr"),
        ({"indptr": [0, 2]}, "indptr"),
        ({"indices": [0]}, "differ in length"),
    ):
        with pytest.raises(ValueError, match=message):
            co.generate(matrix(**parts))


@pytest.mark.parametrize("base", ["fuzzy_kmeans", "macqueen", "u_spec"])
def test_those_that_cannot_name_those_that_can(base: str) -> None:
    X = sp.csr_array(words())
    model = co.ConsensusClustering(base=base)
    assert not get_tags(model).input_tags.sparse
    for call in (lambda: model.fit(X), lambda: co.generate(X, base=base)):
        with pytest.raises(ValueError, match="kmeans or minibatch-kmeans.*random-projection"):
            call()
    projected = co.ConsensusClustering(3, base=base, scheme="random_projection", n_members=4)
    assert get_tags(projected).input_tags.sparse
    assert len(projected.fit(X).labels_) == 240


def test_pages_need_all_numbers() -> None:
    result = co.consensus(co.generate(words(), n_members=3, base="kmeans"), n_clusters=3)
    with pytest.raises(TypeError, match="X.toarray"):
        result.report("never.html", X=sp.csr_array(words()))


def test_scikit_learn_clusterers_get_sparse_matrices() -> None:
    X = sp.csc_array(words())
    base = [KMeans(3, n_init=1), MiniBatchKMeans(3, n_init=1)]
    model = co.ConsensusClustering(3, base=base, random_state=0)
    assert get_tags(model).input_tags.sparse
    assert (model.fit(X).predict(X) == model.labels_).all()
    varied = co.ConsensusClustering(3, base=KMeans(n_init=1), n_members=3, random_state=0).fit(X)
    assert len(varied.members_) == 3
    assert get_tags(DBSCAN()).input_tags.sparse == get_tags(
        co.ConsensusClustering(base=DBSCAN())
    ).input_tags.sparse


@pytest.mark.parametrize("base", ["kmeans", "fuzzy_kmeans", "macqueen", "minibatch_kmeans", "u_spec"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_single_precision_gives_what_double_gives(scheme: str, base: str) -> None:
    X = co.load_iris().data.astype(np.float32)
    made = []
    for table in (X, X.astype(np.float64)):
        model = co.ConsensusClustering(3, n_members=5, scheme=scheme, base=base, random_state=1)
        made.append(model.fit(table))
    assert same(made[0].members_, made[1].members_)
    assert (made[0].labels_ == made[1].labels_).all()
    new = X + np.float32(0.1)
    assert (made[0].transform(new) == made[1].transform(new.astype(np.float64))).all()


@pytest.mark.parametrize(
    "as_table",
    [
        np.asfortranarray,
        lambda X: X[::-1][::-1],
        lambda X: X.astype(">f4"),
        lambda X: X.astype(np.float16).astype(np.float32),
        pd.DataFrame,
    ],
)
def test_single_precision_in_any_layout(as_table) -> None:
    X = np.float32(np.float16(co.load_iris().data))
    given = {"n_members": 4, "random_state": 2}  # a committee
    assert same(co.generate(as_table(X), **given), co.generate(X.astype(np.float64), **given))
    assert same(co.generate(np.float16(X), **given), co.generate(X, **given))
