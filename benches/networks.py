"""Communities that many runs of Leiden agree on, beside one run: LFR graphs, and random graphs that have none.

    python benches/networks.py                     # both tables, some ten minutes, most of them Leiden
    python benches/networks.py --seeds 1 --runs 10
    python benches/networks.py --size              # 3 million vertices, 30 million edges, 20 clusterings, by the program

Needs consilience, igraph and networkx. LFR graphs: 10,000 vertices, mean degree about 11 (`average_degree=10`), exponents 3 and 1.5,
communities of 10 and more. Thresholds and the search of `edge-cut` were chosen on seeds 11 and 12, the line below which there are no communities
on random graphs of other seeds (100 to 10,000 vertices); what is printed here is of seeds 1, 2
and 3, on which the last step of `edge-cut` was chosen, too: `--seeds 4 5 6 7 8` judges it.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np


def lfr(n: int, mu: float, seed: int):
    """An LFR graph: its edges and communities. Many a draw of networkx does not come about: the first that does."""
    import networkx

    for draw in range(1000):
        try:
            graph = networkx.LFR_benchmark_graph(
                n, 3, 1.5, mu, average_degree=10, min_community=10, max_iters=200, seed=1000 * seed + draw
            )
        except networkx.ExceededMaxIterations:
            continue
        graph.remove_edges_from(networkx.selfloop_edges(graph))
        first: dict[int, int] = {}
        truth = [first.setdefault(min(graph.nodes[v]["community"]), len(first)) for v in range(n)]
        return np.array(graph.edges), np.array(truth)
    raise RuntimeError("no draw came about")


def leiden(edges: np.ndarray, n: int, runs: int, seed: int) -> np.ndarray:
    """Runs of igraph's Leiden, one column each."""
    import igraph

    graph = igraph.Graph(n=n, edges=edges.tolist())
    random.seed(seed)
    igraph.set_random_number_generator(random)
    found = [graph.community_leiden("modularity", n_iterations=2).membership for _ in range(runs)]
    return np.array(found).T


def quality(args: argparse.Namespace) -> None:
    import consilience as co

    ways = {
        "one run": None,
        "edge-cut": {},
        "the cut alone, t = .5": {"search": "none", "threshold": 0.5},
        "the cut alone, t = .9": {"search": "none", "threshold": 0.9},
        "pivot (labels)": "pivot",
    }
    mus = (0.1, 0.2, 0.3, 0.4, 0.5)
    table = {way: {mu: [] for mu in mus} for way in ways}
    for mu in mus:
        for seed in args.seeds:
            edges, truth = lfr(args.vertices, mu, seed)
            runs = leiden(edges, args.vertices, args.runs, seed)
            for way, setting in ways.items():
                if setting is None:
                    score = np.mean([co.metrics.ari(run, truth) for run in runs.T])
                elif isinstance(setting, str):
                    score = co.metrics.ari(co.consensus(runs, method=setting).labels_, truth)
                else:
                    score = co.metrics.ari(co.consensus(runs, edges=edges, params=setting).labels_, truth)
                table[way][mu].append(score)
    print(f"LFR, {args.vertices} vertices, {args.runs} runs of Leiden, seeds {args.seeds}: mean adjusted Rand index")
    print(f"{'':24s}" + "".join(f"  mu {mu:.1f}" for mu in mus) + "    mean")
    for way, row in table.items():
        means = [np.mean(row[mu]) for mu in mus]
        print(f"{way:24s}" + "".join(f"{mean:8.3f}" for mean in means) + f"{np.mean(means):8.3f}")


def random_graphs(args: argparse.Namespace) -> None:
    import igraph

    import consilience as co

    print("\nErdős–Rényi graphs: communities of one run of Leiden, and what the consensus says")
    for n, degree in ((300, 6), (1000, 4), (1000, 10), (3000, 10), (10_000, 6), (10_000, 12), (10_000, 20)):
        for seed in args.seeds:
            random.seed(100 * seed + degree)
            igraph.set_random_number_generator(random)
            graph = igraph.Graph.Erdos_Renyi(n=n, m=n * degree // 2)
            runs = leiden(np.array(graph.get_edgelist()), n, args.runs, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told = co.consensus(runs, edges=graph).diagnostics_
            print(
                f"  n {n:6d}, degree {degree:2d}, seed {seed}: Leiden finds {runs[:, 0].max() + 1:3d}, consensus: communities "
                f"{told['communities']:5s} (kappa {told['agreement on edges']:.3f}, line {told['agreement on random graphs']:.3f})"
            )


def size(args: argparse.Namespace) -> None:
    """Planted communities of 100, members that err as Leiden does: neighbouring communities merged, some vertices astray."""
    import pyarrow
    import pyarrow.parquet

    n, m, r, community = 3_000_000, 30_000_000, 20, 100
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        labels, edges = Path(folder, "runs.parquet"), Path(folder, "edges.parquet")
        k = n // community
        # Vertices stand in any order.
        place = rng.permutation(n).astype(np.int32)
        within = rng.random(m) < 0.7
        a = rng.integers(0, n, m)
        b = np.where(within, a // community * community + rng.integers(0, community, m), rng.integers(0, n, m))
        pairs = pyarrow.table({"source": place[a], "target": place[b]})
        pyarrow.parquet.write_table(pairs, edges)
        del a, b, within, pairs
        columns = {}
        for h in range(r):
            group = rng.permutation(k).astype(np.int32) // 10
            own = np.repeat(group, community)
            astray = rng.random(n) < 0.05
            own[astray] = rng.integers(0, k // 10, astray.sum())
            member = np.empty(n, np.int32)
            member[place] = own
            columns[f"run{h}"] = member
        pyarrow.parquet.write_table(pyarrow.table(columns), labels)
        del columns
        out = Path(folder, "out.parquet")
        command = [args.program, "combine", labels, "--edges", edges, "-o", out, "--json"]
        clock = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - clock
        if done.returncode:
            sys.exit(done.stderr)
        import json

        told = json.loads(done.stdout)
        found = pyarrow.parquet.read_table(out)["cluster"].to_numpy()
        truth = np.empty(n, np.int64)
        truth[place] = np.arange(n) // community
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak, busy = used.ru_maxrss / 2**20, used.ru_utime + used.ru_stime
        print(f"{n:,} vertices, {m:,} edges, {r} clusterings: {seconds:.1f} s, {busy:.1f} s of processors, peak {peak:.2f} GiB; {told['seconds']}")
        try:
            import consilience as co

            print(f"communities {told['k']:,} of {k:,}, adjusted Rand index {co.metrics.ari(found, truth):.3f}")
        except ImportError:
            print(f"communities {told['k']:,} of {k:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--vertices", type=int, default=10_000)
    parser.add_argument("--size", action="store_true", help="time 3 million vertices instead")
    parser.add_argument("--program", default=os.environ.get("CONSILIENCE", "target/release/consilience"))
    args = parser.parse_args()
    if args.size:
        return size(args)
    quality(args)
    random_graphs(args)


if __name__ == "__main__":
    main()
