"""The same labels as the command line; threads, Ctrl-C, progress; and the smaller doors."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

import consilience as co
from consilience import compat

RNG = np.random.default_rng(11)
TABLE = RNG.integers(0, 4, size=(80, 6))


def program(*arguments: str) -> str:
    path = os.environ["CONSILIENCE_PROGRAM"]
    done = subprocess.run([path, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("method", ["scec", "w-mi", "rce", "ea-al", "sa", "voting"])
@pytest.mark.parametrize("seed", [0, 5])
def test_labels_are_those_of_the_command_line(method: str, seed: int, tmp_path) -> None:
    file, out = tmp_path / "labels.csv", tmp_path / "out.csv"
    pd.DataFrame(TABLE).to_csv(file, index=False)
    k = [] if method == "voting" else ["--k", "3"]
    program("combine", str(file), "--method", method, *k, "--seed", str(seed), "-o", str(out))
    expected = pd.read_csv(out)
    result = co.consensus(
        TABLE, method=method, n_clusters="auto" if method == "voting" else 3, random_state=seed
    )
    assert result.labels_.tolist() == expected["cluster"].tolist()
    assert result.confidence_ == pytest.approx(expected["confidence"].to_numpy(), abs=1e-12)
    if "coverage" in expected:
        assert result.coverage_ == pytest.approx(expected["coverage"].to_numpy())
    else:
        assert (result.coverage_ == 1).all()


def test_members_are_those_of_the_command_line(tmp_path) -> None:
    iris = co.load_iris()
    file, out = tmp_path / "iris.csv", tmp_path / "members.csv"
    pd.DataFrame(iris.data).to_csv(file, index=False)
    options = ["--size", "5", "--scheme", "random-k", "--scale", "none", "--seed", "3"]
    program("generate", str(file), *options, "-o", str(out))
    expected = pd.read_csv(out)
    made = co.generate(iris.data, n_members=5, scheme="random_k", random_state=3)
    for i, name in enumerate(made.names):
        names = np.array(made.clusters(i), dtype=int)
        assert (names[made.member(i)] == expected[name].to_numpy()).all()


def test_the_table_of_methods_is_that_of_the_command_line() -> None:
    assert co.methods() == json.loads(program("methods", "--json"))["methods"]


def test_threads_change_nothing() -> None:
    for method in ("scec", "rce", "w_mi"):
        one, two = (
            co.consensus(TABLE, method=method, n_clusters=3, n_jobs=jobs) for jobs in (1, 2)
        )
        assert (one.labels_ == two.labels_).all() and (one.confidence_ == two.confidence_).all()


def in_a_program(script: str, tmp_path: Path) -> subprocess.Popen[str]:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(script))
    return subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True)


def test_two_python_threads_make_progress_at_once(tmp_path) -> None:
    # The main thread computes until the other one, which computes as well, has done its work and
    # interrupts it. If either held the lock, the other could not, and this would never end.
    process = in_a_program(
        """
        import _thread
        import sys
        import threading
        import time
        import numpy as np
        import consilience as co

        rng = np.random.default_rng(0)
        large, small = rng.integers(0, 3, (3000, 12)), rng.integers(0, 3, (50, 5))
        main = threading.get_ident()

        def work():
            # Without a callback in the main thread, at which it might hand over the lock.
            while sys._current_frames()[main].f_code.co_name != "combined":
                time.sleep(0.001)
            for _ in range(5):
                co.consensus(small, method="scec", n_clusters=3, n_jobs=1)
            print("worked", flush=True)
            _thread.interrupt_main()

        threading.Thread(target=work, daemon=True).start()
        try:
            co.consensus(
                large,
                method="rce",
                n_clusters=3,
                params={"max_iter": 1_000_000, "tol": 0},
                n_jobs=1,
            )
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """,
        tmp_path,
    )
    out, _ = process.communicate(timeout=300)
    assert out.split() == ["worked", "interrupted"]


def forked(table: np.ndarray) -> list[int]:
    assert co.metrics.nmi(table[:, 0], table[:, 0]) == 1
    return co.consensus(table, method="scec", n_clusters=3).labels_.tolist()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_can_compute() -> None:
    here = forked(TABLE)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(forked, (TABLE,)).get(timeout=60) == here


def test_ctrl_c_stops_a_long_computation(tmp_path) -> None:
    process = in_a_program(
        """
        import time
        import numpy as np
        import consilience as co
        table = np.random.default_rng(0).integers(0, 3, size=(3000, 12))
        print("start", flush=True)
        try:
            co.consensus(table, method="rce", n_clusters=3)
        except KeyboardInterrupt:
            print("stopped", time.time(), flush=True)
        """,
        tmp_path,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "start\n"
    time.sleep(1.5)
    asked = time.time()
    process.send_signal(signal.SIGINT)
    told = process.stdout.readline().split()
    assert process.wait() == 0
    assert told[0] == "stopped"
    print(f"stopped after {float(told[1]) - asked:.3f} s")


def test_progress_is_told() -> None:
    heard: list[tuple[str, int, int | None]] = []
    big = RNG.integers(0, 3, size=(600, 10))
    co.consensus(
        big,
        method="rce",
        n_clusters=3,
        params={"max_iter": 3},
        n_jobs=1,
        progress=lambda stage, done, total: heard.append((stage, done, total)),
    )
    assert heard and all(isinstance(stage, str) for stage, _, _ in heard)

    def stop(stage: str, done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        co.consensus(big, method="rce", n_clusters=3, progress=stop)


def test_everything_installed_is_named(tmp_path) -> None:
    assert {"spark", "tl", "compat", "ConsensusClustering"} <= set(dir(co)) == set(co.__all__)
    script = tmp_path / "typed.py"
    script.write_text("import consilience\nreveal_type(consilience.spark.cluster)\n")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(script)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    assert "SparkConsensus" in told, told


def test_data_sets() -> None:
    assert co.load_iris().target_names == ["setosa", "versicolor", "virginica"]
    for make, n, k in [
        (co.make_half_rings, 400, 2),
        (co.make_three_rings, 450, 3),
        (co.make_cigar, 250, 4),
        (co.make_blobs, 500, 5),
    ]:
        X, y = make(random_state=4)
        assert X.shape == (n, 2) and len(np.unique(y)) == k
        assert (X == make(random_state=4)[0]).all() and (X != make(random_state=5)[0]).any()


def test_anndata() -> None:
    obs = pd.DataFrame(TABLE.astype(str), columns=[f"leiden_{j}" for j in range(6)])
    obs.index = obs.index.astype(str)
    adata = anndata.AnnData(np.zeros((80, 1)), obs=obs.astype("category"))
    assert co.tl.consensus(adata, n_clusters=3) is None
    expected = co.consensus(TABLE, n_clusters=3)
    assert adata.obs["consensus"].cat.codes.tolist() == expected.labels_.tolist()
    assert adata.obs["consensus_confidence"].tolist() == expected.confidence_.tolist()
    assert adata.uns["consensus"]["method"] == "lwea"
    other = co.tl.consensus(adata, keys=["leiden_0", "leiden_1"], key_added="two", copy=True)
    assert "two" in other.obs and "two" not in adata.obs
    with pytest.raises(ValueError, match="louvain"):
        co.tl.consensus(adata, keys="louvain*")
    with pytest.raises(ValueError, match="no column of obs matches leidn_1; there are leiden_0"):
        co.tl.consensus(adata, keys=["leiden_0", "leidn_1"])
    adata.obs["n_genes"] = RNG.permutation(80) + 500
    with pytest.raises(ValueError, match="'n_genes' of obs has 80 different numbers.*astype"):
        co.tl.consensus(adata, keys=["leiden_0", "n_genes"])
    adata.obs["kmeans"] = TABLE[:, 0]
    co.tl.consensus(adata, keys=["leiden_*", "kmeans"], n_clusters=(2, 4))
    assert adata.uns["consensus"]["keys"][-1] == "kmeans"


SOLVERS = {"cspa": "cspa", "hgpa": "hgpa", "mcla": "mcla", "hbgf": "hbgf", "nmf": "nmfc"}
THERE = {m["name"] for m in co.methods()}


@pytest.mark.parametrize("solver", [*SOLVERS, "all", "other"])
def test_cluster_ensembles(solver: str) -> None:
    rows = np.array([[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 0, 2, 2, np.nan]])
    there = set(SOLVERS.values()) & THERE if solver == "all" else {SOLVERS.get(solver)} & THERE
    if not there:
        with pytest.raises(ValueError, match="there is no solver"):
            compat.cluster_ensembles(rows, nclass=2, solver=solver)
        return
    labels = compat.cluster_ensembles(rows, nclass=2, solver=solver, random_state=0)
    assert co.metrics.ari(labels, [0, 0, 0, 1, 1, 1]) == 1


def test_consensus_cluster_plus_tables(tmp_path) -> None:
    results = {k: co.consensus(TABLE, n_clusters=k) for k in (2, 3)}
    items = [f"s{i}" for i in range(80)]
    tables = compat.consensus_tables(results, items, directory=tmp_path, title="run")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "run.k=2.consensusClass.csv",
        "run.k=3.consensusClass.csv",
        "run.summary.cluster.consensus.csv",
        "run.summary.item.consensus.csv",
    ]
    matrix = results[3].coassociation()
    labels = results[3].labels_
    written = pd.read_csv(tmp_path / "run.summary.item.consensus.csv")
    for k, cluster, item, value in tables.item_consensus[-80::7]:
        i = items.index(item)
        others = [j for j in range(80) if labels[j] == cluster - 1 and j != i]
        assert k == 3 and value == pytest.approx(matrix[i, others].mean())
        row = written.query("k == @k and cluster == @cluster and item == @item")
        assert row["itemConsensus"].item() == pytest.approx(value)
    for k, cluster, value in tables.cluster_consensus:
        if k == 3:
            inside = np.flatnonzero(labels == cluster - 1)
            pairs = matrix[np.ix_(inside, inside)][np.triu_indices(len(inside), 1)]
            assert value == pytest.approx(pairs.mean())
    with pytest.raises(ValueError, match="items has 2"):
        compat.consensus_tables(results, ["a", "b"])
