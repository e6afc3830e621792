#' Look at a consensus
#'
#' Figures in base graphics.
#'
#' @param x A result of [consensus()] or [consensus_cluster()], or of [choose_k()].
#' @param what Which figure:
#'   - `"matrix"`: the consensus matrix, dark where objects are together in most clusterings, in the
#'     order of the tree if there is one and of the clusters otherwise, with the clusters as bars and a
#'     key of the shades;
#'   - `"cdf"`: the distribution of the consensus index over pairs of objects: flat in the middle if
#'     the clusterings agree. It is that of all clusterings given, whatever k; `"k"` and [as_ccp()] compare
#'     numbers of clusters;
#'   - `"items"`: item consensus: for each object the mean consensus with the objects of every
#'     cluster, as stacked bars in the order of the clusters. A bar may be higher than 1: an object that
#'     is at times with one cluster, at times with another, has a share in both;
#'   - `"k"`: what speaks for each number of clusters;
#'   - `"tree"`: the dendrogram, if the method has one.
#' @param most The largest number of objects that figures of pairs show: of more, so many evenly taken
#'   from the clusters.
#' @param col Colours of the clusters.
#' @param main The title.
#' @param ... Further graphical parameters, for the function that draws.
#' @return What was drawn, invisibly: the matrix, the distribution, the item consensus, the choice or
#'   the tree.
#' @examples
#' blobs <- example_data("blobs")
#' result <- consensus(generate(blobs$features), k = 5, method = "ea-al")
#' plot(result)
#' plot(result, "cdf")
#' plot(result, "items")
#' plot(result, "k")
#' plot(result, "tree")
#' @export
plot.consilience <- function(x, what = c("matrix", "cdf", "items", "k", "tree"), most = 500, col = NULL,
                             main = NULL, ...) {
  what <- one_of(what, "what")
  most <- whole(most, "most", 2)
  if (is.null(col)) col <- cluster_colours(x$k)
  col <- rep_len(col, max(x$k, 1L))
  switch(what,
    matrix = plot_matrix(x, most, col, main, ...),
    cdf = plot_cdf(x, most, main, ...),
    items = plot_items(x, most, col, main, ...),
    k = {
      choice <- if (is.null(x$choice)) choose_k(x, seed = x$seed) else x$choice
      plot(choice, main = main, ...)
    },
    tree = plot_tree(x, col, main, ...)
  )
}

cluster_colours <- function(k) {
  if (k < 1L) return("grey")
  # Okabe and Ito's, which all eyes tell apart; more by hue.
  few <- c("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
  if (k <= length(few)) few[seq_len(k)] else hcl.colors(k, "Dark 3")
}

# The objects that figures show, in the order in which they stand.
shown_objects <- function(x, most) {
  labelled <- which(!is.na(x$clusters))
  order <- if (is.null(x$merges)) {
    labelled[order(as.integer(x$clusters[labelled]), -x$confidence[labelled])]
  } else {
    tree <- as.hclust(x)$order
    tree[tree %in% labelled]
  }
  n <- length(order)
  if (n > most) order[unique(round(seq(1, n, length.out = most)))] else order
}

plot_matrix <- function(x, most, col, main, ...) {
  at <- shown_objects(x, most)
  if (!length(at)) raise("no object has a cluster: there is nothing to draw")
  matrix <- coassociation(x, at)[, at, drop = FALSE]
  m <- length(at)
  shades <- hcl.colors(64, "Blues 3", rev = TRUE)
  before <- par(mar = c(2, 2, 3, 5), xpd = TRUE)
  on.exit(par(before))
  image(
    seq_len(m), seq_len(m), matrix[, m:1, drop = FALSE],
    zlim = c(0, 1), col = shades, axes = FALSE, xlab = "", ylab = "",
    asp = 1, main = if (is.null(main)) sprintf("Consensus matrix, k = %d", x$k) else main, ...
  )
  colours <- col[as.integer(x$clusters[at])]
  wide <- m / 40
  rect(seq_len(m) - 0.5, m + 0.5, seq_len(m) + 0.5, m + 0.5 + wide, col = colours, border = NA)
  rect(0.5 - wide, m:1 - 0.5, 0.5, m:1 + 0.5, col = colours, border = NA)
  # The key: from never to always together.
  left <- m + 0.5 + 1.5 * wide
  heights <- 0.5 + m * seq(0, 0.4, length.out = length(shades) + 1L)
  rect(left, heights[-length(heights)], left + wide, heights[-1L], col = shades, border = NA)
  text(left + wide, 0.5 + m * c(0, 0.2, 0.4), c("0", "0.5", "1"), pos = 4, cex = 0.8)
  invisible(matrix)
}

plot_cdf <- function(x, most, main, ...) {
  at <- shown_objects(x, most)
  matrix <- coassociation(x, at)[, at, drop = FALSE]
  index <- matrix[lower.tri(matrix)]
  if (!length(index)) raise("a distribution needs at least two objects with a cluster")
  grid <- seq(0, 1, by = 0.005)
  share <- vapply(grid, function(limit) mean(index <= limit + 1e-12), 0)
  plot(
    grid, share,
    type = "l", lwd = 2, ylim = c(0, 1), col = "#0072B2", xlab = "consensus index",
    ylab = "share of pairs", las = 1,
    main = if (is.null(main)) sprintf("Distribution of the consensus, k = %d", x$k) else main, ...
  )
  # Between these a pair is undecided.
  abline(v = c(0.1, 0.9), lty = 3, col = "grey50")
  invisible(data.frame(index = grid, share = share))
}

# The mean consensus of every object of `at` with the other objects of every cluster.
item_consensus <- function(x, at) {
  numbers <- as.integer(x$clusters)
  belongs <- outer(numbers, seq_len(x$k), function(a, b) as.numeric(!is.na(a) & a == b))
  sizes <- colSums(belongs)
  means <- matrix(NA_real_, length(at), x$k, dimnames = list(x$objects[at], levels(x$clusters)))
  # In blocks of rows: the n x n matrix is never whole.
  for (block in split(seq_along(at), (seq_along(at) - 1L) %/% 256L)) {
    matrix <- coassociation(x, at[block])
    matrix[is.na(matrix)] <- 0
    own <- belongs[at[block], , drop = FALSE]
    itself <- matrix[cbind(seq_along(block), at[block])]
    others <- matrix(sizes, length(block), x$k, byrow = TRUE) - own
    means[block, ] <- (matrix %*% belongs - itself * own) / others
  }
  means[is.nan(means)] <- NA
  means
}

plot_items <- function(x, most, col, main, ...) {
  at <- shown_objects(x, most)
  at <- at[order(as.integer(x$clusters[at]))]
  if (!length(at)) raise("no object has a cluster: there is nothing to draw")
  means <- item_consensus(x, at)
  heights <- means
  heights[is.na(heights)] <- 0
  barplot(
    t(heights),
    col = col, border = NA, space = 0, names.arg = rep("", length(at)), las = 1,
    xlab = "objects, by cluster", ylab = "item consensus",
    main = if (is.null(main)) sprintf("Item consensus, k = %d", x$k) else main, ...
  )
  if (x$k <= 12L) legend("topright", levels(x$clusters), fill = col, border = NA, bg = "white", cex = 0.8)
  invisible(means)
}

plot_tree <- function(x, col, main, ...) {
  tree <- as.hclust(x)
  many <- length(tree$order) > 60L
  plot(
    as.dendrogram(tree),
    leaflab = if (many) "none" else "perpendicular", las = 1,
    ylab = if (grepl("^ea-", x$method)) "1 - consensus" else "height of the merge",
    main = if (is.null(main)) sprintf("Tree of `%s`, k = %d", x$method, x$k) else main, ...
  )
  points(
    seq_along(tree$order), rep(0, length(tree$order)),
    pch = 15, cex = if (many) 0.3 else 0.8, col = col[as.integer(x$clusters[tree$order])]
  )
  invisible(tree)
}

#' @rdname plot.consilience
#' @export
plot.consilience_choice <- function(x, main = NULL, ...) {
  title <- if (is.null(main)) sprintf("Evidence for k, from %s", x$from) else main
  if (x$from == "features") {
    evidence <- x$evidence
    barplot(
      evidence$score,
      names.arg = evidence$k, col = ifelse(evidence$k == x$k, "#0072B2", "grey80"), border = NA,
      xlab = "number of clusters", ylab = "score", main = title, las = 1, ...
    )
  } else if (is.null(x$curves)) {
    raise("one clustering alone says nothing of other numbers of clusters")
  } else {
    curves <- x$curves
    plot(
      curves$k, curves$stability,
      type = "b", pch = 19, col = "#0072B2", ylim = range(0, 1, curves$stability),
      xlab = "number of clusters", ylab = "", main = title, las = 1, ...
    )
    lines(curves$k, curves$undecided, type = "b", pch = 17, col = "#E69F00")
    lines(curves$k, curves$area_increase, type = "b", pch = 15, col = "#009E73")
    abline(v = x$k, lty = 3, col = "grey50")
    legend(
      "right", c("stability", "undecided pairs (PAC)", "increase of area"),
      col = c("#0072B2", "#E69F00", "#009E73"), pch = c(19, 17, 15), bty = "n", cex = 0.8
    )
  }
  invisible(x)
}
