# Writes NAMESPACE and man/ from the comments in R/, in the folder of the package. The code is read, not
# installed: nothing needs to be compiled.
read <- function(path) {
  code <- new.env(parent = globalenv())
  for (file in list.files(file.path(path, "R"), full.names = TRUE)) sys.source(file, code)
  code
}
roxygen2::roxygenise(".", roclets = c("namespace", "rd"), load_code = read)
