"""Equations: ``$...$`` and ``$$...$$`` of Markdown become MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

TAG = re.compile(r"\\tag\{([^}]*)\}")
#: What has limits or indices: a space within would be taken for one.
LIMITS = ("<munder>", "<munderover>", "<msub>", "<msup>", "<msubsup>")
BLOCK = re.compile(r"^\$\$(.+?)\$\$$", re.DOTALL | re.MULTILINE)


def mathml(tex: str, display: str = "inline") -> str:
    """An equation as MathML.

    Raises
    ------
    ValueError
        If something of it is not known, and would be shown as it is written.
    """
    # Twice escaped in Rust's comments, where Markdown is read before TeX is; and bars that are told a size grow by themselves.
    plain = tex.replace(r"\\{", r"\{").replace(r"\\}", r"\}").replace(r"\Big\lVert", r"\left\lVert").replace(r"\Big\rVert", r"\right\rVert")
    found = str(convert(" ".join(TAG.sub("", plain).split()), display=display))
    if "\\" in found:
        raise ValueError(f"an equation is not understood: {tex}")
    return set_well(found)


def set_well(found: str) -> str:
    """MathML as a typesetter would have it: names of functions upright with a thin space, bars of norms as high as text."""
    for head in LIMITS:
        found = re.sub(rf"({head})<mo>(\w{{2,}})</mo>", r"\1<mi>\2</mi>", found)
    found = re.sub(r"<mo>(\w{2,})</mo>(?!<mo[^>]*>&#x00028;)", r'<mi>\1</mi><mspace width="0.167em" />', found)
    found = re.sub(r"<mo>(\w{2,})</mo>", r"<mi>\1</mi>", found)
    found = re.sub(r'<(m[in]) mathvariant="bold">([0-9A-Za-z])</m[in]>', lambda letter: f"<{letter[1]}>{bold(letter[2])}</{letter[1]}>", found)
    found = found.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')
    return found.replace("<mo>&#x0007E;</mo>", "<mo>&#x0223C;</mo>").replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")


def bold(letter: str) -> str:
    """A digit or letter in bold, as Unicode has it: browsers do not draw the attribute."""
    first, start = ("0", 0x1D7CE) if letter.isdigit() else ("A", 0x1D400) if letter.isupper() else ("a", 0x1D41A)
    return chr(start + ord(letter) - ord(first))


def block(tex: str) -> str:
    """An equation on lines of its own, with its number if it has one."""
    tag = TAG.search(tex)
    number = f'<span class="equation-number">({tag[1]})</span>' if tag else ""
    return f'<div class="equation" tabindex="0">{mathml(tex, "block")}{number}</div>'


class Blocks(Preprocessor):
    """Takes equations on lines of their own out before anything else is read."""

    def run(self, lines: list[str]) -> list[str]:
        """The lines with places for equations."""
        text = BLOCK.sub(lambda found: f"\n{self.md.htmlStash.store(block(found[1]))}\n", "\n".join(lines))
        return text.split("\n")


class Inline(InlineProcessor):
    """An equation within a line. A dollar before a space, or after one at the end, is a dollar."""

    def __init__(self, md: Markdown) -> None:
        """For this converter."""
        super().__init__(r"(?<![\\$\w])\$(?![\s$])([^$]+?)(?<![\s\\])\$(?![\w$])([.,;:)]*)", md)

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | str | None, int | None, int | None]:  # type: ignore[override]  # noqa: N802
        """The place of the equation. What stands after it stays on its line."""
        found = f'<span class="together">{mathml(m[1])}{m[2]}</span>' if m[2] else mathml(m[1])
        return self.md.htmlStash.store(found), m.start(0), m.end(0)


class Maths(Extension):
    """Both of them."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Adds them: blocks after fences were taken out of the way, lines after code and before escapes."""
        md.preprocessors.register(Blocks(md), "equations", 24)
        md.inlinePatterns.register(Inline(md), "equation", 185)


def makeExtension(**options: Any) -> Maths:  # noqa: N802
    """What Markdown asks for."""
    return Maths(**options)
