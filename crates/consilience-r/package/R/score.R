#' Compare clusterings
#'
#' `score()` compares one clustering, or many, with another one, by several measures at once. The other
#' functions are one measure each. All look at the objects that both clusterings label. Objects are matched
#' by their names if both sides have them, otherwise by their order.
#'
#' @param x,a A clustering: a vector or factor of labels, or a result of [consensus()] or [resolve()]. For
#'   `score()` also many, as [ensemble()] takes them.
#' @param truth,b The clustering, or known classes, to compare with.
#' @param measures Names of measures; `"all"` for all. `measures()` lists them.
#' @param average What the mutual information is divided by: the geometric or arithmetic mean of the
#'   entropies, their maximum or minimum, the joint entropy, or the mean logarithm of the numbers of
#'   clusters.
#' @param labels A clustering.
#' @param ensemble Clusterings as [ensemble()] takes them.
#' @param missing Labels that mean "no label", besides `NA` and the empty text. -1 is a label like any
#'   other here, as on the command line, unless `missing = -1`.
#' @param weights Weights of the objects.
#' @param threads The number of threads; `NULL` means all cores.
#' @return `score()` gives a named vector, or for many clusterings a data frame with one row for each.
#'   The measures give one number:
#'   \describe{
#'   \item{nmi, ami}{normalised and adjusted mutual information}
#'   \item{ari, rand, fmi}{adjusted Rand, Rand and Fowlkes-Mallows index, on pairs of objects}
#'   \item{accuracy, error_rate}{the share of objects in clusters matched one to one as well as can be,
#'     and what is missing to 1}
#'   \item{purity}{the share of objects in the most frequent class `b` of their cluster `a`}
#'   \item{homogeneity, completeness, v_measure}{how far clusters hold one class, classes are in one
#'     cluster, and their harmonic mean}
#'   \item{variation_of_information}{in nats, `"vi"` in `score()`, 0 for equal clusterings}
#'   \item{pc_idx}{Fred's partitions consistency index}
#'   \item{ecs}{element-centric similarity: how far objects have the same companions}
#'   \item{anmi}{the average normalised mutual information of a clustering with those of an ensemble}
#'   }
#'   `consistency()` gives for every object how far the clusterings of an ensemble give it the same
#'   companions, `inconsistency()` one number for all (1 if all are equal), and `diversity()` a data
#'   frame: mean, deviation, least and largest value of 1 - NMI, 1 - ARI and VI over pairs of
#'   clusterings.
#' @examples
#' score(c(1, 1, 2, 2), c("b", "b", "a", "a"))
#' nmi(c(1, 1, 2, 2), c(1, 1, 2, 3), average = "max")
#' sites <- data.frame(one = c(1, 1, 2, 2), two = c(1, 2, 2, 2))
#' score(sites, c("x", "x", "y", "y"), measures = c("ari", "vi"))
#' diversity(sites)
#' @export
score <- function(x, truth, measures = c("nmi", "ari", "accuracy", "error", "vi", "purity", "pc_idx"),
                  missing = NULL, weights = NULL, threads = NULL) {
  if (identical(measures, "all")) measures <- measures()$name
  if (!is.character(measures) || !length(measures)) {
    raise(sprintf("`measures` must be names of measures, got %s", shown(measures)))
  }
  if (is_one(x)) return(agree(x, truth, measures, missing, weights, threads))
  given <- ensemble(x, missing)
  truth <- labels_in(truth)
  if (!is.null(given$objects) && !is.null(names(truth))) truth <- truth[places(names(truth), given$objects, "truth")]
  rows <- lapply(given$members, function(member) {
    agree(member, unname(truth), measures, missing, weights, threads, given$objects)
  })
  frame <- as.data.frame(do.call(rbind, rows))
  row.names(frame) <- names(given)
  frame
}

#' @rdname score
#' @export
measures <- function() {
  if (is.null(tables$measures)) tables$measures <- .Call(wrap__measures)
  table <- frame_of(tables$measures, c("name", "title", "symmetric", "higher_is_better"))
  ranges <- vapply(tables$measures, function(m) m$range[1:2], c(0, 0))
  table$least <- ranges[1L, ]
  # What has no largest value has none in JSON.
  table$most <- ifelse(is.na(ranges[2L, ]), Inf, ranges[2L, ])
  table
}

# Whether this is one clustering.
is_one <- function(x) {
  inherits(x, c("consilience", "consilience_resolution")) || is.factor(x) || (is.atomic(x) && is.null(dim(x)))
}

# Whether this is a clustering in the library's shape.
is_member <- function(x) {
  is.list(x) && !is.object(x) && !is.null(x$clusters) && (!is.null(x$codes) || !is.null(x$memberships))
}

# One clustering, in the library's shape.
one_member <- function(x, name, missing) {
  if (is_member(x)) return(x)
  encode(x, name, missing)
}

agree <- function(a, b, measures, missing = NULL, weights = NULL, threads = NULL, objects = NULL) {
  given <- Map(function(x, name) {
    if (is.null(x)) raise(sprintf("`%s` must be a clustering, got NULL", name))
    if (is_member(x)) x else labels_in(x)
  }, list(a, b), c("a", "b"))
  if (!any(vapply(given, is_member, NA))) {
    aligned <- align(given, c("a", "b"))
    given <- aligned$clusterings
    objects <- aligned$objects
  }
  pair <- Map(function(x, name) one_member(x, name, missing), given, c("a", "b"))
  sizes <- c(member_size(pair[[1L]]), member_size(pair[[2L]]))
  if (sizes[1L] != sizes[2L]) {
    raise(sprintf("the clusterings have %d and %d objects: they must be of the same ones", sizes[1L], sizes[2L]))
  }
  if (!is.null(weights)) weights <- weights_of(weights, sizes[1L], objects)
  values <- native(
    wrap__agreement,
    pair = pair, measures = measures, weights = weights, around = circumstances(0, threads)
  )
  setNames(values, measures)
}

one_measure <- function(name, a, b, missing) unname(agree(a, b, name, missing, threads = 1))

#' @rdname score
#' @export
nmi <- function(a, b, average = c("geometric", "arithmetic", "max", "min", "joint", "log_k"),
                missing = NULL) {
  average <- one_of(average, "average")
  name <- c(
    geometric = "nmi", arithmetic = "nmi-arith", max = "nmi-max", min = "nmi-min",
    joint = "nmi-joint", log_k = "nmi-log-k"
  )[[average]]
  one_measure(name, a, b, missing)
}

#' @rdname score
#' @export
ami <- function(a, b, missing = NULL) one_measure("ami", a, b, missing)

#' @rdname score
#' @export
ari <- function(a, b, missing = NULL) one_measure("ari", a, b, missing)

#' @rdname score
#' @export
rand <- function(a, b, missing = NULL) one_measure("rand", a, b, missing)

#' @rdname score
#' @export
fmi <- function(a, b, missing = NULL) one_measure("fmi", a, b, missing)

#' @rdname score
#' @export
accuracy <- function(a, b, missing = NULL) one_measure("accuracy", a, b, missing)

#' @rdname score
#' @export
error_rate <- function(a, b, missing = NULL) one_measure("error", a, b, missing)

#' @rdname score
#' @export
purity <- function(a, b, missing = NULL) one_measure("purity", a, b, missing)

#' @rdname score
#' @export
homogeneity <- function(a, b, missing = NULL) one_measure("homogeneity", a, b, missing)

#' @rdname score
#' @export
completeness <- function(a, b, missing = NULL) one_measure("completeness", a, b, missing)

#' @rdname score
#' @export
v_measure <- function(a, b, missing = NULL) one_measure("v_measure", a, b, missing)

#' @rdname score
#' @export
variation_of_information <- function(a, b, missing = NULL) one_measure("vi", a, b, missing)

#' @rdname score
#' @export
pc_idx <- function(a, b, missing = NULL) one_measure("pc_idx", a, b, missing)

#' @rdname score
#' @export
ecs <- function(a, b, missing = NULL) one_measure("ecs", a, b, missing)

#' @rdname score
#' @export
anmi <- function(labels, ensemble, missing = NULL) {
  given <- as_ensemble(ensemble, missing)
  native(
    wrap__mean_agreement,
    one = list(one_member(labels_in(labels), "labels", missing)), members = given$members,
    around = circumstances(0, threads = 1)
  )
}

#' @rdname score
#' @export
consistency <- function(ensemble, missing = NULL, threads = NULL) {
  given <- as_ensemble(ensemble, missing)
  told <- native(wrap__companions, members = given$members, around = circumstances(0, threads))
  if (is.null(given$objects)) told$consistency else setNames(told$consistency, given$objects)
}

#' @rdname score
#' @export
inconsistency <- function(ensemble, missing = NULL, threads = NULL) {
  given <- as_ensemble(ensemble, missing)
  native(wrap__companions, members = given$members, around = circumstances(0, threads))$inconsistency
}

#' @rdname score
#' @export
diversity <- function(ensemble, missing = NULL, threads = NULL) {
  given <- as_ensemble(ensemble, missing)
  told <- native(wrap__spread, members = given$members, around = circumstances(0, threads))
  frame <- frame_of(told)
  row.names(frame) <- names(told)
  frame
}

# Where an argument has the name of the function.
as_ensemble <- function(x, missing) ensemble(x, missing)
