test_that("new objects are labelled by the same clusterings", {
  labels <- data.frame(a = c("p", "p", "q"), b = c("x", "x", "y"), c = c("r", "s", "t"))
  result <- consensus(labels, k = 2)
  expect_identical(as.vector(predict(result, labels)), as.vector(predict(result)))
  turned <- data.frame(c = c("s", "t"), a = c("q", "p"), b = c("y", "x"))
  expect_identical(as.vector(predict(result, turned)), c("2", "1"))
  unknown <- predict(result, data.frame(a = NA, b = NA, c = "new"))
  expect_true(is.na(unknown))
  support <- predict(result, labels, type = "support")
  expect_equal(unname(rowSums(support)), rep(1, 3))
  expect_equal(predict(result, type = "support"), support, ignore_attr = TRUE)
  expect_named(predict(result, labels, type = "all"), c("cluster", "confidence", "coverage"))
  expect_refused(predict(result, labels[1:2]), "no clustering `c`")
  expect_refused(predict(result, unname(as.matrix(labels))[, 1:2]), "2 clusterings, but the fit had 3")
})

test_that("new features are found by name, or by order where there are no names", {
  blobs <- example_data("blobs")$features
  colnames(blobs) <- paste0("f", seq_len(ncol(blobs)))
  fit <- consensus_cluster(blobs, k = 5)
  expected <- predict(fit, blobs)
  turned <- cbind(other = 1, blobs[, rev(colnames(blobs))])
  expect_identical(predict(fit, turned), expected)
  expect_identical(predict(fit, unname(blobs)), expected)
  renamed <- blobs
  colnames(renamed)[1] <- "F1"
  expect_refused(predict(fit, renamed), "no column `f1`; it has `F1`, `f2`")
  expect_refused(predict(fit, unname(turned)), "columns, but the fit had")
  nameless <- consensus_cluster(unname(blobs), k = 5)
  expect_identical(predict(nameless, renamed), predict(nameless, unname(blobs)))
})

test_that("models that were changed are refused", {
  blobs <- example_data("blobs")$features
  fit <- consensus_cluster(blobs, k = 5)
  kinds <- vapply(fit$models$models, function(model) model$fitted$kind, "")
  at <- which(kinds %in% c("centres", "embedded"))
  expect_gt(length(at), 0)
  for (i in at[!duplicated(kinds[at])]) {
    changed <- fit
    changed$models$models[[i]]$fitted$fuzzifier <- numeric()
    expect_refused(predict(changed, blobs), "stored models cannot be used: no fuzzifier")
  }
})

test_that("the consensus matrix is the share of clusterings that agree", {
  given <- noisy(20, 5)
  slow <- Reduce(`+`, lapply(given$labels, function(column) outer(column, column, "=="))) / 5
  expect_equal(coassociation(given$labels), slow)
  result <- consensus(given$labels, k = 3, method = "cspa")
  expect_equal(coassociation(result), slow)
  expect_equal(coassociation(result, c(4, 9)), slow[c(4, 9), ])
  expect_refused(coassociation(result, 21), "from 1 to 20")
  expect_error(coassociation(result, memory = 100), class = "consilience_error_memory")
  holes <- as.matrix(given$labels)
  holes[cbind(1:10, rep(1:5, 2))] <- NA
  both <- Reduce(`+`, lapply(1:5, function(j) outer(!is.na(holes[, j]), !is.na(holes[, j]))))
  same <- Reduce(`+`, lapply(1:5, function(j) {
    equal <- outer(holes[, j], holes[, j], "==")
    equal[is.na(equal)] <- FALSE
    equal
  }))
  expect_equal(coassociation(holes), ifelse(both == 0, 0, same / both))
})

test_that("trees are R's own", {
  given <- noisy(25, 6)
  row.names(given$labels) <- paste0("object", 1:25)
  result <- consensus(given$labels, k = 3, method = "ea-al")
  tree <- as.hclust(result)
  expect_s3_class(tree, "hclust")
  expect_false(is.unsorted(tree$height))
  expect_setequal(tree$order, 1:25)
  expect_identical(tree$labels, row.names(given$labels))
  expect_equal(ari(cutree(tree, 3), predict(result)), 1)
  # The same heights as R's own average link on the same distances.
  theirs <- hclust(as.dist(1 - coassociation(result)), "average")
  expect_equal(sort(tree$height), sort(theirs$height))
  expect_equal(as.matrix(stats::cophenetic(tree)), as.matrix(stats::cophenetic(theirs)), tolerance = 1e-8)
  expect_s3_class(as.dendrogram(result), "dendrogram")
  expect_equal(attr(as.dendrogram(result), "members"), 25)
  expect_refused(as.hclust(consensus(given$labels, k = 3, method = "scec")), "has no tree.*ea-al")
})

test_that("every method that says so has a tree that R can cut", {
  given <- noisy(30, 6)
  has <- consensus_methods()
  has <- has$name[grepl("dendrogram", has$gives)]
  expect_true(all(c("ea-al", "lwea") %in% has))
  for (name in has) {
    # Some trees tie at the cut, which is warned of.
    result <- suppressWarnings(consensus(given$labels, k = 3, method = name))
    expect_length(cutree(as.hclust(result), 3), 30)
  }
})

test_that("a result prints, sums up, explains and draws", {
  given <- noisy()
  result <- consensus(given$labels, k = 3, method = "ea-al")
  expect_output(print(result), "Consensus of 8 clusterings by ea-al: 60 objects")
  expect_output(print(summary(result)), "clusters")
  expect_identical(summary(result)$clusters$size, as.vector(table(predict(result))))
  expect_output(print(explain(result, 5)), "Object 5: cluster")
  expect_equal(sum(explain(result, 5)$support), 1)
  expect_refused(explain(result, 61), "there are 60")
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  for (what in c("matrix", "cdf", "items", "k", "tree")) expect_silent(plot(result, what))
  expect_silent(plot(result, most = 10))
  items <- plot(result, "items")
  co <- coassociation(result)
  diag(co) <- NA
  of_first <- rowMeans(co[, predict(result) == 1], na.rm = TRUE)
  by_cluster <- unlist(lapply(1:3, function(j) which(as.hclust(result)$order %in% which(predict(result) == j))))
  expect_equal(sort(unname(items[, 1])), sort(of_first))
  expect_length(by_cluster, 60)
})

test_that("a page is written whole, and only where it may be", {
  result <- consensus(noisy()$labels, k = 3)
  page <- report(result, title = "An \"odd\" title\\")
  text <- paste(readLines(page, warn = FALSE), collapse = "\n")
  expect_match(text, "^<!DOCTYPE html>")
  expect_match(text, "odd")
  expect_refused(report(result, page), "there already")
  expect_identical(report(result, page, overwrite = TRUE), page)
  expect_refused(report(result, tempfile(fileext = ".pdf")), "ends in .html")
  expect_refused(report(result, file.path(tempdir(), "no", "such", "x.html")), "cannot be written")
  blobs <- example_data("blobs")$features
  fit <- consensus_cluster(blobs, k = 5)
  expect_gt(file.size(report(fit, features = blobs)), file.size(report(fit)))
  unlink(page)
})

test_that("how many clusters there are is told and drawn", {
  given <- noisy(90, 10)
  choice <- choose_k(given$labels)
  expect_equal(choice$k, 3)
  expect_output(print(choice), "3 clusters")
  expect_true(all(c("k", "stability", "undecided") %in% names(choice$curves)))
  expect_equal(choose_k(given$labels, 4:6)$range, c(4, 6))
  features <- choose_k(example_data("blobs")$features, from = "features")
  expect_equal(features$k, 5)
  expect_refused(choose_k(example_data("blobs")$features, 4, from = "features"), "range")
  expect_refused(choose_k(iris[1:5, 1:4], from = "features"), "too few rows")
})

test_that("methods() lists methods and still is that of utils", {
  table <- methods()
  expect_true(all(c("scec", "voting", "ea-al") %in% table$name))
  expect_identical(consensus_methods(), table)
  expect_true("restarts" %in% methods("scec")$parameters$name)
  expect_identical(c(methods("summary")), c(utils::methods("summary")))
  expect_identical(c(methods(class = "lm")), c(utils::methods(class = "lm")))
  expect_identical(c(methods(summary)), c(utils::methods(summary)))
  expect_output(print(methods("voting")), "threshold")
  expect_refused(consensus_methods("no such"), "there are")
})
