#!/usr/bin/env python3
"""The trials of numbers of clusters and of confidences in docs/comparison.md; `make labels` compares the methods.

    scripts/comparison.py number  --data DIR [--program consilience] [SET ...]
    scripts/comparison.py trials  [--program consilience] [--seeds 20]
    scripts/comparison.py confidence --data DIR [--program consilience] [--draws 20] [SET ...]

`number`: `--k auto` on default ensembles of 50 members, beside single rules.
`trials`: uniform noise, one Gaussian cloud, and separated clusters.
`confidence`: whether halves of the members are sure of the same objects as all of them, and whether
objects that are surely placed are rightly placed.
Features are scaled as by default (zscore). Only the standard library is needed.
"""

import argparse
import csv
import gzip
import json
import math
import random
import subprocess
import tempfile
from pathlib import Path

SETS = [
    "iris", "wine", "glass", "ionosphere", "wbc", "image_train", "jaffe", "yale",
    "opt_first100_per_digit", "ptest_first100_per_digit", "ptrain_first100_per_digit", "semeion",
]


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def read(path):
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def shuffled(data, name, folder):
    header, rows = read(Path(data) / f"{name}.csv.gz")
    random.Random(name).shuffle(rows)
    table = folder / f"{name}.csv"
    write(table, header, rows)
    return table, [row[-1] for row in rows]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def rule(criteria, name):
    return next((r["k"] for r in criteria["rules"] if r["rule"] == name), None)


RULES = ["dominating eigenvalues", "longest lifetime", "fewest undecided pairs",
         "gap of bipartite eigenvalues", "gap of prominences", "most stable halves",
         "end of growing area"]


def criteria_of(program, features, folder, *more):
    # Members first: the combination of saved members is what is told as JSON.
    ensemble = folder / "ensemble.parquet"
    run(program, "generate", "--force", features, "--as-features", "-o", ensemble, *more)
    told = json.loads(run(program, "combine", ensemble, "--k", "auto", "--json", *more[-2:]))
    return told["k_criteria"]


def number(options):
    head = ["--k auto", "runner-up", "clusters?", *RULES]
    print("| set | classes | " + " | ".join(head) + " |\n|---|" + "---|" * (len(head) + 1))
    errors = {}
    for name in options.sets or SETS:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            features, classes = shuffled(options.data, name, folder)
            found = criteria_of(options.program, features, folder, "--drop", "label", "--seed", "0")
            k = len(set(classes))
            said = [found["recommended"], *(rule(found, name) for name in RULES)]
            cells = [said[0], found["runner_up"], found["evidence"]["verdict"], *said[1:]]
            print(f"| {name} | {k} | " + " | ".join("" if c is None else str(c) for c in cells) + " |",
                  flush=True)
            for column, value in zip(["--k auto", *RULES], said):
                errors.setdefault(column, []).append(1 if value is None else abs(value - k) / k)
    print("\nmean |k - classes| / classes: "
          + ", ".join(f"{column} {mean(values):.2f}" for column, values in errors.items()))


def cloud(kind, n, d, rng):
    draw = rng.random if kind == "uniform" else (lambda: rng.gauss(0, 1))
    return [[draw() for _ in range(d)] for _ in range(n)]


def blobs(c, n, d, apart, rng):
    """Clusters of deviation 1 whose centres are at least `apart` from each other."""
    centres, side, tries = [], apart * c ** (1 / min(d, 4)) * 1.3, 0
    while len(centres) < c:
        centre = [rng.random() * side for _ in range(d)]
        if all(math.dist(centre, other) >= apart for other in centres):
            centres.append(centre)
        tries += 1
        if tries % 200 == 0:
            side *= 1.1
    return [[x + rng.gauss(0, 1) for x in centres[i % c]] for i in range(n)]


def trials(options):
    def recommended(rows, seed):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            table = folder / "data.csv"
            write(table, [f"x{j}" for j in range(len(rows[0]))], rows)
            return criteria_of(options.program, table, folder, "--seed", seed)["recommended"]

    for n, d in [(200, 2), (200, 5), (500, 2), (500, 10)]:
        for kind in ["uniform", "gaussian"]:
            ks = [recommended(cloud(kind, n, d, random.Random(f"{kind} {d} {s}")), s)
                  for s in range(options.seeds)]
            print(f"{kind}, n = {n}, d = {d}: k = 1 in {ks.count(1)} of {len(ks)}", flush=True)
    for n, d, apart in [(300, 2, 8), (300, 5, 8), (600, 2, 6)]:
        right, wrong = 0, []
        for c in range(2, 13):
            for s in range(options.repeats):
                rng = random.Random(f"blobs {c} {d} {s}")
                k = recommended(blobs(c, n, d, apart, rng), s)
                right += k == c
                if k != c:
                    wrong.append((c, k))
        total = 11 * options.repeats
        print(f"separated by {apart} deviations, n = {n}, d = {d}: right in {right} of {total}"
              + (f" (centres, found: {wrong})" if wrong else ""), flush=True)


def ranks(values):
    """Ranks, equal values sharing their mean."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            found[i] = (at + end - 1) / 2
        at = end
    return found


def correlation(a, b):
    a, b = ranks(a), ranks(b)
    ma, mb = mean(a), mean(b)
    va, vb = sum((x - ma) ** 2 for x in a), sum((y - mb) ** 2 for y in b)
    if va == 0 or vb == 0:
        return math.nan
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / math.sqrt(va * vb)


def right_first(sure, right):
    """How often a rightly placed object is surer than a wrongly placed one, ties by half."""
    place = ranks(sure)
    hits = [p for p, ok in zip(place, right) if ok]
    if not hits or len(hits) == len(right):
        return math.nan
    least = len(hits) * (len(hits) - 1) / 2
    return (sum(hits) - least) / (len(hits) * (len(right) - len(hits)))


def confidence(options):
    print("| set | rank correlation | mean difference | surer if right |\n|---|---|---|---|")
    for name in options.sets or SETS:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            features, classes = shuffled(options.data, name, folder)
            k = len(set(classes))
            run(options.program, "generate", "--force", features, "--drop", "label", "--size", 50, "--as-features",
                "-o", folder / "members.csv")
            with open(folder / "members.csv", newline="") as file:
                header, *rows = list(csv.reader(file))
            first = 1 if header[0] == "id" else 0

            def combined(columns, file):
                write(folder / "some.csv", ["id", *(header[c] for c in columns)],
                      ([i, *(row[c] for c in columns)] for i, row in enumerate(rows)))
                run(options.program, "combine", "--force", folder / "some.csv", "--id", "id", "--k", k, "-o", file)
                with open(file, newline="") as told:
                    told = list(csv.DictReader(told))
                return [row["cluster"] for row in told], [float(row["confidence"]) for row in told]

            labels, sure = combined(range(first, len(header)), folder / "all.csv")
            pairs = []
            for draw in range(options.draws):
                half = random.Random(f"{name} {draw}").sample(range(first, len(header)), 25)
                other = combined(sorted(half), folder / "half.csv")[1]
                pairs.append((correlation(sure, other), mean(abs(a - b) for a, b in zip(sure, other))))
            major = {}
            for label, own in zip(labels, classes):
                counts = major.setdefault(label, {})
                counts[own] = counts.get(own, 0) + 1
            right = [max(major[label], key=major[label].get) == own
                     for label, own in zip(labels, classes)]
            print(f"| {name} | {mean(p[0] for p in pairs):.2f} | {mean(p[1] for p in pairs):.3f} "
                  f"| {right_first(sure, right):.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["number", "trials", "confidence"])
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data")
    parser.add_argument("--program", default="consilience")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_intermixed_args()
    {"number": number, "trials": trials, "confidence": confidence}[options.what](options)


if __name__ == "__main__":
    main()
