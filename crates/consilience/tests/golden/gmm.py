"""Makes gmm.json: scikit-learn's mixtures of Gaussians after a fixed number of iterations.

    python -m venv venv && venv/bin/pip install scikit-learn==1.9.1
    venv/bin/python gmm.py > gmm.json

Both begin with one M step from the same labels, which scikit-learn has to be handed as weights, means
and precisions.
"""

import json
import warnings

import numpy as np
import sklearn
from sklearn.mixture import GaussianMixture
from sklearn.mixture._gaussian_mixture import _estimate_gaussian_parameters

warnings.simplefilter("ignore")
rng = np.random.default_rng(20260101)


def case(n, d, k, kind, iterations, offset=0.0):
    centres = 2.0 * rng.normal(size=(k, d)) + offset
    turns = rng.normal(size=(k, d, d))
    truth = rng.integers(k, size=n)
    x = centres[truth] + 0.5 * np.einsum("nij,nj->ni", turns[truth], rng.normal(size=(n, d)))
    x = np.round(x, 4)
    wrong = rng.random(n) < 0.3
    labels = np.where(wrong, rng.integers(k, size=n), truth)
    counts, means, covariances = _estimate_gaussian_parameters(x, np.eye(k)[labels], 0.0, kind)
    precisions = 1 / covariances if kind in ("diag", "spherical") else np.linalg.inv(covariances)
    fit = GaussianMixture(
        k, covariance_type=kind, reg_covar=0.0, tol=0.0, max_iter=iterations,
        weights_init=counts / counts.sum(), means_init=means, precisions_init=precisions,
    ).fit(x)
    return {
        "covariance": kind, "k": k, "iterations": iterations, "data": x.tolist(),
        "start": labels.tolist(), "log_likelihood": fit.score(x) * n, "labels": fit.predict(x).tolist(),
        "weights": fit.weights_.tolist(), "means": fit.means_.tolist(),
    }


print(json.dumps({
    "made_by": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}",
    "cases": [
        case(n, d, k, kind, iterations, offset)
        for kind in ["full", "tied", "diag", "spherical"]
        for n, d, k, iterations, offset in [(60, 2, 2, 7, 0.0), (90, 3, 4, 20, 1000.0)]
    ],
}))
