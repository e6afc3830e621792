test_that("measures agree with slow versions", {
  set.seed(5)
  a <- sample(4, 200, replace = TRUE)
  b <- ifelse(runif(200) < 0.6, a, sample(3, 200, replace = TRUE))
  table <- table(a, b)
  pairs <- function(x) sum(choose(x, 2))
  expected <- pairs(rowSums(table)) * pairs(colSums(table)) / choose(200, 2)
  most <- (pairs(rowSums(table)) + pairs(colSums(table))) / 2
  expect_equal(ari(a, b), (pairs(table) - expected) / (most - expected))
  p <- table / 200
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  mutual <- entropy(rowSums(p)) + entropy(colSums(p)) - entropy(p)
  expect_equal(nmi(a, b), mutual / sqrt(entropy(rowSums(p)) * entropy(colSums(p))))
  expect_equal(nmi(a, b, "max"), mutual / max(entropy(rowSums(p)), entropy(colSums(p))))
  expect_equal(variation_of_information(a, b), 2 * entropy(p) - entropy(rowSums(p)) - entropy(colSums(p)))
  expect_equal(purity(a, b), sum(apply(table, 1, max)) / 200)
  expect_equal(homogeneity(a, b), mutual / entropy(colSums(p)))
  expect_equal(completeness(a, b), mutual / entropy(rowSums(p)))
  expect_equal(accuracy(a, b) + error_rate(a, b), 1)
})

test_that("every measure of the table has a value, and 1 or 0 for equals", {
  same <- score(c(1, 1, 2, 2), c("x", "x", "y", "y"), "all")
  expect_named(same, measures()$name)
  higher <- measures()$higher_is_better
  expect_equal(unname(same[higher & names(same) != "nmi-log-k"]), rep(1, sum(higher) - 1))
  expect_equal(unname(same[!higher]), rep(0, sum(!higher)))
  for (measure in list(ami, ari, rand, fmi, accuracy, purity, v_measure, pc_idx, ecs)) {
    expect_equal(measure(c(1, 1, 2, 2), c(2, 2, 1, 1)), 1)
  }
})

test_that("many clusterings are scored row by row", {
  given <- noisy()
  table <- score(given$labels, given$truth, c("ari", "vi"))
  expect_identical(row.names(table), names(given$labels))
  expect_equal(table$ari[2], ari(given$labels[[2]], given$truth))
  result <- consensus(given$labels, k = 3)
  expect_equal(score(result, given$truth)[["ari"]], ari(result, given$truth))
  expect_equal(anmi(result, given$labels), result$anmi)
  expect_refused(ari(1:3, 1:4), "3 and 4 objects")
  expect_refused(score(1:3, 1:3, "no such"), "no measure")
  expect_refused(score(1:3, NULL), "NULL")
})

test_that("only objects that both label count", {
  expect_equal(ari(c(1, 1, 2, NA), c(1, 1, 2, 1)), 1)
  expect_equal(ari(c(1, 1, 2, -1), c(1, 1, 2, 1), missing = -1), 1)
})

test_that("diversity and consistency tell how much clusterings differ", {
  same <- list(c(1, 1, 2, 2), c(2, 2, 1, 1))
  expect_equal(inconsistency(same), 1)
  expect_equal(consistency(same), rep(1, 4))
  expect_equal(diversity(same)["ari", "mean"], 0)
  expect_equal(diversity(list(c(1, 1, 2, 2), c(1, 2, 2, 2)))["nmi", "count"], 1)
})

test_that("objects are matched by their names", {
  a <- c(p = 1, q = 1, r = 2, s = 2)
  expect_equal(ari(a, rev(c(p = "x", q = "x", r = "y", s = "y"))), 1)
  expect_lt(ari(a, c("x", "y", "x", "y")), 1)
  expect_refused(ari(a, c(p = 1, q = 1, r = 2, t = 2)), "different objects")
  many <- list(one = a, two = rev(a))
  expect_equal(score(many, c(s = 1, q = 2, r = 1, p = 2), "ari")$ari, c(1, 1))
  expect_refused(score(many, c(p = 1, q = 1, r = 2, t = 2)), "`truth` has names")
  b <- c(p = 1, q = 2, r = 2, s = 2)
  weights <- c(p = 5, q = 1, r = 2, s = 3)
  expect_equal(score(a, b, "ari", weights = rev(weights)), score(a, b, "ari", weights = weights))
  expect_equal(score(many, b, "ari", weights = rev(weights)), score(many, b, "ari", weights = weights))
  twice <- list(x = c(p = 1, p = 1, r = 2), y = c(p = 1, p = 1, r = 2))
  expect_equal(score(twice, c(p = 1, p = 1, r = 2), "ari")$ari, c(1, 1))
  expect_refused(score(twice, c(r = 1, p = 1, p = 2), "ari"), "twice")
})

test_that("the level that was resolved is a clustering", {
  coarse <- c(1, 1, 1, 1, 2, 2, 2, 2)
  fine <- c(1, 1, 1, 1, 2, 2, 3, 3)
  found <- resolve(list(coarse, coarse, coarse, fine, fine, fine), levels = rep(c(0.1, 0.5), each = 3), level = 0.1)
  expect_equal(ari(found, coarse), 1)
  expect_equal(score(found, coarse, "ari")[["ari"]], 1)
})
