"""The consensus matrix, item consensus, clusters and the agreement of the clusterings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.pl._style import INK, LINE, axes, colour, legend, plain, shades, shown, square, word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = np.ndarray[Any, np.dtype[np.float64]]


def matrix(result: Any, *, ax: Axes | None = None, dendrogram: bool = True, scale: bool = True) -> Axes:
    """The consensus matrix: how often any two objects are together, with a dendrogram and the clusters.

    Objects stand in at most some 150 bins of like objects, however many there are.

    Parameters
    ----------
    result : ConsensusResult, or a fitted estimator
        What to show.
    ax : Axes, optional
        Where to draw; new axes by default.
    dendrogram : bool, default True
        Whether to order the bins by a tree (average link of the matrix) and to draw it above. Without it they
        stand by cluster and falling confidence, as on the report page.
    scale : bool, default True
        Whether to draw the scale of colours.

    Returns
    -------
    Axes
    """
    data = shown(result)
    bins, clusters = data["matrix"], data["clusters"]
    weights = np.asarray(bins["weights"], dtype=float)
    values = square(bins["values"], len(weights))
    order = np.arange(len(weights))
    ax = axes(ax, (6.4, 5.6))
    merges: list[tuple[int, int, float]] = []
    if dendrogram and len(weights) > 1:
        merges = _average_link(np.nan_to_num(values), weights)
        order = _leaves(merges, len(weights), np.asarray(order, dtype=float))
    ends = np.concatenate([[0.0], np.cumsum(weights[order])])
    image = ax.pcolormesh(
        ends, ends, values[np.ix_(order, order)], cmap=shades(), vmin=0, vmax=1, rasterized=True
    )
    ax.set_xlim(0, ends[-1])
    ax.set_ylim(ends[-1], 0)
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[], xlabel="objects", ylabel="objects")
    own = [bins["clusters"][i] for i in order]
    fills = [colour(None if place is None else clusters[place]["colour"]) for place in own]
    strip = ax.inset_axes((0.0, 1.01, 1.0, 0.03))
    strip.bar(ends[:-1], 1.0, np.diff(ends), align="edge", color=fills)
    strip.set(xlim=(0, ends[-1]), ylim=(0, 1))
    strip.set_axis_off()
    if merges:
        tree = ax.inset_axes((0.0, 1.05, 1.0, 0.16))
        _draw_tree(tree, merges, order, ends)
        tree.set_xlim(0, ends[-1])
        tree.set_axis_off()
    if scale:
        bar = ax.inset_axes((1.04, 0.0, 0.03, 0.4))
        ax.figure.colorbar(image, cax=bar, label="share together")
    # Above the tree; matplotlib would put it on it, or off the page.
    ax.set_title("Consensus matrix", y=1.23 if merges else 1.06, pad=0)
    legend(ax, [(colour(c["colour"]), c["name"]) for c in clusters], "cluster")
    return ax


def items(result: Any, *, ax: Axes | None = None) -> Axes:
    """Item consensus: how much the clusterings support each cluster for each object.

    Objects stand in the bins of the consensus matrix, by cluster and falling confidence; the support of the
    own cluster is at the bottom.

    Parameters
    ----------
    result, ax
        As in :func:`matrix`.
    """
    data = shown(result)
    bins, clusters = data["matrix"], data["clusters"]
    weights = np.asarray(bins["weights"], dtype=float)
    support = np.asarray(bins["support"], dtype=float) / 1000
    starts = np.concatenate([[0.0], np.cumsum(weights)])[:-1]
    ax = axes(ax, (6.4, 3.2))
    own = np.array([-1 if place is None else place for place in bins["clusters"]])
    floor = np.zeros(len(weights))
    # The own cluster first, then the others by number: bars of one cluster are one artist.
    for stage in (True, False):
        for place in range(support.shape[1]):
            height = np.where((own == place) == stage, support[:, place], 0.0)
            if height.any():
                fill = colour(clusters[place]["colour"])
                ax.bar(
                    starts, height, weights, bottom=floor, align="edge", color=fill, alpha=1.0 if stage else 0.6,
                    label=f"{'own' if stage else 'other'} {clusters[place]['name']}", linewidth=0,
                )  # fmt: skip
                floor = floor + height
    ax.axhline(0.5, color="white", linestyle="--", linewidth=1)
    ax.set(
        xlim=(0, weights.sum()), ylim=(0, 1), xlabel="objects, by cluster", ylabel="support", title="Item consensus"
    )
    plain(ax)
    legend(ax, [(colour(c["colour"]), c["name"]) for c in clusters], "cluster")
    return ax


def sizes(result: Any, *, ax: Axes | None = None) -> Axes:
    """How many objects every cluster has; those whose cluster is safe in full colour.

    Parameters
    ----------
    result, ax
        As in :func:`matrix`.
    """
    clusters = shown(result)["clusters"]
    ax = axes(ax, (5.0, 1.2 + 0.3 * len(clusters)))
    places, fills = np.arange(len(clusters)), [colour(c["colour"]) for c in clusters]
    ax.barh(places, [c["objects"] for c in clusters], color=fills, alpha=0.35, label="objects")
    ax.barh(places, [c["safe"] for c in clusters], color=fills, label="safe")
    for place, c in enumerate(clusters):
        ax.annotate(
            f" {c['objects']:,} (confidence {c['confidence'] / 1000:.2f})", (c["objects"], place), va="center", fontsize="small"
        )
    ax.set_yticks(places, [word(c["name"]) for c in clusters])
    ax.invert_yaxis()
    ax.set(xlabel="objects (dark: safe)", ylabel="cluster", title="Clusters")
    ax.margins(x=0.35)
    ax.set_xlim(left=0)
    plain(ax)
    return ax


def agreement(result: Any, *, ax: Axes | None = None, names: bool | None = None) -> Axes:
    """How alike the clusterings are: normalised mutual information of every pair, alike ones side by side.

    Parameters
    ----------
    result, ax
        As in :func:`matrix`.
    names : bool, optional
        Whether to write the names of the clusterings; by default if there are at most 30.
    """
    members = shown(result)["members"]
    count = len(members["names"])
    ax = axes(ax, (5.8, 5.0))
    values = square(members["values"], count)
    image = ax.imshow(values, cmap=shades(), vmin=0, vmax=1)
    ax.figure.colorbar(image, ax=ax, shrink=0.6, label="agreement (NMI)")
    if names or (names is None and count <= 30):
        marked = [f"{name} *" if odd else name for name, odd in zip(members["names"], members["dissents"], strict=True)]
        ax.set_yticks(np.arange(count), [word(name) for name in marked], fontsize="x-small")
    else:
        ax.set_yticks([])
    ax.set_xticks([])
    camps = members["camps"]
    for i in range(1, count):
        if camps[i] != camps[i - 1]:
            ax.axhline(i - 0.5, color=INK, linewidth=0.8)
            ax.axvline(i - 0.5, color=INK, linewidth=0.8)
    star = " (* dissents)" if any(members["dissents"]) else ""
    ax.set(xlabel=f"{count} clusterings{star}", title="Agreement of the clusterings")
    return ax


def _average_link(values: Floats, weights: Floats) -> list[tuple[int, int, float]]:
    """The merges of bins by average link, as pairs of nodes and the share that they are together at."""
    n = len(weights)
    near, mass, node = values.copy(), weights.astype(float).copy(), list(range(n))
    np.fill_diagonal(near, -np.inf)
    merges = []
    for step in range(n - 1):
        a, b = divmod(int(np.argmax(near)), n)
        a, b = min(a, b), max(a, b)
        merges.append((node[a], node[b], float(near[a, b])))
        joined = (mass[a] * near[a] + mass[b] * near[b]) / (mass[a] + mass[b])
        near[a, :] = near[:, a] = joined
        near[b, :] = near[:, b] = -np.inf
        near[a, a] = -np.inf
        mass[a] += mass[b]
        node[a] = n + step
    return merges


def _leaves(merges: list[tuple[int, int, float]], n: int, rank: Floats) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The bins in the order of the tree; of two branches the one with the lower mean rank first."""
    leaves: list[list[int]] = [[i] for i in range(n)]
    for a, b, _ in merges:
        first, second = leaves[a], leaves[b]
        if rank[second].mean() < rank[first].mean():
            first, second = second, first
        leaves.append(first + second)
    return np.array(leaves[-1], dtype=np.int64)


def _draw_tree(ax: Axes, merges: list[tuple[int, int, float]], order: Any, ends: Floats) -> None:
    from matplotlib.collections import LineCollection

    place = np.empty(len(order))
    place[order] = (ends[:-1] + ends[1:]) / 2
    middle, height = list(place), [0.0] * len(order)
    lines = []
    for a, b, together in merges:
        # Averages never join closer than before; rounding may.
        top = max(1.0 - together, height[a], height[b])
        lines.append([(middle[a], height[a]), (middle[a], top), (middle[b], top), (middle[b], height[b])])
        middle.append((middle[a] + middle[b]) / 2)
        height.append(top)
    ax.add_collection(LineCollection(lines, colors=INK, linewidths=0.8))
    ax.set_ylim(0, max(height[-1], 1e-9) * 1.03)
    ax.axhline(0, color=LINE, linewidth=0.5)
