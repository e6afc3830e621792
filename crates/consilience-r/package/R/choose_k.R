#' How many clusters there are
#'
#' From clusterings: several rules look at how groups of objects are set apart, and are compared with
#' clusterings of data without clusters. From features: gaps between groups, and the agreement of
#' different kinds of clusterers, both compared with tables without clusters.
#'
#' @param x Clusterings as [consensus()] takes them, a result of [consensus()], or features.
#' @param k The numbers that may be chosen, such as `2:8`; all by default, and then 1 may be the answer.
#' @param from Whether `x` holds clusterings or features.
#' @inheritParams consensus
#' @return An object of class `consilience_choice`: a list of `k`; `clarity` ("clear", "unclear" or
#'   "none": whether that number is known, or there are no clusters at all); `from`; and
#'   - of clusterings `runner_up`, `reason`, `rules` (a data frame: what every rule says), `curves` (a
#'     data frame: for every number the stability, the share of undecided pairs (PAC), the area under
#'     the distribution of the consensus index and its increase), `distribution` (these distributions,
#'     one row per number) and `evidence`;
#'   - of features `depth` of the deepest gap in units of the deepest in data without clusters,
#'     `evidence` (a data frame with the score of every number), and `levels`: smaller numbers of larger
#'     groups that the clusters lie in.
#'
#'   `plot()` draws what speaks for each number.
#' @examples
#' blobs <- example_data("blobs")
#' choose_k(blobs$features, from = "features")
#' choose_k(generate(blobs$features), 2:8)
#' @export
choose_k <- function(x, k = NULL, from = c("clusterings", "features"), seed = 0,
                     missing = c(noise = -1), weights = NULL, threads = NULL, progress = FALSE, memory = NULL) {
  from <- one_of(from, "from")
  around <- circumstances(seed, threads, memory, progress)
  span <- span_of(k, "k")
  if (from == "features") {
    # A method that must be told, so that the number is looked for.
    asked <- request("lwgp", k, list())
    if (!is.null(span) && span[1L] == span[2L]) raise("`k` must be a range: one number leaves no choice")
    number <- native(
      wrap__number,
      x = features_of(x)$values, method = asked$method, k = span, param_names = character(),
      param_values = character(), around = around
    )
    if (is.null(number)) raise("there are too few rows to tell how many clusters there are")
    return(choice_of(number, NULL))
  }
  if (inherits(x, "consilience")) {
    members <- x$profiles$members
    weights <- x$profiles$weights
  } else {
    given <- ensemble(x, missing)
    members <- given$members
    if (!is.null(weights)) weights <- weights_of(weights, n_objects(given), given$objects)
  }
  criteria <- native(
    wrap__criteria,
    members = members, weights = weights, k = span, around = around
  )
  choice_of(NULL, criteria)
}

# What features, as JSON, or clusterings say of the number of clusters.
choice_of <- function(number, criteria) {
  if (!is.null(number)) {
    number <- .Call(wrap__from_json, number)
    number$evidence <- frame_of(number$evidence)
    return(structure(
      c(list(k = number$k, clarity = number$clarity, from = "features"), number[setdiff(names(number), c("k", "clarity"))]),
      class = "consilience_choice"
    ))
  }
  if (is.null(criteria)) return(NULL)
  curves <- criteria$curves
  columns <- c("k", "stability", "undecided", "area", "area_increase")
  distribution <- do.call(rbind, lapply(curves, function(curve) curve$distribution))
  if (!is.null(distribution)) {
    dimnames(distribution) <- list(
      vapply(curves, function(curve) format(curve$k), ""), seq(0, 1, length.out = ncol(distribution))
    )
  }
  others <- setdiff(names(criteria), c("recommended", "clarity", "curves", "rules"))
  structure(
    c(
      list(
        k = criteria$recommended, clarity = criteria$clarity, from = "clusterings",
        rules = frame_of(criteria$rules), curves = if (length(curves)) frame_of(curves, columns),
        distribution = distribution
      ),
      criteria[others]
    ),
    class = "consilience_choice"
  )
}

#' @export
print.consilience_choice <- function(x, ...) {
  how <- c(
    clear = "clearly", unclear = "but no number is clear", none = "there are no clusters to tell apart"
  )[[x$clarity]]
  cat(sprintf("%s, %s (from %s)\n", counted(x$k, "cluster"), how, x$from))
  if (x$from == "features") {
    print(x$evidence, row.names = FALSE, digits = 3)
  } else {
    writeLines(strwrap(paste("because", x$reason), width = 78))
    if (!is.null(x$rules)) print(x$rules, row.names = FALSE)
  }
  invisible(x)
}
