"""One contest: the same work by us and by others, each in a process of its own.

A contestant is a function that gets the data, does the work once and returns what tells its quality.
The child process loads the data, forgets the peak of memory that loading took, repeats the work
while time is left, and prints its fastest time, its peak of memory above the data, and the quality.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Data = dict[str, Any]


@dataclass
class Contest:
    """What is compared: how the data come about and who works on them."""

    name: str
    make: Callable[[], Data]
    contestants: dict[str, Callable[[Data], float | None]]
    quality: str = ""
    limit: str = ""
    """The name of the hardware's limit (`copy`, `multiply` in f64, or `multiply32`) and, after it, how much of it the work
    needs at least: gigabytes, or 10^9 multiplications."""
    repeats: int = 3
    notes: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def load(contest: Contest, folder: Path) -> Data:
    """The data of a contest, made once and kept in the folder."""
    import numpy as np

    place = folder / contest.name
    if not (place / "complete").exists():
        place.mkdir(parents=True, exist_ok=True)
        for name, value in contest.make().items():
            np.save(place / f"{name}.npy", value)
        (place / "complete").touch()
    data: Data = {file.stem: np.load(file) for file in sorted(place.glob("*.npy"))}
    data["folder"] = place
    return data


def child(contest: Contest, contestant: str, folder: Path, seconds: float) -> None:
    data = load(contest, folder)
    work = contest.contestants[contestant]
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    times: list[float] = []
    quality = None
    begin = time.perf_counter()
    while len(times) < contest.repeats and (not times or time.perf_counter() - begin + times[-1] < seconds):
        data.pop("seconds", None)
        start = time.perf_counter()
        quality = work(data)
        # Work that runs in a program of its own says itself how long it took without reading.
        times.append(data.get("seconds", time.perf_counter() - start))
    print(json.dumps({
        "seconds": min(times),
        "rounds": len(times),
        "peak MiB": data.get("peak", status("VmHWM") - before) / 2**20,
        "quality": quality,
    }))


def run(contest: Contest, contestant: str, folder: Path, seconds: float) -> dict[str, Any]:
    """The contestant's answer, or why there is none."""
    script = Path(__file__).with_name("run.py")
    command = [sys.executable, script, "--child", contest.name, contestant, "--data", folder, "--limit", seconds]
    try:
        done = subprocess.run(
            [str(part) for part in command], capture_output=True, text=True, timeout=2 * seconds + 60, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done within {2 * seconds + 60:.0f} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"failed": lines[-1] if lines else f"ended by {done.returncode}"}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer
