#!/usr/bin/env python3
"""Time of one Lloyd fit, ours over scikit-learn's: same data, same start, same iterations.

    pip install scikit-learn
    cargo build --release --example kmeans_time
    python benches/peers/kmeans.py

Both use all cores. For every case the two are timed by turns in the same run, and the ratio is that
of the fastest fits. `clusters` is a mixture of normal clouds that overlap, `noise` has no clusters at
all: the worst case for every way to skip distances. The fit includes everything from the table in
memory to labels, centres and inertia.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans

CASES = [
    # name, n, d, k, iterations, spread of the cluster means against 1 within
    ("clusters", 100_000, 16, 20, 50, 0.7),
    ("noise", 100_000, 16, 20, 50, 0.0),
    ("clusters", 10_000, 617, 26, 30, 0.12),
    ("noise", 10_000, 617, 26, 30, 0.0),
]


def table(n, d, k, spread):
    rng = np.random.default_rng(n + d)
    means = spread * rng.standard_normal((k, d))
    return means[rng.integers(k, size=n)] + rng.standard_normal((n, d))


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=root / "target/release/examples/kmeans_time")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fits", type=int, default=3, help="fits a round")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")  # Not converging is what we ask for.

    results = []
    for name, n, d, k, iterations, spread in CASES:
        data = table(n, d, k, spread)
        start = data[np.random.default_rng(1).choice(n, k, replace=False)].copy()
        peer = KMeans(k, init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            data.tofile(f"{folder}/data")
            start.tofile(f"{folder}/start")
            for _ in range(args.rounds):
                for _ in range(args.fits):
                    begin = time.perf_counter()
                    peer.fit(data)
                    theirs.append(time.perf_counter() - begin)
                command = [args.program, f"{folder}/data", f"{folder}/start", n, d, k, iterations, args.fits]
                out = subprocess.run([str(a) for a in command], check=True, capture_output=True, text=True)
                answer = json.loads(out.stdout)
                ours += answer["seconds"]
        inertia = abs(answer["inertia"] / peer.inertia_ - 1)
        result = {
            "case": name, "n": n, "d": d, "k": k,
            "iterations": [answer["iterations"], peer.n_iter_],
            "ours": min(ours), "scikit-learn": min(theirs),
            "ratio": min(ours) / min(theirs), "inertia differs by": inertia,
        }
        results.append(result)
        if not args.json:
            print(f"{name:9} n {n:6} d {d:3} k {k}: ours {min(ours) * 1e3:7.1f} ms, scikit-learn "
                  f"{min(theirs) * 1e3:7.1f} ms, ratio {result['ratio']:.3f}  (iterations "
                  f"{answer['iterations']} and {peer.n_iter_}, inertia differs by {inertia:.0e})", flush=True)
    if args.json:
        json.dump(results, sys.stdout, indent=1)
    if any(r["inertia differs by"] > 1e-6 for r in results):
        sys.exit("inertia differs")


if __name__ == "__main__":
    main()
