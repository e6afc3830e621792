#' @export
print.consilience <- function(x, ...) {
  cat(sprintf(
    "Consensus of %s by %s: %s (%s distinct) in %s, ANMI %.4f\n",
    counted(n_clusterings(x), "clustering"), x$method, counted(length(x$clusters), "object"),
    format(length(x$profiles$weights), big.mark = ","), counted(x$k, "cluster"), x$anmi
  ))
  sizes <- table(x$clusters, useNA = "ifany")
  labels <- names(sizes)
  labels[is.na(labels)] <- "none"
  shown <- head(seq_along(sizes), 20L)
  cat("Sizes:", paste(sprintf("%s: %d", labels[shown], sizes[shown]), collapse = ", "))
  if (length(sizes) > 20L) cat(", ...")
  cat("\n")
  invisible(x)
}

n_clusterings <- function(x) {
  if (is.null(x$copies)) length(x$profiles$members) else sum(x$copies > 0L)
}

#' What a consensus is worth
#'
#' The verdict in plain sentences, as the report begins: how many clusters and how sure, how many
#' objects are safe, which border is doubtful, which clusterings dissent.
#'
#' @param object,x A result of [consensus()] or [consensus_cluster()], or its summary.
#' @param ... Not used.
#' @return An object of class `summary.consilience`: a list of `verdict`, a data frame with what each
#'   sentence is about, its tone ("good", "caution", "weak") and its text; `clusters`, a data frame of
#'   sizes and mean confidences; and `result`.
#' @examples
#' summary(consensus(list(c(1, 1, 2, 2), c(1, 1, 2, 2), c(1, 2, 2, 2)), k = 2))
#' @export
summary.consilience <- function(object, ...) {
  told <- native(
    wrap__verdict,
    profiles = object$profiles, profile_labels = object$profile_labels, k = object$k,
    asked = object$asked, number = object$number_json, names = object$objects,
    around = circumstances(object$seed)
  )
  mean_of <- tapply(object$confidence, object$clusters, mean)
  structure(
    list(
      verdict = data.frame(about = told$about, tone = told$tone, text = told$text),
      clusters = data.frame(
        cluster = levels(object$clusters), size = as.vector(table(object$clusters)),
        confidence = as.vector(mean_of)
      ),
      result = object
    ),
    class = "summary.consilience"
  )
}

#' @rdname summary.consilience
#' @export
print.summary.consilience <- function(x, ...) {
  print(x$result)
  marks <- c(good = "+", caution = "!", weak = "-")[x$verdict$tone]
  for (i in seq_along(marks)) {
    writeLines(strwrap(x$verdict$text[i], width = 78, initial = paste0(marks[i], " "), prefix = "  "))
  }
  print(x$clusters, row.names = FALSE, digits = 3)
  invisible(x)
}

#' Clusters of the objects, and of new ones
#'
#' @param object A result of [consensus()] or [consensus_cluster()].
#' @param newdata Nothing, for the objects of the consensus themselves. Otherwise new objects: for
#'   [consensus()] their labels by the same clusterings, found by name if all have names and by order
#'   otherwise; for [consensus_cluster()] their features, likewise found by name if both tables have
#'   names of columns.
#' @param type `"class"` for clusters; `"support"` for how much the clusterings support each cluster for
#'   each object; `"all"` for a data frame of cluster, confidence and coverage.
#' @param missing Labels that mean "no label", besides `NA`, the empty text and what did for the fit.
#' @param threads The number of threads; `NULL` means all cores.
#' @param ... Not used.
#' @return A factor with `NA` where nothing is known of an object; for `"support"` a matrix with one row
#'   per object and one column per cluster; for `"all"` a data frame.
#' @details An object whose label tuple is known gets the cluster of that tuple; one with a new tuple
#'   that of the nearest known ones, by votes. Labels that a clustering never gave before count as
#'   missing.
#' @examples
#' labels <- data.frame(a = c("p", "p", "q"), b = c("x", "x", "y"), c = c("r", "s", "t"))
#' result <- consensus(labels, k = 2)
#' predict(result)
#' predict(result, data.frame(c = c("s", "t"), a = c("q", "p"), b = c("y", "x")))
#' @export
predict.consilience <- function(object, newdata = NULL, type = c("class", "support", "all"),
                                missing = NULL, threads = NULL, ...) {
  type <- one_of(type, "type")
  if (is.null(newdata) && type == "class") return(object$clusters)
  if (is.null(newdata) && type == "all") return(as.data.frame(object)[c("cluster", "confidence", "coverage")])
  around <- circumstances(object$seed, threads)
  if (is.null(newdata)) {
    members <- object$profiles$members
    names <- object$objects
  } else {
    new <- new_members(object, newdata, missing, around)
    members <- new$members
    names <- new$objects
  }
  routine <- if (type == "support") wrap__support else wrap__assign
  found <- native(
    routine,
    profiles = object$profiles, profile_labels = object$profile_labels, k = object$k, new = members,
    around = around
  )
  numbers <- as.character(seq_len(object$k))
  if (type == "support") {
    if (is.null(newdata)) {
      found <- found[object$profiles$map, , drop = FALSE]
      found[is.na(object$profiles$map), ] <- 0
    }
    dimnames(found) <- list(names, numbers)
    return(found)
  }
  clusters <- factor(found$labels, seq_len(object$k), numbers)
  if (type == "class") return(if (is.null(names)) clusters else setNames(clusters, names))
  frame <- data.frame(
    cluster = clusters, confidence = found$confidence, coverage = found$coverage
  )
  if (!is.null(names) && !anyDuplicated(names)) row.names(frame) <- names
  frame
}

# What the clusterings say of new objects, repeated as those of the fit were.
new_members <- function(object, newdata, missing, around) {
  if (!is.null(object$models)) {
    features <- features_of(newdata, "newdata")
    made_up <- identical(object$features, feature_names(length(object$features)))
    if (!is.null(colnames(newdata)) && !made_up) {
      at <- match(object$features, features$names)
      if (anyNA(at)) {
        raise(sprintf(
          "`newdata` has no column `%s`; it has %s", object$features[is.na(at)][1L], listed(features$names)
        ))
      }
      if (!identical(features$names, object$features)) features$values <- features$values[, at, drop = FALSE]
    }
    if (ncol(features$values) != length(object$features)) {
      raise(sprintf(
        "`newdata` has %s, but the fit had %d",
        counted(ncol(features$values), "column"), length(object$features)
      ))
    }
    members <- native(
      wrap__label_new,
      models = object$models, x = features$values, soft = FALSE, around = around
    )
    return(list(members = members, objects = features$objects))
  }
  new <- ensemble(newdata, missing)
  known <- vapply(object$profiles$members, function(member) member$name, "")
  first <- first_copies(object$copies, if (is.null(object$copies)) length(known) else length(object$copies))
  known <- known[first]
  order <- seq_along(new)
  numbered <- function(names) identical(names, as.character(seq_along(names)))
  if (!identical(names(new), known) && !numbered(names(new)) && !numbered(known)) {
    order <- match(known, names(new))
    if (anyNA(order)) {
      raise(sprintf(
        "`newdata` has no clustering `%s`; it has %s", known[is.na(order)][1L],
        paste(names(new), collapse = ", ")
      ))
    }
  }
  if (length(order) != length(known)) {
    raise(sprintf(
      "`newdata` has %s, but the fit had %d", counted(length(order), "clustering"), length(known)
    ))
  }
  times <- if (is.null(object$copies)) rep(1L, length(known)) else object$copies[object$copies > 0L]
  list(members = new$members[rep(order, times)], objects = new$objects)
}

#' @rdname consensus
#' @param x A result.
#' @param row.names,optional As for [as.data.frame()].
#' @export
as.data.frame.consilience <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- data.frame(
    cluster = unname(x$clusters), confidence = unname(x$confidence), coverage = unname(x$coverage)
  )
  if (!is.null(x$membership)) {
    memberships <- as.data.frame(unname(x$membership))
    names(memberships) <- paste0("membership_", seq_len(x$k))
    frame <- cbind(frame, memberships)
  }
  if (is.null(row.names)) row.names <- x$objects
  if (!is.null(row.names) && !anyDuplicated(row.names)) row.names(frame) <- row.names
  frame
}

#' The consensus matrix
#'
#' The share of the clusterings that put two objects together, of those that label both. Where a method
#' learns a consensus matrix of its own, that one is given.
#'
#' @param x A result of [consensus()] or [consensus_cluster()], or clusterings as [ensemble()] takes them.
#' @param rows The objects whose rows are wanted, by number; all by default, which makes an n x n matrix.
#' @param threads,memory As in [consensus()].
#' @return A matrix with one row per object of `rows` and one column per object: 0 where no clustering
#'   labels both, `NA` where one of them has no label at all.
#' @examples
#' coassociation(list(c(1, 1, 2), c(1, 2, 2)))
#' @export
coassociation <- function(x, rows = NULL, threads = NULL, memory = NULL) {
  around <- circumstances(0, threads, memory)
  if (!inherits(x, "consilience")) {
    given <- ensemble(x)
    matrix <- native(wrap__together, members = given$members, around = around)
    if (!is.null(given$objects)) dimnames(matrix) <- list(given$objects, given$objects)
    return(if (is.null(rows)) matrix else matrix[rows, , drop = FALSE])
  }
  map <- x$profiles$map
  n <- length(map)
  if (is.null(rows)) rows <- seq_len(n)
  if (!is.numeric(rows) || anyNA(rows) || any(rows < 1 | rows > n | rows != round(rows))) {
    raise(sprintf("`rows` must be numbers of objects, from 1 to %d", n))
  }
  if (!is.null(around$memory) && 16 * length(rows) * n > around$memory) {
    raise(sprintf(
      "the consensus matrix would need %.0f bytes, but the ceiling is %.0f: ask for fewer rows",
      16 * length(rows) * n, around$memory
    ), "memory")
  }
  of_rows <- map[rows]
  distinct <- sort(unique(of_rows))
  matrix <- if (is.null(x$affinity)) {
    native(wrap__coassociation, profiles = x$profiles, rows = as.integer(distinct), around = around)
  } else {
    x$affinity[distinct, , drop = FALSE]
  }
  matrix <- matrix[match(of_rows, distinct), map, drop = FALSE]
  if (!is.null(x$objects)) dimnames(matrix) <- list(x$objects[rows], x$objects)
  matrix
}

#' Who voted for what about one object
#'
#' A clustering votes by the object's cluster in it: for each cluster of the consensus with the share of
#' that cluster's objects that lie there.
#'
#' @param x A result of [consensus()] or [consensus_cluster()].
#' @param i The object: its number, or its name.
#' @return An object of class `consilience_explanation`: a list of `object`, `cluster`, `confidence`,
#'   `votes` (a data frame with one row per clustering: its cluster, the cluster of the consensus that it
#'   votes for, and the share), `support` of every cluster, and the `second` choice with the `margin` over it.
#' @examples
#' result <- consensus(list(c(1, 1, 1, 2, 2), c(1, 1, 1, 2, 2), c(1, 1, 2, 2, 2)))
#' explain(result, 3)
#' @export
explain <- function(x, i) {
  if (!inherits(x, "consilience")) raise("`x` must be a result of consensus()")
  n <- length(x$clusters)
  if (is.character(i)) {
    at <- which(x$objects == one_text(i, "i"))
    if (length(at) != 1L) raise(sprintf("%s object is called `%s`", if (length(at)) "more than one" else "no", i))
    i <- at
  }
  i <- whole(i, "i", 1)
  if (i > n) raise(sprintf("there is no object %.0f: there are %d", i, n))
  profile <- x$profiles$map[i]
  if (is.na(profile)) {
    raise(sprintf("object %.0f has no votes: no clustering labels it, or it has weight 0", i))
  }
  told <- native(
    wrap__votes,
    profiles = x$profiles, profile_labels = x$profile_labels, k = x$k, profile = profile,
    around = circumstances(0)
  )
  r <- if (is.null(x$copies)) length(x$profiles$members) else length(x$copies)
  first <- first_copies(x$copies, r)
  shares <- told$shares[first, , drop = FALSE]
  silent <- vapply(told$clusters[first], is.null, NA)
  best <- max.col(shares, ties.method = "first")
  best[silent] <- NA
  cluster <- as.integer(x$clusters[i])
  others <- setdiff(seq_len(x$k), cluster)
  second <- if (length(others)) others[which.max(told$support[others])]
  own <- if (is.na(cluster)) 0 else told$support[cluster]
  structure(
    list(
      object = if (is.null(x$objects)) as.integer(i) else x$objects[i],
      cluster = cluster,
      confidence = unname(x$confidence[i]),
      votes = data.frame(
        clustering = vapply(x$profiles$members[first], function(m) m$name, ""),
        cluster = vapply(told$clusters[first], function(c) if (is.null(c)) NA_character_ else c, ""),
        vote = best,
        share = shares[cbind(seq_along(best), best)]
      ),
      support = setNames(told$support, seq_len(x$k)),
      second = second,
      margin = own - if (is.null(second)) 0 else told$support[second]
    ),
    class = "consilience_explanation"
  )
}

#' @export
print.consilience_explanation <- function(x, ...) {
  cat(sprintf(
    "Object %s: cluster %s, confidence %.3f, margin %.3f%s\n", x$object, x$cluster, x$confidence,
    x$margin, if (is.null(x$second)) "" else sprintf(" over cluster %d", x$second)
  ))
  print(x$votes, row.names = FALSE, digits = 3)
  invisible(x)
}
