"""Looks through the built site: every link leads somewhere, and nothing is loaded from another host."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser loads by itself, by tag and attribute.
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}

#: Elements whose text is not read as a page's.
CODE = {"pre", "code", "script", "style"}
UNREAD = re.compile(r"\]\([^)\s]+\)")


class Page(HTMLParser):
    """The links of a page, and the places in it that links can lead to."""

    def __init__(self, text: str) -> None:
        """Reads a page."""
        super().__init__()
        self.links: list[tuple[str, bool]] = []
        self.anchors: set[str] = set()
        self.unread: list[str] = []
        self._code = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes one element."""
        self._code += tag in CODE
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        for name in ("href", "src", "data"):
            value = found.get(name)
            # A canonical address and such is no link that a reader follows.
            if value and not (tag == "link" and found.get("rel") in ("canonical", "next", "prev")):
                self.links.append((value, (tag, name) in LOADED))


    def handle_endtag(self, tag: str) -> None:
        """Notes the end of one."""
        self._code -= tag in CODE

    def handle_data(self, data: str) -> None:
        """Notes a link of Markdown that was not read as one, and stands on the page as it was written."""
        if not self._code:
            self.unread += UNREAD.findall(data)


def broken(site: Path, skip: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """How many links were followed, and what is wrong with them. Pages below `skip` are led to but not read."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if path.relative_to(site).parts[0] not in skip
    }
    count, wrong = 0, []
    for path, page in pages.items():
        # The page for what is not found is shown at any address, so its links begin at the root.
        base = site if path.name == "404.html" else path.parent
        wrong += [f"{path.relative_to(site)}: {text} is not read as a link" for text in page.unread]
        for link, loaded in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    wrong.append(f"{path.relative_to(site)} loads {link}")
                continue
            count += 1
            target = path if not parts.path else (site / parts.path.lstrip("/") if parts.path.startswith("/") else base / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{path.relative_to(site)}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.relative_to(site)}: {link} leads to a page without that place")
    return count, sorted(set(wrong))
