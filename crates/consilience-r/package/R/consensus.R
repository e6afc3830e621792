#' The consensus of many clusterings
#'
#' Finds the one clustering of the objects that agrees best with many given ones.
#'
#' @param labels The clusterings: a matrix or data frame with one **column** per clustering, a list
#'   with one **item** per clustering (labels, factors, memberships, what clusterers return), a clue
#'   `cl_ensemble`, or what [generate()] or [ensemble()] gave. `NA` is "no label".
#' @param k The number of clusters; or a range such as `2:8`, of which the number is taken for which
#'   most speaks; or `"auto"`: a named method that chooses by itself does, otherwise the number is
#'   found from the clusterings and may be 1 if nothing speaks for clusters.
#' @param method The name of a method (see [methods()]), or `"auto"`: one that suits the size and
#'   kind of the clusterings. Several names, or `"all"`, run side by side: the result is that of the
#'   one that agrees most with the clusterings, and `leaderboard` tells of all.
#' @param seed The seed. The same seed gives the same clusters, and those of the command line. `NULL`
#'   draws one from R's random numbers, so that `set.seed()` decides.
#' @param ... Parameters of the method by name, such as `restarts = 20`; `methods("scec")` lists those
#'   of a method.
#' @param weights Weights of the objects, numbers >= 0. An object of weight 0 is left out: the
#'   consensus is that of the others, and it gets the cluster that `predict()` gives it.
#' @param clustering_weights How many times each clustering counts, whole numbers >= 0, in order or
#'   by name; 0 leaves it out.
#' @param missing Labels that mean "no label", besides `NA` and the empty text. By default -1 does in a
#'   clustering whose labels are all whole numbers, with a warning; `missing = -1` says so without one, and
#'   with `missing = NULL` -1 is a cluster. See [ensemble()].
#' @param init A clustering of the objects from which an iterative method starts.
#' @param edges The edges of a network of the objects: a matrix or data frame with two columns, the numbers or
#'   names of the objects at their ends, and a third for weights if there are any; or an igraph graph, whose
#'   vertices are matched by name if both they and the objects have names, and otherwise are the objects in
#'   their order. Method `"auto"` is then `"edge-cut"`: communities that the clusterings agree on, each of them connected.
#' @param threads The number of threads; `NULL` means all cores, or `getOption("consilience.threads")`.
#' @param progress Whether to tell of progress by messages.
#' @param memory The memory ceiling in bytes; by default most of what the machine has.
#' @return An object of class `consilience`, a list of
#'   \item{clusters}{a factor with the cluster of every object, numbered from 1 by falling size, `NA`
#'     where there is none; `predict()` without new data gives it}
#'   \item{confidence}{how likely each object is of the class that most objects of its cluster are of,
#'     in \[0, 1\]; calibrated: of the objects with 0.8 about four in five are}
#'   \item{coverage}{the share of the clusterings that label each object}
#'   \item{k, method, reason, params}{what was taken, and why if it was not given}
#'   \item{anmi}{the average normalised mutual information with the clusterings}
#'   \item{membership}{memberships, one row per object, if the method gives them}
#'   \item{correspondence}{for each clustering the shares of its clusters that go to the clusters of
#'     the consensus, if the method gives them}
#'   \item{choice}{what the clusterings or features say of the number of clusters, if it was looked
#'     for: see [choose_k()]}
#'   \item{leaderboard}{all methods, if several were run}
#'   \item{objective, trace, iterations, stop, diagnostics}{how the computation went}
#'
#'   It holds plain vectors only and can be saved by `saveRDS()`.
#' @seealso [predict.consilience()], [plot.consilience()], [report()], [coassociation()], [explain()],
#'   [as.hclust.consilience()]
#' @examples
#' labels <- data.frame(
#'   site1 = c("a", "a", "a", "b", "b"),
#'   site2 = c(2, 2, 2, 1, 1),
#'   site3 = factor(c("x", NA, "y", "y", "y"))
#' )
#' result <- consensus(labels)
#' predict(result)
#' as.data.frame(result)
#'
#' # A method by name, with a parameter of its own.
#' consensus(labels, k = 2, method = "scec", restarts = 3)$membership
#' @export
consensus <- function(labels, k = "auto", method = "auto", seed = 0, ..., weights = NULL,
                      clustering_weights = NULL, missing = c(noise = -1), init = NULL, edges = NULL,
                      threads = NULL, progress = FALSE, memory = NULL) {
  asked <- request(method, k, list(...), network = !is.null(edges))
  around <- circumstances(seed, threads, memory, progress)
  given <- ensemble(labels, missing)
  if (!inherits(labels, "consilience_ensemble")) warn_of_labels(given)
  combined(
    given, asked, around,
    weights = weights, clustering_weights = clustering_weights,
    init = if (!is.null(init)) list(start_of(init, given$objects, missing)),
    network = if (!is.null(edges)) network_of(edges, given)
  )
}

# The clustering to start from.
start_of <- function(init, objects, missing) {
  init <- labels_in(init)
  if (!is.null(objects) && !is.null(names(init))) init <- init[places(names(init), objects, "init")]
  start <- encode(init, "init", missing)
  start[names(start) != "noise"]
}

# The ends of edges by number, and their weights.
network_of <- function(edges, given) {
  if (inherits(edges, "igraph")) {
    if (!requireNamespace("igraph", quietly = TRUE)) raise("`edges` is an igraph graph, but igraph is not installed")
    edges <- edges_of(edges, given)
  }
  if (!(is.matrix(edges) || is.data.frame(edges)) || !ncol(edges) %in% 2:3 || !nrow(edges)) {
    raise("`edges` must be a matrix or data frame of two columns, one row per edge, and perhaps a third for weights")
  }
  ends <- vapply(1:2, function(column) {
    end <- edges[, column]
    if (is.factor(end)) end <- as.character(end)
    if (is.character(end)) {
      if (is.null(given$objects)) raise("`edges` names objects, but the objects have no names: give their numbers")
      at <- match(end, given$objects)
      if (anyNA(at)) raise(sprintf("`edges`: there is no object `%s`", end[is.na(at)][1L]))
      return(as.double(at))
    }
    wrong <- which(is.na(end) | end < 1 | end > n_objects(given) | end != round(end))
    if (length(wrong)) {
      raise(sprintf("`edges`, row %d: there is no object %s", wrong[1L], format(end[wrong[1L]])))
    }
    as.double(end)
  }, numeric(nrow(edges)))
  list(
    ends = matrix(ends, nrow(edges), 2L),
    weights = if (ncol(edges) == 3L) as.double(edges[, 3L])
  )
}

# The edges of an igraph graph, by numbers of objects.
edges_of <- function(graph, given) {
  weights <- igraph::edge_attr(graph, "weight")
  ends <- igraph::as_edgelist(graph, names = FALSE)
  names <- igraph::vertex_attr(graph, "name")
  if (!is.null(names) && !is.null(given$objects)) {
    twice <- c(names[duplicated(names)], given$objects[duplicated(given$objects)])
    if (length(twice)) {
      raise(sprintf("`edges`: more than one vertex or object is called `%s`: they cannot be matched", twice[1L]))
    }
    at <- match(names, given$objects)
    if (anyNA(at)) {
      raise(sprintf(
        "`edges`: there is no object `%s`, as a vertex is called; the objects are %s",
        names[is.na(at)][1L], listed(given$objects)
      ))
    }
    ends[] <- at[ends]
  } else if (igraph::vcount(graph) != n_objects(given)) {
    raise(sprintf(
      "`edges` has %.0f vertices, but there are %s: name both, or give a graph of the objects in their order",
      igraph::vcount(graph), counted(n_objects(given), "object")
    ))
  }
  if (is.null(weights)) ends else cbind(ends, weights)
}

# Warns of what looks as if something else was meant.
warn_of_labels <- function(given) {
  n <- n_objects(given)
  if (length(given) > n) {
    warn(sprintf(
      paste(
        "`labels` holds %s of %s: matrices and data frames have one row per object and one column per",
        "clustering, lists one item per clustering; if yours is the other way round, give t(labels)"
      ),
      counted(length(given), "clustering"), counted(n, "object")
    ))
  }
  for (text in c("NA", "NaN", "<NA>", "None")) {
    with_it <- vapply(given$members, function(member) text %in% member$clusters, NA)
    if (any(with_it)) {
      warn(sprintf(
        "the text \"%s\" is a label in %s; if it means that there is none, give missing = \"%s\"",
        text, listed(names(given)[with_it]), text
      ))
    }
  }
}

# Method, number of clusters and parameters as the library takes them, once it can use them.
request <- function(method, k, params, network = FALSE) {
  if (!is.character(method) || !length(method) || anyNA(method)) {
    raise(sprintf("`method` must be names of methods, got %s", shown(method)))
  }
  if (length(params) && (is.null(names(params)) || any(!nzchar(names(params))))) {
    raise("parameters of the method must be named, such as `restarts = 20`")
  }
  asked <- list(
    method = gsub("_", "-", tolower(paste(method, collapse = ","))),
    k = span_of(k, "k"),
    param_names = as.character(names(params)),
    param_values = vapply(params, param_text, "", USE.NAMES = FALSE)
  )
  told <- .Call(wrap__check_request, c(asked, network = network))
  if (inherits(told, "consilience_failure")) raise(told$message, told$kind)
  asked
}

# The least and the largest number that an argument allows; NULL for any.
span_of <- function(k, name) {
  if (is.null(k) || identical(k, "auto")) return(NULL)
  fine <- is.numeric(k) && length(k) && !anyNA(k) && all(k == round(k)) && all(k >= 1) &&
    all(k < 2^31)
  if (fine && length(k) > 2L) fine <- all(diff(sort(k)) == 1)
  if (!fine) {
    raise(sprintf(
      "`%s` must be a whole number, a range such as 2:8, or \"auto\", got %s", name, shown(k)
    ))
  }
  as.integer(range(k))
}

param_text <- function(value) {
  if (length(value) != 1L || is.na(value)) {
    raise(sprintf("a parameter of a method must be one value, got %s", shown(value)))
  }
  if (is.logical(value)) return(tolower(as.character(value)))
  if (!is.numeric(value)) return(as.character(value))
  if (value == round(value) && abs(value) < 2^53) return(sprintf("%.0f", value))
  short <- sprintf("%.15g", value)
  if (as.numeric(short) == value) short else sprintf("%.17g", value)
}

# The consensus of an ensemble. `made` tells how the members were made, if they were, and `number` what
# features say of the number of clusters, which then is not looked for.
combined <- function(ensemble, asked, around, weights = NULL, clustering_weights = NULL, init = NULL,
                     network = NULL, made = NULL, number = NULL, call = NULL) {
  copies <- copies_of(clustering_weights, names(ensemble))
  members <- ensemble$members
  if (!is.null(copies)) members <- members[rep(seq_along(members), copies)]
  everyone <- structure(
    list(members = members, objects = ensemble$objects), class = "consilience_ensemble"
  )
  used <- everyone
  kept <- NULL
  if (!is.null(weights)) {
    weights <- weights_of(weights, n_objects(everyone), ensemble$objects)
    if (any(weights == 0)) {
      if (!is.null(network)) {
        raise("with `edges` all `weights` must be above 0: leave the other objects out of labels and edges")
      }
      kept <- which(weights > 0)
      used <- some_objects(everyone, kept)
      weights <- weights[kept]
      if (!is.null(init)) init <- list(part_of(init[[1L]], kept))
    }
  }
  span <- if (is.null(number)) asked$k else rep(as.integer(.Call(wrap__from_json, number)$k), 2L)
  answer <- native(
    wrap__combine,
    members = used$members, weights = weights, init = init, method = asked$method, k = span,
    param_names = asked$param_names, param_values = asked$param_values, edges = network$ends,
    edge_weights = network$weights, around = around
  )
  answer$number <- if (is.null(number)) answer$number else number
  if (!is.null(kept)) answer <- put_back(answer, everyone, kept, around)
  result <- new_result(answer, ensemble, copies, asked, around, made, call)
  if (identical(result$stop, "max-iterations")) {
    warn(sprintf(
      "`%s` was stopped after %s before it settled; methods(\"%s\") tells which parameter allows more",
      result$method, counted(result$iterations, "iteration"), result$method
    ), "convergence")
  }
  result
}

part_of <- function(member, rows) {
  member$codes <- member$codes[rows]
  member
}

# Weights of n objects, matched by name where weights and objects have names.
weights_of <- function(weights, n, objects = NULL) {
  if (!is.numeric(weights) || length(weights) != n) {
    raise(sprintf(
      "`weights` must be %s numbers, one per object, got %s", format(n), shown(weights)
    ))
  }
  wrong <- which(is.na(weights) | weights < 0 | is.infinite(weights))
  if (length(wrong)) {
    raise(sprintf(
      "`weights`, object %d: must be a number >= 0, got %s", wrong[1L], format(weights[wrong[1L]])
    ))
  }
  if (!any(weights > 0)) raise("`weights` are all 0: at least one object must count")
  if (!is.null(objects) && !is.null(names(weights))) weights <- weights[places(names(weights), objects, "weights")]
  as.double(weights)
}

copies_of <- function(weights, names) {
  if (is.null(weights)) return(NULL)
  if (!is.null(names(weights))) {
    at <- match(names, names(weights))
    if (anyNA(at) || length(weights) != length(names)) {
      raise("`clustering_weights` must name every clustering once, or have no names")
    }
    weights <- weights[at]
  }
  if (!is.numeric(weights) || length(weights) != length(names)) {
    raise(sprintf(
      "`clustering_weights` must be %s, one per clustering, got %s",
      counted(length(names), "whole number"), shown(weights)
    ))
  }
  if (anyNA(weights) || any(weights < 0 | weights != round(weights))) {
    raise("`clustering_weights` must be whole numbers >= 0: how many times each clustering counts")
  }
  if (!any(weights > 0)) raise("`clustering_weights` are all 0: at least one clustering must count")
  as.integer(weights)
}

# Gives objects that were left out the clusters of new ones.
put_back <- function(answer, everyone, kept, around) {
  n <- n_objects(everyone)
  gone <- setdiff(seq_len(n), kept)
  others <- native(
    wrap__assign,
    profiles = answer$profiles, profile_labels = answer$profile_labels, k = answer$k,
    new = some_objects(everyone, gone)$members, around = around
  )
  spread <- function(of_kept, of_gone) {
    all <- of_kept[rep(1L, n)]
    all[kept] <- of_kept
    all[gone] <- of_gone
    all
  }
  answer$labels <- spread(answer$labels, others$labels)
  answer$confidence <- spread(answer$confidence, others$confidence)
  if (!is.null(answer$coverage) || any(others$coverage < 1 - 1e-9)) {
    coverage <- if (is.null(answer$coverage)) rep(1, length(kept)) else answer$coverage
    answer$coverage <- spread(coverage, others$coverage)
  }
  answer$profiles$map <- spread(answer$profiles$map, others$profile)
  answer
}

# The result that users see.
new_result <- function(answer, ensemble, copies, asked, around, made, call) {
  objects <- ensemble$objects
  k <- answer$k
  numbers <- as.character(seq_len(k))
  map <- answer$profiles$map
  named <- function(values) if (is.null(objects)) values else setNames(values, objects)
  membership <- answer$profile_membership
  if (!is.null(membership)) {
    membership <- membership[map, , drop = FALSE]
    membership[is.na(map), ] <- 0
    dimnames(membership) <- list(objects, numbers)
  }
  first <- first_copies(copies, length(ensemble))
  correspondence <- answer$correspondence
  if (!is.null(correspondence)) {
    correspondence <- Map(function(shares, member) {
      dimnames(shares) <- list(member$clusters, numbers)
      shares
    }, correspondence[first], answer$profiles$members[first])
    names(correspondence) <- vapply(answer$profiles$members[first], function(m) m$name, "")
  }
  diagnostics <- answer$diagnostics
  for (name in answer$per_member) diagnostics[[name]] <- diagnostics[[name]][first]
  board <- answer$board$methods
  structure(
    list(
      clusters = named(factor(answer$labels, seq_len(k), numbers)),
      confidence = named(answer$confidence),
      coverage = named(if (is.null(answer$coverage)) rep(1, length(map)) else answer$coverage),
      k = k,
      method = answer$method,
      reason = answer$reason,
      params = lapply(answer$params, function(text) utils::type.convert(text, as.is = TRUE)),
      anmi = answer$anmi,
      membership = membership,
      correspondence = correspondence,
      choice = choice_of(answer$number, answer$criteria),
      leaderboard = if (length(board)) {
        frame_of(board, intersect(c("method", "k", "anmi", "agreement", "problem"), all_names(board)))
      },
      objective = answer$objective,
      trace = answer$trace,
      iterations = answer$iterations,
      stop = answer$stop,
      diagnostics = diagnostics,
      seed = around$seed,
      call = if (is.null(call)) call_of(asked, around$seed) else call,
      made = made,
      # What follows answers questions later; see the functions that do.
      objects = objects,
      copies = copies,
      asked = if (!is.null(asked$k) && asked$k[1L] == asked$k[2L]) asked$k[1L],
      number_json = answer$number,
      board_json = answer$board_json,
      profiles = answer$profiles,
      profile_labels = answer$profile_labels,
      merges = answer$merges,
      affinity = answer$affinity
    ),
    class = "consilience"
  )
}

all_names <- function(rows) unique(unlist(lapply(rows, names)))

# Where each clustering stands first among the weighted ones.
first_copies <- function(copies, r) {
  if (is.null(copies)) return(seq_len(r))
  (cumsum(copies) - copies + 1L)[copies > 0L]
}

# The call that gives the same result again.
call_of <- function(asked, seed) {
  words <- c("labels", sprintf("method = \"%s\"", asked$method))
  if (!is.null(asked$k)) {
    k <- asked$k
    words <- c(words, if (k[1L] == k[2L]) sprintf("k = %d", k[1L]) else sprintf("k = %d:%d", k[1L], k[2L]))
  }
  words <- c(words, sprintf("%s = %s", asked$param_names, asked$param_values))
  sprintf("consilience::consensus(%s, seed = %.0f)", paste(words, collapse = ", "), seed)
}
