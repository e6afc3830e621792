"""Flows between clusterings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from consilience._align import AlignResult, _times, _together, _values, align
from consilience.pl._style import axes, colour, word

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def flow(
    first: Any,
    second: Any = None,
    *,
    names: tuple[str, ...] | list[str] | None = None,
    aligned: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """The flow of objects between two clusterings, or through a sequence of them.

    A bar is a cluster, its height the number of its objects; a band is objects that go from one cluster to
    another, in the colour of the cluster that they come from.

    Parameters
    ----------
    first : AlignResult, labels, or a sequence or mapping of labels
        What :func:`consilience.align` gave; or a clustering, with ``second``; or all of them.
    second : labels, optional
        The clustering that ``first`` is compared with.
    names : sequence of str, optional
        What the clusterings are called.
    aligned : bool, default True
        Whether to match the clusters first (:func:`consilience.align`), so that those that correspond have one
        name and colour. False keeps the labels as they are.
    ax : Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import consilience as co
    >>> ax = co.pl.flow([0, 0, 1, 1], [5, 5, 5, 3], names=["before", "after"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['before', 'after']
    """
    if isinstance(first, AlignResult):
        found = first
        times, labels = found.times_, found.labels_
    else:
        pair = second is not None
        items = _times([first, second] if pair else first, names or (("first", "second") if pair else None))
        # Also if the labels stay as they are: what cannot be followed is refused.
        found = align(items)
        times, labels = found.times_, found.labels_
        if not aligned:
            columns, _ = _together(items)
            labels = [_values(column) for column in columns.values()]
    gone = (None, -1)
    order: dict[Any, int] = {}
    counts = []
    for at in labels:
        sizes = Counter(x for x in at.tolist() if x not in gone)
        counts.append(sizes)
        for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], str(item[0]))):
            order.setdefault(name, len(order))
    shade = {name: colour(name if isinstance(name, int) else place) for name, place in order.items()}
    ax = axes(ax, (1.6 + 2.0 * len(times), 4.2))
    total = max(sum(sizes.values()) for sizes in counts) or 1
    gap, wide = 0.015 * total, 0.08
    tops: list[dict[Any, float]] = []
    for time, sizes in enumerate(counts):
        there = sorted(sizes, key=lambda name: order[name])
        used = sum(sizes.values()) + gap * (len(there) - 1)
        top, places = (total + used) / 2, {}
        for name in there:
            places[name] = top
            ax.bar(time, sizes[name], 2 * wide, bottom=top - sizes[name], color=shade[name], linewidth=0, label=str(name))
            if sizes[name] > 0.02 * total:
                last = time == len(counts) - 1
                ax.annotate(
                    word(name), (time + (wide if last else -wide), top - sizes[name] / 2), xytext=(4 if last else -4, 0),
                    textcoords="offset points", ha="left" if last else "right", va="center", fontsize="small",
                )  # fmt: skip
            top -= sizes[name] + gap
        tops.append(places)
    for time in range(len(counts) - 1):
        pairs = zip(labels[time].tolist(), labels[time + 1].tolist(), strict=True)
        cells = Counter((a, b) for a, b in pairs if a not in gone and b not in gone)
        out, into = dict(tops[time]), dict(tops[time + 1])
        ordered = sorted(cells, key=lambda cell: (order[cell[0]], order[cell[1]]))
        leave = {}
        for a, b in ordered:
            leave[a, b] = out[a]
            out[a] -= cells[a, b]
        for a, b in sorted(ordered, key=lambda cell: (order[cell[1]], order[cell[0]])):
            _ribbon(ax, time + wide, time + 1 - wide, leave[a, b], into[b], cells[a, b], shade[a])
            into[b] -= cells[a, b]
    ax.set_xticks(range(len(times)), [word(time) for time in times])
    ax.tick_params(length=0)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.set_xlim(-0.35, len(times) - 0.65)
    ax.set_title("Flow of objects between clusters")
    return ax


def _ribbon(ax: Axes, x0: float, x1: float, y0: float, y1: float, size: float, fill: str) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = (x0 + x1) / 2
    points = [
        (x0, y0), (middle, y0), (middle, y1), (x1, y1), (x1, y1 - size), (middle, y1 - size), (middle, y0 - size),
        (x0, y0 - size), (x0, y0),
    ]  # fmt: skip
    curve = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY]
    patch = PathPatch(Path(points, codes), facecolor=fill, alpha=0.45, linewidth=0)
    # What it stands for, for those who look at the figure's parts.
    patch.set_gid(f"{size:g}")
    ax.add_patch(patch)
