#' Write a page on a consensus
#'
#' One HTML file with the verdict in plain sentences and the figures behind it: the same page as the
#' command line's. It is complete in itself: it can be mailed, archived and opened without a network.
#'
#' @param x A result of [consensus()] or [consensus_cluster()].
#' @param file Where the page goes, a name that ends in .html; by default a new file in [tempdir()].
#' @param features The features of the objects, a numeric matrix or data frame, from which the page shows
#'   them in two dimensions.
#' @param title What the data are called.
#' @param overwrite Whether a file that is there may be replaced.
#' @param threads The number of threads; `NULL` means all cores.
#' @return The name of the file, invisibly; `browseURL()` opens it.
#' @examples
#' result <- consensus(list(c(1, 1, 2, 2), c(1, 1, 2, 2), c(1, 2, 2, 2)), k = 2)
#' page <- report(result, title = "Four objects")
#' file.size(page) > 0
#' @export
report <- function(x, file = tempfile("consilience-", fileext = ".html"), features = NULL, title = NULL,
                   overwrite = FALSE, threads = NULL) {
  if (!inherits(x, "consilience")) raise("`x` must be a result of consensus()")
  file <- path.expand(one_text(file, "file"))
  if (!grepl("\\.html?$", file, ignore.case = TRUE)) {
    raise(sprintf("`file` is \"%s\", but the report is an HTML page: give a name that ends in .html", file))
  }
  if (file.exists(file) && !isTRUE(overwrite)) {
    raise(sprintf("\"%s\" is there already: give another name, or overwrite = TRUE", file))
  }
  if (!is.null(features)) features <- features_of(features, "features")
  page <- native(
    wrap__page,
    profiles = x$profiles, profile_labels = x$profile_labels, k = x$k, asked = x$asked,
    number = x$number_json, names = x$objects, record = record_of(x, title),
    features = features$values, columns = features$names,
    around = circumstances(x$seed, threads)
  )
  # Whole or not at all: under another name first.
  aside <- tempfile("consilience-", tmpdir = dirname(file), fileext = ".part")
  on.exit(unlink(aside))
  written <- tryCatch(
    {
      connection <- file(aside, "wb")
      writeLines(enc2utf8(page), connection, sep = "", useBytes = TRUE)
      close(connection)
      file.rename(aside, file)
    },
    error = function(e) FALSE, warning = function(w) FALSE
  )
  if (!written) raise(sprintf("\"%s\" cannot be written: is the folder there, and is it yours?", file))
  invisible(file)
}

# What the page is told besides the result itself, as JSON.
record_of <- function(x, title) {
  sizes <- as.list(unname(as.vector(table(x$clusters))))
  made <- x$made
  to_json(list(
    title = title,
    version = as.character(utils::packageVersion("consilience")),
    seed = x$seed,
    command = list(call = x$call, k = x$asked),
    data = list(features = if (is.null(made)) list() else as.list(as.character(seq_len(made$features)))),
    ensemble = if (is.null(made)) {
      structure(list(), names = character())
    } else {
      list(
        size = made$size, scheme = made$scheme, base = made$base, base_k = as.list(made$base_k),
        scale = "none", seats = structure(made$seats, class = "json")
      )
    },
    consensus = list(
      n = length(x$clusters), clusterings = n_clusterings(x), unique = length(x$profiles$weights),
      method = x$method, params = x$params, k = x$k, sizes = sizes, anmi = x$anmi,
      trace = as.list(x$trace[is.finite(x$trace)]),
      leaderboard = if (!is.null(x$board_json)) structure(x$board_json, class = "json")
    )
  ))
}

# JSON of lists: one value stands for itself, unnamed lists are arrays, named ones objects.
to_json <- function(x) {
  if (inherits(x, "json")) return(unclass(x))
  if (is.null(x)) return("null")
  if (is.list(x)) {
    items <- vapply(x, to_json, "", USE.NAMES = FALSE)
    if (is.null(names(x))) return(sprintf("[%s]", paste(items, collapse = ",")))
    pairs <- sprintf("%s:%s", vapply(names(x), json_text, ""), items)
    return(sprintf("{%s}", paste(pairs, collapse = ",")))
  }
  if (length(x) != 1L || is.na(x)) return("null")
  if (is.logical(x)) return(tolower(as.character(x)))
  if (!is.numeric(x)) return(json_text(as.character(x)))
  if (x == round(x) && abs(x) < 2^53) sprintf("%.0f", x) else sprintf("%.17g", x)
}

json_text <- function(text) {
  text <- gsub("\\", "\\\\", enc2utf8(text), fixed = TRUE)
  text <- gsub("\"", "\\\"", text, fixed = TRUE)
  for (code in 1:31) {
    letter <- intToUtf8(code)
    if (grepl(letter, text, fixed = TRUE)) text <- gsub(letter, sprintf("\\u%04x", code), text, fixed = TRUE)
  }
  sprintf("\"%s\"", text)
}
