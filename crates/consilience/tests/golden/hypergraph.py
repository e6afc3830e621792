"""Makes hypergraph.json: what Mt-KaHyPar cuts of the clusters of some ensembles.

    python -m venv venv && venv/bin/pip install mtkahypar==1.7.post1 numpy==2.4.6
    venv/bin/python hypergraph.py > hypergraph.json

Objects are vertices, the clusters of all members hyperedges as heavy as they are large. Into k parts
of at most 1.05 n / k objects, whole numbers throughout; the least cut of ten seeds by the preset of
highest quality, as a share of all that could be cut.
"""

import importlib.metadata
import json

import mtkahypar
import numpy as np

SEEDS = 10
rng = np.random.default_rng(20250103)


def planted(n, r, parts, noise, finer=1, missing=0.0):
    """Labels of r members that see planted groups, each cut in `finer` pieces its own way."""
    truth = np.arange(n) % parts
    labels = np.empty((r, n), dtype=int)
    for h in range(r):
        # The pieces of a group are runs of its objects, beginning somewhere else in every member.
        place = (np.arange(n) // parts + rng.integers(n)) % (n // parts)
        piece = place * finer // (n // parts)
        labels[h] = truth * finer + piece
        wrong = rng.random(n) < noise
        labels[h, wrong] = rng.integers(parts * finer, size=wrong.sum())
    labels[rng.random((r, n)) < missing] = -1
    return labels


def hyperedges(labels):
    found = []
    for member in labels:
        for label in np.unique(member[member >= 0]):
            pins = np.flatnonzero(member == label)
            if len(pins) > 1:
                found.append(pins.tolist())
    return found


def least_cut(engine, labels, k):
    edges = hyperedges(labels)
    sizes = [len(pins) for pins in edges]
    n = labels.shape[1]
    context = engine.context_from_preset(mtkahypar.PresetType.HIGHEST_QUALITY)
    context.set_partitioning_parameters(k, 0.05, mtkahypar.Objective.CUT)
    context.logging = False
    best = None
    for seed in range(SEEDS):
        mtkahypar.set_seed(seed)
        graph = engine.create_hypergraph(context, n, len(edges), edges, [1] * n, sizes)
        parted = graph.partition(context)
        heaviest = max(parted.block_weight(part) for part in range(k))
        assert heaviest * k <= 1.05 * n + 1e-9, (heaviest, n, k)
        cut = parted.cut()
        best = cut if best is None else min(best, cut)
    return best / sum(sizes)


def main():
    engine = mtkahypar.initialize(1)
    cases = []
    # All n / k are multiples of 20, so that 1.05 n / k is a whole number.
    for n, r, parts, k, noise, finer, missing in [
        (60, 6, 3, 3, 0.0, 3, 0.0),
        (60, 8, 3, 3, 0.02, 4, 0.0),
        (80, 5, 4, 2, 0.01, 5, 0.0),
        (80, 10, 4, 4, 0.03, 4, 0.3),
        (120, 10, 6, 3, 0.02, 6, 0.0),
        (120, 20, 2, 2, 0.01, 10, 0.0),
        (200, 10, 5, 5, 0.02, 8, 0.2),
        (240, 10, 8, 4, 0.01, 6, 0.0),
    ]:
        labels = planted(n, r, parts, noise, finer, missing)
        cut = least_cut(engine, labels, k)
        cases.append({"k": k, "labels": labels.tolist(), "cut": cut})
    made = {"made_with": "mtkahypar " + importlib.metadata.version("mtkahypar"), "cases": cases}
    print(json.dumps(made, separators=(",", ":")))


if __name__ == "__main__":
    main()
