"""The estimators keep scikit-learn's contract."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import consilience as co

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
SPARSE_WEIGHTS = "check_sample_weight_equivalence_on_sparse_data"
UNWEIGHTED = (
    "weights count in the consensus only: the base clusterers, whose random starts depend "
    "on the rows there are, do not take any"
)
# Other checks round X where an estimator says that it takes categories; these four do not.
FEATURES = "it fits fractions, but X is a table of labels: fractions are refused"
EXPECTED: dict[str, dict[str, str]] = {
    "ConsensusClustering": {WEIGHTS: UNWEIGHTED, SPARSE_WEIGHTS: UNWEIGHTED},
    "LabelConsensus": {
        WEIGHTS: FEATURES,
        "check_positive_only_tag_during_fit": FEATURES,
        "check_clustering": FEATURES,
        "check_clustering(readonly_memmap=True)": FEATURES,
    },
}


@parametrize_with_checks(
    [co.ConsensusClustering(n_members=8), co.LabelConsensus()],
    expected_failed_checks=lambda estimator: EXPECTED[type(estimator).__name__],
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def test_new_objects_join_their_cluster() -> None:
    X, y = co.make_blobs()
    model = co.ConsensusClustering(n_clusters=5, random_state=0).fit(X[::2])
    assert co.metrics.ari(model.labels_, y[::2]) > 0.8
    assert co.metrics.ari(model.predict(X[1::2]), y[1::2]) > 0.8
    assert (model.predict(X[::2]) == model.labels_).all()
    support = model.transform(X)
    assert support.shape == (500, model.result_.n_clusters_)
    assert np.allclose(support.sum(axis=1), 1)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "scheme",
    ["random_init", "random_k", "random_subspace", "bootstrap", "subsample", "random_projection"],
)
@pytest.mark.parametrize("base", ["kmeans", "fuzzy_kmeans", "macqueen", "minibatch_kmeans", "u_spec", "gmm", "spectral"])
def test_schemes_and_bases(scheme: str, base: str) -> None:
    X = co.load_iris().data
    model = co.ConsensusClustering(
        n_clusters=3, n_members=6, scheme=scheme, base=base, random_state=1
    ).fit(X)
    assert len(model.members_) == 6
    assert (model.predict(X) == model.labels_).all()
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.transform(X[:9]) == model.transform(X[:9])).all()


def test_a_committee_makes_the_members_and_tells_of_it() -> None:
    X, y = co.make_half_rings()
    model = co.ConsensusClustering(2, random_state=0).fit(X)
    assert co.metrics.ari(model.labels_, y) > 0.95
    kept = [seat["name"] for seat in model.made_ if "left_out" not in seat]
    assert len(model.made_) == 32 and len(kept) < 32 and list(model.members_.names) == kept
    assert {seat["kind"] for seat in model.made_} == {"genie", "spectral", "gmm", "kmeans"}
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X[:50]) == model.labels_[:50]).all()
    named = co.ConsensusClustering(2, kinds=["genie", "gmm"], random_state=0).fit(X)
    assert {seat["kind"] for seat in named.made_} == {"genie", "gmm"}
    assert co.ConsensusClustering(2, base="kmeans", n_members=4).fit(X).made_ == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kinds": ["other"]}, ValueError, "there is no base clusterer `other`"),
        ({"kinds": []}, ValueError, "at least one"),
        ({"kinds": "genie"}, TypeError, "list of names"),
        ({"kinds": ["genie"], "scheme": "random_k"}, ValueError, "committee"),
        ({"base": "kmeans", "scheme": "committee"}, ValueError, "kinds"),
    ],
)
def test_committees_that_cannot_be(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        co.ConsensusClustering(3, **arguments).fit(co.load_iris().data)


def test_scikit_learn_clusterers_as_base() -> None:
    X, y = co.make_blobs()
    model = co.ConsensusClustering(5, base=KMeans(n_init=1), n_members=12, random_state=0).fit(X)
    sizes = {len(model.members_.clusters(i)) for i in range(12)}
    assert len(sizes) > 1, "random_k draws the number of clusters"
    assert (model.predict(X) == model.labels_).all()
    given = [KMeans(5, n_init=1), AgglomerativeClustering(5), DBSCAN(eps=0.5)]
    model = co.ConsensusClustering(5, base=given, random_state=0).fit(X)
    assert len(model.members_) == 3 and co.metrics.ari(model.labels_, y) > 0.5
    with pytest.raises(TypeError, match="AgglomerativeClustering cannot label new objects"):
        model.predict(X)
    with pytest.raises(ValueError, match="scheme"):
        co.ConsensusClustering(base=KMeans(), scheme="bootstrap").fit(X)
    with pytest.raises(ValueError, match="no n_clusters"):
        co.ConsensusClustering(base=DBSCAN(), base_n_clusters=4).fit(X)
    with pytest.raises(ValueError, match="at least one"):
        co.ConsensusClustering(base=[]).fit(X)


class Halves:
    """A clusterer that knows nothing of scikit-learn."""

    def fit(self, X):
        self.labels_ = (X[:, 0] > np.median(X[:, 0])).astype(int)


class Broken(Halves):
    def __init__(self, labels=None):
        self.labels = labels

    def fit_predict(self, X):
        if self.labels is None:
            raise RuntimeError("out of luck")
        return self.labels


def test_whatever_clusters_can_be_a_member() -> None:
    X, y = co.make_blobs()
    mixture = GaussianMixture(5)
    model = co.ConsensusClustering(5, base=mixture, n_members=6, random_state=0).fit(X)
    assert co.metrics.ari(model.labels_, y) > 0.7
    assert not hasattr(mixture, "means_"), "clones are fitted, not what was given"
    again = co.ConsensusClustering(5, base=mixture, n_members=6, random_state=0).fit(X)
    assert (again.labels_ == model.labels_).all()
    assert (model.predict(X) == model.labels_).all()
    assert set(model.members_.sizes) == {5}, "a number that was given is kept"
    one = co.ConsensusClustering(2, base=[Halves()], random_state=0).fit(X)
    assert sorted(np.bincount(one.labels_)) == [250, 250]


def test_a_list_is_a_committee() -> None:
    X, y = co.make_blobs()
    scaled = make_pipeline(StandardScaler(), KMeans(5, n_init=1))
    committee = ["gmm", GaussianMixture(5), scaled, "spectral", KMeans(5, n_init=1)]
    model = co.ConsensusClustering(5, base=committee, random_state=0).fit(X)
    assert [len(model.members_.clusters(i)) for i in range(5)] == [5] * 5
    assert co.metrics.ari(model.labels_, y) > 0.7
    assert (model.predict(X) == model.labels_).all()
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X) == model.labels_).all()
    noise = co.ConsensusClustering(5, base=[DBSCAN(eps=0.5), "kmeans"], random_state=0).fit(X)
    expected = DBSCAN(eps=0.5).fit(X).labels_
    assert (noise.members_.member(0)[expected == -1] == -1).all() and (expected == -1).any()


def test_errors_name_the_clusterer() -> None:
    X, _ = co.make_blobs()
    for base, message in [
        (Broken(), "Broken failed: out of luck"),
        (Broken([1, 2]), r"Broken gave labels of shape \(2,\) for 500 objects"),
        (["kmeans", Broken()], "Broken failed"),
        (["dbscan"], "no base clusterer `dbscan`"),
    ]:
        with pytest.raises(ValueError, match=message):
            co.ConsensusClustering(3, base=base, n_members=None if isinstance(base, list) else 2).fit(X)
    with pytest.raises(TypeError, match=r"give it as KMeans\(\)"):
        co.ConsensusClustering(3, base=KMeans).fit(X)
    with pytest.raises(TypeError, match="object cannot be a base"):
        co.ConsensusClustering(3, base=[object()]).fit(X)


def test_pipelines_and_frames() -> None:
    iris = co.load_iris()
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    model = co.ConsensusClustering(3, n_members=10, random_state=0)
    pipe = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    out = pipe.fit_transform(frame)
    assert isinstance(out, pd.DataFrame) and out.shape[0] == 150
    assert list(out) == [f"consensusclustering{j}" for j in range(out.shape[1])]
    model.fit(frame)
    assert model.feature_names_in_.tolist() == iris.feature_names


@pytest.mark.parametrize("base", ["kmeans", KMeans(n_init=1), None])
def test_one_number_of_clusters_for_all_members(base) -> None:
    X = co.load_iris().data
    model = co.ConsensusClustering(3, n_members=5, base=base, base_n_clusters=10, random_state=0).fit(X)
    assert set(model.members_.sizes) == {10}
    if base == "kmeans":
        assert set(co.generate(X, n_members=5, base=base, base_n_clusters=10).sizes) == {10}


def test_what_is_known_of_the_clusters() -> None:
    X = co.load_iris().data
    for model in (
        co.ConsensusClustering((2, 4), random_state=0).fit(X),
        co.ConsensusClustering(range(2, 5), n_members=6, base="kmeans", method=["scec", "qmi"]).fit(X),
        co.LabelConsensus((2, 4)).fit(np.stack([X[:, 0] > 6, X[:, 2] > 3, X[:, 3] > 1], axis=1)),
    ):
        assert 2 <= model.n_clusters_ == model.result_.n_clusters_ <= 4
        assert (model.confidence_ == model.result_.confidence_).all() and len(model.confidence_) == 150


@pytest.mark.parametrize(
    "base", [None, "kmeans", KMeans(n_init=1), AgglomerativeClustering()], ids=str
)
def test_weight_zero_is_as_if_the_object_were_not_there(base) -> None:
    X = co.load_iris().data
    weight = np.where(np.arange(150) % 4 == 0, 0, np.arange(150) % 3 + 1)
    kept = weight > 0
    make = lambda: co.ConsensusClustering(3, n_members=6, base=base, random_state=0)  # noqa: E731
    model, without = make().fit(X, sample_weight=weight), make().fit(X[kept], sample_weight=weight[kept])
    assert (model.labels_[kept] == without.labels_).all()
    assert (model.confidence_[kept] == without.confidence_).all()
    if isinstance(base, AgglomerativeClustering):
        assert (model.labels_[~kept] == -1).all()
        return
    assert (model.labels_[~kept] == without.predict(X[~kept])).all()
    assert (model.predict(X) == without.predict(X)).all()
    assert (model.confidence_[~kept] > 0).all()


def test_a_number_given_to_the_clusterer_is_kept_or_its_loss_told() -> None:
    X, _ = co.make_blobs()
    model = co.ConsensusClustering(5, base=KMeans(7, n_init=1), n_members=4, random_state=0).fit(X)
    assert model.members_.sizes == [7] * 4
    named = model.set_params(scheme="random_k")
    with pytest.warns(UserWarning, match="n_clusters=7 of KMeans is not used"):
        assert len(set(named.fit(X).members_.sizes)) > 1
    # Without a seed all members would be the same.
    tree = co.ConsensusClustering(5, base=AgglomerativeClustering(7), n_members=6, random_state=0)
    with pytest.warns(UserWarning, match="from 2 to 10 clusters"):
        assert len(set(tree.fit(X).members_.sizes)) > 1


def test_a_list_as_base_says_how_many_members_there_are() -> None:
    X, _ = co.make_blobs()
    given = [KMeans(5, n_init=1), "gmm"]
    assert len(co.ConsensusClustering(5, base=given, n_members=2).fit(X).members_) == 2
    with pytest.raises(ValueError, match="n_members is 30, but a list as base makes one member per item, 2"):
        co.ConsensusClustering(5, base=given, n_members=30).fit(X)


class Counting(KMeans):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_what_is_asked_is_checked_before_members_are_made() -> None:
    X, _ = co.make_blobs()
    for wrong, message in [
        ({"method": "sceck"}, "sceck"),
        ({"method": "scec", "params": {"alfa": 1}}, "alfa"),
        ({"n_clusters": 0}, "n_clusters"),
    ]:
        with pytest.raises(ValueError, match=message):
            co.ConsensusClustering(**{"n_clusters": 5, "base": Counting(5), "n_members": 2, **wrong}).fit(X)
    assert Counting.fits == 0


def test_a_failed_fit_is_no_fit() -> None:
    X, _ = co.make_blobs()
    model = co.ConsensusClustering(5, n_members=4, base="kmeans", random_state=0)
    with pytest.raises(ValueError):
        model.fit(np.where(np.arange(X.size).reshape(X.shape) == 3, np.nan, X))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X)
    with pytest.raises(ValueError):
        model.set_params(n_clusters=600).fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)
    assert not hasattr(model, "labels_")


def test_label_tables_of_texts() -> None:
    table = pd.DataFrame({"a": ["x", "x", "y", None], "b": ["p", "p", "q", "q"]})
    model = co.LabelConsensus(2, random_state=0).fit(table)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.predict(pd.DataFrame({"a": ["y"], "b": ["q"]})).tolist() == [1]
    with pytest.raises(NotFittedError):
        co.LabelConsensus().predict(table)


def test_settling_is_told_in_scikit_learns_words() -> None:
    X = co.load_iris().data
    params = {"max_iter": 1}
    model = co.ConsensusClustering(3, n_members=5, method="scec", params=params, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_of_unequal_scales_are_warned_of(dtype: type) -> None:
    X = co.make_blobs()[0]
    frame = pd.DataFrame({"mass": X[:, 0] * 1e4, "one": 0.1, "size": X[:, 1], "far": X[:, 1] * 9}).astype(dtype)
    fit = co.ConsensusClustering(5, n_members=4, base="kmeans", random_state=0).fit
    with pytest.warns(UserWarning, match="`mass` varies [0-9,]+ times as much as `size`.*StandardScaler"):
        fit(frame)
    with pytest.warns(UserWarning, match=r"`X\[:, 0\]` varies [0-9,]+ times as much as `X\[:, 2\]`"):
        co.generate(frame.to_numpy(), n_members=4, base="kmeans")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit(frame.drop(columns="mass"))
        fit(StandardScaler().fit_transform(frame))
    assert not [w for w in told if "StandardScaler" in str(w.message)]


def test_members_that_cannot_differ_are_warned_of() -> None:
    X, _ = co.make_blobs()
    model = co.ConsensusClustering(5, base=HDBSCAN(copy=True), n_members=3)
    with pytest.warns(UserWarning, match="all 3 clusterings are the same, for HDBSCAN has no random start.*list"):
        model.fit(X)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.set_params(base=[HDBSCAN(5, copy=True), HDBSCAN(40, copy=True)], n_members=None).fit(X)
        model.set_params(base=KMeans(5, n_init=9), n_members=2).fit(X)
    assert not [w for w in told if "are the same" in str(w.message)]


def test_the_index_of_a_frame_names_the_objects_of_an_ensemble() -> None:
    X, _ = co.make_blobs()
    frame = pd.DataFrame(X, columns=["x", "y"], index=[f"o{i}" for i in range(len(X))])
    for soft in (False, True):
        given = {"n_members": 4, "base": "kmeans", "soft": soft}
        named, plain = co.generate(frame, **given), co.generate(X, **given)
        assert named.ids == list(frame.index) and plain.ids is None
        assert named.names == plain.names
        assert all(np.allclose(named.member(i), plain.member(i), rtol=0, atol=1e-15) for i in range(4))
    assert co.generate(frame.reset_index(drop=True), n_members=2, base="kmeans").ids is None
    assert co.consensus(named).ids_ == list(frame.index)
