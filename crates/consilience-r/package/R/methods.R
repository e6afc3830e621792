#' The consensus methods
#'
#' `methods()` without arguments lists the consensus methods, and `methods("scec")` tells all of one.
#' With anything else it is `utils::methods()`, whose name it shares: `methods("print")` and
#' `methods(class = "lm")` work as ever. In packages and scripts `consensus_methods()` says the same
#' without any doubt.
#'
#' @param ... Nothing, the name of a consensus method, or arguments of [utils::methods()].
#' @param name The name of a method, or `NULL` for the table of all.
#' @return Without a name a data frame: `name`, `title`, `finds_k` ("always", "unless given" or "never":
#'   whether the method finds the number of clusters by itself), `soft` and `missing` (what it does with soft
#'   clusterings and missing labels), `gives` (what its answer has besides clusters), `time` and
#'   `memory`. With a name a list with the same, the `reference`, and `parameters`, a data frame of
#'   names, defaults and ranges.
#' @examples
#' methods()[1:3, c("name", "title")]
#' consensus_methods("voting")
#' @export
methods <- function(...) {
  call <- sys.call()
  if (length(call) == 1L) return(consensus_methods())
  if (length(call) == 2L && is.null(names(call)) && is.character(call[[2L]]) &&
    call[[2L]] %in% method_names()) {
    return(consensus_methods(call[[2L]]))
  }
  call[[1L]] <- quote(utils::methods)
  eval(call, parent.frame())
}

#' @rdname methods
#' @export
consensus_methods <- function(name = NULL) {
  table <- method_table()
  if (!is.null(name)) {
    name <- gsub("_", "-", tolower(one_text(name, "name")))
    at <- match(name, method_names())
    if (is.na(at)) {
      raise(sprintf(
        "there is no method `%s`; there are %s", name, paste(method_names(), collapse = ", ")
      ))
    }
    method <- table[[at]]
    method$parameters <- frame_of(method$parameters)
    return(structure(method, class = "consilience_method"))
  }
  text <- function(field) {
    vapply(table, function(m) m[[field]], "")
  }
  data.frame(
    name = text("name"), title = text("title"), finds_k = text("chooses_k"), soft = text("soft"),
    missing = text("missing"), time = text("time"), memory = text("memory"),
    gives = vapply(table, function(m) paste(given_by(m), collapse = ", "), "")
  )
}

method_table <- function() {
  if (is.null(tables$methods)) tables$methods <- .Call(wrap__method_table)
  tables$methods
}

# What a method's answer has besides clusters.
given_by <- function(method) names(method$gives)[unlist(method$gives)]

method_names <- function() vapply(method_table(), function(method) method$name, "")

#' @export
print.consilience_method <- function(x, ...) {
  cat(sprintf("%s: %s\n", x$name, x$title))
  for (line in strwrap(x$reference, width = 78, prefix = "  ")) cat(line, "\n", sep = "")
  cat(sprintf("  time %s, memory %s\n", x$time, x$memory))
  if (is.null(x$parameters)) {
    cat("  no parameters\n")
  } else {
    cat("  parameters:\n")
    print(x$parameters, row.names = FALSE, right = FALSE)
  }
  invisible(x)
}
