"""Columns of Spark tables: found, checked, and given names that nothing can go wrong with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

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


def count_rows(df: DataFrame, features: Sequence[str]) -> int:
    """The number of rows; refuses features that are missing or not finite."""
    values = [column(name).cast("double") for name in features]
    gone = [v.isNull() | F.isnan(v) | (F.abs(v) == F.lit(float("inf"))) for v in values]
    counts = [F.sum(F.when(g, 1).otherwise(0)).alias(f"g{i}") for i, g in enumerate(gone)]
    row = df.agg(F.count(F.lit(1)).alias("n"), *counts).collect()[0]
    n = int(row["n"])
    for i, name in enumerate(features):
        bad = int(row[f"g{i}"] or 0)
        if bad:
            raise ValueError(
                f"features: column `{name}`: {bad} of {n} values are missing or not finite: fill them "
                "in or leave these rows out"
            )
    return n
