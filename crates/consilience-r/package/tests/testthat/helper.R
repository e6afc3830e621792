# Clusterings of `n` objects in `k` groups, each object mislabelled at times, names shuffled.
noisy <- function(n = 60, r = 8, k = 3, wrong = 0.15, seed = 1) {
  set.seed(seed)
  truth <- rep(seq_len(k), length.out = n)
  columns <- replicate(r, simplify = FALSE, {
    labels <- truth
    off <- runif(n) < wrong
    labels[off] <- sample(k, sum(off), replace = TRUE)
    sample(k)[labels]
  })
  list(truth = truth, labels = setNames(as.data.frame(columns), paste0("c", seq_len(r))))
}

# The same as memberships.
noisy_soft <- function(n = 40, r = 5, k = 3, seed = 1) {
  set.seed(seed)
  truth <- rep(seq_len(k), length.out = n)
  lapply(seq_len(r), function(i) {
    weights <- matrix(runif(n * k), n) + 3 * outer(truth, sample(k), "==")
    # Whole hundredths, so that a file of text holds the very same numbers.
    shares <- floor(100 * weights / rowSums(weights))
    shares[, 1] <- shares[, 1] + 100 - rowSums(shares)
    shares / 100
  })
}

expect_refused <- function(code, words) {
  expect_error(code, words, class = "consilience_error_argument")
}
