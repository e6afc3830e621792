"""The reference of the command line: what ``--help`` says, command by command."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def told(program: Path, *arguments: str) -> str:
    """What the program prints."""
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def write(program: Path, out: Path) -> None:
    """Writes the page to `out`."""
    top = told(program, "--help")
    commands = re.findall(r"(?m)^  ([a-z]+)  +(\S.*)$", top[top.index("Commands:"):top.index("Options:")])
    common = top[top.index("Common options:"):top.index("Examples:")]
    codes = re.search(r"(?s)Exit codes: (.*)", top)
    lines = ["# Command line", "", f"{told(program, '--version').strip()}. This page is what `consilience COMMAND --help` prints.", ""]
    lines += [f"**Exit codes:** {' '.join(codes[1].split())}" if codes else "", ""]
    lines += ["| command | what it does |", "|---|---|", *(f"| [`{name}`](#{name}) | {what} |" for name, what in commands if name != "help"), ""]
    for name, what in commands:
        if name == "help":
            continue
        text = told(program, name, "--help").replace(common, "").rstrip()
        lines += [f"## {name} {{ #{name} }}", "", f"{what}.", "", "```text", text, "```", ""]
    lines += ["## Options that all commands share { #common }", "", "```text", common.rstrip(), "```", ""]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines), encoding="utf-8")
