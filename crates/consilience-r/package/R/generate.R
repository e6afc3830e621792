#' Many clusterings of a table of features
#'
#' Clusters the rows of a table many times, each time a little differently. [consensus()] combines
#' what it gives; [consensus_cluster()] does both at once.
#'
#' @param x The features: a numeric matrix or data frame, one row per object. Bring them to one scale
#'   first if they differ, by `scale(x)` for instance.
#' @param size How many clusterings; by default 50, of a committee 48.
#' @param scheme What makes them differ: `"committee"` (clusterers of several kinds, each with several
#'   numbers of clusters; the default), `"random_k"` (the default if `base` is given), `"random_init"`
#'   (the default if `base` and one number `base_k` are given), `"random_subspace"`, `"bootstrap"`,
#'   `"subsample"` or `"random_projection"`.
#' @param base The clusterer, if one makes all clusterings: `"kmeans"`, `"fuzzy_kmeans"`, `"macqueen"`,
#'   `"minibatch_kmeans"`, `"u_spec"`, `"gmm"`, `"spectral"`, `"genie"`, `"single"`, `"average"`,
#'   `"complete"`, `"ward"` or `"density"`.
#' @param kinds The kinds of clusterers in a committee, of those that `base` knows; by default
#'   `c("genie", "spectral", "gmm", "kmeans")`.
#' @param base_k The number of clusters of a clustering, or the range from which it is drawn; by
#'   default what suits the scheme.
#' @param soft Whether clusterings hold memberships instead of labels.
#' @inheritParams consensus
#' @return A `consilience_ensemble`: see [ensemble()].
#' @examples
#' rings <- example_data("half-rings")
#' members <- generate(rings$features, size = 30, scheme = "random_init", base_k = 15)
#' members
#' result <- consensus(members, k = 2, method = "ea-sl")
#' ari(result, rings$classes)
#' @export
generate <- function(x, size = NULL, scheme = NULL, base = NULL, kinds = NULL, base_k = NULL,
                     soft = FALSE, seed = 0, threads = NULL, progress = FALSE, memory = NULL) {
  features <- features_of(x)
  around <- circumstances(seed, threads, memory, progress)
  recipe <- recipe_of(size, scheme, base, kinds, base_k, soft)
  make(features, recipe, NULL, around, keep = FALSE)$ensemble
}

#' Cluster a table of features by consensus
#'
#' Makes many clusterings of the rows by [generate()] and combines them by [consensus()]. With the
#' same seed it gives the clusters of `consilience run --scale none` on the command line.
#'
#' @inheritParams generate
#' @inheritParams consensus
#' @param k The number of clusters, a range such as `2:8`, or `"auto"`: the number is looked for in the
#'   features, unless the method named finds its own.
#' @param size How many clusterings; by default 50, of a committee 32, or 48 if the method is left to
#'   find the number of clusters.
#' @param weights Weights of the objects in the consensus; clusterers do not see them.
#' @return An object of class `consilience`: see [consensus()]. `predict()` labels new rows, and
#'   `choice` tells what the features say of the number of clusters.
#' @examples
#' fit <- consensus_cluster(scale(iris[, 1:4]), k = 3)
#' fit
#' table(predict(fit), iris$Species)
#' @export
consensus_cluster <- function(x, k = "auto", method = "auto", seed = 0, ..., size = NULL,
                              scheme = NULL, base = NULL, kinds = NULL, base_k = NULL,
                              weights = NULL, threads = NULL, progress = FALSE, memory = NULL) {
  features <- features_of(x)
  recipe <- recipe_of(size, scheme, base, kinds, base_k, FALSE)
  # What "auto" stands for where clusterings are of several kinds.
  if (identical(method, "auto") && recipe$scheme == "committee") method <- "lwgp"
  asked <- request(method, k, list(...))
  around <- circumstances(seed, threads, memory, progress)
  number <- native(
    wrap__number,
    x = features$values, method = asked$method, k = asked$k, param_names = asked$param_names,
    param_values = asked$param_values, around = around
  )
  exactly <- if (!is.null(asked$k) && asked$k[1L] == asked$k[2L]) asked$k[1L]
  wanted <- if (is.null(number)) exactly else .Call(wrap__from_json, number)$k
  made <- make(features, recipe, wanted, around, keep = TRUE)
  result <- combined(
    made$ensemble, asked, around,
    weights = weights, made = made$record, number = number,
    call = sub("consensus(labels", "consensus_cluster(x", call_of(asked, around$seed), fixed = TRUE)
  )
  result$models <- made$models
  result$features <- features$names
  result
}

# A table of features as the library takes it.
features_of <- function(x, name = "x") {
  if (inherits(x, "Matrix")) x <- as.matrix(x)
  if (inherits(x, "dist")) {
    raise(sprintf("`%s` holds distances: give the features themselves, one row per object", name))
  }
  if (is.data.frame(x)) {
    texts <- !vapply(x, function(column) is.numeric(column) || is.logical(column), NA)
    if (any(texts)) {
      raise(sprintf(
        "`%s`: column `%s` holds no numbers: leave it out, or make it numbers",
        name, names(x)[texts][1L]
      ))
    }
    # Row names that R made up are no names.
    own <- is.character(attr(x, "row.names"))
    x <- data.matrix(x)
    if (!own) rownames(x) <- NULL
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    raise(sprintf(
      "`%s` must be a matrix or data frame of numbers, got %s", name, class(x)[1L]
    ))
  }
  if (!nrow(x) || !ncol(x)) raise(sprintf("`%s` is empty: give at least one row and column", name))
  columns <- colnames(x)
  if (is.null(columns)) columns <- feature_names(ncol(x))
  wrong <- which(!is.finite(x), arr.ind = TRUE)
  if (nrow(wrong)) {
    raise(sprintf(
      "`%s`, row %d, column `%s`: a feature must be a finite number, got %s; %s",
      name, wrong[1L, 1L], columns[wrong[1L, 2L]], format(x[wrong[1L, 1L], wrong[1L, 2L]]),
      "leave such rows or columns out, or fill the gaps"
    ))
  }
  list(
    values = matrix(as.double(x), nrow(x), ncol(x)), names = columns, objects = rownames(x)
  )
}

# The names of columns that have none.
feature_names <- function(number) paste("feature", seq_len(number))

# Warns where distances are decided by columns that vary far more than others.
warn_of_scales <- function(features) {
  x <- features$values
  # Some thousand rows tell a factor of 100.
  some <- x[seq(1, nrow(x), by = nrow(x) %/% 10000 + 1), , drop = FALSE]
  deviations <- apply(some, 2L, stats::sd)
  varied <- which(is.finite(deviations) & deviations > 0)
  if (!length(varied)) return(invisible())
  most <- varied[which.max(deviations[varied])]
  least <- varied[which.min(deviations[varied])]
  times <- deviations[most] / deviations[least]
  if (times > 100) {
    warn(sprintf(
      paste(
        "`%s` varies %s times as much as `%s`, which then hardly counts;",
        "if their units differ, bring all columns to one scale first, by scale(x)"
      ),
      features$names[most], format(round(times), big.mark = ","), features$names[least]
    ))
  }
}

# How members are made, as the library takes it.
recipe_of <- function(size, scheme, base, kinds, base_k, soft) {
  dashed <- function(x, name) gsub("_", "-", one_text(x, name))
  span <- span_of(base_k, "base_k")
  one <- !is.null(span) && span[1L] == span[2L]
  if (!is.null(scheme)) {
    scheme <- dashed(scheme, "scheme")
  } else if (is.null(base)) {
    scheme <- "committee"
  } else {
    # Clusterings with one number of clusters can differ by their starts only.
    scheme <- if (one) "random-init" else "random-k"
  }
  if (scheme == "random-k" && one) {
    raise(sprintf(
      "`base_k` must be a range for scheme \"random_k\", got %d; scheme \"random_init\" takes one number",
      span[1L]
    ))
  }
  if (scheme == "committee" && !is.null(base)) {
    raise("`base` goes with other schemes: `kinds` names the clusterers of a committee")
  }
  if (scheme != "committee" && !is.null(kinds)) {
    raise(sprintf("`kinds` goes with scheme \"committee\", not with \"%s\"", scheme))
  }
  if (!is.null(kinds)) {
    if (!is.character(kinds) || !length(kinds) || anyNA(kinds)) {
      raise(sprintf("`kinds` must be names of clusterers, got %s", shown(kinds)))
    }
    kinds <- gsub("_", "-", kinds)
  }
  list(
    size = if (!is.null(size)) whole(size, "size", 1),
    scheme = scheme,
    base = if (is.null(base)) "kmeans" else dashed(base, "base"),
    kinds = kinds,
    base_k = span,
    soft = isTRUE(soft)
  )
}

# The clusterings, the models that label new rows, and what a report tells of how they were made.
make <- function(features, recipe, k, around, keep) {
  warn_of_scales(features)
  made <- native(
    wrap__make_members,
    x = features$values, names = features$names, size = recipe$size, scheme = recipe$scheme,
    base = recipe$base, kinds = recipe$kinds, base_k = recipe$base_k, k = k, soft = recipe$soft,
    keep = keep, around = around
  )
  sizes <- vapply(made$members, function(member) length(member$clusters), 0L)
  seats <- .Call(wrap__from_json, made$seats)
  base <- unique(vapply(seats, function(seat) seat$kind, ""))
  list(
    ensemble = structure(
      list(members = made$members, objects = features$objects), class = "consilience_ensemble"
    ),
    models = made$models,
    record = list(
      size = length(made$members), scheme = recipe$scheme,
      base = if (length(base)) paste(base, collapse = ", ") else recipe$base,
      base_k = range(sizes), seats = made$seats, features = ncol(features$values)
    )
  )
}

#' Data sets to try things on
#'
#' @param name `"half-rings"`, `"three-rings"`, `"cigar"`, `"blobs"` or `"iris"`.
#' @param seed The seed, for the sets that are drawn.
#' @return A list of `features`, a matrix with one row per object, and `classes`, a factor.
#' @examples
#' rings <- example_data("three-rings")
#' plot(rings$features, col = rings$classes, asp = 1)
#' @export
example_data <- function(name = "half-rings", seed = 0) {
  set <- native(
    wrap__example_data,
    name = gsub("_", "-", one_text(name, "name")), around = circumstances(seed, threads = 1)
  )
  colnames(set$features) <- set$feature_names
  list(
    features = set$features,
    classes = factor(set$classes, seq_along(set$class_names), set$class_names)
  )
}
