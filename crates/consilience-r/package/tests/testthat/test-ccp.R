shape <- function(results, k, n) {
  one <- results[[k]]
  expect_named(one, c("consensusMatrix", "consensusTree", "consensusClass", "ml", "clrs"))
  expect_identical(dim(one$consensusMatrix), c(n, n))
  expect_s3_class(one$consensusTree, "hclust")
  expect_length(unique(one$consensusClass), k)
}

test_that("results have the shape of ConsensusClusterPlus", {
  blobs <- example_data("blobs")$features[1:60, ]
  rownames(blobs) <- paste0("s", 1:60)
  results <- as_ccp(generate(blobs), k = 2:4)
  expect_length(results, 4)
  for (k in 2:4) shape(results, k, 60L)
  expect_named(results[[3]]$consensusClass, rownames(blobs))
  expect_identical(dim(results[[1]]), c(3L, 60L))
  one <- consensus(noisy()$labels, k = 3, method = "scec")
  shape(as_ccp(one), 3, 60L)
  expect_null(as_ccp(one)[[2]])
})

test_that("compat_ccp gives what ConsensusClusterPlus gives", {
  skip_if_not_installed("ConsensusClusterPlus")
  set.seed(4)
  d <- cbind(matrix(rnorm(50 * 15), 50), matrix(rnorm(50 * 15, 1), 50), matrix(rnorm(50 * 10, -1), 50))
  d <- sweep(d, 1, apply(d, 1, median))
  colnames(d) <- paste0("sample", 1:40)
  cases <- list(
    list(), list(distance = "euclidean", innerLinkage = "complete", finalLinkage = "complete"),
    list(clusterAlg = "km", distance = "euclidean"), list(clusterAlg = "pam"),
    list(distance = "spearman"), list(pItem = 0.6, pFeature = 0.7),
    list(weightsItem = rep(1:2, 20))
  )
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (case in cases) {
    words <- c(list(d = d, maxK = 5, reps = 60, seed = 1262118388.71279), case)
    ours <- do.call(compat_ccp, words)
    said <- utils::capture.output(suppressMessages(
      theirs <- do.call(ConsensusClusterPlus::ConsensusClusterPlus, words)
    ))
    for (k in 2:5) {
      label <- paste(c("k", k, unlist(case)[1:2]), collapse = " ")
      expect_equal(ours[[k]]$consensusMatrix, theirs[[k]]$consensusMatrix, label = label)
      expect_identical(ours[[k]]$consensusClass, theirs[[k]]$consensusClass, label = label)
      expect_equal(ours[[k]]$consensusTree$height, theirs[[k]]$consensusTree$height, label = label)
    }
  }
})

test_that("compat_ccp leaves R's random numbers as they were, and refuses what it cannot do", {
  d <- t(example_data("blobs")$features[1:30, ])
  set.seed(3)
  before <- .Random.seed
  compat_ccp(d, maxK = 3, reps = 5, distance = "euclidean", seed = 1)
  expect_identical(.Random.seed, before)
  expect_identical(
    compat_ccp(dist(t(d)), maxK = 3, reps = 9, seed = 1)[[3]]$consensusClass,
    unname(compat_ccp(d, maxK = 3, reps = 9, distance = "euclidean", seed = 1)[[3]]$consensusClass)
  )
  expect_warning(compat_ccp(d, reps = 3, distance = "euclidean", plot = "png"), class = "consilience_warning")
  expect_refused(compat_ccp(d, maxK = 40), "30 objects")
  expect_refused(compat_ccp("x"), "numeric matrix")
})
