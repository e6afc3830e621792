#!/usr/bin/env python3
"""The trials of confidences in docs/comparison.md; `make labels` compares the methods, benches/accuracy/number.py the numbers.

    scripts/comparison.py confidence --data DIR [--program consilience] [--draws 20] [SET ...]

`confidence`: whether halves of the members are sure of the same objects as all of them, and whether
objects that are surely placed are rightly placed.
Features are scaled as by default (zscore). Only the standard library is needed.
"""

import argparse
import csv
import gzip
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
    parser.add_argument("what", choices=["confidence"])
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data")
    parser.add_argument("--program", default="consilience")
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_intermixed_args()
    confidence(options)


if __name__ == "__main__":
    main()
