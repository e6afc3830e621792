"""Columns of Spark tables: found, checked, and given names that nothing can go wrong with."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from uuid import uuid4

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from consilience.spark._workers import Shipped

_LABELS = (T.IntegralType, T.FloatType, T.DoubleType, T.StringType, T.BooleanType, T.NullType)
_NUMBERS = (T.NumericType,)


def check_frame(df: Any) -> DataFrame:
    """The argument, if it is a Spark table."""
    # Tables of Spark Connect have the class's methods, not the class.
    if not (hasattr(df, "mapInArrow") and hasattr(df, "schema")):
        raise TypeError(f"df must be a Spark DataFrame, got {type(df).__name__}")
    frame: DataFrame = df
    return frame


def names_of(names: Any, what: str) -> list[str]:
    """A list of column names."""
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, Sequence):
        raise TypeError(f"{what} must be a list of column names, got {type(names).__name__}")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{what} must hold column names, got {type(name).__name__}")
    if not found:
        raise ValueError(f"{what} must name at least one column")
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise ValueError(f"{what} names column {twice[0]!r} twice")
    return found


def check_columns(df: DataFrame, names: Sequence[str], what: str) -> None:
    """Refuses columns that are not there, or there twice."""
    for name in names:
        times = df.columns.count(name)
        if times == 0:
            there = ", ".join(df.columns) or "none"
            raise ValueError(f"{what}: there is no column {name!r}; there are {there}")
        if times > 1:
            raise ValueError(f"{what}: there are {times} columns {name!r}: rename them")


def check_labels(df: DataFrame, names: Sequence[str], what: str = "labels") -> None:
    """Refuses columns that cannot hold labels."""
    check_columns(df, names, what)
    for name in names:
        kind = df.schema[name].dataType
        if not isinstance(kind, _LABELS):
            raise TypeError(
                f"{what}: column `{name}` holds {kind.simpleString()}: labels are texts or integers"
            )


def check_numbers(df: DataFrame, names: Sequence[str], what: str) -> None:
    """Refuses columns that do not hold numbers."""
    check_columns(df, names, what)
    for name in names:
        kind = df.schema[name].dataType
        if not isinstance(kind, _NUMBERS):
            raise TypeError(f"{what}: column `{name}` holds {kind.simpleString()}: numbers are needed")


def check_new(df: DataFrame, carried: Sequence[str], new: Sequence[str]) -> None:
    """Refuses to write over columns."""
    for name in new:
        if name in carried:
            raise ValueError(
                f"the table has a column {name!r} already: drop it, or give id=... so that only the "
                "identifier is carried along"
            )


def carried_columns(df: DataFrame, id: str | Sequence[str] | None) -> list[str]:
    """The columns that come out again: the identifiers, or all."""
    if id is None:
        check_columns(df, df.columns, "df")
        return list(df.columns)
    names = names_of(id, "id")
    check_columns(df, names, "id")
    return names


def column(name: str) -> Column:
    """A column by its exact name, whatever characters it has."""
    escaped = name.replace("`", "``")
    return F.col(f"`{escaped}`")


def numbered(df: DataFrame, columns: Sequence[Column]) -> DataFrame:
    """These columns under the names c0, c1, ..."""
    return df.select(*(c.alias(f"c{i}") for i, c in enumerate(columns)))


def shared(df: DataFrame, value: Any) -> Any:
    """What gives ``value`` to the workers of a table, as its attribute of that name."""
    session = df.sparkSession
    if not type(session).__module__.startswith("pyspark.sql.connect"):
        return session.sparkContext.broadcast(value)
    # Clients of Spark Connect cannot broadcast, and messages are limited: a file goes along instead.
    name = f"consilience-{uuid4().hex}.pickle"
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(pickle.dumps(value, protocol=5))
        session.addArtifacts(str(file), file=True)
    return Shipped(name)


@dataclass(frozen=True)
class Features:
    """Columns of numbers, of arrays or of vectors, side by side as one table of features."""

    names: tuple[str, ...]
    #: How many numbers the arrays or vectors of a column have; None for a column of numbers.
    widths: tuple[int | None, ...]

    @classmethod
    def of(cls, df: DataFrame, features: Any) -> Self:
        """The features in these columns; how wide arrays are is asked of the table."""
        names = names_of(features, "features")
        arrays = [name for name in names if _is_array(df, name)]
        widths: dict[str, int] = {}
        if arrays:
            sizes = [F.size(_array(df, name)) for name in arrays]
            found = [c.alias(f"{i}{e}") for i, s in enumerate(sizes) for c, e in _ends(s)]
            row = df.agg(*found).collect()[0]
            for i, name in enumerate(arrays):
                least, most = row[f"{i}least"], row[f"{i}most"]
                if least != most:
                    raise ValueError(
                        f"features: column `{name}` has rows of {max(least, 0)} to {most} numbers: all "
                        "must have as many"
                    )
                widths[name] = max(most or 0, 0)
        return cls(tuple(names), tuple(widths.get(name) for name in names))

    def columns(self, df: DataFrame) -> list[Column]:
        """One column of doubles for every feature."""
        found: list[Column] = []
        for name, width in zip(self.names, self.widths, strict=True):
            if width is None:
                check_numbers(df, [name], "features")
                found.append(column(name).cast("double"))
            elif not _is_array(df, name):
                kind = df.schema[name].dataType.simpleString()
                raise TypeError(f"features: column `{name}` holds {kind}: {width} numbers are needed")
            else:
                array = _array(df, name)
                # Too long a row must not pass for the first numbers of it.
                array = F.when(F.size(array) == F.lit(width), array)
                found += [F.get(array, F.lit(i)).cast("double") for i in range(width)]
        return found

    def keys(self, df: DataFrame) -> list[Column]:
        """The columns as they are, by which rows are told apart."""
        given = zip(self.names, self.widths, strict=True)
        return [column(name) if width is None else _array(df, name) for name, width in given]

    def count(self, df: DataFrame) -> int:
        """The number of rows; refuses features that are missing or not finite."""
        of = [
            name
            for name, width in zip(self.names, self.widths, strict=True)
            for _ in range(1 if width is None else width)
        ]
        values = self.columns(df)
        gone = [v.isNull() | F.isnan(v) | (F.abs(v) == F.lit(float("inf"))) for v in values]
        counts = [F.sum(F.when(g, 1).otherwise(0)).alias(f"g{i}") for i, g in enumerate(gone)]
        row = df.agg(F.count(F.lit(1)).alias("n"), *counts).collect()[0]
        n = int(row["n"])
        for i, name in enumerate(of):
            bad = int(row[f"g{i}"] or 0)
            if bad:
                raise ValueError(
                    f"features: column `{name}`: {bad} of {n} values are missing or not finite: fill "
                    "them in or leave these rows out"
                )
        return n


def _is_array(df: DataFrame, name: str) -> bool:
    """Whether a column holds arrays of numbers or vectors; refuses what holds no numbers at all."""
    check_columns(df, [name], "features")
    kind = df.schema[name].dataType
    if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, _NUMBERS):
        return True
    if type(kind).__name__ == "VectorUDT":
        return True
    check_numbers(df, [name], "features")
    return False


def _array(df: DataFrame, name: str) -> Column:
    """A column of arrays or vectors as arrays."""
    if isinstance(df.schema[name].dataType, T.ArrayType):
        return column(name)
    from pyspark.ml.functions import vector_to_array

    return vector_to_array(column(name))


def _ends(size: Column) -> list[tuple[Column, str]]:
    return [(F.min(size), "least"), (F.max(size), "most")]
