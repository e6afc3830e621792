"""From networks as users have them to edges of numbered objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The ends of edges, one row for each, and their weights.
Network = tuple[NDArray[np.int64], NDArray[np.float64] | None]


def network(edges: Any, n: int, names: Sequence[Any] | None) -> Network:
    """The edges of a network of ``n`` objects, which are called ``names`` if they have names.

    ``edges`` is a graph of igraph or networkx, a square matrix of scipy.sparse, a table of two or three
    columns, an (m, 2) or (m, 3) array, or a sequence of tuples.
    """
    if hasattr(edges, "get_edgelist"):
        return _of_igraph(edges, n)
    if hasattr(edges, "adj") and hasattr(edges, "nodes"):
        return _of_networkx(edges, n, names)
    if hasattr(edges, "tocoo"):
        return _of_matrix(edges, n)
    if hasattr(edges, "columns") and hasattr(edges, "to_numpy"):
        columns = [edges[name].to_numpy() for name in list(edges.columns)[:3]]
        return _of_columns(columns, n, names)
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] not in (2, 3):
            shape = " x ".join(map(str, edges.shape))
            hint = "; scipy.sparse.csr_array(edges) makes a network of a dense matrix" if edges.ndim == 2 else ""
            raise ValueError(
                f"edges must have two columns, the ends of every edge, and perhaps a third of weights, got an array of {shape}{hint}"
            )
        return _of_columns([edges[:, j] for j in range(edges.shape[1])], n, names)
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise TypeError(
            "edges must be pairs of objects, an igraph or networkx graph or a scipy.sparse matrix, got "
            f"{type(edges).__name__}"
        )
    rows = [tuple(edge) for edge in edges]
    width = len(rows[0]) if rows else 2
    for position, row in enumerate(rows):
        if len(row) != width or width not in (2, 3):
            raise ValueError(
                f"edges, position {position}: an edge is a pair of objects, or a pair and a weight, in all rows alike, got {row!r}"
            )
    columns = [np.empty(len(rows), object) for _ in range(width)]
    for j, column in enumerate(columns):
        column[:] = [row[j] for row in rows]
    return _of_columns(columns, n, names)


def _of_igraph(graph: Any, n: int) -> Network:
    if graph.vcount() != n:
        raise ValueError(f"edges: the graph has {graph.vcount()} vertices, but the labels have {n} rows")
    ends = np.asarray(graph.get_edgelist(), np.int64).reshape(-1, 2)
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else None
    return ends, _weights(weights)


def _of_networkx(graph: Any, n: int, names: Sequence[Any] | None) -> Network:
    nodes = list(graph.nodes)
    by_number = all(isinstance(node, (int, np.integer)) and 0 <= node < n for node in nodes)
    if names is not None and not by_number:
        place = _places(names)
        nodes_of: dict[Any, int] = {node: _place(place, node, "node") for node in nodes}
    elif by_number:
        nodes_of = {node: int(node) for node in nodes}
    elif len(nodes) == n:
        nodes_of = {node: at for at, node in enumerate(nodes)}
    else:
        raise ValueError(
            f"edges: the graph has {len(nodes)} nodes, but the labels have {n} rows; number the nodes from 0, or give the "
            "labels an index of their names"
        )
    found = list(graph.edges(data="weight"))
    ends = np.array([[nodes_of[a], nodes_of[b]] for a, b, _ in found], np.int64).reshape(-1, 2)
    weights = [weight for *_, weight in found]
    if all(weight is None for weight in weights):
        return ends, None
    return ends, _weights([1.0 if weight is None else weight for weight in weights])


def _of_matrix(matrix: Any, n: int) -> Network:
    if tuple(matrix.shape) != (n, n):
        shape = " x ".join(map(str, matrix.shape))
        raise ValueError(f"edges: the matrix is {shape}, but the labels have {n} rows: it must be {n} x {n}")
    cells = matrix.tocoo()
    row, column, data = (np.asarray(part) for part in (cells.row, cells.col, cells.data))
    # Both halves of a symmetric matrix tell the same edges.
    lower, upper = row > column, row < column
    above = np.unique(np.stack([row[upper], column[upper]]), axis=1)
    below = np.unique(np.stack([column[lower], row[lower]]), axis=1)
    keep = upper if np.array_equal(above, below) else upper | lower
    ends = np.stack([row[keep], column[keep]], axis=1).astype(np.int64)
    return ends, _weights(data[keep])


def _of_columns(columns: list[Any], n: int, names: Sequence[Any] | None) -> Network:
    ends = [np.asarray(column) for column in columns[:2]]
    if any(end.dtype == object for end in ends):
        ends = [_plain(end) for end in ends]
    if all(end.dtype.kind in "iu" for end in ends):
        numbers = [end.astype(np.int64) for end in ends]
    elif all(end.dtype.kind in "iuf" for end in ends):
        numbers = [_whole(end) for end in ends]
    elif names is not None:
        place = _places(names)
        numbers = [np.array([_place(place, end, "object") for end in column.tolist()], np.int64) for column in ends]
    else:
        raise TypeError(
            "edges: the ends must be row numbers from 0, since the objects have no names; give the labels as a pandas table "
            "whose index has them"
        )
    for column in numbers:
        wrong = (column < 0) | (column >= n)
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(f"edges, position {at}: there is no object {column[at]}: rows go from 0 to {n - 1}")
    return np.stack(numbers, axis=1), _weights(columns[2]) if len(columns) > 2 else None


def _plain(column: Any) -> Any:
    """Numbers in an array of objects as numbers."""
    kinds = {type(end) for end in column.tolist()}
    return column.astype(np.int64) if kinds <= {int} else column


def _whole(column: Any) -> Any:
    whole = column.astype(np.int64) if np.isfinite(column).all() else None
    if whole is None or (whole != column).any():
        raise ValueError("edges: the ends must be whole numbers, the rows of the objects")
    return whole


def _places(names: Sequence[Any]) -> dict[Any, int]:
    place = {name: at for at, name in enumerate(names)}
    # Identifiers that were read from a file are texts.
    for at, name in enumerate(names):
        place.setdefault(str(name), at)
    return place


def _place(place: dict[Any, int], name: Any, what: str) -> int:
    found = place.get(name, place.get(str(name)))
    if found is None:
        raise ValueError(f"edges: the labels have no {what} {name!r}")
    return found


def _weights(weights: Any) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    try:
        return np.ascontiguousarray(weights, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("edges: the weights must be numbers") from error
