"""From what users have to members of an ensemble."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, TypedDict

import numpy as np

from consilience import _native
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
        Labels that mean "no label". None, NaN, NA and the empty text always do. A text that
        spells a whole number, such as "-1", means the number too. The *text* "nan", which NumPy makes of
        a NaN among texts, is a label, and warned of: give ``missing="nan"`` if it means none.
    sample_weight : array of n numbers > 0, optional
        The weights of the objects.

    Returns
    -------
    Ensemble
        The index of a pandas table, or of several Series, becomes its ``ids``.

    Warns
    -----
    UserWarning
        If there are more clusterings than objects, or every object has a label of its own: the table
        may be the other way round, or hold identifiers. If a label is a text such as "nan". If -1 is read
        as missing because ``missing`` was not given.

    Examples
    --------
    >>> import consilience as co
    >>> e = co.ensemble({"site 1": ["x", "x", "y"], "site 2": [0, -1, 1]})
    >>> e
    <consilience.Ensemble: 2 clusterings of 3 objects>
    >>> e.member(1)
    array([ 0, -1,  1])
    """
    index = None
    if isinstance(labels, Ensemble):
        made = labels
    else:
        labels, index = aligned(labels)
        made = builder(labels, missing).finish(None if index is None else [str(i) for i in index])
        for message in doubts(made) + noise(labels, made, missing):
            warnings.warn(message, UserWarning, stacklevel=2)
    if sample_weight is None:
        return made
    weight = weights(along(sample_weight, index, "sample_weight"), made.n_objects)
    if not weight.all():
        raise ValueError(
            f"sample_weight, position {np.argmin(weight)}: an ensemble has no objects of weight 0; "
            "consilience.consensus(..., sample_weight=...) leaves them out"
        )
    return made.with_weights(weight)


def doubts(made: Ensemble) -> list[str]:
    """What in a table of labels looks as if something else was meant."""
    n, sizes = made.n_objects, made.sizes
    if len(sizes) > n:
        objects = "1 object" if n == 1 else f"{n} objects"
        return [
            f"labels holds {len(sizes)} clusterings of {objects}: arrays and tables have one row per "
            "object and one column per clustering, lists one item per clustering; if yours is the "
            "other way round, give labels.T"
        ]
    found = []
    # Where there are very many clusters, a look at all their names would take too long.
    few = [i for i, k in enumerate(sizes) if k <= 1000]
    clusters = {made.names[i]: made.clusters(i) for i in few}
    for text in ("nan", "NaN", "<NA>", "None"):
        with_it = [name for name, names in clusters.items() if text in names]
        if with_it:
            found.append(
                f"labels: the text {text!r} is a label in {_listed(with_it)}; if it means that there is "
                f"none, give missing={text!r}"
            )
    return found


def noise(labels: Any, made: Ensemble, missing: Any = MISSING) -> list[str]:
    """Says that -1 was read as missing, unless ``missing`` was given."""
    if missing is not MISSING:
        return []
    columns = zip(made.names, _clusterings(labels), strict=False)
    with_it = [name for name, column in columns if _has_minus_one(column)]
    if not with_it:
        return []
    return [
        f"labels: -1 is read as missing, as HDBSCAN and BERTopic write noise, in {len(with_it)} of "
        f"{len(made.names)} clusterings: {_listed(with_it)}; if it is a cluster, give missing=None; "
        "missing=-1 silences this"
    ]


def _clusterings(labels: Any) -> list[Any]:
    """The clusterings of a table, where they can be had without a copy of all."""
    if _is_pandas(labels):
        return [labels.iloc[:, j] for j in range(labels.shape[1])]
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        return [labels[:, j] for j in range(labels.shape[1])]
    if isinstance(labels, Mapping):
        return list(labels.values())
    if _is_list(labels):
        return list(labels)
    if _package(labels) == "polars" and hasattr(labels, "get_columns"):
        return list(labels.get_columns())
    return []


def _has_minus_one(column: Any) -> bool:
    """Whether a clustering in whole numbers has a -1."""
    if hasattr(column, "labels_") and not hasattr(column, "dtype"):
        column = column.labels_
    if isinstance(column, (list, tuple)):
        try:
            column = np.asarray(column)
        except ValueError:
            return False
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    if kind is None and _package(column) == "polars" and column.dtype.is_signed_integer():
        return bool((column == -1).any())
    return kind in ("i", "f") and getattr(column, "ndim", 0) == 1 and bool((column == -1).any())


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:5]) + (", ..." if len(names) > 5 else "")


def weights(sample_weight: Any, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The weights of n objects as an array; 0 for those to be left out."""
    try:
        array = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight must be numbers: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got {array.ndim}")
    if len(array) != n:
        raise ValueError(f"sample_weight has {len(array)} entries, but there are {n} objects")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if wrong.size:
        raise ValueError(
            f"sample_weight, position {wrong[0]}: must be a finite number >= 0, got {array[wrong[0]]:g}"
        )
    if n and not array.any():
        raise ValueError("sample_weight: all are 0, which leaves out every object")
    return np.ascontiguousarray(array)


def table(X: Any) -> Any:
    """A table of features as the native part takes it, in the precision it has.

    An array of float64 or float32; of a sparse matrix (whatever has ``tocsr``) shape, row starts,
    columns and values.
    """
    if hasattr(X, "tocsr"):
        return _compressed(X)
    array = _numbers(X)
    if isinstance(array, np.ndarray) and _is_single(array.dtype):
        return _two_dimensions(array.astype(np.float32, copy=False))
    return features(array)


def columns_of(X: Any) -> list[str] | None:
    """The names of the columns of a table of pandas, polars or pyarrow."""
    names = getattr(X, "column_names" if _package(X) == "pyarrow" else "columns", None)
    return None if names is None else [str(name) for name in names]


def doubts_of_features(X: Any, names: list[str] | None, circumstances: Any) -> list[str]:
    """What looks wrong with columns of ``X``, which is as :func:`table` gives it; ``names`` if they have some."""
    if isinstance(X, tuple):
        # Whole columns of a sparse matrix are not at hand.
        return []
    called = names or [f"X[:, {column}]" for column in range(X.shape[1])]
    return _native.doubts_of_features(X, called, circumstances) + _unequal_scales(X, called)


def _unequal_scales(X: np.ndarray[Any, Any], names: list[str]) -> list[str]:
    """Whether distances are decided by columns that vary far more than others."""
    # Some thousand rows tell a factor of 100, and need no copy of the table.
    some = X[:: len(X) // 10_000 + 1]
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = some.std(axis=0, dtype=np.float64)
    # What rounding leaves of a constant column is no deviation.
    varies = (some.max(axis=0) > some.min(axis=0)) & (deviations > 0) & np.isfinite(deviations)
    varied = np.flatnonzero(varies)
    if not varied.size:
        return []
    most, least = (varied[pick(deviations[varied])] for pick in (np.argmax, np.argmin))
    if deviations[most] <= 100 * deviations[least]:
        return []
    return [
        f"X: `{names[most]}` varies {deviations[most] / deviations[least]:,.0f} times as much as "
        f"`{names[least]}`, which then hardly counts; if their units differ, bring all columns to one "
        "scale first, for example with sklearn.preprocessing.StandardScaler"
    ]


def refuse_gaps(X: Any, names: list[str] | None) -> None:
    """Says where a number of ``X``, which is as :func:`table` gives it, is NaN or infinite."""
    values = X[3] if isinstance(X, tuple) else X
    finite = np.isfinite(values)
    if finite.all():
        return
    first = int(np.argmin(finite))
    if isinstance(X, tuple):
        row, column = int(np.searchsorted(X[1], first, side="right")) - 1, int(X[2][first])
    else:
        row, column = divmod(first, X.shape[1])
    wrong = "NaN, a missing number" if np.isnan(values.flat[first]) else "infinity"
    others = int(finite.size - np.count_nonzero(finite)) - 1
    more = f" ({others} more like it)" if others else ""
    raise ValueError(
        f"X: row {row}, column `{names[column] if names else column}` is {wrong}{more}: leave such rows or "
        "columns out, or fill the gaps, for example with sklearn.impute.SimpleImputer"
    )


def refuse_texts(X: Any) -> None:
    """Names the columns of a table of features that hold texts or dates."""
    wrong = [(name, value) for name, column in _columns(X) if (value := _text_in(column)) is not None]
    if wrong:
        many = len(wrong) > 1
        raise ValueError(
            f"X: {'columns' if many else 'column'} {_listed([name for name, _ in wrong])} "
            f"{'hold' if many else 'holds'} text or dates, such as {wrong[0][1]!r}, and features are "
            f"numbers: leave {'them' if many else 'it'} out; a column that names the objects can be "
            'made the index, df.set_index("name")'
        )


def _columns(X: Any) -> Iterable[tuple[str, Any]]:
    """The columns of a table that may hold something else than numbers."""
    if _is_pandas(X):
        return ((str(name), column) for name, column in X.items())
    names = columns_of(X)
    if names is not None and _package(X) in ("polars", "pyarrow"):
        return zip(names, X.get_columns() if hasattr(X, "get_columns") else X.columns, strict=True)
    if isinstance(X, (list, tuple)):
        try:
            X = np.asarray(X)
        except ValueError:
            return []
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind not in "fiubc":
        return ((str(j), X[:, j]) for j in range(X.shape[1]))
    return []


def _text_in(column: Any) -> str | None:
    """The first text or date in a column, unless all are numbers or texts that spell some."""
    if getattr(getattr(column, "dtype", None), "kind", "O") in "fiub":
        return None
    array = np.asarray(column)
    if array.dtype.kind in "Mm":
        return str(array[0]) if len(array) else ""
    if array.dtype.kind not in "OUST":
        return None
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        for value in array.tolist():
            if isinstance(value, (date, timedelta)) or (
                isinstance(value, (str, bytes)) and not _spells_a_number(value)
            ):
                return str(value)
    return None


def _spells_a_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(X: Any) -> Any:
    """``X`` as an array, if it knows how to become one; NaN for the NA of pandas."""
    refuse_texts(X)
    array = np.asarray(X) if hasattr(X, "__array__") else X
    if _is_pandas(X) and array.dtype == object:
        return np.where(X.isna(), np.nan, array)
    return array


def features(X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A table of features as an array."""
    if hasattr(X, "tocsr"):
        raise TypeError("X is sparse, but all its numbers are needed here: give X.toarray()")
    given = _numbers(X)
    try:
        array = np.asarray(given, dtype=np.float64)
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


def aligned(labels: Any) -> tuple[Any, Any]:
    """Clusterings with their objects in one order, and the pandas index that tells it, if any does.

    An index that only counts from 0 tells nothing.
    """
    if _is_pandas(labels):
        return labels, None if _only_counts(labels.index) else labels.index
    if isinstance(labels, Mapping):
        items, index = _in_one_order(labels)
        return items, index
    if _is_list(labels) or isinstance(labels, Iterator):
        items, index = _in_one_order({str(i): item for i, item in enumerate(labels)})
        return list(items.values()), index
    return labels, None


def along(values: Any, index: Any, what: str, by: str = "the labels") -> Any:
    """A pandas Series in the order of ``index``; other things as they are."""
    values = _indexed(values)
    if index is None or not _has_index(values):
        return values
    return _reordered(values, index, what, by)


def along_ensemble(labels: Any, made: Ensemble, what: str) -> Any:
    """A pandas Series in the order of the objects of an ensemble that has names for them."""
    labels, ids = _indexed(labels), made.ids
    if ids is None or not _has_index(labels) or _only_counts(labels.index):
        return labels
    named = labels.set_axis([str(name) for name in labels.index])
    return _reordered(named, type(named.index)(ids), what, "the ensemble")


def by_name(order: Any, names: list[str], what: str) -> list[int]:
    """Where each of ``names`` stands in ``order``, which must hold the same names."""
    given = [str(name) for name in order]
    strange = [name for name in given if name not in names]
    absent = [name for name in names if name not in given]
    if strange or absent or len(given) != len(names):
        told = [f"there is no clustering {_listed(strange)}"] if strange else []
        told += [f"{_listed(absent)} {'is' if len(absent) == 1 else 'are'} missing"] if absent else []
        raise ValueError(
            f"{what} must name the same clusterings as the fit: "
            f"{' and '.join(told) or 'one is named twice'}; without names they go by their order"
        )
    return [given.index(name) for name in names]


def mapped(values: Any) -> Mapping[Any, Any] | None:
    """What is given by name: a mapping, or a pandas Series with an index of its own."""
    if isinstance(values, Mapping):
        return values
    return dict(values.items()) if _has_index(values) and not _only_counts(values.index) else None


def only_numbered(names: list[str]) -> bool:
    """Whether clusterings have no names but their numbers, if any."""
    return names == [str(i) for i in range(len(names))]


def _indexed(labels: Any) -> Any:
    """The labels of a result as a pandas Series if its objects have an index; other things as they are."""
    index = getattr(labels, "_index", None)
    if index is None or not hasattr(labels, "labels_"):
        return labels
    import pandas

    return pandas.Series(labels.labels_, index=index)


def _in_one_order(items: Mapping[Any, Any]) -> tuple[dict[Any, Any], Any]:
    items = {name: _indexed(item) for name, item in items.items()}
    indexed = {name: item for name, item in items.items() if _has_index(item)}
    if not indexed:
        return dict(items), None
    first, leader = next(iter(indexed.items()))
    by = f"member `{first}`"
    found = {
        name: _reordered(item, leader.index, f"labels: member `{name}`", by)
        if name in indexed
        else item
        for name, item in items.items()
    }
    return found, None if _only_counts(leader.index) else leader.index


def _reordered(values: Any, index: Any, what: str, by: str) -> Any:
    """``values`` in the order of ``index``, if it is clear that they are about the same objects."""
    own = values.index
    counted = _only_counts(own), _only_counts(index)
    if own.equals(index) or all(counted):
        return values
    # Where an index only counts, names cannot be told from positions.
    if not any(counted) and own.is_unique and index.is_unique and len(own) == len(index):
        if len(own.difference(index)) == 0:
            return values.reindex(index)
    raise ValueError(
        f"{what} has another index than {by}: join them with pandas.concat([...], axis=1) if the "
        "index names the objects, or give .to_numpy() of each if they stand in the same order"
    )


def _has_index(values: Any) -> bool:
    """Whether this is a Series or DataFrame of pandas."""
    return _package(values) == "pandas" and hasattr(values, "reindex") and hasattr(values, "index")


def _only_counts(index: Any) -> bool:
    """Whether an index is the one that pandas gives to a table without one."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _package(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def _refuse(labels: Any, what: str) -> None:
    """Says what to do with things that are close to labels."""
    if isinstance(labels, os.PathLike):
        raise TypeError(f"{what} is a path: consilience.read(path) reads files")
    if isinstance(labels, (set, frozenset)):
        raise TypeError(f"{what} is a set, which has no order: give a list or an array")
    if hasattr(labels, "tocsr"):
        raise TypeError(f"{what} is sparse: labels are given as an array, .toarray()")
    if _package(labels) == "polars" and type(labels).__name__ == "LazyFrame":
        raise TypeError(f"{what} is a LazyFrame: give .collect()")
    if callable(getattr(labels, "fit", None)) and not hasattr(labels, "labels_"):
        raise TypeError(f"{what} {_instead_of(labels)}")


def _instead_of(clusterer: Any) -> str:
    """What to give instead of a clusterer without labels."""
    if isinstance(clusterer, type):
        return f"is the class {clusterer.__name__}: give labels, {clusterer.__name__}().fit_predict(X)"
    name = type(clusterer).__name__
    if hasattr(clusterer, "__sklearn_is_fitted__"):
        fitted = clusterer.__sklearn_is_fitted__()
    else:
        # By the convention of scikit-learn, what a fit has found ends in an underscore.
        fitted = any(known.endswith("_") and known[0] != "_" for known in vars(clusterer))
    if not fitted:
        return f"is a {name} that is not fitted: give its labels, clusterer.fit_predict(X)"
    if hasattr(clusterer, "predict_proba"):
        return (
            f"is a {name}, which keeps no labels: give mixture.predict(X), or its memberships, "
            "mixture.predict_proba(X)"
        )
    return f"is a {name}, which keeps no labels: give clusterer.predict(X)"


def builder(labels: Any, missing: Any = MISSING) -> Builder:
    """A builder that holds the members of a label table."""
    into = Builder(_missing(missing))
    _refuse(labels, "labels")
    labels, _ = aligned(labels)
    if _is_pandas(labels):
        for name, column in labels.items():
            _add_series(into, str(name), column)
    # An array may offer a stream of its elements, one after the other.
    elif hasattr(labels, "__arrow_c_stream__") and not hasattr(labels, "dtype"):
        into.add_stream(labels)
    elif isinstance(labels, Mapping):
        for name, clustering in labels.items():
            _add(into, str(name), clustering)
    elif _is_list(labels):
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
    _add(into, name, labels, dimensions=(1,))
    return into.finish()


def pair(a: Any, b: Any, missing: Any = MISSING) -> Ensemble:
    """An ensemble of two clusterings."""
    into = Builder(_missing(missing))
    both, _ = _in_one_order({"a": a, "b": b})
    for name, labels in both.items():
        _add(into, name, labels, dimensions=(1,))
    return into.finish()


def _missing(missing: Any) -> Missing:
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        missing = (missing,)
    found: Missing = {"integers": [], "texts": []}
    for token in missing:
        if token is None or (isinstance(token, (float, np.floating)) and math.isnan(token)):
            continue
        if isinstance(token, str):
            found["texts"].append(token)
            # Labels of one file are texts in one column and numbers in another.
            if re.fullmatch(r"-?\d{1,18}", token):
                found["integers"].append(int(token))
        elif isinstance(token, (int, np.integer)) or (
            isinstance(token, (float, np.floating)) and token.is_integer()
        ):
            found["integers"].append(int(token))
        else:
            raise TypeError(
                f"missing must hold integers, texts or None, got {type(token).__name__}"
            )
    return found


def _is_list(labels: Any) -> bool:
    return isinstance(labels, Sequence) and not isinstance(labels, (str, bytes, memoryview))


def _is_pandas(labels: Any) -> bool:
    return _package(labels) == "pandas" and hasattr(labels, "columns")


def _as_array(labels: Any, what: str) -> np.ndarray[Any, Any]:
    if labels is None or isinstance(labels, (str, bytes, int, float)):
        files = "; consilience.read(path) reads files" if isinstance(labels, str) else ""
        raise TypeError(f"{what} must be a table of labels, got {type(labels).__name__}{files}")
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
    _refuse(clustering, f"labels: member `{name}`")
    if _package(clustering) == "pandas" and hasattr(clustering, "dtype"):
        _add_series(into, name, clustering)
        return
    if _is_list(clustering):
        array = _of_list(clustering)
    elif _package(clustering) == "polars":
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
    """A column of pandas, or an array of its own such as Categorical."""
    if not hasattr(column, "index"):
        import pandas

        column = pandas.Series(column)
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
