"""Label tables from files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from consilience import _native
from consilience._circumstances import Progress, circumstances
from consilience._native import Ensemble


def read(
    path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    id: str | None = None,
    weights: str | None = None,
    drop: str | Iterable[str] = (),
    missing: str | None = None,
    noise: str = "missing",
    header: bool = True,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> Ensemble:
    """Reads clusterings from files, as the command line does.

    One row per object, one column per clustering. Labels are any text or integers; missing ones are
    empty, NA, NaN or, among integers, -1. Columns named ``NAME:CLUSTER`` hold the memberships of a
    soft clustering.

    Parameters
    ----------
    path_or_paths : path or sequence of paths
        Tables: .csv, .tsv, .parquet, .npy or .arrow, text also .gz. Several are joined on ``id``, or
        stand side by side.
    id : str, optional
        The column that identifies objects. The ensemble holds it as ``ids``.
    weights : str, optional
        The column of object weights, or a file with one number per row.
    drop : str or sequence of str, optional
        Columns that are no clusterings.
    missing : str, optional
        A further spelling of a missing label.
    noise : "missing" or "cluster", default "missing"
        What -1 is among integers: HDBSCAN and BERTopic call objects so that they leave out. That it is
        read as missing is warned of.
    header : bool, default True
        Whether the first line of text names the columns.
    n_jobs, progress, memory
        As in :func:`consensus`.

    Returns
    -------
    Ensemble

    Raises
    ------
    OSError
        If a file cannot be opened.
    ValueError
        If a file holds something else; the message says where.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import consilience as co
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "labels.csv")
    ...     _ = file.write_text("name,a,b\\nx,0,p\\ny,0,p\\nz,1,\\n")
    ...     e = co.read(file, id="name")
    >>> e, e.ids
    (<consilience.Ensemble: 2 clusterings of 3 objects>, ['x', 'y', 'z'])
    >>> co.consensus(e, n_clusters=2).labels_
    array([0, 0, 1])
    """
    if isinstance(path_or_paths, (str, os.PathLike)):
        path_or_paths = [path_or_paths]
    if noise not in ("missing", "cluster"):
        raise ValueError(f'noise must be "missing" or "cluster", got {noise!r}')
    paths = [Path(path) for path in path_or_paths]
    if not paths:
        raise ValueError("path_or_paths must name at least one file")
    for path in paths:
        # What the operating system says of a file is an error of Python's own.
        path.open("rb").close()
    options: dict[str, Any] = {
        "id": id,
        "weights": weights,
        "drop": [drop] if isinstance(drop, str) else list(drop),
        "header": bool(header),
        "missing": missing,
        "noise_is_a_cluster": noise == "cluster",
    }
    made, messages = _native.read(paths, options, circumstances(0, n_jobs, progress, memory))
    for message in messages:
        warnings.warn(message, UserWarning, stacklevel=2)
    return made
