"""`chronicle run` from an installed wheel, on a folder outside the repository."""

from __future__ import annotations

import shutil
from pathlib import Path

from deltalake import DeltaTable

from chronicle.project import PROJECT
from chronicle.spark import jars
from tests.wheel import built, installed, run


def test_an_installation_runs_on_a_folder_outside_the_repository(tmp_path: Path) -> None:
    installation = installed(built(tmp_path / "wheel"), tmp_path / "installed")
    before = set(installation.rglob("*"))
    shutil.copytree(PROJECT / "examples/orders", tmp_path / "logs/orders")
    # The jars are there already: a test needs no network.
    kept = {"CHRONICLE_JARS": str(jars.folder()), "CHRONICLE_CACHE": str(tmp_path / "cache")}
    done = run(installation, tmp_path, "-m", "chronicle", "run", "logs/orders", "-w", "warehouse", **kept)
    assert done.returncode == 0, done.stderr
    tenures = DeltaTable(tmp_path / "warehouse/marts/fct_controller_tenures").to_pyarrow_table().num_rows
    assert tenures == 5
    assert set(installation.rglob("*")) == before
