"""Every example is a short program a user would write; each must run."""

from __future__ import annotations

import os
import runpy
import subprocess
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = sorted(Path(__file__).parent.parent.joinpath("examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_seurat_through_files(tmp_path: Path) -> None:
    """What R writes is made up here; the commands are those of the recipe."""
    rng = np.random.default_rng(0)
    types = rng.choice(4, 200)
    runs = {f"res{r}_{s}": np.where(rng.random(200) < 0.1, rng.choice(4, 200), types) for r in (0.4, 0.8) for s in (1, 2, 3)}
    rows = [",".join(['"cell"', *(f'"{name}"' for name in runs)])]
    rows += [",".join([f'"CELL{i}-1"', *(f'"{labels[i]}"' for labels in runs.values())]) for i in range(200)]
    (tmp_path / "metadata.csv").write_text("\n".join(rows) + "\n")
    script = Path(__file__).parent.parent / "examples" / "seurat.sh"
    folder = Path(os.environ["CONSILIENCE_PROGRAM"]).parent
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", script], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True, capture_output=True)
    labels = (tmp_path / "consensus" / "labels.csv").read_text().splitlines()
    assert labels[0] == "id,cluster,confidence" and labels[1].startswith("CELL0-1,")
    assert (tmp_path / "consensus-matrix.pdf").read_bytes().startswith(b"%PDF")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3
