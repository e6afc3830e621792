"""The answer of a consensus method."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from consilience import _native
from consilience._archive import read, whole_or_not_at_all, write
from consilience._circumstances import ceiling, circumstances
from consilience._inputs import MISSING, builder, by_name, columns_of, features, only_numbered, refuse_gaps
from consilience._native import Builder, Ensemble, Profiles

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

#: How sentences of a verdict are marked.
_MARKS = {"good": "&#10003;", "caution": "!", "weak": "&#10007;"}


@dataclass(frozen=True)
class Vote:
    """What one clustering says about an object."""

    member: str
    #: The object's cluster there, by name; None if it has no label.
    cluster: str | None
    #: The consensus cluster that holds most of that cluster; None if the object has no label.
    vote: int | None
    #: The share of that cluster in every consensus cluster.
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Explanation:
    """Why an object is in its cluster."""

    label: int
    confidence: float
    votes: tuple[Vote, ...]
    #: The members' support of every consensus cluster, averaged.
    support: tuple[float, ...]
    #: The cluster with the largest support besides the object's own; None if there is no other.
    second: int | None
    #: How much more support the object's own cluster has than the second choice.
    margin: float

    def __str__(self) -> str:
        lines = [f"cluster {self.label}, confidence {self.confidence:.3f}, margin {self.margin:.3f}"]
        if self.second is not None:
            lines[0] += f" over cluster {self.second}"
        for vote in self.votes:
            if vote.vote is None:
                lines.append(f"  {vote.member}: no label")
            else:
                share = vote.shares[vote.vote]
                lines.append(
                    f"  {vote.member}: cluster {vote.cluster}, {share:.0%} of it in {vote.vote}"
                )
        return "\n".join(lines)


class ConsensusResult:
    """One clustering out of many, and what is known about it.

    Attributes
    ----------
    labels_ : (n,) array of int64
        The cluster of every object, numbered from 0 by falling size; -1 where there is none.
    confidence_ : (n,) array of float
        How likely each object is of the class that most objects of its cluster are of, in [0, 1]; 0
        where there is no label. Calibrated on many data sets: of the objects with confidence 0.8 about
        80 % are.
    coverage_ : (n,) array of float
        The share of the clusterings that label each object; 1 where no label is missing.
    n_clusters_ : int
        The number of clusters.
    method_ : str
        The method, and ``reason_`` why "auto" took it (None if it was named).
    number_ : dict or None
        How many clusters the features speak for, if there were any and it was looked for: ``k``,
        ``clarity`` ("clear", "unclear" or "none"), ``depth`` of the deepest gap in units of the deepest
        in data without clusters, the ``evidence`` for every number, and ``levels``: smaller numbers of
        larger groups that the clusters lie in.
    k_criteria_ : dict or None
        What the clusterings say of which number of clusters, if it was looked for: ``recommended``,
        ``runner_up``, ``reason``, ``rules``, ``evidence`` (whether there are clusters at all) and the
        curves that the rules look at.
    params_ : dict
        The parameters in force.
    correspondence_ : list of (k_h, k) arrays, or None
        For each member the shares of its clusters that go to the consensus clusters; the rows are the
        clusters that ``clusters_`` names.
    leaderboard_ : list of dict, or None
        Of several methods that were run side by side, those with as many clusters as were asked for
        first, then by agreement with the clusterings: ``method``, ``k``, ``anmi``,
        ``agreement`` (with the answers of the others), or the ``problem`` that it had.
    objective_ : float or None
        The final value of the method's objective.
    trace_ : array
        The objective after every iteration.
    stop_ : str
        Why the computation ended: "done", "converged" or "max-iterations".
    n_iter_ : int
        The number of iterations.
    diagnostics_ : dict
        What else the method tells.
    anmi_ : float
        Average normalised mutual information with the members.
    n_unique_ : int
        The number of distinct label tuples, on which the computation ran.
    """

    def __init__(self, answer: dict[str, Any], *, copies: list[int] | None = None) -> None:
        self._answer = answer
        self._copies = copies
        self._profiles: Profiles = answer["profiles"]
        self.labels_: Integers = answer["labels"]
        self.confidence_: Floats = answer["confidence"]
        coverage: Floats | None = answer.get("coverage")
        self.coverage_: Floats = np.ones(len(self.labels_)) if coverage is None else coverage
        self.n_clusters_: int = answer["n_clusters"]
        self.method_: str = answer["method"]
        self.reason_: str | None = answer["reason"]
        number = answer.get("number")
        self.number_: dict[str, Any] | None = None if number is None else json.loads(number)
        criteria = answer["k_criteria"]
        self.k_criteria_: dict[str, Any] | None = None if criteria is None else json.loads(criteria)
        self.params_: dict[str, Any] = {n: _typed(t) for n, t in answer["params"].items()}
        self.objective_: float | None = answer["objective"]
        self.trace_: Floats = answer["trace"]
        self.n_iter_: int = answer["iterations"]
        self.stop_: str = answer["stop"]
        self.anmi_: float = answer["anmi"]
        self.n_unique_: int = len(self._profiles)
        board = answer["leaderboard"]
        self.leaderboard_: list[dict[str, Any]] | None = (
            None if board is None else json.loads(board)["methods"]
        )
        first = self._first_copies()
        matrices = answer["correspondence"]
        self.correspondence_: list[Floats] | None = (
            None if matrices is None else [matrices[i] for i in first]
        )
        per_member = set(answer["per_member"])
        self.diagnostics_: dict[str, Any] = {
            name: value[first] if name in per_member else value
            for name, value in answer["diagnostics"].items()
        }

    def _first_copies(self) -> list[int]:
        """Where each clustering stands first among the weighted ones."""
        if self._copies is None:
            return list(range(len(self._profiles.names)))
        ends = np.cumsum(self._copies)
        return [int(e - c) for e, c in zip(ends, self._copies, strict=True) if c > 0]

    @cached_property
    def _map(self) -> Integers:
        return self._profiles.map

    @property
    def _index(self) -> Any:
        """What pandas calls the objects."""
        return self._answer["index"]

    @property
    def members_(self) -> list[str]:
        """The names of the clusterings."""
        names = self._profiles.names
        return [names[i] for i in self._first_copies()]

    @property
    def clusters_(self) -> list[list[str]]:
        """For each clustering the names of its clusters, in the order of ``correspondence_``'s rows.

        Examples
        --------
        >>> import consilience as co
        >>> labels = {"site 1": ["x", "x", "y"], "site 2": [7, 5, 5]}
        >>> co.consensus(labels, method="scec", n_clusters=2).clusters_
        [['x', 'y'], ['7', '5']]
        """
        clusters = self._profiles.clusters
        return [clusters[i] for i in self._first_copies()]

    @cached_property
    def ids_(self) -> list[str] | None:
        """The names of the objects: their identifiers, or what the index of pandas calls them."""
        ids: list[str] | None = self._answer["ids"]
        index = self._answer["index"]
        return [str(name) for name in index] if ids is None and index is not None else ids

    @cached_property
    def membership_(self) -> Floats | None:
        """The soft consensus, (n, k), rows summing to 1; zeros where an object has no label, or weight 0
        and labels that no other object has.

        None if the method has none.
        """
        of_profiles: Floats | None = self._answer["profile_membership"]
        return None if of_profiles is None else _expanded(of_profiles, self._map, 0.0)

    @cached_property
    def linkage_(self) -> Floats | None:
        """The dendrogram over all objects in SciPy's layout, None if the method has none.

        Equal objects merge first, at height 0.
        """
        merges = self._answer["merges"]
        return None if merges is None else self._profiles.linkage(merges)

    def coassociation(self, rows: Any = None) -> Floats:
        """The share of clusterings that put two objects together.

        Where the method learns a consensus matrix of its own, that one is given.

        Parameters
        ----------
        rows : int or sequence of int, optional
            The objects whose rows are wanted; all by default, which makes an (n, n) matrix.

        Returns
        -------
        array
            One row for each object of ``rows`` and one column for each object; NaN where an object
            has no label at all, or weight 0 and labels that no other object has.

        Raises
        ------
        MemoryError
            If the matrix would not fit into most of the machine's memory.

        Examples
        --------
        >>> import consilience as co
        >>> result = co.consensus([[0, 0, 1], [0, 1, 1]])
        >>> result.coassociation(rows=[0])
        array([[1. , 0.5, 0. ]])
        """
        n = len(self._map)
        wanted = np.arange(n) if rows is None else np.atleast_1d(np.asarray(rows))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise TypeError("rows must be a list of object numbers")
        wanted = wanted.astype(np.int64)
        if wanted.size and (wanted.min() < -n or wanted.max() >= n):
            raise IndexError(f"rows must be between 0 and {n - 1}")
        needed, limit = 8 * len(wanted) * n, ceiling()
        if needed > limit:
            raise MemoryError(
                f"the co-association matrix would need {needed} bytes, but the ceiling is {limit}; "
                "ask for fewer rows"
            )
        of_rows = self._map[wanted]
        distinct = np.unique(of_rows[of_rows >= 0])
        learnt = self._answer["affinity"]
        matrix = (
            self._profiles.coassociation(distinct.tolist(), circumstances())
            if learnt is None
            else learnt[distinct]
        )
        at = np.where(of_rows >= 0, np.searchsorted(distinct, of_rows), -1)
        return _expanded(_expanded(matrix, at, np.nan).T, self._map, np.nan).T

    def explain(self, i: int | str) -> Explanation:
        """Who voted for what: why object ``i`` is in its cluster.

        A clustering votes by the object's cluster in it: for each consensus cluster with the share
        of that cluster's objects that lie there.

        Parameters
        ----------
        i : int or str
            The object: its position, counted from 0, or, as text, its name in ``ids_``.

        Examples
        --------
        >>> import consilience as co
        >>> result = co.consensus([[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
        >>> print(result.explain(2))
        cluster 0, confidence 0.875, margin 0.556 over cluster 1
          0: cluster 0, 100% of it in 0
          1: cluster 0, 100% of it in 0
          2: cluster 1, 67% of it in 1
        """
        n = len(self.labels_)
        i = self._position(i) if isinstance(i, str) else operator.index(i)
        if not -n <= i < n:
            raise IndexError(f"there is no object {i}: there are {n}")
        label, profile = int(self.labels_[i]), int(self._map[i])
        if profile < 0 <= label:
            raise ValueError(
                f"object {i} was left out (weight 0) and no other has its labels: nothing is known of it"
            )
        if profile < 0:
            nothing = tuple(Vote(name, None, None, ()) for name in self.members_)
            return Explanation(label, 0.0, nothing, (), None, 0.0)
        told, support = self._profiles.votes(
            profile, self._answer["profile_labels"], self.n_clusters_
        )
        names = self._profiles.names
        votes = []
        for h in self._first_copies():
            cluster, shares = told[h]
            vote = None if cluster is None else int(np.argmax(shares))
            votes.append(Vote(names[h], cluster, vote, tuple(shares)))
        others = [j for j in range(self.n_clusters_) if j != label]
        second = max(others, key=lambda j: support[j], default=None)
        own = support[label] if label >= 0 else 0.0
        return Explanation(
            label=label,
            confidence=float(self.confidence_[i]),
            votes=tuple(votes),
            support=tuple(support),
            second=second,
            margin=own - (0.0 if second is None else support[second]),
        )

    def _position(self, name: str) -> int:
        """Where the object of this name stands."""
        found = [i for i, known in enumerate(self.ids_ or []) if known == name]
        if len(found) == 1:
            return found[0]
        if self.ids_ is None:
            raise ValueError(f"the objects have no names, give the position of {name!r}, counted from 0")
        raise KeyError(f"{'no object' if not found else 'more than one object'} is called {name!r}")

    def predict(
        self, labels_new: Any, *, missing: Any = MISSING, n_jobs: int | None = None
    ) -> Integers:
        """The clusters of new objects that the same clusterings have labelled.

        An object with a known label tuple gets the cluster of that tuple; one with a new tuple that
        of the nearest known ones, by votes. Labels that a clustering never gave before count as
        missing.

        Parameters
        ----------
        labels_new : array, table, sequence, mapping or Ensemble
            The labels of the new objects. Clusterings with names (of a mapping or the columns of a
            table) are found by them, in any order, if those of the fit had names; otherwise they
            stand in the order of the fit.
        missing, n_jobs
            As in :func:`consensus`.

        Returns
        -------
        (m,) array of int64
            -1 where no label is known.

        Examples
        --------
        >>> import consilience as co
        >>> result = co.consensus([["a", "a", "b"], ["x", "x", "y"], ["p", "q", "r"]])
        >>> result.predict([["b", "a"], ["y", "x"], ["q", "p"]])
        array([1, 0])
        """
        return self._profiles.predict(
            self._new(labels_new, missing),
            self._answer["profile_labels"],
            self.n_clusters_,
            circumstances(n_jobs=n_jobs),
        )

    def support(
        self, labels_new: Any, *, missing: Any = MISSING, n_jobs: int | None = None
    ) -> Floats:
        """How much the clusterings support each consensus cluster for new objects.

        A clustering votes by the object's cluster in it: for each consensus cluster with the share
        of that cluster's objects that lie there. The votes are averaged over the clusterings that
        label the object.

        Parameters
        ----------
        labels_new, missing, n_jobs
            As in :meth:`predict`.

        Returns
        -------
        (m, k) array
            Rows of zeros where no label is known.

        Examples
        --------
        >>> import consilience as co
        >>> result = co.consensus([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]])
        >>> result.support([[0], [0], [1]]).round(3)
        array([[0.833, 0.167]])
        """
        return self._profiles.support(
            self._new(labels_new, missing),
            self._answer["profile_labels"],
            self.n_clusters_,
            circumstances(n_jobs=n_jobs),
        )

    def _new(self, labels: Any, missing: Any) -> Builder | Ensemble:
        """New labels as members, repeated as those of the fit were."""
        members = labels if isinstance(labels, (Builder, Ensemble)) else builder(labels, missing)
        given, names = members.names, self._answer["names"]
        order = list(range(len(given)))
        # A builder is our own, and its clusterings stand in order.
        by_order = isinstance(labels, Builder) or only_numbered(given) or only_numbered(names)
        if given != names and not by_order:
            order = by_name(given, names, "labels_new")
        if self._copies is not None:
            if len(order) != len(self._copies):
                raise ValueError(
                    f"labels_new has {len(order)} clusterings, but the fit had {len(self._copies)}"
                )
            order = [order[i] for i in repeated(self._copies)]
        return members if order == list(range(len(given))) else members.taken(order)

    @cached_property
    def verdict_(self) -> list[str]:
        """What the result comes to, in sentences: the words with which its report begins.

        Examples
        --------
        >>> import consilience as co
        >>> result = co.consensus([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]], n_clusters=2)
        >>> len(result.verdict_) > 0
        True
        """
        return [text for _, _, text in self._verdict]

    @cached_property
    def _verdict(self) -> list[tuple[str, str, str]]:
        return _native.verdict({**self._answer, "ids": self.ids_}, circumstances())

    @cached_property
    def _figures(self) -> dict[str, Any]:
        """What the figures of the report show."""
        shown: dict[str, Any] = json.loads(
            _native.figures({**self._answer, "ids": self.ids_}, circumstances(self._answer["seed"]))
        )
        return shown

    def report(
        self,
        path: str | Path,
        *,
        X: Any = None,
        title: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """Writes a page on the result: the verdict, figures, and a paragraph for a paper.

        One HTML file, the same as the command line's. It is complete in itself: it can be mailed,
        archived and opened without a network. A file that is there already is replaced.

        Parameters
        ----------
        path : path
            Where the page goes, such as "report.html"; endings other than .html and .htm are refused.
        X : (n, d) array or frame of numbers, optional
            The features of the objects, from which the page shows them in two dimensions.
        title : str, optional
            What the data are called.
        n_jobs : int, optional
            The number of threads; None means all cores.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import consilience as co
        >>> result = co.consensus([[0, 0, 1], [0, 0, 1], [0, 1, 1]], n_clusters=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = pathlib.Path(folder, "report.html")
        ...     result.report(page, title="Three objects")
        ...     page.read_text(encoding="utf-8")[:15]
        '<!DOCTYPE html>'
        """
        ending = Path(path).suffix
        if ending.lower() not in ("", ".html", ".htm"):
            raise ValueError(
                f"path ends in {ending!r}, but the report is an HTML page: give a name that ends in .html"
            )
        features = None if X is None else _features(X)
        answer = {**self._answer, "ids": self.ids_}
        page = _native.report(
            answer, json.dumps(self._record(title)), features, circumstances(n_jobs=n_jobs)
        )
        with whole_or_not_at_all(Path(path)) as file:
            file.write(page.encode())

    def _record(self, title: str | None) -> dict[str, Any]:
        """What the page is told besides the result itself, as the command line stores it."""
        answer = self._answer
        made = answer["made"]
        sizes = np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_clusters_)
        return {
            "title": title,
            "version": _native.__version__,
            "seed": answer["seed"],
            "command": {"call": answer["call"], "k": answer["asked"]},
            "data": {"features": [str(j) for j in range(0 if made is None else made["features"])]},
            "ensemble": made or {},
            "consensus": {
                "n": len(self.labels_),
                "clusterings": len(self.members_),
                "unique": self.n_unique_,
                "method": self.method_,
                "params": self.params_,
                "k": self.n_clusters_,
                "sizes": sizes.tolist(),
                "anmi": self.anmi_,
                "trace": [x for x in self.trace_.tolist() if math.isfinite(x)],
                "leaderboard": None if answer["leaderboard"] is None else json.loads(answer["leaderboard"]),
            },
        }

    def to_frame(self) -> Any:
        """Labels, confidence, coverage where labels are missing, and memberships as a pandas or polars
        frame, whichever is installed.

        The index is that of the pandas table that was combined. Identifiers that were read from a file
        come first, as column ``id``; so does the index in a polars frame.
        """
        index = self._answer["index"]
        try:
            import pandas
        except ImportError:
            pandas = None  # type: ignore[assignment]
        named = self.ids_ is not None and (index is None or pandas is None)
        columns: dict[str, Any] = {"id": self.ids_} if named else {}
        columns |= {"cluster": self.labels_, "confidence": self.confidence_}
        if (self.coverage_ < 1).any():
            columns["coverage"] = self.coverage_
        if self.membership_ is not None:
            for j in range(self.n_clusters_):
                columns[f"membership_{j}"] = self.membership_[:, j]
        if pandas is not None:
            return pandas.DataFrame(columns, index=index)
        try:
            import polars
        except ImportError:
            raise ImportError("to_frame needs pandas or polars: install one of them") from None
        return polars.DataFrame(columns)

    def save(self, path: str | Path) -> None:
        """Writes the whole result to a file, from which :func:`load` reads it.

        The file is a NumPy archive (``.npz``) of plain arrays and a description in JSON. It is
        written under another name first, so that it is there whole or not at all. An index of pandas
        is kept as numbers or texts.
        """
        write(path, self._answer, self._copies)

    def __repr__(self) -> str:
        return (
            f"<ConsensusResult by {self.method_}: {counted(len(self.labels_), 'object')} "
            f"({self.n_unique_} distinct) in {counted(self.n_clusters_, 'cluster')}, ANMI {self.anmi_:.4f}>"
        )

    def __str__(self) -> str:
        return "\n".join([repr(self), *self.verdict_])

    def _repr_html_(self) -> str:
        assigned = self.labels_ >= 0
        sizes = np.bincount(self.labels_[assigned], minlength=self.n_clusters_)
        sums = np.bincount(self.labels_[assigned], self.confidence_[assigned], self.n_clusters_)
        sure = sums / np.maximum(sizes, 1)
        shown = min(self.n_clusters_, 12)
        largest = max(int(sizes.max(initial=1)), 1)
        bars = []
        for j in range(shown):
            width = 220 * int(sizes[j]) / largest
            y = 18 * j
            bars.append(
                f'<text x="0" y="{y + 12}">{j}</text>'
                f'<rect x="24" y="{y + 2}" width="{width:.1f}" height="13" fill="#4477aa" '
                f'fill-opacity="{0.25 + 0.75 * sure[j]:.2f}"/>'
                f'<text x="{30 + width:.1f}" y="{y + 12}">{int(sizes[j])}, '
                f"confidence {sure[j]:.2f}</text>"
            )
        more = "" if shown == self.n_clusters_ else f"<p>and {self.n_clusters_ - shown} more</p>"
        sentences = "".join(
            f'<li style="list-style:none">{_MARKS[tone]} {escape(text)}</li>'
            for _, tone, text in self._verdict
        )
        stop = {"done": "", "converged": ", settled", "max-iterations": ", did not settle"}
        facts = (
            f"{len(self.labels_):,} objects ({self.n_unique_:,} distinct), "
            f"{counted(len(self.members_), 'clustering')}, {counted(self.n_clusters_, 'cluster')}; agreement with the "
            f"clusterings (ANMI) {self.anmi_:.3f}{stop.get(self.stop_, '')}"
        )
        return (
            f"<div><b>Consensus by {escape(self.method_)}</b><br>{escape(facts)}<br>"
            f'<svg xmlns="http://www.w3.org/2000/svg" width="420" height="{18 * shown + 4}" '
            f'font-family="sans-serif" font-size="11" fill="currentColor">{"".join(bars)}</svg>{more}'
            f'<ul style="padding:0">{sentences}</ul></div>'
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._answer, self._copies)


def counted(number: int, what: str) -> str:
    """So many of something, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def repeated(copies: list[int]) -> list[int]:
    """Position i ``copies[i]`` times."""
    return [i for i, times in enumerate(copies) for _ in range(times)]


def _made(answer: dict[str, Any], copies: list[int] | None) -> ConsensusResult:
    return ConsensusResult(answer, copies=copies)


def load(path: str | Path) -> ConsensusResult:
    """Reads a result that :meth:`ConsensusResult.save` wrote.

    Nothing in the file is executed: it holds arrays and text only.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import consilience as co
    >>> result = co.consensus([[0, 0, 1], [0, 1, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "result.npz")
    ...     result.save(file)
    ...     co.load(file).labels_
    array([0, 0, 1])
    """
    return read(path, _made)


def placed(
    answer: dict[str, Any], members: Builder | Ensemble, circumstances: Any
) -> tuple[Integers, Floats, Integers, Floats]:
    """The clusters of new objects, how sure these are, the profiles that the objects have, and the share
    of the clusterings that label them.
    """
    profiles: Profiles = answer["profiles"]
    labels, where, sure, coverage = profiles.assign(
        members, answer["profile_labels"], answer["n_clusters"], circumstances
    )
    return labels, sure, where, coverage


def _features(X: Any) -> tuple[Floats, list[str]]:
    """Features with their names."""
    array, names = features(X), columns_of(X)
    refuse_gaps(array, names)
    return array, names or [f"feature {j}" for j in range(array.shape[1])]


def _expanded(rows: Floats, where: Integers, missing: float) -> Floats:
    """Row ``where[i]`` of ``rows`` for every i; ``missing`` where that is negative."""
    expanded = rows[where] if len(rows) else np.empty((len(where), rows.shape[1]))
    expanded[where < 0] = missing
    return expanded


def _typed(text: str) -> Any:
    """A parameter's text as the number or truth value that it spells."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (int, float)) else text
