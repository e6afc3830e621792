"""The same answers on a real Spark of several processes as on one machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import consilience as co
from consilience import spark as cs
from consilience._archive import read_state, write_state
from consilience._circumstances import circumstances
from consilience._consensus import make_members
from consilience._native import Models

R = 5
NAMES = [f"m{i}" for i in range(R)]
# `make test` installs it first, so there nothing is left out.
NO_JAVA = "Spark runs on Java 17 or later: `make needs` installs it"


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    """A master and two workers on this machine, each a process of its own, 1 GiB in all but for Python."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip(NO_JAVA)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,512]").appName("consilience")
    settings = {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def table(seed: int, n: int = 240) -> pd.DataFrame:
    """Noisy copies of three groups with missing labels, names of all kinds, and weights."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    columns: dict[str, Any] = {"id": np.arange(n)}
    for h, name in enumerate(NAMES):
        k = 3 + h % 2
        labels = np.where(rng.random(n) < 0.15, rng.integers(k, size=n), truth)
        gone = rng.random(n) < 0.08
        if h == 1:
            columns[name] = np.where(gone, None, np.array(["x", "y", "z", "u"])[labels])
        elif h == 2:
            columns[name] = np.where(gone, np.nan, labels)
        else:
            columns[name] = np.where(gone, -1, labels)
    columns["w"] = rng.random(n) + 0.1
    frame = pd.DataFrame(columns)
    # Some rows have no label at all.
    frame.loc[:1, [n for n in NAMES if n not in ("m1", "m2")]] = -1
    frame.loc[:1, "m1"] = None
    frame.loc[:1, "m2"] = np.nan
    return frame


def spread(session: SparkSession, rows: pd.DataFrame, partitions: int | str) -> DataFrame:
    """The rows in this many partitions; "skewed" puts nearly all into one of four, one stays empty."""
    df = session.createDataFrame(pa.Table.from_pandas(rows, preserve_index=False))
    if partitions == "skewed":
        return df.repartition(4, F.when(F.col("id") < len(rows) - 5, 0).otherwise(1))
    return df.repartition(int(partitions), "id")


def answer(frame: DataFrame) -> pd.DataFrame:
    return frame.toArrow().to_pandas().sort_values("id").reset_index(drop=True)


def same_partition(a: Any, b: Any) -> bool:
    """Whether two labellings are the same up to the numbers of clusters, -1 being -1."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    left, right = {x for x, _ in pairs}, {y for _, y in pairs}
    lone = all((x == -1) == (y == -1) for x, y in pairs)
    return lone and len(pairs) == len(left) == len(right)


@pytest.mark.parametrize(
    ("method", "n_clusters", "weighted"),
    [
        ("voting", "auto", True),
        ("scec", 3, True),
        ("ea-al", 3, False),
        ("qmi", 3, True),
        ("kcc", 3, True),
    ],
)
def test_the_answer_is_the_local_one_however_the_table_is_partitioned(
    session: SparkSession, method: str, n_clusters: Any, weighted: bool
) -> None:
    rows = table(seed=len(method))
    arguments: dict[str, Any] = {"method": method, "n_clusters": n_clusters, "random_state": 7}
    local = co.consensus(
        rows[NAMES], sample_weight=rows["w"].to_numpy() if weighted else None, **arguments
    )
    answers = []
    for partitions in (1, 16, "skewed"):
        df = spread(session, rows, partitions)
        found = cs.consensus(
            df, NAMES, id="id", weight="w" if weighted else None, **arguments
        )
        assert found.frame.columns == ["id", "cluster", "confidence"]
        assert found.n_rows_ == len(rows)
        assert found.n_profiles_ == local.n_unique_ == found.result.n_unique_
        assert found.n_merged_rows_ == 0
        answers.append((answer(found.frame), found.result))
    first, result = answers[0]
    assert same_partition(first["cluster"], local.labels_)
    assert (first["cluster"][:2] == -1).all()
    # Sums over clusters are taken in the order of the tuples, which in Spark is not that of the rows.
    np.testing.assert_allclose(first["confidence"], local.confidence_, rtol=0, atol=1e-9)
    assert result.n_clusters_ == local.n_clusters_
    assert result.anmi_ == pytest.approx(local.anmi_, abs=1e-12)
    for other, its_result in answers[1:]:
        pd.testing.assert_frame_equal(first, other, check_exact=True)
        assert (its_result.labels_ == result.labels_).all()
        assert (its_result._profiles.weights == result._profiles.weights).all()


def test_a_killed_worker_changes_nothing(session: SparkSession, tmp_path: Path) -> None:
    rows = table(seed=1)
    calm, _ = cs.consensus(spread(session, rows, 4), NAMES, id="id", weight="w")

    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # The daemon that forks Python workers is a child of the executor.
        status = Path(f"/proc/{os.getppid()}/status").read_text()
        executor = status.split("PPid:")[1].split()[0]
        (tmp_path / executor).touch()
        time.sleep(1.0)
        yield from batches

    df = spread(session, rows, 6)
    killed = []

    def kill() -> None:
        for _ in range(1200):
            if found := [int(path.name) for path in tmp_path.iterdir()]:
                os.kill(found[0], signal.SIGKILL)
                killed.append(found[0])
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    disturbed, _ = cs.consensus(df.mapInArrow(slow, df.schema), NAMES, id="id", weight="w")
    after = answer(disturbed)
    killer.join()
    assert killed and not Path(f"/proc/{killed[0]}/cmdline").exists()
    pd.testing.assert_frame_equal(after, answer(calm), check_exact=True)


def test_rare_tuples_join_the_closest_and_are_reported(session: SparkSession) -> None:
    # Two tuples seen often, and one that differs from the first in a single label.
    rows = pd.DataFrame(
        [["a", "a", "a"]] * 5 + [["b", "b", "b"]] * 4 + [["a", "a", "b"]] * 2 + [["b", "b", None]],
        columns=["x", "y", "z"],
    )
    rows["id"] = np.arange(len(rows))
    df = spread(session, rows, 3)
    names = ["x", "y", "z"]
    with pytest.warns(UserWarning, match=r"max_profiles=2: 3 of 12 rows \(25.00%\)"):
        found = cs.consensus(df, names, id="id", max_profiles=2)
    assert (found.n_rows_, found.n_profiles_, found.n_merged_rows_) == (12, 4, 3)
    assert found.merged_share_ == 0.25
    assert sorted(found.result._profiles.weights.tolist()) == [5.0, 7.0]
    clusters = answer(found.frame)["cluster"].tolist()
    assert clusters == [0] * 5 + [1] * 4 + [0] * 2 + [1]


def test_rows_of_rare_tuples_get_what_predict_gives(session: SparkSession) -> None:
    # Few labels, so that many tuples are equally close to several kept ones.
    rng = np.random.default_rng(3)
    names = list("abcde")
    rows = pd.DataFrame(rng.integers(3, size=(300, 5)), columns=names)
    rows["id"] = np.arange(len(rows))
    df = spread(session, rows, 3)
    with pytest.warns(UserWarning, match="max_profiles=12"):
        found = cs.consensus(df, names, id="id", method="lwgp", n_clusters=3, max_profiles=12)
    assert found.n_merged_rows_ > 100
    expected = found.result.predict(rows[names])
    got = answer(found.frame)
    assert got["cluster"].tolist() == expected.tolist()
    assert answer(found.predict(df, id="id"))["cluster"].tolist() == expected.tolist()
    assert found.predict(rows[names]).tolist() == expected.tolist()
    assert got["confidence"].between(0, 1).all() and (got["confidence"] > 0).all()


@pytest.mark.parametrize(("method", "k"), [("lwgp", 3), ("scec", 3), ("voting", "auto")])
def test_the_program_combines_a_folder_that_spark_wrote(
    session: SparkSession, tmp_path: Path, method: str, k: Any
) -> None:
    rows = table(seed=9)
    folder, out = tmp_path / "labels", tmp_path / "out.csv"
    spread(session, rows, 5).write.parquet(str(folder))
    again = session.read.parquet(str(folder))
    on_spark = cs.consensus(again, NAMES, id="id", weight="w", method=method, n_clusters=k)
    through = answer(on_spark.frame)
    command = [os.environ["CONSILIENCE_PROGRAM"], "combine", folder, "--id", "id", "--weights", "w"]
    command += ["--method", method, "--k", str(k), "-o", out]
    subprocess.run(command, check=True)
    alone = pd.read_csv(out).sort_values("id").reset_index(drop=True)
    assert same_partition(alone["cluster"].fillna(-1).astype(int), through["cluster"])
    np.testing.assert_allclose(alone["confidence"].fillna(0), through["confidence"], atol=1e-9)


def test_names_types_and_new_rows(session: SparkSession) -> None:
    rows = pd.DataFrame(
        {
            "a.b": ["-1", "0", "0", "1", "1", "1"],
            "c`d": ["-1", "x", "x", "y", "y", "y"],
            "e": [True, True, True, False, False, False],
            "id": np.arange(6),
        }
    )
    names = ["a.b", "c`d", "e"]
    df = spread(session, rows, 2)
    found = cs.consensus(df, names)
    assert found.frame.columns == [*df.columns, "cluster", "confidence"]
    local = co.consensus(rows[names])
    assert same_partition(answer(found.frame)["cluster"], local.labels_)
    # Among integers -1 is no label, even where they are texts; among other texts it is one.
    assert found.result.explain(0).votes[1].cluster is not None
    assert {v.cluster for i in range(3) for v in found.result.explain(i).votes[:1]} == {None, "0", "1"}

    new = pd.DataFrame(
        {"a.b": ["1", "7"], "c`d": ["x", "-1"], "e": [False, True], "id": [0, 1]}
    )
    expected = found.result.predict(new[names])
    assert (found.predict(new[names]) == expected).all()
    predicted = answer(found.predict(spread(session, new, 1), id="id"))
    assert predicted.columns.tolist() == ["id", "cluster"]
    assert predicted["cluster"].tolist() == expected.tolist()


def test_members_and_clusters_of_features(session: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 200)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    x = centres[truth] + rng.normal(size=(600, 2))
    rows = pd.DataFrame({"id": np.arange(600), "u": x[:, 0], "v": x[:, 1]})
    arguments: dict[str, Any] = {"id": "id", "n_members": 6, "base_n_clusters": (3, 6), "sample": 150}
    labelled = [
        cs.members(spread(session, rows, partitions), ["u", "v"], **arguments)
        for partitions in (1, 5)
    ]
    made = labelled[0]
    assert made.names == ("m1", "m2", "m3", "m4", "m5", "m6")
    assert made.sample_share_ == 0.25
    labels = answer(made.frame)
    pd.testing.assert_frame_equal(labels, answer(labelled[1].frame))
    assert labels["m1"].max() >= 2
    # The models of different members saw different rows.
    assert len({tuple(labels[name]) for name in made.names}) == 6
    local = made.label(x[:7])
    assert isinstance(local, co.Ensemble)
    for i, name in enumerate(made.names):
        codes = [int(local.clusters(i)[c]) for c in local.member(i)]
        assert codes == labels[name][:7].tolist()

    df = spread(session, rows, 3)
    found = cs.cluster(df, ["u", "v"], n_clusters=3, method="scec", **arguments)
    clusters = answer(found.frame)["cluster"]
    assert co.metrics.ari(clusters.to_numpy(), truth) > 0.95
    assert (found.predict(x) == clusters).all()
    assert (answer(found.predict(df, id="id"))["cluster"] == clusters).all()
    # A table that is no larger than a sample is used as a whole.
    whole = cs.cluster(df, ["u", "v"], id="id", n_clusters=3, n_members=3)
    assert (whole.predict(x) == answer(whole.frame)["cluster"]).all()

    # Spark's own folders.
    folder = tmp_path / "labels"
    made.frame.repartition(4).write.parquet(str(folder))
    again = answer(session.read.parquet(str(folder)))
    pd.testing.assert_frame_equal(again, labels)


@pytest.mark.parametrize("kind", ["array", "vector", "sparse"])
def test_features_in_arrays_and_vectors(session: SparkSession, kind: str) -> None:
    rng = np.random.default_rng(1)
    x = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[np.repeat([0, 1, 2], 40)] + rng.normal(size=(120, 2))
    rows = pd.DataFrame({"id": np.arange(120), "u": x[:, 0], "v": x[:, 1]})
    df = spread(session, rows, 2)
    if kind == "array":
        packed = df.select("id", F.array("u", "v").alias("uv"))
    else:
        make = Vectors.dense if kind == "vector" else (lambda row: Vectors.sparse(2, [0, 1], row))
        packed = session.createDataFrame([(i, make(row.tolist())) for i, row in enumerate(x)], ["id", "uv"])
    arguments: dict[str, Any] = {"id": "id", "n_members": 4, "n_clusters": 3, "sample": 60}
    expected = cs.cluster(df, ["u", "v"], **arguments)
    found = cs.cluster(packed, "uv", **arguments)
    pd.testing.assert_frame_equal(answer(found.frame), answer(expected.frame))
    assert (answer(found.predict(packed, id="id"))["cluster"] == expected.predict(x)).all()
    made = cs.members(packed, ["uv"], id="id", n_members=2)
    assert isinstance(made.label(packed, id="id"), DataFrame)
    with pytest.raises(TypeError, match="column `uv` holds string: numbers are needed"):
        found.predict(df.select("id", F.lit("a").alias("uv")))
    with pytest.raises(TypeError, match="column `uv` holds double: 2 numbers are needed"):
        found.predict(df.select("id", F.col("u").alias("uv")))
    longer = df.select("id", F.array("u", "v", "u").alias("uv"))
    with pytest.raises(ValueError, match="column `uv`: 120 of 120 values are missing"):
        found.predict(longer)
    with pytest.raises(ValueError, match="`uv` has rows of 2 to 3 numbers"):
        cs.cluster(df.select("id", F.array("u", "v").alias("uv")).union(longer), ["uv"])


def test_an_estimator_of_a_pipeline(session: SparkSession) -> None:
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], 40)
    x = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[truth] + rng.normal(size=(120, 2))
    rows = pd.DataFrame({"id": np.arange(120), "u": x[:, 0], "v": x[:, 1], "w": np.arange(120) % 3})
    df = spread(session, rows, 2)
    assembler = VectorAssembler(inputCols=["u", "v"], outputCol="features")
    stage = cs.ConsensusClustering(k=(2, 4), nMembers=6, weightCol="w", predictionCol="group", seed=3)
    fitted = Pipeline(stages=[assembler, stage]).fit(df)
    told = answer(fitted.transform(df))
    assert told.columns.tolist() == ["id", "u", "v", "w", "features", "group"]
    model = fitted.stages[-1]
    assert isinstance(model, cs.ConsensusClusteringModel)
    assert co.metrics.ari(told["group"], truth) > 0.95 and model.result.n_clusters_ == 3
    packed = assembler.transform(df)
    expected = cs.cluster(packed, "features", id="id", n_members=6, n_clusters=(2, 4), weight="w", random_state=3)
    assert (answer(expected.predict(packed, id="id"))["cluster"] == told["group"]).all()
    fewer = stage.fit(packed, {stage.k: 2})
    assert fewer.result.n_clusters_ == 2
    moved = model.copy({model.featuresCol: "moved", model.predictionCol: "there"})
    there = answer(moved.transform(packed.withColumnRenamed("features", "moved")))["there"]
    assert (there == told["group"]).all()
    with pytest.raises(ValueError, match="a column 'group' already"):
        fitted.transform(df.withColumn("group", F.lit(1)))


def test_a_pipeline_is_saved_and_loaded(session: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], 30)
    x = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[truth] + rng.normal(size=(90, 2))
    df = spread(session, pd.DataFrame({"id": np.arange(90), "u": x[:, 0], "v": x[:, 1]}), 2)
    assembler = VectorAssembler(inputCols=["u", "v"], outputCol="features")
    stage = cs.ConsensusClustering(
        k=range(2, 5), nMembers=6, predictionCol="group", seed=3, scheme="random-subspace", baseK=(np.int64(2), 4)
    )
    pipeline = Pipeline(stages=[assembler, stage])
    fitted = pipeline.fit(df)
    told = answer(fitted.transform(df))
    fitted.save(str(tmp_path / "model"))
    loaded = PipelineModel.load(str(tmp_path / "model"))
    pd.testing.assert_frame_equal(answer(loaded.transform(df)), told)
    model, again = fitted.stages[-1], loaded.stages[-1]
    assert isinstance(again, cs.ConsensusClusteringModel) and again.uid == model.uid
    assert again.getPredictionCol() == "group"
    np.testing.assert_array_equal(again.result.labels_, model.result.labels_)
    assert again.result.verdict_ == model.result.verdict_
    # Once more, from what was loaded; a folder that is there already only if so told.
    alone = str(tmp_path / "alone")
    again.write().save(alone)
    with pytest.raises(Exception, match="already exist"):
        again.save(alone)
    again.write().overwrite().save(alone)
    third = cs.ConsensusClusteringModel.load(alone)
    pd.testing.assert_frame_equal(answer(third.transform(assembler.transform(df))), told)
    # What is not fitted yet has the same parameters and gives the same model.
    pipeline.save(str(tmp_path / "pipeline"))
    unfitted = Pipeline.load(str(tmp_path / "pipeline"))
    assert {p.name: v for p, v in unfitted.getStages()[-1].extractParamMap().items()} == {
        p.name: v for p, v in stage.extractParamMap().items()
    } | {"k": (2, 4), "baseK": (2, 4)}
    pd.testing.assert_frame_equal(answer(unfitted.fit(df).transform(df)), told)
    with pytest.raises(ValueError, match="holds a consilience.spark._pipeline.ConsensusClustering, and no"):
        cs.ConsensusClusteringModel.load(f"{tmp_path}/pipeline/stages/1_{stage.uid}")


@pytest.mark.parametrize(
    ("base", "scheme"),
    [(base, None) for base in ["kmeans", "fuzzy-kmeans", "u-spec", "gmm", "genie", "spectral"]]
    + [("kmeans", "random-projection"), ("kmeans", "random-subspace")],
)
def test_clusterers_of_all_kinds_are_written_whole(base: str, scheme: str | None) -> None:
    x = np.random.default_rng(0).normal(size=(80, 4))
    _, models = make_members(
        x, n_members=3, base=base, scheme=scheme, base_n_clusters=(2, 4), n_clusters=3, soft=False,
        circumstances=circumstances(1, None, False, None),
    )
    file = BytesIO()
    write_state(file, models.__reduce__()[1])
    file.seek(0)
    again = Models._from_state(*read_state(file))
    new = np.random.default_rng(1).normal(size=(50, 4))
    around = circumstances(1, None, False, None)
    for ours, theirs in zip(models.labels(new, around), again.labels(new, around), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_rows_of_weight_zero_are_left_out(session: SparkSession) -> None:
    rows = table(seed=4)
    rows["w"] = np.arange(len(rows)) % 3
    local = co.consensus(rows[NAMES], method="scec", n_clusters=3, sample_weight=rows["w"])
    found = cs.consensus(spread(session, rows, 3), NAMES, id="id", weight="w", method="scec", n_clusters=3)
    told = answer(found.frame)
    assert same_partition(told["cluster"], local.labels_)
    np.testing.assert_allclose(told["confidence"], local.confidence_, rtol=0, atol=1e-9)
    assert found.n_rows_ == (rows["w"] > 0).sum()


def test_the_same_on_spark_connect() -> None:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip(NO_JAVA)
    script = Path(__file__).with_name("connect.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.stdout.endswith("the same answers on Spark Connect\n"), done.stderr[-3000:]


def bad(session: SparkSession) -> DataFrame:
    return session.createDataFrame(
        [(0, "x", 0.5, None, 1.0, [1], -1.0, 2, None), (1, "y", 1.0, 2.0, 2.0, [2], 1.0, 2, None)],
        "id int, t string, half double, gap double, w double, list array<int>, minus double, same int, "
        "none string",
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": ["t", "zz"]}, ValueError, "labels: there is no column 'zz'; there are id, t"),
        ({"labels": []}, ValueError, "labels must name at least one column"),
        ({"labels": ["t", "t"]}, ValueError, "labels names column 't' twice"),
        ({"labels": 5}, TypeError, "labels must be a list of column names"),
        ({"labels": ["list"]}, TypeError, "column `list` holds array<int>: labels are texts or integers"),
        ({"labels": ["half"]}, ValueError, "member `half`: a label must be a whole number or text, got 0.5"),
        ({"labels": ["none"]}, ValueError, "member `none` labels no object"),
        ({"labels": ["t"], "weight": "zz"}, ValueError, "weight: there is no column 'zz'"),
        ({"labels": ["t"], "weight": "t"}, TypeError, "weight: column `t` holds string: numbers"),
        ({"labels": ["t"], "weight": "minus"}, ValueError, "a weight must be a finite number > 0, got -1"),
        ({"labels": ["t"], "weight": "gap"}, ValueError, "a weight must be a finite number > 0, got NaN"),
        ({"labels": ["t"], "id": "zz"}, ValueError, "id: there is no column 'zz'"),
        ({"labels": ["t"], "n_clusters": 9}, ValueError, "k = 9"),
        ({"labels": ["t"], "method": "kmeans"}, ValueError, "there is no method `kmeans`"),
        ({"labels": ["t"], "max_profiles": 0}, ValueError, "max_profiles must be at least 1"),
        ({"labels": ["t"], "memory": 10}, MemoryError, "lower max_profiles"),
    ],
)
def test_bad_labels(
    session: SparkSession, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        cs.consensus(bad(session), **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"features": ["zz"]}, ValueError, "features: there is no column 'zz'"),
        ({"features": ["t"]}, TypeError, "features: column `t` holds string: numbers are needed"),
        ({"features": ["w", "gap"]}, ValueError, "column `gap`: 1 of 2 values are missing"),
        ({"features": ["w"], "n_members": 0}, ValueError, "n_members must be at least 1"),
        ({"features": ["w"], "sample": 0}, ValueError, "sample must be at least 1"),
        ({"features": ["w"], "base": "dbscan"}, ValueError, "there is no .*`dbscan`"),
    ],
)
def test_bad_features(
    session: SparkSession, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        cs.cluster(bad(session), **arguments)


def test_nothing_and_next_to_nothing(session: SparkSession) -> None:
    df = bad(session)
    empty = df.where(F.col("id") > 5)
    with pytest.raises(ValueError, match="at least one object"):
        cs.consensus(empty, ["t", "same"])
    with pytest.raises(ValueError, match="the table is empty"):
        cs.cluster(empty, ["w"])
    with pytest.raises(TypeError, match="df must be a Spark DataFrame, got list"):
        cs.consensus([[1]], ["t"])
    with pytest.raises(ValueError, match="the table has a column 'cluster' already"):
        cs.consensus(df.withColumn("cluster", F.lit(1)), ["t"])
    # A member that puts all rows together is a member, as it is on one machine.
    constant = cs.consensus(df, ["t", "same"], id="id")
    local = co.consensus([["x", "y"], [2, 2]])
    assert same_partition(answer(constant.frame)["cluster"], local.labels_)
