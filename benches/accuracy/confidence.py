#!/usr/bin/env python3
"""Whether confidence means something: of the objects with confidence about c, how many are right?

    python benches/accuracy/confidence.py --program consilience --data folder [--half judging]
    python benches/accuracy/confidence.py --program consilience --data folder --fit

An object is right if it is of the class that most objects of its cluster are of. Two uses, the number of classes given:
the features of every set of the suite through the default committee, and pools of k-means labels alone as `labels.py`
draws them (10 and 20 of 100 members, three draws). Prints for each a reliability table, the expected calibration
error (15 bins) and the area under the ROC curve of confidence for being right, over all objects and with all sets
counting alike. `--fit` fits the constants of `judge/confidence.rs` on the tuning half, both uses and all sets of a use counting
alike, and prints them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from labels import DRAWN, POOL, ROWS, Program, read
from sets import Set, digest, sets

BINS = 15
DRAWS = 3
# As in `judge/confidence.rs`: a vote that says nothing, and room for the logarithm of odds.
SILENT, ROOM = 1.0, 0.02


@dataclass
class Answer:
    """One consensus: what is known of every object, how sure it is said to be, and whether it is right."""

    name: str
    known: np.ndarray
    confidence: np.ndarray
    right: np.ndarray


def log_odds(share: np.ndarray) -> np.ndarray:
    return np.log((share + ROOM) / (1 - share + ROOM))


def known(members: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Togetherness, margin, excess size and chance of every object, from the definitions; no label is missing."""
    n, r = members.shape
    k = labels.max() + 1
    support, together = np.zeros((n, k)), np.zeros(n)
    sizes = np.bincount(labels, minlength=k)
    for member in members.T:
        shared = np.zeros((member.max() + 1, k))
        np.add.at(shared, (member, labels), 1)
        support += (shared / shared.sum(1, keepdims=True))[member]
        together += shared[member, labels] / sizes[labels]
    own = support[np.arange(n), labels]
    support[np.arange(n), labels] = 0
    heard = r + SILENT
    margin = 0.5 + 0.5 * (own - support.max(1)) / heard
    excess = np.maximum(np.log(k * sizes[labels] / n), 0)
    return np.column_stack([log_odds(together / heard), log_odds(margin), excess, np.full(n, 1 / k)])


def answer(name: str, on: Set, members: np.ndarray, told: dict[str, list[str]]) -> Answer:
    labels, confidence = (np.array(told[column], dtype=kind) for column, kind in (("cluster", int), ("confidence", float)))
    classes = [truth[: len(labels)] for truth in on.labellings]
    truth = max(classes, key=lambda truth: adjusted_rand_score(truth[truth >= 0], labels[truth >= 0]))
    scored = truth >= 0
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels[scored], truth[scored]), 1)
    right = table.argmax(1)[labels] == truth
    return Answer(name, known(members, labels)[scored], confidence[scored], right[scored])


def from_features(program: Program, on: Set) -> list[Answer]:
    points, folder = program.folder / "points.npy", program.folder / "run"
    np.save(points, on.points)
    program.run("run", points, "--as-features", "--k", on.k, "--force", "--fresh", "-o", folder)
    table = pyarrow.parquet.read_table(folder / "ensemble.parquet")
    columns = (np.array(table[name].to_pylist(), dtype=str) for name in table.column_names)
    members = np.array([np.unique(column, return_inverse=True)[1] for column in columns]).T
    return [answer(on.name, on, members, read(folder / "labels.csv", coded=False))]


def from_labels(program: Program, on: Set) -> list[Answer]:
    pool, found = program.pool(on), []
    table, one = program.folder / "members.npy", program.folder / "one.csv"
    for drawn in DRAWN:
        for draw in range(DRAWS):
            rng = np.random.default_rng([draw, drawn, int(digest(on.name)[:8], 16)])
            members = pool[:, rng.choice(POOL, drawn, replace=False)]
            np.save(table, members.astype(np.int32))
            program.run("combine", table, "--k", on.k, "--seed", draw, "--force", "-o", one)
            found.append(answer(on.name, on, members, read(one, coded=False)))
    return found


def pooled(answers: list[Answer]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidence and being right of all objects, and weights by which all sets count alike."""
    objects = Counter()
    for one in answers:
        objects[one.name] += len(one.right)
    weights = [np.full(len(one.right), 1 / objects[one.name]) for one in answers]
    return tuple(map(np.concatenate, ([a.confidence for a in answers], [a.right for a in answers], weights)))


def calibration_error(confidence: np.ndarray, right: np.ndarray, weights: np.ndarray) -> float:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, weights * (confidence - right))).sum() / weights.sum())


def tell(title: str, answers: list[Answer]) -> None:
    confidence, right, weights = pooled(answers)
    print(f"\n## {title}: {len(set(a.name for a in answers))} sets, {len(right):,} objects\n")
    print("| confidence | objects | mean | right |\n|---|---|---|---|")
    for low in np.arange(0, 1, 0.1):
        own = (confidence >= low) & ((confidence < low + 0.1) | (low > 0.85))
        if own.any():
            print(f"| {low:.1f} to {low + 0.1:.1f} | {own.sum():,} | {confidence[own].mean():.3f} | {right[own].mean():.3f} |")
    print("\n| | error | AUC | mean confidence | right |\n|---|---|---|---|---|")
    for name, w in (("all objects", np.ones(len(right))), ("all sets alike", weights)):
        auc = roc_auc_score(right, confidence, sample_weight=w)
        means = (np.average(values, weights=w) for values in (confidence, right))
        print(f"| {name} | {calibration_error(confidence, right, w):.3f} | {auc:.3f} |", *(f"{m:.3f} |" for m in means))


def fit(uses: list[list[Answer]]) -> None:
    x = np.vstack([a.known for answers in uses for a in answers])
    right = np.concatenate([pooled(answers)[1] for answers in uses])
    weights = [pooled(answers)[2] for answers in uses]
    weights = np.concatenate([w / w.sum() for w in weights])
    model = LogisticRegression(C=1e4, max_iter=1000).fit(x, right, sample_weight=weights * len(weights))
    numbers = ", ".join(f"{value:.3f}" for value in (model.intercept_[0], *model.coef_[0]))
    print(f"\nconst FITTED: [f64; 5] = [{numbers}];")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="consilience", help="the command line")
    parser.add_argument("--data", type=Path, help="the folder with the batteries and the labelled sets")
    parser.add_argument("--half", choices=["tuning", "judging"], default="tuning")
    parser.add_argument("--fit", action="store_true", help="fit the constants; on the tuning half only")
    args = parser.parse_args()
    if args.fit and args.half != "tuning":
        parser.error("--fit is for the tuning half")
    missing: list[str] = []
    features, labels = [], []
    with tempfile.TemporaryDirectory() as folder:
        program = Program(args.program, Path(folder), Path(folder) / "pools")
        for on in sets(args.data, 1, missing):
            if on.judging == (args.half == "judging"):
                features += from_features(program, on)
                labels += from_labels(program, on) if on.kind == "real" else []
    if missing:
        print(f"Not at hand, hence left out: {', '.join(missing)}.")
    tell(f"Features, {args.half} half", features)
    tell(f"Labels alone, {args.half} half (at most {ROWS} rows)", labels)
    if args.fit:
        fit([features, labels])


if __name__ == "__main__":
    main()
