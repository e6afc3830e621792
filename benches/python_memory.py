"""How much memory a consensus of a (10^7, 20) array of uint8 takes above the array.

The labels are five groups seen through 20 noisy clusterings. Prints the peak above the array as a
multiple of its size. Needs the wheel (`make wheel`) and Linux.

    python benches/python_memory.py [ROWS]
"""

import sys
from pathlib import Path

import numpy as np

import consilience as co

n, r = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000, 20
rng = np.random.default_rng(0)
labels = np.empty((n, r), dtype=np.uint8)
# A group, and one of 20,000 ways to see it: the clusterings repeat themselves, as they do.
views = rng.integers(0, 5, size=20_000, dtype=np.uint8)
seen = np.where(rng.random((20_000, r)) < 0.1, rng.integers(0, 5, (20_000, r)), views[:, None])
for start in range(0, n, 1 << 20):
    rows = labels[start : start + (1 << 20)]
    rows[:] = seen[rng.integers(0, 20_000, len(rows))]



def status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


# Forget the peak of making the data.
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
result = co.consensus(labels, method="scec", n_clusters=10)
after = status("VmHWM")
print(result)
above = after - before
print(f"array {labels.nbytes / 1e6:.0f} MB, peak {above / 1e6:.0f} MB above what was held before")
print(f"ratio {above / labels.nbytes:.2f}")
