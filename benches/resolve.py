"""Which resolution: time and memory at size, and cells whose kinds are known.

    python benches/resolve.py size [--objects 1000000] [--levels 30] [--seeds 10]   # by the program, labels in Parquet
    python benches/resolve.py cells                                                 # needs consilience and scanpy

`size` makes clusterings of nested groups: at every level an object out of ten stands between two groups and goes with either.
`cells` takes the 700 cells that ship with scanpy (`pbmc68k_reduced`, kinds in `bulk_labels`): 70 runs of Leiden at ten resolutions with seven seeds, and 64 at
four resolutions that differ in neighbours and components.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np


def size(args: argparse.Namespace) -> None:
    import pyarrow
    import pyarrow.parquet

    n, rng = args.objects, np.random.default_rng(1)
    where = rng.random(n)
    between = rng.random(n) < 0.1
    columns = {}
    for level in range(args.levels):
        k = 3 + 2 * level
        own = np.minimum((where * k).astype(np.uint8), k - 1)
        other = rng.integers(0, k, n).astype(np.uint8)
        for seed in range(args.seeds):
            astray = between & (rng.random(n) < 0.3)
            columns[f"leiden_{0.1 * (level + 1):.1f}_{seed}"] = np.where(astray, other, own).astype(np.int32)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "runs.parquet")
        pyarrow.parquet.write_table(pyarrow.table(columns), table)
        del columns
        command = [args.program, "resolve", table, "--levels", "leiden_{level}_{seed}", "-o", Path(folder, "out"), "--json"]
        clock = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - clock
        if done.returncode:
            sys.exit(done.stderr)
        told = json.loads(done.stdout)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak, busy = used.ru_maxrss / 2**20, used.ru_utime + used.ru_stime
        print(f"{n:,} objects, {args.levels} levels of {args.seeds} seeds: {seconds:.1f} s, {busy:.1f} s of processors, peak {peak:.2f} GiB")
        print(told["seconds"], told["verdict"])


def auc(sure: np.ndarray, right: np.ndarray) -> float:
    """The chance that an object that is right is surer than one that is wrong."""
    from scipy.stats import rankdata

    ranks, good = rankdata(sure), right.sum()
    return (ranks[right].sum() - good * (good + 1) / 2) / (good * (len(right) - good))


def cells(_: argparse.Namespace) -> None:
    import pandas
    import scanpy

    import consilience as co

    warnings.filterwarnings("ignore")
    adata = scanpy.datasets.pbmc68k_reduced()
    truth = adata.obs["bulk_labels"].astype(str).to_numpy()

    def leiden(data, resolution: float, seed: int) -> np.ndarray:
        scanpy.tl.leiden(
            data, resolution=resolution, random_state=seed, key_added="x", flavor="igraph", n_iterations=2, directed=False
        )
        return data.obs["x"].astype(int).to_numpy()

    seeds = {
        f"leiden_{resolution}_{seed}": leiden(adata, resolution, seed)
        for resolution in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0)
        for seed in range(7)
    }
    graphs = {}
    for neighbours in (5, 10, 15, 30):
        for components in (10, 20, 30, 50):
            other = adata.copy()
            scanpy.pp.neighbors(other, n_neighbors=neighbours, n_pcs=components)
            for resolution in (0.3, 0.6, 1.0, 1.5):
                name = f"leiden_{resolution}_{neighbours}_{components}"
                graphs[name] = leiden(other, resolution, neighbours + components)
    for name, runs in (("resolutions and seeds", seeds), ("neighbours and components as well", graphs)):
        table = pandas.DataFrame(runs)
        single = [co.metrics.ari(table[run], truth) for run in table]
        result = co.resolve(table, "leiden_{level}_{seed}")
        print(f"\n{len(runs)} runs of Leiden, {name}: {result.verdict}")
        levels = result.levels
        for place, level in enumerate(levels["level"]):
            print(
                f"  {level:>4s}: {levels['clusters_median'][place]:4.1f} clusters, stability {levels['stability'][place]:.3f}, beyond "
                f"chance {levels['beyond_chance'][place]:.3f} ({levels['beyond_chance_low'][place]:.3f} to "
                f"{levels['beyond_chance_high'][place]:.3f}), ARI of its clustering "
                f"{co.metrics.ari(result.labels_at(level), truth):.3f}"
            )
        kinds = pandas.crosstab(result.labels_, truth)
        right = kinds.idxmax(axis=1).loc[result.labels_].to_numpy() == truth
        plain = co.consensus(table)
        print(
            f"  adjusted Rand index: one run {np.mean(single):.3f} on average, {max(single):.3f} at best; resolved "
            f"{co.metrics.ari(result.labels_, truth):.3f} ({len(set(result.labels_))} clusters); all runs combined "
            f"{co.metrics.ari(plain.labels_, truth):.3f} ({plain.n_clusters_} clusters)"
        )
        print(f"  confidence for being of the cluster's prevailing kind: AUC {auc(result.confidence_, right):.2f} ({right.mean():.2f} are)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("size", "cells"))
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--levels", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--program", default=os.environ.get("CONSILIENCE", "target/release/consilience"))
    args = parser.parse_args()
    {"size": size, "cells": cells}[args.what](args)


if __name__ == "__main__":
    main()
