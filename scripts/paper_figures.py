#!/usr/bin/env python3
"""Prints the figures of the five founding papers beside ours, as Markdown tables.

    cargo build --release --package consilience-cli
    python3 scripts/paper_figures.py DATA [--only scec sa ...] [--seeds N] [--grid]

DATA is a folder with the papers' data sets as NAME.csv.gz: features, and the classes in a column
`label` (docs/paper-figures.md lists them; sets that are not there are left out). Every figure is the
mean over seeds of `consilience run`, on features as they are; the command stands above its table.
Classes are used to score and for nothing else, but for the rows that --grid adds, which say so.
Needs nothing but Python's standard library.
"""

import argparse
import csv
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Bench:
    """The program, the data, and a folder for what it writes."""

    def __init__(self, arguments, scratch):
        self.program = arguments.program
        self.data = pathlib.Path(arguments.data)
        self.scratch = pathlib.Path(scratch)
        self.seeds = arguments.seeds
        self.grid = arguments.grid
        listed = self.call("methods", "--json")
        self.methods = {method["name"] for method in json.loads(listed)["methods"]}

    def call(self, *words):
        command = [self.program, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return done.stdout

    def has(self, name):
        return (self.data / f"{name}.csv.gz").exists()

    def run(self, name, seed, *options):
        """The summary of one `consilience run`."""
        out = self.scratch / name
        words = ["run", self.data / f"{name}.csv.gz", "--truth", "label", "--scale", "none"]
        words += ["--seed", seed, "--fresh", "--force", "--json", "-o", out, *options]
        return json.loads(self.call(*words))

    def combine(self, name, seed, *options):
        """The labels of another method on the members that `run` made last, and the summary."""
        out = self.scratch / f"{name}.csv"
        words = ["combine", self.scratch / name / "ensemble.parquet", "--seed", seed]
        return out, json.loads(self.call(*words, "--force", "--json", "-o", out, *options))

    def score(self, labels, name):
        """All scores of `labels` against the classes, NMI over the larger entropy among them."""
        truth = self.scratch / f"{name}.truth.csv"
        if not truth.exists():
            with gzip.open(self.data / f"{name}.csv.gz", "rt") as rows:
                classes = [row["label"] for row in csv.DictReader(rows)]
            truth.write_text("label\n" + "\n".join(classes) + "\n")
        words = ["score", labels, "--drop", "confidence", "--truth", truth]
        words += ["--metric", "nmi-max", "--json"]
        return json.loads(self.call(*words))

    def classes(self, name):
        with gzip.open(self.data / f"{name}.csv.gz", "rt") as rows:
            return len({row["label"] for row in csv.DictReader(rows)})


def table(title, command, heads, rows):
    print(f"### {title}\n\n```\n{command}\n```\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)


def spread(values):
    values = list(values)
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.4f} ± {deviation:.4f}"


# Long, Zhang, Yu 2005, tables 2 to 7: NMI (geometric) of SCEC for RI ensembles.
SCEC = [
    ("iris", 20, 3, 0.7528),
    ("pendigits_test", 20, 10, 0.6756),
]


def scec(bench):
    rows = []
    for name, size, k, paper in SCEC:
        if not bench.has(name):
            continue
        options = ["--scheme", "random-init", "--size", size, "--base-k", k]
        runs = [bench.run(name, s, *options, "-m", "scec", "-k", k) for s in range(bench.seeds)]
        ours = [run["scores"]["consensus"]["nmi"] for run in runs]
        members = [run["scores"]["members_mean"]["nmi"] for run in runs]
        off = statistics.mean(ours) - paper
        rows.append((name, size, k, f"{paper:.4f}", spread(ours), f"{off:+.4f}", spread(members)))
    table(
        f"SCEC, random-init ensembles, {bench.seeds} seeds, NMI (geometric)",
        "consilience run SET.csv.gz --truth label --scale none --scheme random-init "
        "--size R --base-k K -m scec -k K --seed S -o OUT",
        ["set", "r", "k", "paper", "ours", "difference", "single members"],
        rows,
    )


# Gao, Gu, Li, Liao 2007, table 1: error of fuzzy k-means on all features.
FUZZY = [("wine", 0.314), ("glass", 0.509)]
# The specification's own runs on Wine (the paper shows its errors as curves only).
WMI = {
    ("wine", "w-mi"): (0.243, 0.206, 0.188),
    ("wine", "f-mi"): (0.249, 0.208, 0.225),
    ("wine", "h-mi"): (0.281, 0.242, 0.275),
    ("wine", "qmi"): (0.287, 0.271, 0.297),
}


def wmi(bench):
    rows = []
    for name, paper in FUZZY:
        if not bench.has(name):
            continue
        k = bench.classes(name)
        options = ["--scheme", "random-init", "--base", "fuzzy-kmeans", "--size", 20, "--base-k", k]
        run = bench.run(name, 0, *options, "-m", "h-mi", "-k", k)
        rows.append((name, paper, f"{run['scores']['members_mean']['error']:.3f}"))
    table(
        "Fuzzy k-means on all features, mean error of 20 starts",
        "consilience run SET.csv.gz --truth label --scale none --scheme random-init "
        "--base fuzzy-kmeans --size 20 --base-k K -m h-mi -k K -o OUT   # members_mean.error",
        ["set", "paper", "ours"],
        rows,
    )
    rows = []
    for name in ["wine", "glass"]:
        if not bench.has(name):
            continue
        k, features = bench.classes(name), {"wine": 4, "glass": 3}[name]
        for method in ["w-mi", "f-mi", "h-mi", "qmi"]:
            if method not in bench.methods:
                continue
            cells = []
            for place, size in enumerate([10, 20, 40]):
                options = ["--scheme", "random-subspace", "--subspace", features, "--size", size]
                options += ["--base", "fuzzy-kmeans", "--base-k", k]
                # As in the paper QMI sees labels, not memberships; h-MI hardens by itself.
                options += [] if method == "qmi" else ["--soft"]
                runs = [
                    bench.run(name, s, *options, "-m", method, "-k", k)
                    for s in range(bench.seeds)
                ]
                ours = spread(run["scores"]["consensus"]["error"] for run in runs)
                known = WMI.get((name, method))
                cells.append(f"{ours} ({known[place]})" if known else ours)
            rows.append((name, method, *cells))
    table(
        f"w-MI, f-MI, h-MI, QMI, error by the best matching, {bench.seeds} seeds "
        "(in brackets: the reference code's ten repeats)",
        "consilience run SET.csv.gz --truth label --scale none --scheme random-subspace "
        "--subspace D/4 --base fuzzy-kmeans --soft --size R --base-k K -m METHOD -k K --seed S -o OUT"
        "   # qmi: without --soft",
        ["set", "method", "r = 10", "r = 20", "r = 40"],
        rows,
    )


def sa(bench):
    rows = []
    for name, paper_k, paper_sd, paper_error in [
        ("iris", 3.00, 0.70, 31.19),
        ("wine", 3.32, None, None),
    ]:
        if not bench.has(name):
            continue
        for low, high in [(2, 5), (2, 8)]:
            options = ["--scheme", "random-k", "--base-k", f"{low}..{high}", "--size", 10]
            runs = [bench.run(name, s, *options, "-m", "sa") for s in range(50)]
            k = [run["k"] for run in runs]
            error = [100 * run["scores"]["consensus"]["error"] for run in runs]
            rows.append((
                name,
                f"{low}..{high}",
                f"{paper_k:.2f}" + (f" ± {paper_sd:.2f}" if paper_sd else ""),
                f"{statistics.mean(k):.2f} ± {statistics.stdev(k):.2f}",
                paper_error or "",
                f"{statistics.mean(error):.2f}",
            ))
    table(
        "SA, ten k-means members, the number of clusters it chooses, 50 seeds",
        "consilience run SET.csv.gz --truth label --scale none --scheme random-k "
        "--base-k A..B --size 10 -m sa --seed S -o OUT",
        ["set", "k of members", "paper's k", "our k", "paper's error %", "our error %"],
        rows,
    )


def voting(bench):
    rows = []
    for name, k, size, paper in [
        ("synth_half_rings", 20, 50, "2 clusters, all right"),
        ("iris", 8, 100, "2 clusters"),
    ]:
        if not bench.has(name):
            continue
        options = ["--scheme", "random-init", "--base", "macqueen", "--base-k", k, "--size", size]
        runs = [bench.run(name, s, *options, "-m", "voting") for s in range(bench.seeds)]
        counts = [run["k"] for run in runs]
        told = ", ".join(f"{c}: {counts.count(c)}" for c in sorted(set(counts)))
        index = [run["scores"]["consensus"]["pc_idx"] for run in runs]
        rows.append((name, k, size, paper, told, spread(index)))
    table(
        f"Voting-k-means, {bench.seeds} seeds",
        "consilience run SET.csv.gz --truth label --scale none --scheme random-init "
        "--base macqueen --base-k K --size R -m voting --seed S -o OUT",
        ["set", "k", "R", "paper", "clusters: seeds", "pc_idx"],
        rows,
    )


# Zhou et al. 2015, table 2: ACC and NMI (over the larger entropy), both weights tuned on the classes.
RCE = [("jaffe", 0.9115, 0.9221), ("orl", 0.6456, 0.7922), ("coil20", 0.7263, 0.8090)]
POWERS = [-4, -2, 0, 2, 4]


def rce(bench):
    rows = []
    for name, accuracy, nmi in RCE:
        if not bench.has(name):
            continue
        k = bench.classes(name)
        options = ["--scheme", "random-init", "--base-k", k, "--size", 20]
        scores = {}
        for seed in range(10):
            bench.run(name, seed, *options, "-m", "rce", "-k", k)
            ways = {"rce": None, "spectral": ["-m", "sa", "-k", k]}
            if bench.grid:
                for e in POWERS:
                    for f in POWERS:
                        tuned = ["--set", f"lambda1=1e{e}", "--set", f"lambda2=1e{f}"]
                        ways[e, f] = ["-m", "rce", "-k", k, *tuned]
            for way, words in ways.items():
                labels = bench.scratch / name / "labels.csv"
                if words is not None:
                    labels, _ = bench.combine(name, seed, *words)
                found = bench.score(labels, name)["scores"][0]
                scores.setdefault(way, []).append((found["accuracy"], found["nmi-max"]))
        mean = {way: [statistics.mean(x) for x in zip(*found)] for way, found in scores.items()}
        rows.append((name, "paper, tuned on the classes", f"{accuracy:.4f}", f"{nmi:.4f}"))
        told = [("rce", "ours, default")]
        told.append(("spectral", "spectral clustering of the same co-association (`sa`, k given)"))
        for way, words in told:
            found = list(zip(*scores[way]))
            rows.append((name, words, spread(found[0]), spread(found[1])))
        if bench.grid:
            e, f = max((way for way in mean if isinstance(way, tuple)), key=lambda way: mean[way])
            best = mean[e, f]
            words = f"*tuned on the classes*: best of the grid, lambda1 1e{e}, lambda2 1e{f}"
            rows.append((name, words, f"{best[0]:.4f}", f"{best[1]:.4f}"))
    table(
        "RCE, 20 k-means members of the true k, ten ensembles",
        "consilience run SET.csv.gz --truth label --scale none --scheme random-init "
        "--base-k K --size 20 -m rce -k K --seed S -o OUT\n"
        "consilience combine OUT/ensemble.parquet -m sa -k K --seed S -o spectral.csv\n"
        "consilience score OUT/labels.csv --drop confidence --truth classes.csv --metric nmi-max",
        ["set", "what", "ACC", "NMI (max)"],
        rows,
    )


# Long, Zhang, Yu 2005, tables 2 and 3, Iris at r = 20 and k = 3: NMI (geometric) of the rivals.
RIVALS = {
    "cspa": (0.692, 0.838),
    "mcla": (0.748, 0.817),
    "qmi": (0.676, 0.676),
    "mmec": (0.726, 0.578),
}


def rivals(bench):
    if not bench.has("iris"):
        return
    schemes = [
        ("RI", ["--scheme", "random-init", "--base-k", 3], 0),
        ("RN, 2..6", ["--scheme", "random-k", "--base-k", "2..6"], 1),
        ("RN, 2..10", ["--scheme", "random-k", "--base-k", "2..10"], 1),
    ]
    rows = []
    for scheme, options, table_of_paper in schemes:
        found = {}
        for seed in range(bench.seeds):
            bench.run("iris", seed, *options, "--size", 20, "-m", "sa", "-k", 3)
            for method in RIVALS:
                if method not in bench.methods:
                    continue
                ways = {"default": []}
                if method in ("qmi", "mmec"):
                    ways["restarts=1"] = ["--set", "restarts=1"]
                for way, words in ways.items():
                    labels, _ = bench.combine("iris", seed, "-m", method, "-k", 3, *words)
                    nmi = bench.score(labels, "iris")["scores"][0]["nmi"]
                    found.setdefault((method, way), []).append(nmi)
        for (method, way), nmi in found.items():
            paper = RIVALS[method][table_of_paper]
            off = statistics.mean(nmi) - paper
            rows.append((scheme, method, way, f"{paper:.3f}", spread(nmi), f"{off:+.3f}"))
    table(
        f"Rivals on Iris, r = 20, k = 3, {bench.seeds} seeds, NMI (geometric)",
        "consilience run iris.csv.gz --truth label --scale none --scheme SCHEME --base-k K "
        "--size 20 -m sa -k 3 --seed S -o OUT\n"
        "consilience combine OUT/ensemble.parquet -m METHOD -k 3 --seed S -o labels.csv\n"
        "consilience score labels.csv --drop confidence --truth classes.csv",
        ["members", "method", "settings", "paper", "ours", "difference"],
        rows,
    )


PARTS = {"scec": scec, "wmi": wmi, "sa": sa, "voting": voting, "rce": rce, "rivals": rivals}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", metavar="DATA", help="the folder of NAME.csv.gz")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=20, help="runs a figure (default 20)")
    parser.add_argument("--grid", action="store_true", help="also tune RCE on the classes (slow)")
    parser.add_argument("--program", default=str(ROOT / "target/release/consilience"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments, scratch)
        for part in arguments.only:
            PARTS[part](bench)


if __name__ == "__main__":
    main()
