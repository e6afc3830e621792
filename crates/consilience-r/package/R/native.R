# The way to the native routines: arguments in a list, work on another thread, waiting here.

# Runs a native routine and gives its value; what it warns of becomes warnings.
#
# The work runs on a thread of its own. This one waits in small steps, and between them `Sys.sleep()`
# looks for interrupts: when one comes, R leaves this function, and the work is told to stop.
native <- function(routine, ..., around) {
  job <- .Call(routine, list(..., around = around[c("seed", "threads", "memory")]))
  if (inherits(job, "consilience_failure")) raise(job$message, job$kind)
  on.exit(.Call(wrap__cancel, job))
  told <- ""
  since <- proc.time()[["elapsed"]]
  repeat {
    state <- .Call(wrap__wait, job, 0.05)
    if (state$ended) break
    Sys.sleep(0)
    if (around$progress && proc.time()[["elapsed"]] - since > 0.5) {
      since <- proc.time()[["elapsed"]]
      told <- tell_progress(state, told)
    }
  }
  on.exit()
  outcome <- .Call(wrap__finish, job)
  if (inherits(outcome, "consilience_failure")) raise(outcome$message, outcome$kind)
  for (text in outcome$warnings) warn(text)
  outcome$value
}

# Tells how far the work is, unless that was told last; gives what was told.
tell_progress <- function(state, told) {
  if (!nzchar(state$stage)) return(told)
  of <- if (is.na(state$total)) "" else sprintf(" of %.0f", state$total)
  text <- sprintf("%s: %.0f%s", state$stage, state$done, of)
  if (text != told) {
    message(structure(
      class = c("consilience_progress", "message", "condition"),
      list(
        message = paste0(text, "\n"), call = NULL,
        stage = state$stage, done = state$done, total = state$total
      )
    ))
  }
  text
}

# Raises an error that can be caught by its class.
raise <- function(message, kind = "argument") {
  stop(structure(
    class = c(paste0("consilience_error_", kind), "consilience_error", "error", "condition"),
    list(message = message, call = NULL)
  ))
}

# Warns with a class.
warn <- function(message, kind = NULL) {
  warning(structure(
    class = c(
      if (!is.null(kind)) paste0("consilience_warning_", kind),
      "consilience_warning", "warning", "condition"
    ),
    list(message = message, call = NULL)
  ))
}

# The circumstances of a computation.
circumstances <- function(seed = 0, threads = NULL, memory = NULL, progress = FALSE) {
  list(
    seed = seed_of(seed),
    threads = threads_of(threads),
    memory = if (is.null(memory)) ceiling_of_memory() else whole(memory, "memory", 1),
    progress = isTRUE(progress)
  )
}

# The seed: as given, or drawn from R's random numbers.
seed_of <- function(seed) {
  if (is.null(seed)) return(as.double(sample.int(.Machine$integer.max, 1L)))
  whole(seed, "seed", 0)
}

# How many threads; 0 means all cores.
threads_of <- function(threads) {
  if (is.null(threads)) threads <- getOption("consilience.threads")
  if (!is.null(threads)) return(whole(threads, "threads", 1))
  # `R CMD check` allows two.
  limited <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_", "false"))
  if (limited %in% c("", "false")) 0 else 2
}

# Most of what the machine, or our control group if that is less, has; NULL if that is not told.
ceiling_of_memory <- function() {
  limits <- numeric()
  if (file.exists("/proc/meminfo")) {
    line <- grep("^MemTotal:", readLines("/proc/meminfo", warn = FALSE), value = TRUE)
    limits <- 1024 * as.numeric(gsub("[^0-9]", "", line))
  }
  for (file in c("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")) {
    if (file.exists(file)) {
      text <- tryCatch(readLines(file, n = 1, warn = FALSE), error = function(e) "max")
      limits <- c(limits, suppressWarnings(as.numeric(text)))
    }
  }
  limits <- limits[!is.na(limits) & limits > 0]
  if (length(limits)) floor(0.8 * min(limits)) else NULL
}

# The whole number that an argument is, at least `least`.
whole <- function(value, name, least) {
  fine <- is.numeric(value) && length(value) == 1L && !is.na(value) &&
    value == round(value) && value >= least && value < 2^53
  if (!fine) {
    raise(sprintf("`%s` must be one whole number of at least %s, got %s", name, least, shown(value)))
  }
  as.double(value)
}

# A value as an error message shows it.
shown <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.atomic(value) && length(value) == 1L) return(deparse(value)[1L])
  sprintf("%s of length %d", class(value)[1L], length(value))
}

# One text, or a complaint.
one_text <- function(value, name) {
  if (is.character(value) && length(value) == 1L && !is.na(value)) return(value)
  raise(sprintf("`%s` must be one text, got %s", name, shown(value)))
}

# The choice among those that the calling function lists for an argument; the first if none was made.
one_of <- function(value, name) {
  choices <- eval(formals(sys.function(sys.parent()))[[name]], envir = parent.frame())
  if (identical(value, choices)) return(choices[1L])
  found <- if (is.character(value) && length(value) == 1L) pmatch(value, choices) else NA
  if (is.na(found)) {
    raise(sprintf(
      "`%s` must be one of %s, got %s", name, paste0("\"", choices, "\"", collapse = ", "), shown(value)
    ))
  }
  choices[found]
}

# Where the objects stand among names, if these are names of the same objects.
places <- function(names, objects, what) {
  if (identical(names, objects)) return(seq_along(objects))
  if (anyDuplicated(objects) || anyDuplicated(names)) {
    raise(sprintf(
      "`%s` and the objects have names, some of them twice, so they cannot be matched: unname() it if the order is the same",
      what
    ))
  }
  at <- match(objects, names)
  if (anyNA(at)) {
    raise(sprintf(
      "`%s` has names, but none of them is `%s`: name the same objects, or unname() it if the order is the same",
      what, objects[is.na(at)][1L]
    ))
  }
  at
}

# So many of something, in words.
counted <- function(number, what) {
  sprintf("%s %s%s", format(number, big.mark = ","), what, if (number == 1) "" else "s")
}

# A list of named lists of equal names as a data frame.
frame_of <- function(rows, columns = names(rows[[1L]])) {
  column <- function(name) {
    values <- lapply(rows, function(row) if (is.null(row[[name]])) NA else row[[name]])
    if (all(lengths(values) == 1L)) unlist(values) else I(values)
  }
  if (!length(rows)) return(NULL)
  as.data.frame(setNames(lapply(columns, column), columns), stringsAsFactors = FALSE)
}
