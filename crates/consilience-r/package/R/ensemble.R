#' Clusterings of the same objects
#'
#' Brings clusterings in any of R's shapes into one. All functions that take clusterings call it by
#' themselves; call it to name clusterings, to say what "no label" is, or to look at what is there.
#'
#' @param x The clusterings:
#'   - a matrix or data frame with one row per object and one **column** per clustering;
#'   - a list with one **item** per clustering: a vector or factor of labels, a matrix of memberships
#'     (one row per object, one column per cluster, rows that sum to 1), or what `kmeans()`,
#'     `cluster::pam()` or `mclust::Mclust()` return;
#'   - an ensemble of package clue (`cl_ensemble`), its partitions hard or soft.
#'
#'   Where all items of a list have names (row names of memberships), they are names of the objects:
#'   they are matched, in the order of the first item, and all items must have the same ones. Otherwise
#'   the order counts.
#' @param missing Labels that mean "no label", besides `NA` and the empty text: `missing = 0` for the
#'   noise of `dbscan::dbscan()`, for instance. By default -1 does in a clustering whose labels are all
#'   whole numbers, as on the command line and in Python; a warning of class `consilience_warning_noise`
#'   tells where. `missing = -1` says the same of all clusterings without the warning, and with
#'   `missing = NULL` -1 is a cluster.
#' @param ... Not used.
#' @return An object of class `consilience_ensemble`: a list with `members` (each with its name, the
#'   names of its clusters, and codes or memberships) and `objects`, the names of the objects or
#'   `NULL`. `length()`, `names()`, `[`, `print()` and `as.data.frame()` do what one expects.
#' @examples
#' ensemble(data.frame(site1 = c("a", "a", "b"), site2 = c(1, NA, 2)))
#' soft <- matrix(c(0.9, 0.8, 0.1, 0.1, 0.2, 0.9), ncol = 2)
#' ensemble(list(hard = c(1, 1, 2), soft = soft))
#' @export
ensemble <- function(x, missing = c(noise = -1), ...) UseMethod("ensemble")

#' @rdname ensemble
#' @export
ensemble.default <- function(x, missing = c(noise = -1), ...) {
  if (inherits(x, "Matrix")) return(ensemble(as.matrix(x), missing))
  if (!is.null(x) && is.atomic(x) && is.null(dim(x))) {
    raise(paste(
      "`labels` is one vector, but a consensus is of several clusterings:",
      "give a matrix or data frame with one column per clustering, or a list of them"
    ))
  }
  raise(sprintf(
    "`labels` must be a matrix, a data frame, a list or a clue ensemble, got %s", class(x)[1L]
  ))
}

#' @rdname ensemble
#' @export
ensemble.consilience_ensemble <- function(x, missing = c(noise = -1), ...) x

#' @rdname ensemble
#' @export
ensemble.matrix <- function(x, missing = c(noise = -1), ...) {
  if (is.list(x)) raise("`labels` is a matrix of lists: labels must be numbers or texts")
  columns <- lapply(seq_len(ncol(x)), function(j) x[, j])
  new_ensemble(columns, member_names(colnames(x), ncol(x)), rownames(x), missing)
}

#' @rdname ensemble
#' @export
ensemble.data.frame <- function(x, missing = c(noise = -1), ...) {
  names <- if (is.character(attr(x, "row.names"))) row.names(x)
  new_ensemble(unclass(x), member_names(names(x), length(x)), names, missing)
}

#' @rdname ensemble
#' @export
ensemble.list <- function(x, missing = c(noise = -1), ...) {
  members <- member_names(names(x), length(x))
  aligned <- align(lapply(x, labels_in), members)
  new_ensemble(aligned$clusterings, members, aligned$objects, missing)
}

# Clusterings with their objects in the order of the first, by name where all have names.
align <- function(clusterings, members) {
  names <- lapply(clusterings, function(x) if (is.matrix(x)) rownames(x) else names(x))
  named <- which(!vapply(names, is.null, NA))
  if (!length(named)) return(list(clusterings = clusterings))
  first <- named[1L]
  objects <- names[[first]]
  for (i in named) {
    if (identical(names[[i]], objects)) next
    between <- sprintf("clusterings `%s` and `%s`", members[first], members[i])
    hint <- "; unname() them if the order is the same"
    unnamed <- setdiff(seq_along(clusterings), named)
    if (length(unnamed)) {
      raise(sprintf(
        "%s name objects in different ways, and `%s` names none: name the objects in all%s",
        between, members[unnamed[1L]], hint
      ))
    }
    both <- list(objects, names[[i]])
    if (any(vapply(both, function(names) anyDuplicated(names) > 0L || anyNA(names), NA))) {
      raise(sprintf("%s name some objects twice or not at all, so they cannot be matched%s", between, hint))
    }
    for (at in 1:2) {
      lacking <- setdiff(both[[at]], both[[3L - at]])
      if (length(lacking)) {
        raise(sprintf(
          "%s are of different objects: only `%s` has `%s`; give all objects to all, NA where there is no label%s",
          between, members[c(first, i)[at]], lacking[1L], hint
        ))
      }
    }
    order <- match(objects, names[[i]])
    clusterings[[i]] <- if (is.matrix(clusterings[[i]])) {
      clusterings[[i]][order, , drop = FALSE]
    } else {
      clusterings[[i]][order]
    }
  }
  list(clusterings = clusterings, objects = objects)
}

#' @rdname ensemble
#' @export
ensemble.cl_ensemble <- function(x, missing = c(noise = -1), ...) {
  if (!requireNamespace("clue", quietly = TRUE)) {
    raise("`labels` is an ensemble of package clue, which is not installed: install.packages(\"clue\")")
  }
  ensemble.list(setNames(lapply(seq_along(x), function(i) x[[i]]), names(x)), missing)
}

# The labels, or memberships, in what clusterers return.
labels_in <- function(x) {
  if (is.atomic(x)) return(x)
  if (inherits(x, c("consilience", "consilience_resolution"))) {
    if (is.null(x$clusters)) raise("no level is stable: name one, by predict(x, level = ...)")
    return(x$clusters)
  }
  if (inherits(x, "cl_partition") && requireNamespace("clue", quietly = TRUE)) {
    if (clue::is.cl_hard_partition(x)) return(as.integer(clue::cl_class_ids(x)))
    memberships <- clue::cl_membership(x)
    return(matrix(as.numeric(memberships), nrow(memberships), ncol(memberships)))
  }
  if (is.data.frame(x)) return(as.matrix(x))
  for (place in c("cluster", "clustering", "classification", "membership")) {
    found <- if (is.list(x)) x[[place]]
    if (is.atomic(found) && length(found)) return(found)
  }
  if (inherits(x, "hclust")) {
    raise("a tree of `hclust()` is not one clustering: cut it first, by `cutree()`")
  }
  raise(sprintf("`labels`: cannot find labels in an object of class %s", class(x)[1L]))
}

member_names <- function(names, r) {
  if (is.null(names)) names <- rep("", r)
  empty <- is.na(names) | !nzchar(names)
  names[empty] <- as.character(seq_len(r))[empty]
  make.unique(names)
}

new_ensemble <- function(clusterings, names, objects, missing) {
  if (!length(clusterings)) raise("`labels` has no clustering: give at least one")
  members <- Map(function(x, name) encode(x, name, missing), clusterings, names)
  sizes <- vapply(members, member_size, 0)
  odd <- which(sizes != sizes[1L])
  if (length(odd)) {
    raise(sprintf(
      "clustering `%s` labels %s, but `%s` labels %s: all must be of the same objects",
      names[odd[1L]], counted(sizes[odd[1L]], "object"), names[1L], counted(sizes[1L], "object")
    ))
  }
  if (sizes[1L] == 0) raise("`labels` has no objects: give at least one row")
  noisy <- vapply(members, function(member) isTRUE(member$noise), NA)
  if (any(noisy)) {
    warn(sprintf(
      paste(
        "-1 is read as \"no label\" in %s: give missing = -1 if that is right,",
        "missing = NULL if it is a cluster"
      ),
      listed(names[noisy])
    ), "noise")
    members <- lapply(members, function(member) member[names(member) != "noise"])
  }
  structure(
    list(members = unname(members), objects = if (!is.null(objects)) as.character(objects)),
    class = "consilience_ensemble"
  )
}

member_size <- function(member) {
  if (is.null(member$memberships)) length(member$codes) else nrow(member$memberships)
}

# One clustering: clusters are coded in the order of their first objects.
encode <- function(x, name, missing) {
  if (is.matrix(x) && ncol(x) > 1L) return(encode_soft(x, name))
  if (is.factor(x)) {
    texts <- levels(x)
    codes <- as.integer(x)
  } else {
    x <- as.vector(x)
    if (is.logical(x) || is.integer(x)) {
      found <- unique(x)
    } else if (is.numeric(x)) {
      broken <- which(!is.na(x) & (x != round(x) | abs(x) >= 2^53))
      if (length(broken)) {
        raise(sprintf(
          paste(
            "clustering `%s`, row %d: a label must be a whole number or text, got %s;",
            "features are clustered by consensus_cluster() or generate()"
          ),
          name, broken[1L], format(x[broken[1L]])
        ))
      }
      x[is.nan(x)] <- NA
      found <- unique(x)
    } else if (is.character(x)) {
      found <- unique(x)
    } else {
      raise(sprintf("clustering `%s`: labels must be numbers or texts, got %s", name, class(x)[1L]))
    }
    found <- found[!is.na(found)]
    codes <- match(x, found)
    texts <- if (is.numeric(found)) sprintf("%.0f", found) else as.character(found)
  }
  # What is called noise is so among whole numbers only.
  noise <- as_labels(missing[names(missing) == "noise"])
  gone <- is.na(texts) | !nzchar(texts) | texts %in% setdiff(as_labels(missing), noise)
  codes[codes %in% which(gone)] <- NA
  first <- unique(codes[!is.na(codes)])
  if (!any(texts[first] %in% noise) || !all(grepl("^[-+]?[0-9]+$", texts[first]))) {
    return(list(name = name, clusters = texts[first], codes = match(codes, first)))
  }
  first <- first[!texts[first] %in% noise]
  list(name = name, clusters = texts[first], codes = match(codes, first), noise = TRUE)
}

encode_soft <- function(x, name) {
  if (!is.numeric(x)) {
    raise(sprintf("clustering `%s`: memberships must be numbers, got %s", name, typeof(x)))
  }
  clusters <- colnames(x)
  if (is.null(clusters)) clusters <- as.character(seq_len(ncol(x)))
  x <- matrix(as.double(x), nrow(x), ncol(x))
  # A row without any membership is an object without a label.
  x[rowSums(!is.na(x)) == 0, ] <- 0
  list(name = name, clusters = make.unique(clusters), memberships = x)
}

as_labels <- function(x) {
  if (is.numeric(x)) sprintf("%.0f", x) else as.character(x)
}

n_objects <- function(x) member_size(x$members[[1L]])

#' @export
length.consilience_ensemble <- function(x) length(unclass(x)$members)

#' @export
names.consilience_ensemble <- function(x) {
  vapply(unclass(x)[["members"]], function(member) member$name, "")
}

#' @export
`$.consilience_ensemble` <- function(x, name) unclass(x)[[name]]

#' @export
`[.consilience_ensemble` <- function(x, i) {
  parts <- unclass(x)
  parts$members <- unname(setNames(parts$members, names(x))[i])
  if (!length(parts$members) || any(vapply(parts$members, is.null, NA))) {
    raise("there is no such clustering in the ensemble")
  }
  parts$models <- NULL
  structure(parts, class = "consilience_ensemble")
}

#' @export
print.consilience_ensemble <- function(x, ...) {
  members <- x$members
  soft <- sum(vapply(members, function(member) !is.null(member$memberships), NA))
  sizes <- vapply(members, function(member) length(member$clusters), 0L)
  missing <- sum(vapply(members, function(member) sum(is.na(member$codes)), 0))
  cat(sprintf(
    "%s of %s, %s clusters each%s%s\n",
    counted(length(members), "clustering"), counted(n_objects(x), "object"),
    if (min(sizes) == max(sizes)) min(sizes) else sprintf("%d to %d", min(sizes), max(sizes)),
    if (soft) sprintf(", %d of them soft", soft) else "",
    if (missing) sprintf(", %s missing", counted(missing, "label")) else ""
  ))
  invisible(x)
}

#' @export
as.data.frame.consilience_ensemble <- function(x, row.names = NULL, optional = FALSE, ...) {
  columns <- lapply(x$members, function(member) {
    codes <- member$codes
    if (!is.null(member$memberships)) {
      codes <- max.col(member$memberships, ties.method = "first")
      codes[rowSums(member$memberships) == 0] <- NA
    }
    factor(codes, seq_along(member$clusters), member$clusters)
  })
  if (is.null(row.names)) row.names <- x$objects
  frame <- as.data.frame(setNames(columns, names(x)), optional = TRUE)
  if (!is.null(row.names) && !anyDuplicated(row.names)) attr(frame, "row.names") <- row.names
  frame
}

# Some of the objects; clusters with none of them are gone.
some_objects <- function(ensemble, rows) {
  parts <- unclass(ensemble)
  parts$members <- lapply(parts$members, function(member) {
    if (!is.null(member$memberships)) {
      member$memberships <- member$memberships[rows, , drop = FALSE]
      return(member)
    }
    codes <- member$codes[rows]
    first <- unique(codes[!is.na(codes)])
    list(name = member$name, clusters = member$clusters[first], codes = match(codes, first))
  })
  if (!is.null(parts$objects)) parts$objects <- parts$objects[rows]
  structure(parts, class = "consilience_ensemble")
}
