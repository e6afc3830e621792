"""Communities of networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import consilience as co


def planted(seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Four communities of forty: edges, members that err, truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(160) % 4
    a, b = np.triu_indices(160, 1)
    keep = rng.random(len(a)) < np.where(truth[a] == truth[b], 0.3, 0.02)
    noise = rng.random((160, 10)) < 0.1
    labels = np.where(noise, rng.integers(0, 4, (160, 10)), truth[:, None])
    return np.stack([a[keep], b[keep]], axis=1), labels, truth


def test_every_kind_of_network_is_the_same() -> None:
    igraph = pytest.importorskip("igraph")
    networkx = pytest.importorskip("networkx")
    sparse = pytest.importorskip("scipy.sparse")
    edges, labels, truth = planted()
    expected = co.consensus(labels, edges=edges)
    assert expected.method_ == "edge-cut"
    assert co.metrics.ari(expected.labels_, truth) == 1
    ones = np.ones(len(edges))
    half = sparse.coo_matrix((ones, edges.T), shape=(160, 160))
    named = pd.DataFrame(labels, index=[f"n{i}" for i in range(160)])
    by_name = networkx.Graph([(f"n{a}", f"n{b}") for a, b in edges])
    kinds = [
        (labels, edges.tolist()),
        (labels, [tuple(edge) for edge in edges.tolist()]),
        (labels, np.column_stack([edges, ones])),
        (labels, pd.DataFrame(edges, columns=["source", "target"])),
        (labels, igraph.Graph(n=160, edges=edges.tolist())),
        (labels, networkx.Graph(edges.tolist())),
        (labels, half),
        (labels, (half + half.T).tocsr()),
        (named, by_name),
        (named, [(f"n{a}", f"n{b}") for a, b in edges]),
    ]
    for given, kind in kinds:
        result = co.consensus(given, edges=kind)
        np.testing.assert_array_equal(result.labels_, expected.labels_)


def test_a_matrix_counts_as_symmetric_only_if_it_is() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    from consilience._edges import network

    def pairs(cells: list[tuple[int, int]]) -> set[tuple[int, ...]]:
        matrix = sparse.coo_matrix((np.ones(len(cells)), np.array(cells).T), shape=(3, 3))
        return {tuple(sorted(edge)) for edge in network(matrix, 3, None)[0].tolist()}

    assert pairs([(0, 1), (2, 0)]) == {(0, 1), (0, 2)}
    assert pairs([(0, 1), (1, 0), (2, 0), (0, 2)]) == {(0, 1), (0, 2)}
    matrix = sparse.csr_array(np.array([[0, 2, 1], [2, 0, 0], [1, 0, 5]]))
    ends, weights = network(matrix, 3, None)
    assert (ends.tolist(), weights.tolist()) == ([[0, 1], [0, 2]], [2, 1])


def test_what_is_no_network_is_refused() -> None:
    edges, labels, _ = planted()
    with pytest.raises(ValueError, match="position 0: there is no object 160"):
        co.consensus(labels, edges=[(0, 160)])
    with pytest.raises(ValueError, match="two columns"):
        co.consensus(labels, edges=np.ones((160, 160)))
    with pytest.raises(TypeError, match="row numbers"):
        co.consensus(labels, edges=[("a", "b")])
    with pytest.raises(TypeError, match="igraph"):
        co.consensus(labels, edges=5)
    with pytest.raises(ValueError, match="position 1"):
        co.consensus(labels, edges=[(0, 1), (1, 2, 3)])
    with pytest.raises(ValueError, match="weights must be numbers"):
        co.consensus(labels, edges=[(0, 1, "heavy")])
    with pytest.raises(ValueError, match="edges"):
        co.consensus(labels, method="edge-cut")
    with pytest.raises(ValueError, match="edge-cut"):
        co.consensus(labels, method="voting", edges=edges)
    with pytest.raises(ValueError, match="above 0"):
        co.consensus(labels, edges=edges, sample_weight=np.arange(160))


def test_random_networks_have_no_communities() -> None:
    rng = np.random.default_rng(1)
    edges = rng.integers(0, 500, (2500, 2))
    labels = rng.integers(0, 6, (500, 10))
    with pytest.warns(UserWarning, match="no communities"):
        result = co.consensus(labels, edges=edges)
    assert result.diagnostics_["communities"] == "none"
    assert np.bincount(result.labels_)[0] > 480


def test_parameters_are_checked_and_used() -> None:
    edges, labels, truth = planted(2)
    cut = co.consensus(labels, edges=edges, params={"search": "none", "threshold": 0.6, "smallest": 5})
    assert co.metrics.ari(cut.labels_, truth) > 0.8
    with pytest.raises(ValueError, match="threshold"):
        co.consensus(labels, edges=edges, params={"threshold": 1.5})


def test_communities_that_all_members_call_one_are_two_in_the_verdict() -> None:
    """Equal tuples, parted by the network: the verdict speaks of the objects, not of their tuples."""
    labels = np.zeros((12, 4), dtype=int)
    clique = [(a, b) for a in range(6) for b in range(a)]
    edges = clique + [(a + 6, b + 6) for a, b in clique] + [(0, 6), (3, 9)]
    result = co.consensus(labels, edges=edges)
    assert result.labels_.tolist() == [0] * 6 + [1] * 6
    assert "2 clusters" in " ".join(result.verdict_)
