"""Runs pages and compares what is printed with what they say: ``python site/build/check.py --program PROGRAM``."""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pages
from pages import Page, Step
from sessions import Sessions, Tools, lines

SOURCES = Path(__file__).resolve().parent.parent / "pages"
#: Times differ from run to run, and say nothing: the digits of both sides are masked.
TIME = re.compile(r"\b\d+(\.\d+)? (ms|s|seconds)\b")


def sources() -> list[Path]:
    """All pages, in an order that does not depend on the file system."""
    return sorted(SOURCES.rglob("*.md"))


def name_of(page: Path) -> str:
    """What a page is called: its path without the ending, with dashes."""
    return "-".join(page.relative_to(SOURCES).with_suffix("").parts)


def run(page: Page, tools: Tools, folder: Path) -> list[tuple[Step, list[str]]]:
    """Runs a page in `folder`: what each of its steps printed. Steps that no tool is there for are left out."""
    sessions = Sessions(tools, folder)
    printed: list[tuple[Step, list[str]]] = []
    of_r = [step for step in page.steps if step.language == "r"]
    try:
        for step in page.steps:
            if step.language == "console":
                printed.append((step, sessions.shell(step.command)))
            elif step.language == "pycon" and tools.python:
                printed.append((step, sessions.python(step.command)))
            elif step.language == "r" and tools.r_library and step is of_r[0]:
                printed += zip(of_r, sessions.r([step.command for step in of_r]), strict=True)
    finally:
        sessions.close()
    return [(step, [line.replace(str(folder), "FOLDER") for line in output]) for step, output in printed]


def agrees(expected: list[str], found: list[str]) -> bool:
    """Whether an output is what is expected, where a line ``...`` stands for any lines."""
    pattern = "".join(r"(.*\n)*?" if line == "..." else re.escape(TIME.sub(r"0 \2", line)) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(TIME.sub(r"0 \2", line) + "\n" for line in found)) is not None


def check(path: Path, tools: Tools, folder: Path, update: bool) -> list[str]:
    """Runs one page; what is wrong with it, in lines. With `update` the page is rewritten instead."""
    page = pages.read(path)
    wrong: list[str] = []
    for step, found in run(page, tools, folder):
        if step.hidden:
            if found and found[-1].startswith("[exit code"):
                wrong += [f"{path}:{step.line}: {step.command} failed", *found]
            continue
        if agrees(lines("\n".join(step.expected)), found):
            continue
        wrong.append(f"{path}:{step.line}: {step.source[0]} prints something else")
        wrong += difflib.unified_diff(step.expected, found, "on the page", "printed", lineterm="", n=1)
        step.expected = found
    if update and wrong:
        path.write_text(page.text(), encoding="utf-8")
        print(f"{path} rewritten")
        return []
    return wrong


def check_all(tools: Tools, folder: Path, update: bool = False, only: list[str] | None = None) -> list[str]:
    """Runs all pages, each in its own folder below `folder`, which is emptied; what is wrong, in lines."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wrong: list[str] = []
    for path in sources():
        if not only or name_of(path) in only:
            wrong += check(path, tools, folder / name_of(path), update)
    return wrong


def arguments() -> argparse.ArgumentParser:
    """The options that this and the building of the site share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="the program `consilience`")
    parser.add_argument("--python", type=Path, help="a Python that has the package; without it, blocks of Python are not run")
    parser.add_argument("--r-library", type=Path, help="the library of R that has the package; without it, blocks of R are not run")
    parser.add_argument("--update", action="store_true", help="rewrite what pages say is printed, to be looked at and committed")
    parser.add_argument("only", nargs="*", help="names of pages, e.g. tutorials-patients [default: all]")
    return parser


def tools_of(options: argparse.Namespace) -> Tools:
    """The tools that the options name; what is not there is said."""
    r_library = options.r_library if options.r_library and (options.r_library / "consilience").is_dir() else None
    for there, what in ((options.python, "Python"), (r_library, "R")):
        if not there:
            print(f"blocks of {what} are not run: no package of it was given")
    # Absolute, but not resolved: the Python of an environment is known by its path.
    return Tools(options.program.absolute(), options.python and options.python.absolute(), r_library and r_library.absolute())


def main() -> int:
    """The exit code."""
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = check_all(tools_of(options), Path(folder) / "pages", options.update, options.only)
    print(*wrong, sep="\n")
    steps = sum(len(pages.read(path).steps) for path in sources())
    print(f"{len(sources())} pages with {steps} commands: " + ("see above; `make site-update` rewrites them" if wrong else "as printed"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
