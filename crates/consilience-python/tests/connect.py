"""Run by a process of its own: the same answers on Spark Connect as on one machine.

A process has either a classic session or one of Spark Connect.
"""

from __future__ import annotations

import os
import sys
import warnings
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from pyspark.ml import Pipeline  # noqa: E402
from pyspark.ml.feature import VectorAssembler  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import consilience as co  # noqa: E402
from consilience import spark as cs  # noqa: E402

session = SparkSession.builder.remote("local[2]").getOrCreate()
assert type(session).__module__.startswith("pyspark.sql.connect")
session.conf.set("spark.sql.shuffle.partitions", "2")

rng = np.random.default_rng(0)
truth = np.repeat([0, 1, 2], 100)
rows = pd.DataFrame({"id": np.arange(300), "w": rng.integers(0, 3, 300) + (np.arange(300) == 0)})
for name in "abcd":
    rows[name] = np.where(rng.random(300) < 0.1, rng.integers(-1, 3, 300), truth)
x = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[truth] + rng.normal(size=(300, 2))
rows["u"], rows["v"] = x.T
df = session.createDataFrame(pa.Table.from_pandas(rows, preserve_index=False))


def answer(frame: object) -> pd.DataFrame:
    return frame.toArrow().to_pandas().sort_values("id").reset_index(drop=True)


names = list("abcd")
local = co.consensus(rows[names], n_clusters=3, sample_weight=rows["w"])
found = cs.consensus(df, names, id="id", weight="w", n_clusters=3)
told = answer(found.frame)
assert co.metrics.ari(told["cluster"], local.labels_) == 1
np.testing.assert_allclose(told["confidence"], local.confidence_, rtol=0, atol=1e-9)
assert (answer(found.predict(df, id="id"))["cluster"] == found.predict(rows[names])).all()

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    few = cs.consensus(df, names, id="id", n_clusters=3, max_profiles=5)
assert few.n_merged_rows_ > 0
assert (answer(few.frame)["cluster"] == few.result.predict(rows[names])).all()

many = {"n_members": 4, "base_n_clusters": (3, 5), "n_clusters": 3}
clustered = cs.cluster(df, ["u", "v"], id="id", sample=100, **many)
assert co.metrics.ari(answer(clustered.frame)["cluster"], truth) > 0.95
assert (clustered.predict(x) == answer(clustered.frame)["cluster"]).all()

arrays = df.select("id", F.array("u", "v").alias("uv"))
as_array = answer(cs.cluster(arrays, "uv", id="id", **many).frame)
assert co.metrics.ari(as_array["cluster"], truth) > 0.95

assembler = VectorAssembler(inputCols=["u", "v"], outputCol="features")
stage = cs.ConsensusClustering(k=3, nMembers=4, baseK=(3, 5))
piped = Pipeline(stages=[assembler, stage]).fit(df).transform(df).select("id", "prediction")
assert co.metrics.ari(answer(piped)["prediction"], truth) > 0.95

packed = assembler.transform(df)
model = stage.fit(packed)
with TemporaryDirectory() as folder:
    model.save(f"{folder}/model")
    stage.save(f"{folder}/stage")
    loaded = cs.ConsensusClusteringModel.load(f"{folder}/model")
    again = cs.ConsensusClustering.load(f"{folder}/stage").fit(packed)
predicted = lambda of: answer(of.transform(packed).select("id", "prediction"))["prediction"].tolist()
for other in (loaded, again):
    assert predicted(other) == predicted(model)

session.stop()
print("the same answers on Spark Connect")
