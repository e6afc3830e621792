# Minutes of work, unless it is stopped.
long <- function(...) {
  set.seed(3)
  labels <- replicate(30, sample(20, 4000, replace = TRUE))
  consensus(labels, k = 15, method = "anmi-greedy", ...)
}

test_that("an interrupt stops the work", {
  skip_on_cran()
  skip_on_os("windows")
  order <- sprintf("sleep 1; kill -INT %d", Sys.getpid())
  system2("sh", c("-c", shQuote(order)), wait = FALSE)
  started <- proc.time()[["elapsed"]]
  outcome <- tryCatch(
    {
      long()
      "finished"
    },
    interrupt = function(condition) "interrupted"
  )
  expect_identical(outcome, "interrupted")
  expect_lt(proc.time()[["elapsed"]] - started, 20)
  # And R goes on.
  expect_identical(consensus(list(c(1, 1, 2), c(1, 1, 2)), k = 2)$k, 2L)
})

test_that("a limit of time stops the work", {
  on.exit(setTimeLimit())
  expect_error(
    {
      setTimeLimit(elapsed = 1, transient = TRUE)
      long()
    },
    "time limit"
  )
})

test_that("progress is told by messages with a class, and only if asked for", {
  # The first message ends the work, which no machine is done with before.
  told <- tryCatch(long(progress = TRUE), consilience_progress = identity)
  expect_s3_class(told, "consilience_progress")
  expect_true(nzchar(told$stage))
  expect_match(conditionMessage(told), told$stage, fixed = TRUE)
  expect_silent(generate(matrix(rnorm(200), 100), size = 20, progress = FALSE))
  on.exit(setTimeLimit())
  messages <- 0
  expect_error(
    withCallingHandlers(
      {
        setTimeLimit(elapsed = 1.5, transient = TRUE)
        long()
      },
      message = function(told) messages <<- messages + 1
    ),
    "time limit"
  )
  expect_identical(messages, 0)
})

test_that("nothing is printed and nothing is written", {
  before <- list.files(getwd(), all.files = TRUE)
  expect_silent(result <- consensus(noisy()$labels, k = 3))
  expect_silent(summary(result))
  expect_silent(page <- report(result))
  expect_identical(normalizePath(dirname(page)), normalizePath(tempdir()))
  expect_identical(list.files(getwd(), all.files = TRUE), before)
})

test_that("errors have classes and no call", {
  error <- tryCatch(consensus(noisy()$labels, method = "no such"), error = identity)
  expect_s3_class(error, c("consilience_error_argument", "consilience_error", "error"), exact = FALSE)
  expect_null(conditionCall(error))
  expect_match(conditionMessage(error), "there is no method `no such`; there are")
  expect_refused(consensus(noisy()$labels, seed = -1), "`seed` must be")
  expect_refused(consensus(noisy()$labels, threads = 0), "`threads` must be")
})
