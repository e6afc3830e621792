"""What runs the steps of a page: a shell, a Python session, an R session, all in the page's folder."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Reads one source per line (as JSON), runs it as a prompt would, and answers with what it printed.
PYTHON = """
import ast, contextlib, io, json, sys, traceback, warnings
answers, names = sys.stdout, {"__name__": "__main__"}
warnings.simplefilter("always")
warnings.showwarning = lambda text, kind, *_: print(f"{kind.__name__}: {text}")
for line in sys.stdin:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            for statement in ast.parse(json.loads(line)).body:
                exec(compile(ast.Interactive([statement]), "<page>", "single"), names)
        except Exception as error:
            print("".join(traceback.format_exception_only(error)).rstrip())
    answers.write(json.dumps(printed.getvalue()) + "\\n")
    answers.flush()
"""

#: Runs files named as arguments, one after the other, and prints a line between what they print.
R = r"""
options(width = 100)
for (file in commandArgs(trailingOnly = TRUE)) {
  for (expression in parse(file)) {
    found <- withVisible(eval(expression, globalenv()))
    if (found$visible) print(found$value)
  }
  cat("\n\036\n")
}
"""


@dataclass(frozen=True)
class Tools:
    """The programs that pages are run with. What is None is left out: its blocks stay as they are."""

    program: Path
    python: Path | None = None
    r_library: Path | None = None


class Sessions:
    """The sessions of one page."""

    def __init__(self, tools: Tools, folder: Path) -> None:
        """Begins in `folder`, which is made, with the program on the path."""
        self.tools = tools
        self.folder = folder
        commands = folder.parent / ".bin"
        commands.mkdir(parents=True, exist_ok=True)
        link = commands / "consilience"
        link.unlink(missing_ok=True)
        link.symlink_to(tools.program.resolve())
        folder.mkdir()
        keep = {name: os.environ[name] for name in ("HOME", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
        self.environment = keep | {"PATH": f"{commands}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        self._python: subprocess.Popen[str] | None = None

    def shell(self, command: str) -> list[str]:
        """What a command of the shell prints, and its exit code if it failed."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
        )
        printed = lines(done.stdout)
        return [*printed, f"[exit code {done.returncode}]"] if done.returncode else printed

    def python(self, source: str) -> list[str]:
        """What Python prints at a prompt."""
        assert self.tools.python is not None
        if self._python is None:
            self._python = subprocess.Popen(
                [self.tools.python, "-c", PYTHON],
                cwd=self.folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
        assert self._python.stdin is not None and self._python.stdout is not None
        self._python.stdin.write(json.dumps(source) + "\n")
        self._python.stdin.flush()
        return lines(str(json.loads(self._python.stdout.readline())))

    def r(self, sources: list[str]) -> list[list[str]]:
        """What R prints for each of these sources, one after the other."""
        script = self.folder.parent / ".bin" / "session.R"
        script.write_text(R, encoding="utf-8")
        names = []
        for number, source in enumerate(sources):
            file = self.folder.parent / ".bin" / f"{number}.R"
            file.write_text(source + "\n", encoding="utf-8")
            names.append(str(file))
        done = subprocess.run(
            ["Rscript", "--vanilla", script, *names],
            cwd=self.folder, env=self.environment | {"R_LIBS": str(self.tools.r_library)}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )
        answers = [lines(answer) for answer in done.stdout.split("\n\036\n")]
        if len(answers) != len(sources) + 1:
            raise RuntimeError(f"R ended early:\n{done.stdout}\n{done.stderr}")
        return answers[:-1]

    def close(self) -> None:
        """Ends what is still running."""
        if self._python is not None:
            assert self._python.stdin is not None and self._python.stdout is not None
            self._python.stdin.close()
            self._python.stdout.close()
            self._python.wait(timeout=20)


def lines(text: str) -> list[str]:
    """Lines without trailing spaces, and without empty lines at the end."""
    found = [line.rstrip() for line in text.splitlines()]
    while found and not found[-1]:
        found.pop()
    return found
