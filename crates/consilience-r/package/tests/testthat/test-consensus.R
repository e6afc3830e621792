test_that("clusters are factors from 1, by falling size", {
  result <- consensus(list(c("b", "a", "a", "a"), c(1, 2, 2, 2)), k = 2)
  expect_s3_class(result, "consilience")
  expect_identical(predict(result), factor(c(2, 1, 1, 1), 1:2))
  expect_identical(result$k, 2L)
})

test_that("every method of the table runs, and its memberships sum to 1", {
  given <- noisy(40, 6)
  ring <- cbind(1:40, c(2:40, 1))
  for (name in consensus_methods()$name) {
    finds <- consensus_methods(name)$chooses_k == "always"
    result <- suppressWarnings(consensus(
      given$labels, k = if (finds) "auto" else 3, method = name, edges = if (name == "edge-cut") ring
    ))
    expect_identical(result$method, name)
    expect_length(predict(result), 40)
    if (!is.null(result$membership)) {
      expect_equal(rowSums(result$membership), rep(1, 40), label = name)
    }
  }
})

test_that("the same seed gives the same clusters, on any number of threads", {
  given <- noisy(80, 6, wrong = 0.5)
  run <- function(...) predict(consensus(given$labels, k = 3, method = "kcc", ...))
  expect_identical(run(seed = 4, threads = 1), run(seed = 4, threads = 3))
  set.seed(9)
  first <- consensus(given$labels, k = 3, method = "kcc", seed = NULL)
  set.seed(9)
  again <- consensus(given$labels, k = 3, method = "kcc", seed = NULL)
  expect_identical(first$seed, again$seed)
  expect_identical(predict(first), predict(again))
  other <- consensus(given$labels, k = 3, method = "kcc", seed = NULL)
  expect_false(other$seed == again$seed)
})

test_that("a given seed leaves R's random numbers alone", {
  set.seed(1)
  expected <- runif(1)
  set.seed(1)
  consensus(noisy(seed = 1)$labels, k = 3)
  set.seed(1)
  consensus(list(c(1, 1, 2), c(1, 2, 2)), k = 2)
  expect_identical(runif(1), expected)
})

test_that("the number of clusters is given, a range, or found", {
  given <- noisy(90, 10)
  expect_identical(consensus(given$labels)$k, 3L)
  expect_identical(consensus(given$labels, k = 2:5, method = "scec")$k, 3L)
  found <- consensus(given$labels, method = "scec")
  expect_equal(found$choice$k, 3)
  expect_s3_class(found$choice, "consilience_choice")
  expect_null(consensus(given$labels, k = 3)$choice)
  expect_refused(consensus(given$labels, k = 0), "`k` must be")
  expect_refused(consensus(given$labels, k = 2.5), "`k` must be")
  expect_refused(consensus(given$labels, k = c(2, 4, 7)), "range")
  expect_refused(consensus(given$labels, k = 3, method = "voting"), "voting")
})

test_that("parameters go by name and are checked first", {
  given <- noisy()
  result <- consensus(given$labels, k = 3, method = "scec", restarts = 2, alpha = 0.5)
  expect_identical(result$params$restarts, 2L)
  expect_identical(result$params$alpha, 0.5)
  expect_refused(consensus(given$labels, k = 3, method = "scec", restart = 2), "restarts")
  expect_refused(consensus(given$labels, k = 3, method = "scec", restarts = -1), "restarts")
  expect_refused(consensus(given$labels, 3, "scec", 0, 5), "must be named")
  expect_refused(consensus(given$labels, k = 3, restarts = 1:2), "one value|auto")
})

test_that("several methods are run side by side", {
  given <- noisy()
  result <- consensus(given$labels, k = 3, method = c("scec", "voting", "cspa"))
  expect_setequal(result$leaderboard$method, c("scec", "voting", "cspa"))
  expect_identical(result$method, result$leaderboard$method[1])
})

test_that("weights of objects and of clusterings count", {
  labels <- lapply(list(c(1, 1, 2, 2), c(1, 1, 2, 2), c(1, 2, 1, 2), c(1, 2, 1, 2)), rep, 3)
  three <- consensus(labels, k = 2, clustering_weights = c(3, 3, 1, 1), method = "scec")
  repeated <- consensus(labels[rep(1:4, c(3, 3, 1, 1))], k = 2, method = "scec")
  expect_identical(predict(three), predict(repeated))
  expect_length(three$correspondence, 4)
  without <- consensus(labels, k = 2, clustering_weights = c(1, 1, 0, 0), method = "scec")
  expect_identical(predict(without), predict(consensus(labels[1:2], k = 2, method = "scec")))
  given <- noisy(30, 6)
  zero <- c(rep(1, 29), 0)
  left_out <- consensus(given$labels, k = 3, weights = zero)
  others <- consensus(given$labels[1:29, ], k = 3)
  expect_identical(predict(left_out)[1:29], predict(others))
  expect_identical(predict(left_out)[30], predict(others, given$labels[30, ]))
  expect_refused(consensus(labels, k = 2, weights = 1:3), "12 numbers")
  expect_refused(consensus(labels, k = 2, weights = c(1, 1, -1, rep(1, 9))), "object 3")
  expect_refused(consensus(labels, k = 2, clustering_weights = c(1, 2)), "4 whole numbers")
})

test_that("an iterative method starts where it is told to", {
  given <- noisy(30, 6)
  result <- consensus(given$labels, k = 3, method = "scec", init = given$truth)
  expect_gt(ari(result, given$truth), 0.8)
  expect_refused(consensus(given$labels, k = 3, method = "cspa", init = given$truth), "init")
})

test_that("a method that is stopped warns with a class", {
  given <- noisy(200, 6, wrong = 0.6)
  expect_warning(
    consensus(given$labels, k = 3, method = "scec", max_iter = 1),
    class = "consilience_warning_convergence"
  )
})

test_that("memory is asked for before it is allocated", {
  set.seed(1)
  labels <- replicate(8, sample(30, 3000, replace = TRUE))
  expect_error(
    consensus(labels, k = 3, method = "rmsc", memory = 1e6), "ceiling",
    class = "consilience_error_memory"
  )
})

# Three communities of 40, and clusterings that each merge two of them or split one.
communities <- function(seed) {
  set.seed(seed)
  truth <- rep(1:3, each = 40)
  pairs <- t(utils::combn(120, 2))
  same <- truth[pairs[, 1]] == truth[pairs[, 2]]
  labels <- replicate(20, {
    one <- truth
    of <- truth == sample(3, 1)
    if (runif(1) < 0.5) one[of] <- one[of] %% 3 + 1 else one[of & runif(120) < 0.5] <- 4
    one
  })
  list(truth = truth, labels = labels, edges = pairs[runif(nrow(pairs)) < ifelse(same, 0.3, 0.05), ])
}

test_that("communities are found through clusterings that merge and split them", {
  for (seed in 1:3) {
    given <- communities(seed)
    expect_silent(result <- consensus(given$labels, edges = given$edges))
    expect_identical(result$method, "edge-cut")
    # A vertex of most edges to another community goes there.
    expect_gt(ari(result, given$truth), 0.95)
  }
})

test_that("a network is given by numbers, by names or as a graph", {
  given <- communities(1)
  edges <- given$edges
  expected <- predict(consensus(given$labels, edges = edges))
  names <- paste0("object", 1:120)
  named <- as.data.frame(given$labels, row.names = names)
  by_name <- data.frame(from = names[edges[, 1]], to = names[edges[, 2]], weight = 1)
  expect_identical(unname(predict(consensus(named, edges = by_name))), expected)
  skip_if_not_installed("igraph")
  graph <- igraph::make_graph(t(edges), 120, directed = FALSE)
  expect_identical(predict(consensus(given$labels, edges = graph)), expected)
  # Vertices in another order, told by their names.
  by_name <- by_name[sample(nrow(by_name)), ]
  turned <- igraph::graph_from_data_frame(by_name, directed = FALSE, vertices = sample(names))
  expect_identical(unname(predict(consensus(named, edges = turned))), expected)
  expect_refused(consensus(named[-7, ], edges = turned), "no object `object7`")
  expect_refused(consensus(given$labels[-7, ], edges = turned), "120 vertices, but there are 119 objects")
  expect_refused(consensus(given$labels[-7, ], edges = graph), "120 vertices, but there are 119 objects")
  expect_refused(consensus(given$labels, edges = igraph::add_vertices(graph, 1)), "121 vertices")
})

test_that("networks that do not fit are refused", {
  labels <- list(c(1, 1, 2), c(1, 2, 2))
  expect_refused(consensus(labels, method = "edge-cut"), "edges")
  expect_refused(consensus(labels, edges = rbind(c(1, 9))), "row 1: there is no object 9")
  expect_refused(consensus(labels, edges = data.frame(a = "x", b = "y")), "no names")
  expect_refused(consensus(labels, edges = 1:3), "two columns")
  expect_refused(consensus(labels, k = 2, method = "scec", edges = rbind(c(1, 2))), "edges")
})
