"""Makes linkage.json: SciPy's dendrograms of the full co-association of tie-free ensembles.

    python -m venv venv && venv/bin/pip install scipy==1.17.1 numpy==2.4.6
    venv/bin/python linkage.py > linkage.json

An ensemble is tie-free if at every merge, under every link, one pair is nearer than all others.
Then the dendrogram is unique and whatever rule breaks ties must agree with SciPy's.
"""

import json

import numpy as np
import scipy
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

LINKS = ["single", "average", "complete", "weighted"]
GAP = 1e-9
rng = np.random.default_rng(20250102)


def planted(n, r, k, noise):
    """Labels of r members that see k planted clusters through noise."""
    truth = np.arange(n) % k
    wrong = rng.random((r, n)) < noise
    return np.where(wrong, rng.integers(k + 1, size=(r, n)), truth)


def hard(n, r, k, noise, missing=0.0, twins=False):
    labels = planted(n, r, k, noise)
    if twins:
        labels[:, -1] = labels[:, 0]
    labels[rng.random((r, n)) < missing] = -1
    return labels


def coassociation(labels):
    """The share of the members that label both that put both together."""
    known = labels >= 0
    both = (known[:, :, None] & known[:, None, :]).sum(axis=0)
    equal = labels[:, :, None] == labels[:, None, :]
    together = (equal & known[:, :, None]).sum(axis=0)
    return np.where(both > 0, together / np.maximum(both, 1), 0.0)


def soft_coassociation(members):
    """The mean inner product of memberships, scaled to 1 on the diagonal."""
    mean = np.mean([m @ m.T for m in members], axis=0)
    scale = np.sqrt(np.diag(mean))
    return mean / np.outer(scale, scale)


def tie_free(distance, link):
    """Whether every merge of the textbook algorithm has one nearest pair."""
    d = distance.copy()
    np.fill_diagonal(d, np.inf)
    size = np.ones(len(d))
    alive = list(range(len(d)))
    while len(alive) > 2:
        pairs = sorted((d[i, j], i, j) for i in alive for j in alive if i < j)
        if pairs[1][0] - pairs[0][0] < GAP:
            return False
        _, i, j = pairs[0]
        x, y = d[i], d[j]
        d[i] = {
            "single": np.minimum(x, y),
            "complete": np.maximum(x, y),
            "weighted": (x + y) / 2,
            "average": (size[i] * x + size[j] * y) / (size[i] + size[j]),
        }[link]
        d[:, i] = d[i]
        d[i, i] = np.inf
        size[i] += size[j]
        alive.remove(j)
    return True


def trees(c):
    distance = 1 - c
    np.fill_diagonal(distance, 0.0)
    if not all(tie_free(distance, link) for link in LINKS):
        return None
    flat = squareform(distance, checks=False)
    return {link: linkage(flat, link).tolist() for link in LINKS}


def first(draw):
    """The first drawn ensemble that is tie-free."""
    while True:
        case, c = draw()
        found = trees(c)
        if found is not None:
            return case | {"trees": found}


def hard_case(*args, **kwargs):
    def draw():
        labels = hard(*args, **kwargs)
        shown = [[None if x < 0 else x for x in row] for row in labels.tolist()]
        return {"labels": shown}, coassociation(labels)

    return first(draw)


def soft_case(n, r, k):
    def draw():
        members = [np.array([rng.dirichlet(0.4 + 3 * np.eye(k)[i % k]) for i in range(n)])
                   for _ in range(r)]
        return {"memberships": [m.tolist() for m in members]}, soft_coassociation(members)

    return first(draw)


print(json.dumps({
    "made_by": f"scipy {scipy.__version__}, numpy {np.__version__}",
    "cases": [
        hard_case(3, 5, 2, 0.5),
        hard_case(7, 41, 2, 0.5),
        hard_case(9, 97, 3, 0.6),
        hard_case(12, 199, 3, 0.7),
        hard_case(10, 101, 3, 0.5, twins=True),
        hard_case(9, 40, 3, 0.5, missing=0.3),
        hard_case(14, 60, 4, 0.6, missing=0.4),
        soft_case(20, 4, 3),
        soft_case(40, 3, 5),
    ],
}, default=float))
