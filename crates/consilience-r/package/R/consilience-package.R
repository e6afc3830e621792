#' consilience: many clusterings combined into one
#'
#' Run k-means fifty times and you hold fifty different answers. Or five sites labelled the same
#' patients, each in its own way, some not at all. [consensus()] finds the one clustering that agrees
#' best with all of them and says, object by object, how sure it is. [consensus_cluster()] makes the
#' clusterings from a table of features first.
#'
#' @section Where to start:
#' - [consensus()] combines clusterings; [consensus_cluster()] clusters features; [generate()] makes
#'   clusterings only.
#' - [methods()] lists the methods, [choose_k()] says how many clusters there are, [resolve()] which of
#'   several resolutions to take.
#' - [score()] compares clusterings, [nmi()] and its neighbours are the measures.
#' - [report()] writes a page to look at and to mail.
#' - [compat_ccp()] and [as_ccp()] stand in for ConsensusClusterPlus, [FindConsensus()] works on
#'   Seurat and SingleCellExperiment objects.
#'
#' @section Seeds:
#' All functions take `seed`, 0 by default: the same seed gives the same clusters, on any number of
#' threads, and those of the command line `consilience combine --seed`. `seed = NULL` draws a seed
#' from R's random numbers, so that `set.seed()` decides.
#'
#' @section Conditions:
#' Errors have class `consilience_error` and one of `consilience_error_argument` (something given
#' cannot be used), `consilience_error_memory` (the memory ceiling would be passed; nothing was
#' allocated), `consilience_error_numerical` and `consilience_error_internal`. Warnings have class
#' `consilience_warning`, and `consilience_warning_convergence` if a method was stopped before it
#' settled, or `consilience_warning_noise` if -1 was read as "no label" without being told so. With `progress = TRUE` progress is told by messages of class `consilience_progress`.
#'
#' @section Options:
#' `options(consilience.threads = 2)` sets the number of threads that is used where `threads` is not
#' given; otherwise all cores are used.
#'
#' @useDynLib consilience, .registration = TRUE
#' @importFrom grDevices hcl.colors
#' @importFrom graphics abline axis barplot image legend lines par points rect segments text
#' @importFrom stats as.dendrogram as.dist as.hclust cutree dist hclust predict setNames
#' @importFrom utils head
#' @keywords internal
"_PACKAGE"

.onLoad <- function(libname, pkgname) {
  .Call(wrap__silence)
}

# What the methods and measures are does not change while R runs.
tables <- new.env(parent = emptyenv())
