"""Cells: Leiden at several resolutions and seeds with scanpy, and one consensus with confidence."""

from importlib.util import find_spec

import numpy as np

import consilience as co


def main() -> None:
    import scanpy

    # 700 cells of blood with the types that were known for them (bulk_labels); ships with scanpy.
    adata = scanpy.datasets.pbmc68k_reduced()
    for resolution in (0.4, 0.6, 0.8, 1.0, 1.2):
        for seed in range(6):
            key = f"leiden_{resolution}_{seed}"
            scanpy.tl.leiden(
                adata, resolution, random_state=seed, key_added=key, flavor="igraph", n_iterations=2, directed=False
            )
    runs = [name for name in adata.obs.columns if name.startswith("leiden_")]
    co.tl.consensus(adata, "leiden_*")
    known = adata.obs["bulk_labels"].to_numpy()
    alone = [co.metrics.ari(adata.obs[name].to_numpy(), known) for name in runs]
    ours = co.metrics.ari(adata.obs["consensus"].to_numpy(), known)
    print(f"{len(runs)} Leiden runs: agreement with the known types (ARI) {np.mean(alone):.3f} on average, {max(alone):.3f} at best")
    print(f"consensus: {ours:.3f}, {adata.uns['consensus']['n_clusters']} clusters by {adata.uns['consensus']['method']}")
    print(f"mean confidence {adata.obs['consensus_confidence'].mean():.2f}")


if any(find_spec(name) is None for name in ("scanpy", "igraph")):
    print("skipped: this example needs scanpy and igraph (pip install scanpy igraph)")
else:
    main()
