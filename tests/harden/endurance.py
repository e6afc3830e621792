#!/usr/bin/env python3
"""Load and time: many processes at once, many threads in one process, and the same calls for a long time.

    python tests/harden/endurance.py PROGRAM [--minutes 20] [--processes 200] [--threads 24]

Needs the Python package and numpy.

* `processes`: so many processes of the program at once, each with as many threads as there are cores. All must end
  with the bytes that one alone writes, or be refused for memory (exit code 4).
* `threads`: so many threads in one Python process ask different questions; each must get the answer it gets alone.
* `calls`: for the minutes given, everything that Python offers again and again in one process. After a tenth of the
  time for caches to fill, memory must not grow by more than 32 MB and 10 %, nor open files by any.

Prints what was measured and ends with 1 if anything was violated.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import consilience as co
from faults import tables


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def processes(program: Path, count: int) -> list[str]:
    """So many at once, each with its own output."""
    with tempfile.TemporaryDirectory(prefix="harden-") as home:
        folder = Path(home)
        tables(folder)
        words = [[program, "combine", "labels.csv", "--method", "lwea", "--k", "3", "-o"],
                 [program, "run", "data.csv", "--k", "3", "--size", "4", "--kinds", "kmeans,genie", "-o"]]
        name = lambda i: f"out{i}.csv" if i % 2 == 0 else f"out{i}"
        problems, seen, refused = [], {0: set(), 1: set()}, 0

        def written(i: int) -> str:
            path = folder / (name(i) if i % 2 == 0 else f"{name(i)}/labels.csv")
            return hashlib.sha256(path.read_bytes()).hexdigest()

        # What one alone writes.
        for i in (count, count + 1):
            subprocess.run([*words[i % 2], name(i)], cwd=folder, check=True, capture_output=True)
            seen[i % 2].add(written(i))
        begin = time.monotonic()
        all_of_them = [
            subprocess.Popen([*words[i % 2], name(i)], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for i in range(count)
        ]
        for i, process in enumerate(all_of_them):
            _, told = process.communicate(timeout=1800)
            if process.returncode == 4:
                refused += 1
                continue
            if process.returncode:
                problems.append(f"process {i} ended with {process.returncode}: {told.decode(errors='replace')[-300:]}")
                continue
            seen[i % 2].add(written(i))
        problems += [f"{len(bytes_)} different results of one command" for bytes_ in seen.values() if len(bytes_) > 1]
        problems += ["all were refused"] if refused == count else []
        left = [p.name for p in folder.iterdir() if p.name.startswith(".consilience-")]
        problems += [f"left behind: {left[:3]}"] if left else []
        print(f"processes: {count} at once, {refused} refused for memory, {time.monotonic() - begin:.0f} seconds, {len(problems)} violations", flush=True)
        return problems


def question(i: int):
    """A question that is always the same for a number, and a way to compare answers."""
    rng = np.random.default_rng(i)
    labels = rng.integers(3, size=(60, 5))
    method = ["lwea", "scec", "kcc", "voting", "sa", "mcla", "wct", "hbgf"][i % 8]
    answer = co.consensus(labels, method=method, n_clusters="auto" if method == "voting" else 3, n_jobs=1 + i % 3)
    return answer.labels_.tobytes(), np.asarray(answer.confidence_).tobytes()


def threads(count: int) -> list[str]:
    alone = [question(i) for i in range(count)]
    problems: list[str] = []

    def ask(i: int) -> None:
        try:
            for again in range(10):
                if question(i) != alone[i]:
                    problems.append(f"thread {i}, call {again}: another answer than alone")
        except BaseException as error:  # A panic is an exception of its own kind.
            problems.append(f"thread {i}: {error!r}")

    begin = time.monotonic()
    asking = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
    [thread.start() for thread in asking]
    [thread.join() for thread in asking]
    print(f"threads: {count} in one process, {10 * count} answers, {time.monotonic() - begin:.0f} seconds, {len(problems)} violations", flush=True)
    return problems


def calls(minutes: float) -> list[str]:
    rng = np.random.default_rng(0)
    data = np.concatenate([rng.normal(5 * c, 1, size=(40, 3)) for c in range(3)])
    tables_ = [rng.integers(4, size=(300, 8)) for _ in range(5)]
    methods = [m["name"] for m in co.methods() if not m["needs_edges"] and m["chooses_k"] != "always"]
    home = tempfile.TemporaryDirectory(prefix="harden-")
    problems: list[str] = []

    def once(i: int) -> None:
        labels = tables_[i % 5]
        result = co.consensus(labels, method=methods[i % len(methods)] if i % 40 == 0 else ["lwea", "scec", "kcc", "sa"][i % 4], n_clusters=3, n_jobs=1 + i % 2)
        co.metrics.ari(result.labels_, labels[:, 0])
        if i % 10 == 0:
            path = Path(home.name, "result.npz")
            result.save(path)
            co.load(path)
        if i % 20 == 0:
            result.report(Path(home.name, "page.html"))
        if i % 25 == 0:
            co.consensus(data.round().astype(int) % 5, n_clusters=2)
        try:
            co.consensus(labels, method="lwea", n_clusters=10**6)
        except ValueError:
            pass

    begin, done = time.monotonic(), 0
    end, settled = begin + 60 * minutes, None
    most = 0
    while time.monotonic() < end:
        once(done)
        done += 1
        if done % 50 == 0:
            gc.collect()
            most = max(most, resident())
            if settled is None and time.monotonic() > begin + 6 * minutes:
                settled = (most, descriptors(), done)
    home.cleanup()
    gc.collect()
    memory, files = resident(), descriptors()
    if settled is None:
        return [f"only {done} calls in {minutes} minutes"]
    before, files_before, at = settled
    if memory > 1.1 * before + (32 << 20):
        problems.append(f"memory grew from {before >> 20} to {memory >> 20} MB in {done - at} calls")
    if files > files_before:
        problems.append(f"open files grew from {files_before} to {files}")
    print(f"calls: {done} rounds in {minutes:g} minutes; memory {before >> 20} MB after {at} of them, {memory >> 20} MB at the end; "
          f"open files {files_before} and {files}; {len(problems)} violations", flush=True)
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--threads", type=int, default=24)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    problems = processes(args.program.resolve(), args.processes) if args.processes else []
    problems += threads(args.threads) if args.threads else []
    problems += calls(args.minutes) if args.minutes else []
    print("".join(f"VIOLATED {problem}\n" for problem in problems), end="")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
