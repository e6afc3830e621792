# Checks the installed package: `R -f check.R --args FOLDER`, where FOLDER holds its sources. Compares its
# documentation with its code, runs its examples and its tests, and fails if anything is wrong.
folder <- commandArgs(trailingOnly = TRUE)[1]
library(consilience)

failed <- FALSE
wrong <- function(what, found) {
  said <- utils::capture.output(print(found))
  if (length(said)) {
    message(what, ":\n", paste(said, collapse = "\n"))
    failed <<- TRUE
  }
}
for (page in list.files(file.path(folder, "man"), full.names = TRUE)) {
  wrong(paste("a help page", basename(page)), tools::checkRd(page))
}
wrong("what is not documented", tools::undoc("consilience"))
wrong("code and documentation differ", tools::codoc("consilience"))
wrong("arguments and documentation differ", tools::checkDocFiles("consilience"))
wrong("S3 methods and generics differ", tools::checkS3methods("consilience"))
wrong("functions of base replaced", tools::checkReplaceFuns("consilience"))

for (page in list.files(file.path(folder, "man"), full.names = TRUE)) {
  code <- tempfile(fileext = ".R")
  tools::Rd2ex(page, code)
  if (!file.exists(code)) next
  grDevices::pdf(NULL)
  problem <- tryCatch(
    {
      utils::capture.output(source(code, local = new.env(), echo = TRUE))
      NULL
    },
    error = function(e) conditionMessage(e)
  )
  grDevices::dev.off()
  if (!is.null(problem)) {
    message("the examples of ", basename(page), ": ", problem)
    failed <- TRUE
  }
}

if (requireNamespace("testthat", quietly = TRUE)) {
  results <- as.data.frame(testthat::test_dir(
    file.path(folder, "tests", "testthat"), reporter = "summary", stop_on_failure = FALSE,
    package = "consilience", load_package = "installed"
  ))
  failed <- failed || any(results$failed > 0) || any(results$error)
} else {
  message("the tests of the R package are skipped: package testthat is not installed")
}
if (failed) quit(status = 1)
message("the R package: documentation, examples and tests are fine")
