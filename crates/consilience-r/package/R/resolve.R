#' Which resolution to take
#'
#' People vary a resolution and a seed and hold hundreds of clusterings. Of every level (a resolution, a number
#' of neighbours, whatever was varied besides the seed) it is told how much its clusterings agree, beside what
#' shuffled labels would reach, and how many clusters they have. A level is recommended if its clusterings
#' agree more than those of the levels beside it and at least half of the way from chance to full agreement. It
#' may be that no level is stable.
#'
#' @param labels The clusterings, as in [consensus()]: several at each level.
#' @param levels Which clustering is of which level: a pattern of their names such as
#'   `"leiden_{level}_{seed}"` (another word in braces, or `*`, stands for anything), a vector named by
#'   clusterings, or one level per clustering. Clusterings that do not match, or whose level is `NA`, are left
#'   out.
#' @param level The level to take, whatever is recommended.
#' @param weights Weights of the objects, numbers > 0.
#' @inheritParams consensus
#' @param x,object A result of `resolve()`.
#' @param ... For `plot()` further graphical parameters.
#' @return An object of class `consilience_resolution`: a list of `levels`, a data frame from coarse to fine
#'   (`level`, `members`, `clusters`, their median, least and most number, `stability`, `inconsistency` and
#'   `beyond_chance`, each with the ends of a 95 per cent interval, `chance`, `next` and `recommended`);
#'   `recommended`, the first choice first; `level`, the one taken; `clusters`, `confidence` and `coverage` of
#'   the objects at that level; `labels`, a data frame with the clusters at all levels, where a cluster keeps
#'   its number from level to level; `nodes` (with `recovery`: how well the clusterings of its level find that
#'   cluster too) and `edges` of the tree of clusters; and the `verdict` in words.
#'   `predict()` gives the clusters at the level taken, or at another; `plot()` draws stability by level.
#' @examples
#' coarse <- c(1, 1, 1, 1, 2, 2, 2, 2)
#' fine <- c(1, 1, 1, 1, 2, 2, 3, 3)
#' runs <- list(coarse, coarse, coarse, fine, fine, fine)
#' found <- resolve(runs, levels = rep(c(0.1, 0.5), each = 3))
#' found
#' predict(found)
#' predict(found, level = 0.1)
#' @export
resolve <- function(labels, levels, level = NULL, seed = 0, weights = NULL, missing = c(noise = -1),
                    threads = NULL, progress = FALSE, memory = NULL) {
  around <- circumstances(seed, threads, memory, progress)
  given <- ensemble(labels, missing)
  if (!is.null(weights)) {
    weights <- weights_of(weights, n_objects(given), given$objects)
    if (any(weights == 0)) raise("`weights` must be above 0: leave the other objects out of `labels`")
  }
  members <- given$members
  pattern <- NULL
  left_out <- character()
  if (is.character(levels) && length(levels) == 1L && grepl("{level}", levels, fixed = TRUE)) {
    pattern <- levels
    levels <- NULL
  } else {
    levels <- levels_of(levels, names(given))
    left_out <- names(given)[is.na(levels)]
    members <- members[!is.na(levels)]
    levels <- levels[!is.na(levels)]
    if (!length(levels)) raise("`levels` are all NA: give the level of every clustering")
  }
  told <- native(
    wrap__resolution,
    members = members, weights = weights, pattern = pattern, levels = levels,
    level = if (!is.null(level)) level_text(level), around = around
  )
  left_out <- c(left_out, told$left_out)
  if (length(left_out)) {
    warn(sprintf("%s left out, having no level: %s", counted(length(left_out), "clustering"), listed(left_out)))
  }
  new_resolution(told, given$objects)
}

levels_of <- function(levels, names) {
  if (!is.null(names(levels))) {
    strangers <- setdiff(names(levels), names)
    if (length(strangers)) {
      raise(sprintf("`levels`: there is no clustering `%s`; there are %s", strangers[1L], listed(names)))
    }
    levels <- unlist(levels)[names]
  }
  if (!is.atomic(levels) || length(levels) != length(names)) {
    raise(sprintf(
      "`levels` must be a pattern with {level} in it, or one level per clustering (%d), got %s",
      length(names), shown(levels)
    ))
  }
  vapply(levels, level_text, "", USE.NAMES = FALSE)
}

level_text <- function(level) if (is.na(level)) NA_character_ else param_text(level)

new_resolution <- function(told, objects) {
  record <- told$record
  rows <- record$levels
  figure <- function(name, part) {
    vapply(rows, function(row) if (is.null(row[[name]])) NA_real_ else row[[name]][[part]], 0)
  }
  one <- function(name) vapply(rows, function(row) if (is.null(row[[name]])) NA_real_ else row[[name]], 0)
  names <- vapply(rows, function(row) row$level, "")
  frame <- data.frame(
    level = names, members = one("members"), clusters = one("clusters"),
    clusters_median = figure("counts", "median"), clusters_least = figure("counts", "least"),
    clusters_most = figure("counts", "most")
  )
  for (name in c("stability", "inconsistency", "beyond_chance")) {
    frame[[name]] <- figure(name, "value")
    frame[[paste0(name, "_low")]] <- figure(name, "low")
    frame[[paste0(name, "_high")]] <- figure(name, "high")
  }
  frame$chance <- one("chance")
  frame$`next` <- one("next")
  frame$recommended <- vapply(rows, function(row) isTRUE(row$recommended), NA)
  labels <- setNames(lapply(told$labels, function(ids) factor(ids, sort(unique(ids)))), names)
  labels <- as.data.frame(labels, optional = TRUE)
  named <- function(values) if (is.null(objects) || is.null(values)) values else setNames(values, objects)
  at <- told$chosen
  of_tree <- function(rows, columns) {
    frame <- frame_of(rows, columns)
    # R counts levels and clusters from 1.
    for (name in intersect(c("level", "cluster", "next"), names(frame))) frame[[name]] <- frame[[name]] + 1
    frame
  }
  structure(
    list(
      levels = frame,
      recommended = names[told$recommended],
      level = if (!is.null(at)) names[at],
      clusters = if (!is.null(at)) named(labels[[at]]),
      confidence = if (!is.null(at)) named(told$confidence[[at]]),
      coverage = if (!is.null(at)) named(told$coverage[[at]]),
      labels = labels,
      nodes = of_tree(record$tree$nodes, c("level", "cluster", "size", "recovery", "confidence")),
      edges = of_tree(
        record$tree$edges, c("level", "cluster", "next", "count", "in_proportion", "out_proportion")
      ),
      verdict = record$verdict,
      objects = objects
    ),
    class = "consilience_resolution"
  )
}

#' @export
print.consilience_resolution <- function(x, ...) {
  writeLines(strwrap(x$verdict, width = 78))
  print(x$levels[c("level", "members", "clusters", "stability", "chance", "recommended")],
    row.names = FALSE, digits = 3
  )
  invisible(x)
}

#' @rdname resolve
#' @export
predict.consilience_resolution <- function(object, level = NULL, ...) {
  if (is.null(level)) {
    if (is.null(object$level)) raise("no level is stable: name one, by predict(x, level = ...)")
    return(object$clusters)
  }
  names <- object$levels$level
  at <- match(level_text(level), names)
  if (is.na(at)) raise(sprintf("there is no level `%s`; there are %s", level_text(level), listed(names)))
  clusters <- object$labels[[at]]
  if (is.null(object$objects)) clusters else setNames(clusters, object$objects)
}

#' @rdname resolve
#' @export
plot.consilience_resolution <- function(x, ...) {
  levels <- x$levels
  at <- seq_len(nrow(levels))
  plot(
    at, levels$stability,
    type = "b", pch = ifelse(levels$recommended, 19, 1), col = "#0072B2", ylim = c(0, 1), xaxt = "n",
    xlab = "level, from coarse to fine", ylab = "stability", las = 1, ...
  )
  axis(1, at, levels$level)
  segments(at, levels$stability_low, at, levels$stability_high, col = "#0072B2")
  lines(at, levels$chance, lty = 3, col = "grey50")
  text(at, levels$stability, levels$clusters, pos = 3, cex = 0.8)
  legend("bottomleft", c("recommended", "chance"), pch = c(19, NA), lty = c(NA, 3),
    col = c("#0072B2", "grey50"), bty = "n", cex = 0.8)
  invisible(x)
}
