#!/usr/bin/env python3
"""What compare.py does where an emulator dies: with stand-ins that really die. Needs Python alone."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

import compare

HERE = Path(__file__).resolve().parent
QUESTION = ["combine", "labels-0.csv", "--seed", "0"]

# Stands for the program: a method, labels that depend on the question alone, and an error of its own if told so.
PROGRAM = """
    if [ "$1" = methods ]; then
        echo '{"methods": [{"name": "vote", "needs_edges": false, "chooses_k": "never"}]}'
        exit
    fi
    if [ -n "$PROGRAM_ENDS" ]; then
        echo "$PROGRAM_SAYS" >&2
        [ "$PROGRAM_ENDS" = abort ] && kill -6 $$
        exit "$PROGRAM_ENDS"
    fi
    printf 'cluster,confidence\\n%s,1\\n' $# > out.csv
    echo '{"k": 4, "seconds": 0.1}'
"""

# Stands for an emulator: dies in as many calls as the file says, one less each time, then runs the program.
EMULATOR = """
    left=$1 how=$2
    shift 2
    read -r deaths < "$left"
    if [ "$deaths" -gt 0 ]; then
        echo $((deaths - 1)) > "$left"
        printf 'half a tab' > out.csv
        [ "$how" = signal ] && kill -9 $$
        echo "wine: could not load kernel32.dll, status c0000135" >&2
        exit 1
    fi
    exec "$@"
"""


class Emulators(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.where = Path(folder.name)
        self.program = self.script("program", PROGRAM)
        self.emulator = self.script("emulator", EMULATOR)
        self.left = self.where / "left"

    def script(self, name: str, text: str) -> str:
        path = self.where / name
        path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
        path.chmod(0o755)
        return str(path)

    def emulated(self, deaths: int, how: str = "signal") -> list[str]:
        self.left.write_text(f"{deaths}\n")
        return [self.emulator, str(self.left), how, self.program]

    def whole(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, HERE / "compare.py", self.program, "--json", "--", *command]
        return subprocess.run(words, capture_output=True, text=True)

    def test_who_dies_twice_is_asked_a_third_time(self) -> None:
        for how in ["signal", "loader"]:
            deaths: list[str] = []
            table, said = compare.ask(self.emulated(2, how), QUESTION, self.where, deaths)
            self.assertEqual((table, said), compare.ask([self.program], QUESTION, self.where))
            self.assertEqual(len(deaths), 2)
            self.assertIn("signal 9" if how == "signal" else "kernel32.dll", deaths[0])

    def test_who_dies_three_times_has_failed(self) -> None:
        deaths: list[str] = []
        with self.assertRaises(SystemExit) as ended:
            compare.ask(self.emulated(3), QUESTION, self.where, deaths)
        self.assertIn("ended with -9", str(ended.exception))
        self.assertEqual(len(deaths), 3)

    def test_what_the_program_says_is_not_asked_again(self) -> None:
        panic = "thread 'main' panicked at src/a.rs:1"
        for said, end, code in [("error: no such column", "3", 3), (panic, "101", 101), (panic, "abort", -6), ("", "5", 5)]:
            deaths: list[str] = []
            with mock.patch.dict(os.environ, PROGRAM_SAYS=said, PROGRAM_ENDS=end), self.assertRaises(SystemExit) as ended:
                compare.ask(self.emulated(0), QUESTION, self.where, deaths)
            self.assertIn(f"ended with {code}: {said}", str(ended.exception))
            self.assertEqual(deaths, [])

    def test_a_program_without_an_emulator_may_not_die(self) -> None:
        dying = self.script("dying", "kill -11 $$\n")
        failed = self.whole([dying])
        self.assertEqual(failed.returncode, 1)
        self.assertIn("ended with -11", failed.stderr)
        self.assertNotIn("DIED", failed.stderr)

    def test_the_comparison_tells_how_many_calls_were_repeated(self) -> None:
        done = self.whole(self.emulated(2))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((found["deaths"], found["labels"]), (2, found["asked"]))
        self.assertIn("repeated: 2", done.stdout)
        quiet = self.whole(self.emulated(0))
        self.assertEqual(json.loads(quiet.stdout.splitlines()[-1])["deaths"], 0)
        self.assertNotIn("repeated", quiet.stdout)


if __name__ == "__main__":
    unittest.main()
