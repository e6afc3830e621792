#!/usr/bin/env python3
"""Damaged files and odd arguments: the program reads what nobody meant to write.

    python tests/harden/mutate.py PROGRAM [--minutes 3] [--seed 0] [--keep FOLDER]

Takes one sound file of every kind that the program reads, damages it (bits, bytes, numbers, lengths, pieces
cut, moved, repeated or taken from another file) and gives it to a command that reads it, or gives a command
arguments at random. Whatever comes in, the program must

* end within 20 seconds, and by itself: no signal, no panic;
* end with an exit code that the documentation names, and with an error in words unless it is 0;
* take no more memory than 400 MB and 100 times the bytes of the file (of what is in it, if it is packed).

Prints a table and ends with 1 if anything was violated. Files that violated something are kept in the FOLDER.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from faults import CODES, tables

SECONDS = 20
MEGABYTES, TIMES = 400, 100
# Numbers that break what counts on less.
NUMBERS = [b"1e308", b"-1e308", b"nan", b"inf", b"-1", b"0", b"18446744073709551616", b"-9223372036854775808", b"1e-320",
           b"", b" ", b'"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b",", b"\n", b"\r", b"\t", b":", b"=cmd|' /C calc'!A0"]
LENGTHS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF]
WORDS = ["--k", "2..5", "auto", "0", "-1", "99999999999", "--method", "all", "scec", "lwea,hbgf", "--set", "restarts=0", "tol=nan",
         "--id", "a", "labels0", "--truth", "--drop", "--missing", "-1", "--decimal", ",", "--weights", "--seed", "--threads",
         "100000", "--memory", "1b", "9EB", "--size", "--kinds", "--base", "kmeans", "--base-k", "1..0", "--scheme", "--scale",
         "--json", "--progress", "always", "--init", "labels.csv", "data.csv", "-", "-o", "out", "out.csv", "/dev/null", "--report",
         "--save", "--add", "saved", "--metric", "nmi", "--no-header", "--force", "--", "", "\U0001f642", "a" * 5000]


def sound_files(program: Path, folder: Path) -> dict[str, list[list[str]]]:
    """Files of every kind, with the commands that read them; `{}` stands for the file."""
    tables(folder)
    run = lambda *words: subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
    few = ["--size", "3", "--kinds", "kmeans"]
    labels = [["combine", "{}", "--k", "3"], ["score", "{}"], ["check", "{}"], ["combine", "{}", "--method", "voting"]]
    features = [["run", "{}", "--k", "3", *few, "-o", "fresh"], ["check", "{}"], ["generate", "{}", *few, "-o", "fresh.csv"]]
    found: dict[str, list[list[str]]] = {"labels.csv": labels, "data.csv": features}
    for ending in ("csv.gz", "tsv", "parquet", "arrow"):
        run("generate", "data.csv", *few, "--base-k", "3", "-o", f"members.{ending}")
        found[f"members.{ending}"] = [*labels, *features] if ending in ("parquet", "arrow") else labels
    run("combine", "labels.csv", "--method", "scec", "--k", "3", "--membership", "soft.csv", "-o", "plain.csv")
    run("combine", "labels.csv", "--method", "lwea", "--k", "3", "--coassociation", "matrix.npy", "--force", "-o", "plain.csv")
    found["soft.csv"] = [["combine", "{}", "--id", "id"], ["check", "{}", "--id", "id"]]
    found["matrix.npy"] = features
    (folder / "sparse.mtx").write_text("%%MatrixMarket matrix coordinate real general\n6 4 9\n" + "".join(
        f"{i % 6 + 1} {i % 4 + 1} {i * 0.5}\n" for i in range(9)))
    found["sparse.mtx"] = features
    run("combine", "labels.csv", "--method", "lwea", "--k", "3", "--save", "saved")
    reads = [["report", "saved", "-o", "fresh.html"], ["explain", "saved", "0"], ["assign", "saved", "labels.csv", "-o", "fresh.csv"],
             ["replay", "saved"], ["combine", "more.csv", "--add", "saved", "-o", "fresh.csv"]]
    for name in ("result.json", "labels.csv", "ensemble.parquet"):
        found[f"saved/{name}"] = reads
    return found


def damaged(sound: bytes, others: list[bytes], draw: random.Random) -> bytes:
    text = bytearray(sound)
    for _ in range(draw.choice([1, 1, 1, 2, 3, 8])):
        place = draw.randrange(len(text) + 1)
        what = draw.randrange(9)
        if what == 0 and text:
            text[place % len(text)] ^= 1 << draw.randrange(8)
        elif what == 1 and text:
            text[place % len(text)] = draw.randrange(256)
        elif what == 2:
            text[place:place] = draw.choice(NUMBERS)
        elif what == 3:
            width = draw.choice([1, 2, 4, 8])
            text[place : place + width] = (draw.choice(LENGTHS) % (1 << 8 * width)).to_bytes(width, draw.choice(["little", "big"]))
        elif what == 4:
            del text[place:]
        elif what == 5:
            del text[place : place + draw.choice([1, 2, 16, 200])]
        elif what == 6:
            text[place:place] = text[place : place + draw.choice([1, 16, 300])] * draw.choice([1, 2, 50])
        elif what == 7:
            other = draw.choice(others)
            start = draw.randrange(len(other) + 1)
            text[place : place + draw.choice([0, 30, 400])] = other[start : start + draw.choice([1, 30, 400])]
        else:
            text[place : place + 8] = draw.randbytes(8)
    return bytes(text)


class Trial:
    def __init__(self, program: Path, keep: Path | None) -> None:
        self.program, self.keep = program, keep
        self.violations: list[str] = []
        self.seen: Counter[tuple[str, str]] = Counter()

    def run(self, kind: str, words: list[str], folder: Path, size: int, what: bytes) -> None:
        limit = MEGABYTES * 2**20 + TIMES * size
        with (folder / ".stderr").open("w+b") as told:
            start = time.monotonic()
            process = subprocess.Popen(
                [self.program, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told,
                env={"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1", "TMPDIR": str(folder)},
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
            )
            ended, usage = None, None
            while ended is None:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    ended = os.waitstatus_to_exitcode(status)
                elif time.monotonic() - start > SECONDS:
                    process.kill()
                    os.wait4(process.pid, 0)
                    ended = -signal.SIGALRM
                else:
                    time.sleep(0.002)
            process.returncode = ended
            told.seek(0)
            said = told.read().decode(errors="replace")
        problem = None
        if ended == -signal.SIGALRM:
            problem = f"no end after {SECONDS} seconds"
        elif ended not in CODES:
            problem = f"ended with {ended}: {said[-200:]}"
        elif "panicked" in said:
            problem = f"panicked: {said[-300:]}"
        elif ended and "error:" not in said:
            problem = f"ended with {ended} without a word"
        elif usage and usage.ru_maxrss * 1024 > limit:
            problem = f"took {usage.ru_maxrss / 1024:.0f} MB for {size} bytes"
        self.seen[kind, "taken" if ended == 0 else "refused"] += 1
        if problem:
            self.violations.append(problem)
            print(f"VIOLATED {kind}: {' '.join(w[:40] for w in words)}: {problem}", flush=True)
            if self.keep:
                self.keep.mkdir(parents=True, exist_ok=True)
                (self.keep / f"{len(self.violations):03}-{kind.replace('/', '-')}").write_bytes(what)


def unpacked(name: str, text: bytes) -> int:
    """The bytes that are in a file: packed ones may stand for many more."""
    if name.endswith(".gz"):
        try:
            return len(gzip.decompress(text))
        except Exception:
            pass
    return len(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--cases", type=int, default=10**6, help="the most files and command lines to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="where files that violated something are kept")
    args = parser.parse_args()
    program, draw = args.program.resolve(), random.Random(args.seed)
    home = Path(tempfile.mkdtemp(prefix="harden-"))
    template, folder = home / "sound", home / "trial"
    template.mkdir()
    files = sound_files(program, template)
    sound = {name: (template / name).read_bytes() for name in files}
    trial = Trial(program, args.keep)
    begin = time.monotonic()
    while time.monotonic() < begin + args.minutes * 60 and trial.seen.total() < args.cases:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        if draw.random() < 0.1:
            command = draw.choice(["run", "combine", "score", "check", "generate", "assign", "explain", "report", "methods", "demo"])
            words = [command, *draw.choices(WORDS, k=draw.randrange(1, 7))]
            trial.run("arguments", words, folder, 0, "\n".join(words).encode())
            continue
        name = draw.choice(list(files))
        text = damaged(sound[name], list(sound.values()), draw)
        (folder / name).write_bytes(text)
        words = [word.replace("{}", name) for word in draw.choice(files[name])]
        trial.run(name, words, folder, unpacked(name, text), text)
    shutil.rmtree(home)
    print("\n| file | taken | refused |\n|---|---|---|")
    for name in [*files, "arguments"]:
        print(f"| {name} | {trial.seen[name, 'taken']} | {trial.seen[name, 'refused']} |")
    print(f"\n{sum(trial.seen.values())} tried, {len(trial.violations)} violations, {time.monotonic() - begin:.0f} seconds")
    sys.exit(bool(trial.violations))


if __name__ == "__main__":
    main()
