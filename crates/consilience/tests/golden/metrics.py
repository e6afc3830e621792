"""Makes metrics.json: agreement of random clusterings by scikit-learn and SciPy.

    python -m venv venv && venv/bin/pip install scikit-learn==1.9.1 scipy==1.17.1 numpy==2.4.6
    venv/bin/python metrics.py > metrics.json
"""

import json

import numpy as np
import scipy
import sklearn
from scipy.optimize import linear_sum_assignment
from scipy.stats import ttest_rel
from sklearn import metrics

rng = np.random.default_rng(20250101)


def clusterings():
    for n, k_a, k_b, noise in [
        (1, 1, 1, 0.0), (2, 2, 2, 0.5), (12, 3, 4, 0.5), (30, 3, 3, 0.1), (30, 30, 5, 1.0),
        (60, 2, 9, 0.3), (60, 7, 7, 1.0), (100, 5, 12, 0.2), (100, 1, 6, 1.0), (150, 3, 3, 0.05),
        (150, 20, 4, 0.4), (200, 40, 40, 0.6),
    ]:
        for _ in range(3):
            a = rng.integers(k_a, size=n)
            b = np.where(rng.random(n) < noise, rng.integers(k_b, size=n), a % k_b)
            yield a, b


def scores(a, b):
    table = metrics.cluster.contingency_matrix(a, b)
    rows, columns = linear_sum_assignment(-table)
    accuracy = table[rows, columns].sum() / table.sum()
    entropy = lambda x: scipy.stats.entropy(np.bincount(x))
    mutual = metrics.mutual_info_score(a, b)
    return {
        "nmi": metrics.normalized_mutual_info_score(a, b, average_method="geometric"),
        "nmi-arith": metrics.normalized_mutual_info_score(a, b, average_method="arithmetic"),
        "nmi-max": metrics.normalized_mutual_info_score(a, b, average_method="max"),
        "nmi-min": metrics.normalized_mutual_info_score(a, b, average_method="min"),
        "ari": metrics.adjusted_rand_score(a, b),
        "rand": metrics.rand_score(a, b),
        "accuracy": accuracy,
        "error": 1 - accuracy,
        "purity": table.max(axis=1).sum() / table.sum(),
        "vi": entropy(a) + entropy(b) - 2 * mutual,
    }


def t_tests():
    for m, shift in [(2, 0.1), (3, 0.0), (20, 0.01), (99, 0.02), (99, 0.0), (10, 5.0)]:
        a = rng.random(m)
        b = a - shift + 0.05 * rng.standard_normal(m)
        test = ttest_rel(a, b)
        yield {"a": a.tolist(), "b": b.tolist(), "t": test.statistic, "p": test.pvalue}


print(json.dumps({
    "made_by": f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}, "
               f"numpy {np.__version__}",
    "clusterings": [
        {"a": a.tolist(), "b": b.tolist(), "scores": scores(a, b)} for a, b in clusterings()
    ],
    "t_tests": list(t_tests()),
}, default=float))
