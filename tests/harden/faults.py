#!/usr/bin/env python3
"""Faults at every step: what the program leaves behind when the system fails it.

    python tests/harden/faults.py PROGRAM [--minutes 3] [--faults 60] [--kills 1000] [--only NAME ...]

For every command and every kind of call to the system (fault.c lists them) the first, second, ... call
fails, once or for ever. Whatever fails, the command must

* end by itself, with an exit code of its own and an error in words, or do its work all the same;
* leave the files as they were before, or all as they are after a run without faults, never a mixture;
* do its work when it is given again, with the same bytes.

Then the program is killed at random moments, and two processes write to one folder. Prints a table and
ends with 1 if anything was violated.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
KINDS = ["open", "read", "write", "rename", "sync", "remove", "folder", "map", "memory"]
ERRORS = {
    "open": [errno.EIO, errno.EMFILE],
    "read": [errno.EIO, errno.EINTR],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR],
    "rename": [errno.ENOSPC, errno.EIO],
    "sync": [errno.EIO, errno.ENOSPC],
    "remove": [errno.EIO],
    "folder": [errno.ENOSPC],
    "map": [errno.ENOMEM],
    "memory": [errno.ENOMEM],
}
# Retried by whoever meets it: the command must not even notice.
HARMLESS = {errno.EINTR}
# What stays for the same command to go on from.
UNFINISHED = {".members", "cells.jsonl"}
# What the files of a folder stand in while they get their names.
COMPLETE = ".complete"
# Exit codes that the documentation names.
CODES = {0, 1, 2, 3, 4}
# Times stand in results and differ from run to run.
TIMES = re.compile(rb'"(seconds|read|generate|compress|consensus|write|judge)":\s*[0-9.eE+-]+')


@dataclass
class Command:
    """A command, and what must be there before it."""

    name: str
    words: list[str]
    before: list[list[str]] = field(default_factory=list)
    # What it says when it is given again after it has been done, if it cannot be done twice.
    once: str | None = None


def commands() -> list[Command]:
    few = ["--size", "4", "--kinds", "kmeans,genie"]
    run = ["run", "data.csv", "--k", "3", *few, "-o", "out"]
    save = ["combine", "labels.csv", "--method", "lwea", "--k", "3", "--save", "saved"]
    return [
        Command("run", run),
        Command("run, replacing", [*run, "--seed", "1", "--force"], [run]),
        Command("combine", ["combine", "labels.csv", "--k", "3", "-o", "out.csv"]),
        Command(
            "combine, four files, replacing",
            ["combine", "labels.csv", "--method", "scec", "--k", "3", "-o", "out.csv", "--membership", "soft.csv.gz"]
            + ["--correspondence", "pairs.parquet", "--report", "page.html", "--force"],
            [["combine", "labels.csv", "--method", "scec", "--k", "2", "-o", "out.csv", "--membership", "soft.csv.gz"]
             + ["--correspondence", "pairs.parquet", "--report", "page.html"]],
        ),
        Command("combine --save", save),
        Command("combine --save, replacing", [*save, "--seed", "1", "--force"], [save]),
        Command("combine --add", ["combine", "more.csv", "--add", "saved", "--save", "later"], [save]),
        Command("combine --add in place", ["combine", "more.csv", "--add", "saved", "--save", "saved", "--force"], [save], once="is in the result already"),
        Command(
            "combine of rows",
            ["combine", "tables/labels.parquet", "--id", "patient", "--k", "3", "-o", "rows.parquet"],
            [["demo", "--tables", "-o", "tables"]],
        ),
        Command("report", ["report", "saved"], [save]),
        Command("report elsewhere", ["report", "saved", "-o", "page.html"], [save]),
        Command("assign", ["assign", "saved", "labels.csv", "-o", "new.csv"], [save]),
        Command("generate", ["generate", "data.csv", *few, "--base-k", "3", "-o", "members.parquet"]),
        Command("generate, text", ["generate", "data.csv", *few, "--base-k", "3", "-o", "members.csv.gz"]),
        Command("reproduce", ["reproduce", "000-t02", "--runs", "1", "-o", "tables"]),
        Command("resolve", ["resolve", "runs.csv", "--levels", "run_{level}_{seed}", "-o", "levels"]),
        Command("align", ["align", "labels.csv:labels0", "labels.csv:labels1", "-o", "times", "--figure", "flow.pdf"]),
        Command("figure", ["figure", "saved", "matrix", "-o", "matrix.png"], [save]),
        Command("demo --tables", ["demo", "--tables", "-o", "tables"]),
    ]


def tables(folder: Path) -> None:
    """Small tables to work on."""
    draw = random.Random(7)
    rows = [[draw.gauss(5 * (i % 3), 1) for _ in range(3)] for i in range(60)]
    (folder / "data.csv").write_text("a,b,c\n" + "".join(",".join(f"{x:.4f}" for x in row) + "\n" for row in rows))
    label = lambda i, noise: i % 3 if draw.random() > noise else draw.randrange(3)
    for name, noise in (("labels", 0.1), ("more", 0.2)):
        lines = [",".join(f"c{label(i, noise)}" for _ in range(6)) for i in range(60)]
        (folder / f"{name}.csv").write_text(",".join(f"{name}{h}" for h in range(6)) + "\n" + "\n".join(lines) + "\n")
    levels = [f"run_{level}_{seed}" for level in (0.1, 0.5) for seed in range(4)]
    lines = [",".join(str(label(i, 0.05)) for _ in levels) for i in range(60)]
    (folder / "runs.csv").write_text(",".join(levels) + "\n" + "\n".join(lines) + "\n")


def contents(folder: Path) -> dict[str, str]:
    """Every file with a checksum of what is in it, but for the times it took."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = path.read_bytes()
            if path.suffix in (".json", ".html"):
                text = TIMES.sub(b"", text)
            found[str(path.relative_to(folder))] = hashlib.sha256(text).hexdigest()
    return found


def finished(files: dict[str, str]) -> dict[str, str]:
    return {name: checksum for name, checksum in files.items() if not UNFINISHED & set(Path(name).parts)}


def places_whole(seen: dict[str, str], before: dict[str, str], after: dict[str, str]) -> bool:
    """Whether every file and folder of this folder is as before or as after."""
    at = lambda files, place: {n: c for n, c in files.items() if Path(n).parts[0] == place}
    places = {Path(name).parts[0] for name in (*seen, *before, *after)}
    return all(at(seen, place) in (at(before, place), at(after, place)) for place in places)


def without_hidden(files: dict[str, str]) -> dict[str, str]:
    return {n: c for n, c in files.items() if not any(part.startswith(".") for part in Path(n).parts)}


def without_temporary(files: dict[str, str]) -> dict[str, str]:
    return {n: c for n, c in files.items() if not Path(n).name.startswith(".consilience-")}


class Trial:
    """The program, its faults, and what was violated."""

    def __init__(self, program: Path, until: float) -> None:
        self.program, self.until = program, until
        self.home = Path(tempfile.mkdtemp(prefix="harden-"))
        self.shim = self.home / "fault.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.shim, HERE / "fault.c", "-ldl"], check=True)
        self.violations: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()

    def start(self, folder: Path, words: list[str], faults: dict[str, str] | None = None) -> subprocess.Popen:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(folder), "NO_COLOR": "1"}
        if faults is not None:
            environment |= {"LD_PRELOAD": str(self.shim), "FAULT_UNDER": str(folder), **faults}
        return subprocess.Popen(
            [self.program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run(self, folder: Path, words: list[str], faults: dict[str, str] | None = None) -> tuple[int, str]:
        process = self.start(folder, words, faults)
        try:
            _, told = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return -signal.SIGALRM, "no end after 60 seconds"
        return process.returncode, told.decode(errors="replace")

    def prepared(self, command: Command) -> Path:
        """A folder in which the command can be given; copied once it has been made."""
        folder = self.home / re.sub(r"\W+", "-", command.name)
        if not folder.exists():
            folder.mkdir()
            tables(folder)
            for words in command.before:
                code, told = self.run(folder, words)
                assert code == 0, (words, told)
        return folder

    def violated(self, where: str, what: str) -> None:
        self.violations.append(f"{where}: {what}")
        print(f"VIOLATED {where}: {what}", flush=True)

    def check(
        self, where: str, folder: Path, command: Command, before: dict, after: dict, ended: tuple[int, str], kind: str
    ) -> None:
        """What a command that met a fault has left, and what it does when it is given again."""
        code, told = ended
        left = contents(folder)
        # Who is killed, cannot list folders or cannot remove files cannot clean up either.
        hidden = without_hidden if kind in ("kill", "remove", "open") and code != 0 or kind == "remove" else dict
        if kind == "kill" and any(COMPLETE in Path(name).parts for name in left):
            # Killed while files got their names: whoever reads the folder finishes that first.
            self.run(folder, ["explain", next(n for n in left if COMPLETE in Path(n).parts).split("/")[0], "0"])
            left = contents(folder)
        if code == 0:
            if hidden(finished(left)) != hidden(after):
                self.violated(where, f"ended well, but {difference(left, after)}")
        else:
            if code != -signal.SIGKILL:
                if code not in CODES:
                    self.violated(where, f"ended with {code}: {told.strip()[-200:]}")
                elif "error:" not in told and kind != "write":
                    self.violated(where, f"ended with {code} without a word: {told.strip()[-200:]}")
                if "panicked" in told:
                    self.violated(where, f"panicked: {told.strip()[-300:]}")
            seen = hidden(finished(left))
            if seen not in (hidden(before), hidden(after)):
                what = f"neither as before ({difference(seen, hidden(before))}) nor as after ({difference(seen, hidden(after))})"
                # Results in several places have no common folder whose reader could finish it; each is whole.
                if not (kind == "kill" and places_whole(seen, before, after)):
                    self.violated(where, what)
        done = hidden(finished(left)) == hidden(after)
        code, told = self.run(folder, command.words)
        if code != 0 and done and command.once and command.once in told:
            return
        if code != 0 and "--force" not in command.words:
            # Done before the fault: asked for a second time it must say so, and --force must do it.
            if "--force" not in told:
                self.violated(where, f"given again, it ended with {code}: {told.strip()[-200:]}")
            code, told = self.run(folder, [*command.words, "--force"])
        # A temporary file of a program that is no more stays; a folder does not.
        swept = without_temporary if hidden is without_hidden else dict
        if code != 0:
            self.violated(where, f"given again, it ended with {code}: {told.strip()[-200:]}")
        elif swept(finished(contents(folder))) != after:
            self.violated(where, f"given again, {difference(swept(finished(contents(folder))), after)}")

    def faults_of(self, command: Command, most: int) -> None:
        template = self.prepared(command)
        before = contents(template)
        folder = self.copy(template)
        code, told = self.run(folder, command.words, {"FAULT_COUNTS": str(self.home / "counts")})
        if code != 0:
            self.violated(command.name, f"without faults it ended with {code}: {told.strip()[-200:]}")
            return
        after = finished(contents(folder))
        shutil.rmtree(folder)
        counts = dict(line.split() for line in (self.home / "counts").read_text().splitlines())
        if int(counts["sync"]) == 0:
            self.violated(command.name, "files get their names without waiting for the disk")
        cases = [
            (kind, n, number, forever)
            for kind in KINDS
            for n in steps(int(counts[kind]), 40 if kind == "memory" else 400)
            for number in ERRORS[kind]
            for forever in (False, True)
            if not (forever and number in HARMLESS)
        ]
        # Where time is short, cases are drawn evenly.
        random.Random(1).shuffle(cases)
        cases = cases[:most]
        for done, (kind, n, number, forever) in enumerate(cases):
            if time.monotonic() > self.until:
                print(f"{command.name}: {done} of {len(cases)} faults in the time given", flush=True)
                return
            folder = self.copy(template)
            faults = {"FAULT_KIND": kind, "FAULT_AT": str(n), "FAULT_ERRNO": str(number)}
            if forever:
                faults["FAULT_FOREVER"] = "1"
            ended = self.run(folder, command.words, faults)
            where = f"{command.name}, {kind} {n}{' on' if forever else ''}, {errno.errorcode[number]}"
            if number in HARMLESS and ended[0] != 0:
                self.violated(where, f"ended with {ended[0]}: {ended[1].strip()[-200:]}")
            self.check(where, folder, command, before, after, ended, kind)
            self.counts[command.name, kind] += 1
            shutil.rmtree(folder)

    def kills_of(self, command: Command, times: int) -> None:
        template = self.prepared(command)
        before = contents(template)
        folder = self.copy(template)
        start = time.monotonic()
        self.run(folder, command.words)
        lasts = time.monotonic() - start
        after = finished(contents(folder))
        shutil.rmtree(folder)
        draw = random.Random(command.name)
        for i in range(times):
            if time.monotonic() > self.until:
                print(f"{command.name}: {i} of {times} kills in the time given", flush=True)
                return
            folder = self.copy(template)
            process = self.start(folder, command.words)
            # Half of them near the end, where files get their names.
            time.sleep(lasts * (draw.uniform(0.7, 1.02) if i % 2 else draw.random()))
            process.kill()
            _, told = process.communicate()
            self.check(f"{command.name}, killed", folder, command, before, after, (process.returncode, told.decode()), "kill")
            self.counts[command.name, "kill"] += 1
            shutil.rmtree(folder)

    def two_at_once(self, command: Command, times: int) -> None:
        """Two processes that write the same: one may refuse, and what is there is whole."""
        template = self.prepared(command)
        folder = self.copy(template)
        self.run(folder, command.words)
        after = finished(contents(folder))
        shutil.rmtree(folder)
        for _ in range(times):
            if time.monotonic() > self.until:
                return
            folder = self.copy(template)
            both = [self.start(folder, command.words) for _ in range(2)]
            told = [process.communicate()[1].decode() for process in both]
            codes = [process.returncode for process in both]
            where = f"{command.name}, two at once"
            if 0 not in codes:
                self.violated(where, f"ended with {codes}: {told}")
            if any(code not in CODES for code in codes):
                self.violated(where, f"ended with {codes}: {told}")
            if finished(contents(folder)) != after:
                self.violated(where, difference(contents(folder), after))
            self.counts[command.name, "two"] += 1
            shutil.rmtree(folder)

    def copy(self, template: Path) -> Path:
        folder = self.home / "trial"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        return folder


def steps(n: int, most: int) -> list[int]:
    """All numbers from 1 to n, or as many as `most` of them, the ends more densely."""
    if n <= most:
        return list(range(1, n + 1))
    return sorted({*range(1, most // 4), *range(n - most // 4, n + 1), *random.Random(3).sample(range(1, n + 1), most // 2)})


def difference(found: dict[str, str], expected: dict[str, str]) -> str:
    parts = {
        "missing": sorted(expected.keys() - found.keys()),
        "besides": sorted(found.keys() - expected.keys()),
        "other": sorted(name for name in found.keys() & expected.keys() if found[name] != expected[name]),
    }
    return "; ".join(f"{what} {names[:4]}" for what, names in parts.items() if names) or "equal"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--minutes", type=float, default=3.0, help="time for all (default: 3)")
    parser.add_argument("--faults", type=int, default=10**6, help="faults of every command (default: all)")
    parser.add_argument("--kills", type=int, default=40, help="kills of every command (default: 40)")
    parser.add_argument("--only", nargs="*", help="commands by name")
    args = parser.parse_args()
    chosen = [c for c in commands() if not args.only or c.name in args.only]
    begin, total = time.monotonic(), args.minutes * 60
    trial = Trial(args.program.resolve(), 0.0)
    for i, command in enumerate(chosen):
        # Every command has its share of what is left: three quarters of it for faults.
        share = (begin + total - time.monotonic()) / (len(chosen) - i)
        trial.until = time.monotonic() + 0.7 * share
        trial.faults_of(command, args.faults)
        trial.until = time.monotonic() + 0.2 * share
        trial.kills_of(command, args.kills)
        trial.until = time.monotonic() + 0.1 * share
        trial.two_at_once(command, 10)
    shutil.rmtree(trial.home)
    columns = [*KINDS, "kill", "two"]
    print("\n| command | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for command in chosen:
        print(f"| {command.name} | " + " | ".join(str(trial.counts[command.name, c]) for c in columns) + " |")
    print("".join(f"\nVIOLATED {violation}" for violation in trial.violations))
    print(f"\n{sum(trial.counts.values())} injected, {len(trial.violations)} violations, {time.monotonic() - begin:.0f} seconds")
    sys.exit(bool(trial.violations))


if __name__ == "__main__":
    main()
