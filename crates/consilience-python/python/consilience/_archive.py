"""Results in files: NumPy archives of plain arrays and a description in JSON."""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from consilience._circumstances import ceiling
from consilience._native import Profiles

T = TypeVar("T")

#: The version of the file format of :meth:`ConsensusResult.save`.
_FORMAT = 1

#: What reading a damaged archive can end in.
_DAMAGED = (
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)

#: What to do about a file of another kind.
_INSTEAD = "give a file that ConsensusResult.save wrote; consilience.read(path) reads tables of labels"

#: What of an answer goes into the description, and what into arrays of its own.
_PLAIN = (
    "n_clusters",
    "method",
    "reason",
    "number",
    "k_criteria",
    "params",
    "objective",
    "iterations",
    "stop",
    "anmi",
    "seed",
    "asked",
    "call",
    "made",
    "ids",
    "leaderboard",
    "names",
)
_ARRAYS = ("labels", "confidence", "profile_labels", "trace")
_OPTIONAL = ("coverage", "profile_membership", "merges", "affinity")


def write(path: str | Path, answer: dict[str, Any], copies: list[int] | None) -> None:
    """Writes an answer, and how often each clustering counts, if they differ."""
    arrays, head = _packed(answer, copies)
    with whole_or_not_at_all(Path(path)) as file:
        np.savez_compressed(file, head=np.array(json.dumps(head)), **arrays)


def read(path: str | Path, make: Callable[[dict[str, Any], list[int] | None], T]) -> T:
    """What ``make`` makes of what :func:`write` wrote; where that fails, the file is damaged."""
    # What the system says of the file itself is an error of Python's own.
    with Path(path).open("rb") as file:
        try:
            start = file.read(6)
            file.seek(0)
            # An archive, or one array; of anything else NumPy says that it may be pickled.
            if start[:2] != b"PK" and start != b"\x93NUMPY":
                raise ValueError(f"it is no NumPy archive; {_INSTEAD}")
            if start[:2] == b"PK":
                _refuse_what_does_not_fit(path, file)
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it holds one array, and not what ConsensusResult.save writes")
            arrays = {name: archive[name] for name in archive.files}
            head = json.loads(str(arrays.pop("head")[()]))
            if head["format"] != _FORMAT:
                raise ValueError(f"its format is {head['format']}, this version reads {_FORMAT}")
            return make(_unpacked(arrays, head), head["copies"])
        except _DAMAGED as error:
            reason = f"it holds Python objects; {_INSTEAD}" if "pickle" in str(error) else error
            raise ValueError(f"{path} is no saved consensus: {reason}") from error


def _refuse_what_does_not_fit(path: str | Path, file: IO[bytes]) -> None:
    """Refuses an archive before it is unpacked: another kind of archive, a few bytes that stand for more than the machine
    has, and arrays that claim more than there is of them.
    """
    limit = ceiling()
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        names = [entry.filename.removesuffix(".npy") for entry in entries]
        if "head" not in names:
            holds = ", ".join(names) or "nothing"
            raise ValueError(f"it holds {holds}, and not what ConsensusResult.save writes")
        for entry in entries:
            # No byte of what deflate packs stands for more.
            if entry.file_size > 1032 * entry.compress_size + 1032:
                raise ValueError(f"{entry.filename} claims more bytes than can be packed into it")
        # The arrays as they are read, and what is made of them.
        needed = 2 * sum(entry.file_size for entry in entries)
        if needed > limit:
            raise MemoryError(f"{path} would need {needed} bytes of memory, but the ceiling is {limit}")
        for entry in entries:
            with archive.open(entry) as array:
                version = np.lib.format.read_magic(array)
                read_head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, kind = read_head(array)
                claimed = kind.itemsize
                for side in shape:
                    claimed *= side
                if claimed > entry.file_size and not kind.hasobject:
                    raise ValueError(f"its array {entry.filename} claims {claimed} bytes, but has {entry.file_size}")
    file.seek(0)


def write_state(file: IO[bytes], state: Any) -> None:
    """Writes what a native object tells of itself for pickling: tuples of arrays, numbers and texts."""
    arrays: dict[str, Any] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [plain(entry) for entry in value]
        if isinstance(value, np.ndarray):
            name = f"array.{len(arrays)}"
            arrays[name] = value
            return {"array": name}
        return value.item() if isinstance(value, np.generic) else value

    head = json.dumps({"format": _FORMAT, "state": plain(state)})
    np.savez_compressed(file, head=np.array(head), **arrays)


def read_state(file: IO[bytes]) -> Any:
    """What :func:`write_state` wrote. Nothing in it is executed."""
    _refuse_what_does_not_fit("what was saved", file)
    with np.load(file, allow_pickle=False) as archive:
        head = json.loads(str(archive["head"][()]))
        if head["format"] != _FORMAT:
            raise ValueError(f"its format is {head['format']}, this version reads {_FORMAT}")

        def told(value: Any) -> Any:
            if isinstance(value, list):
                return tuple(told(entry) for entry in value)
            return archive[value["array"]] if isinstance(value, dict) else value

        return told(head["state"])


def _packed(
    answer: dict[str, Any], copies: list[int] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    head = {name: answer[name] for name in _PLAIN}
    head["index"] = _plain_index(answer["index"])
    head["format"], head["copies"] = _FORMAT, copies
    head["per_member"] = list(answer["per_member"])
    arrays = {name: answer[name] for name in _ARRAYS}
    arrays |= {name: answer[name] for name in _OPTIONAL if answer.get(name) is not None}
    head["correspondence"] = answer["correspondence"] is not None
    for i, matrix in enumerate(answer["correspondence"] or []):
        arrays[f"correspondence.{i}"] = matrix
    members, weights, where = answer["profiles"].state()
    head["members"] = [[name, clusters] for name, clusters, _ in members]
    for i, (_, _, values) in enumerate(members):
        arrays[f"member.{i}"] = values
    arrays["weights"], arrays["map"] = weights, where
    head["diagnostics"] = {}
    for name, value in answer["diagnostics"].items():
        if isinstance(value, np.ndarray):
            head["diagnostics"][name] = ["array", None]
            arrays[f"diagnostic.{name}"] = value
        elif isinstance(value, dict):
            head["diagnostics"][name] = ["table", list(value)]
            for column, values in value.items():
                arrays[f"diagnostic.{name}.{column}"] = values
        else:
            head["diagnostics"][name] = ["value", value]
    return arrays, head


def _unpacked(arrays: dict[str, Any], head: dict[str, Any]) -> dict[str, Any]:
    # Files of the first version without names go by the order of clusterings.
    head.setdefault("names", [])
    head.setdefault("number", None)
    answer = {name: head[name] for name in (*_PLAIN, "per_member")}
    answer["index"] = _index(head["index"])
    answer |= {name: arrays[name] for name in _ARRAYS}
    answer |= {name: arrays.get(name) for name in _OPTIONAL}
    answer["correspondence"] = (
        [arrays[f"correspondence.{i}"] for i in range(len(head["members"]))]
        if head["correspondence"]
        else None
    )
    members = [
        (name, clusters, arrays[f"member.{i}"])
        for i, (name, clusters) in enumerate(head["members"])
    ]
    profiles = Profiles._from_state(members, arrays["weights"], arrays["map"])
    if not len(answer["labels"]) == len(answer["confidence"]) == profiles.n_objects:
        raise ValueError("its labels do not fit to its objects")
    if len(answer["profile_labels"]) != len(profiles):
        raise ValueError("its labels do not fit to its profiles")
    answer["profiles"] = profiles
    answer["diagnostics"] = {}
    for name, (kind, value) in head["diagnostics"].items():
        if kind == "array":
            value = arrays[f"diagnostic.{name}"]
        elif kind == "table":
            value = {column: arrays[f"diagnostic.{name}.{column}"] for column in value}
        answer["diagnostics"][name] = value
    return answer


def _plain_index(index: Any) -> list[Any] | None:
    """The name and the values of an index of pandas."""
    if index is None:
        return None
    whole = getattr(index.dtype, "kind", "O") in "iu"
    return [None if index.name is None else str(index.name), [int(i) if whole else str(i) for i in index]]


def _index(plain: list[Any] | None) -> Any:
    """The index that :func:`_plain_index` told of; a list of names where there is no pandas."""
    if plain is None:
        return None
    try:
        import pandas
    except ImportError:
        return plain[1]
    return pandas.Index(plain[1], name=plain[0])


@contextmanager
def whole_or_not_at_all(target: Path) -> Iterator[IO[bytes]]:
    """A file under another name, which it changes for ``target`` once it is complete."""
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target} cannot be written: there is no folder {target.parent}")
    # A name that nobody can have put a link at, and as readable as other files.
    handle, name = tempfile.mkstemp(prefix=".consilience-", suffix=".part", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            temporary.chmod(0o666 & ~_umask())
            yield file
            # After a power cut there is the new file or the old one, and none that is empty.
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """What permissions new files do not get. Where the system tells, it need not be set to be known: other threads make
    files meanwhile.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    except OSError:
        pass
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
