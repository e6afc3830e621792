"""Clusters followed through time, and what -1 means."""

from __future__ import annotations

import csv
import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import HDBSCAN

import consilience as co


def test_renamed_clusters_keep_their_ids() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(5, 300)
    times = [labels, rng.permutation(5)[labels], rng.permutation(9)[labels]]
    result = co.align(times)
    for at in result.labels_:
        np.testing.assert_array_equal(at, labels)
    assert result.times_ == ["0", "1", "2"] and len(result.moves_["object"]) == 0
    assert len(result.events_["event"]) == 0 and set(result.ids_) == set(range(5))


def test_objects_come_and_go() -> None:
    may = pd.Series({"a": "x", "b": "x", "c": "y", "d": "y"})
    june = pd.Series({"d": "q", "c": "q", "e": "r", "f": "r"})
    july = {"a": "k", "b": "k", "e": "m", "f": "m", "c": "m"}
    result = co.align({"may": may, "june": june, "july": july})
    frame = result.to_frame()
    assert frame.index.tolist() == ["a", "b", "c", "d", "e", "f"]
    assert frame.loc["d"].tolist() == ["y", "y", None]
    # a and b were away in June: the last appearance counts.
    assert frame.loc["a", "july"] == "x" and frame.loc["c", "july"] == "r"
    events = list(zip(result.events_["time"], result.events_["event"], result.events_["cluster"], strict=True))
    assert ("june", "death", "x") in events and ("july", "return", "x") in events
    assert ("june", "birth", "r") in events
    moves = {key: list(values) for key, values in result.moves_.items()}
    assert moves == {
        "object": ["c"], "from_time": ["june"], "to_time": ["july"], "from_cluster": ["y"], "to_cluster": ["r"],
    }


def test_every_kind_of_input_says_the_same() -> None:
    labels = np.array([[0, 4], [0, 4], [1, 2], [1, 2], [1, 4]])
    expected = co.align([labels[:, 0], labels[:, 1]]).labels_
    frame = pd.DataFrame(labels, columns=["a", "b"])
    for given in (labels, frame, {"a": labels[:, 0].tolist(), "b": labels[:, 1]}, list(labels.T)):
        for ours, theirs in zip(co.align(given).labels_, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    results = [co.consensus([column, column, column], n_clusters=2) for column in labels.T]
    assert len(co.align(results).moves_["object"]) == 1
    assert co.align(frame, names=["x", "y"]).times_ == ["x", "y"]


def test_what_cannot_be_followed_is_refused() -> None:
    with pytest.raises(ValueError, match="two times"):
        co.align([[0, 1]])
    with pytest.raises(ValueError, match="share"):
        co.align([[0, 1], [0, 1]], share=0)
    with pytest.raises(ValueError, match="names must list 2"):
        co.align([[0, 1], [0, 1]], names=["a"])
    with pytest.raises(ValueError, match="do not say which objects"):
        co.align([{"a": 0}, [0]])
    with pytest.raises(ValueError, match="twice"):
        co.align([pd.Series([0, 1], index=["a", "a"]), {"a": 0}])
    with pytest.raises(TypeError, match="memberships"):
        co.align([np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])])
    with pytest.raises(ValueError, match="3"):
        co.align([[0, 1], [0, 1, 1]])
    with pytest.raises(ValueError, match="at least one object"):
        co.align([[], []])


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    base = rng.choice(4, 200)
    times = {}
    for month in ("jan", "feb", "mar"):
        base = np.where(rng.random(200) < 0.15, rng.choice(5, 200), base)
        there = rng.random(200) < 0.9
        times[month] = pd.Series(rng.permutation(5)[base], index=[f"c{i}" for i in range(200)])[there]
        times[month].rename_axis("customer").rename("segment").reset_index().to_csv(tmp_path / f"{month}.csv", index=False)
    files = [str(tmp_path / f"{month}.csv") for month in times]
    out = tmp_path / "out"
    subprocess.run([os.environ["CONSILIENCE_PROGRAM"], "align", *files, "--id", "customer", "-o", str(out)], check=True)
    ours = co.align(times)
    theirs = pd.read_csv(out / "labels.csv", index_col="customer").astype("Int64")
    pd.testing.assert_frame_equal(ours.to_frame().loc[theirs.index], theirs, check_names=False)
    with open(out / "moves.csv") as file:
        moves = list(csv.DictReader(file))
    assert [row["customer"] for row in moves] == list(ours.moves_["object"])
    events = pd.read_csv(out / "events.csv")
    assert events["event"].tolist() == list(ours.events_["event"])
    assert events["cluster"].tolist() == list(ours.events_["cluster"])


NOISY = np.array([[0, -1, 1], [0, 0, 1], [1, 1, 0], [-1, 1, 0]])


@pytest.mark.parametrize(
    "labels",
    [
        NOISY,
        NOISY.T.tolist(),
        {name: column for name, column in zip("abc", NOISY.T, strict=True)},
        pd.DataFrame(NOISY, columns=list("abc")),
        pl.DataFrame({name: column for name, column in zip("abc", NOISY.T, strict=True)}),
        pd.DataFrame(NOISY.astype(float), columns=list("abc")),
    ],
    ids=["array", "list", "mapping", "pandas", "polars", "floats"],
)
def test_noise_is_missing_and_said_aloud(labels: object) -> None:
    with pytest.warns(UserWarning, match="-1 is read as missing.*2 of 3 clusterings"):
        result = co.consensus(labels, n_clusters=2)
    assert result.labels_.tolist() == [0, 0, 1, 1] and result.coverage_.tolist() == pytest.approx([2 / 3, 1, 1, 2 / 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert co.consensus(labels, n_clusters=2, missing=-1).coverage_.min() < 1
        assert co.consensus(labels, n_clusters=2, missing=None).coverage_.min() == 1


def test_noise_of_a_fitted_clusterer_and_of_a_file(tmp_path: Path) -> None:
    X, _ = co.make_blobs()
    fitted = HDBSCAN(min_cluster_size=20, copy=True).fit(np.vstack([X, [[99.0] * X.shape[1]]]))
    assert (fitted.labels_ == -1).any()
    with pytest.warns(UserWarning, match="-1 is read as missing"):
        co.ensemble([fitted, fitted.labels_])
    file = tmp_path / "labels.csv"
    file.write_text("a,b\n0,0\n0,0\n-1,1\n1,1\n")
    with pytest.warns(UserWarning, match="noise='cluster'"):
        assert co.read(file).sizes == [2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert co.read(file, noise="cluster").sizes == [3, 2]
    with pytest.raises(ValueError, match="noise must be"):
        co.read(file, noise="keep")


def test_labels_that_look_like_one_number_stay_apart() -> None:
    result = co.align([["01", "01", "1", "1"], ["x", "x", "y", "y"]])
    assert result.ids_ == ["01", "1"] and result.labels_[1].tolist() == ["01", "01", "1", "1"]
    # A digit, but no number; and a number that no integer of 64 bits holds.
    for odd in ("²", "9" * 30):
        result = co.align([[odd, odd, "1"], [odd, odd, "1"]])
        assert result.ids_ == [odd, "1"] and result.clusters_["cluster"].tolist() == [odd, "1"] * 2
    assert co.align([["1", "1", "20"], ["1", "1", "20"]]).ids_ == [1, 20]


def test_a_time_without_any_label_is_refused() -> None:
    for given in ({"may": [-1, -1], "june": [-1, None]}, {"may": [0, 1], "june": [None, None]}):
        with pytest.raises(ValueError, match="labels no object: leave it out"):
            co.align(given)
