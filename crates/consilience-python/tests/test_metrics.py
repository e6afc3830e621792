"""The measures, against scikit-learn's where it has them."""

from __future__ import annotations

import numpy as np
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


def test_diversity() -> None:
    spread = co.metrics.diversity([A, A, B])
    assert spread["ari"]["count"] == 3 and spread["ari"]["min"] == 0
    assert spread["nmi"]["max"] == pytest.approx(1 - co.metrics.nmi(A, B))
