"""What a result tells, keeps and answers."""

from __future__ import annotations

import io
import os
import pickle
import warnings
import zipfile
from html import escape

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.cluster.hierarchy as hierarchy

import consilience as co

RNG = np.random.default_rng(3)
TRUTH = RNG.integers(0, 3, size=90)
LABELS = np.stack([np.where(RNG.random(90) < 0.15, RNG.integers(0, 3, 90), TRUTH)] * 6, axis=1)
for j in range(6):
    wrong = RNG.random(90) < 0.1
    LABELS[wrong, j] = RNG.integers(0, 3, wrong.sum())
LABELS[::9, 2] = -1
LABELS[5] = -1

# Those that work on a network have tests of their own.
METHODS = [m["name"] for m in co.methods() if not m["needs_edges"]]


def fitted(method: str, labels: object = LABELS) -> co.ConsensusResult:
    info = next(m for m in co.methods() if m["name"] == method)
    table = np.where(LABELS == -1, 0, LABELS) if info["missing"] is None else labels
    k = "auto" if info["chooses_k"] == "always" else 3
    return co.consensus(table, method=method, n_clusters=k)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_tells_what_it_should(method: str) -> None:
    result = fitted(method)
    info = next(m for m in co.methods() if m["name"] == method)
    assert result.method_ == method
    assert result.labels_.dtype == np.int64 and result.labels_.shape == (90,)
    sizes = np.bincount(result.labels_[result.labels_ >= 0])
    assert (np.diff(sizes) <= 0).all() and len(sizes) == result.n_clusters_
    assert ((result.confidence_ >= 0) & (result.confidence_ <= 1)).all()
    assert 0 <= result.anmi_ <= 1
    assert set(result.params_) == {p["name"] for p in info["parameters"]}
    gives = info["gives"]
    assert (result.membership_ is not None) == gives["membership"]
    assert (result.correspondence_ is not None) == gives["correspondences"]
    assert (result.linkage_ is not None) == gives["dendrogram"]
    if result.membership_ is not None:
        sums = result.membership_.sum(axis=1)
        assert np.allclose(sums[result.labels_ >= 0], 1)
        assert (sums[result.labels_ < 0] == 0).all()
    if result.linkage_ is not None:
        assert hierarchy.is_valid_linkage(result.linkage_)


@pytest.mark.parametrize("method", METHODS)
def test_saved_pickled_and_loaded_results_are_the_same(method: str, tmp_path) -> None:
    result = fitted(method)
    result.save(tmp_path / "result.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["result.npz"]
    for again in (co.load(tmp_path / "result.npz"), pickle.loads(pickle.dumps(result))):
        assert repr(again) == repr(result)
        assert (again.labels_ == result.labels_).all()
        assert (again.confidence_ == result.confidence_).all()
        assert (again.coverage_ == result.coverage_).all()
        rows = [r.coassociation([0, 7]) for r in (again, result)]
        assert np.array_equal(*rows, equal_nan=True)
        assert again.explain(3) == result.explain(3)
        assert (again.predict(LABELS) == result.predict(LABELS)).all()
        assert again.params_ == result.params_
        assert list(again.diagnostics_) == list(result.diagnostics_)
        for name, value in result.diagnostics_.items():
            if isinstance(value, np.ndarray):
                assert np.array_equal(again.diagnostics_[name], value, equal_nan=True)
        for name in ("membership_", "linkage_"):
            a, b = getattr(again, name), getattr(result, name)
            assert (a is None and b is None) or (a == b).all()


def test_broken_files_are_refused(tmp_path) -> None:
    file = tmp_path / "result.npz"
    fitted("voting").save(file)
    whole = file.read_bytes()
    with pytest.raises(FileNotFoundError):
        co.load(tmp_path / "nothing.npz")
    file.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="no saved consensus"):
        co.load(file)
    for name, value in [("map", np.full(90, 10**6, np.uint32)), ("labels", np.zeros(3, np.int64))]:
        file.write_bytes(whole)
        with np.load(file) as archive:
            arrays = dict(archive)
        arrays[name] = value
        np.savez(file, **arrays)
        with pytest.raises(ValueError, match="no saved consensus"):
            co.load(file)


def test_coassociation_is_the_share_of_agreeing_members() -> None:
    result = fitted("voting")
    whole = result.coassociation()
    for i, j in [(0, 1), (0, 9), (8, 44)]:
        both = (LABELS[i] != -1) & (LABELS[j] != -1)
        assert whole[i, j] == pytest.approx((LABELS[i] == LABELS[j])[both].mean())
    assert np.isnan(whole[5]).all() and np.isnan(whole[:, 5]).all()
    rows = result.coassociation([44, 0, 44])
    assert np.array_equal(rows, whole[[44, 0, 44]], equal_nan=True)
    with pytest.raises(IndexError):
        result.coassociation([90])
    with pytest.raises(TypeError):
        result.coassociation([0.5])


def test_explanations_add_up() -> None:
    result = fitted("scec")
    for i in range(90):
        why = result.explain(i)
        assert why.label == result.labels_[i]
        assert len(why.votes) == 6
        if i == 5:
            assert why.label == -1 and all(vote.cluster is None for vote in why.votes)
            continue
        cast = [vote for vote in why.votes if vote.cluster is not None]
        assert [vote.cluster for vote in why.votes] == [
            None if label == -1 else str(label) for label in LABELS[i]
        ]
        mean = np.mean([vote.shares for vote in cast], axis=0)
        assert np.allclose(mean, why.support)
        assert why.margin == pytest.approx(why.support[why.label] - why.support[why.second])
        assert np.allclose(result.support(LABELS[[i]])[0], why.support)
    assert "cluster" in str(result.explain(0))
    with pytest.raises(IndexError):
        result.explain(90)


def test_known_tuples_keep_their_cluster_and_new_ones_go_to_the_nearest() -> None:
    result = co.consensus(LABELS, method="voting")
    assert (result.predict(LABELS) == result.labels_).all()
    assert result.predict([[9]] * 6).tolist() == [-1]
    assert result.predict(np.full((2, 6), -1)).tolist() == [-1, -1]
    clean = co.consensus(np.repeat(TRUTH[:, None], 6, axis=1), n_clusters=3)
    nearly = np.array([[0, 0, 0, 0, 1, 2], [1, 1, -1, 1, 2, -1]])
    expected = [clean.labels_[TRUTH == 0][0], clean.labels_[TRUTH == 1][0]]
    assert clean.predict(nearly).tolist() == expected
    with pytest.raises(ValueError, match="clusterings"):
        result.predict([[0], [0]])
    weighted = co.consensus(LABELS, method="voting", clustering_weight=[2, 1, 1, 1, 1, 1])
    assert (weighted.predict(LABELS) == weighted.labels_).all()


def test_damaged_files_are_refused(tmp_path) -> None:
    file = tmp_path / "result.npz"
    result = co.consensus([[0, 0, 1], [0, 1, 1]])
    result.save(file)
    sound = file.read_bytes()
    for at in range(0, len(sound), 7):
        for damaged in (sound[:at], sound[:at] + bytes([sound[at] ^ 255]) + sound[at + 1 :]):
            file.write_bytes(damaged)
            try:
                # Some bytes mean nothing.
                assert (co.load(file).labels_ == result.labels_).all()
            except ValueError as error:
                assert "is no saved consensus" in str(error)
    with pytest.raises(FileNotFoundError):
        co.load(tmp_path / "other.npz")


def test_archives_that_claim_more_than_there_is_are_refused_unread(tmp_path, monkeypatch) -> None:
    file = tmp_path / "result.npz"
    co.consensus([[0, 0, 1], [0, 1, 1]]).save(file)
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as archive:
        array = io.BytesIO()
        np.lib.format.write_array_header_1_0(array, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)})
        archive.writestr("labels.npy", array.getvalue())
        archive.writestr("head.npy", array.getvalue())
    with pytest.raises(ValueError, match="its array labels.npy claims 8000000000 bytes, but has"):
        co.load(tmp_path / "claims.npz")
    # Zeros pack a thousand to one.
    np.savez_compressed(tmp_path / "bomb.npz", head=np.array("{}"), labels=np.zeros(10**7))
    assert (tmp_path / "bomb.npz").stat().st_size < 10**5
    monkeypatch.setattr("consilience._archive.ceiling", lambda: 10**8)
    with pytest.raises(MemoryError, match="would need 160000[0-9]* bytes of memory, but the ceiling is 100000000"):
        co.load(tmp_path / "bomb.npz")
    # Another kind of archive is named as such.
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(ValueError, match="it holds xl/workbook.xml, and not what"):
        co.load(tmp_path / "other.npz")
    assert co.load(file).n_clusters_


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name != "posix", reason="as other systems name and permit")
def test_files_that_are_written_aside_are_nobody_elses(tmp_path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    # The name that it once had.
    (tmp_path / ".result.npz.part").symlink_to(victim)
    co.consensus([[0, 0, 1], [0, 1, 1]]).save(tmp_path / "result.npz")
    assert victim.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".result.npz.part", "result.npz", "victim"]
    # As readable as other files.
    assert (tmp_path / "result.npz").stat().st_mode == victim.stat().st_mode


def test_frames_and_notebooks(monkeypatch) -> None:
    result = fitted("scec")
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame)[:4] == ["cluster", "confidence", "coverage", "membership_0"]
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert isinstance(result.to_frame(), pl.DataFrame)
    html = result._repr_html_()
    assert "Consensus by scec" in html and html.count("<rect") == result.n_clusters_
    assert result.verdict_ and all(escape(sentence) in html for sentence in result.verdict_)
    many = co.consensus(np.arange(40)[:, None].repeat(2, axis=1), method="voting")
    assert "and 28 more" in many._repr_html_()


def test_frames_keep_the_index(tmp_path, monkeypatch) -> None:
    names = pd.Index([f"cell {i}" for i in range(90)], name="cell")
    result = co.consensus(pd.DataFrame(LABELS, index=names), method="scec", n_clusters=3)
    assert result.to_frame().index.equals(names) and result.to_frame().index.name == "cell"
    assert result.ids_ == list(names)
    result.save(tmp_path / "result.npz")
    for again in (co.load(tmp_path / "result.npz"), pickle.loads(pickle.dumps(result))):
        pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())
    result.report(tmp_path / "page.html")
    assert "cell 7" in (tmp_path / "page.html").read_text(encoding="utf-8")
    numbers = co.consensus(pd.DataFrame(LABELS, index=range(5, 95)), n_clusters=3)
    numbers.save(tmp_path / "numbers.npz")
    assert co.load(tmp_path / "numbers.npz").to_frame().index.tolist() == list(range(5, 95))
    plain = co.consensus(pd.DataFrame(LABELS), n_clusters=3)
    assert plain.ids_ is None and "id" not in plain.to_frame()
    model = co.LabelConsensus(3).fit(pd.DataFrame(LABELS, index=names, columns=[*"abcdefgh"][: LABELS.shape[1]]))
    assert model.result_.to_frame().index.equals(names)
    assert model.result_.members_[0] == "a"
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert result.to_frame()["id"].to_list() == list(names)


def test_rows_of_correspondences_have_names() -> None:
    labels = {"sites": ["x", "x", "y", "y"], "years": [7, 5, 5, 7], "left out": [1, 1, 2, 3]}
    result = co.consensus(labels, method="scec", n_clusters=2, clustering_weight=[1, 2, 0])
    assert result.members_ == ["sites", "years"]
    assert result.clusters_ == [["x", "y"], ["7", "5"]]
    assert [len(shares) for shares in result.correspondence_] == [2, 2]
    of_x = result.correspondence_[0][result.clusters_[0].index("x")]
    assert of_x.argmax() == result.labels_[0]


def test_a_range_of_numbers_of_clusters() -> None:
    for wanted in ((4, 6), [4, 6], range(4, 7)):
        result = co.consensus(LABELS, n_clusters=wanted)
        assert 4 <= result.n_clusters_ <= 6
        assert result.k_criteria_["recommended"] == result.n_clusters_
    assert co.consensus(LABELS, n_clusters=(3, 3)).n_clusters_ == 3


def test_several_methods_side_by_side(tmp_path) -> None:
    result = co.consensus(LABELS, method=["scec", "W_MI", "voting"], n_clusters=3)
    board = result.leaderboard_
    assert {row["method"] for row in board} == {"scec", "w-mi", "voting"}
    assert board == sorted(board, key=lambda row: (row["k"] == 3, row["anmi"]), reverse=True)
    assert board[0]["method"] == result.method_
    assert board[0]["anmi"] == pytest.approx(result.anmi_) and board[0]["k"] == 3
    result.save(tmp_path / "result.npz")
    assert co.load(tmp_path / "result.npz").leaderboard_ == board
    everything = co.consensus(LABELS[:40], method="all", n_clusters=(2, 4))
    assert len(everything.leaderboard_) == len(METHODS)
    assert fitted("scec").leaderboard_ is None


def test_files_that_are_something_else_are_told_so(tmp_path) -> None:
    np.savez(tmp_path / "foreign.npz", labels=LABELS)
    with pytest.raises(ValueError, match="foreign.npz is no saved consensus: it holds labels, and not what"):
        co.load(tmp_path / "foreign.npz")
    np.save(tmp_path / "one.npy", LABELS)
    with pytest.raises(ValueError, match="it holds one array"):
        co.load(tmp_path / "one.npy")
    for write in (fitted("scec").report, fitted("scec").save):
        with pytest.raises(IsADirectoryError, match="is a folder: give the name of a file in it"):
            write(tmp_path)
        with pytest.raises(FileNotFoundError, match="there is no folder .*nowhere"):
            write(tmp_path / "nowhere" / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["foreign.npz", "one.npy"]


def test_ensembles_are_values() -> None:
    made = co.generate(co.load_iris().data, n_members=4, base="kmeans", soft=True)
    again = pickle.loads(pickle.dumps(made))
    assert again.names == made.names == ["m01", "m02", "m03", "m04"]
    # Rows of memberships are brought to sum 1 again.
    assert all(np.allclose(again.member(i), made.member(i), atol=1e-15) for i in range(4))
    assert not again.is_hard and len(again) == 4 and again.n_objects == 150
    weighted = co.ensemble(LABELS, sample_weight=np.arange(1, 91))
    assert pickle.loads(pickle.dumps(weighted)).sample_weight.tolist() == list(range(1, 91))
    with pytest.raises(IndexError):
        made.member(4)


def test_warm_start_and_trace() -> None:
    start = co.consensus(LABELS, method="scec", n_clusters=3)
    again = co.consensus(LABELS, method="scec", n_clusters=3, init=start.labels_)
    assert co.metrics.ari(again.labels_, start.labels_) > 0.9
    assert (np.diff(start.trace_) <= 1e-9 * abs(start.trace_[0])).all()


def test_a_start_counts_objects_by_their_weights() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        labels = rng.integers(0, 2, size=(30, 3))
        weights, start = rng.integers(1, 9, size=30), rng.integers(0, 3, size=30)
        arguments = {"method": "scec", "n_clusters": 3, "params": {"max_iter": 2}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.ConvergenceWarning)
            weighted = co.consensus(labels, init=start, sample_weight=weights, **arguments)
            repeated = co.consensus(
                labels.repeat(weights, axis=0), init=start.repeat(weights), **arguments
            )
        first = np.cumsum(weights) - weights
        assert (weighted.labels_ == repeated.labels_[first]).all()


def test_not_converging_is_a_warning() -> None:
    with pytest.warns(co.ConvergenceWarning, match="before it settled"):
        result = co.consensus(LABELS, method="scec", n_clusters=3, params={"max_iter": 1})
    assert result.stop_ == "max-iterations"


def test_new_labels_are_found_by_the_names_of_clusterings(tmp_path) -> None:
    frame = pd.DataFrame(LABELS, columns=list("abcdef"))
    for weight in (None, [1, 2, 1, 0, 1, 1]):
        result = co.consensus(frame, n_clusters=3, clustering_weight=weight)
        result.save(tmp_path / "r.npz")
        other_order = frame[list("fedcba")]
        for asked in (result, co.load(tmp_path / "r.npz")):
            expected = asked.predict(LABELS)
            named = (other_order, dict(other_order), pl.from_pandas(other_order), co.ensemble(other_order))
            for new in named:
                assert (asked.predict(new) == expected).all()
                assert (asked.support(new) == asked.support(LABELS)).all()
            with pytest.raises(ValueError, match="there is no clustering `g` and `f` is missing"):
                asked.predict(frame.rename(columns={"f": "g"}))
    # Without names in the fit their order counts.
    plain = co.consensus(LABELS, n_clusters=3)
    assert (plain.predict(frame) == plain.predict(LABELS)).all()


def test_objects_are_explained_by_name() -> None:
    frame = pd.DataFrame(LABELS, index=[f"o{i}" for i in range(90)])
    result = co.consensus(frame, n_clusters=3)
    assert result.explain("o7") == result.explain(7)
    with pytest.raises(KeyError, match="no object is called 'o90'"):
        result.explain("o90")
    with pytest.raises(ValueError, match="the objects have no names"):
        co.consensus(LABELS, n_clusters=3).explain("o7")


def test_silence_counts_and_is_told() -> None:
    whole = np.repeat(np.arange(40)[:, None] % 2, 10, axis=1)
    table = whole.copy()
    table[0, 1:] = -1
    result = co.consensus(table, n_clusters=2)
    assert result.coverage_[0] == pytest.approx(0.1) and (result.coverage_[1:] == 1).all()
    assert result.confidence_[0] < 0.92 < 0.97 < result.confidence_[2]
    assert "coverage" in result.to_frame() and "coverage" not in co.consensus(whole, n_clusters=2).to_frame()
    assert any("labels are missing" in text for text in result.verdict_)
    # Left out by weight 0, the object is as silent as before.
    light = co.consensus(table, n_clusters=2, sample_weight=[0.0] + [1.0] * 39)
    assert light.coverage_.tolist() == result.coverage_.tolist()
    assert 0 < light.confidence_[0] < 0.92


def test_what_is_printed_is_the_verdict() -> None:
    result = co.consensus([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]], n_clusters=2)
    assert str(result).splitlines() == [repr(result), *result.verdict_]
    assert "4 objects (2 distinct) in 2 clusters" in repr(result) and "\n" not in repr(result)
    assert "1 object (1 distinct) in 1 cluster," in repr(co.consensus([[0]], n_clusters=1))


def test_one_iteration_is_one() -> None:
    with pytest.warns(co.ConvergenceWarning, match="stopped after 1 iteration before"):
        co.consensus(LABELS, method="scec", n_clusters=3, params={"max_iter": 1})


@pytest.mark.parametrize("content", [b"", b"a,b\n0,1\n", b"\x80\x04junk", None], ids=str)
def test_files_of_other_kinds_are_refused_in_our_words(content: bytes | None, tmp_path) -> None:
    file = tmp_path / "l.csv"
    if content is None:
        with file.open("wb") as to:
            np.savez(to, head=np.array([{}], dtype=object))
    else:
        file.write_bytes(content)
    with pytest.raises(ValueError, match=r"l.csv is no saved consensus: it .*consilience.read\(path\)") as told:
        co.load(file)
    assert "pickle" not in str(told.value)
