"""Makes trees.json: partitions of small tables by independent implementations.

    python -m venv venv
    venv/bin/pip install genieclust==1.3.0 fastcluster==1.3.0 scikit-learn==1.9.1 numpy==2.4.6
    venv/bin/python trees.py > trees.json

Coordinates are rounded so that the file holds them exactly; no two distances of a table are equal. Distances
by mutual reachability are often equal all the same, and which of equal edges is taken decides about single
rows between clusters: rows that scikit-learn labels differently when the table is shuffled have no label here.
"""

import json

import fastcluster
import genieclust
import numpy as np
import sklearn
from scipy.cluster.hierarchy import cut_tree
from scipy.spatial.distance import pdist
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons

rng = np.random.default_rng(20)


def rounded(x):
    return np.round(x, 6)


def by_first_rows(labels):
    """Clusters numbered by their first rows; noise stays -1."""
    numbers = {}
    return np.array([-1 if label < 0 else numbers.setdefault(label, len(numbers)) for label in labels])


def settled_density(x, size, samples):
    """The labels that do not depend on the order of rows, None for others."""
    seen = []
    for order in [np.arange(len(x)), *(rng.permutation(len(x)) for _ in range(40))]:
        labels = np.empty(len(x), int)
        labels[order] = HDBSCAN(min_cluster_size=size, min_samples=samples, copy=True).fit_predict(x[order])
        seen.append(by_first_rows(labels))
    return [int(label) if same else None for label, same in zip(seen[0], (seen == seen[0]).all(axis=0), strict=True)]


TABLES = {
    "moons": make_moons(90, noise=0.06, random_state=1)[0],
    "clouds": make_blobs(100, centers=4, n_features=3, cluster_std=[0.5, 1.0, 1.5, 2.0], random_state=3)[0],
    "unequal": np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(15, 2)) * 0.3 + 4, rng.uniform(-4, 7, (15, 2))]),
    "noise": rng.uniform(size=(70, 4)),
    "wide": make_blobs(60, centers=3, n_features=20, cluster_std=4.0, random_state=5)[0],
}

cases = []
for name, table in TABLES.items():
    x = rounded(table)
    assert len(np.unique(pdist(x))) == len(x) * (len(x) - 1) // 2, f"{name} has ties"
    case = {"name": name, "rows": x.tolist(), "genie": [], "link": [], "density": []}
    for threshold in (0.1, 0.3, 0.5, 0.7):
        for k in (2, 3, 5, 10):
            fit = genieclust.Genie(n_clusters=k, gini_threshold=threshold, M=1)
            case["genie"].append({"threshold": threshold, "k": k, "labels": fit.fit_predict(x).tolist()})
    for link in ("single", "average", "complete", "ward"):
        tree = fastcluster.linkage(x, link)
        cuts = {k: cut_tree(tree, k)[:, 0].tolist() for k in (2, 3, 7, 20)}
        case["link"].append({"link": link, "heights": tree[:, 2].tolist(), "cuts": cuts})
    for size, samples in ((5, 5), (5, 2), (10, 5)):
        labels = settled_density(x, size, samples)
        assert labels.count(None) < 2, f"{name} is full of ties"
        case["density"].append({"size": size, "samples": samples, "labels": labels})
    cases.append(case)

versions = {m.__name__: m.__version__ for m in (genieclust, fastcluster, sklearn, np)}
print(json.dumps({"versions": versions, "cases": cases}))
