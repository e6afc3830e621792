test_that("all shapes of the same clusterings give the same consensus", {
  given <- noisy()
  frame <- given$labels
  expected <- unname(predict(consensus(frame, k = 3, method = "scec")))
  shapes <- list(
    matrix = as.matrix(frame),
    integers = matrix(as.integer(as.matrix(frame)), nrow(frame)),
    texts = apply(as.matrix(frame), 2, function(column) paste("cluster", column)),
    factors = lapply(frame, factor),
    frame_of_factors = as.data.frame(lapply(frame, factor)),
    list = as.list(frame),
    ensemble = ensemble(frame)
  )
  for (name in names(shapes)) {
    found <- predict(consensus(shapes[[name]], k = 3, method = "scec"))
    expect_identical(unname(found), expected, label = name)
  }
})

test_that("what clusterers return is taken as it is", {
  set.seed(2)
  x <- rbind(matrix(rnorm(40), 20), matrix(rnorm(40, 6), 20))
  fits <- lapply(2:4, function(k) kmeans(x, k))
  trees <- lapply(2:4, function(k) cutree(hclust(dist(x)), k))
  result <- consensus(c(fits, trees), k = 2)
  expect_equal(ari(result, rep(1:2, each = 20)), 1)
  expect_refused(consensus(list(hclust(dist(x)))), "cutree")
})

test_that("missing labels are NA, the empty text, and what is named", {
  labels <- list(c(1, 1, 2, NA), c("a", "a", "", "b"), factor(c("x", "x", "y", "y")))
  given <- ensemble(labels)
  expect_identical(given$members[[1]]$codes, c(1L, 1L, 2L, NA))
  expect_identical(given$members[[2]]$codes, c(1L, 1L, NA, 2L))
  result <- consensus(labels, k = 2)
  expect_equal(unname(result$coverage), c(1, 1, 2 / 3, 2 / 3))
  noise <- ensemble(list(c(0, 1, 1), c(1, 2, 2)), missing = 0)
  expect_identical(noise$members[[1]]$codes, c(NA, 1L, 1L))
  nobody <- consensus(list(c(1, 1, NA, 2), c(1, 1, NA, 2)), k = 2)
  expect_identical(as.vector(is.na(predict(nobody))), c(FALSE, FALSE, TRUE, FALSE))
  expect_equal(nobody$confidence[3], 0)
})

test_that("-1 among whole numbers is no label, with a warning, unless told otherwise", {
  labels <- list(a = c(-1, 0, 0, 1), b = c("x", "x", "-1", "y"), c = c("-1", "2", "2", "3"))
  expect_warning(given <- ensemble(labels), "`a`, `c`: give missing = -1", class = "consilience_warning_noise")
  expect_identical(given$members[[1]], list(name = "a", clusters = c("0", "1"), codes = c(NA, 1L, 1L, 2L)))
  expect_identical(given$members[[2]]$clusters, c("x", "-1", "y"))
  expect_identical(given$members[[3]]$codes, c(NA, 1L, 1L, 2L))
  expect_silent(told <- ensemble(labels, missing = -1))
  expect_identical(told$members[[1]], given$members[[1]])
  expect_identical(told$members[[2]]$codes, c(1L, 1L, NA, 2L))
  expect_silent(kept <- ensemble(labels, missing = NULL))
  expect_identical(kept$members[[1]]$clusters, c("-1", "0", "1"))
  # A fit decides for its new objects too.
  numbers <- list(c(-1, 1, 1, 2, 2), c(1, 1, 1, 2, 2))
  expect_warning(fit <- consensus(numbers, k = 2), class = "consilience_warning_noise")
  expect_equal(fit$coverage[1], 0.5)
  expect_silent(new <- predict(fit, list(c(-1, 1), c(-1, 1)), type = "all"))
  expect_identical(is.na(new$cluster), c(TRUE, FALSE))
  fit <- consensus(numbers, k = 2, missing = NULL)
  expect_equal(fit$coverage[1], 1)
  expect_false(is.na(predict(fit, list(c(-1, 1), c(NA, 1)))[1]))
  # An ensemble that was made is not asked again.
  expect_silent(consensus(kept, k = 2, method = "scec"))
  expect_silent(consensus(numbers, k = 2, method = "scec", missing = -1, init = c(1, -1, 1, 2, 2)))
})

test_that("a level of a factor that is NA is no label", {
  given <- ensemble(list(addNA(factor(c("x", NA, "y")))))
  expect_identical(given$members[[1]], list(name = "1", clusters = c("x", "y"), codes = c(1L, NA, 2L)))
})

test_that("objects of a list are matched by name, where all have names", {
  first <- c(a = 1, b = 2, c = 2)
  soft <- rbind(c = c(0, 1), a = c(1, 0), b = c(0.2, 0.8))
  given <- ensemble(list(first, c(c = "y", b = "y", a = "x"), factor(first)[c(2, 3, 1)], soft))
  expect_identical(given$objects, c("a", "b", "c"))
  for (i in 1:3) expect_identical(given$members[[i]]$codes, c(1L, 2L, 2L))
  expect_identical(given$members[[2]]$clusters, c("x", "y"))
  expect_equal(given$members[[4]]$memberships, rbind(c(1, 0), c(0.2, 0.8), c(0, 1)))
  expect_refused(ensemble(list(u = first, v = c(a = 1, b = 2, d = 2))), "only `u` has `c`.*NA.*unname")
  expect_refused(ensemble(list(u = first[1:2], v = first)), "only `v` has `c`")
  expect_refused(ensemble(list(first, first[3:1], c(1, 2, 2))), "`3` names none")
  expect_refused(ensemble(list(c(a = 1, a = 2), c(a = 1, b = 2))), "twice")
  # Where only some have names, or all the same ones, the order is that of the names.
  expect_identical(ensemble(list(c(1, 2, 2), first))$objects, c("a", "b", "c"))
  expect_identical(ensemble(list(c(a = 1, a = 2), c(a = 1, a = 2)))$members[[2]]$codes, 1:2)
})

test_that("numbers keep their names however they are stored", {
  given <- ensemble(list(c(100000, 2), c(1L, 2L), c(TRUE, FALSE)))
  expect_identical(given$members[[1]]$clusters, c("100000", "2"))
  expect_identical(given$members[[3]]$clusters, c("TRUE", "FALSE"))
})

test_that("unused levels of factors are no clusters", {
  given <- ensemble(list(factor(c("b", "a", "b"), levels = c("a", "b", "c"))))
  expect_identical(given$members[[1]]$clusters, c("b", "a"))
})

test_that("clue's ensembles are taken, hard and soft", {
  skip_if_not_installed("clue")
  given <- noisy()
  hard <- clue::cl_ensemble(list = lapply(given$labels, clue::as.cl_hard_partition))
  expect_identical(
    unname(predict(consensus(hard, k = 3))), unname(predict(consensus(given$labels, k = 3)))
  )
  soft <- noisy_soft()
  partitions <- lapply(soft, function(m) clue::as.cl_partition(clue::as.cl_membership(m)))
  from_clue <- consensus(clue::cl_ensemble(list = partitions), k = 3, method = "scec")
  from_matrices <- consensus(soft, k = 3, method = "scec")
  expect_identical(predict(from_clue), predict(from_matrices))
  expect_equal(from_clue$membership, from_matrices$membership)
})

test_that("names of objects are kept", {
  labels <- data.frame(a = c(1, 1, 2), b = c(1, 2, 2), row.names = c("x", "y", "z"))
  result <- consensus(labels, k = 2)
  expect_named(predict(result), c("x", "y", "z"))
  expect_identical(row.names(as.data.frame(result)), c("x", "y", "z"))
  expect_null(names(predict(consensus(data.frame(a = c(1, 1, 2)), k = 2))))
})

test_that("what cannot be used is refused with what to do", {
  expect_refused(consensus(1:3), "one column per clustering")
  expect_refused(consensus(list()), "at least one")
  expect_refused(consensus(list(1:3, 1:4)), "`2` labels 4 objects, but `1` labels 3 objects")
  expect_refused(consensus(matrix(c(0.5, 1, 1, 2), 2)), "row 1.*consensus_cluster")
  expect_refused(consensus(list(matrix(c(0.5, 0.2, 0.2, 0.8), 2))), "sum to 1")
  expect_refused(consensus(list(matrix(c("a", "b", "c", "d"), 2))), "memberships must be numbers")
  expect_refused(consensus(matrix(numeric(), 0, 2)), "no objects")
  expect_refused(consensus(list(c(NA, NA))), "labels no object")
  expect_refused(consensus(mean), "got function")
})

test_that("soft rows that are no memberships are told by R's count", {
  expect_refused(consensus(list(rbind(c(0.5, 0.5), c(0.9, 0.9)))), "row 2")
})

test_that("what looks as if something else was meant is warned of", {
  expect_warning(consensus(t(as.matrix(noisy(10, 3)$labels)), k = 2, method = "scec"), "t\\(labels\\)")
  expect_warning(consensus(list(c("a", "a", "NA"), c("x", "x", "y")), k = 2), "missing = \"NA\"")
})

test_that("weights and a start are matched by the names of the objects", {
  labels <- list(a = c(p = 1, q = 1, r = 2, s = 2, t = 2), b = c(p = 1, q = 2, r = 2, s = 2, t = 2))
  weights <- c(p = 1, q = 5, r = 2, s = 3, t = 4)
  expect_equal(consensus(labels, k = 2, weights = rev(weights))$anmi, consensus(labels, k = 2, weights = weights)$anmi)
  expect_false(consensus(labels, k = 2, weights = unname(rev(weights)))$anmi == consensus(labels, k = 2, weights = weights)$anmi)
  expect_refused(consensus(labels, k = 2, weights = c(p = 1, q = 1, r = 1, s = 1, u = 1)), "`weights` has names")
  start <- c(p = 1, q = 1, r = 2, s = 2, t = 2)
  from <- function(init) predict(consensus(labels, k = 2, method = "scec", init = init))
  expect_identical(from(rev(start)), from(start))
  expect_refused(from(c(p = 1, q = 1, r = 2, s = 2, u = 2)), "`init` has names")
})

test_that("choices and nothing at all are refused in words", {
  expect_refused(consensus(NULL), "got NULL")
  result <- consensus(list(c(1, 1, 2), c(1, 1, 2)), k = 2)
  expect_refused(plot(result, "foo"), "must be one of \"matrix\"")
  expect_refused(nmi(1:3, 1:3, "foo"), "must be one of \"geometric\"")
})
