"""Shapes: sets of points whose clusters are known because we drew them.

Every function takes a generator of random numbers and returns the points and their clusters; -1 is
noise, which no clustering is scored on. `SHAPES` lists them with their kinds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Points = np.ndarray
Labels = np.ndarray
Rng = np.random.Generator
Drawn = tuple[Points, Labels]
SHAPES: dict[str, tuple[str, Callable[[Rng], Drawn]]] = {}


def shape(kind: str) -> Callable[[Callable[[Rng], Drawn]], Callable[[Rng], Drawn]]:
    def listed(draw: Callable[[Rng], Drawn]) -> Callable[[Rng], Drawn]:
        SHAPES[draw.__name__] = (kind, draw)
        return draw

    return listed


def together(*parts: Points) -> Drawn:
    """One cluster per part."""
    return np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def with_noise(rng: Rng, drawn: Drawn, count: int, margin: float = 0.1) -> Drawn:
    """The same among `count` points anywhere in the box around them."""
    points, labels = drawn
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * (high - low)
    noise = rng.uniform(low - room, high + room, (count, points.shape[1]))
    return np.vstack([points, noise]), np.concatenate([labels, np.full(count, -1)])


def arc(rng: Rng, count: int, radius: float, width: float, start: float = 0, end: float = 2 * np.pi) -> Points:
    """Points along an arc around the origin."""
    angle = rng.uniform(start, end, count)
    r = radius + width * rng.standard_normal(count)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def blob(rng: Rng, count: int, centre: object, spread: object = 1.0) -> Points:
    centre = np.asarray(centre, dtype=float)
    return centre + np.asarray(spread) * rng.standard_normal((count, len(centre)))


def segment(rng: Rng, count: int, start: object, end: object, width: float) -> Points:
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    along = rng.uniform(0, 1, (count, 1))
    return start + along * (end - start) + width * rng.standard_normal((count, len(start)))


def turned(rng: Rng, points: Points) -> Points:
    """The points in a random orientation."""
    q, r = np.linalg.qr(rng.standard_normal((points.shape[1],) * 2))
    return points @ (q * np.sign(np.diag(r))).T


# Rings ------------------------------------------------------------------------------------------


@shape("rings")
def two_rings(rng: Rng) -> Drawn:
    return together(arc(rng, 300, 1, 0.06), arc(rng, 500, 2, 0.06))


@shape("rings")
def four_rings(rng: Rng) -> Drawn:
    return together(*(arc(rng, 150 * r, r, 0.08) for r in (1, 2, 3, 4)))


@shape("rings")
def wide_rings(rng: Rng) -> Drawn:
    """Rings whose widths leave little room between them."""
    return together(arc(rng, 250, 1, 0.12), arc(rng, 600, 2, 0.14))


@shape("rings")
def ring_around_a_blob(rng: Rng) -> Drawn:
    return together(blob(rng, 300, [0, 0], 0.4), arc(rng, 500, 2.5, 0.15))


@shape("rings")
def linked_rings(rng: Rng) -> Drawn:
    """Two rings in space, each through the other's hole."""
    one, two = arc(rng, 400, 1, 0.07), arc(rng, 400, 1, 0.07)
    flat = 0.07 * rng.standard_normal((2, 400))
    first = np.column_stack([one, flat[0]])
    second = np.column_stack([two[:, 0] + 1, flat[1], two[:, 1]])
    return together(first, second)


@shape("rings")
def shells(rng: Rng) -> Drawn:
    """A ball within a sphere, in space."""
    inner = blob(rng, 250, [0, 0, 0], 0.35)
    outer = rng.standard_normal((600, 3))
    outer *= (2 + 0.08 * rng.standard_normal((600, 1))) / np.linalg.norm(outer, axis=1, keepdims=True)
    return together(inner, outer)


@shape("rings")
def rings_side_by_side(rng: Rng) -> Drawn:
    return together(arc(rng, 250, 1, 0.05), arc(rng, 250, 1, 0.05) + [2.6, 0], arc(rng, 250, 1, 0.05) + [1.3, 2.4])


@shape("rings")
def rings_in_noise(rng: Rng) -> Drawn:
    return with_noise(rng, together(arc(rng, 400, 1.2, 0.06), arc(rng, 700, 2.6, 0.06)), 60)


# Chains -----------------------------------------------------------------------------------------


@shape("chains")
def moons(rng: Rng) -> Drawn:
    return together(
        arc(rng, 350, 1, 0.08, 0, np.pi), arc(rng, 350, 1, 0.08, np.pi, 2 * np.pi) + [1, 0.4]
    )


@shape("chains")
def moons_unequal(rng: Rng) -> Drawn:
    return together(
        arc(rng, 120, 1, 0.07, 0, np.pi), arc(rng, 600, 1, 0.07, np.pi, 2 * np.pi) + [1, 0.35]
    )


@shape("chains")
def moons_blurred(rng: Rng) -> Drawn:
    return together(
        arc(rng, 400, 1, 0.14, 0, np.pi), arc(rng, 400, 1, 0.14, np.pi, 2 * np.pi) + [1, 0.3]
    )


def arm(rng: Rng, count: int, phase: float, width: float, turns: float) -> Points:
    t = np.sqrt(rng.uniform(0.04, 1, count))
    angle = phase + 2 * np.pi * turns * t
    return np.column_stack([4 * t * np.cos(angle), 4 * t * np.sin(angle)]) + width * rng.standard_normal((count, 2))


@shape("chains")
def two_spirals(rng: Rng) -> Drawn:
    return together(*(arm(rng, 500, phase, 0.08, 1.5) for phase in (0, np.pi)))


@shape("chains")
def three_spirals(rng: Rng) -> Drawn:
    return together(*(arm(rng, 350, phase, 0.08, 1.0) for phase in (0, 2.0944, 4.1888)))


@shape("chains")
def parallel_lines(rng: Rng) -> Drawn:
    return together(*(segment(rng, 250, [0, y], [10, y], 0.12) for y in (0, 1, 2)))


@shape("chains")
def lines_of_any_direction(rng: Rng) -> Drawn:
    ends = [([0, 0], [6, 1]), ([7, 2], [8, 8]), ([0, 3], [4, 7]), ([1, 9], [6, 9.5]), ([9, 0], [12, 4])]
    return together(*(segment(rng, 120, a, b, 0.15) for a, b in ends))


@shape("chains")
def waves(rng: Rng) -> Drawn:
    def wave(height: float) -> Points:
        x = rng.uniform(0, 12, 300)
        return np.column_stack([x, height + np.sin(x) + 0.12 * rng.standard_normal(300)])

    return together(*(wave(height) for height in (0, 1.4, 2.8)))


@shape("chains")
def corner_and_blob(rng: Rng) -> Drawn:
    corner = np.vstack([segment(rng, 200, [0, 0], [0, 6], 0.2), segment(rng, 200, [0, 0], [6, 0], 0.2)])
    return together(corner, blob(rng, 300, [3.5, 3.5], 0.6))


@shape("chains")
def face(rng: Rng) -> Drawn:
    """Two eyes and a mouth in the outline of a head."""
    return together(
        blob(rng, 80, [-1.2, 1], 0.2),
        blob(rng, 80, [1.2, 1], 0.2),
        arc(rng, 200, 1.8, 0.08, np.pi * 1.15, np.pi * 1.85),
        arc(rng, 500, 3.5, 0.1),
    )


@shape("chains")
def chains_in_noise(rng: Rng) -> Drawn:
    lines = [segment(rng, 250, [0, y], [10, y + 2], 0.12) for y in (0, 2.2, 4.4)]
    return with_noise(rng, together(*lines), 60)


# Mixtures ---------------------------------------------------------------------------------------


def grid(rng: Rng, side: int, count: int, spread: float) -> Drawn:
    return together(*(blob(rng, count, [x, y], spread) for x in range(side) for y in range(side)))


@shape("mixtures")
def grid_apart(rng: Rng) -> Drawn:
    return grid(rng, 3, 80, 0.12)


@shape("mixtures")
def grid_touching(rng: Rng) -> Drawn:
    return grid(rng, 3, 100, 0.22)


@shape("mixtures")
def grid_overlapping(rng: Rng) -> Drawn:
    return grid(rng, 3, 150, 0.32)


@shape("mixtures")
def grid_of_25(rng: Rng) -> Drawn:
    return grid(rng, 5, 60, 0.18)


@shape("mixtures")
def two_overlapping(rng: Rng) -> Drawn:
    return together(blob(rng, 400, [0, 0]), blob(rng, 400, [2.8, 0]))


@shape("mixtures")
def cigars(rng: Rng) -> Drawn:
    """Long parallel Gaussians."""
    return together(*(blob(rng, 250, [0, y], [4, 0.4]) for y in (0, 2.2, 4.4)))


@shape("mixtures")
def crossed_cigars(rng: Rng) -> Drawn:
    return together(blob(rng, 300, [0, 0], [3, 0.3]), blob(rng, 300, [0, 0], [0.3, 3]))


@shape("mixtures")
def any_covariance(rng: Rng) -> Drawn:
    centres = rng.uniform(-9, 9, (7, 2))
    return together(*(c + turned(rng, blob(rng, 150, [0, 0], rng.uniform(0.3, 1.8, 2))) for c in centres))


@shape("mixtures")
def any_covariance_in_5(rng: Rng) -> Drawn:
    centres = rng.uniform(-4, 4, (6, 5))
    return together(*(c + turned(rng, blob(rng, 150, [0] * 5, rng.uniform(0.3, 2, 5))) for c in centres))


@shape("mixtures")
def heavy_tails(rng: Rng) -> Drawn:
    return together(*(np.array(c) + 0.5 * rng.standard_t(2.5, (200, 2)) for c in ([0, 0], [6, 0], [3, 5])))


@shape("mixtures")
def squares(rng: Rng) -> Drawn:
    """Uniform squares with small gaps."""
    return together(*(rng.uniform(0, 1, (200, 2)) + [1.15 * x, 1.15 * y] for x in range(2) for y in range(2)))


@shape("mixtures")
def other_scales(rng: Rng) -> Drawn:
    """Three blobs whose second column is in units a hundred times as large and says nothing."""
    points, labels = together(*(blob(rng, 200, [x, 0]) for x in (0, 6, 12)))
    points[:, 1] *= 100
    return points, labels


# Unequal sizes and densities --------------------------------------------------------------------


@shape("unequal")
def unequal_sizes(rng: Rng) -> Drawn:
    return together(blob(rng, 800, [0, 0]), blob(rng, 60, [5.5, 0]), blob(rng, 30, [0, 5.5]))


@shape("unequal")
def unequal_spreads(rng: Rng) -> Drawn:
    return together(blob(rng, 300, [0, 0], 2.5), blob(rng, 150, [8.5, 0], 0.4), blob(rng, 150, [8.5, 4], 0.4))


@shape("unequal")
def dense_within_sparse(rng: Rng) -> Drawn:
    wide = rng.uniform(-5, 5, (300, 2))
    wide = wide[np.linalg.norm(wide, axis=1) > 1.5]
    return together(blob(rng, 300, [0, 0], 0.3), wide)


@shape("unequal")
def densities_along_a_line(rng: Rng) -> Drawn:
    return together(*(blob(rng, 200, [x, 0], s) for x, s in ((0, 0.1), (1.2, 0.25), (4, 0.7), (10, 1.6))))


@shape("unequal")
def one_large_many_small(rng: Rng) -> Drawn:
    ring = [[7 * np.cos(a), 7 * np.sin(a)] for a in np.arange(6) * np.pi / 3]
    return together(blob(rng, 600, [0, 0], 1.5), *(blob(rng, 50, c, 0.4) for c in ring))


@shape("unequal")
def unequal_in_10(rng: Rng) -> Drawn:
    centres = 2.2 * rng.standard_normal((5, 10))
    sizes = (600, 200, 100, 50, 25)
    return together(*(blob(rng, n, c, s) for n, c, s in zip(sizes, centres, (1.5, 1, 1, 0.7, 0.5))))


# Many features ----------------------------------------------------------------------------------


@shape("high-dimensional")
def blobs_in_20(rng: Rng) -> Drawn:
    return together(*(blob(rng, 120, c) for c in 1.1 * rng.standard_normal((6, 20))))


@shape("high-dimensional")
def blobs_in_100(rng: Rng) -> Drawn:
    return together(*(blob(rng, 80, c) for c in 0.55 * rng.standard_normal((8, 100))))


@shape("high-dimensional")
def blobs_in_500(rng: Rng) -> Drawn:
    return together(*(blob(rng, 50, c) for c in 0.35 * rng.standard_normal((5, 500))))


@shape("high-dimensional")
def few_of_50_matter(rng: Rng) -> Drawn:
    points, labels = together(*(blob(rng, 150, c) for c in 3 * rng.standard_normal((4, 5))))
    return np.hstack([points, rng.standard_normal((len(points), 45))]), labels


@shape("high-dimensional")
def own_subspaces(rng: Rng) -> Drawn:
    """Every cluster is narrow in other features."""
    parts = []
    for j in range(5):
        part = 2 * rng.standard_normal((150, 30))
        part[:, 6 * j : 6 * j + 6] = 2.5 + 0.3 * rng.standard_normal((150, 6))
        parts.append(part)
    return together(*parts)


@shape("high-dimensional")
def correlated_in_30(rng: Rng) -> Drawn:
    """Long in a few directions that all clusters share."""
    mixing = rng.standard_normal((4, 30))
    parts = [blob(rng, 150, c, 0.6) for c in 0.9 * rng.standard_normal((5, 30))]
    return together(*(part + rng.standard_normal((150, 4)) @ mixing for part in parts))


@shape("high-dimensional")
def patterns_of_bits(rng: Rng) -> Drawn:
    patterns = rng.integers(0, 2, (7, 60))
    flips = [rng.uniform(0, 1, (90, 60)) < 0.22 for _ in patterns]
    return together(*(np.abs(p - flip).astype(float) for p, flip in zip(patterns, flips)))


@shape("high-dimensional")
def moons_in_20(rng: Rng) -> Drawn:
    points, labels = moons(rng)
    wide = np.hstack([points, np.zeros((len(points), 18))])
    return turned(rng, wide) + 0.03 * rng.standard_normal(wide.shape), labels


# Noise ------------------------------------------------------------------------------------------


@shape("noise")
def blobs_in_noise(rng: Rng) -> Drawn:
    return with_noise(rng, together(*(blob(rng, 150, c, 0.6) for c in ([0, 0], [7, 1], [3, 6], [9, 8]))), 150)


@shape("noise")
def blobs_in_much_noise(rng: Rng) -> Drawn:
    return with_noise(rng, together(*(blob(rng, 200, c, 0.4) for c in ([0, 0], [5, 1], [2, 5]))), 500)


@shape("noise")
def outliers_far_off(rng: Rng) -> Drawn:
    return with_noise(rng, together(*(blob(rng, 200, c, 0.7) for c in ([0, 0], [6, 0], [3, 5]))), 12, margin=4)


@shape("noise")
def shapes_in_noise(rng: Rng) -> Drawn:
    parts = (arc(rng, 300, 2, 0.08), blob(rng, 150, [0, 0], 0.3), segment(rng, 200, [4, -2], [5, 3], 0.12))
    return with_noise(rng, together(*parts), 80)


@shape("noise")
def noise_in_10(rng: Rng) -> Drawn:
    return with_noise(rng, together(*(blob(rng, 120, c) for c in 2 * rng.standard_normal((5, 10)))), 150)


@shape("noise")
def bridges(rng: Rng) -> Drawn:
    """Blobs that a thin line of noise joins."""
    points, labels = together(blob(rng, 250, [0, 0], 0.7), blob(rng, 250, [6, 0], 0.7), blob(rng, 250, [12, 0], 0.7))
    line = segment(rng, 60, [0, 0], [12, 0], 0.1)
    return np.vstack([points, line]), np.concatenate([labels, np.full(60, -1)])
