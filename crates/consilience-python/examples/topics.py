"""Topics that stay: documents through TF-IDF and HDBSCAN, several times, and one answer with stable ids.

The way of BERTopic with scikit-learn alone: text becomes points, points fewer dimensions, HDBSCAN finds dense
groups and calls the rest noise (-1). Every run gives another number of topics; the consensus of several does not.
"""

import warnings

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import consilience as co

WORDS = {
    "sport": "match goal team league player coach season score win cup stadium transfer".split(),
    "money": "bank rate market share price fund bond growth profit tax loan trade".split(),
    "health": "patient trial dose vaccine hospital doctor symptom care virus treatment drug nurse".split(),
    "space": "orbit rocket launch planet star telescope moon probe mission engine comet crater".split(),
}
COMMON = "new report says today week people city plan group work year time first last day may".split()


def documents(rng: np.random.Generator, count: int) -> tuple[list[str], list[str]]:
    """Documents of four topics, a fifth of them of none in particular."""
    texts, topics = [], []
    for _ in range(count):
        topic = str(rng.choice([*WORDS, "none"], p=[0.25, 0.22, 0.18, 0.15, 0.20]))
        own = WORDS.get(topic) or [word for words in WORDS.values() for word in words]
        texts.append(" ".join([*rng.choice(own, 12), *rng.choice(COMMON, 10)]))
        topics.append(topic)
    return texts, topics


def topics_of(texts: list[str], seed: int) -> np.ndarray:
    """One run: the topic of every document, -1 for noise."""
    rng = np.random.default_rng(seed)
    points = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(texts)
    points = TruncatedSVD(int(rng.integers(5, 12)), random_state=seed).fit_transform(points)
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    found: np.ndarray = HDBSCAN(min_cluster_size=int(rng.integers(10, 30)), copy=True).fit_predict(points)
    return found


texts, topics = documents(np.random.default_rng(0), 600)
runs = {f"run {seed}": topics_of(texts, seed) for seed in range(12)}
print("topics in each run:", [int(labels.max()) + 1 for labels in runs.values()])
print("noise in each run: ", [f"{(labels == -1).mean():.0%}" for labels in runs.values()])

# -1 means noise: such a document is not labelled by that run, which co.consensus says in a warning unless told.
with warnings.catch_warnings():
    warnings.simplefilter("error")
    result = co.consensus(runs, missing=-1)
known = np.array([topic != "none" for topic in topics])
print(f"consensus: {result.n_clusters_} topics; agreement with what was planted (ARI) "
      f"{co.metrics.ari(result.labels_[known], np.array(topics)[known]):.2f}")
# Coverage is the share of runs that did not call a document noise; it stands beside confidence.
print(f"documents of a topic: coverage {result.coverage_[known].mean():.2f}, confidence {result.confidence_[known].mean():.2f}")
print(f"of none:              coverage {result.coverage_[~known].mean():.2f}, confidence {result.confidence_[~known].mean():.2f}")

# A rerun on other seeds: its topics get the ids of the ones that they continue.
rerun = co.consensus([topics_of(texts, seed) for seed in range(100, 112)], missing=-1)
through = co.align({"first": result, "rerun": rerun})
same = np.mean(through.labels_[0] == through.labels_[1])
print(f"after a rerun {same:.0%} of all documents have the topic id that they had")
assert same > 0.8
