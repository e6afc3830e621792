"""Clusters that k-means cannot find, but a consensus of many k-means can."""

import consilience as co

X, y = co.make_half_rings()
members = co.generate(X, n_members=50, scheme="random_init", base_n_clusters=15)
result = co.consensus(members, method="ea-sl", n_clusters=2)
print(result)
print(f"adjusted Rand index with the truth: {co.metrics.ari(result.labels_, y):.3f}")
assert co.metrics.ari(result.labels_, y) > 0.9
