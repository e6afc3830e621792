"""Throws anything at the entry points of the Python package for some minutes.

Every call must give a result or a ValueError, TypeError, MemoryError or (for files and numbers of
objects) OSError or IndexError; anything else, a panic above all, is counted as found and printed.
Needs the wheel and hypothesis.

    python scripts/fuzz_python.py [MINUTES]
"""

from __future__ import annotations

import collections
import io
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import consilience as co
from consilience import compat

CLEAN = (ValueError, TypeError, MemoryError, OSError, IndexError)
METHODS = [m["name"] for m in co.methods()]
calls: collections.Counter[str] = collections.Counter()
answers: collections.Counter[str] = collections.Counter()
found: dict[str, str] = {}
FOLDER = Path(tempfile.mkdtemp())

ARRAYS = hnp.arrays(
    dtype=st.one_of(
        hnp.integer_dtypes(endianness="?"), hnp.floating_dtypes(), hnp.boolean_dtypes(),
        hnp.unicode_string_dtypes(max_len=3), hnp.byte_string_dtypes(max_len=3),
        st.sampled_from([np.dtype(object), np.dtype("M8[s]"), np.dtype(complex)]),
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7),
)
SMALL = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.integers(-1, 4)
)
SOFT = hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 3)),
                  elements=st.floats(0, 1)).map(lambda m: m / np.maximum(m.sum(1, keepdims=True), 1e-9))
CELLS = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=2), st.booleans(), st.binary(max_size=2))
POINTS = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.floats(-9, 9)
)
COLUMN = st.one_of(ARRAYS, SOFT, st.lists(CELLS, max_size=8))
LABELS = st.one_of(SMALL, ARRAYS, st.lists(COLUMN, max_size=4), SMALL.map(lambda t: list(t.T)),
                   st.dictionaries(st.text(max_size=2), COLUMN, max_size=3), CELLS)
NUMBERS = st.one_of(st.integers(-2, 9), st.floats(), st.none(), st.text(max_size=3), st.integers())
PARAMS = st.one_of(st.none(), st.dictionaries(
    st.sampled_from(sorted({p["name"] for m in co.methods() for p in m["parameters"]})),
    st.one_of(st.integers(-2, 50), st.floats(), st.booleans(), st.text(max_size=4)), max_size=2))
WEIGHTS = st.one_of(st.none(), st.lists(st.floats(0.1, 9), max_size=12), ARRAYS)


def attempt(name: str, work: Any) -> Any:
    calls[name] += 1
    try:
        answer = work()
    except CLEAN:
        return None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        key = f"{name}: {type(error).__name__}: {str(error)[:160]} ({Path(last.filename).name}:{last.lineno})"
        found.setdefault(key, traceback.format_exc())
        return None
    answers[name] += 1
    return answer


@st.composite
def calls_of_consensus(draw: Any) -> dict[str, Any]:
    method = draw(st.sampled_from([*METHODS, "auto", "nothing"]))
    return {
        "method": method,
        "n_clusters": draw(st.one_of(st.just("auto"), st.integers(1, 4), NUMBERS)),
        "params": draw(PARAMS),
        "sample_weight": draw(WEIGHTS),
        "clustering_weight": draw(st.one_of(st.none(), st.lists(NUMBERS, max_size=5))),
        "missing": draw(st.one_of(st.just((-1, None)), CELLS)),
        "init": draw(st.one_of(st.none(), st.none(), COLUMN)),
        "random_state": draw(st.one_of(st.integers(0, 9), NUMBERS)),
        "n_jobs": draw(st.sampled_from([1, 1, 1, 2, -1, 0, "x"])),
    }


def plain(draw: dict[str, Any]) -> dict[str, Any]:
    """The same call with most of it as it comes, so that methods are reached."""
    keep = {"method", "n_clusters", "random_state"}
    return {k: v for k, v in draw.items() if k in keep} | {"n_jobs": 1}


def fuzz_consensus(labels: Any, arguments: dict[str, Any], other: Any, rows: Any) -> None:
    for call in (arguments, plain(arguments)):
        result = attempt("consensus", lambda c=call: co.consensus(labels, **c))
        if result is None:
            continue
        assert result.labels_.max(initial=-1) < result.n_clusters_
        assert ((result.confidence_ >= 0) & (result.confidence_ <= 1)).all()
        attempt("predict", lambda: result.predict(other))
        attempt("predict", lambda: result.predict(labels))
        attempt("support", lambda: result.support(other))
        attempt("coassociation", lambda: result.coassociation(rows))
        attempt("explain", lambda: result.explain(rows))
        attempt("views", lambda: (result.membership_, result.linkage_, result._repr_html_(), result.verdict_))
        attempt("report", lambda: result.report(FOLDER / "p.html"))
        attempt("save and load", lambda: (result.save(FOLDER / "r.npz"), co.load(FOLDER / "r.npz")))
        attempt("tables", lambda: compat.consensus_tables([result]))


def fuzz_rest(a: Any, b: Any, word: Any, number: Any) -> None:
    for name in co.metrics.__all__:
        attempt("metrics", lambda n=name: getattr(co.metrics, n)(*((a,) if n == "diversity" else (a, b))))
    attempt("ensemble", lambda: co.ensemble(a, sample_weight=b))
    attempt("generate", lambda: co.generate(a, n_members=number, base_n_clusters=number, n_jobs=1))
    attempt("generate", lambda: co.generate(a, n_members=3, scheme=word, n_jobs=1))
    attempt("generate", lambda: co.generate(a, n_members=3, n_jobs=1))
    attempt("metrics of columns", lambda: [co.metrics.vi(a[:, 0], a[:, -1]), co.metrics.anmi(a[:, 0], a)])
    attempt("estimator", lambda: co.ConsensusClustering(n_members=3).fit(a).predict(a))
    attempt("compat", lambda: compat.cluster_ensembles(a, nclass=number))
    attempt("estimator", lambda: co.LabelConsensus(number).fit(a).predict(b))
    attempt("estimator", lambda: co.ConsensusClustering(number, n_members=3).fit(a).predict(b))


def fuzz_files(text: str, raw: bytes, ending: str, arguments: dict[str, Any]) -> None:
    file = FOLDER / f"t.{ending}"
    file.write_bytes(text.encode(errors="replace") if ending in ("csv", "tsv") else raw)
    attempt("read", lambda: co.read(file, **arguments))


def fuzz_damage(at: int, by: int, ending: str) -> None:
    """A sound file with one byte changed, or cut off."""
    buffer = io.BytesIO()
    if ending == "npz":
        co.consensus([[0, 0, 1], [0, 1, 1]]).save(FOLDER / "s.npz")
        buffer.write((FOLDER / "s.npz").read_bytes())
    else:
        np.save(buffer, np.arange(12).reshape(4, 3) % 3)
    data = bytearray(buffer.getvalue())
    at %= len(data)
    data = data[:at] if by == 0 else data[:at] + bytes([(data[at] + by) % 256]) + data[at + 1 :]
    file = FOLDER / f"d.{ending}"
    file.write_bytes(bytes(data))
    attempt("damaged", lambda: co.load(file) if ending == "npz" else co.read(file))


TARGETS = [
    (fuzz_consensus, (LABELS, calls_of_consensus(), LABELS,
                      st.one_of(st.none(), st.lists(st.integers(-3, 12), max_size=4), CELLS))),
    (fuzz_consensus, (SMALL, calls_of_consensus(), SMALL, st.integers(-3, 12))),
    (fuzz_rest, (st.one_of(POINTS, SMALL, LABELS), st.one_of(POINTS, SMALL, LABELS), st.one_of(CELLS, st.sampled_from(["bootstrap", "subsample", "random_projection"])), NUMBERS)),
    (fuzz_files, (st.text(alphabet="a1,\n\t\";:-. xé\r", max_size=60), st.binary(max_size=200),
                  st.sampled_from(["csv", "tsv", "npy", "parquet", "arrow", "csv.gz", "txt"]),
                  st.fixed_dictionaries({}, optional={"id": CELLS, "weights": CELLS, "drop": CELLS, "missing": CELLS, "header": st.booleans()}))),
    (fuzz_damage, (st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(["npz", "npy"]))),
]

if __name__ == "__main__":
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    warnings.simplefilter("ignore")
    end, turn = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < end:
        for body, strategies in TARGETS:
            run = settings(max_examples=40, deadline=None, database=None, phases=[Phase.generate],
                           suppress_health_check=list(HealthCheck))(seed(turn)(given(*strategies)(body)))
            run()
        turn += 1
    print(f"{sum(calls.values())} calls in {minutes:g} minutes, of which {sum(answers.values())} gave an answer")
    for name, count in sorted(calls.items()):
        print(f"  {name}: {count} calls, {answers[name]} answers")
    for key, trace in found.items():
        print(f"FOUND {key}\n{trace}")
    sys.exit(bool(found))
