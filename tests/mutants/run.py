#!/usr/bin/env python3
"""Which changes to the code do the tests notice? Of rooms of the library, all or a share.

    python tests/mutants/run.py ROOM... [--share 0.1] [--seed 7] [--target DIR]

ROOM is a folder or file below crates/consilience/src, such as `metrics` or `consensus/sa.rs`. All mutants are compiled once, in a
copy of the tree below DIR, and chosen when the tests run: minutes instead of days. A mutant is caught if a unit test of
its own file fails, panics or does not end, or one of its room. The other tests (conformance, golden values, the command line)
are not asked, so the share that is caught is a lower bound. Survivors are printed; many change nothing that can be seen.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "crates/consilience/src"

SWITCH = """//! Which mutant is on.

/// Whether it is this one.
#[inline]
pub(crate) fn is(id: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0)) == id
}
"""


def run(words: list[str], where: Path, **more: str) -> str:
    """What a command prints; if it fails, this ends with what it said."""
    done = subprocess.run(words, cwd=where, env={**os.environ, **more}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr[-3000:]}")
    return done.stdout


def copied(home: Path) -> Path:
    """The tree as it is, where the code may be rewritten."""
    tree = home / "tree"
    files = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], ROOT).splitlines()
    for file in files:
        source, copy = ROOT / file, tree / file
        if source.is_file() and (not copy.is_file() or source.read_bytes() != copy.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    return tree


def rewritten(tree: Path, files: list[str], rewriter: Path, home: Path, target: str) -> list[list[str]]:
    """The mutants, once all that do not compile are left out."""
    skip: set[int] = set()
    (home / "skip").write_text("")
    while True:
        for file in files:
            shutil.copyfile(ROOT / file, tree / file)
        head = (ROOT / LIBRARY / "lib.rs").read_text()
        head = head.replace("#![forbid(unsafe_code)]", "#![forbid(unsafe_code)]\n#![allow(warnings, clippy::all)]", 1)
        (tree / LIBRARY / "lib.rs").write_text(head.replace("mod graph;", "mod graph;\nmod mutant;", 1))
        (tree / LIBRARY / "mutant.rs").write_text(SWITCH)
        run([str(rewriter), str(tree), str(home / "list"), str(home / "skip"), *files], tree)
        check = ["cargo", "check", "--package", "consilience", "--lib", "--message-format=json"]
        told = subprocess.run(check, cwd=tree, env={**os.environ, "CARGO_TARGET_DIR": target}, capture_output=True, text=True)
        if told.returncode == 0:
            return [line.split("\t") for line in (home / "list").read_text().splitlines()]
        wrong = {id for line in told.stdout.splitlines() for id in blamed(json.loads(line), tree)}
        if not wrong - skip:
            sys.exit(f"the rewritten code does not compile:\n{told.stderr[-3000:]}")
        skip |= wrong
        (home / "skip").write_text(" ".join(map(str, sorted(skip))))


def blamed(message: dict, tree: Path) -> set[int]:
    """The mutants at which the compiler points, or the one before."""
    if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
        return set()
    found: set[int] = set()
    for span in message["message"]["spans"]:
        lines = (tree / span["file_name"]).read_text().splitlines()
        for first in range(span["line_start"] - 1, max(-1, span["line_start"] - 13), -1):
            ids = re.findall(r"mutant::is\((\d+)u32\)", "\n".join(lines[first : span["line_end"]]))
            if ids:
                found |= {int(id) for id in ids}
                break
    return found


class Tests:
    """The unit tests of the library, with all mutants inside."""

    def __init__(self, program: str, tree: Path) -> None:
        self.program, self.where = program, tree / "crates/consilience"
        self.times: dict[str, float] = {}

    def passes(self, mutant: int, room: str, limit: float) -> bool:
        more = {"MUTANT": str(mutant), "PROPTEST_CASES": "48", "PROPTEST_RNG_SEED": "7", "RUST_BACKTRACE": "0"}
        more["PROPTEST_DISABLE_FAILURE_PERSISTENCE"] = "true"
        words = [self.program, "-q", f"{room}::"]
        process = subprocess.Popen(
            words, cwd=self.where, env={**os.environ, **more}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False

    def catch(self, mutant: int, rooms: list[str]) -> bool:
        for room in rooms:
            if room not in self.times:
                begin = time.monotonic()
                if not self.passes(0, room, 900):
                    sys.exit(f"the tests of {room} fail without any mutant")
                self.times[room] = time.monotonic() - begin
            if not self.passes(mutant, room, 10 + 8 * self.times[room]):
                return True
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", nargs="+")
    parser.add_argument("--share", type=float, default=1.0, help="share of the mutants that are tried, drawn at random")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--target", type=Path, default=ROOT / "target/mutants")
    args = parser.parse_args()
    home = args.target.resolve()
    home.mkdir(parents=True, exist_ok=True)
    target = str(home / "target")
    tree = copied(home)
    run(["cargo", "build", "--release", "--manifest-path", "tests/mutants/Cargo.toml"], ROOT, CARGO_TARGET_DIR=str(home / "rewriter"))
    all_files = run(["git", "ls-files", LIBRARY], ROOT).splitlines()
    is_in = lambda file, room: file == f"{LIBRARY}/{room}" or file.startswith(f"{LIBRARY}/{room}/")
    files = [f for f in all_files if f.endswith(".rs") and not f.endswith("/tests.rs") and any(is_in(f, room) for room in args.room)]
    if not files:
        sys.exit(f"no source below {LIBRARY} is called so: {' '.join(args.room)}")
    mutants = rewritten(tree, files, home / "rewriter/release/consilience-mutants", home, target)
    skipped = set((home / "skip").read_text().split())
    mutants = [mutant for mutant in mutants if mutant[0] not in skipped]
    built = run(["cargo", "test", "--package", "consilience", "--lib", "--no-run", "--message-format=json"], tree, CARGO_TARGET_DIR=target)
    programs = [json.loads(line).get("executable") for line in built.splitlines() if line.startswith("{")]
    tests = Tests([program for program in programs if program][-1], tree)
    chosen = random.Random(args.seed).sample(mutants, round(args.share * len(mutants)))
    caught, tried = 0, 0
    for id, where, within, what, line in chosen:
        path = where.split(":")[0].removeprefix(f"{LIBRARY}/").removesuffix(".rs").removesuffix("/mod").split("/")
        tried += 1
        if tests.catch(int(id), ["::".join(path), path[0]]):
            caught += 1
        else:
            print(f"{where} {within}: {what} | {line}", flush=True)
    print(f"{caught} of {tried} mutants caught ({len(mutants)} in all, {len(skipped)} do not compile)")


if __name__ == "__main__":
    main()
