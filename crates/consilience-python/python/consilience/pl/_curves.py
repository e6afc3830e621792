"""Evidence for the number of clusters, and whether confidence is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._inputs import along
from consilience.pl._style import ACCENT, CAUTION, INK, LINE, SOFT, axes, plain, shades, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cdf(result: Any, *, ax: Axes | None = None) -> Axes:
    """Consensus distributions after Monti et al. (2003): one curve per number of clusters.

    Each is the share of pairs that are together in at most this share of draws of the clusterings. The flatter
    the middle, the more stable the number; that of the result is bold.

    Parameters
    ----------
    result : ConsensusResult, or a fitted estimator
        What to show.
    ax : Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Axes
    """
    drawn = _resampled(result)
    ax = axes(ax)
    steps = np.linspace(0, 1, len(drawn["distributions"][0]))
    ramp = shades()
    for i, k in enumerate(drawn["ks"]):
        own = k == drawn["k"]
        ax.plot(
            steps,
            np.asarray(drawn["distributions"][i]) / 1000,
            color=ACCENT if own else ramp(0.3 + 0.5 * i / len(drawn["ks"])),
            linewidth=2.5 if own else 1.0,
            zorder=3 if own else 2,
            label=f"k = {k}" + (" (result)" if own else ""),
        )
    ax.set(
        xlim=(0, 1), ylim=(0, 1.02), xlabel="share of the draws", ylabel="share of pairs", title="Consensus distribution"
    )
    plain(ax)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small", borderaxespad=0.0)
    return ax


def delta_area(result: Any, *, ax: Axes | None = None) -> Axes:
    """How much the area below the consensus distribution grows with one cluster more (Monti et al. 2003).

    For the smallest number it is the area itself.

    Parameters
    ----------
    result, ax
        As in :func:`cdf`.
    """
    drawn = _resampled(result)
    ax = axes(ax)
    ax.plot(drawn["ks"], drawn["deltas"], color=SOFT, marker="o", label="growth of the area")
    at = [i for i, k in enumerate(drawn["ks"]) if k == drawn["k"]]
    ax.plot(
        [drawn["ks"][i] for i in at], [drawn["deltas"][i] for i in at], "o", color=ACCENT, markersize=9, label="the result"
    )
    ax.set(xlabel="number of clusters k", ylabel="relative growth of the area", title="Delta area")
    ax.set_xticks(drawn["ks"])
    ax.set_ylim(bottom=min(0.0, *drawn["deltas"]))
    plain(ax)
    ax.legend(frameon=False, fontsize="small")
    return ax


def k_evidence(result: Any, *, ax: Axes | None = None) -> Axes:
    """What speaks for which number of clusters.

    Of a result from features, the evidence of the features (``number_``); otherwise three curves over the
    clusterings, each as a share of its maximum: lifetimes, the agreement of draws of the clusterings, and how
    few pairs are undecided. Triangles mark what each rule says, the line the result.

    Parameters
    ----------
    result, ax
        As in :func:`cdf`.
    """
    from matplotlib.ticker import MaxNLocator

    data = shown(result)
    result = getattr(result, "result_", result)
    ax = axes(ax, (5.6, 4.0))
    number = getattr(result, "number_", None)
    if number is not None and number.get("evidence"):
        ks = [row["k"] for row in number["evidence"]]
        values = [row["score"] for row in number["evidence"]]
        ax.bar(ks, values, color=[ACCENT if k == result.n_clusters_ else SOFT for k in ks], alpha=0.8, label="score")
        ax.set_ylabel("score of the features")
    else:
        drawn, curves = data["resampled"], data["number"]
        lines: list[tuple[str, Any, Any]] = []
        if len(curves["lifetimes"]) > 1:
            lines.append(("lifetimes", np.arange(1, len(curves["lifetimes"]) + 1), curves["lifetimes"]))
        if len(drawn["ks"]) > 1:
            lines.append(("agreement of the draws", drawn["ks"], drawn["stability"]))
            lines.append(("decided pairs", drawn["ks"], [1 - share for share in drawn["undecided"]]))
        styles = (("o", "-", ACCENT), ("s", "--", CAUTION), ("^", ":", "#158a63"))
        for (name, ks, values), (mark, dash, shade) in zip(lines, styles, strict=False):
            share = np.asarray(values, dtype=float) / max(np.max(values), 1e-12)
            ax.plot(ks, share, marker=mark, linestyle=dash, color=shade, label=name)
        ax.set_ylabel("share of the maximum")
        ax.set_ylim(0, 1.28)
        said: dict[int, int] = {}
        for _, k in curves["votes"]:
            said[k] = said.get(k, 0) + 1
        if said:
            ax.scatter(
                list(said), [1.14] * len(said), s=[36 * count for count in said.values()], marker="v", color=INK,
                label="rules that say so", zorder=4,
            )  # fmt: skip
    ax.axvline(data["number"]["k"], color=SOFT, linestyle="--", linewidth=1, label=f"the result, k = {data['number']['k']}")
    ax.set(xlabel="number of clusters k", title="Number of clusters")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    plain(ax)
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    return ax


def reliability(
    result: Any, truth: Any, *, confidence: Any = None, bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Confidence against truth: of the objects that are so sure, how many are right.

    An object is right if its class is the one that most objects of its cluster are of, which is what
    ``confidence_`` promises. Points on the diagonal keep the promise; their size is the number of objects.

    Parameters
    ----------
    result : ConsensusResult, a fitted estimator, or labels
        What is to be judged.
    truth : array of n classes
        The known class of every object; None, NaN and -1 where it is not known.
    confidence : array of n numbers, optional
        How sure every object is; by default ``confidence_`` of the result.
    bins : int, default 10
        Into how many parts confidence is cut, each with about as many objects.
    ax : Axes, optional
        Where to draw; new axes by default.
    """
    result = getattr(result, "result_", result)
    labels = np.asarray(getattr(result, "labels_", result))
    sure = np.asarray(getattr(result, "confidence_", None) if confidence is None else confidence, dtype=float)
    truth = np.asarray(along(truth, getattr(result, "_index", None), "truth"))
    if not (labels.shape == sure.shape == truth.shape and labels.ndim == 1):
        raise ValueError(
            f"labels, confidence and truth must be of the same objects, got shapes {labels.shape}, {sure.shape} and "
            f"{truth.shape}"
        )
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    known = np.array([not (t is None or t != t or t == -1) for t in truth.tolist()], dtype=bool)
    kept = known & (labels >= 0)
    if not kept.any():
        raise ValueError("truth: no object has both a cluster and a known class")
    labels, sure = labels[kept], sure[kept]
    _, classes = np.unique(truth[kept].astype(str), return_inverse=True)
    right = np.zeros(len(labels), dtype=bool)
    for cluster in np.unique(labels):
        inside = labels == cluster
        right[inside] = classes[inside] == np.bincount(classes[inside]).argmax()
    edges = np.unique(np.quantile(sure, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, max(len(edges) - 2, 0))
    there = np.unique(place)
    said = np.array([sure[place == b].mean() for b in there])
    found = np.array([right[place == b].mean() for b in there])
    counts = np.array([(place == b).sum() for b in there])
    ax = axes(ax, (4.6, 4.4))
    ax.plot([0, 1], [0, 1], color=SOFT, linestyle="--", linewidth=1, label="confidence kept")
    spread = np.sqrt(np.maximum(found * (1 - found), 0.0) / counts)
    ax.errorbar(said, found, yerr=spread, fmt="none", ecolor=LINE, elinewidth=2, zorder=2)
    ax.scatter(said, found, s=20 + 180 * counts / counts.max(), color=ACCENT, zorder=3, label="objects (size: how many)")
    low = min(0.5, float(said.min()) - 0.05, float((found - spread).min()) - 0.05)
    ax.set(
        xlim=(max(low, 0.0), 1.02), ylim=(max(low, 0.0), 1.05), xlabel="confidence", ylabel="share that is right",
        title="Reliability",
    )  # fmt: skip
    told = f"{right.mean():.0%} are right,\nmean confidence {sure.mean():.2f}"
    ax.text(0.03, 0.97, told, transform=ax.transAxes, va="top", fontsize="small")
    plain(ax)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def _resampled(result: Any) -> dict[str, Any]:
    drawn: dict[str, Any] = shown(result)["resampled"]
    if len(drawn["ks"]) < 2:
        raise ValueError(
            "the result has no curves over numbers of clusters: it takes three clusterings or more of objects that differ"
        )
    return drawn
