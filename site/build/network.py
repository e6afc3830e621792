"""A picture of a network and its communities, for the method that has no figure of its own among those of the program."""

from __future__ import annotations

import csv
import math
from pathlib import Path

#: Okabe and Ito's colours, as in the figures of the program.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")
WIDTH, HEIGHT = 550, 330


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def places(clusters: dict[str, str]) -> dict[str, tuple[float, float]]:
    """A place for every object: communities on an ellipse, each a ring of its objects."""
    names = sorted(set(clusters.values()), key=lambda name: (len(name), name))
    found: dict[str, tuple[float, float]] = {}
    for number, name in enumerate(names):
        angle = 2 * math.pi * (number + 0.5) / len(names)
        x, y = WIDTH / 2 + 165 * math.cos(angle), HEIGHT / 2 + 122 * math.sin(angle)
        inside = sorted(object_ for object_, cluster in clusters.items() if cluster == name)
        for position, object_ in enumerate(inside):
            turn = 2 * math.pi * position / len(inside)
            found[object_] = (x + 58 * math.cos(turn), y + 58 * math.sin(turn))
    return found


def draw(communities: Path, edges: Path, out: Path) -> None:
    """Draws the objects in `communities` and the weighted `edges` between them."""
    clusters = {row["id"]: row["cluster"] for row in rows(communities)}
    at = places(clusters)
    names = sorted(set(clusters.values()), key=lambda name: (len(name), name))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">']
    for row in rows(edges):
        (x1, y1), (x2, y2) = at[row["source"]], at[row["target"]]
        share = float(row["share"])
        lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#33415c" stroke-opacity="{0.08 + 0.5 * share:.2f}" stroke-width="{0.4 + share:.2f}"/>')
    for object_, (x, y) in at.items():
        colour = COLOURS[names.index(clusters[object_]) % len(COLOURS)]
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}" stroke="#fff"/>')
    out.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")
