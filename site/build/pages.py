"""Pages whose commands are run: what they say is printed must be what is printed.

A page is Markdown. Three kinds of fenced blocks are run, from top to bottom, in a new folder for every page:

* ``console``: lines that begin with ``$ `` are commands (``> `` goes on with the one before), the others are what they print;
* ``pycon``: the same with ``>>> `` and ``... ``, in one Python session per page;
* ``r``: R code, its output in lines that begin with ``#> ``, in one R session per page.

A line ``...`` in an output stands for any lines. A command that fails ends with the line ``[exit code N]``.
Comments ``<!-- run: COMMAND -->`` are run too, and not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

#: The languages of blocks that are run.
LANGUAGES = ("console", "pycon", "r")
HIDDEN = re.compile(r"^<!-- run: (.+) -->$")
FENCE = re.compile(r"^```(\w+)\s*$")


@dataclass
class Step:
    """A command as it stands on a page, and what the page says that it prints."""

    language: str
    source: list[str]
    expected: list[str]
    line: int
    hidden: bool = False

    @property
    def command(self) -> str:
        """What is to be run, without prompts."""
        if self.language == "r" or self.hidden:
            return "\n".join(self.source)
        width = {"console": 2, "pycon": 4}[self.language]
        return "\n".join(line[width:] for line in self.source)


@dataclass
class Page:
    """A page as text that is left alone and steps that are run, in their order."""

    path: Path
    parts: list[str | Step] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        """The steps alone."""
        return [part for part in self.parts if isinstance(part, Step)]

    def text(self) -> str:
        """The page as Markdown again."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                lines.append(part)
            elif part.hidden:
                lines.append(f"<!-- run: {part.command} -->")
            else:
                lines += part.source
                mark = "#> " if part.language == "r" else ""
                lines += [(mark + line).rstrip() for line in part.expected]
                if part.language == "pycon" and "" in part.expected:
                    raise ValueError(f"{self.path}:{part.line}: an empty line in an output of Python cannot be told from its end")
        return "\n".join(lines) + "\n"


def read(path: Path) -> Page:
    """Reads a page."""
    page = Page(path)
    language = ""
    step: Step | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        hidden = HIDDEN.match(line)
        if not language and fence and fence[1] in LANGUAGES:
            language, step = fence[1], None
            page.parts.append(line)
        elif language and line == "```":
            language = ""
            page.parts.append(line)
        elif language:
            step = _within(page, language, step, line, number)
        elif hidden:
            page.parts.append(Step("console", [hidden[1]], [], number, hidden=True))
        else:
            page.parts.append(line)
    if language:
        raise ValueError(f"{path}: a block of {language} is not closed")
    return page


def _within(page: Page, language: str, step: Step | None, line: str, number: int) -> Step | None:
    """Takes in a line of a block that is run; the step that the next line may belong to."""
    begins, goes_on = {"console": ("$ ", "> "), "pycon": (">>> ", "... "), "r": ("", "")}[language]
    if language == "r":
        return _within_r(page, step, line, number)
    if line.startswith(begins):
        step = Step(language, [line], [], number)
        page.parts.append(step)
    elif step is None or (language == "pycon" and not line):
        page.parts.append(line)
    elif not step.expected and (line.startswith(goes_on) or line == goes_on.strip() == "..." and language == "pycon"):
        step.source.append(line)
    else:
        step.expected.append(line)
    return step


def _within_r(page: Page, step: Step | None, line: str, number: int) -> Step | None:
    """The same of R, where output is marked and code is not."""
    if line.startswith("#>"):
        if step is None:
            raise ValueError(f"{page.path}:{number}: output of R without code before it")
        step.expected.append(line[2:].removeprefix(" "))
        return step
    if step is None or step.expected:
        step = Step("r", [line], [], number)
        page.parts.append(step)
    else:
        step.source.append(line)
    return step
