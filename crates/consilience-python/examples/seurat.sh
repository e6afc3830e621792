#!/bin/sh
# Seurat through files: R writes the metadata, the command line combines the clusterings, R reads them back.
#
#   # in R, with a Seurat object `pbmc`:
#   for (r in c(0.4, 0.6, 0.8, 1.0, 1.2)) for (s in 1:5)
#     pbmc <- FindClusters(pbmc, resolution = r, random.seed = s, cluster.name = paste0("res", r, "_", s))
#   runs <- grep("^res", colnames(pbmc[[]]), value = TRUE)
#   write.csv(cbind(cell = colnames(pbmc), pbmc[[runs]]), "metadata.csv", row.names = FALSE)
set -e

consilience combine metadata.csv --id cell --save consensus
consilience figure consensus matrix -o consensus-matrix.pdf
consilience figure consensus cdf -o consensus-cdf.pdf

#   # in R again:
#   found <- read.csv("consensus/labels.csv", row.names = "id")
#   pbmc$consensus <- factor(found[colnames(pbmc), "cluster"])
#   pbmc$consensus_confidence <- found[colnames(pbmc), "confidence"]
#   DimPlot(pbmc, group.by = "consensus"); FeaturePlot(pbmc, "consensus_confidence")
