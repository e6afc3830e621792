#!/usr/bin/env python3
"""Writes labels of any number of rows as Parquet, in one file or many, and times `consilience combine` on them.

    pip install numpy pyarrow
    python benches/rows.py FOLDER --rows 20000000 --members 20 --files 1
    python benches/rows.py FOLDER --rows 100000000 --members 20 --files 16 --threads 1 --threads 2

Rows come in groups: a row has the label of its group in every member, but for a share of errors that are
drawn once for each of `--distinct` kinds of rows; so there are at most that many distinct rows, some often
and most seldom. Labels are bytes. For every number of threads the time, the peak memory (as the system tells
it) and both beside the bytes of labels are printed, and whether the output is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

CHUNK = 1_000_000


def write(folder: Path, arguments: argparse.Namespace) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    groups = rng.integers(10, size=arguments.distinct)
    kinds = np.empty((arguments.members, arguments.distinct), dtype=np.uint8)
    for h in range(arguments.members):
        names = rng.permutation(10 + 2 * h)
        wrong = rng.random(arguments.distinct) < 0.15
        kinds[h] = names[np.where(wrong, rng.integers(10 + 2 * h, size=arguments.distinct), groups)]
    schema = pa.schema([(f"m{h:02}", pa.uint8()) for h in range(arguments.members)])
    made = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    per_file = -(-arguments.rows // arguments.files)
    for file in range(arguments.files):
        with pq.ParquetWriter(made / f"part-{file:05}.parquet", schema) as out:
            left = min(per_file, arguments.rows - file * per_file)
            while left > 0:
                n = min(left, CHUNK)
                shown = (arguments.distinct * rng.random(n) ** 2).astype(np.int64)
                out.write_table(pa.table([kind[shown] for kind in kinds], schema=schema))
                left -= n
    made.rename(folder)


def combine(program: str, labels: Path, threads: int, arguments: argparse.Namespace) -> dict:
    out = arguments.folder / f"consensus-{threads}.parquet"
    command = [program, "combine", str(labels), "--method", arguments.method, "--k", str(arguments.k)]
    command += ["--threads", str(threads), "--json", "-o", str(out)]
    if arguments.memory:
        command += ["--memory", arguments.memory]
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    told = json.load(child.stdout)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    digest = hashlib.sha256(out.read_bytes()).hexdigest()[:12]
    out.unlink()
    return {"seconds": seconds, "peak": usage.ru_maxrss * 1024, "told": told, "digest": digest}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--members", type=int, default=20)
    parser.add_argument("--distinct", type=int, default=50_000)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--method", default="lwgp")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--memory")
    parser.add_argument("--program", default="target/release/consilience")
    parser.add_argument("--only-write", action="store_true")
    arguments = parser.parse_args()
    name = f"labels-{arguments.rows}-{arguments.members}-{arguments.distinct}-{arguments.files}"
    labels = arguments.folder / name
    if not labels.exists():
        write(labels, arguments)
    if arguments.only_write:
        return
    table = labels if arguments.files > 1 else labels / "part-00000.parquet"
    size = arguments.rows * arguments.members
    for threads in arguments.threads or [2]:
        found = combine(arguments.program, table, threads, arguments)
        told = found["told"]
        spent = ", ".join(f"{step} {s:.2f}" for step, s in told["seconds"].items())
        print(
            f"{told['n']:,} rows x {told['clusterings']} labels, {told['unique']:,} distinct, {arguments.files} "
            f"files, {told['method']}, {threads} threads: {found['seconds']:.2f} s ({spent}); peak "
            f"{found['peak'] / 1e6:.0f} MB = {found['peak'] / size:.2f} x labels; output {found['digest']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
