"""Patients of several sites: each site has typed only a part of them, in its own way and words."""

import numpy as np

import consilience as co

rng = np.random.default_rng(3)
kinds = rng.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1])
words: list[list[object]] = [
    ["mild", "moderate", "severe", "critical"],
    ["I", "II", "III", "IV"],
    ["type A", "type B", "type B", "type C"],  # tells two kinds not apart
    [10, 20, 30, 40],
    ["green", "amber", "red", "black"],
]
sites: dict[str, list[object]] = {}
for site, names in enumerate(words):
    seen = rng.random(400) < (0.8, 0.6, 0.7, 0.5, 0.4)[site]
    slip = rng.random(400) < 0.1
    said = np.where(slip, rng.choice(4, 400), kinds)
    sites[f"site {site + 1}"] = [names[kind] if there else None for kind, there in zip(said, seen, strict=True)]

result = co.consensus(sites)
print("\n".join(result.verdict_))
print(f"{result.n_clusters_} types by {result.method_}; agreement with the truth (ARI) {co.metrics.ari(result.labels_, kinds):.2f}")

# How many sites know a patient is coverage; how sure the type is, confidence. Both tell whom to look at again.
for least in (0.2, 0.4, 0.6, 0.8):
    there = (result.coverage_ >= least - 0.01) & (result.coverage_ < least + 0.19)
    print(f"typed by about {least:.0%} of the sites: {there.sum():3} patients, mean confidence {result.confidence_[there].mean():.2f}")
doubtful = int(np.argmin(np.where(result.labels_ >= 0, result.confidence_, 2.0)))
print(f"least sure, patient {doubtful}:\n{result.explain(doubtful)}")

# New patients, labelled by some of the sites.
new = {"site 1": ["mild", "severe"], "site 2": [None, "III"], "site 3": ["type A", None], "site 4": [None, 30], "site 5": ["green", None]}
print("new patients:", result.predict(new))
assert co.metrics.ari(result.labels_, kinds) > 0.5
