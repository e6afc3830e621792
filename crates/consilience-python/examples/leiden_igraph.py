"""Communities of a network: many runs of igraph's Leiden, and what they agree on."""

from __future__ import annotations

import random
import warnings

import numpy as np

import consilience as co


def network(inside: float, outside: float) -> list[tuple[int, int]]:
    """Twenty groups of fifty, of which everybody knows more than of the other 950."""
    rng = np.random.default_rng(1)
    a, b = np.triu_indices(1000, 1)
    known = rng.random(len(a)) < np.where(a // 50 == b // 50, inside, outside)
    return list(zip(a[known].tolist(), b[known].tolist(), strict=True))


def main() -> None:
    try:
        import igraph
    except ImportError:
        print("skipped: this example needs igraph (pip install igraph)")
        return

    # Leiden gives another answer with every seed.
    graph, truth = igraph.Graph(n=1000, edges=network(0.2, 0.01)), np.repeat(np.arange(20), 50)
    runs = []
    for seed in range(20):
        random.seed(seed)
        igraph.set_random_number_generator(random)
        runs.append(graph.community_leiden(objective_function="modularity", n_iterations=2).membership)
    single = [co.metrics.ari(run, truth) for run in runs]
    print(f"one run of Leiden: adjusted Rand index {np.mean(single):.2f} on average, {max(single):.2f} at best")

    # What they agree on, along the edges of the network; every community is connected.
    result = co.consensus(runs, edges=graph)
    print(f"consensus: {co.metrics.ari(result.labels_, truth):.2f}, {result.n_clusters_} communities")
    graph.vs["community"] = result.labels_.tolist()
    graph.vs["confidence"] = result.confidence_.tolist()

    # A random network has none, and that is said, as a warning too.
    empty = igraph.Graph(n=1000, edges=network(0.01, 0.01))
    runs = [empty.community_leiden(objective_function="modularity").membership for _ in range(20)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = co.consensus(runs, edges=empty)
    print("a random network: communities", result.diagnostics_["communities"])


if __name__ == "__main__":
    main()
