"""A table of labels through Spark end to end, with the time and the driver's peak memory.

    python benches/spark.py FOLDER ROWS MEMBERS DISTINCT [--workers N] [--method scec --clusters 10]

Writes ROWS rows of MEMBERS labels that show at most DISTINCT tuples to FOLDER/labels as Parquet, a million
rows a file, unless they are there; then starts a master and workers on this machine, combines, and writes
FOLDER/consensus.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART = 1_000_000


def write(folder: Path, rows: int, members: int, distinct: int) -> None:
    """Tuples are noisy copies of ten groups; rows draw from them, the first ones more often."""
    rng = np.random.default_rng(0)
    groups = rng.integers(10, size=distinct)
    tuples = np.stack(
        [np.where(rng.random(distinct) < 0.2, rng.integers(10, size=distinct), groups)
         for _ in range(members)]
    ).astype(np.int8)
    folder.mkdir(parents=True)
    for part, start in enumerate(range(0, rows, PART)):
        n = min(PART, rows - start)
        shown = (distinct * rng.random(n) ** 2).astype(np.int64)
        columns = {"id": np.arange(start, start + n)}
        columns |= {f"m{h:02}": tuples[h][shown] for h in range(members)}
        pq.write_table(pa.table(columns), folder / f"part-{part:05}.parquet")


def peak(pid: int | str) -> int:
    """The largest memory that a process ever had, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) >> 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int)
    parser.add_argument("members", type=int)
    parser.add_argument("distinct", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--method", default="scec")
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--only-write", action="store_true")
    arguments = parser.parse_args()
    labels = arguments.folder / "labels"
    if not labels.exists():
        write(labels, arguments.rows, arguments.members, arguments.distinct)
    if arguments.only_write:
        return
    from pyspark.sql import SparkSession

    from consilience import spark as cs

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master(f"local-cluster[{arguments.workers},1,2048]")
        .config("spark.driver.memory", "512m")
        .config("spark.executor.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    session.range(10).count()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    start = time.perf_counter()
    found = cs.consensus(
        session.read.parquet(str(labels)),
        [f"m{h:02}" for h in range(arguments.members)],
        id="id",
        method=arguments.method,
        n_clusters=arguments.clusters,
    )
    combined = time.perf_counter()
    out = arguments.folder / "consensus"
    shutil.rmtree(out, ignore_errors=True)
    found.frame.write.parquet(str(out))
    end = time.perf_counter()
    java = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"rows {found.n_rows_}, distinct tuples {found.n_profiles_}, {found.result!r}")
    print(f"counted and combined in {combined - start:.1f} s, looked up and written in {end - combined:.1f} s")
    print(f"driver: Python {python} MiB (before {before}), Java {peak(java)} MiB")
    session.stop()


if __name__ == "__main__":
    main()
