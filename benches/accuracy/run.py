#!/usr/bin/env python3
"""How good the default is: ours beside the peers on sets with known clusters, the number given.

    make accuracy [QUICK=1] [DATA=folder]            # everything, into an environment of its own
    python benches/accuracy/run.py --data folder -o accuracy.json

Prints, for the tuning half and the judging half apart, the mean adjusted Rand index and normalised
mutual information, how often each is best, and the time; then the means of every kind, and the sets
on which ours loses most. Results are kept in the JSON file: a contender that was run on a set before
is not run again, unless it is named in --again (`make accuracy` names ours).
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from contenders import CONTENDERS, labels_of
from sets import Set, sets

# Above this distance from the best, a set counts as lost.
LOSS = 0.05


def score(found: np.ndarray, on: Set) -> tuple[float, float]:
    """ARI and NMI with the labelling that agrees best, without the noise."""
    scores = []
    for labels in on.labellings:
        known = labels >= 0
        pair = labels[known], found[known]
        scores.append((adjusted_rand_score(*pair), normalized_mutual_info_score(*pair)))
    return max(scores)


def measure(name: str, on: Set) -> dict:
    start = time.perf_counter()
    try:
        found = labels_of(name, on.points, on.k)
    except Exception as problem:  # a peer that fails on a set has found nothing there
        return {"ari": 0.0, "nmi": 0.0, "seconds": 0.0, "problem": f"{type(problem).__name__}: {problem}"}
    seconds = time.perf_counter() - start
    ari, nmi = score(found, on)
    return {"ari": ari, "nmi": nmi, "seconds": seconds}


def mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def by_family(results: dict[str, dict], names: list[str], contender: str, what: str) -> list[float]:
    """One value per shape: seeds of one shape are one set, or shapes would count several times."""
    families = defaultdict(list)
    for name in names:
        families[results[name]["family"]].append(results[name]["scores"][contender][what])
    return [mean(values) for values in families.values()]


def table(results: dict[str, dict], names: list[str]) -> list[str]:
    wins = dict.fromkeys(CONTENDERS, 0)
    for name in names:
        scores = {c: results[name]["scores"][c]["ari"] for c in CONTENDERS}
        best = max(scores.values())
        for contender, ari in scores.items():
            wins[contender] += ari >= best - 0.005
    rows = ["| | ARI | NMI | best or within .005 | seconds |", "|---|---|---|---|---|"]
    for c in CONTENDERS:
        ari, nmi = (mean(by_family(results, names, c, what)) for what in ("ari", "nmi"))
        seconds = sum(results[name]["scores"][c]["seconds"] for name in names)
        rows.append(f"| {c} | {ari:.3f} | {nmi:.3f} | {wins[c]} of {len(names)} | {seconds:.0f} |")
    return rows


def kinds(results: dict[str, dict], names: list[str]) -> list[str]:
    listed = list(dict.fromkeys(results[name]["kind"] for name in names))
    rows = ["| | " + " | ".join(listed) + " |", "|---" * (len(listed) + 1) + "|"]
    for c in CONTENDERS:
        of_kind = ([name for name in names if results[name]["kind"] == kind] for kind in listed)
        rows.append(f"| {c} | " + " | ".join(f"{mean(by_family(results, n, c, 'ari')):.3f}" for n in of_kind) + " |")
    return rows


def losses(results: dict[str, dict], names: list[str]) -> list[str]:
    rows = []
    for name in names:
        scores = {c: s["ari"] for c, s in results[name]["scores"].items() if c in CONTENDERS}
        best = max(scores, key=scores.__getitem__)
        if scores[best] > scores["ours"] + LOSS:
            behind = scores[best] - scores["ours"]
            rows.append((behind, f"| {name} | {results[name]['kind']} | {scores['ours']:.3f} | {scores[best]:.3f} | {best} |"))
    head = ["| set | kind | ours | best | by |", "|---|---|---|---|---|"]
    return head + [row for _, row in sorted(rows, reverse=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with the batteries and the labelled sets")
    parser.add_argument("-o", "--output", type=Path, default=Path("accuracy.json"), help="where results are kept")
    parser.add_argument("--seeds", type=int, default=3, help="draws of every shape")
    parser.add_argument("--quick", action="store_true", help="one draw of every shape, sets of at most 2,000 rows")
    parser.add_argument("--again", action="append", default=[], help="contenders to be run anew, by the start of a name")
    parser.add_argument("--half", choices=["tuning", "judging", "both"], default="both")
    args = parser.parse_args()

    kept = json.loads(args.output.read_text()) if args.output.exists() else {}
    results: dict[str, dict] = {}
    missing: list[str] = []
    for on in sets(args.data, 1 if args.quick else args.seeds, missing):
        half = "judging" if on.judging else "tuning"
        if args.half not in (half, "both") or (args.quick and len(on.points) > 2000):
            continue
        family = on.name.rsplit("-", 1)[0]
        entry = {"kind": on.kind, "half": half, "family": family, "n": len(on.points), "d": on.points.shape[1], "k": on.k}
        known = {
            contender: answer
            for contender, answer in kept.get(on.name, {}).get("scores", {}).items()
            if not any(contender.startswith(again) for again in args.again)
        }
        entry["scores"] = {c: known.get(c) or measure(c, on) for c in CONTENDERS}
        results[on.name] = kept[on.name] = entry
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(json.dumps(kept, indent=1))
        print(f"{on.name}: ours {entry['scores']['ours']['ari']:.3f}", flush=True)
    for name, entry in results.items():
        for contender, answer in entry["scores"].items():
            if "problem" in answer:
                print(f"{contender} failed on {name}: {answer['problem']}")
    if missing:
        print(f"Not at hand, hence left out: {', '.join(missing)}.")
    for half in ("tuning", "judging"):
        names = [name for name, entry in results.items() if entry["half"] == half]
        if names:
            print(f"\n## The {half} half: {len(names)} sets\n", *table(results, names), sep="\n")
            print("\nMean ARI by kind:\n", *kinds(results, names), sep="\n")
            print(f"\nSets on which ours is more than {LOSS} behind the best:\n", *losses(results, names), sep="\n")


if __name__ == "__main__":
    main()
