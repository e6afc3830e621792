#' Results in the shape of ConsensusClusterPlus
#'
#' A list by number of clusters as `ConsensusClusterPlus()` returns it, so that scripts that read
#' `results[[3]]$consensusClass` go on.
#'
#' @param x Clusterings as [consensus()] takes them, a result of [consensus()], or a list of such results
#'   for several numbers of clusters.
#' @param k The numbers of clusters, if `x` holds clusterings.
#' @param method The method, if `x` holds clusterings; one that has a tree gives its own as
#'   `consensusTree`.
#' @param ... Further arguments of [consensus()].
#' @return A list whose item `[[k]]` is, for every number of clusters `k`, a list of `consensusMatrix`,
#'   `consensusTree` (an `hclust`), `consensusClass` (a named vector of numbers from 1), `ml` (the matrix
#'   again) and `clrs` (colours of the objects, their number, and the palette). Item `[[1]]` is a matrix of
#'   colours with one row per number and one column per object. Other items are `NULL`.
#' @examples
#' members <- generate(example_data("blobs")$features[1:100, ])
#' results <- as_ccp(members, k = 2:3)
#' table(results[[3]]$consensusClass)
#' results[[2]]$consensusTree
#' @export
as_ccp <- function(x, k = 2:6, method = "ea-al", ...) {
  if (inherits(x, "consilience")) x <- list(x)
  ours <- is.list(x) && length(x) && all(vapply(x, inherits, NA, "consilience"))
  if (!ours) {
    members <- ensemble(x)
    x <- lapply(sort(unique(k)), function(k) consensus(members, k = k, method = method, ...))
  }
  each <- lapply(x, function(result) {
    matrix <- unname(coassociation(result))
    tree <- if (is.null(result$merges)) {
      hclust(as.dist(1 - matrix), method = "average")
    } else {
      as.hclust(result)
    }
    class <- as.integer(result$clusters)
    names(class) <- if (is.null(result$objects)) seq_along(class) else result$objects
    list(k = result$k, matrix = matrix, tree = tree, class = class)
  })
  ccp_list(each)
}

# The list by number of clusters.
ccp_list <- function(each, palette = NULL) {
  most <- max(vapply(each, function(one) one$k, 0))
  results <- vector("list", max(most, 1L))
  colours <- list()
  for (one in each[order(vapply(each, function(one) one$k, 0))]) {
    own <- if (is.null(palette)) cluster_colours(one$k) else rep_len(palette, one$k)
    of_objects <- own[one$class]
    colours[[length(colours) + 1L]] <- of_objects
    if (one$k < 2L) next
    results[[one$k]] <- list(
      consensusMatrix = one$matrix, consensusTree = one$tree, consensusClass = one$class,
      ml = one$matrix, clrs = list(of_objects, one$k, own)
    )
  }
  results[[1L]] <- do.call(rbind, colours)
  results
}

#' ConsensusClusterPlus, by another engine
#'
#' Takes the arguments of `ConsensusClusterPlus()` and gives its list. With the same `seed` it draws the
#' same subsamples and clusters them by the same functions of R, so `consensusMatrix` and
#' `consensusClass` are those that ConsensusClusterPlus gives; only the counting of pairs, which takes
#' most of its time, is done by this package.
#'
#' @param d The data: a matrix with one **column** per object and one row per feature, or a `dist`.
#' @param maxK The largest number of clusters.
#' @param reps How many subsamples.
#' @param pItem,pFeature The shares of objects and of features in a subsample.
#' @param clusterAlg `"hc"` (`hclust()`), `"km"` (`kmeans()`), `"kmdist"` (`kmeans()` of the distances),
#'   `"pam"` (`cluster::pam()`), or the name of a function of a distance and a number of clusters.
#' @param title,writeTable,plot Only `plot = NULL` and `writeTable = FALSE` are known: nothing is written.
#'   [plot.consilience()] draws, and `write.csv()` writes.
#' @param innerLinkage,finalLinkage The links of the trees of subsamples and of the consensus.
#' @param distance `"pearson"`, `"spearman"` (1 - correlation), or a method of [dist()].
#' @param ml Not known.
#' @param tmyPal Colours of the clusters.
#' @param seed The seed, as for `set.seed()`; `NULL` goes on with R's random numbers. Where one is given,
#'   R's random numbers are afterwards as they were before.
#' @param weightsItem,weightsFeature Weights with which objects and features are drawn.
#' @param verbose Whether to tell of progress by messages.
#' @param corUse How correlations treat missing values: see [cor()][stats::cor].
#' @return A list as described in [as_ccp()].
#' @examples
#' blobs <- t(example_data("blobs")$features[1:60, ])
#' results <- compat_ccp(
#'   blobs, maxK = 4, reps = 50, clusterAlg = "km", distance = "euclidean", seed = 1
#' )
#' results[[3]]$consensusClass[1:5]
#' @export
compat_ccp <- function(d = NULL, maxK = 3, reps = 10, pItem = 0.8, pFeature = 1, clusterAlg = "hc",
                       title = "untitled_consensus_cluster", innerLinkage = "average",
                       finalLinkage = "average", distance = "pearson", ml = NULL, tmyPal = NULL,
                       seed = NULL, plot = NULL, writeTable = FALSE, weightsItem = NULL,
                       weightsFeature = NULL, verbose = FALSE, corUse = "everything") {
  if (!is.null(ml)) raise("`ml` is not known here: give the data")
  if (!is.null(plot) || isTRUE(writeTable)) {
    warn("`plot` and `writeTable` are left out: nothing is written; plot() and write.csv() do")
  }
  maxK <- whole(maxK, "maxK", 2)
  reps <- whole(reps, "reps", 1)
  clusterer <- ccp_clusterer(clusterAlg, innerLinkage)
  given <- inherits(d, "dist")
  if (!given && !(is.matrix(d) && is.numeric(d))) {
    raise(sprintf("`d` must be a numeric matrix with one column per object, or a dist, got %s", class(d)[1L]))
  }
  names <- if (given) attr(d, "Labels") else colnames(d)
  n <- if (given) attr(d, "Size") else ncol(d)
  if (n < maxK + 1) raise(sprintf("`maxK` is %.0f, but there are %s", maxK, counted(n, "object")))
  if (given && clusterer$needs == "data") raise("clusterAlg \"km\" needs data: \"kmdist\" takes distances")
  if (!is.null(seed)) {
    before <- get0(".Random.seed", globalenv(), inherits = FALSE)
    on.exit(if (is.null(before)) {
      rm(".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", before, envir = globalenv())
    })
    set.seed(seed)
  }
  ks <- seq(2, maxK)
  codes <- ccp_samples(
    d, n, ks, reps, pItem, pFeature, clusterer, distance, weightsItem, weightsFeature, corUse, verbose
  )
  each <- lapply(seq_along(ks), function(at) {
    matrix <- native(wrap__together, members = codes[[at]], around = circumstances(0))
    # Objects that were never drawn are with nobody but themselves.
    matrix[is.na(matrix)] <- 0
    tree <- hclust(as.dist(1 - matrix), method = finalLinkage)
    class <- cutree(tree, ks[at])
    names(class) <- names
    list(k = ks[at], matrix = matrix, tree = tree, class = class)
  })
  ccp_list(each, tmyPal)
}

# The clusterings of all subsamples: for each number of clusters its members.
ccp_samples <- function(d, n, ks, reps, pItem, pFeature, clusterer, distance, weightsItem, weightsFeature,
                        corUse, verbose) {
  whole_rows <- inherits(d, "dist") || (pFeature == 1 && is.null(weightsFeature))
  all <- if (inherits(d, "dist")) {
    as.matrix(d)
  } else if (whole_rows && clusterer$needs == "dist") {
    as.matrix(ccp_distance(d, distance, corUse))
  }
  codes <- lapply(ks, function(k) vector("list", reps))
  for (i in seq_len(reps)) {
    at <- sort(sample(n, floor(n * pItem), replace = FALSE, prob = weightsItem))
    rows <- if (!whole_rows) {
      sort(sample(nrow(d), floor(nrow(d) * pFeature), replace = FALSE, prob = weightsFeature))
    }
    sample <- if (clusterer$needs == "data") {
      t(if (is.null(rows)) d[, at, drop = FALSE] else d[rows, at, drop = FALSE])
    } else if (is.null(rows)) {
      as.dist(all[at, at, drop = FALSE])
    } else {
      ccp_distance(d[rows, at, drop = FALSE], distance, corUse)
    }
    prepared <- clusterer$prepare(sample)
    for (j in seq_along(ks)) {
      labels <- rep(NA_integer_, n)
      labels[at] <- as.integer(clusterer$cut(prepared, ks[j]))
      codes[[j]][[i]] <- encode(labels, as.character(i), NULL)
    }
    if (isTRUE(verbose)) {
      tell_progress(list(stage = "clustering subsamples", done = i, total = reps), "")
    }
  }
  codes
}

ccp_distance <- function(d, distance, corUse) {
  if (is.function(distance)) return(distance(t(d)))
  if (distance %in% c("pearson", "spearman")) {
    return(as.dist(1 - stats::cor(d, method = distance, use = corUse)))
  }
  dist(t(d), method = distance)
}

# How a subsample is clustered: what it needs, what is done once, and what for every k.
ccp_clusterer <- function(name, linkage) {
  name <- one_text(name, "clusterAlg")
  same <- function(sample) sample
  switch(name,
    hc = list(needs = "dist", prepare = function(sample) hclust(sample, method = linkage), cut = cutree),
    km = list(
      needs = "data", prepare = same,
      cut = function(sample, k) stats::kmeans(sample, k, iter.max = 10, nstart = 1)$cluster
    ),
    kmdist = list(
      needs = "dist", prepare = same,
      cut = function(sample, k) stats::kmeans(sample, k, iter.max = 10, nstart = 1)$cluster
    ),
    pam = {
      if (!requireNamespace("cluster", quietly = TRUE)) raise("clusterAlg \"pam\" needs package cluster")
      list(
        needs = "dist", prepare = same,
        cut = function(sample, k) cluster::pam(sample, k, diss = TRUE, cluster.only = TRUE)
      )
    },
    list(needs = "dist", prepare = same, cut = match.fun(name))
  )
}
