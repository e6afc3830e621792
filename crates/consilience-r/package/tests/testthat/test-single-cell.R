test_that("Seurat's metadata are combined", {
  skip_if_not_installed("SeuratObject")
  given <- noisy()
  counts <- matrix(rpois(60 * 5, 3), 5, dimnames = list(paste0("gene", 1:5), paste0("cell", 1:60)))
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(counts))
  for (name in names(given$labels)) object[[paste0("RNA_snn_res.", name)]] <- factor(given$labels[[name]])
  found <- FindConsensus(object, "_snn_res\\.", k = 3)
  expected <- consensus(given$labels, k = 3)
  expect_identical(as.vector(found$consensus), as.vector(predict(expected)))
  expect_equal(unname(found$consensus_confidence), unname(expected$confidence))
  expect_identical(as.vector(SeuratObject::Idents(found)), as.vector(predict(expected)))
  expect_refused(FindConsensus(found, "_snn_res\\.", k = 3), "there already")
  expect_silent(FindConsensus(found, "_snn_res\\.", k = 3, overwrite = TRUE))
  expect_refused(FindConsensus(object, "no such"), "no column matches")
})

test_that("SingleCellExperiment's colData are combined", {
  skip_if_not_installed("SingleCellExperiment")
  given <- noisy()
  object <- SingleCellExperiment::SingleCellExperiment(
    list(counts = matrix(1, 2, 60)), colData = given$labels
  )
  found <- FindConsensus(object, "^c", k = 3, name = "all")
  expect_identical(as.vector(found$all), as.vector(predict(consensus(given$labels, k = 3))))
  some <- FindConsensus(object, c("c1", "c3", "c4"), k = 3)
  expect_identical(
    as.vector(some$consensus), as.vector(predict(consensus(given$labels[c("c1", "c3", "c4")], k = 3)))
  )
  expect_refused(FindConsensus(object, c("c1", "c99")), "no column `c99`")
})

test_that("other objects are refused", {
  expect_refused(FindConsensus(data.frame(a = 1), "a"), "data.frame; consensus\\(\\) takes")
})
