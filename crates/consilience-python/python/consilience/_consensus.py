"""The functions :func:`consensus`, :func:`generate` and :func:`methods`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from consilience import _native
from consilience._circumstances import Progress, circumstances, whole
from consilience._edges import Network, network
from consilience._inputs import (
    MISSING,
    aligned,
    along,
    along_ensemble,
    builder,
    by_name,
    columns_of,
    doubts,
    doubts_of_features,
    mapped,
    noise,
    one,
    refuse_gaps,
    table,
    weights,
)
from consilience._native import Ensemble, Models
from consilience._result import ConsensusResult, counted, placed, repeated
from consilience._warnings import ConvergenceWarning

#: How a number of clusters is asked for.
Clusters = int | tuple[int, int] | range | str | None

#: The table of methods, once it was asked for: it does not change.
_TABLE: list[str] = []


def methods() -> list[dict[str, Any]]:
    """All consensus methods.

    Returns
    -------
    list of dict
        For each method its name, title, reference, what it does with soft members (``soft``) and
        with missing labels (``missing``), whether it finds the number of clusters (``chooses_k``),
        its parameters with ranges and defaults, its cost in time and memory, and what its answer
        has besides labels (``gives``): the table of ``consilience methods --json``.

    Examples
    --------
    >>> import consilience as co
    >>> voting = next(m for m in co.methods() if m["name"] == "voting")
    >>> voting["chooses_k"], [p["name"] for p in voting["parameters"]]
    ('always', ['threshold'])
    """
    if not _TABLE:
        _TABLE.append(_native.methods())
    table: list[dict[str, Any]] = json.loads(_TABLE[0])
    return table


def consensus(
    labels: Any,
    *,
    method: str | Sequence[str] = "auto",
    n_clusters: Clusters = "auto",
    params: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    clustering_weight: Any = None,
    missing: Any = MISSING,
    init: Any = None,
    edges: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> ConsensusResult:
    """Combines many clusterings of the same objects into one.

    Parameters
    ----------
    labels : array, table, sequence, mapping or Ensemble
        The clusterings. An (n, r) array or table has one *column* a clustering, a list one *item* a
        clustering: labels, (n, k) memberships, or a fitted scikit-learn clusterer. See
        :func:`ensemble` for all kinds.
    method : str or list of str, default "auto"
        The name of a method (see :func:`methods`), or "auto": one that suits the size and kind of
        the clusterings; ``reason_`` of the result tells why. Several names, or "all", run side by
        side: the result is that of the one that agrees most with the clusterings, and
        ``leaderboard_`` tells of all.
    n_clusters : int, (int, int), range or "auto"
        The number of clusters. Of a pair (least, most), or a ``range``, the number for which most
        speaks. With "auto" a named method that chooses by itself does; otherwise the
        number is found from the clusterings, and may be 1 if nothing speaks for clusters
        (``k_criteria_`` of the result).
    params : mapping, optional
        Parameters of the method, by name.
    sample_weight : array of n numbers >= 0, optional
        Weights of the objects. An object of weight 0 is left out: the consensus is that of the
        others, and the object gets the cluster that ``predict`` gives it.
    clustering_weight : array of r whole numbers >= 0, or mapping from names, optional
        How many times each clustering counts; 0 leaves it out. A pandas Series whose index names the
        clusterings is a mapping.
    missing : label or sequence of labels, default (-1, None)
        Labels that mean "no label". None, NaN, NA and the empty text always do. That -1, which HDBSCAN and
        BERTopic call noise, is read so is warned of unless ``missing`` is given: None makes it a cluster.
    init : 1-D array of n labels, optional
        The clustering from which an iterative method starts.
    edges : array of pairs, graph or sparse matrix, optional
        The edges of a network of the objects: an (m, 2) array or a list of pairs of rows (or of names, if the labels have an
        index or ``ids``), with a third entry for weights; an igraph or networkx graph; a matrix of ``scipy.sparse``. Method "auto" is
        then "edge-cut": communities that the clusterings agree on, each of them connected.
    random_state : int, Generator, RandomState or None, default 0
        The seed. The same seed gives the same labels, on any number of threads, and those of the
        command line. None takes a new seed every time.
    n_jobs : int, optional
        The number of threads; None means all cores.
    progress : bool or callable, default False
        Whether to tell of progress on stderr, or a function of stage, steps done and steps in all.
    memory : int, optional
        The memory ceiling in bytes, by default most of what the machine has.

    Returns
    -------
    ConsensusResult

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used.
    MemoryError
        If the method would pass the memory ceiling; nothing was allocated.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as co
    >>> labels = np.array([[0, 5, 1], [0, 5, 1], [1, 5, 0], [1, 7, 0]])
    >>> co.consensus(labels, n_clusters=2).labels_
    array([0, 0, 1, 1])
    """
    given, index, doubtful = isinstance(labels, Ensemble), None, []
    if given:
        ensemble = labels
        sample_weight = along_ensemble(sample_weight, ensemble, "sample_weight")
        init = along_ensemble(init, ensemble, "init")
    else:
        labels, index = aligned(labels)
        ensemble = builder(labels, missing).finish()
        doubtful = doubts(ensemble) + noise(labels, ensemble, missing)
    known = ensemble.ids if index is None else list(index)
    linked = None if edges is None else network(edges, ensemble.n_objects, known)
    result, messages, settled = combined(
        ensemble,
        edges=linked,
        method=method,
        n_clusters=n_clusters,
        params=params,
        sample_weight=along(sample_weight, index, "sample_weight"),
        clustering_weight=clustering_weight,
        start=None if init is None else one(along(init, index, "init"), "init", missing),
        consume=not given,
        circumstances=circumstances(random_state, n_jobs, progress, memory),
        index=index,
    )
    for message in doubtful:
        warnings.warn(message, UserWarning, stacklevel=2)
    for message in messages:
        warnings.warn(message, UserWarning if settled else ConvergenceWarning, stacklevel=2)
    return result


def combined(
    ensemble: Ensemble,
    *,
    method: str | Sequence[str],
    n_clusters: Clusters,
    params: Mapping[str, Any] | None,
    circumstances: Any,
    sample_weight: Any = None,
    clustering_weight: Any = None,
    start: Ensemble | None = None,
    edges: Network | None = None,
    consume: bool = False,
    call: str | None = None,
    made: Mapping[str, Any] | None = None,
    number: str | None = None,
    index: Any = None,
) -> tuple[ConsensusResult, list[str], bool]:
    """The consensus, what is to be warned of, and whether the method settled.

    With ``consume`` the ensemble is given up as soon as it is not needed any longer. ``call`` is what
    the user wrote, ``made`` how the members were made, if they were: both are told in the report.
    ``number`` is what features say of the number of clusters, which then is not looked for.
    ``index`` is what pandas calls the objects.
    """
    name, span, settings = asked(method, n_clusters, params, edges is not None)
    names, copies = ensemble.names, None
    if clustering_weight is not None:
        copies = _copies(clustering_weight, names)
        ensemble, consume = ensemble.taken(repeated(copies)), True
    everyone, kept = ensemble, None
    if sample_weight is not None:
        weight = weights(sample_weight, ensemble.n_objects)
        if not weight.all():
            if edges is not None:
                raise ValueError(
                    "sample_weight: with edges all weights must be above 0; leave the other objects out of labels and edges"
                )
            kept, weight = np.flatnonzero(weight), weight[weight > 0]
            ensemble = ensemble._rows(kept.tolist()).finish()
            start = None if start is None else start._rows(kept.tolist()).finish()
        ensemble, consume = ensemble.with_weights(weight), True
    found = span if number is None else (json.loads(number)["k"],) * 2
    answer = _native.consensus(ensemble, consume, name, found, settings, start, edges, circumstances)
    answer["number"] = number
    if kept is not None:
        _put_back(answer, everyone, kept, circumstances)
    messages = answer.pop("warnings")
    answer["seed"], answer["ids"], answer["index"] = circumstances["seed"], everyone.ids, index
    answer["names"] = names
    answer["asked"] = span[0] if span is not None and span[0] == span[1] else None
    answer["call"] = call or _call(name, span, settings, circumstances["seed"])
    answer["made"] = None if made is None else dict(made)
    result = ConsensusResult(answer, copies=copies)
    settled = result.stop_ != "max-iterations"
    if not settled:
        messages.append(
            f"`{result.method_}` was stopped after {counted(result.n_iter_, 'iteration')} before it settled; "
            "consilience.methods() tells which parameter allows more"
        )
    return result, messages, settled


def asked(
    method: str | Sequence[str],
    n_clusters: Clusters,
    params: Mapping[str, Any] | None,
    edges: bool = False,
) -> tuple[str, tuple[int, int] | None, list[tuple[str, str]]]:
    """Method, number of clusters and settings as the library takes them, once it can use them."""
    name, span, settings = names_of(method), limits_of(n_clusters), _settings(params)
    _native.check_request(name, span, settings, edges)
    return name, span, settings


def _put_back(answer: dict[str, Any], everyone: Ensemble, kept: Any, circumstances: Any) -> None:
    """Gives objects that were left out the clusters of new ones."""
    n = everyone.n_objects
    gone = np.setdiff1d(np.arange(n), kept)
    labels, confidence, where = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
    labels[kept], confidence[kept] = answer["labels"], answer["confidence"]
    where[kept] = answer["profiles"].map
    others = everyone._rows(gone.tolist())
    labels[gone], confidence[gone], where[gone], voices = placed(answer, others, circumstances)
    answer["labels"], answer["confidence"] = labels, confidence
    if answer["coverage"] is not None or (voices < 1 - 1e-9).any():
        coverage = np.ones(n)
        coverage[kept] = 1.0 if answer["coverage"] is None else answer["coverage"]
        coverage[gone] = voices
        answer["coverage"] = coverage
    answer["profiles"] = answer["profiles"].mapped(where)


def generate(
    X: Any,
    *,
    n_members: int | None = None,
    scheme: str | None = None,
    base: str | None = None,
    kinds: Sequence[str] | None = None,
    base_n_clusters: int | tuple[int, int] | None = None,
    soft: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    memory: int | None = None,
) -> Ensemble:
    """Makes an ensemble of clusterings from a table of features.

    Parameters
    ----------
    X : (n, d) array, frame or sparse matrix of numbers
        The features. Bring them to one scale first if they differ. The index of a pandas table becomes
        the ``ids`` of the ensemble. float32 is not widened, and gives
        the members that the same numbers give as float64. A matrix of ``scipy.sparse``, or whatever
        else has ``tocsr``, is clustered by "kmeans" and "minibatch_kmeans" without writing out its
        zeros, and gives the members that it would give written out.
    n_members : int, optional
        How many clusterings; by default 50, of a committee 48.
    scheme : str, optional
        What makes them differ: "committee" (clusterers of several kinds, each with several numbers
        of clusters; the default), "random_k" (the default if ``base`` is given), "random_init" (the
        default if ``base`` and one number ``base_n_clusters`` are given), "random_subspace", "bootstrap", "subsample" or "random_projection". Of a committee, members
        that cut through more neighbourhoods than others with as many clusters are left out.
    base : str, optional
        The clusterer, if one makes all members: "kmeans", "fuzzy_kmeans", "macqueen",
        "minibatch_kmeans" (learns from samples, for tens of millions of objects), "u_spec" (spectral
        clustering by way of representatives, for clusters of any shape), "gmm" (mixture of
        Gaussians), "spectral" (spectral clustering of the graph of nearest neighbours), "genie",
        "single", "average", "complete", "ward" (trees of merges) or "density" (HDBSCAN*).
    kinds : sequence of str, optional
        The kinds of clusterers in a committee, of those that ``base`` knows; by default "genie",
        "spectral", "gmm" and "kmeans". Sparse matrices are clustered by "kmeans" alone.
    base_n_clusters : int or (int, int), optional
        The number of clusters of a member, or the range from which it is drawn; by default what
        suits the scheme.
    soft : bool, default False
        Whether members hold memberships instead of labels.
    random_state, n_jobs, progress, memory
        As in :func:`consensus`.

    Returns
    -------
    Ensemble

    Warns
    -----
    UserWarning
        If a column is hardly a feature, or one varies more than 100 times as much as another.

    Examples
    --------
    >>> import consilience as co
    >>> X, y = co.make_half_rings()
    >>> members = co.generate(X, n_members=30, scheme="random_init", base_n_clusters=15)
    >>> labels = co.consensus(members, method="ea-sl", n_clusters=2).labels_
    >>> bool(co.metrics.ari(labels, y) > 0.9)
    True
    """
    given, names = table(X), columns_of(X)
    refuse_gaps(given, names)
    _, index = aligned(X) if names is not None else (None, None)
    around = circumstances(random_state, n_jobs, progress, memory)
    for message in doubts_of_features(given, names, around):
        warnings.warn(message, UserWarning, stacklevel=2)
    ensemble, _ = make_members(
        given,
        n_members=n_members,
        scheme=scheme,
        base=base,
        kinds=kinds,
        base_n_clusters=base_n_clusters,
        n_clusters=None,
        soft=soft,
        circumstances=around,
    )
    if index is None:
        return ensemble
    members, weight, _ = ensemble.__reduce__()[1]
    return Ensemble._from_state(members, weight, [str(name) for name in index])


def make_members(
    X: Any,
    *,
    n_members: int | None,
    scheme: str | None,
    base: str | None,
    base_n_clusters: int | tuple[int, int] | None,
    n_clusters: int | None,
    soft: bool,
    circumstances: Any,
    kinds: Sequence[str] | None = None,
) -> tuple[Ensemble, Models]:
    """The ensemble, and the models that label new objects; ``X`` as :func:`table` gives it."""
    for name, word in (("scheme", scheme), ("base", base)):
        if word is not None and not isinstance(word, str):
            clusterer = "; ConsensusClustering(base=...) takes clusterers" if hasattr(word, "fit") else ""
            raise TypeError(f"{name} must be a name, got {type(word).__name__}{clusterer}")
    limits = span(base_n_clusters)
    scheme = scheme_of(scheme, base, limits)
    if scheme == "random-k" and limits is not None and limits[0] == limits[1]:
        raise ValueError(
            f'base_n_clusters must be a pair (least, most) for scheme "random_k", got {limits[0]}; '
            'scheme "random_init" takes one number'
        )
    if scheme == "committee" and base is not None:
        raise ValueError("base goes with other schemes: kinds names the clusterers of a committee")
    if scheme != "committee" and kinds is not None:
        raise ValueError(f'kinds goes with scheme "committee", not with {scheme!r}')
    if isinstance(kinds, str):
        raise TypeError(f"kinds must be a list of names, got the text {kinds!r}")
    recipe = {
        "n_members": None if n_members is None else whole(n_members, "n_members", least=1),
        "scheme": scheme,
        "base": (base or "kmeans").replace("_", "-"),
        "kinds": None if kinds is None else [str(kind).replace("_", "-") for kind in kinds],
        "base_n_clusters": limits,
        "n_clusters": n_clusters,
        "soft": bool(soft),
    }
    return _native.generate(X, recipe, circumstances)


def scheme_of(scheme: str | None, base: Any, limits: tuple[int, int] | None) -> str:
    """The scheme: the one named, else a committee, unless one clusterer is to make all members."""
    if scheme is not None:
        return scheme.replace("_", "-")
    if base is None:
        return "committee"
    # Members with one number of clusters can differ by their starts only.
    return "random-init" if limits is not None and limits[0] == limits[1] else "random-k"


def span(base_n_clusters: int | tuple[int, int] | None) -> tuple[int, int] | None:
    """The smallest and largest number of clusters of a member."""
    if base_n_clusters is None:
        return None
    if isinstance(base_n_clusters, (tuple, list)):
        if len(base_n_clusters) != 2:
            raise ValueError("base_n_clusters must be a number or a pair (least, most)")
        least, most = (whole(k, "base_n_clusters", least=1) for k in base_n_clusters)
        if least > most:
            raise ValueError(f"base_n_clusters must be a pair (least, most), got ({least}, {most})")
        return least, most
    k = whole(base_n_clusters, "base_n_clusters", least=1)
    return k, k


def names_of(method: str | Sequence[str]) -> str:
    """The method, or several with commas between, as the library spells them."""
    names = [method] if isinstance(method, str) else method
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"method must be a name or a list of names, got {type(method).__name__}")
    if not names:
        raise ValueError("method must hold at least one name")
    return ",".join(names).lower().replace("_", "-")


def limits_of(n_clusters: Clusters) -> tuple[int, int] | None:
    """The least and the largest number of clusters that may be chosen; None for any."""
    if n_clusters is None or (isinstance(n_clusters, str) and n_clusters == "auto"):
        return None
    wanted = 'an integer, a pair (least, most), a range or "auto"'
    if isinstance(n_clusters, str):
        raise ValueError(f"n_clusters must be {wanted}, got {n_clusters!r}")
    if isinstance(n_clusters, range):
        if n_clusters.step != 1 or not n_clusters:
            raise ValueError(f"n_clusters must be a range of numbers one after the other, got {n_clusters}")
        n_clusters = n_clusters[0], n_clusters[-1]
    if isinstance(n_clusters, (tuple, list)):
        if len(n_clusters) != 2:
            raise ValueError(f"n_clusters must be {wanted}, got {n_clusters!r}")
        least, most = (whole(k, "n_clusters", least=1) for k in n_clusters)
        if least > most:
            raise ValueError(f"n_clusters must be a pair (least, most), got ({least}, {most})")
        return least, most
    k = whole(n_clusters, "n_clusters", least=1)
    return k, k


def number_of(n_clusters: Clusters) -> int | None:
    """The number of clusters, if one alone is asked for."""
    limits = limits_of(n_clusters)
    return limits[0] if limits is not None and limits[0] == limits[1] else None


def _settings(params: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if params is None:
        return []
    if not isinstance(params, Mapping):
        raise TypeError(f"params must be a mapping, got {type(params).__name__}")
    return [(str(name), _text(value)) for name, value in params.items() if value is not None]


def _call(
    method: str, span: tuple[int, int] | None, settings: list[tuple[str, str]], seed: int
) -> str:
    """The call that gives the same result again."""
    words = ["labels", f"method={method!r}"]
    if span is not None:
        words.append(f"n_clusters={span[0] if span[0] == span[1] else span}")
    if settings:
        words.append(f"params={dict(settings)!r}")
    return f"consilience.consensus({', '.join(words)}, random_state={seed})"


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def _copies(clustering_weight: Any, names: list[str]) -> list[int]:
    named = mapped(clustering_weight)
    if named is not None:
        values = list(named.values())
        clustering_weight = [values[i] for i in by_name(named, names, "clustering_weight")]
    array = np.asarray(clustering_weight)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise TypeError("clustering_weight must be a list of whole numbers >= 0")
    if (array != np.round(array)).any() or (array < 0).any():
        wrong = int(np.flatnonzero((array != np.round(array)) | (array < 0))[0])
        raise ValueError(
            f"clustering_weight, position {wrong}: must be a whole number >= 0 (how many times the "
            f"clustering counts), got {array[wrong]}"
        )
    if len(array) != len(names):
        raise ValueError(
            f"clustering_weight has {len(array)} entries, but there are {len(names)} clusterings"
        )
    return [int(weight) for weight in array]
