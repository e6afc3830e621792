"""Documents of the repository as pages of the site: docs/, the README's sections, and those beside it. One source each."""

from __future__ import annotations

import re
from pathlib import Path

FENCE = re.compile(r"^\s*(```|~~~)")
#: Blocks and pieces of code, which are left alone unless they are nothing but the name of a document.
CODE = re.compile(r"(?ms)^ *```.*?^ *```$|`[^`]+`")
#: A document named in a text, which becomes a link: docs/r.md, SECURITY.md and so on, not within a link or a longer path.
NAMED = re.compile(r"(?<![\w/(\[-])(docs/[a-z-]+|SECURITY|CHANGELOG|CONTRIBUTING|ARCHITECTURE)\.md(?![\w/])")
#: Documents beside the README, and their pages.
BESIDE = {"SECURITY": "security", "CHANGELOG": "changelog", "CONTRIBUTING": "contributing", "ARCHITECTURE": "architecture"}
#: Sections of the README that are pages.
SECTIONS = {"Measured": "measured", "When not to use it": "limits"}

#: Tables of figures, which a search for a word should not end in, and whose index every page would load.
UNSEARCHED = {"reproduction"}
EXCLUDED = "---\nsearch: { exclude: true }\n---\n\n"


def linked(text: str, known: set[str], up: str) -> str:
    """A text in which documents that are named are links; `up` leads from its page to the root of the site."""

    def link(found: re.Match[str]) -> str:
        page = BESIDE.get(found[1], found[1])
        return f"[{found[1].removeprefix('docs/')}]({up}{page}.md)" if page in known else found[0]

    parts: list[str] = []
    end = 0
    for code in CODE.finditer(text):
        parts.append(NAMED.sub(link, text[end:code.start()]))
        named = NAMED.fullmatch(code[0].strip("`"))
        parts.append(link(named) if named else code[0])
        end = code.end()
    return "".join([*parts, NAMED.sub(link, text[end:])])


def spaced(text: str) -> str:
    """Markdown of GitHub for a stricter reader: an empty line before lists, blocks of code and tables that have none."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fence = FENCE.match(line) is not None
        before = lines[-1] if lines else ""
        item = re.match(r"([-*]|\d+\.) ", line)
        within = re.match(r"\s*([-*]|\d+\.) |\s{2,}|\|", before)
        opens = not fenced and before.strip() and ((item and not within) or (fence and not before.startswith("    ")) or (line.startswith("|") and not before.startswith("|")))
        if opens:
            lines.append("")
        # What belongs to an item is indented by two or three there, and by four here.
        lines.append(line if fenced else re.sub(r"^ {2,3}(?=\S)", "    ", line))
        fenced ^= fence
    return "\n".join(lines)


def section(text: str, heading: str) -> str:
    """A section of a document as a document of its own."""
    found = re.search(rf"(?ms)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text)
    if found is None:
        raise ValueError(f"README.md has no section `{heading}`")
    return f"# {heading}\n{found[1]}"


def write(root: Path, out: Path) -> list[str]:
    """Writes all of them to `out`; the names of the documents in docs/."""
    names = sorted(path.stem for path in (root / "docs").glob("*.md"))
    known = {f"docs/{name}" for name in names} | set(BESIDE.values())
    (out / "docs").mkdir(parents=True, exist_ok=True)
    for name in names:
        text = (root / "docs" / f"{name}.md").read_text(encoding="utf-8")
        head = EXCLUDED if name in UNSEARCHED else ""
        (out / "docs" / f"{name}.md").write_text(head + spaced(linked(text, known, "../")), encoding="utf-8")
    for name, page in BESIDE.items():
        text = (root / f"{name}.md").read_text(encoding="utf-8")
        (out / f"{page}.md").write_text(spaced(linked(text, known, "")), encoding="utf-8")
    readme = (root / "README.md").read_text(encoding="utf-8")
    for heading, page in SECTIONS.items():
        (out / f"{page}.md").write_text(spaced(linked(section(readme, heading), known, "")), encoding="utf-8")
    return names
