"""What the Rust sources say of the methods: the list of them, and the documentation of their modules."""

from __future__ import annotations

import re
from pathlib import Path

CONSENSUS = Path("crates/consilience/src/consensus")
LINK = re.compile(r"\[([^\]]+)\]\((?:crate|self|super)(?:::(\w+))*[^)]*\)")
BARE_LINK = re.compile(r"\[(`[^`\]]+`)\](?!\()")
FILE = re.compile(r"`?\bdocs/([a-z-]+)\.md`?")


def modules(root: Path) -> list[str]:
    """The module of every method, in the order of ``METHODS``, which is that of ``consilience methods --json``."""
    text = (root / CONSENSUS / "method.rs").read_text(encoding="utf-8")
    table = re.search(r"pub static METHODS: .*?= &\[(.*?)\];", text, re.DOTALL)
    if table is None:
        raise ValueError(f"{CONSENSUS}/method.rs has no METHODS")
    return re.findall(r"&(\w+)::\w+", table[1])


def documentation(root: Path, module: str) -> tuple[str, str]:
    """The first sentence of a module's documentation, and the rest, as it stands there."""
    file = root / CONSENSUS / f"{module}.rs"
    if not file.exists():
        file = root / CONSENSUS / module / "mod.rs"
    lines = file.read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("//!"))
    text = "\n".join(line[3:].removeprefix(" ") for line in lines[:end])
    title, _, rest = text.partition("\n\n")
    return " ".join(title.split()), rest


def markdown(text: str, pages: dict[str, str]) -> str:
    """Documentation of Rust as Markdown of a page of a method; `pages` has the page of every module that has one."""

    def linked(found: re.Match[str]) -> str:
        return f"[{found[1]}]({pages[found[2]]})" if found[2] in pages else found[1]

    text = LINK.sub(linked, text)
    text = BARE_LINK.sub(r"\1", text)
    text = FILE.sub(r"[\1](../docs/\1.md)", text)
    # Lists need an empty line before them, and headings are those below the title of the page.
    text = re.sub(r"(?m)^(?!\* |  )(.+)\n(?=\* )", r"\1\n\n", text)
    # Lists of rustdoc are indented by two, those of Markdown here by four.
    text = re.sub(r"(?m)^  (?=\S)", "    ", text)
    return re.sub(r"(?m)^#", "##", text)
