#!/usr/bin/env python3
"""The same questions to two builds of the program, and whether they answer the same.

    tests/platforms/compare.py REFERENCE -- COMMAND...

REFERENCE is the program built for this machine, COMMAND the other one with whatever runs it, such as
`qemu-aarch64 -L /usr/aarch64-linux-gnu target/.../consilience` or `wine64 consilience.exe`. Every method that
combines labels is asked about five tables, each with a seed of its own, and every base clusterer makes an
ensemble of five tables of features. Three things are compared: labels, byte for byte; the whole table that is
written, with the confidence of every object; and all other numbers of the answer, by the largest
difference, relative to numbers above 1. Ends with 1 if any labels differ.

Emulators die now and then without the program: Wine's server, for one, kills by signal 9 what does not end
within about a second of its last call, which happens on a busy machine. A call under an emulator that ends by a
signal, or with a message of the emulator's own, is made again, up to twice, and counted. What the program itself
says (an exit code, a panic, another answer) is never asked for again.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEEDS = range(5)
OBJECTS = 240
MEMBERS = 12
BASES = ["kmeans", "fuzzy-kmeans", "macqueen", "minibatch-kmeans", "u-spec", "gmm", "spectral", "genie", "ward", "density"]


# How often a call is made before its deaths are no accident.
TRIES = 3
# How emulators begin what they say on stderr if they cannot go on.
LOADERS = (b"wine: ", b"wine client error", b"wineserver", b"qemu: ", b"qemu-")
# ... and what they say although they go on, or of the program itself.
HARMLESS = (b"warning", b"configuration in", b"uncaught target signal")


def labels_table(path: Path, seed: int) -> None:
    """Clusterings of four groups: of two to seven clusters, a fifth of the labels at random."""
    draw = random.Random(seed)
    rows = [",".join(f"m{j}" for j in range(MEMBERS))]
    sizes = [draw.randint(2, 7) for _ in range(MEMBERS)]
    for i in range(OBJECTS):
        row = [(i % 4) % k if draw.random() < 0.8 else draw.randrange(k) for k in sizes]
        rows.append(",".join(map(str, row)))
    path.write_text("\n".join(rows) + "\n")


def features_table(path: Path, seed: int) -> None:
    """Four clouds in five dimensions that touch; decimals are short, so every machine reads the same."""
    draw = random.Random(100 + seed)
    rows = [",".join(f"x{j}" for j in range(5))]
    for i in range(OBJECTS):
        centre = i % 4
        row = [2 * (centre >> j & 1) + sum(draw.random() for _ in range(4)) - 2 for j in range(5)]
        rows.append(",".join(f"{x:.4f}" for x in row))
    path.write_text("\n".join(rows) + "\n")


def death(done: subprocess.CompletedProcess[bytes]) -> str | None:
    """How an emulator died in a call, if it did and the program said nothing."""
    if done.returncode == 0 or b"panicked at" in done.stderr:
        return None
    if done.returncode < 0:
        return f"signal {-done.returncode} ({signal.strsignal(-done.returncode)})"
    said = [line for line in done.stderr.splitlines() if line.startswith(LOADERS) and not any(word in line for word in HARMLESS)]
    return said[0].decode(errors="replace") if said else None


def ask(command: list[str], question: list[str], where: Path, deaths: list[str] | None = None) -> tuple[bytes, object]:
    """The table that the program writes, and what it says of it as JSON.

    Under an emulator `deaths` hears of every call in which the emulator died; such a call is made again.
    """
    out = where / "out.csv"
    for turn in range(TRIES):
        out.unlink(missing_ok=True)
        # Relative names: an emulator of another system has other paths.
        done = subprocess.run([*command, *question, "--threads", "1", "-o", "out.csv", "--json"], cwd=where, capture_output=True)
        how = death(done) if deaths is not None else None
        if how is None:
            break
        deaths.append(f"{' '.join(question)}: {how}")
        print(f"THE EMULATOR DIED, {turn + 1} of {TRIES}: {deaths[-1]}", file=sys.stderr, flush=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command + question)}: ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    said = json.loads(done.stdout)
    return out.read_bytes(), {key: value for key, value in said.items() if key != "seconds"}


def numbers(value: object) -> list[float]:
    """All numbers in an answer, in order."""
    if isinstance(value, dict):
        return [x for key in value for x in numbers(value[key]) if key not in ("seconds", "memory")]
    if isinstance(value, list):
        return [x for entry in value for x in numbers(entry)]
    return [float(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def apart(a: object, b: object) -> float:
    """The largest difference between the numbers of two answers, relative to those above 1."""
    left, right = numbers(a), numbers(b)
    if len(left) != len(right):
        return float("inf")
    pairs = zip(left, right)
    return max((abs(x - y) / max(abs(x), abs(y), 1.0) for x, y in pairs if x != y), default=0.0)


def label_columns(table: bytes) -> list[bytes]:
    """The table without the column of confidence: of a consensus two columns, of an ensemble all."""
    rows = table.replace(b"\r\n", b"\n").splitlines()
    wide = rows[0].split(b",")
    keep = [i for i, name in enumerate(wide) if name != b"confidence"]
    return [b",".join(row.split(b",")[i] for i in keep) for row in rows]


def questions(reference: list[str]) -> dict[str, list[list[str]]]:
    """By the name of what is compared, a question for every seed."""
    listed = subprocess.run([*reference, "methods", "--json"], capture_output=True, check=True)
    # Tables of labels have no edges.
    methods = [m for m in json.loads(listed.stdout)["methods"] if not m["needs_edges"]]
    asked = {}
    for method in methods:
        k = [] if method["chooses_k"] == "always" else ["-k", "4"]
        asked[method["name"]] = [
            ["combine", f"labels-{s}.csv", "-m", method["name"], *k, "--seed", f"{s}"] for s in SEEDS
        ]
    asked["auto, k found"] = [["combine", f"labels-{s}.csv", "--seed", f"{s}"] for s in SEEDS]
    for base in BASES:
        asked[f"members by {base}"] = [
            ["generate", f"features-{s}.csv", "--base", base, "--base-k", "2..6", "--size", "8", "--seed", f"{s}"]
            for s in SEEDS
        ]
    return asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference")
    parser.add_argument("command", nargs="+")
    parser.add_argument("--json", dest="summary", action="store_true", help="print one line of JSON at the end")
    told = parser.parse_args()
    reference = [str(Path(told.reference).resolve())]
    began, differ, count, equal_bytes, farthest = time.monotonic(), [], 0, 0, {}
    # The program alone has no emulator that could die in its place.
    deaths: list[str] | None = [] if len(told.command) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        for seed in SEEDS:
            labels_table(where / f"labels-{seed}.csv", seed)
            features_table(where / f"features-{seed}.csv", seed)
        for name, asked in questions(reference).items():
            for seed, question in enumerate(asked):
                ours, said = ask(reference, question, where)
                theirs, answered = ask(told.command, question, where, deaths)
                count += 1
                equal_bytes += ours == theirs
                farthest[name] = max(farthest.get(name, 0.0), apart(said, answered))
                if label_columns(ours) != label_columns(theirs):
                    differ.append(f"{name}, seed {seed}")
    digits = {name: f"{value:.0e}" for name, value in farthest.items() if value > 0}
    print(f"{len(farthest)} methods and base clusterers x {len(SEEDS)} seeds, {time.monotonic() - began:.0f} s")
    print(f"labels equal: {count - len(differ)} of {count}")
    print(f"whole tables equal, confidence too: {equal_bytes} of {count}")
    print(f"other numbers differ (by at most, relative to numbers above 1): {digits or 'none'}")
    if deaths:
        print(f"calls that died in the emulator and were repeated: {len(deaths)}")
    for which in differ:
        print(f"LABELS DIFFER: {which}")
    if told.summary:
        print(json.dumps({"asked": count, "labels": count - len(differ), "tables": equal_bytes, "deaths": len(deaths or []), "digits": digits}))
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
