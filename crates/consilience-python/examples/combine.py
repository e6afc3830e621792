"""Five sites labelled the same patients, each in its own way, some not at all."""

import consilience as co

sites = {
    "north": ["A", "A", "A", "B", "B", "C", "C", "C"],
    "south": ["x", "x", "x", "y", "y", "y", "z", "z"],
    "east": [1, 1, 1, 2, 2, 3, 3, 3],
    "west": [None, "I", "I", "II", "II", "III", None, "III"],
    "centre": [7, 7, 8, 8, 8, 9, 9, 9],
}
result = co.consensus(sites, n_clusters=3)
for patient, (label, sure) in enumerate(zip(result.labels_, result.confidence_, strict=True)):
    print(f"patient {patient}: cluster {label}, confidence {sure:.2f}")
print(result.explain(5))
