#!/usr/bin/env python3
"""Ours against others: the same work, the same data, the same run.

    make bench                                       # everything, into an environment of its own
    python benches/peers/run.py --list
    python benches/peers/run.py kmeans-16 fuzzy --data /tmp/bench -o bench.json

Every contestant works in a process of its own, one after the other, with a time limit; of each the
fastest round counts. A ratio below 1 means that ours is faster. Data are made with fixed seeds and
kept in the data folder. A contestant that is not installed or fails is a row with its reason.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path

import contests
import harness
import numpy as np


def copy_rate() -> float:
    """Gigabytes a second that one large copy moves, read and write counted."""
    source = np.ones(1 << 27)
    target = np.empty_like(source)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return 2 * source.nbytes / best / 1e9


def multiply_rate(dtype: type) -> float:
    """10^9 multiplications (with their additions) a second of a product of matrices."""
    a = np.random.default_rng(0).standard_normal((2000, 2000)).astype(dtype)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 2000**3 / best / 1e9


def line(contest: harness.Contest, answers: dict[str, dict], rates: dict[str, float]) -> list[str]:
    ours = answers["ours"]
    rows = []
    for name, answer in answers.items():
        if "failed" in answer:
            rows.append(f"| {contest.name} | {name} | – | – | – | {answer['failed']} |")
            continue
        ratio = "" if name == "ours" or "failed" in ours else f"{ours['seconds'] / answer['seconds']:.3f}"
        if name == "ours" and contest.limit:
            kind, amount = contest.limit.split()
            ratio = f"{answer['seconds'] / (float(amount) / rates[kind]):.2f} × the limit"
        quality = "" if answer["quality"] is None else f"{contest.quality} {answer['quality']:.6g}"
        rows.append(
            f"| {contest.name} | {name} | {answer['seconds']:.3f} | {ratio} | {answer['peak MiB']:.0f} | {quality} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="contests; all by default")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "consilience-bench")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds that repeating may take")
    parser.add_argument("-o", "--output", type=Path, help="a JSON file; a table goes to its .md neighbour")
    parser.add_argument("--child", nargs=2, metavar=("CONTEST", "CONTESTANT"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    known = {contest.name: contest for contest in contests.ALL}
    if args.child:
        harness.child(known[args.child[0]], args.child[1], args.data, args.limit)
        return
    if args.list:
        for contest in contests.ALL:
            print(f"{contest.name:18} {', '.join(contest.contestants):50} {contest.notes}")
        return
    for name in args.names:
        if name not in known:
            parser.error(f"no contest `{name}`; there are {', '.join(known)}")

    rates = {"copy": copy_rate(), "multiply": multiply_rate(np.float64), "multiply32": multiply_rate(np.float32)}
    measured = (
        f"Copies {rates['copy']:.1f} GB/s (read and write); products of matrices {rates['multiply']:.1f} * 10^9 "
        f"multiplications a second in f64, {rates['multiply32']:.1f} in f32."
    )
    print(measured + "\n")
    table = ["| contest | who | seconds | ours / theirs | peak MiB | quality |", "|---|---|---|---|---|---|"]
    print("\n".join(table), flush=True)
    results = {}
    for contest in [known[name] for name in args.names] or contests.ALL:
        harness.load(contest, args.data)
        answers = {name: harness.run(contest, name, args.data, args.limit) for name in contest.contestants}
        results[contest.name] = answers
        rows = line(contest, answers, rates)
        table += rows
        print("\n".join(rows), flush=True)
    if args.output:
        record = {"machine": platform.processor() or platform.machine(), "rates": rates, "contests": results}
        args.output.write_text(json.dumps(record, indent=1) + "\n")
        args.output.with_suffix(".md").write_text(f"{measured}\n\n" + "\n".join(table) + "\n")


main()
