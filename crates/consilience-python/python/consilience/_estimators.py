"""The scikit-learn estimators."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from consilience import _native
from consilience._circumstances import circumstances, seed_of, whole
from consilience._clusterers import (
    chosen_count,
    copy_of,
    count_of,
    has_seed,
    labels_of,
    name_of,
    predicted,
    seed_anew,
    takes_sparse,
)
from consilience._consensus import Clusters, asked, combined, make_members, number_of, scheme_of, span
from consilience._inputs import (
    aligned,
    builder,
    columns_of,
    doubts,
    doubts_of_features,
    refuse_gaps,
    refuse_texts,
    table,
    weights,
)
from consilience._native import Builder, Ensemble, Models
from consilience._result import ConsensusResult, placed

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]


class _Consensus(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """What the estimators share: a consensus, and labels for new objects."""

    n_clusters: Clusters
    method: str | Sequence[str]
    params: Mapping[str, Any] | None
    random_state: Any
    n_jobs: int | None
    verbose: int
    result_: ConsensusResult
    members_: Ensemble
    labels_: Integers
    confidence_: Floats
    coverage_: Floats
    n_clusters_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Computes the consensus.

        Parameters
        ----------
        X : (n, d) array or sparse matrix of numbers; for LabelConsensus (n, r) table of labels
            The features of the objects; or their labels, one column per clustering, where -1, None,
            NaN and the empty text are missing.
        y : ignored
        sample_weight : (n,) array of numbers >= 0, optional
            Weights of the objects in the consensus; base clusterers do not see them. Objects of weight
            0 are left out of everything, ``members_`` and ``result_`` too; in ``labels_`` they have
            the clusters of new objects, or -1 if a base clusterer cannot label new objects.

        Returns
        -------
        self
        """
        # Of a fit that fails nothing is left to predict with.
        for name in ("result_", "labels_"):
            self.__dict__.pop(name, None)
        asked(self.method, self.n_clusters, self.params)
        _, index = aligned(X) if hasattr(X, "columns") else (None, None)
        X = self._validated(X, reset=True)
        kept = None
        if sample_weight is not None:
            sample_weight = weights(_check_sample_weight(sample_weight, X, dtype=np.float64), X.shape[0])
            if not sample_weight.all():
                kept = np.flatnonzero(sample_weight)
                sample_weight = sample_weight[kept]
        seed = seed_of(self.random_state)
        used = X if kept is None else X[kept]
        self._number = self._found_in(used, seed)
        self.members_, made, doubtful = self._make_members(used, seed)
        self.result_, messages, settled = combined(
            self.members_,
            method=self._method(),
            n_clusters=self.n_clusters,
            params=self.params,
            sample_weight=sample_weight,
            circumstances=circumstances(seed, self.n_jobs, bool(self.verbose)),
            call=f"{self!r}.fit(X)",
            made=made,
            number=self._number,
            index=index if index is None or kept is None else index[kept],
        )
        for message in doubtful:
            warnings.warn(message, UserWarning, stacklevel=2)
        for message in messages:
            category = UserWarning if settled else ConvergenceWarning
            warnings.warn(message, category, stacklevel=2)
        self.labels_, self.confidence_ = self.result_.labels_, self.result_.confidence_
        self.coverage_ = self.result_.coverage_
        self.n_clusters_ = self._n_features_out = self.result_.n_clusters_
        if kept is not None:
            self._label_the_others(X, kept)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def _label_the_others(self, X: Any, kept: Integers) -> None:
        """Gives the objects that were left out the clusters of new ones."""
        others = np.setdiff1d(np.arange(X.shape[0]), kept)
        labels, confidence = np.full(X.shape[0], -1, dtype=np.int64), np.zeros(X.shape[0])
        coverage = np.zeros(X.shape[0])
        labels[kept], confidence[kept] = self.labels_, self.confidence_
        coverage[kept] = self.coverage_
        if self._labels_new():
            around = circumstances(0, self.n_jobs)
            new = self._members_of(X[others])
            told = placed(self.result_._answer, new, around)
            labels[others], confidence[others], _, coverage[others] = told
        self.labels_, self.confidence_, self.coverage_ = labels, confidence, coverage

    def _labels_new(self) -> bool:
        """Whether all members can label new objects."""
        return True

    def _method(self) -> str | Sequence[str]:
        """The method, for the members that were made."""
        return self.method

    def _found_in(self, X: Any, seed: int) -> str | None:
        """What the objects say of the number of clusters, as JSON, where that is to be found."""
        return None

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """``X`` as an array, once it is what the estimator takes."""
        raise NotImplementedError

    def _make_members(
        self, X: Any, seed: int
    ) -> tuple[Ensemble, dict[str, Any] | None, list[str]]:
        """The clusterings to be combined, how they were made, if they were, and what looks wrong."""
        raise NotImplementedError

    def _members_of(self, X: Any) -> Ensemble | Builder:
        """The labels of new objects, validated, by the members."""
        raise NotImplementedError

    def predict(self, X: Any) -> Integers:
        """The clusters of new objects; those of the fit keep theirs.

        Parameters
        ----------
        X : (m, d) array, or what else ``fit`` takes
            New objects.

        Returns
        -------
        (m,) array of int64
            -1 where nothing is known of an object.
        """
        check_is_fitted(self)
        members = self._members_of(self._validated(X, reset=False))
        return self.result_.predict(members, n_jobs=self.n_jobs)

    def transform(self, X: Any) -> Floats:
        """How much the members support each cluster for each object.

        Parameters
        ----------
        X : (m, d) array, or what else ``fit`` takes
            New objects, or those of the fit.

        Returns
        -------
        (m, k) array
            Rows sum to 1; rows of zeros where nothing is known of an object.
        """
        check_is_fitted(self)
        members = self._members_of(self._validated(X, reset=False))
        return self.result_.support(members, n_jobs=self.n_jobs)


class LabelConsensus(_Consensus):
    """The consensus of given clusterings, as an estimator.

    Parameters
    ----------
    n_clusters : int, (int, int), range or "auto", default "auto"
        The number of clusters; "auto" looks for it in the clusterings, unless the
        method named finds its own. A pair (least, most) or a ``range`` says where to look.
    method : str or list of str, default "auto"
        The consensus method: see :func:`consilience.methods`. Of several, or "all", the one that agrees
        most with the clusterings.
    params : mapping, optional
        Parameters of the method.
    random_state : int, RandomState, Generator or None
        The seed.
    n_jobs : int, optional
        The number of threads; None means all cores.
    verbose : int, default 0
        Whether to tell of progress on stderr.

    Attributes
    ----------
    labels_ : (n,) array of int64
        The cluster of every object.
    confidence_ : (n,) array of float
        How likely each object is with its like, in [0, 1]; see :class:`ConsensusResult`.
    coverage_ : (n,) array of float
        The share of the clusterings that label each object.
    n_clusters_ : int
        The number of clusters.
    result_ : ConsensusResult
        Everything that is known about the consensus.
    members_ : Ensemble
        The clusterings.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience import LabelConsensus
    >>> X = np.array([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]])
    >>> model = LabelConsensus(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.predict([["b", "y"]])
    array([1])
    """

    def __init__(
        self,
        n_clusters: Clusters = "auto",
        *,
        method: str | Sequence[str] = "auto",
        params: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.params = params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_members(self, X: Any, seed: int) -> tuple[Ensemble, None, list[str]]:
        names = getattr(self, "feature_names_in_", None)
        members = builder(X if names is None else dict(zip(names, X.T, strict=True))).finish()
        return members, None, doubts(members)

    def _members_of(self, X: Any) -> Builder:
        return builder(X)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", order=None
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class ConsensusClustering(_Consensus):
    """Clusters a table of features many times and combines the clusterings.

    Takes arrays and sparse matrices: see :func:`consilience.generate`. Features are taken as they
    are: where their units differ scale them first, for example by ``StandardScaler`` in a pipeline.
    (The command line's ``run`` does, unless told ``--scale none``.) ``fit`` warns where one column varies
    more than 100 times as much as another.

    Parameters
    ----------
    n_clusters : int, (int, int), range or "auto", default "auto"
        The number of clusters; "auto" looks for it in the features (``number_`` of ``result_``), unless
        the method named finds its own. A pair (least, most) or a ``range`` says where to look.
    method : str or list of str, default "auto"
        The consensus method: see :func:`consilience.methods`. Of several, or "all", the one that agrees
        most with the clusterings.
    n_members : int, optional
        How many clusterings are made; by default 50, of a committee 32, or 48 if the method
        is left to find the number of clusters. Those of no use are left out: ``made_`` tells which. A list as ``base`` makes one
        clustering per item, and no other number can be asked for.
    scheme : str, optional
        What makes them differ: see :func:`consilience.generate`. By default "committee": clusterers
        of several kinds; with a ``base`` "random_k". With a clusterer of another package as base
        "random_k" or "random_init": the latter by default if the clusterer was given a number of
        clusters, such as ``KMeans(7)``, and random starts make its clusterings differ.
    base : str, clusterer, or list of both, optional
        The base clusterer, if one is to make all members: a name (see :func:`consilience.generate`),
        or anything with ``fit_predict`` or ``labels_``, such as the clusterers and mixtures of
        scikit-learn; it is cloned for every member and seeded anew. A list is a committee of your
        own: every item makes one member. The label -1, noise to density clusterers, means that the
        member does not label an object.
    kinds : sequence of str, optional
        The kinds of clusterers in a committee: see :func:`consilience.generate`.
    base_n_clusters : int or (int, int), optional
        The number of clusters of a member, or the range from which it is drawn.
    params : mapping, optional
        Parameters of the consensus method.
    random_state : int, RandomState, Generator or None
        The seed.
    n_jobs : int, optional
        The number of threads; None means all cores.
    verbose : int, default 0
        Whether to tell of progress on stderr.

    Attributes
    ----------
    labels_ : (n,) array of int64
        The cluster of every object.
    confidence_ : (n,) array of float
        How likely each object is with its like, in [0, 1]; see :class:`ConsensusResult`.
    coverage_ : (n,) array of float
        The share of the clusterings that label each object.
    n_clusters_ : int
        The number of clusters.
    result_ : ConsensusResult
        Everything that is known about the consensus.
    members_ : Ensemble
        The clusterings that were combined.
    made_ : list of dict
        What a committee made: the name, the kind and the number of clusters of every member, how much
        it cuts neighbours apart (``cut``), and why it was left out, if it was (``left_out``). Empty
        if there was no committee.

    Examples
    --------
    >>> import consilience as co
    >>> X, y = co.make_half_rings()
    >>> model = co.ConsensusClustering(
    ...     n_clusters=2, method="ea-sl", scheme="random_init", base_n_clusters=15, random_state=0
    ... )
    >>> bool(co.metrics.ari(model.fit_predict(X), y) > 0.9)
    True
    """

    def __init__(
        self,
        n_clusters: Clusters = "auto",
        *,
        method: str | Sequence[str] = "auto",
        n_members: int | None = None,
        scheme: str | None = None,
        base: Any = None,
        kinds: Sequence[str] | None = None,
        base_n_clusters: int | tuple[int, int] | None = None,
        params: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.n_members = n_members
        self.scheme = scheme
        self.base = base
        self.kinds = kinds
        self.base_n_clusters = base_n_clusters
        self.params = params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _validated(self, X: Any, *, reset: bool) -> Any:
        refuse_texts(X)
        # Our own clusterers do not compute in float32.
        given = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32) if self._ours() else np.float64,
            ensure_all_finite=False,
        )
        refuse_gaps(table(given), columns_of(X) or self._names())
        return given

    def _names(self) -> list[str] | None:
        """The names of the features, if they have some."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    def _method(self) -> str | Sequence[str]:
        # What "auto" stands for where members are of several kinds: see the command line's `run`.
        several = self._scheme() == "committee"
        return "lwgp" if several and self.method == "auto" else self.method

    def _found_in(self, X: Any, seed: int) -> str | None:
        return _native.number(
            table(X),
            *asked(self._method(), self.n_clusters, self.params),
            circumstances(seed, self.n_jobs, bool(self.verbose)),
        )

    def _wanted(self) -> int | None:
        """The number of clusters that members are made for, if it is known."""
        return number_of(self.n_clusters) if self._number is None else json.loads(self._number)["k"]

    def _scheme(self) -> str:
        limits = span(self.base_n_clusters)
        # A number that the user gave to the clusterer itself is not drawn anew.
        if self.scheme is None and limits is None and not self._ours() and chosen_count(self.base):
            return "random-init" if has_seed(self.base) else "random-k"
        return scheme_of(self.scheme, self.base, limits)

    def _ours(self) -> bool:
        """Whether members are made by clusterers of this package."""
        return self.base is None or isinstance(self.base, str)

    def _takes_sparse(self) -> bool:
        if self._ours():
            names = (str(self.base or "kmeans").replace("-", "_"), self._scheme())
            if names[1] == "committee":
                return self.kinds is None or "kmeans" in self.kinds
            return names[0] in ("kmeans", "minibatch_kmeans") or names[1] == "random-projection"
        given = self.base if isinstance(self.base, Sequence) else [self.base]
        return all(item == "kmeans" if isinstance(item, str) else takes_sparse(item) for item in given)

    def _make_members(self, X: Any, seed: int) -> tuple[Ensemble, dict[str, Any], list[str]]:
        self._models: Models | list[Any]
        self.made_: list[dict[str, Any]] = []
        scheme = self._scheme()
        given, around = table(X), circumstances(seed, self.n_jobs, bool(self.verbose))
        doubtful = doubts_of_features(given, self._names(), around)
        if self._ours():
            members, self._models = make_members(
                given,
                n_members=self.n_members,
                scheme=self.scheme,
                base=self.base,
                kinds=self.kinds,
                base_n_clusters=self.base_n_clusters,
                n_clusters=self._wanted(),
                soft=False,
                circumstances=around,
            )
            self.made_ = json.loads(self._models.seats)
            kinds = dict.fromkeys(seat["kind"] for seat in self.made_)
            base = ", ".join(kinds) or self.base or "kmeans"
        else:
            self._models, labels = self._fitted(X, np.random.default_rng(seed))
            members = builder(labels).finish()
            if not isinstance(self.base, Sequence) and not has_seed(self.base) and _all_same(labels):
                doubtful.append(
                    f"base: all {len(labels)} clusterings are the same, for {name_of(self.base)} has no "
                    "random start; vary its parameters instead: a list as base makes one clustering per item"
                )
            given = self.base if isinstance(self.base, Sequence) else [self.base]
            names = (item if isinstance(item, str) else name_of(item) for item in given)
            base = " and ".join(dict.fromkeys(names))
            scheme = "given" if isinstance(self.base, Sequence) else scheme
        sizes = [len(members.clusters(i)) for i in range(len(members))]
        return members, {
            "size": len(members),
            "scheme": scheme,
            "base": base,
            "base_k": [min(sizes), max(sizes)],
            "scale": "none",
            "seats": self.made_,
            "features": X.shape[1],
        }, doubtful

    def _labels_new(self) -> bool:
        models = [] if isinstance(self._models, Models) else self._models
        return all(isinstance(model, Models) or hasattr(model, "predict") for model in models)

    def _fitted(self, X: Any, rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
        """Clones of the given clusterers, fitted, and the labels of each."""
        if isinstance(self.base, Sequence):
            given = [item if isinstance(item, str) else copy_of(item) for item in self.base]
            if not given:
                raise ValueError("base must hold at least one clusterer")
            if self.n_members not in (None, len(given)):
                raise ValueError(
                    f"n_members is {self.n_members}, but a list as base makes one member per item, "
                    f"{len(given)} here: leave n_members out, or repeat items of the list"
                )
        else:
            given = [copy_of(self.base) for _ in range(self._size())]
            self._vary(given, X.shape[0], rng)
        models: list[Any] = []
        labels: list[Any] = []
        for item in given:
            if isinstance(item, str):
                member, model = self._named(item, X, int(rng.integers(2**63)))
                labels.append(member.member(0))
                models.append(model)
            else:
                seed_anew(item, rng)
                labels.append(labels_of(item, X))
                models.append(item)
        return models, labels

    def _named(self, base: str, X: Any, seed: int) -> tuple[Ensemble, Models]:
        """One member by a clusterer of ours."""
        wanted = self._wanted()
        return make_members(
            table(X),
            n_members=1,
            scheme="random_init",
            base=base,
            base_n_clusters=self.base_n_clusters if self.base_n_clusters is not None else wanted,
            n_clusters=wanted,
            soft=False,
            circumstances=circumstances(seed, self.n_jobs, bool(self.verbose)),
        )

    def _size(self) -> int:
        return 50 if self.n_members is None else whole(self.n_members, "n_members", least=1)

    def _vary(self, members: list[Any], n: int, rng: np.random.Generator) -> None:
        """Sets the number of clusters of every member as the scheme says."""
        scheme = self._scheme().replace("-", "_")
        if scheme not in ("random_k", "random_init"):
            raise ValueError(
                "scheme must be random_k or random_init where base is a clusterer, got "
                f"{self.scheme!r}"
            )
        limits = span(self.base_n_clusters)
        count = count_of(members[0])
        if count is None:
            if limits is not None:
                raise ValueError(
                    f"base_n_clusters is given, but {name_of(members[0])} has no n_clusters"
                )
            return
        if limits is None:
            if scheme == "random_init":
                return
            wanted = self._wanted()
            most = math.isqrt(n) if wanted is None else 2 * wanted
            limits = (min(2, n), min(max(most, 2), n))
            own = chosen_count(self.base)
            if own is not None:
                warnings.warn(
                    f"{count}={own} of {name_of(self.base)} is not used: members have from {limits[0]} "
                    f'to {limits[1]} clusters (scheme "random_k"); give base_n_clusters to say how many',
                    UserWarning,
                    stacklevel=5,
                )
        for member in members:
            member.set_params(**{count: int(rng.integers(limits[0], limits[1] + 1))})

    def _members_of(self, X: Any) -> Ensemble | Builder:
        if isinstance(self._models, Models):
            return self._models.predict(table(X), circumstances(0, self.n_jobs))
        labels = [
            model.labels(table(X), circumstances(0, self.n_jobs))[0]
            if isinstance(model, Models)
            else predicted(model, X)
            for model in self._models
        ]
        return builder(labels)


def _all_same(labels: list[Any]) -> bool:
    """Whether there are several clusterings without any difference."""
    return len(labels) > 1 and all(np.array_equal(labels[0], other) for other in labels[1:])
