"""Market segments over months: every month is clustered anew, and clusters keep their names."""

import numpy as np
import pandas as pd

import consilience as co

rng = np.random.default_rng(7)
habits = {"weekly": (4.0, 30.0), "bulk": (1.0, 160.0), "bargain": (2.5, 12.0)}


def month(customers: dict[str, str]) -> pd.Series:
    """What k-means, which numbers its clusters at random, says of the customers of one month."""
    visits = np.array([rng.normal(habits[kind], (0.4, 4.0)) for kind in customers.values()])
    X = (visits - visits.mean(axis=0)) / visits.std(axis=0)
    found = co.consensus(co.generate(X, n_members=24, random_state=int(rng.integers(1000))), n_clusters="auto")
    return pd.Series(found.labels_, index=list(customers))


customers = {f"c{i}": ["weekly", "bulk", "bargain"][i % 3] for i in range(150)}
january = month(customers)
# In February ten customers start to hunt for bargains, and some are new.
for name in [name for name, kind in customers.items() if kind == "weekly"][:10]:
    customers[name] = "bargain"
customers |= {f"n{i}": "bulk" for i in range(20)}
february = month(customers)
# In March a new kind of customer comes, and the bulk buyers stay away.
habits["students"] = (7.0, 5.0)
customers = {name: kind for name, kind in customers.items() if kind != "bulk"}
customers |= {f"s{i}": "students" for i in range(40)}
march = month(customers)

through = co.align({"january": january, "february": february, "march": march})
print(through)
print(through.to_frame().tail(3))
events = pd.DataFrame(through.events_)
print(events[["time", "event", "cluster", "objects"]].to_string(index=False))
moves = pd.DataFrame(through.moves_)
print(f"{len(moves)} moves, the first: {moves.iloc[0].to_dict()}")

# Whoever was told "cluster 0" in January is told the same in March.
stayed = through.to_frame().dropna()
print(f"{(stayed['january'] == stayed['march']).mean():.0%} of those seen in January and March are where they were")
assert set(events["event"]) == {"birth", "death"} and len(moves) >= 10
