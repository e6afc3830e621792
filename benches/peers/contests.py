"""What is compared with whom. Peers are imported where they are used: one may be missing."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Contest, Data

def clouds(n: int, d: int, k: int, spread: float) -> Callable[[], Data]:
    """Overlapping normal clouds, their means `spread` apart where 1 is the deviation within, and a start."""

    def make() -> Data:
        rng = np.random.default_rng(n + d)
        means = spread * rng.standard_normal((k, d))
        data = means[rng.integers(k, size=n)] + rng.standard_normal((n, d))
        return {"data": data, "start": data[rng.choice(n, k, replace=False)].copy()}

    return make


def our_program(what: str, count: int) -> Callable[[Data], float]:
    """Work by `kmeans_time`, a program of the library's without Python in between."""

    def work(data: Data) -> float:
        folder = data["folder"]
        for name in ("data", "start"):
            if not (folder / name).exists():
                data[name].tofile(folder / name)
        (n, d), k = data["data"].shape, len(data["start"])
        command = [os.environ["KMEANS_TIME"], what, folder / "data", folder / "start", n, d, k, count, 2]
        done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        data["seconds"] = min(answer["seconds"])
        # The program holds the table once more, besides what it works with.
        peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        data["peak"] = peak - data["data"].nbytes
        return float(answer["objective"])

    return work


# k-means: one fit from a given start, a fixed number of iterations.


def sklearn_kmeans(iterations: int, dtype: type) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        import time

        from sklearn.cluster import KMeans

        warnings.filterwarnings("ignore")  # Not converging is what we ask for.
        x, start = data["data"].astype(dtype), data["start"].astype(dtype)
        begin = time.perf_counter()
        fit = KMeans(len(start), init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd").fit(x)
        data["seconds"] = time.perf_counter() - begin
        return float(fit.inertia_)

    return work


def faiss_kmeans(iterations: int) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        import time

        import faiss

        x, start = data["data"].astype(np.float32), data["start"].astype(np.float32)
        begin = time.perf_counter()
        fit = faiss.Kmeans(x.shape[1], len(start), niter=iterations, max_points_per_centroid=len(x))
        fit.train(x, init_centroids=start)
        distances, _ = fit.index.search(x, 1)
        data["seconds"] = time.perf_counter() - begin
        return float(distances.sum(dtype=np.float64))

    return work


def kmeans(name: str, n: int, d: int, k: int, iterations: int, spread: float) -> Contest:
    return Contest(
        name,
        clouds(n, d, k, spread),
        {
            "ours": our_program("kmeans", iterations),
            "ours f32": our_program("kmeans32", iterations),
            "scikit-learn": sklearn_kmeans(iterations, np.float64),
            "scikit-learn f32": sklearn_kmeans(iterations, np.float32),
            "faiss f32": faiss_kmeans(iterations),
        },
        quality="inertia",
        limit=f"multiply32 {n * d * k * (iterations + 1) / 1e9}",
        notes=f"one Lloyd fit, n {n} d {d} k {k}, at most {iterations} iterations from a given start (faiss: all)",
    )


# Ensembles: twenty k-means fits from random starts, each to its end, of different numbers of clusters.


def sklearn_members(data: Data) -> float:
    from sklearn.cluster import KMeans

    warnings.filterwarnings("ignore")
    least = len(data["start"]) // 2
    for i in range(20):
        fit = KMeans(least + i, init="random", n_init=1, max_iter=300, tol=0, random_state=i)
        fit.fit(data["data"])
    return 20.0


# Fuzzy k-means.


def skfuzzy_cmeans(iterations: int) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        import skfuzzy

        answer = skfuzzy.cmeans(data["data"].T, len(data["start"]), 2.0, error=0.0, maxiter=iterations, seed=1)
        return float(answer[4][-1])

    return work


# Mixtures of Gaussians: a fixed number of iterations of EM from the same labels.

COVARIANCES = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}


def sklearn_mixture(covariance: str, iterations: int) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        import time

        from sklearn.metrics import pairwise_distances_argmin
        from sklearn.mixture import GaussianMixture
        from sklearn.mixture._gaussian_mixture import _estimate_gaussian_parameters

        warnings.filterwarnings("ignore")  # Not converging is what we ask for.
        x, k, kind = data["data"], len(data["start"]), COVARIANCES[covariance]
        labels = np.eye(k)[pairwise_distances_argmin(x, data["start"])]
        counts, means, spread = _estimate_gaussian_parameters(x, labels, 0.0, kind)
        precisions = np.linalg.inv(spread) if kind in ("full", "tied") else 1 / spread
        mixture = GaussianMixture(
            k,
            covariance_type=kind,
            reg_covar=0.0,
            tol=0.0,
            max_iter=iterations,
            init_params="random_from_data",  # What it makes is replaced by what is given.
            weights_init=counts / counts.sum(),
            means_init=means,
            precisions_init=precisions,
        )
        begin = time.perf_counter()
        mixture.fit(x)
        data["seconds"] = time.perf_counter() - begin
        return float(mixture.score(x) * len(x))

    return work


def mixture(name: str, n: int, d: int, k: int, iterations: int, covariance: str) -> Contest:
    return Contest(
        name,
        clouds(n, d, k, 2.0),
        {
            "ours": our_program(covariance, iterations),
            "scikit-learn": sklearn_mixture(covariance, iterations),
        },
        quality="log-likelihood",
        notes=f"mixture of Gaussians, {covariance} covariances, n {n} d {d} k {k}, {iterations} iterations",
    )


# Trees. What is compared is the sum of all heights, or for partitions how many pairs are together.


def our_tree(what: str, k: int, threads: int = 0) -> Callable[[Data], float]:
    """Work by `trees_time`, a program of the library's without Python in between."""

    def work(data: Data) -> float:
        path = data["folder"] / "data"
        if not path.exists():
            data["data"].tofile(path)
        n, d = data["data"].shape
        command = [os.environ["TREES_TIME"], what, path, n, d, k, threads, 2]
        done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        data["seconds"] = min(answer["seconds"])
        peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        data["peak"] = peak - data["data"].nbytes
        return pairs(answer["labels"]) if what in ("genie", "density") else float(answer["sum"])

    return work


def pairs(labels: Any) -> float:
    """How many pairs are together; noise, -1, is with nobody."""
    labels = np.asarray(labels)
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1].astype(np.int64)
    return float((sizes * (sizes - 1) // 2).sum())


def genieclust_genie(k: int, threads: int | None = None) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        if threads:
            os.environ["OMP_NUM_THREADS"] = str(threads)
        import time

        import genieclust

        begin = time.perf_counter()
        fit = genieclust.Genie(n_clusters=k, gini_threshold=0.3).fit(data["data"])
        data["seconds"] = time.perf_counter() - begin
        return pairs(fit.labels_)

    return work


def fastcluster_link(link: str, matrix: bool = True) -> Callable[[Data], float]:
    """By way of the distances of all pairs, or without them."""

    def work(data: Data) -> float:
        import time

        import fastcluster

        begin = time.perf_counter()
        tree = (fastcluster.linkage if matrix else fastcluster.linkage_vector)(data["data"], link)
        data["seconds"] = time.perf_counter() - begin
        return float(tree[:, 2].sum())

    return work


def hdbscan_density(size: int) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        import time

        import hdbscan

        begin = time.perf_counter()
        # Its samples do not count the row itself, and its tree is shortest only if that is asked for.
        settings = {"min_samples": size - 1, "approx_min_span_tree": False, "core_dist_n_jobs": -1}
        fit = hdbscan.HDBSCAN(min_cluster_size=size, **settings).fit(data["data"])
        data["seconds"] = time.perf_counter() - begin
        return pairs(fit.labels_)

    return work


def trees(n: int) -> list[Contest]:
    """All clusterers by trees; those that need the distances of all pairs, ours or theirs, up to 10000 rows."""
    size = f"{n // 1000}k"
    made = clouds(n, 8, 20, 2.0)
    contests = [
        Contest(
            f"genie-{size}", made,
            {
                "ours": our_tree("genie", 20), "ours, 1 thread": our_tree("genie", 20, 1),
                "genieclust": genieclust_genie(20), "genieclust, 1 thread": genieclust_genie(20, 1),
            },
            quality="pairs", notes=f"Genie, threshold 0.3, n {n} d 8, cut at 20 clusters",
        ),
        Contest(
            f"density-{size}", made, {"ours": our_tree("density", 50), "hdbscan": hdbscan_density(50)},
            quality="pairs", repeats=1, notes=f"HDBSCAN*, clusters of 50 rows and 50 samples, n {n} d 8",
        ),
    ]
    few = n <= 10_000
    for link in ("single", "average", "complete", "ward") if few else ("ward",):
        workers = {"ours": our_tree(link, 20), "fastcluster": fastcluster_link(link, few)}
        notes = f"hierarchical clustering, {link}, n {n} d 8"
        contests.append(Contest(f"{link}-{size}", made, workers, quality="heights", repeats=2, notes=notes))
    return contests


# Labels.


def noisy_labels(n: int, r: int, clusters: int, distinct: int) -> Callable[[], Data]:
    """`distinct` ways to see one of `clusters` groups through r noisy clusterings, in random order."""

    def make() -> Data:
        rng = np.random.default_rng(n + r)
        truth = rng.integers(0, clusters, size=distinct)
        noise = rng.random((distinct, r)) < 0.15
        seen = np.where(noise, rng.integers(0, clusters, (distinct, r)), truth[:, None]).astype(np.uint8)
        shown = rng.integers(0, distinct, n) if distinct < n else np.arange(n)
        return {"labels": seen[shown], "truth": truth[shown]}

    return make


def ari(labels: Any, truth: Any) -> float:
    import consilience as co

    return float(co.metrics.ari(labels, truth))


def ours(method: str, k: int) -> Callable[[Data], float]:
    def work(data: Data) -> float:
        import consilience as co

        result = co.consensus(data["labels"], method=method, n_clusters=k, n_jobs=2)
        return ari(result.labels_, data["truth"])

    return work


def linkage(package: str, k: int) -> Callable[[Data], float]:
    """Average link on the distances between all objects, as everybody does it."""

    def work(data: Data) -> float:
        import scipy.cluster.hierarchy
        from scipy.spatial.distance import pdist

        distances = pdist(data["labels"], "hamming")
        if package == "fastcluster":
            import fastcluster

            tree = fastcluster.linkage(distances, "average")
        else:
            tree = scipy.cluster.hierarchy.linkage(distances, "average")
        return ari(scipy.cluster.hierarchy.fcluster(tree, k, "maxclust"), data["truth"])

    return work


def genie_single_link(k: int) -> Callable[[Data], float]:
    """Single link through the spanning tree of one-hot rows, whose distance is the disagreement."""

    def work(data: Data) -> float:
        import genieclust

        labels = data["labels"]
        rows = np.concatenate([np.eye(labels.max() + 1)[column] for column in labels.T], axis=1)
        return ari(genieclust.Genie(k, gini_threshold=1.0).fit_predict(rows), data["truth"])

    return work


def kmeans_labels(n: int, r: int, k: int, seeds: int) -> Callable[[], Data]:
    """Ensembles of r k-means members with k / 2 to 2 k clusters, of k clouds in the plane; one of each seed."""

    def make() -> Data:
        from sklearn.cluster import KMeans
        from sklearn.datasets import make_blobs

        drawn = []
        for seed in range(seeds):
            points, _ = make_blobs(n, 2, centers=k, random_state=seed)
            rng = np.random.default_rng(seed)
            fits = (
                KMeans(rng.integers(k // 2, 2 * k + 1), init="random", n_init=1, max_iter=100, random_state=int(rng.integers(1 << 31)))
                for _ in range(r)
            )
            drawn.append([fit.fit_predict(points) for fit in fits])
        return {"ensembles": np.array(drawn, dtype=np.int32)}

    return make


def mean_anmi(cluster: Callable[[np.ndarray, int], Any]) -> Callable[[Data], float]:
    """The agreement with the members, averaged over all ensembles; `cluster` gets the members and a seed."""

    def work(data: Data) -> float:
        import time

        from sklearn.metrics import normalized_mutual_info_score

        begin = time.perf_counter()
        found = [cluster(members, seed) for seed, members in enumerate(data["ensembles"])]
        data["seconds"] = time.perf_counter() - begin
        return float(np.mean([
            normalized_mutual_info_score(member, labels, average_method="geometric")
            for labels, members in zip(found, data["ensembles"], strict=True) for member in members
        ]))  # fmt: skip

    return work


def our_hgpa(k: int) -> Callable[[np.ndarray, int], Any]:
    def cluster(members: np.ndarray, seed: int) -> Any:
        import consilience as co

        return co.consensus(members.T, method="hgpa", n_clusters=k, random_state=seed, n_jobs=2).labels_

    return cluster


def kahypar_hgpa(k: int) -> Callable[[np.ndarray, int], Any]:
    def cluster(members: np.ndarray, seed: int) -> Any:
        from ensembleclustering.ClusterEnsembles import hgpa

        return hgpa(members, k, seed)

    return cluster


def hgpa(n: int) -> Contest:
    return Contest(
        f"hgpa-{n // 1000}k", kmeans_labels(n, 20, 10, 6),
        {"ours": mean_anmi(our_hgpa(10)), "ensembleclustering": mean_anmi(kahypar_hgpa(10))},
        quality="ANMI", repeats=2, notes=f"hypergraph partitions of 6 ensembles, {n} x 20 labels, k 10",
    )


def polars_groups(data: Data) -> float:
    import polars

    frame = polars.DataFrame({f"m{h}": column for h, column in enumerate(data["labels"].T)})
    return float(len(frame.group_by(frame.columns).len()))


def numpy_groups(data: Data) -> float:
    rows, _, _ = np.unique(data["labels"], axis=0, return_inverse=True, return_counts=True)
    return float(len(rows))


def our_groups(data: Data) -> float:
    """A method that does next to nothing, so that merging equal tuples is what is timed."""
    import consilience as co

    return float(co.consensus(data["labels"], method="hbgf", n_clusters=5, n_jobs=2).n_unique_)


# The whole of Monti's procedure: subsample, cluster, consensus matrix, hierarchical clustering.


def our_monti(data: Data) -> float:
    import consilience as co

    best = None
    for k in range(2, 7):
        members = co.generate(data["data"], n_members=100, scheme="subsample", base_n_clusters=k, n_jobs=2)
        best = co.consensus(members, method="ea-al", n_clusters=k, n_jobs=2)
    assert best is not None
    return float(best.n_clusters_)


def consensusclustering_monti(data: Data) -> float:
    from consensusclustering import ConsensusClustering
    from sklearn.cluster import KMeans

    fit = ConsensusClustering(
        clustering_obj=KMeans(n_init=1, init="random"), min_clusters=2, max_clusters=6, n_resamples=100,
        resample_frac=0.8, k_param="n_clusters",
    )
    fit.fit(data["data"], progress_bar=False)
    return 6.0


def r_script(script: str) -> Callable[[Data], None]:
    """Work by R, which reads the table from a CSV and says how long it took without that."""

    def work(data: Data) -> None:
        file = data["folder"] / "data.csv"
        if not file.exists():
            np.savetxt(file, data["data"], delimiter=",")
        program = f"""
            x <- as.matrix(read.csv("{file}", header = FALSE))
            set.seed(1)
            elapsed <- system.time({{ {script} }})[["elapsed"]]
            cat("\\nSECONDS", elapsed, "\\n")
        """
        done = subprocess.run(["Rscript", "-e", program], check=True, capture_output=True, text=True, cwd=data["folder"])
        data["seconds"] = float(done.stdout.split("SECONDS")[1])

    return work


CONSENSUS_CLUSTER_PLUS = """
    suppressMessages(library(ConsensusClusterPlus))
    pdf(NULL)
    invisible(ConsensusClusterPlus(t(x), maxK = 6, reps = 100, pItem = 0.8, clusterAlg = "km", distance = "euclidean"))
"""
CLUE = """
    suppressMessages(library(clue))
    members <- cl_ensemble(list = lapply(1:20, function(i) kmeans(x, 10, iter.max = 300, algorithm = "Lloyd")))
    invisible(cl_consensus(members, method = "SE", control = list(k = 10)))
"""


def our_soft_euclidean(data: Data) -> None:
    import consilience as co

    members = co.generate(data["data"], n_members=20, scheme="random_init", base_n_clusters=10, n_jobs=2)
    co.consensus(members, method="voting-merging", n_clusters=10, n_jobs=2)


ALL = [
    kmeans("kmeans-16", 100_000, 16, 20, 50, 0.7),
    kmeans("kmeans-617", 10_000, 617, 26, 30, 0.12),
    kmeans("kmeans-8", 1_000_000, 8, 100, 20, 0.7),
    kmeans("kmeans-784", 70_000, 784, 10, 20, 0.12),
    Contest(
        "members", clouds(100_000, 16, 20, 0.7), {"ours": our_program("members", 20), "scikit-learn": sklearn_members},
        quality="members", repeats=1,
        notes="20 k-means members of 10 to 29 clusters from random starts, each to its end, n 100000 d 16",
    ),
    Contest(
        "fuzzy", clouds(10_000, 16, 10, 0.7),
        {"ours": our_program("fuzzy", 100), "scikit-fuzzy": skfuzzy_cmeans(100)}, quality="J",
        notes="fuzzy k-means, n 10000 d 16 c 10, 100 iterations from random starts",
    ),
    mixture("mixture-10k", 10_000, 8, 10, 50, "full"),
    mixture("mixture-100k", 100_000, 8, 10, 50, "full"),
    mixture("mixture-tied", 100_000, 8, 10, 50, "tied"),
    mixture("mixture-diagonal", 100_000, 8, 10, 50, "diagonal"),
    mixture("mixture-64", 20_000, 64, 10, 20, "full"),
    *trees(10_000),
    *trees(100_000),
    Contest(
        "tuples", noisy_labels(5_000_000, 20, 5, 100_000),
        {"ours": our_groups, "polars": polars_groups, "numpy": numpy_groups}, quality="distinct",
        limit="copy 0.12", repeats=2,
        notes="equal label tuples of 5*10^6 x 20 merged; ours with a consensus (hbgf) on top",
    ),
    Contest(
        "average-link", noisy_labels(10_000, 20, 8, 10_000),
        {"ours": ours("ea-al", 8), "fastcluster": linkage("fastcluster", 8), "scipy": linkage("scipy", 8)},
        quality="ARI", notes="evidence accumulation, average link, 10000 x 20 labels, all tuples distinct",
    ),
    Contest(
        "single-link", noisy_labels(10_000, 20, 8, 10_000),
        {"ours": ours("ea-sl", 8), "genieclust": genie_single_link(8)}, quality="ARI",
        notes="evidence accumulation, single link, 10000 x 20 labels",
    ),
    hgpa(2_000),
    hgpa(10_000),
    Contest(
        "monti", clouds(1_000, 10, 4, 1.5),
        {
            "ours": our_monti, "consensusclustering": consensusclustering_monti,
            "ConsensusClusterPlus": r_script(CONSENSUS_CLUSTER_PLUS),
        },
        repeats=2, notes="subsamples of 80 %, k 2 to 6, 100 members each, consensus by linkage, n 1000 d 10",
    ),
    Contest(
        "clue", clouds(2_000, 10, 10, 1.0), {"ours": our_soft_euclidean, "clue": r_script(CLUE)}, repeats=2,
        notes="20 k-means members and a soft consensus (clue: SE; ours: voting-merging), n 2000 d 10 k 10",
    ),
]
