"""The sets of the suite: our shapes, the batteries and the labelled sets, and who is judged on what.

Half of the names of every kind are for tuning and half for judging, by a hash of the name, so that
the split was there before anything was tuned and no set can be moved. The batteries are for tuning.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_matrix, diags
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize, scale

from shapes import SHAPES

# Rows of a set that are used at most, drawn with a fixed seed.
MOST = 5000

BATTERIES = {
    "rings": ["fcps/atom", "fcps/chainlink", "fcps/target", "graves/ring", "graves/ring_noisy", "graves/ring_outliers"],
    "chains": ["fcps/lsun", "graves/line", "graves/parabolic", "graves/zigzag", "graves/zigzag_noisy", "graves/zigzag_outliers"],
    "mixtures": ["fcps/engytime", "fcps/hepta", "fcps/tetra", "fcps/twodiamonds", "fcps/wingnut", "graves/fuzzyx"],
    "unequal": ["graves/dense"],
}  # fmt: skip

# The sets of the demonstrations, for tuning as well: they must come out.
DEMOS = {
    "rings": ["synth_3rings"],
    "chains": ["synth_half_rings", "synth_half_rings_100_300"],
    "mixtures": ["synth_gauss2_1000_d7", "synth_gauss2_200_d10"],
    "unequal": ["synth_cigar"],
}

# One file of each source, so that no set of the judging half is a part of one of the tuning half.
REAL = [
    "coil20", "glass", "image_test", "ionosphere", "iris", "isolet6", "jaffe", "letter", "mnist5000", "optdigits_test",
    "orl", "pendigits_test", "satimage", "semeion", "spambase", "usps", "wbc", "wine", "yale",
]  # fmt: skip
TEXTS = ["hitech", "k1b", "medical", "tr23", "wap"]


@dataclass(frozen=True)
class Set:
    """Points with known clusters; several labellings if several are right."""

    name: str
    kind: str
    judging: bool
    points: np.ndarray
    labellings: list[np.ndarray]

    @property
    def k(self) -> int:
        return len(np.unique(self.labellings[0][self.labellings[0] >= 0]))


def digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def judging() -> set[str]:
    """The names of the judging half: every second one of each kind, in the order of their hashes."""
    names = [(kind, name) for name, (kind, _) in SHAPES.items()]
    names += [("real", name) for name in REAL + TEXTS]
    halves = set()
    for _, group in itertools.groupby(sorted(names), lambda entry: entry[0]):
        halves.update(sorted((name for _, name in group), key=digest)[1::2])
    return halves


def shuffled(name: str, points: np.ndarray, labellings: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The rows in an order that says nothing, and not too many of them."""
    order = np.random.default_rng(int(digest(name)[:8], 16)).permutation(len(points))[:MOST]
    return np.ascontiguousarray(points[order]), [labels[order] for labels in labellings]


def read_table(path: Path) -> tuple[np.ndarray, list[np.ndarray]]:
    """The features and the columns of labels; an empty label is noise."""
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    width = sum(not name.startswith("label") for name in header)
    points = np.array([row[:width] for row in rows], dtype=float)
    labels = [np.array([int(row[j]) if row[j] else -1 for row in rows]) for j in range(width, len(header))]
    return points, labels


def read_text(folder: Path, name: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Counts of terms as 50 components of their weights, rows of length 1: what any clusterer can use."""
    with gzip.open(folder / f"{name}.mtx.gz") as file:
        counts = csr_matrix(mmread(file), dtype=float)
    labels = np.loadtxt(folder / f"{name}.labels.txt", dtype=int)
    rarity = np.log(counts.shape[0] / np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1))
    counts.data = 1 + np.log(counts.data)
    weights = normalize(counts @ diags(rarity))
    return normalize(TruncatedSVD(50, random_state=0).fit_transform(weights)), [labels]


def sets(data: Path | None, seeds: int, missing: list[str]) -> Iterator[Set]:
    """All sets; those that are not at hand are added to `missing`."""
    judged = judging()
    for name, (kind, draw) in SHAPES.items():
        for seed in range(seeds):
            points, labels = draw(np.random.default_rng([seed, int(digest(name)[:8], 16)]))
            full = f"{name}-{seed + 1}"
            points, labellings = shuffled(full, points, [labels])
            yield Set(full, kind, name in judged, points, labellings)
    for folder, group in (("batteries", BATTERIES), ("", DEMOS)):
        for kind, name in ((kind, name) for kind, names in group.items() for name in names):
            if data is None or not (data / folder / f"{name}.csv.gz").exists():
                missing.append(name)
            else:
                yield Set(name, kind, False, *shuffled(name, *read_table(data / folder / f"{name}.csv.gz")))
    for name in REAL + TEXTS:
        suffix = "mtx" if name in TEXTS else "csv"
        if data is None or not (data / f"{name}.{suffix}.gz").exists():
            missing.append(name)
        elif name in TEXTS:
            yield Set(name, "real", name in judged, *shuffled(name, *read_text(data, name)))
        else:
            points, labellings = read_table(data / f"{name}.csv.gz")
            yield Set(name, "real", name in judged, *shuffled(name, scale(points), labellings))
