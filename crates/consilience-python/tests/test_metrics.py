"""The measures, against scikit-learn's where it has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as reference

import consilience as co

RNG = np.random.default_rng(1)
A, B = RNG.integers(0, 4, 200), RNG.integers(0, 3, 200)


@pytest.mark.parametrize("average", ["geometric", "arithmetic", "max", "min"])
def test_nmi(average: str) -> None:
    expected = reference.normalized_mutual_info_score(A, B, average_method=average)
    assert co.metrics.nmi(A, B, average=average) == pytest.approx(expected)


def test_pair_counts() -> None:
    assert co.metrics.ari(A, B) == pytest.approx(reference.adjusted_rand_score(A, B))
    assert co.metrics.rand(A, B) == pytest.approx(reference.rand_score(A, B))


@pytest.mark.parametrize(("k", "n"), [(3, 50), (12, 60), (7, 5000)])
def test_measures_that_scikit_learn_has_too(k: int, n: int) -> None:
    a, b = RNG.integers(0, k, n), RNG.integers(0, k + 2, n)
    b = np.where(RNG.random(n) < 0.5, a, b)
    close = {"rel": 1e-12, "abs": 1e-12}
    assert co.metrics.ami(a, b) == pytest.approx(reference.adjusted_mutual_info_score(b, a), **close)
    assert co.metrics.fmi(a, b) == pytest.approx(reference.fowlkes_mallows_score(b, a), **close)
    expected = reference.homogeneity_completeness_v_measure(b, a)
    found = (co.metrics.homogeneity(a, b), co.metrics.completeness(a, b), co.metrics.v_measure(a, b))
    assert found == pytest.approx(expected, **close)


def test_element_centric_similarities() -> None:
    table = np.stack([A, B, np.where(A == 3, -1, A)], axis=1)

    def slow(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        together = (a[:, None] == a) & (b[:, None] == b)
        sizes = np.maximum((a[:, None] == a).sum(axis=1), (b[:, None] == b).sum(axis=1))
        return together.sum(axis=1) / sizes

    objects = [slow(table[:, p], table[:, q]) for p, q in ((0, 1), (0, 2), (1, 2))]
    assert co.metrics.ecs(A, B) == pytest.approx(objects[0].mean())
    assert co.metrics.consistency(table) == pytest.approx(np.mean(objects, axis=0))
    means = np.array([values.mean() for values in objects])
    assert co.metrics.inconsistency(table) == pytest.approx(9 / (3 + 2 * means.sum()))
    # Among the objects that both label.
    seen = A != 3
    assert co.metrics.ecs(B, table[:, 2], missing=-1) == pytest.approx(slow(B[seen], A[seen]).mean())
    alone = co.metrics.consistency([[0, 1, 1], [0, 1, None]])
    assert alone[:2] == pytest.approx(1) and np.isnan(alone[2])


def test_matched_clusters() -> None:
    from scipy.optimize import linear_sum_assignment

    table = reference.cluster.contingency_matrix(A, B)
    rows, columns = linear_sum_assignment(-table)
    share = table[rows, columns].sum() / 200
    assert co.metrics.accuracy(A, B) == pytest.approx(share)
    assert co.metrics.error_rate(A, B) == pytest.approx(1 - share)
    assert co.metrics.purity(A, B) == pytest.approx(table.max(axis=1).sum() / 200)
    assert co.metrics.pc_idx(A, B) <= co.metrics.accuracy(A, B)


def test_names_of_labels_do_not_matter() -> None:
    words = np.array(["x", "y", "z", "w"])[A]
    for measure in (co.metrics.nmi, co.metrics.ari, co.metrics.vi, co.metrics.accuracy):
        assert measure(words, A) == measure(A, A)
    assert co.metrics.vi(A, A) == 0


def test_minus_one_is_a_label_as_in_scikit_learn_unless_told() -> None:
    noisy = np.where(np.arange(200) % 5 == 0, -1, A)
    seen = noisy != -1
    assert co.metrics.ari(noisy, A) == pytest.approx(reference.adjusted_rand_score(noisy, A))
    assert co.metrics.ari(noisy, A) < co.metrics.ari(noisy, A, missing=-1) == 1
    for name in ("nmi", "ari", "rand", "accuracy", "error_rate", "vi", "purity", "pc_idx"):
        measure = getattr(co.metrics, name)
        assert measure(noisy, B, missing=(-1, None)) == measure(noisy[seen], B[seen])
        assert measure(noisy, B) == measure(np.where(seen, noisy, 9), B) != measure(noisy, B, missing=-1)
        # Among texts as well.
        assert measure(noisy.astype(str), B) == measure(noisy, B)
    table = np.stack([A, noisy], axis=1)
    result = co.consensus(table, n_clusters=3)
    assert co.metrics.anmi(result.labels_, table, missing=-1) == pytest.approx(result.anmi_)
    mean = (co.metrics.nmi(B, A) + co.metrics.nmi(B, noisy)) / 2
    assert co.metrics.anmi(B, table) == pytest.approx(mean)
    apart = co.metrics.diversity(table)["nmi"]["max"]
    assert apart == pytest.approx(1 - co.metrics.nmi(A, noisy))
    assert co.metrics.diversity(table, missing=-1)["nmi"]["max"] == pytest.approx(0)


def test_anmi_is_what_results_tell() -> None:
    table = np.stack([A, B, (A + B) % 3], axis=1)
    result = co.consensus(table, n_clusters=3)
    assert co.metrics.anmi(result.labels_, table) == pytest.approx(result.anmi_)


def test_indexes_say_which_objects_are_compared() -> None:
    names = pd.Index([f"o{i}" for i in range(200)])
    frame = pd.DataFrame({"a": A, "b": B}, index=names)
    order = np.random.default_rng(0).permutation(200)
    truth = pd.Series(A, index=names).iloc[order]
    result = co.consensus(frame, n_clusters=3)
    assert co.metrics.ari(result, truth) == co.metrics.ari(result.labels_, A)
    assert co.metrics.ari(truth, result) == co.metrics.ari(result.labels_, A)
    expected = co.metrics.anmi(A, np.stack([A, B], axis=1))
    for members in (frame, co.ensemble(frame), [frame["a"], frame["b"]]):
        assert co.metrics.anmi(truth, members) == pytest.approx(expected)
    assert co.metrics.anmi(result, frame.iloc[order]) == pytest.approx(result.anmi_)
    strange = truth.rename(index={"o3": "x"})
    for measure in (
        lambda: co.metrics.ari(result, strange),
        lambda: co.metrics.anmi(strange, frame),
        lambda: co.metrics.anmi(strange, co.ensemble(frame)),
    ):
        with pytest.raises(ValueError, match="has another index than"):
            measure()


def test_diversity() -> None:
    spread = co.metrics.diversity([A, A, B])
    assert spread["ari"]["count"] == 3 and spread["ari"]["min"] == 0
    assert spread["nmi"]["max"] == pytest.approx(1 - co.metrics.nmi(A, B))
