"""How clusters split from level to level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.pl._style import INK, axes, colour, shades, word

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tree(
    nodes: Any,
    edges: Mapping[str, Any] | None = None,
    *,
    levels: Sequence[Any] | None = None,
    by: str = "cluster",
    least: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """The tree of resolutions: how clusters split and mix from level to level.

    A disc is a cluster, its area the number of its objects; a line is objects that go on, the darker, the larger
    their share in the lower cluster (the in-proportion of clustree).

    Parameters
    ----------
    nodes : mapping of columns, or a result with a ``tree``
        ``level`` (place), ``cluster``, ``size``, and what ``by`` names.
    edges : mapping of columns
        ``level`` (place of the upper level), ``cluster`` (upper), ``next`` (lower), ``count`` and
        ``in_proportion``.
    levels : sequence, optional
        What the levels are called.
    by : str, default "cluster"
        What colours discs: "cluster", or a column of shares such as "recovery" or "confidence".
    least : float, default 0.05
        Lines of a smaller in-proportion are left out.
    ax : Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
    """
    result = nodes
    if edges is None:
        both = getattr(nodes, "tree", nodes)
        if not (isinstance(both, Mapping) and {"nodes", "edges"} <= set(both)):
            raise TypeError("nodes and edges must be given as columns, or a result with a tree")
        nodes, edges = both["nodes"], both["edges"]
        known = getattr(result, "levels", None)
        if levels is None and isinstance(known, Mapping):
            levels = list(known["level"])
    assert edges is not None
    level, cluster = (np.asarray(nodes[key]) for key in ("level", "cluster"))
    size = np.asarray(nodes["size"], dtype=float)
    if by != "cluster" and by not in nodes:
        raise ValueError(f"by must be \"cluster\" or a column of nodes ({', '.join(nodes)}), got {by!r}")
    count = int(level.max()) + 1
    named = [str(i) for i in range(count)] if levels is None else [str(name) for name in levels]
    place = {(int(at), c): i for i, (at, c) in enumerate(zip(level.tolist(), cluster.tolist(), strict=True))}
    upper = np.asarray(edges["level"]).tolist()
    pairs = list(zip(upper, np.asarray(edges["cluster"]).tolist(), np.asarray(edges["next"]).tolist(), strict=True))
    weight = np.asarray(edges["count"], dtype=float)
    share = np.asarray(edges["in_proportion"], dtype=float)
    x = _places(level, size, place, pairs, weight, count)
    ax = axes(ax, (6.4, 1.4 + 0.75 * count))
    ramp = shades()
    for e in np.argsort(share, kind="stable"):
        at, a, b = pairs[e]
        if share[e] >= least:
            i, j = place[at, a], place[at + 1, b]
            ax.plot(
                [x[i], x[j]], [level[i], level[j]], color=ramp(0.15 + 0.8 * share[e]), linewidth=0.6 + 2.4 * share[e],
                zorder=1, gid=f"{at}:{a}-{b}",
            )  # fmt: skip
    area = 30 + 570 * size / max(size.max(), 1e-12)
    if by == "cluster":
        numbers = {name: i for i, name in enumerate(dict.fromkeys(cluster.tolist()))}
        fills: Any = [colour(c if isinstance(c, int) else numbers[c]) for c in cluster.tolist()]
        ax.scatter(x, level, s=area, c=fills, edgecolors="white", linewidths=1, zorder=2)
    else:
        drawn = ax.scatter(
            x, level, s=area, c=np.asarray(nodes[by], dtype=float), cmap=ramp, vmin=0, vmax=1, edgecolors=INK,
            linewidths=0.6, zorder=2,
        )  # fmt: skip
        ax.figure.colorbar(drawn, ax=ax, shrink=0.6, label=by)
    for i, name in enumerate(cluster.tolist()):
        ax.annotate(
            word(name), (x[i], level[i]), ha="center", va="center", fontsize=7, zorder=3,
            color="white" if by == "cluster" or nodes[by][i] > 0.5 else INK,
        )  # fmt: skip
    ax.set_yticks(range(count), [word(name) for name in named])
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_xticks([])
    ax.margins(x=0.08)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set(ylabel="level", title="Clusters from level to level")
    return ax


def _places(level: Any, size: Any, place: Any, pairs: Any, weight: Any, count: int) -> Any:
    """Where discs stand: below the clusters that they come from, and not on each other."""
    x = np.zeros(len(level))
    wide = max(int((level == at).sum()) for at in range(count))
    for at in range(count):
        here = np.flatnonzero(level == at)
        wish = np.full(len(here), 0.5)
        if at == 0:
            order = np.argsort(-size[here], kind="stable")
        else:
            pull, mass = np.zeros(len(level)), np.zeros(len(level))
            for (upper, a, b), w in zip(pairs, weight, strict=True):
                if upper == at - 1:
                    j = place[at, b]
                    pull[j] += w * x[place[upper, a]]
                    mass[j] += w
            wish = np.where(mass[here] > 0, pull[here] / np.maximum(mass[here], 1e-300), 0.5)
            order = np.lexsort((-size[here], wish))
        step = 1.0 / wide
        even = (np.arange(len(here)) - (len(here) - 1) / 2) * step + 0.5
        spots = even.copy()
        if at > 0:
            spots = wish[order].copy()
            for i in range(1, len(spots)):
                spots[i] = max(spots[i], spots[i - 1] + step)
            spots += (wish[order] - spots).mean()
        x[here[order]] = spots
    return x
