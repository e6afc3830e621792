"""Colours, axes and what is drawn."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SOFT, LINE, ACCENT, CAUTION, NONE = "#1a2230", "#556074", "#d9dee6", "#1d5bb8", "#8a5200", "#9aa3b0"
#: First those of Okabe and Ito (2008), which the colour-blind can tell apart.
PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    "#6d4fb0", "#a5472f", "#5c6675", "#9b1c4a", "#4d7a1f", "#2b3f8c",
)  # fmt: skip
RAMP = ("#f7f9fc", "#d3e1f2", "#93b9de", "#4a86c0", "#1c5396", "#0a2a58")


def colour(number: int | None) -> str:
    """The colour of a cluster with this number, as in the figures of the command line."""
    if number is None or number < 0:
        return NONE
    if number < len(PALETTE):
        return PALETTE[number]
    r, g, b = colorsys.hls_to_rgb(number * 137.508 % 360 / 360, 0.40, 0.55)
    return f"#{round(255 * r):02x}{round(255 * g):02x}{round(255 * b):02x}"


def shades() -> Any:
    """The colours of shares from 0 to 1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("consilience", list(RAMP))


def axes(ax: Axes | None, size: tuple[float, float] = (5.0, 4.0)) -> Axes:
    """The axes that were given, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def plain(ax: Axes) -> None:
    """Axes without a box."""
    ax.spines[["top", "right"]].set_visible(False)


def word(name: object) -> str:
    """A name as it is: between two dollars Matplotlib sees a formula, and refuses what is none."""
    return str(name).replace("$", r"\$")


def shown(result: Any) -> dict[str, Any]:
    """What the figures of a result, or of an estimator that has one, show."""
    result = getattr(result, "result_", result)
    data = getattr(result, "_figures", None)
    if data is None:
        raise TypeError(
            f"result must be what consilience.consensus gives, or a fitted estimator, got {type(result).__name__}"
        )
    found: dict[str, Any] = data
    return found


def square(values: list[int], n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A symmetric matrix from its lower half in thousandths; NaN where nothing is known."""
    whole = np.empty((n, n))
    rows, columns = np.tril_indices(n)
    half = np.asarray(values, dtype=float)
    half[half > 1000] = np.nan
    whole[rows, columns] = whole[columns, rows] = half / 1000
    return whole


def legend(ax: Axes, entries: list[tuple[str, str]], title: str = "", most: int = 20) -> None:
    """A legend of coloured squares beside the axes."""
    from matplotlib.patches import Patch

    patches = [Patch(color=fill, label=word(name)) for fill, name in entries[:most]]
    if len(entries) > most:
        patches.append(Patch(color="none", label=f"and {len(entries) - most} more"))
    ax.legend(
        handles=patches, title=title or None, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False,
        fontsize="small", title_fontsize="small", borderaxespad=0.0,
    )  # fmt: skip
