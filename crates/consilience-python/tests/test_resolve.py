"""Which resolution to take."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import consilience as co


def runs(noise: float = 0.0, seeds: int = 5) -> pd.DataFrame:
    """Three levels: two clusters, three clusters, noise."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], [60, 30, 30])
    columns = {}
    for level, labels, clusters in (("0.1", np.minimum(groups, 1), 2), ("0.5", groups, 3), ("2", None, 5)):
        for seed in range(seeds):
            drawn = rng.integers(0, clusters, 120)
            own = drawn if labels is None else np.where(rng.random(120) < noise, drawn, labels)
            columns[f"leiden_{level}_{seed}"] = own
    return pd.DataFrame(columns, index=[f"cell{i}" for i in range(120)])


def test_levels_labels_and_tree() -> None:
    result = co.resolve(runs(), "leiden_{level}_{seed}")
    assert result.recommended == ["0.5"]
    assert result.level == "0.5"
    assert np.bincount(result.labels_).tolist() == [60, 30, 30]
    assert result.confidence_.min() > 0.5
    assert (result.coverage_ == 1).all()
    levels = result.levels
    assert levels["level"].tolist() == ["0.1", "0.5", "2"]
    assert levels["stability"][1] == levels["stability_low"][1] == 1
    assert levels["beyond_chance_high"][2] < 0.2
    assert levels["recommended"].tolist() == [False, True, False]
    assert np.isnan(levels["next"][2])
    nodes, edges = result.tree["nodes"], result.tree["edges"]
    assert nodes["size"][nodes["level"] == 1].sum() == 120
    first = edges["level"] == 0
    assert edges["count"][first].tolist() == [60, 30, 30]
    assert (edges["in_proportion"][first] == 1).all()
    assert len({len(column) for column in edges.values()}) == 1
    # The members find every cluster of the stable level too, and none of the noise.
    assert (nodes["recovery"][nodes["level"] == 1] == 1).all()
    assert (nodes["recovery"][nodes["level"] == 2] < 0.6).all()
    assert "stability" not in nodes
    assert "0.5" in repr(result)


def test_ids_are_stable_and_frames_have_them() -> None:
    result = co.resolve(runs(0.02), "leiden_{level}_{seed}")
    coarse, fine = result.labels_at("0.1"), result.labels_at(0.5)
    assert set(coarse) < set(fine)
    assert ((coarse == fine) | (fine == 2)).mean() > 0.95
    frame = result.to_frame()
    assert frame.index[3] == "cell3"
    assert list(frame.columns) == ["cluster", "confidence", *(f"level_{name}" for name in result.recommended)]
    assert result.confidence_at("2") is None
    with pytest.raises(ValueError, match="there are 0.1, 0.5, 2"):
        result.labels_at("7")


def test_levels_by_list_and_mapping() -> None:
    table = runs()
    levels = [name.split("_")[1] for name in table]
    expected = co.resolve(table, "leiden_{level}_{seed}")
    for given in (levels, [float(level) for level in levels], dict(zip(table, levels, strict=True))):
        assert co.resolve(table, given).recommended in (["0.5"],)
        np.testing.assert_array_equal(co.resolve(table, given).labels_, expected.labels_)


def test_unmatched_columns_are_named() -> None:
    table = runs()
    table["batch"] = 0
    with pytest.warns(UserWarning, match="'batch' has no level"):
        co.resolve(table, "leiden_{level}_{seed}")
    with pytest.raises((ValueError, co.ConsilienceError), match="louvain"):
        co.resolve(table, "louvain_{level}")
    with pytest.raises(ValueError, match="levels"):
        co.resolve(table, "leiden_{seed}")
    with pytest.raises(ValueError, match="3 entries"):
        co.resolve(table, [1, 2, 3])
    with pytest.raises(TypeError, match="pattern"):
        co.resolve(table, 5)


def test_noise_has_no_stable_level_and_any_can_be_taken() -> None:
    table = runs(noise=1.0)
    result = co.resolve(table, "leiden_{level}_{seed}")
    assert result.recommended == [] and result.level is None
    assert (result.labels_ == -1).all() and "No level is stable" in result.verdict
    taken = co.resolve(table, "leiden_{level}_{seed}", level=0.5)
    assert taken.level == "0.5" and (taken.labels_ >= 0).all()


def test_threads_and_missing() -> None:
    table = runs(0.05).astype(float)
    table.iloc[4, :7] = np.nan
    one = co.resolve(table, "leiden_{level}_{seed}", n_jobs=1)
    many = co.resolve(table, "leiden_{level}_{seed}", n_jobs=3)
    np.testing.assert_array_equal(one.confidence_, many.confidence_)
    assert one.levels["stability_low"].tolist() == many.levels["stability_low"].tolist()
    assert one.coverage_[4] < 1


def test_anndata() -> None:
    anndata = pytest.importorskip("anndata")
    table = runs()
    adata = anndata.AnnData(np.zeros((120, 2), np.float32), obs=table)
    adata.obs["n_genes"] = np.arange(120)
    assert co.tl.resolve(adata, "leiden_{level}_{seed}") is None
    assert adata.obs["resolved"].cat.categories.tolist() == ["0", "1", "2"]
    assert adata.obs["resolved_confidence"].min() > 0.5
    assert "resolved_0.5" in adata.obs
    assert adata.uns["resolved"]["level"] == "0.5"
    assert set(adata.uns["resolved"]["tree"]) == {"nodes", "edges"}
    with pytest.raises(TypeError, match="AnnData"):
        co.tl.resolve(table)
