#!/usr/bin/env python3
"""How good the methods are on labels alone: all of them beside `auto`, the number of clusters given.

    make labels [DATA=folder] [METHODS="lwea lwgp"]  # everything, into an environment of its own
    python benches/accuracy/labels.py --program consilience --data folder -o labels.json [METHOD ...]

The protocol of the field: of every labelled set a pool of 100 k-means members with 2 to sqrt(n) clusters each, of
which 10 and 20 are drawn, ten times; rows shuffled, at most 2,000 of a set. Prints the mean normalised mutual
information and adjusted Rand index of every method, of `auto` and of the members themselves, for the tuning
half and the judging half of the sets apart (the halves of `make accuracy`, by a hash of the name). A star marks
methods that were not told the number of clusters, as they find it themselves. Methods whose time grows with the cube
of the distinct objects are left out where those are too many, and a method that took more than --limit seconds for
one draw is left out of the later draws of that set; their rows say of how many sets they are, or "not done". Pools
and results are kept beside the JSON file: what was computed before is not computed again, unless its name starts as
one of --again.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from sets import Set, digest, sets

# Rows of a set, members of a pool, members drawn.
ROWS = 2000
POOL = 100
DRAWN = (10, 20)

# Forms of methods that are not the default.
VARIANTS = {
    "lwea, normalised certainty": ("lwea", ["certainty=normalised"]),
    "lwgp, normalised certainty": ("lwgp", ["certainty=normalised"]),
}

# Distinct objects up to which methods are run that work on all pairs many times over.
MOST = {"rce": 150, "rmsc": 100, "gwca": 600, "ec-cms": 600, "sdgca": 300}

# One result: normalised mutual information, adjusted Rand index, seconds.
Result = tuple[float, float, float]


class Program:
    """The command line, with files in a folder of its own."""

    def __init__(self, path: str, folder: Path, pools: Path) -> None:
        self.path, self.folder, self.pools = path, folder, pools
        table = json.loads(self.run("methods", "--json"))["methods"]
        # Methods on networks have no edges here.
        self.methods = [row["name"] for row in table if not row["needs_edges"]]
        self.untold = {row["name"] for row in table if row["chooses_k"] == "always"}

    def run(self, *arguments: object) -> str:
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def pool(self, on: Set) -> np.ndarray:
        """The members, one column each: the same for everyone, as the seed is that of the name."""
        kept = self.pools / f"{on.name}.npy"
        if kept.exists():
            return np.load(kept)
        points, made = self.folder / "points.npy", self.folder / "pool.csv"
        np.save(points, on.points[:ROWS])
        most, seed = math.isqrt(min(len(on.points), ROWS)), int(digest(on.name)[:8], 16)
        self.run("generate", points, "--as-features", "--base", "kmeans", "--size", POOL, "--base-k", f"2..{most}",
                 "--scale", "none", "--seed", seed, "--force", "-o", made)  # fmt: skip
        columns = read(made)
        pool = np.array([columns[name] for name in columns if name != "id"], dtype=np.int32).T
        self.pools.mkdir(parents=True, exist_ok=True)
        np.save(kept, pool)
        return pool

    def combine(self, members: np.ndarray, names: list[str], k: int, draw: int) -> dict[str, tuple[np.ndarray, float]]:
        """The labels and seconds of each."""
        table, one, everyone = (self.folder / name for name in ("members.npy", "one.csv", "all.csv"))
        np.save(table, members)
        common = (table, "--k", k, "--seed", draw, "--json", "--force", "-o", one)
        found = {}
        plain = [name for name in names if name in self.methods]
        if plain:
            # Two at least are compared; k is told to those that take it.
            several = plain if len(plain) > 1 else [*plain, "best-member" if plain != ["best-member"] else "voting"]
            told = json.loads(self.run("combine", *common, "--method", ",".join(several), "--all-labels", everyone))
            columns = read(everyone)
            found = {name: (columns[name], told["method_seconds"][name]) for name in plain if name in columns}
        for name in (name for name in names if name not in self.methods):
            method, settings = VARIANTS.get(name, ("auto", ()))
            told = json.loads(self.run("combine", *common, "--method", method, *(x for s in settings for x in ("--set", s))))
            found[name] = (read(one)["cluster"], told["seconds"]["consensus"])
        return found


def read(path: Path, coded: bool = True) -> dict[str, np.ndarray]:
    """The columns of a table, labels coded from 0."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    columns = {name: np.array(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)}
    return {name: np.unique(column, return_inverse=True)[1] if coded else column for name, column in columns.items()}


def scores(truth: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    known = truth >= 0
    truth, labels = truth[known], labels[known]
    return float(normalized_mutual_info_score(truth, labels)), float(adjusted_rand_score(truth, labels))


def mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def compute(program: Program, on: Set, kept: dict[str, dict], wanted: list[str], draws: int, again: list[str], limit: float) -> None:
    """Fills in what `kept` does not have of this set."""
    truth, pool, slow = on.labellings[0][:ROWS], None, set()
    for drawn in DRAWN:
        for draw in range(draws):
            answers: dict[str, Result] = kept.setdefault(f"{on.name} {drawn} {draw}", {})
            for name in [name for name in answers if any(name.startswith(start) for start in again)]:
                del answers[name]
            missing = [name for name in wanted if name not in answers]
            if not missing:
                continue
            pool = program.pool(on) if pool is None else pool
            rng = np.random.default_rng([draw, drawn, int(digest(on.name)[:8], 16)])
            members = pool[:, rng.choice(POOL, drawn, replace=False)]
            distinct = len(np.unique(members, axis=0))
            if "members" in missing:
                own = [scores(truth, column) for column in members.T]
                answers["members"] = (mean([s[0] for s in own]), mean([s[1] for s in own]), 0.0)
            able = [name for name in missing if name != "members" and distinct <= MOST.get(name, ROWS) and name not in slow]
            for name, (labels, seconds) in program.combine(members, able, on.k, draw).items():
                answers[name] = (*scores(truth, labels), seconds)
                if seconds > limit:
                    slow.add(name)


def table(kept: dict[str, dict], names: list[str], wanted: list[str], untold: set[str], drawn: int, draws: int) -> list[str]:
    rows = []
    for contender in wanted:
        of_sets = []
        for name in names:
            keys = (f"{name} {drawn} {draw}" for draw in range(draws))
            found = [kept[key][contender] for key in keys if contender in kept[key]]
            if len(found) == draws:
                of_sets.append([mean([result[i] for result in found]) for i in range(3)])
        nmi, ari, seconds = (mean([own[i] for own in of_sets]) for i in range(3))
        shown = f"{nmi:.3f} | {ari:.3f} | {seconds:.3f}" if of_sets else "not done | | "
        star = " *" if contender in untold else ""
        rows.append((-nmi, f"| {contender}{star} | {shown} | {len(of_sets)} |", len(of_sets)))
    # Those that were run on some of the sets only stand apart: their means are of other sets.
    rows.sort(key=lambda row: (row[2] < len(names), row[2] == 0, row[0]))
    return ["| method | NMI | ARI | seconds | sets |", "|---|---|---|---|---|", *(row[1] for row in rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", help="methods; all by default. `auto` and the members are always there")
    parser.add_argument("--program", default="consilience", help="the command line")
    parser.add_argument("--data", type=Path, help="the folder with the labelled sets")
    parser.add_argument("-o", "--output", type=Path, default=Path("labels.json"), help="where results are kept")
    parser.add_argument("--draws", type=int, default=10, help="draws of members of every set")
    parser.add_argument("--again", action="append", default=[], help="methods to be run anew, by the start of a name")
    parser.add_argument("--limit", type=float, default=30, help="seconds for a draw, after which a method is left out of the set's later draws")
    parser.add_argument("--half", choices=["tuning", "judging", "both"], default="both")
    parser.add_argument("--sets", help="names with commas between; all by default")
    parser.add_argument("--by-set", action="store_true", help="also print every set")
    args = parser.parse_args()

    folder = tempfile.TemporaryDirectory()
    program = Program(args.program, Path(folder.name), args.output.with_suffix("") / "pools")
    named = args.methods or [*program.methods, *VARIANTS]
    wanted = ["members", "auto", *(name for name in named if name != "auto")]
    kept = json.loads(args.output.read_text()) if args.output.exists() else {}
    halves: dict[str, list[str]] = {"tuning": [], "judging": []}
    missing: list[str] = []
    for on in sets(args.data, 0, missing):
        half = "judging" if on.judging else "tuning"
        chosen = args.sets is None or on.name in args.sets.split(",")
        if on.kind != "real" or args.half not in (half, "both") or not chosen:
            continue
        compute(program, on, kept, wanted, args.draws, args.again, args.limit)
        halves[half].append(on.name)
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(json.dumps(kept))
        print(f"{on.name}: {min(len(on.points), ROWS)} rows, {on.k} classes", flush=True)
    if missing:
        print(f"Not at hand, hence left out: {', '.join(missing)}.")
    most = ", ".join(f"{name} {limit}" for name, limit in MOST.items())
    print(f"At most {ROWS} rows of a set. Left out above so many distinct objects: {most}; and after {args.limit:g} s for a draw.")
    print("* finds the number of clusters itself.")
    for half, names in halves.items():
        for drawn in DRAWN if names else ():
            print(f"\n## The {half} half: {len(names)} sets, {drawn} members, {args.draws} draws\n")
            print(*table(kept, names, wanted, program.untold, drawn, args.draws), sep="\n")
            for name in names if args.by_set else ():
                print(f"\n### {name}\n", *table(kept, [name], wanted, program.untold, drawn, args.draws), sep="\n")


if __name__ == "__main__":
    main()
