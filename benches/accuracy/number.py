#!/usr/bin/env python3
"""How many clusters, without being told: ours beside the ways people have.

    python benches/accuracy/number.py sets --half judging [--data folder]     # the suite of run.py
    python benches/accuracy/number.py noise [--seeds 20]                      # tables without clusters
    python benches/accuracy/number.py apart [--seeds 10]                      # the same number for every seed?
    python benches/accuracy/number.py labels                                  # planted labels, combined without data

`sets` prints for how many sets the number is right (draws of one shape count as one set) and the mean
adjusted Rand index, beside k-means with the best silhouette, Gaussian mixtures with the best BIC, and
HDBSCAN. `noise` prints how often ours says one cluster or no clear number.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

import consilience
from sets import Set, sets

MOST = 20


def ours(x: np.ndarray) -> tuple[np.ndarray, str]:
    model = consilience.ConsensusClustering(random_state=0).fit(x)
    number = model.result_.number_
    return model.labels_, "clear" if number is None else number["clarity"]


def by_silhouette(x: np.ndarray) -> tuple[np.ndarray, str]:
    found = [KMeans(k, n_init=10, random_state=0).fit_predict(x) for k in range(2, min(MOST, len(x) - 1) + 1)]
    scores = [silhouette_score(x, labels, sample_size=2000, random_state=0) for labels in found]
    return found[int(np.argmax(scores))], ""


def by_bic(x: np.ndarray) -> tuple[np.ndarray, str]:
    """On 20 components where there are more features, as in `run.py`."""
    if x.shape[1] > MOST:
        x = PCA(MOST, random_state=0).fit_transform(x)
    models = [GaussianMixture(k, random_state=0).fit(x) for k in range(1, MOST + 1)]
    return min(models, key=lambda model: model.bic(x)).predict(x), ""


def by_density(x: np.ndarray) -> tuple[np.ndarray, str]:
    return HDBSCAN(copy=True).fit_predict(x), ""


WAYS = {
    "ours": ours,
    "k-means and silhouette": by_silhouette,
    "Gaussian mixture and BIC": by_bic,
    "HDBSCAN": by_density,
}


def n_clusters(labels: np.ndarray) -> int:
    return len(np.unique(labels[labels >= 0]))


def on_sets(half: str, data: Path | None, seeds: int, only: list[str], output: Path | None) -> None:
    kept = json.loads(output.read_text()) if output and output.exists() else {}
    missing: list[str] = []
    rows = defaultdict(lambda: defaultdict(list))
    for on in sets(data, seeds, missing):
        if on.judging != (half == "judging"):
            continue
        for name in only:
            key = f"{name}|{on.name}"
            if key not in kept:
                kept[key] = measured(name, on)
                if output:
                    output.write_text(json.dumps(kept))
            rows[name][on.name.rsplit("-", 1)[0]].append({**kept[key], "k": on.k})
    print(f"{half} half, {len(rows[only[0]])} sets\n")
    print("| | number right | one cluster where there are several | ARI | seconds |\n|---|---|---|---|---|")
    for name in only:
        families = rows[name].values()
        right = sum(np.mean([draw["found"] == draw["k"] for draw in draws]) for draws in families)
        one = sum(np.mean([draw["found"] == 1 < draw["k"] for draw in draws]) for draws in families)
        ari = np.mean([np.mean([draw["ari"] for draw in draws]) for draws in families])
        seconds = sum(draw["seconds"] for draws in families for draw in draws)
        print(f"| {name} | {right:.1f} of {len(families)} | {one:.1f} | {ari:.3f} | {seconds:.0f} |")
    if missing:
        print(f"\nnot at hand: {', '.join(missing)}")


def measured(name: str, on: Set) -> dict:
    start = time.perf_counter()
    labels, clarity = WAYS[name](on.points)
    seconds = time.perf_counter() - start
    scores = [adjusted_rand_score(truth[truth >= 0], labels[truth >= 0]) for truth in on.labellings]
    return {"found": n_clusters(labels), "ari": max(scores), "clarity": clarity, "seconds": seconds}


def cloud(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "uniform":
        return rng.random((n, d))
    if kind == "heavy tails":
        return rng.standard_t(3, (n, d))
    x = rng.standard_normal((n, d))
    return x if kind == "Gaussian" else x @ rng.standard_normal((d, d))


NOISE = ("uniform", "Gaussian", "correlated", "heavy tails")


def on_noise(seeds: int, most: int, kinds: list[str]) -> None:
    print("| noise | n | d | one cluster | no clear number | a number |\n|---|---|---|---|---|---|")
    sizes = [n for n in (100, 300, 1000, 5000) if n <= most]
    total: dict[str, int] = defaultdict(int)
    for kind, n, d in itertools.product(kinds, sizes, (2, 5, 20, 50)):
        said: dict[str, int] = defaultdict(int)
        for seed in range(seeds):
            rng = np.random.default_rng([1_000_003, seed, n, d])
            said[ours(cloud(kind, n, d, rng))[1]] += 1
        print(f"| {kind} | {n} | {d} | {said['none']} | {said['unclear']} | {said['clear']} |", flush=True)
        for clarity, times in said.items():
            total[clarity] += times
    print(f"\nin all: {dict(total)}")


def on_apart(seeds: int) -> None:
    """Two Gaussians seven deviations apart, and some others, for several seeds of ours."""
    rng = np.random.default_rng(17)
    def groups(centres: list, n: int) -> np.ndarray:
        return np.vstack([c + rng.standard_normal((n, len(c))) for c in np.asarray(centres, dtype=float)])
    tables = {
        "2 Gaussians 7 apart": groups([[0, 0], [7, 0]], 200),
        "4 in 10 dimensions": groups((8 * np.eye(10)[:4]).tolist(), 150),
        "unequal": np.vstack([groups([[0, 0]], 500), groups([[12, 0], [0, 12]], 60)]),
    }
    print("| table | numbers for the seeds |\n|---|---|")
    for name, x in tables.items():
        found = [consilience.ConsensusClustering(random_state=seed).fit(x).n_clusters_ for seed in range(seeds)]
        print(f"| {name} | {found} |")


def on_labels() -> None:
    print("| clusters | objects | noise | found in ten draws |\n|---|---|---|---|")
    for k, n, noise in itertools.product((2, 4), (300, 1000), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0)):
        found = []
        for seed in range(10):
            rng = np.random.default_rng([seed, n, k])
            truth = np.repeat(np.arange(n)[:, None] % k, 20, axis=1)
            wrong = rng.random((n, 20)) < noise
            labels = np.where(wrong, rng.integers(k, size=(n, 20)), truth)
            found.append(consilience.consensus(labels, random_state=seed).n_clusters_)
        print(f"| {k} | {n} | {noise} | {found} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["sets", "noise", "apart", "labels"])
    parser.add_argument("--half", choices=["tuning", "judging"], default="tuning")
    parser.add_argument("--data", type=Path, help="the folder with the batteries and the labelled sets")
    parser.add_argument("--seeds", type=int, help="draws of every table (3 of a shape, 20 of noise, 10 elsewhere)")
    parser.add_argument("--most", type=int, default=5000, help="rows of noise at most")
    parser.add_argument("--kinds", nargs="*", choices=NOISE, default=NOISE, help="kinds of noise (default: all)")
    parser.add_argument("--ours", action="store_true", help="ours alone")
    parser.add_argument("-o", "--output", type=Path, help="where results of sets are kept")
    args = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if args.what == "sets":
            only = ["ours"] if args.ours else list(WAYS)
            on_sets(args.half, args.data, args.seeds or 3, only, args.output)
        elif args.what == "noise":
            on_noise(args.seeds or 20, args.most, args.kinds)
        elif args.what == "apart":
            on_apart(args.seeds or 10)
        else:
            on_labels()


if __name__ == "__main__":
    main()
