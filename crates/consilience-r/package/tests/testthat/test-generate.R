test_that("clusterings are made, named and repeatable", {
  rings <- example_data("half-rings")
  expect_identical(dim(rings$features), c(400L, 2L))
  members <- generate(rings$features, size = 20, scheme = "random_init", base_k = 15)
  expect_length(members, 20)
  expect_identical(
    members, generate(rings$features, size = 20, scheme = "random-init", base_k = 15, threads = 1)
  )
  expect_gt(ari(consensus(members, k = 2, method = "ea-sl"), rings$classes), 0.9)
  soft <- generate(rings$features, size = 3, base = "fuzzy_kmeans", base_k = 4, soft = TRUE)
  expect_equal(rowSums(soft$members[[1]]$memberships), rep(1, 400))
  expect_refused(generate(rings$features, base = "kmeans", kinds = "gmm"), "kinds")
  expect_refused(generate(rings$features, base = "no such"), "no such")
  expect_refused(generate(rings$features, scheme = "random_k", base_k = 4), "range")
})

test_that("features are checked", {
  expect_refused(generate(iris), "`Species` holds no numbers")
  expect_refused(generate(dist(1:3)), "distances")
  expect_refused(generate(letters), "matrix or data frame")
  holes <- as.matrix(iris[, 1:4])
  holes[7, 2] <- NA
  expect_refused(generate(holes), "row 7, column `Sepal.Width`")
})

test_that("a doubtful column is warned of", {
  x <- cbind(a = rnorm(100), b = 1e4 * rnorm(100))
  expect_warning(generate(x, size = 4), class = "consilience_warning")
})

test_that("every kind of clusterer labels new rows as it labelled those it learned from, after saving too", {
  blobs <- example_data("blobs")$features
  for (base in c("kmeans", "fuzzy_kmeans", "u_spec", "gmm", "spectral", "genie", "ward", "density")) {
    # Four clusterings may tie, which is warned of.
    fit <- suppressWarnings(consensus_cluster(blobs, k = 5, size = 4, base = base, base_k = c(4, 8)))
    file <- tempfile()
    saveRDS(fit, file)
    fit <- readRDS(file)
    unlink(file)
    expect_gt(ari(predict(fit, blobs), predict(fit)), 0.99)
    expect_identical(predict(fit, blobs[3:4, ]), predict(fit, blobs)[3:4], label = base)
  }
  subspace <- consensus_cluster(scale(iris[, 1:4]), k = 3, size = 10, base = "kmeans", scheme = "random_subspace")
  expect_gt(ari(predict(subspace, scale(iris[, 1:4])), predict(subspace)), 0.95)
  projected <- consensus_cluster(scale(iris[, 1:4]), k = 3, size = 10, base = "kmeans", scheme = "random_projection")
  expect_gt(ari(predict(projected, scale(iris[, 1:4])), predict(projected)), 0.95)
})

test_that("columns of new rows are found by name", {
  x <- as.data.frame(scale(iris[, 1:4]))
  fit <- consensus_cluster(x, k = 3, size = 8)
  expect_identical(predict(fit, x[1:9, 4:1]), predict(fit, x[1:9, ]))
  expect_refused(predict(fit, x[, 1:3]), "no column `Petal.Width`")
  expect_refused(predict(fit, unname(as.matrix(x[, 1:3]))), "3 columns, but the fit had 4")
})

test_that("the number of clusters is found in the features", {
  blobs <- example_data("blobs")
  fit <- consensus_cluster(blobs$features)
  expect_identical(fit$k, 5L)
  expect_identical(fit$choice$from, "features")
  expect_identical(fit$choice$clarity, "clear")
  expect_equal(ari(fit, blobs$classes), 1)
})
