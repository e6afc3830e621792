"""Files: tables that are read, pages that are written."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import consilience as co

RNG = np.random.default_rng(2)
TRUTH = RNG.integers(0, 3, size=70)
NOISE = RNG.random((70, 6)) < 0.2
TABLE = pd.DataFrame(
    np.where(NOISE, RNG.integers(0, 3, (70, 6)), TRUTH[:, None]), columns=list("abcdef")
)
NAMES = [f"s{i}" for i in range(70)]


def labels_of(labels: object) -> list[int]:
    return co.consensus(labels, method="scec", n_clusters=3).labels_.tolist()


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "npy", "arrow"])
def test_every_format_is_read(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"labels.{ending}"
    if ending == "npy":
        np.save(file, TABLE.to_numpy())
    elif ending == "parquet":
        TABLE.to_parquet(file)
    elif ending == "arrow":
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(
            sink, pa.Schema.from_pandas(TABLE)
        ) as writer:
            writer.write_table(pa.Table.from_pandas(TABLE))
    else:
        TABLE.to_csv(file, index=False, sep="\t" if ending == "tsv" else ",")
    ensemble = co.read(file)
    assert len(ensemble) == 6 and ensemble.n_objects == 70 and ensemble.ids is None
    assert labels_of(ensemble) == labels_of(TABLE)


def test_files_are_joined_and_names_go_along(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.parquet"
    whole = TABLE.assign(name=NAMES, note="x", w=np.arange(1.0, 71.0))
    whole[["name", "a", "b", "c", "note", "w"]].to_csv(first, index=False)
    whole[["name", "d", "e", "f"]].iloc[::-1].to_parquet(second)
    ensemble = co.read([first, str(second)], id="name", drop="note", weights="w")
    assert ensemble.ids == NAMES and ensemble.names == list("abcdef")
    assert ensemble.sample_weight.tolist() == list(range(1, 71))
    assert pickle.loads(pickle.dumps(ensemble)).ids == NAMES
    result = co.consensus(ensemble, method="scec", n_clusters=3)
    alone = co.consensus(TABLE, method="scec", n_clusters=3, sample_weight=np.arange(1.0, 71.0))
    assert (result.labels_ == alone.labels_).all()
    assert result.ids_ == NAMES and result.to_frame()["id"].tolist() == NAMES
    result.save(tmp_path / "r.npz")
    assert co.load(tmp_path / "r.npz").ids_ == NAMES


def test_a_further_spelling_of_missing_and_no_header(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("x,?\nx,p\ny,q\n")
    ensemble = co.read(file, header=False, missing="?")
    assert ensemble.n_objects == 3 and ensemble.member(1).tolist() == [-1, 0, 1]


def test_what_cannot_be_read_is_refused_in_words_of_python(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    with pytest.raises(FileNotFoundError):
        co.read(file)
    with pytest.raises(IsADirectoryError):
        co.read(tmp_path)
    with pytest.raises(ValueError, match="at least one file"):
        co.read([])
    file.write_text("a,b\n")
    with pytest.raises(ValueError, match="no rows; .*header=False"):
        co.read(file)
    file.write_text("a,b\n1,2\n0.5,3\n")
    with pytest.raises(ValueError, match=r"consilience\.generate was meant.*drop=\['a'\]") as told:
        co.read(file)
    assert "--" not in str(told.value)
    file.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"no column `z` \(id\)"):
        co.read(file, id="z")
    other = tmp_path / "u.csv"
    other.write_text("c\n1\n2\n")
    with pytest.raises(ValueError, match=r"the column of identifiers \(id\)"):
        co.read([file, other])
    file.with_suffix(".xlsx").write_text("")
    with pytest.raises(ValueError, match="ending"):
        co.read(file.with_suffix(".xlsx"))
    file.with_suffix(".parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(ValueError, match="damaged"):
        co.read(file.with_suffix(".parquet"))


def page_data(page: Path) -> dict:
    html = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_is_that_of_the_command_line(tmp_path: Path) -> None:
    file, theirs, ours = tmp_path / "t.csv", tmp_path / "theirs.html", tmp_path / "ours.html"
    TABLE.assign(name=NAMES).to_csv(file, index=False)
    program = [os.environ["CONSILIENCE_PROGRAM"], "combine", str(file), "--id", "name"]
    options = ["-m", "scec", "-k", "3", "-o", str(tmp_path / "out.csv"), "--report", str(theirs)]
    subprocess.run([*program, *options], check=True, capture_output=True)
    co.consensus(co.read(file, id="name"), method="scec", n_clusters=3).report(ours, title="t.csv")
    expected, got = page_data(theirs), page_data(ours)
    # The command is another, and a file has a checksum.
    for page in (expected, got):
        del page["methods"]["command"], page["methods"]["record"]
    assert got == expected
    assert got["doubtful"][0]["name"] in NAMES


def test_a_page_with_features(tmp_path: Path) -> None:
    iris = co.load_iris()
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    page = tmp_path / "iris.html"
    model = co.ConsensusClustering(3, n_members=10, random_state=4).fit(frame)
    model.result_.report(page, X=frame, title="Iris <3")
    data = page_data(page)
    assert data["title"] == "Iris <3" and "Iris &lt;3" in page.read_text(encoding="utf-8")
    assert len(data["scatter"]["places"]) == 150 and "petal" in data["scatter"]["axes"][0]
    assert "4 features were clustered 10 times by genie, spectral" in data["methods"]["paragraph"]
    assert "ConsensusClustering(n_clusters=3" in data["methods"]["command"]
    assert "(seed 4)" in data["methods"]["paragraph"]
    with pytest.raises(ValueError, match="X has 149 entries"):
        model.result_.report(page, X=iris.data[1:])
    with pytest.raises(OSError):
        model.result_.report(tmp_path / "no" / "folder.html")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["iris.html"]
