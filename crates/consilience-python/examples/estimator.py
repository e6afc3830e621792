"""The scikit-learn way: fit, predict new objects, ask why."""

import consilience as co

iris = co.load_iris()
model = co.ConsensusClustering(n_clusters=3, n_members=30, random_state=0)
model.fit(iris.data[::2])
labels = model.predict(iris.data[1::2])
print(f"new flowers, accuracy: {co.metrics.accuracy(labels, iris.target[1::2]):.3f}")
least_sure = int(model.result_.confidence_.argmin())
print(model.result_.explain(least_sure))
assert co.metrics.accuracy(labels, iris.target[1::2]) > 0.7
