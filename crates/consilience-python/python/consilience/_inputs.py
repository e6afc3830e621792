"""From what users have to members of an ensemble."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from consilience._native import Builder, Ensemble

#: What means "no label" unless told otherwise.
MISSING: tuple[Any, ...] = (-1, None)


class Missing(TypedDict):
    """Labels that mean "no label", besides None, NaN and the empty text."""

    integers: list[int]
    texts: list[str]


def ensemble(labels: Any, *, missing: Any = MISSING, sample_weight: Any = None) -> Ensemble:
    """An ensemble from any kind of label table.

    Parameters
    ----------
    labels : array, table, sequence or mapping
        An (n, r) array of integers, texts or objects, one column per clustering; a pandas, polars or
        pyarrow table, or anything else with ``__arrow_c_stream__``; a sequence or iterator (or a
        mapping from names) of r clusterings, each a 1-D array of labels, an (n, k) array of
        memberships, or a fitted scikit-learn clusterer; an :class:`Ensemble`.
    missing : label or sequence of labels, default (-1, None)
        Labels that mean "no label". None, NaN, NA and the empty text always do.
    sample_weight : array of n numbers > 0, optional
        The weights of the objects.

    Returns
    -------
    Ensemble

    Examples
    --------
    >>> import consilience as co
    >>> e = co.ensemble({"site 1": ["x", "x", "y"], "site 2": [0, -1, 1]})
    >>> e
    <consilience.Ensemble: 2 clusterings of 3 objects>
    >>> e.member(1)
    array([ 0, -1,  1])
    """
    made = labels if isinstance(labels, Ensemble) else builder(labels, missing).finish()
    if sample_weight is None:
        return made
    return made.with_weights(weights(sample_weight, made.n_objects))


def weights(sample_weight: Any, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The weights of n objects as an array."""
    try:
        array = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight must be numbers: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got {array.ndim}")
    if len(array) != n:
        raise ValueError(f"sample_weight has {len(array)} entries, but there are {n} objects")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if wrong.size:
        raise ValueError(
            f"sample_weight, position {wrong[0]}: must be a finite number > 0, got "
            f"{array[wrong[0]]:g}; leave out objects that are not to count"
        )
    return np.ascontiguousarray(array)


def table(X: Any) -> Any:
    """A table of features as the native part takes it, in the precision it has.

    An array of float64 or float32; of a sparse matrix (whatever has ``tocsr``) shape, row starts,
    columns and values.
    """
    if hasattr(X, "tocsr"):
        return _compressed(X)
    array = np.asarray(X) if hasattr(X, "__array__") else X
    if isinstance(array, np.ndarray) and _is_single(array.dtype):
        return _two_dimensions(array.astype(np.float32, copy=False))
    return features(array)


def features(X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A table of features as an array."""
    if hasattr(X, "tocsr"):
        raise TypeError("X is sparse, but all its numbers are needed here: give X.toarray()")
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"X must be a table of numbers: {error}") from None
    _two_dimensions(array)
    return array


def _two_dimensions(X: Any) -> Any:
    """``X`` itself, once it is a table with rows and columns."""
    if len(X.shape) != 2:
        raise ValueError(f"X must have two dimensions (n objects, d features), got {len(X.shape)}")
    if 0 in X.shape:
        raise ValueError(f"X is empty: {X.shape[0]} objects of {X.shape[1]} features")
    return X


def _is_single(dtype: np.dtype[Any]) -> bool:
    """Whether single precision holds all numbers of this type."""
    return dtype.kind == "f" and dtype.itemsize <= 4


def _compressed(X: Any) -> tuple[Any, ...]:
    """Shape, row starts, columns and values of a sparse matrix."""
    rows = _two_dimensions(X).tocsr()
    values = np.asarray(rows.data)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"X must be a table of numbers, got {values.dtype}")
    number = np.float32 if _is_single(values.dtype) else np.float64
    indices = np.asarray(rows.indices)
    return (
        (int(rows.shape[0]), int(rows.shape[1])),
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(indices, dtype=np.int32 if indices.dtype == np.int32 else np.int64),
        np.ascontiguousarray(values, dtype=number),
    )


def builder(labels: Any, missing: Any = MISSING) -> Builder:
    """A builder that holds the members of a label table."""
    into = Builder(_missing(missing))
    if _is_pandas(labels):
        for name, column in labels.items():
            _add_series(into, str(name), column)
    elif hasattr(labels, "__arrow_c_stream__"):
        into.add_stream(labels)
    elif isinstance(labels, Mapping):
        for name, clustering in labels.items():
            _add(into, str(name), clustering)
    elif _is_list(labels) or isinstance(labels, Iterator):
        for i, clustering in enumerate(labels):
            if isinstance(clustering, (str, bytes, int, float)):
                raise TypeError(
                    "labels: every item of a list is one clustering, got "
                    f"{type(clustering).__name__}; a single clustering is written [labels]"
                )
            _add(into, str(i), clustering)
    else:
        _add_table(into, _as_array(labels, "labels"))
    return into


def one(labels: Any, name: str, missing: Any = MISSING) -> Ensemble:
    """An ensemble of one hard clustering given as a 1-D array, list or series."""
    into = Builder(_missing(missing))
    add_one(into, labels, name)
    return into.finish()


def pair(a: Any, b: Any, missing: Any = MISSING) -> Ensemble:
    """An ensemble of two clusterings."""
    into = Builder(_missing(missing))
    add_one(into, a, "a")
    add_one(into, b, "b")
    return into.finish()


def add_one(into: Builder, labels: Any, name: str) -> None:
    _add(into, name, labels, dimensions=(1,))


def _missing(missing: Any) -> Missing:
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        missing = (missing,)
    found: Missing = {"integers": [], "texts": []}
    for token in missing:
        if token is None or (isinstance(token, (float, np.floating)) and math.isnan(token)):
            continue
        if isinstance(token, str):
            found["texts"].append(token)
        elif isinstance(token, (int, np.integer)):
            found["integers"].append(int(token))
        else:
            raise TypeError(
                f"missing must hold integers, texts or None, got {type(token).__name__}"
            )
    return found


def _is_list(labels: Any) -> bool:
    return isinstance(labels, Sequence) and not isinstance(labels, (str, bytes, memoryview))


def _is_pandas(labels: Any) -> bool:
    module = type(labels).__module__.partition(".")[0]
    return module == "pandas" and hasattr(labels, "columns")


def _as_array(labels: Any, what: str) -> np.ndarray[Any, Any]:
    if labels is None or isinstance(labels, (str, bytes, int, float)):
        raise TypeError(f"{what} must be a table of labels, got {type(labels).__name__}")
    try:
        return np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _add_table(into: Builder, table: np.ndarray[Any, Any]) -> None:
    if table.ndim != 2:
        raise ValueError(
            f"labels must have two dimensions (n objects, r clusterings), got {table.ndim}; "
            "a single clustering is written [labels]"
        )
    names = [str(j) for j in range(table.shape[1])]
    if table.dtype.kind in "iu" and table.size:
        into.add_table(names, _plain(table))
        return
    for j, name in enumerate(names):
        _add_column(into, name, table[:, j])


def _add(into: Builder, name: str, clustering: Any, dimensions: tuple[int, ...] = (1, 2)) -> None:
    """One clustering: labels (1-D), memberships (2-D), or a fitted clusterer that has labels."""
    clustering = getattr(clustering, "labels_", clustering)
    if type(clustering).__module__.partition(".")[0] == "pandas" and hasattr(clustering, "dtype"):
        _add_series(into, name, clustering)
        return
    if _is_list(clustering):
        array = _of_list(clustering)
    elif type(clustering).__module__.partition(".")[0] == "polars":
        array = clustering.to_numpy()
    else:
        array = _as_array(clustering, f"labels: member `{name}`")
    if array.ndim not in dimensions:
        wanted = "one dimension" if dimensions == (1,) else "one dimension (labels) or two"
        raise ValueError(f"labels: member `{name}` must have {wanted}, got {array.ndim}")
    if array.ndim == 1:
        _add_column(into, name, array)
        return
    try:
        memberships = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"labels: member `{name}`: memberships must be numbers: {error}") from None
    # A row without any number is an object without a label.
    memberships[np.isnan(memberships).all(axis=1)] = 0.0
    clusters = [str(j) for j in range(memberships.shape[1])]
    into.add_memberships(name, np.ascontiguousarray(memberships), clusters)


def _of_list(labels: Sequence[Any]) -> np.ndarray[Any, Any]:
    """An array of what stands in a list; mixed lists stay objects, so that nothing is turned to text."""
    if any(isinstance(label, str) or label is None for label in labels):
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    try:
        return np.asarray(labels)
    except ValueError:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array


def _add_column(into: Builder, name: str, column: np.ndarray[Any, Any]) -> None:
    kind = column.dtype.kind
    if isinstance(column, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(column)
        if mask.any():
            column = np.ma.getdata(column).astype(object)
            column[mask] = None
        else:
            column = np.ma.getdata(column)
        kind = column.dtype.kind
    if kind in "iu":
        into.add_integers(name, _plain(column))
    elif kind == "b":
        into.add_integers(name, column.astype(np.uint8))
    elif kind == "f":
        into.add_floats(name, np.ascontiguousarray(column, dtype=np.float64))
    elif kind == "U":
        width = column.dtype.itemsize // 4
        native = np.ascontiguousarray(column, dtype=f"=U{max(width, 1)}")
        into.add_texts(name, native.view(np.uint32).reshape(len(native), max(width, 1)))
    elif kind == "S":
        try:
            decoded = np.char.decode(column, "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"labels: member `{name}` is not UTF-8: {error}") from None
        _add_column(into, name, decoded)
    elif kind in "OT":
        into.add_objects(name, column.astype(object))
    else:
        raise TypeError(
            f"labels: member `{name}` holds {column.dtype}: labels are texts or integers"
        )


def _add_series(into: Builder, name: str, column: Any) -> None:
    """A column of pandas."""
    dtype = column.dtype
    if hasattr(dtype, "categories"):
        codes = np.asarray(column.cat.codes, dtype=np.int64)
        into.add_codes(name, codes, dtype.categories.to_numpy(dtype=object))
        return
    if isinstance(dtype, np.dtype):
        _add_column(into, name, column.to_numpy())
        return
    if dtype.kind in "iu":
        gone = column.isna().to_numpy()
        values = column.to_numpy(dtype=f"{dtype.kind}8", na_value=0)
        into.add_integers(name, values, gone.tolist() if gone.any() else None)
        return
    _add_column(into, name, column.to_numpy(dtype=object))


def _plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself if its bytes are in this machine's order and place, else a copy."""
    native = array.dtype.newbyteorder("=")
    return np.require(array, dtype=native, requirements=["A"])
