"""Figures for a paper: one page of panels, each drawn into axes that it is given."""

import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import consilience as co

X, classes = co.load_iris()[:2]
result = co.consensus(co.generate(X, n_members=40), n_clusters=3)

figure, axes = plt.subplots(2, 3, figsize=(15, 9), layout="constrained")
co.pl.matrix(result, ax=axes[0, 0])
co.pl.cdf(result, ax=axes[0, 1])
co.pl.delta_area(result, ax=axes[0, 2])
co.pl.items(result, ax=axes[1, 0])
co.pl.flow(classes, result, names=["species", "consensus"], ax=axes[1, 1])
co.pl.reliability(result, classes, ax=axes[1, 2])
for panel, letter in zip(axes.flat, "abcdef", strict=True):
    panel.text(-0.08, 1.04, letter, transform=panel.transAxes, weight="bold", size=14)
with tempfile.TemporaryDirectory() as folder:
    for ending in ("pdf", "png"):
        path = Path(folder, f"figure1.{ending}")
        figure.savefig(path, dpi=150)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
