#!/usr/bin/env python3
"""Damaged archives and odd arguments at the boundary of Python, in one process.

    python tests/harden/archives.py [--minutes 1] [--cases N] [--seed 0]

Needs the Python package and numpy. Takes results that `save` wrote, damages the file, or the arrays in it and packs them again, and gives
it to `load`; and gives tables of any type and shape to `consensus`. Whatever comes in,

* what is raised is ValueError, TypeError, MemoryError or a warning of our own, never a panic nor another error;
* what is loaded can be used: its predictions, its page and its frame end in the same way.

Prints how many were taken and refused, and ends with 1 if anything was violated.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import consilience as co
from mutate import damaged

KIND = (ValueError, TypeError, MemoryError)


def sound() -> list[bytes]:
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(30, 4))
    answers = [co.consensus(labels, method=m, n_clusters=3) for m in ("scec", "lwea", "kcc")]
    answers.append(co.consensus(np.where(rng.random((30, 4)) < 0.2, -1, labels), method="voting"))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for answer in answers:
            answer.save(Path(folder, "r.npz"))
            found.append(Path(folder, "r.npz").read_bytes())
    return found


def rearranged(archive: bytes, draw: random.Random) -> bytes:
    """The same archive with an array of another kind, shape or content, or another description."""
    with np.load(io.BytesIO(archive)) as file:
        arrays = {name: file[name] for name in file.files}
    name = draw.choice(list(arrays))
    array = arrays[name]
    if name == "head":
        head = json.loads(str(array[()]))
        key = draw.choice(list(head))
        head[key] = draw.choice([None, -1, 10**12, "x", [], {}, [[]], ["a", ["b"]], {"a": 1}, True, 0.5])
        arrays[name] = np.array(json.dumps(head))
    else:
        what = draw.randrange(7)
        if what == 0:
            arrays.pop(name)
        elif what == 1:
            arrays[name] = array[: len(array) // 2] if array.ndim else array
        elif what == 2:
            arrays[name] = np.asarray(array, dtype=draw.choice(["f4", "f8", "i1", "u4", "i8", "U4", "bool"]))
        elif what == 3:
            flat = array.reshape(-1).copy()
            if flat.size and flat.dtype.kind in "iuf":
                flat[draw.randrange(flat.size)] = draw.choice([0, 1, 2**31 - 1 if flat.dtype.itemsize >= 4 else 127])
            arrays[name] = flat.reshape(array.shape)
        elif what == 4:
            arrays[name] = array.reshape(-1)[:, None] if draw.random() < 0.5 else array.T
        elif what == 5:
            arrays[name] = np.full(array.shape, draw.choice([np.nan, np.inf, -1.0, 1e308]))
        else:
            arrays[name] = np.zeros(draw.choice([(0,), (1, 1), (3, 0), ()]), array.dtype)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def any_table(draw: random.Random) -> object:
    n, r = draw.choice([0, 1, 2, 7]), draw.choice([0, 1, 3])
    value = lambda: draw.choice([0, 1, -1, 2, 2**40, 0.5, float("nan"), None, "x", "", b"x", True, [], "1"])
    return draw.choice([
        lambda: [[value() for _ in range(r)] for _ in range(n)],
        lambda: np.array([[value() for _ in range(r)] for _ in range(n)], dtype=object),
        lambda: {str(h): [value() for _ in range(n)] for h in range(r)},
        lambda: np.random.default_rng(draw.randrange(9)).integers(3, size=(n, r)).astype(draw.choice(["i1", "u8", "f4", "f8", "bool", "U2", "M8[s]", "c8"])),
        value,
    ])()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    draw, archives = random.Random(args.seed), sound()
    seen: Counter[str] = Counter()
    violations = 0
    begin = time.monotonic()
    home = tempfile.TemporaryDirectory(prefix="harden-")
    path = Path(home.name, "r.npz")
    while time.monotonic() < begin + 60 * args.minutes and seen.total() < args.cases:
        way = draw.choice(["bytes", "arrays", "arrays", "table"])
        start = time.monotonic()
        try:
            if way == "table":
                k = draw.choice(["auto", 2, 0, -1, 10**18, 2.5, "x", (1, 2), (2, 1), None])
                co.consensus(any_table(draw), method=draw.choice(["auto", "voting", "lwea", "scec", "all", "", None]), n_clusters=k,
                             n_jobs=draw.choice([1, 1, 2, -1, 10**9, 0]), random_state=draw.choice([0, -1, 2**70, None, "x"]))
            else:
                archive = draw.choice(archives)
                path.write_bytes(damaged(archive, archives, draw) if way == "bytes" else rearranged(archive, draw))
                result = co.load(path)
                members = len(result.members_)
                result.to_frame() if "pandas" in sys.modules else None
                result.predict(np.zeros((2, members), dtype=int))
                str(result), result._repr_html_()
                result.report(Path(home.name, "page.html"))
            seen[way, "taken"] += 1
        except KIND:
            seen[way, "refused"] += 1
        except BaseException as error:  # A panic is no Exception.
            if isinstance(error, KeyboardInterrupt):
                raise
            violations += 1
            seen[way, "violated"] += 1
            print(f"VIOLATED {way}, case {seen.total()}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        if time.monotonic() - start > 20:
            violations += 1
            print(f"VIOLATED {way}, case {seen.total()}: {time.monotonic() - start:.0f} seconds", flush=True)
    home.cleanup()
    print("; ".join(f"{way} {how}: {n}" for (way, how), n in sorted(seen.items())))
    print(f"{seen.total()} tried, {violations} violations, {time.monotonic() - begin:.0f} seconds")
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
