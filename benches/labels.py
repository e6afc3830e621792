#!/usr/bin/env python3
"""Writes a label table of any size as CSV, NPY and Parquet, to time `consilience combine` on.

    pip install numpy pyarrow
    python benches/labels.py /tmp/labels 10000000 20 200000
    /usr/bin/time -v consilience combine /tmp/labels.csv --method scec --k 10 --output /tmp/out.csv

The rows show the given number of distinct tuples, in random order; members have 4 to 42 clusters.
"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def main():
    stem, n, members, distinct = sys.argv[1], *map(int, sys.argv[2:5])
    rng = np.random.default_rng(1)
    shown = rng.integers(distinct, size=n)
    of_tuple = [rng.integers(4 + 2 * h, size=distinct, dtype=np.uint8) for h in range(members)]
    labels = np.empty((n, members), dtype=np.uint8)
    for h in range(members):
        labels[:, h] = of_tuple[h][shown]
    np.save(f"{stem}.npy", labels)
    table = pa.table({f"m{h}": labels[:, h] for h in range(members)})
    pa.parquet.write_table(table, f"{stem}.parquet")
    pa.csv.write_csv(table, f"{stem}.csv", pa.csv.WriteOptions(quoting_style="none"))


main()
