"""Figures: the data behind their parts, not their pixels."""

from __future__ import annotations

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch

import consilience as co
from consilience.pl._style import PALETTE


@pytest.fixture(scope="module")
def classes() -> np.ndarray:
    return co.load_iris().target


@pytest.fixture(scope="module")
def result() -> co.ConsensusResult:
    return co.consensus(co.generate(co.load_iris().data, n_members=30), n_clusters=3)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_the_matrix_holds_the_coassociation(result: co.ConsensusResult) -> None:
    ax = co.pl.matrix(result, dendrogram=False)
    mesh = next(part for part in ax.collections if isinstance(part, QuadMesh))
    shown = np.asarray(mesh.get_array())
    widths = np.diff(np.asarray(mesh.get_coordinates())[0, :, 0])
    assert widths.sum() == pytest.approx(150)
    # Means over bins: the mean of all pairs is that of the matrix itself.
    weighted = widths @ shown.reshape(len(widths), -1) @ widths / 150**2
    whole = result.coassociation()
    assert weighted == pytest.approx(whole.mean(), abs=2e-3)
    assert ax.get_title() == "Consensus matrix"
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["0", "1", "2"]


def test_the_tree_above_the_matrix_orders_it(result: co.ConsensusResult) -> None:
    ax = co.pl.matrix(result)
    trees = [part for inset in ax.child_axes for part in inset.collections if isinstance(part, LineCollection)]
    mesh = next(part for part in ax.collections if isinstance(part, QuadMesh))
    bins = np.asarray(mesh.get_array()).shape[0]
    lines = trees[0].get_segments()
    assert len(lines) == bins - 1
    # Merges never go down, and no branch crosses another: every one spans neighbouring bins.
    heights = [line[1][1] for line in lines]
    assert heights == sorted(heights)
    assert all(0 <= line[0][0] <= 150 and 0 <= line[3][0] <= 150 for line in lines)


def test_average_link_is_that_of_scipy() -> None:
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    from consilience.pl._matrix import _average_link

    rng = np.random.default_rng(0)
    near = rng.random((12, 12))
    near = (near + near.T) / 2
    ours = [1 - together for _, _, together in _average_link(near.copy(), np.ones(12))]
    far = 1 - near
    np.fill_diagonal(far, 0)
    np.testing.assert_allclose(ours, linkage(squareform(far), "average")[:, 2])


def test_curves_hold_the_numbers(result: co.ConsensusResult) -> None:
    data = result._figures["resampled"]
    ax = co.pl.cdf(result)
    assert len(ax.lines) == len(data["ks"])
    bold = next(line for line in ax.lines if "(result)" in line.get_label())
    assert bold.get_label() == "k = 3 (result)"
    np.testing.assert_allclose(bold.get_ydata(), np.array(data["distributions"][data["ks"].index(3)]) / 1000)
    ax = co.pl.delta_area(result)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), data["deltas"])
    assert list(ax.lines[1].get_xdata()) == [3]
    ax = co.pl.k_evidence(result)
    labels = ax.get_legend_handles_labels()[1]
    assert "agreement of the draws" in labels and "the result, k = 3" in labels
    stability = next(line for line in ax.lines if line.get_label() == "agreement of the draws")
    np.testing.assert_allclose(stability.get_ydata(), np.array(data["stability"]) / max(data["stability"]))


def test_the_evidence_of_features_is_shown_where_there_is_any() -> None:
    model = co.ConsensusClustering(n_members=12, random_state=0).fit(co.make_blobs()[0])
    number = model.result_.number_
    ax = co.pl.k_evidence(model)
    assert len(ax.patches) == len(number["evidence"])
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], [row["score"] for row in number["evidence"]])


def test_items_stack_up_to_all_support(result: co.ConsensusResult) -> None:
    ax = co.pl.items(result)
    support = np.array(result._figures["matrix"]["support"]) / 1000
    tops: dict[float, float] = {}
    for bar in ax.patches:
        tops[bar.get_x()] = tops.get(bar.get_x(), 0.0) + bar.get_height()
    np.testing.assert_allclose(sorted(tops), np.concatenate([[0], np.cumsum(result._figures["matrix"]["weights"])])[:-1])
    np.testing.assert_allclose([tops[x] for x in sorted(tops)], support.sum(axis=1), atol=1e-9)


def test_sizes_and_agreement(result: co.ConsensusResult) -> None:
    ax = co.pl.sizes(result)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[:3] == np.bincount(result.labels_).tolist()
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches[:3]] == list(PALETTE[:3])
    ax = co.pl.agreement(result)
    values = np.asarray(ax.images[0].get_array())
    assert values.shape == (len(result.members_),) * 2
    names = [text.get_text().removesuffix(" *") for text in ax.get_yticklabels()]
    members = co.generate(co.load_iris().data, n_members=30)
    i, j = members.names.index(names[0]), members.names.index(names[1])
    nmi = co.metrics.nmi(members.member(i), members.member(j))
    assert values[0, 1] == pytest.approx(nmi, abs=1e-3)


def ribbons(ax) -> list[float]:
    return sorted(float(part.get_gid()) for part in ax.patches if isinstance(part, PathPatch))


def test_flows_are_contingency_tables(result: co.ConsensusResult, classes: np.ndarray) -> None:
    ax = co.pl.flow(classes, result, names=["species", "consensus"])
    table = np.histogram2d(classes, result.labels_, bins=(3, 3))[0]
    assert ribbons(ax) == sorted(table[table > 0].tolist())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["species", "consensus"]
    heights = sorted(bar.get_height() for bar in ax.patches if not isinstance(bar, PathPatch))
    assert heights == sorted([50.0] * 3 + np.bincount(result.labels_).astype(float).tolist())
    through = co.align({"a": [0, 0, 1, 1], "b": [1, 1, 0, 2], "c": [0, 0, 0, -1]})
    assert ribbons(co.pl.flow(through)) == [1.0, 1.0, 1.0, 2.0, 2.0]
    raw = co.pl.flow(["x", "y"], ["y", "y"], aligned=False)
    assert {text.get_text() for text in raw.texts} == {"x", "y"}


def test_names_are_no_formulas() -> None:
    hostile = ["$\\nothing{$", "$$", "<script>", "a\nb"]
    names = [hostile[i % 4] for i in range(40)]
    drawn = co.consensus({f"$\\frac{{{h}$": names for h in range(3)}, n_clusters=4)
    for ax in (
        co.pl.flow(names, names[::-1], names=["$\\before$", "$\\after$"], aligned=False),
        co.pl.agreement(drawn, names=True),
        co.pl.matrix(drawn),
        co.pl.sizes(drawn),
        co.pl.tree(TREE["nodes"], TREE["edges"], levels=["$\\low{$", "$0.5$", "1.0"]),
    ):
        # What is no formula is refused when it is drawn.
        ax.figure.canvas.draw()
        assert ax.figure.canvas.get_renderer()


TREE = {
    "nodes": {
        "level": np.array([0, 1, 1, 2, 2, 2]), "cluster": np.array([0, 0, 1, 0, 1, 2]),
        "size": np.array([10.0, 6, 4, 5, 4, 1]), "recovery": np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5]),
    },
    "edges": {
        "level": np.array([0, 0, 1, 1, 1]), "cluster": np.array([0, 0, 0, 1, 0]), "next": np.array([0, 1, 0, 1, 2]),
        "count": np.array([6.0, 4, 5, 4, 1]), "in_proportion": np.array([1.0, 1.0, 1.0, 1.0, 1.0]),
    },
}


def test_the_tree_of_resolutions() -> None:
    ax = co.pl.tree(TREE["nodes"], TREE["edges"], levels=["0.2", "0.5", "1.0"])
    discs = next(part for part in ax.collections if isinstance(part, PathCollection))
    places = np.asarray(discs.get_offsets())
    assert places[:, 1].tolist() == [0, 1, 1, 2, 2, 2]
    # Discs of one level do not lie on each other.
    for level in range(3):
        x = np.sort(places[places[:, 1] == level, 0])
        assert (np.diff(x) > 0.2).all()
    assert sorted(line.get_gid() for line in ax.lines) == ["0:0-0", "0:0-1", "1:0-0", "1:0-2", "1:1-1"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0.2", "0.5", "1.0"]
    by = co.pl.tree({"nodes": TREE["nodes"], "edges": TREE["edges"]}, by="recovery")
    discs = next(part for part in by.collections if isinstance(part, PathCollection))
    np.testing.assert_allclose(np.asarray(discs.get_array()), TREE["nodes"]["recovery"])
    with pytest.raises(ValueError, match="by must be"):
        co.pl.tree(TREE["nodes"], TREE["edges"], by="nothing")


def test_reliability_is_what_it_says() -> None:
    labels = np.repeat([0, 1], 100)
    truth = np.concatenate([np.repeat(["a", "b"], [90, 10]), np.repeat(["b", "a"], [60, 40])])
    sure = np.repeat([0.9, 0.6], 100)
    ax = co.pl.reliability(labels, truth, confidence=sure, bins=2)
    points = np.asarray(next(part for part in ax.collections if isinstance(part, PathCollection)).get_offsets())
    np.testing.assert_allclose(points, [[0.6, 0.6], [0.9, 0.9]])
    assert "75% are right" in ax.texts[0].get_text()
    with pytest.raises(ValueError, match="same objects"):
        co.pl.reliability(labels, truth[:5], confidence=sure)


def test_axes_in_axes_out(result: co.ConsensusResult, classes: np.ndarray) -> None:
    _, axes = plt.subplots(3, 3, figsize=(15, 12))
    draw = [
        lambda ax: co.pl.matrix(result, ax=ax), lambda ax: co.pl.cdf(result, ax=ax),
        lambda ax: co.pl.delta_area(result, ax=ax), lambda ax: co.pl.k_evidence(result, ax=ax),
        lambda ax: co.pl.items(result, ax=ax), lambda ax: co.pl.flow(classes, result.labels_, ax=ax),
        lambda ax: co.pl.agreement(result, ax=ax), lambda ax: co.pl.reliability(result, classes, ax=ax),
        lambda ax: co.pl.tree(TREE, ax=ax),
    ]
    for ax, one in zip(axes.flat, draw, strict=True):
        assert one(ax) is ax and ax.get_title()


def test_many_objects_are_drawn_as_bins() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(6, 20_000)
    noisy = [np.where(rng.random(20_000) < 0.2, rng.choice(6, 20_000), labels) for _ in range(8)]
    ax = co.pl.matrix(co.consensus(noisy, n_clusters=6))
    mesh = next(part for part in ax.collections if isinstance(part, QuadMesh))
    assert np.asarray(mesh.get_array()).shape[0] <= 400


def test_colours_can_be_told_apart_by_the_colour_blind() -> None:
    # Viénot, Brettel and Mollon (1999): deuteranopia and protanopia on linear light.
    def linear(colour: str) -> np.ndarray:
        rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)

    seen = {
        "deuteranopia": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
        "protanopia": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    }
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])

    def lab(rgb: np.ndarray) -> np.ndarray:
        xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    for kind, matrix in seen.items():
        points = [lab(matrix @ linear(colour)) for colour in PALETTE[:6]]
        least = min(np.linalg.norm(a - b) for i, a in enumerate(points) for b in points[:i])
        assert least > 18, f"{kind}: {least:.1f}"


def test_without_matplotlib_the_error_is_kind() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import consilience as co\n"
        "try: co.pl\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'consilience[plot]'" in done.stdout, done


@pytest.mark.parametrize("aligned", [True, False])
def test_a_flow_pairs_objects_by_name(aligned: bool) -> None:
    may = pd.Series({"a": "x", "b": "x", "c": "x", "d": "y"})
    june = pd.Series({"d": "y", "c": "x", "b": "x", "a": "x", "e": "y"})
    for given in ({"may": may, "june": june}, pd.DataFrame({"may": may, "june": june})):
        ax = co.pl.flow(given, aligned=aligned)
        assert ribbons(ax) == [1, 3]
        assert [text.get_text() for text in ax.get_xticklabels()] == ["may", "june"]
    assert ribbons(co.pl.flow(may, june, aligned=aligned)) == [1, 3]
    assert ribbons(co.pl.flow(pd.DataFrame({"p": [0, 0, 1], "q": [5, 5, 5]}), aligned=aligned)) == [1, 2]
