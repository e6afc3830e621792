"""Run by an interpreter that has numpy and the wheel, and nothing else."""

import importlib.metadata
import importlib.util
import pydoc

import numpy as np

import consilience as co

for name in ("matplotlib", "sklearn", "pandas", "polars", "pyarrow", "scipy"):
    assert importlib.util.find_spec(name) is None, f"{name} is there: this tests its absence"

labels = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0]])
result = co.consensus(labels, n_clusters=2)
assert result.labels_.tolist() == [0, 0, 1, 1]
assert co.metrics.ari(result.labels_, labels[:, 2]) == 1.0
assert co.load_iris().data.shape == (150, 4)
assert co.compat.cluster_ensembles is not None

# Nothing that is named fails, neither in help(co) nor here.
from consilience import *  # noqa: E402, F403

assert "Consensus clustering" in pydoc.render_doc(co)
assert "consensus" in dir(co) and not {"pl", "spark", "LabelConsensus"} & set(dir(co))

inside = {file.name for file in importlib.metadata.files("consilience") or []}
assert {"LICENSE-APACHE", "LICENSE-MIT", "NOTICE"} <= inside, "the wheel lacks its licences"

for estimator in ("ConsensusClustering", "LabelConsensus"):
    try:
        getattr(co, estimator)
    except ImportError as error:
        assert "pip install scikit-learn" in str(error), error
    else:
        raise AssertionError("the estimators need scikit-learn")
try:
    co.spark  # noqa: B018
except ImportError as error:
    assert "consilience[spark]" in str(error), error
else:
    raise AssertionError("Spark is needed")
try:
    co.pl  # noqa: B018
except ImportError as error:
    assert "consilience[plot]" in str(error), error
else:
    raise AssertionError("figures need matplotlib")
try:
    result.to_frame()
except ImportError as error:
    assert "pandas or polars" in str(error), error
else:
    raise AssertionError("a frame needs pandas or polars")
