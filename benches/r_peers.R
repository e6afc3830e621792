# Ours beside the R packages that are installed, in one run: the same data, seconds, and how well the answers
# agree with the known classes and with each other.
#
#     make r-package && make r-peers
#
# Peers that are not installed are left out by name. Data are drawn here, with fixed seeds.
suppressPackageStartupMessages(library(consilience))

seconds <- function(code) {
  gc(FALSE)
  started <- proc.time()[["elapsed"]]
  value <- force(code)
  list(value = value, seconds = proc.time()[["elapsed"]] - started)
}

has <- function(package) {
  there <- requireNamespace(package, quietly = TRUE)
  if (!there) cat(sprintf("%s is not installed: left out\n", package))
  there
}

row <- function(...) cat(sprintf(...), "\n", sep = "")

# Four groups of samples in genes, as tables of gene expression have them: one column per sample.
expression <- function(n, genes = 200, seed = 1) {
  set.seed(seed)
  classes <- rep(1:4, length.out = n)
  profiles <- matrix(rnorm(genes * 4), genes)
  list(data = profiles[, classes] + matrix(rnorm(genes * n, sd = 2.5), genes), classes = classes)
}

cat("\nConsensusClusterPlus and compat_ccp(): 200 subsamples, k = 2 to 6, average link of 1 - correlation\n")
if (has("ConsensusClusterPlus")) {
  grDevices::pdf(NULL)
  for (n in c(100, 250, 500, 1000)) {
    given <- expression(n)
    words <- list(d = given$data, maxK = 6, reps = 200, distance = "pearson", seed = 7)
    ours <- seconds(do.call(compat_ccp, words))
    theirs <- seconds(utils::capture.output(suppressMessages(
      found <- do.call(ConsensusClusterPlus::ConsensusClusterPlus, words)
    )))
    same <- vapply(2:6, function(k) {
      isTRUE(all.equal(ours$value[[k]]$consensusMatrix, found[[k]]$consensusMatrix)) &&
        identical(unname(ours$value[[k]]$consensusClass), unname(found[[k]]$consensusClass))
    }, NA)
    row(
      "n = %4d: ConsensusClusterPlus %7.2f s, compat_ccp %6.2f s, ratio %5.1f; matrices and classes equal: %d of 5 k",
      n, theirs$seconds, ours$seconds, theirs$seconds / ours$seconds, sum(same)
    )
    fit <- seconds(consensus_cluster(t(given$data), k = 4))
    row(
      "          ARI with the 4 classes: ConsensusClusterPlus %.3f, consensus_cluster(k = 4) %.3f in %.2f s",
      ari(found[[4]]$consensusClass, given$classes), ari(fit$value, given$classes), fit$seconds
    )
  }
  invisible(grDevices::dev.off())
}

# Clusterings of the same objects, with other numbers of clusters and mistakes of their own.
clusterings <- function(n, r, k, wrong, seed) {
  set.seed(seed)
  classes <- sample(k, n, replace = TRUE)
  columns <- replicate(r, simplify = FALSE, {
    labels <- classes
    off <- runif(n) < wrong
    labels[off] <- sample(k, sum(off), replace = TRUE)
    labels
  })
  list(classes = classes, labels = columns)
}

cat("\nclue::cl_consensus() and consensus(): 30 clusterings with 30 % of the labels drawn anew, k = 5\n")
if (has("clue")) {
  for (n in c(500, 5000, 50000)) {
    given <- clusterings(n, 30, 5, 0.3, 2)
    partitions <- clue::cl_ensemble(list = lapply(given$labels, clue::as.cl_hard_partition))
    for (method in c("SE", "DWH", "HE")) {
      theirs <- seconds(clue::cl_consensus(partitions, method = method, control = list(k = 5)))
      labels <- clue::cl_class_ids(theirs$value)
      row(
        "n = %5d: clue %-3s   %7.2f s, ARI %.3f, mean NMI with the clusterings %.4f", n, method,
        theirs$seconds, ari(labels, given$classes), anmi(labels, given$labels)
      )
    }
    for (method in c("auto", "scec", "kcc")) {
      ours <- seconds(consensus(partitions, k = 5, method = method))
      row(
        "n = %5d: ours %-6s %6.2f s, ARI %.3f, mean NMI with the clusterings %.4f", n,
        if (method == "auto") ours$value$method else method, ours$seconds,
        ari(ours$value, given$classes), ours$value$anmi
      )
    }
  }
}

cat("\ndiceR and consensus(): the same clusterings\n")
if (has("diceR")) {
  given <- clusterings(500, 30, 5, 0.3, 2)
  array <- array(unlist(given$labels), c(500, 30, 1, 1))
  for (name in c("k_modes", "majority_voting", "CSPA", "LCA")) {
    run <- getExportedValue("diceR", name)
    theirs <- tryCatch(
      seconds(if (name == "CSPA") run(array, k = 5) else run(matrix(unlist(given$labels), 500))),
      error = function(e) NULL
    )
    if (is.null(theirs)) next
    row("diceR %-15s %6.2f s, ARI %.3f", name, theirs$seconds, ari(as.vector(theirs$value), given$classes))
  }
  for (method in c("auto", "cspa")) {
    ours <- seconds(consensus(given$labels, k = 5, method = method))
    row("ours  %-15s %6.2f s, ARI %.3f", ours$value$method, ours$seconds, ari(ours$value, given$classes))
  }
}
