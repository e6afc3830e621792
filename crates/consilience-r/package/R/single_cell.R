#' Consensus of the clusterings in a single-cell object
#'
#' Combines clusterings that are stored as columns of a Seurat object's metadata or of a
#' SingleCellExperiment's `colData`, and stores the result there.
#'
#' @param object A `Seurat` object, a `SingleCellExperiment` or any `SummarizedExperiment`.
#' @param pattern A regular expression that the names of the columns match, such as `"_snn_res\\."`;
#'   or several names of columns.
#' @param name The name of the new column: clusters go to `name`, how sure they are to
#'   `name_confidence`.
#' @param overwrite Whether columns of these names that are there already may be replaced.
#' @param ... Further arguments of [consensus()], such as `k`, `method` and `seed`.
#' @return The object with the two columns. In a Seurat object the clusters also become its identities
#'   (`Idents`).
#' @examples
#' if (requireNamespace("SingleCellExperiment", quietly = TRUE)) {
#'   cells <- SingleCellExperiment::SingleCellExperiment(
#'     list(counts = matrix(1, 2, 4)),
#'     colData = data.frame(res_0.5 = c(1, 1, 2, 2), res_1 = c("a", "a", "b", "c"))
#'   )
#'   cells <- FindConsensus(cells, "^res_", k = 2)
#'   cells$consensus
#' }
#' @export
FindConsensus <- function(object, pattern, ..., name = "consensus", overwrite = FALSE) {
  UseMethod("FindConsensus")
}

#' @export
FindConsensus.default <- function(object, pattern, ..., name = "consensus", overwrite = FALSE) {
  raise(sprintf(
    "`object` must be a Seurat or SingleCellExperiment object, got %s; consensus() takes tables of labels",
    class(object)[1L]
  ))
}

#' @rdname FindConsensus
#' @export
FindConsensus.Seurat <- function(object, pattern, ..., name = "consensus", overwrite = FALSE) {
  needs("SeuratObject")
  table <- object[[]]
  result <- consensus_of_columns(table, pattern, name, overwrite, ...)
  object <- SeuratObject::AddMetaData(object, columns_of(result, name, row.names(table)))
  SeuratObject::Idents(object) <- name
  object
}

#' @rdname FindConsensus
#' @export
FindConsensus.SummarizedExperiment <- function(object, pattern, ..., name = "consensus",
                                               overwrite = FALSE) {
  needs("SummarizedExperiment")
  table <- SummarizedExperiment::colData(object)
  result <- consensus_of_columns(table, pattern, name, overwrite, ...)
  columns <- columns_of(result, name, NULL)
  for (column in names(columns)) table[[column]] <- columns[[column]]
  # `colData<-` is looked for where it lives: the package need not be attached.
  set <- getExportedValue("SummarizedExperiment", "colData<-")
  set(object, value = table)
}

needs <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) {
    raise(sprintf("this object needs package %s, which is not installed", package))
  }
}

consensus_of_columns <- function(table, pattern, name, overwrite, ...) {
  if (!is.character(pattern) || !length(pattern) || anyNA(pattern)) {
    raise(sprintf("`pattern` must be a regular expression or names of columns, got %s", shown(pattern)))
  }
  name <- one_text(name, "name")
  known <- colnames(table)
  new <- paste0(name, c("", "_confidence"))
  found <- if (length(pattern) > 1L) {
    lacking <- setdiff(pattern, known)
    if (length(lacking)) raise(sprintf("there is no column `%s`; there are %s", lacking[1L], listed(known)))
    pattern
  } else {
    setdiff(grep(pattern, known, value = TRUE), new)
  }
  if (!length(found)) raise(sprintf("no column matches \"%s\"; there are %s", pattern, listed(known)))
  there <- intersect(new, known)
  if (length(there) && !isTRUE(overwrite)) {
    raise(sprintf("column `%s` is there already: give another `name`, or overwrite = TRUE", there[1L]))
  }
  columns <- setNames(lapply(found, function(column) table[[column]]), found)
  consensus(columns, ...)
}

columns_of <- function(result, name, rows) {
  frame <- data.frame(unname(result$clusters), unname(result$confidence))
  names(frame) <- paste0(name, c("", "_confidence"))
  if (!is.null(rows)) row.names(frame) <- rows
  frame
}

listed <- function(names) {
  text <- paste(sprintf("`%s`", head(names, 12L)), collapse = ", ")
  if (length(names) > 12L) paste0(text, ", ...") else text
}
