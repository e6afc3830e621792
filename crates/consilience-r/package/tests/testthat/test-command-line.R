# The same seed gives the command line's labels. CONSILIENCE_PROGRAM is the program to compare with.
program <- Sys.getenv("CONSILIENCE_PROGRAM")

# The clusters that the program gives, numbered from 1.
by_program <- function(table, ...) {
  file <- tempfile(fileext = ".csv")
  out <- tempfile(fileext = ".csv")
  on.exit(unlink(c(file, out)))
  utils::write.csv(table, file, row.names = FALSE, na = "", quote = FALSE)
  said <- suppressWarnings(system2(
    program, c("combine", file, ..., "-o", out), stdout = TRUE, stderr = TRUE
  ))
  if (!file.exists(out)) stop(paste(said, collapse = "\n"))
  found <- utils::read.csv(out)
  as.integer(found$cluster) + 1L
}

methods_compared <- c(
  "scec", "kcc", "w-mi", "cspa", "mcla", "hbgf", "ea-al", "lwea", "bce", "nmfc", "lwgp", "sa"
)

test_that("hard, soft and incomplete clusterings have the command line's labels", {
  skip_if(!nzchar(program), "CONSILIENCE_PROGRAM is not set")
  given <- noisy(70, 7, wrong = 0.3)
  incomplete <- given$labels
  set.seed(11)
  incomplete[matrix(runif(70 * 7) < 0.15, 70)] <- NA
  incomplete[1, ] <- given$labels[1, ]
  noise <- given$labels
  noise[is.na(incomplete)] <- -1
  soft <- noisy_soft(50, 5)
  names(soft) <- paste0("s", seq_along(soft))
  columns <- do.call(cbind, Map(function(memberships, name) {
    colnames(memberships) <- paste0(name, ":", seq_len(ncol(memberships)))
    memberships
  }, soft, names(soft)))
  tables <- list(
    hard = list(labels = given$labels, table = given$labels),
    missing = list(labels = incomplete, table = incomplete),
    noise = list(labels = noise, table = noise),
    soft = list(labels = soft, table = as.data.frame(columns, optional = TRUE))
  )
  compared <- 0
  for (kind in names(tables)) {
    for (method in methods_compared) {
      for (seed in c(0, 1, 20261118)) {
        ours <- suppressWarnings(consensus(tables[[kind]]$labels, k = 3, method = method, seed = seed))
        theirs <- by_program(
          tables[[kind]]$table, "--method", method, "--k", 3, "--seed", format(seed, scientific = FALSE)
        )
        expect_identical(unname(as.integer(predict(ours))), theirs, label = paste(kind, method, seed))
        compared <- compared + 1
      }
    }
  }
  expect_identical(compared, 4 * length(methods_compared) * 3)
})

test_that("features have the command line's labels", {
  skip_if(!nzchar(program), "CONSILIENCE_PROGRAM is not set")
  folder <- tempfile()
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(c(folder, file), recursive = TRUE))
  utils::write.csv(iris[, 1:4], file, row.names = FALSE)
  system2(program, c("run", file, "--scale", "none", "--seed", 3, "-o", folder), stdout = TRUE, stderr = TRUE)
  theirs <- utils::read.csv(file.path(folder, "labels.csv"))
  ours <- consensus_cluster(iris[, 1:4], seed = 3)
  expect_identical(unname(as.integer(predict(ours))), theirs$cluster + 1L)
})
