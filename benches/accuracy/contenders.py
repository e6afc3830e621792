"""Who is compared: ours by default and by one kind of members, and the peers. All are told the number
of clusters, but for HDBSCAN, which has no such parameter."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import genieclust
import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

import consilience

Clusterer = Callable[[np.ndarray, int], np.ndarray]


def ours(**options: object) -> Clusterer:
    return lambda x, k: consilience.ConsensusClustering(k, random_state=0, **options).fit_predict(x)


def mixture(x: np.ndarray, k: int) -> np.ndarray:
    """On 20 components where there are more features: full covariances of hundreds learn nothing."""
    if x.shape[1] > 20:
        x = PCA(20, random_state=0).fit_transform(x)
    return GaussianMixture(k, n_init=5, random_state=0).fit_predict(x)


def spectral(x: np.ndarray, k: int) -> np.ndarray:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit_predict(x)


CONTENDERS: dict[str, Clusterer] = {
    "ours": ours(),
    "ours, k-means members": ours(scheme="random_k", base="kmeans"),
    "ours, u-senc": ours(scheme="random_k", base="u_spec", n_members=20, base_n_clusters=(20, 60), method="hbgf"),
    "k-means": lambda x, k: KMeans(k, n_init=10, random_state=0).fit_predict(x),
    "Gaussian mixture": mixture,
    "Ward": lambda x, k: AgglomerativeClustering(k, linkage="ward").fit_predict(x),
    "average linkage": lambda x, k: AgglomerativeClustering(k, linkage="average").fit_predict(x),
    "spectral": spectral,
    "HDBSCAN": lambda x, _: HDBSCAN(copy=True).fit_predict(x),
    "genieclust": lambda x, k: genieclust.Genie(k).fit_predict(x),
}


def labels_of(name: str, x: np.ndarray, k: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(CONTENDERS[name](x, k))
