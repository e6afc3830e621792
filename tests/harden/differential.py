#!/usr/bin/env python3
"""The same question asked in several ways must have one answer.

    python tests/harden/differential.py [--program consilience] [--minutes 3] [--cases N] [--seed 0]

Needs the Python package and numpy. Draws ensembles at random (labels missing, soft members, weights from 0.1
to 10^9, constant and repeated members, one cluster, as many clusters as objects, sizes above every threshold of
sampling) and a method, and compares

* `threads`: one, two and seven threads, bit by bit;
* `weights`: objects with weights, and the same objects repeated (whole weights);
* `shuffled`: objects, members and names of labels in another order;
* `program`: the command line on the same table (one case in twenty);
* `rows`: the command line on the table in pieces, as rows of several files (one case in forty).

Ways that the conformance tests exempt a method from, with reasons, are not asked of it. Prints a table and
ends with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import consilience as co

# Methods whose time grows with the cube of the distinct objects, or that hold matrices of them.
SLOW = {"rce", "rmsc", "ec-cms", "sdgca", "gwca", "pta", "ptgp", "ecpcs-hc", "cspa", "hierarchical"}
# Balanced cuts part equal objects; the noise of rmsc and rce is learned from single entries; robust clusters
# and lifetimes count objects, not weights.
NOT_BY_WEIGHT = {"cspa", "hgpa", "rmsc", "rce", "robust-clusters", "ec-cms", "sdgca", "ea-al", "ea-sl", "ea-wl", "best-member"}
BALANCED = {"cspa", "hgpa"}


def drawn(rng: np.random.Generator, most: int) -> dict:
    """An ensemble: an array of labels, -1 for missing; some of them planted, some noise."""
    n = int(rng.choice([2, 3, 5, 12, 40, 150, 600, 3000, 13000], p=[0.04, 0.04, 0.1, 0.22, 0.25, 0.2, 0.1, 0.04, 0.01]))
    n = min(n, most)
    r = int(rng.integers(1, 12))
    k = int(rng.choice([1, 2, 3, 5, 8, n]))
    k = min(k, n)
    truth = rng.integers(k, size=n)
    noise = rng.choice([0.0, 0.05, 0.3, 1.0])
    labels = np.empty((n, r), dtype=np.int64)
    for h in range(r):
        k_h = max(1, min(n, k + int(rng.integers(-1, 4))))
        member = np.where(rng.random(n) < noise, rng.integers(k_h, size=n), truth % k_h)
        labels[:, h] = {0: 0 * member, 1: np.arange(n)}.get(int(rng.integers(30)), member)
    if rng.random() < 0.3 and r > 1:
        labels[:, -1] = labels[:, 0]
    if rng.random() < 0.3:
        gaps = rng.random((n, r)) < rng.choice([0.05, 0.4])
        gaps[:, 0] = False
        labels[gaps] = -1
    return {"labels": labels, "k": k}


def partition(labels: np.ndarray) -> tuple[int, ...]:
    """Names of clusters by first appearance; objects without a cluster stay so."""
    names: dict[int, int] = {}
    return tuple(-1 if x < 0 else names.setdefault(int(x), len(names)) for x in labels)


def alike(a: np.ndarray, b: np.ndarray, labels: np.ndarray) -> bool:
    """Whether two answers are one partition, or two between which the ensemble's symmetries leave the choice: the
    clusters are of the same sizes, and agree with every member alike, whichever member that is."""
    if partition(a) == partition(b):
        return True
    if sorted(np.bincount(a[a >= 0])) != sorted(np.bincount(b[b >= 0])):
        return False
    return np.allclose(agreements(a, labels), agreements(b, labels), atol=1e-9)


def agreements(found: np.ndarray, labels: np.ndarray) -> list[float]:
    """The adjusted Rand index with every member, in rising order."""
    known = [(labels[:, h] >= 0) & (found >= 0) for h in range(labels.shape[1])]
    return sorted(co.metrics.ari(found[on], labels[on, h]) if on.any() else 0.0 for h, on in enumerate(known))


def answer(labels, method: str, k, **more):
    result = co.consensus(labels, method=method, n_clusters=k, **more)
    return np.asarray(result.labels_), np.asarray(result.confidence_)


class Trial:
    def __init__(self, program: Path | None) -> None:
        self.program = program
        self.asked: Counter[str] = Counter()
        self.differences: list[str] = []

    def compare(self, way: str, same: bool, case: str) -> None:
        self.asked[way] += 1
        if not same:
            self.differences.append(f"{way}: {case}")
            print(f"DIFFERS {way}: {case}", flush=True)

    def case(self, number: int, seed: int) -> None:
        rng = np.random.default_rng([seed, number])
        methods = [m for m in co.methods() if not m["needs_edges"]]
        info = methods[int(rng.integers(len(methods)))]
        name = info["name"]
        on = drawn(rng, 60 if name in SLOW else 13000)
        labels, k = on["labels"], on["k"]
        takes_k = info["chooses_k"] != "always"
        k = k if takes_k and (info["chooses_k"] == "never" or rng.random() < 0.5) else "auto"
        if info["chooses_k"] == "never" and k == "auto":
            k = on["k"]
        where = f"case {number}, {name}, {labels.shape[0]} x {labels.shape[1]}, k {k}"
        try:
            first, sure = answer(labels, name, k, n_jobs=1)
        except (ValueError, MemoryError) as refused:
            # What is refused is refused in every way.
            try:
                answer(labels, name, k, n_jobs=2)
                self.compare("threads", False, f"{where}: refused by one thread ({refused}), not by two")
            except (ValueError, MemoryError):
                self.asked["refused"] += 1
            return
        for threads in (2, 7):
            other, also = answer(labels, name, k, n_jobs=threads)
            same = np.array_equal(first, other) and np.array_equal(sure, also, equal_nan=True)
            self.compare("threads", same, f"{where}, {threads} threads")
        n, r = labels.shape
        order, members = rng.permutation(n), rng.permutation(r)
        if name not in BALANCED:
            renamed = labels.copy()
            for h in range(r):
                known = labels[:, h] >= 0
                renamed[known, h] = rng.permutation(labels[:, h].max() + 1)[labels[known, h]]
            other, _ = answer(renamed[order][:, members], name, k, n_jobs=2)
            back = np.empty_like(other)
            back[order] = other
            self.compare("shuffled", alike(back, first, labels), where)
        if name not in NOT_BY_WEIGHT and n <= 600:
            weights = rng.integers(1, 4, size=n)
            one, _ = answer(labels, name, k, sample_weight=weights.astype(float), n_jobs=2)
            rows = np.repeat(np.arange(n), weights)
            all_rows, _ = answer(labels[rows], name, k, n_jobs=2)
            self.compare("weights", partition(one[rows]) == partition(all_rows), where)
            huge = rng.choice([0.1, 1.0, 1e9], size=n)
            try:
                a, sure_a = answer(labels, name, k, sample_weight=huge, n_jobs=1)
                b, sure_b = answer(labels, name, k, sample_weight=huge, n_jobs=2)
                same = np.array_equal(a, b) and np.array_equal(sure_a, sure_b, equal_nan=True)
                self.compare("threads", same, f"{where}, weights from 0.1 to 1e9")
            except ValueError:
                self.asked["refused"] += 1
        if self.program and number % 20 == 0:
            self.by_program(labels, name, k, first, where, pieces=number % 40 == 0)

    def by_program(self, labels: np.ndarray, name: str, k, expected: np.ndarray, where: str, pieces: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            head = ["id", *(f"m{h}" for h in range(labels.shape[1]))]
            rows = [[f"o{i}", *("" if x < 0 else x for x in row)] for i, row in enumerate(labels)]
            path = Path(folder) / "labels.csv"
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([head, *rows])
            asked = [] if k == "auto" else ["--k", str(k)]
            words = ["--id", "id", "--method", name, *asked, "-o"]
            found = self.told([str(path), *words, f"{folder}/out.csv"], folder, where)
            if found is not None:
                self.compare("program", found == [int(x) for x in expected], where)
            if pieces and len(rows) > 2:
                import pyarrow
                import pyarrow.parquet

                parts = Path(folder) / "parts"
                parts.mkdir()
                cuts = [0, len(rows) // 3, len(rows) // 2, len(rows)]
                for part, (start, end) in enumerate(zip(cuts, cuts[1:])):
                    columns = {c: [str(row[j]) or None for row in rows[start:end]] for j, c in enumerate(head)}
                    pyarrow.parquet.write_table(pyarrow.table({c: pyarrow.array(v, pyarrow.string()) for c, v in columns.items()}), parts / f"{part}.parquet")
                found = self.told([str(parts), *words, f"{folder}/rows.csv"], folder, where)
                if found is not None:
                    self.compare("rows", found == [int(x) for x in expected], where)

    def told(self, words: list[str], folder: str, where: str) -> list[int] | None:
        done = subprocess.run([self.program, "combine", *words], capture_output=True, text=True, cwd=folder)
        if done.returncode:
            self.compare("program", False, f"{where}: {done.stderr[-200:]}")
            return None
        with open(words[-1], newline="") as file:
            return [int(row["cluster"] or -1) for row in csv.DictReader(file)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="one case by its number")
    args = parser.parse_args()
    trial = Trial(args.program.resolve() if args.program else None)
    begin, number = time.monotonic(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if args.only is not None:
            trial.case(args.only, args.seed)
        while args.only is None and number < args.cases and time.monotonic() < begin + args.minutes * 60:
            trial.case(number, args.seed)
            number += 1
    print(f"\n{number} ensembles; compared: {json.dumps(trial.asked)}; differences: {len(trial.differences)}; {time.monotonic() - begin:.0f} seconds")
    sys.exit(bool(trial.differences))


if __name__ == "__main__":
    main()
