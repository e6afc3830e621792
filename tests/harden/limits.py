#!/usr/bin/env python3
"""Sizes at the edge: every command works, or refuses in words, and keeps to its memory.

    python tests/harden/limits.py PROGRAM [--python] [--only NAME ...] [--rows 100000000]

Makes tables that are deep, wide or odd (up to 1 GB of disk at a time, in the folder for temporary files) and gives them to the
program under a ceiling of memory. Prints a table of the time each took, its peak of memory and how it ended. A case is violated if
it ends in any other way than done (0) or refused (2, 3, 4) with an error in words, takes longer than it may, or more memory than
its ceiling, a tenth of it and 64 MiB. With --python some are asked of the package as well (numpy, and a ceiling that is its own).
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20


@dataclass
class Case:
    name: str
    table: Callable[[Path], None]
    words: list[str]
    # Bytes that --memory says.
    memory: int
    seconds: float
    # What Python runs instead of the program.
    python: str = ""


def block(rows: int, columns: int, clusters: int = 4, noise: float = 0.1) -> bytes:
    draw = random.Random(rows)
    lines = []
    for i in range(rows):
        truth = i % clusters
        lines.append(",".join(str(truth if draw.random() > noise else draw.randrange(clusters)) for _ in range(columns)))
    return ("\n".join(lines) + "\n").encode()


def deep_gzip(rows: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        each = 10_000
        packed = gzip.compress(block(each, 5), mtime=0)
        with (folder / "t.csv.gz").open("wb") as file:
            file.write(gzip.compress(b"a,b,c,d,e\n", mtime=0))
            for _ in range(rows // each):
                file.write(packed)

    return make


def deep_parquet(rows: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        rng = np.random.default_rng(0)
        truth = rng.integers(4, size=10**6)
        columns = {c: np.where(rng.random(10**6) < 0.1, rng.integers(4, size=10**6), truth).astype("int8") for c in "abcde"}
        table = pa.table(columns)
        with pq.ParquetWriter(folder / "t.parquet", table.schema) as file:
            for _ in range(rows // 10**6):
                file.write_table(table)

    return make


def wide(folder: Path) -> None:
    columns = 10**6
    with (folder / "t.csv").open("wb") as file:
        file.write(",".join(f"c{j}" for j in range(columns)).encode() + b"\n")
        line = (b"0,1,1,2," * (columns // 4))[:-1] + b"\n"
        for i in range(100):
            file.write(line if i % 3 else line.replace(b"2", b"0"))


def giant_cell(folder: Path) -> None:
    with (folder / "t.csv").open("wb") as file:
        file.write(b'id,a,b\nx,0,1\ny,"')
        for _ in range(1024):
            file.write(b"z" * MIB)
        file.write(b'",1\nw,0,0\n')


def giant_line(folder: Path) -> None:
    with (folder / "t.csv").open("wb") as file:
        for _ in range(1024):
            file.write(b"z" * MIB)


def distinct(folder: Path) -> None:
    with (folder / "t.csv").open("wb") as file:
        file.write(b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (i, i % 5, i % 7 % 5) for i in range(10**6)))


def million(folder: Path) -> None:
    with (folder / "t.csv").open("wb") as file:
        file.write(b"a,b,c,d,e\n" + block(10_000, 5) * 100)


def noise(folder: Path) -> None:
    draw = random.Random(1)
    with (folder / "t.csv").open("w") as file:
        file.write(",".join("abcdefgh") + "\n")
        file.writelines(",".join(str(draw.randrange(6)) for _ in range(8)) + "\n" for _ in range(20_000))


def sparse_claims(folder: Path) -> None:
    (folder / "t.mtx").write_text("%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 1\n1 1 1\n")


def small(folder: Path) -> None:
    (folder / "t.csv").write_bytes(b"a,b,c\n" + block(300, 3))


def cases(rows: int) -> list[Case]:
    combine = ["combine", "t.csv", "--k", "4", "-o", "out.csv"]
    gigabyte, half = 1000 * 10**6, 500 * 10**6
    deep = f"{rows:.0e} x 5".replace("e+0", "e")
    return [
        Case(f"{deep} labels, gzip", deep_gzip(rows), ["combine", "t.csv.gz", "--k", "4", "-o", "out.parquet"], 4 * gigabyte, 600),
        Case(f"{deep} labels, gzip, little memory", deep_gzip(rows), ["combine", "t.csv.gz", "--k", "4", "-o", "out.parquet"], 200 * 10**6, 60),
        Case(f"{deep} labels, Parquet", deep_parquet(rows), ["combine", "t.parquet", "--k", "4", "-o", "out.parquet"], 4 * gigabyte, 600),
        Case(f"{deep} labels, Parquet, little memory", deep_parquet(rows), ["combine", "t.parquet", "--k", "4", "-o", "out.parquet"], half, 60),
        Case("100 x 1,000,000", wide, combine, 8 * gigabyte, 120),
        Case("100 x 1,000,000, little memory", wide, combine, half, 60),
        Case("100 x 1,000,000, check", wide, ["check", "t.csv"], 8 * gigabyte, 120),
        Case("100 x 1,000,000, run", wide, ["run", "t.csv", "--k", "3", "--size", "2", "--kinds", "kmeans", "-o", "out"], 8 * gigabyte, 180),
        Case("a cell of 1 GB", giant_cell, [*combine, "--id", "id"], 8 * gigabyte, 60),
        Case("a cell of 1 GB, little memory", giant_cell, [*combine, "--id", "id"], half, 60),
        Case("a line of 1 GB without end", giant_line, combine, half, 60),
        Case("1,000,000 labels in a member", distinct, combine, 4 * gigabyte, 60),
        Case("1,000,000 labels in a member, page", distinct, [*combine, "--report", "page.html"], 4 * gigabyte, 120),
        Case("1,000,000 rows, page", million, [*combine, "--report", "page.html"], gigabyte, 60),
        Case("1,000,000 rows, all methods", million, [*combine, "--method", "all"], gigabyte, 600),
        Case("20,000 of noise, all methods", noise, [*combine, "--method", "all"], half, 900),
        Case("MatrixMarket that claims 4e9 x 4e9", sparse_claims, ["run", "t.mtx", "--k", "2", "-o", "out"], gigabyte, 10),
        Case("--threads 10000000", small, [*combine, "--threads", "10000000"], half, 10),
        Case("Python, n_jobs=10**7", small, [], half, 20,
             "import consilience as co; t = co.read('t.csv'); print(co.consensus(t, method='lwea', n_clusters=4, n_jobs=10**7, memory={memory}))"),
        Case("Python, 20,000 of noise, all methods", noise, [], half, 900,
             "import consilience as co; t = co.read('t.csv'); print(co.consensus(t, method='all', n_clusters=4, memory={memory}))"),
        Case("Python, 1,000,000 labels in a member", distinct, [], 4 * gigabyte, 120,
             "import consilience as co; t = co.read('t.csv'); print(co.consensus(t, n_clusters=4, memory={memory}))"),
    ]


def measured(words: list[str], folder: Path, seconds: float) -> tuple[int, float, int, str]:
    """How a command ended, after which time, with which peak of memory, and what it said last."""
    with (folder / ".told").open("w+b") as told:
        start = time.monotonic()
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told,
                                   env={**os.environ, "NO_COLOR": "1", "TMPDIR": str(folder)})
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            took = time.monotonic() - start
            if pid:
                code = os.waitstatus_to_exitcode(status)
                break
            if took > seconds:
                process.kill()
                _, _, usage = os.wait4(process.pid, 0)
                code = -signal.SIGALRM
                break
            time.sleep(0.01)
        process.returncode = code
        told.seek(0)
        lines = told.read().decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "rror" in line]
    return code, took, usage.ru_maxrss * 1024, (errors or lines or [""])[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--rows", type=int, default=10**8)
    args = parser.parse_args()
    violations = []
    print("| case | ceiling | ended | seconds | peak |\n|---|---|---|---|---|", flush=True)
    for case in cases(args.rows):
        if (args.only and not any(word in case.name for word in args.only)) or (case.python and not args.python):
            continue
        with tempfile.TemporaryDirectory(prefix="harden-") as home:
            folder = Path(home)
            # In a process of its own: what a process has held counts for those that it starts.
            maker = multiprocessing.get_context("fork").Process(target=case.table, args=(folder,))
            maker.start()
            maker.join()
            if maker.exitcode:
                sys.exit(f"the table of `{case.name}` could not be made (numpy, pyarrow and 5 GB of disk are needed)")
            if case.python:
                words = [sys.executable, "-c", case.python.format(memory=case.memory)]
            else:
                words = [str(args.program.resolve()), *case.words, "--memory", f"{case.memory}B"]
            code, took, peak, said = measured(words, folder, case.seconds)
            how = {0: "done", -signal.SIGALRM: "no end"}.get(code, f"refused ({code})" if code in (2, 3, 4) else f"ended with {code}")
            if case.python and code == 1 and "MemoryError" in said:
                how, code = "refused (MemoryError)", 4
            print(f"| {case.name} | {case.memory // 10**6} MB | {how} | {took:.1f} | {peak // MIB} MB |", flush=True)
            if code not in (0, 2, 3, 4) or (code and "rror" not in said):
                violations.append(f"{case.name}: ended with {code}: {said[:300]}")
            # Python itself, numpy and what they load.
            if peak > 1.1 * case.memory + 64 * MIB + (150 * MIB if case.python else 0):
                violations.append(f"{case.name}: took {peak // MIB} MB")
            if code:
                print(f"  {said[:200]}", file=sys.stderr, flush=True)
    print("".join(f"\nVIOLATED {violation}" for violation in violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
