"""The order of the pages. Documents in docs/ that nobody has put anywhere are guides, so that a new one appears by itself."""

from __future__ import annotations

#: Where the documents of docs/ stand.
BENCHMARKS = {"accuracy": "Accuracy", "comparison": "The number of clusters", "performance": "Performance", "paper-figures": "Figures of papers", "reproduction": "Tables of papers"}
PROJECT = {"hardening": "When things go wrong", "platforms": "Platforms", "releasing": "Releasing"}
GUIDES = {"workflows": "Workflows", "r": "R", "spark": "Apache Spark", "browser": "In a browser"}
ELSEWHERE = {"glossary"}
TUTORIALS = ("patients", "resolutions", "raw-data", "networks", "time")
PYTHON = ("metrics", "pl", "tl", "spark", "compat")

Entry = str | dict[str, "str | list[Entry]"]


def titled(titles: dict[str, str], names: list[str]) -> list[Entry]:
    """Documents with the titles that they have here, as far as they are there."""
    return [{title: f"docs/{name}.md"} for name, title in titles.items() if name in names]


def tree(documents: list[str], methods: list[str], r_pages: list[str] | None, tutorials: list[str]) -> list[Entry]:
    """The tree of pages, as mkdocs takes it."""
    placed = BENCHMARKS | PROJECT | GUIDES
    others: list[Entry] = [f"docs/{name}.md" for name in documents if name not in placed and name not in ELSEWHERE]
    ordered = [name for name in TUTORIALS if name in tutorials] + [name for name in tutorials if name not in TUTORIALS]
    r_reference: list[Entry] = [{"R": ["reference/r/index.md", *(f"reference/r/{name}.md" for name in r_pages)]}] if r_pages else []
    modules: list[Entry] = [{f"co.{name}": f"reference/python-{name}.md"} for name in PYTHON]
    python: list[Entry] = ["reference/python.md", *modules]
    return [
        {"Home": "index.md"},
        {"Start": [{"Quick start": "start.md"}, {"Install": "install.md"}, {"When not to use it": "limits.md"}]},
        {"Tutorials": ["tutorials/index.md", *(f"tutorials/{name}.md" for name in ordered)]},
        {"Methods": ["methods/index.md", *(f"methods/{name}.md" for name in methods)]},
        {"Guides": [*titled(GUIDES, documents), *others, {"Gallery": "gallery.md"}]},
        {"Benchmarks": [{"Measured": "measured.md"}, *titled(BENCHMARKS, documents)]},
        {"Reference": [{"Command line": "reference/cli.md"}, {"Python": python}, *r_reference, {"Rust": "reference/rust.md"}, {"Glossary": "docs/glossary.md"}]},
        {"Questions": "faq.md"},
        {"Project": [
            {"Security": "security.md"}, *titled(PROJECT, documents), {"Architecture": "architecture.md"}, {"Contributing": "contributing.md"}, {"Changelog": "changelog.md"},
        ]},
    ]
