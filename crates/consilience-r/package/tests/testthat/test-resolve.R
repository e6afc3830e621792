levels_made <- function(seed = 3) {
  set.seed(seed)
  truth <- rep(1:6, each = 20)
  make <- function(k, wrong) {
    labels <- (truth - 1) %/% (6 / k)
    off <- runif(120) < wrong
    labels[off] <- sample(k, sum(off), replace = TRUE) - 1
    labels
  }
  table <- list()
  for (seed in 1:5) {
    table[[paste0("res_0.1_", seed)]] <- make(2, 0.3)
    table[[paste0("res_0.5_", seed)]] <- make(3, 0.02)
    table[[paste0("res_1_", seed)]] <- make(6, 0.4)
  }
  list(labels = as.data.frame(table, optional = TRUE), truth = truth)
}

test_that("the stable level is recommended, however levels are given", {
  given <- levels_made()
  found <- resolve(given$labels, "res_{level}_{seed}")
  expect_s3_class(found, "consilience_resolution")
  expect_identical(found$levels$level, c("0.1", "0.5", "1"))
  expect_identical(found$recommended[1], "0.5")
  expect_gt(ari(predict(found), (given$truth - 1) %/% 2), 0.9)
  expect_identical(nlevels(predict(found)), 3L)
  of <- sub("res_(.*)_.*", "\\1", names(given$labels))
  expect_identical(resolve(given$labels, of)$labels, found$labels)
  expect_identical(resolve(given$labels, as.numeric(of))$labels, found$labels)
  expect_identical(resolve(given$labels, setNames(of, names(given$labels)))$labels, found$labels)
  expect_identical(predict(found, level = 0.5), predict(found))
  expect_identical(resolve(given$labels, of, level = 1)$level, "1")
  expect_output(print(found), "0.5")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(found))
  expect_identical(names(found$nodes), c("level", "cluster", "size", "recovery", "confidence"))
})

test_that("what cannot be resolved is refused or left out with a warning", {
  given <- levels_made()
  of <- sub("res_(.*)_.*", "\\1", names(given$labels))
  expect_warning(resolve(given$labels, replace(of, 2, NA)), "res_0.5_1", class = "consilience_warning")
  expect_refused(resolve(given$labels, "leiden_{level}"), "res_0.1_1")
  expect_refused(resolve(given$labels, c("a", "b")), "one level per clustering")
  expect_refused(resolve(given$labels, c(nobody = 1)), "no clustering `nobody`")
  expect_refused(resolve(given$labels, of, level = 7), "7")
  expect_refused(predict(resolve(given$labels, of), level = 7), "there is no level `7`")
})
