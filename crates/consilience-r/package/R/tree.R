#' The tree of a consensus
#'
#' Methods that end in a dendrogram (`gives` in [methods()] says which: `ea-al`, `lwea` and others) have a
#' tree over all objects. Equal objects merge first, at height 0; objects that no clustering labels join
#' last, at height 1.
#'
#' @param x,object A result of [consensus()] or [consensus_cluster()].
#' @param ... Not used.
#' @return An object of class [hclust][stats::hclust] or [dendrogram][stats::dendrogram].
#' @examples
#' result <- consensus(list(c(1, 1, 2, 2), c(1, 1, 2, 3), c(1, 2, 3, 3)), k = 2, method = "ea-al")
#' tree <- as.hclust(result)
#' cutree(tree, 2)
#' as.dendrogram(result)
#' @export
as.hclust.consilience <- function(x, ...) {
  if (is.null(x$merges)) {
    has <- vapply(method_table(), function(m) "dendrogram" %in% given_by(m), NA)
    raise(sprintf(
      "method `%s` has no tree of merges; these have: %s", x$method,
      paste(method_names()[has], collapse = ", ")
    ))
  }
  if (length(x$clusters) < 2L) raise("a tree needs at least two objects")
  rows <- native(
    wrap__linkage,
    profiles = x$profiles, merges = x$merges, around = circumstances(0)
  )
  hclust_of(rows, length(x$clusters), x$objects, x$method)
}

#' @rdname as.hclust.consilience
#' @export
as.dendrogram.consilience <- function(object, ...) as.dendrogram(as.hclust(object))

# A tree of R's from rows of two nodes and a height, where objects are nodes from 0 on and every row
# makes the next node.
hclust_of <- function(rows, n, labels, method) {
  m <- nrow(rows)
  if (m != n - 1L) {
    raise("the tree does not reach all objects: some have weight 0 or share no clustering with others")
  }
  nodes <- rows[, 1:2, drop = FALSE]
  height <- rows[, 3L]
  # R wants heights that never fall: a merge comes after those that it is made of.
  for (i in seq_len(m)) {
    made <- nodes[i, nodes[i, ] >= n] - n + 1
    height[i] <- max(height[i], height[made])
  }
  order <- order(height)
  place <- integer(m)
  place[order] <- seq_len(m)
  nodes <- nodes[order, , drop = FALSE]
  merge <- ifelse(nodes < n, -(nodes + 1), 0)
  inner <- nodes >= n
  merge[inner] <- place[nodes[inner] - n + 1]
  # Objects first, then earlier merges, as `hclust()` has them.
  swap <- ifelse(merge[, 1L] < 0 & merge[, 2L] < 0, merge[, 1L] < merge[, 2L], merge[, 1L] > merge[, 2L])
  merge[swap, ] <- merge[swap, 2:1]
  structure(
    list(
      merge = matrix(as.integer(merge), m, 2L), height = height[order], order = leaves(merge),
      labels = labels, method = method, call = sys.call(-1L), dist.method = "consensus"
    ),
    class = "hclust"
  )
}

# The objects from left to right.
leaves <- function(merge) {
  stack <- nrow(merge)
  order <- integer(nrow(merge) + 1L)
  found <- 0L
  top <- 1L
  while (top > 0L) {
    node <- stack[top]
    top <- top - 1L
    if (node < 0) {
      found <- found + 1L
      order[found] <- -node
    } else {
      stack[top + 1L] <- merge[node, 2L]
      stack[top + 2L] <- merge[node, 1L]
      top <- top + 2L
    }
  }
  as.integer(order)
}
