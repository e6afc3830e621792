"""Seeds, threads, memory and progress, from what users write to what the native module takes."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

Progress = Callable[[str, int, int | None], None]

#: The share of the machine's memory that a computation may take.
_SHARE = 0.8


class Circumstances(TypedDict):
    """What the native module wants to know about a run."""

    seed: int
    threads: int
    memory: int
    progress: Progress | None


def circumstances(
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> Circumstances:
    return {
        "seed": seed_of(random_state),
        "threads": threads_of(n_jobs),
        "memory": ceiling() if memory is None else whole(memory, "memory", least=1),
        "progress": (_say if progress is True else progress) or None,
    }


def whole(value: Any, name: str, *, least: int) -> int:
    """The integer that an argument is, at least ``least``."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def seed_of(random_state: Any) -> int:
    """A seed from an integer, a generator, or (None) from the system."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    seed = whole(random_state, "random_state", least=0)
    if seed >= 2**64:
        raise ValueError(f"random_state must be below 2**64, got {seed}")
    return seed


def threads_of(n_jobs: int | None) -> int:
    """How many threads; 0 means all cores. Negative numbers count from all cores down."""
    if n_jobs is None:
        return 0
    jobs = whole(n_jobs, "n_jobs", least=-(2**31))
    if jobs == 0:
        raise ValueError("n_jobs must not be 0: None or -1 means all cores")
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def ceiling() -> int:
    """Most of what the machine, or our control group if that is less, has."""
    limits = []
    try:
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        pass  # Not told on this system.
    for file in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path("/sys/fs/cgroup", file).read_text()))
        except (OSError, ValueError):
            continue
    return int(min(limits) * _SHARE) if limits else 2**63 - 1


def _say(stage: str, done: int, total: int | None) -> None:
    of = "" if total is None else f" of {total}"
    print(f"\r{stage}: {done}{of}\033[K", end="", file=sys.stderr, flush=True)
    if done == total:
        print(file=sys.stderr)
