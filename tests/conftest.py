"""The lab's clusters, the incidents and a folder of bad input, loaded and built once for all; dbt's own tests run in that build."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator

import pytest

from tests.lab import ARCHIVES, INCIDENTS, Lab, bad_input

# Each asks a view, and so all that lies beneath it, once more: four minutes of two cores. What they would find shows in the keys
# and counts of marts; CHRONICLE_KEYS=1 runs them too.
KEYS_OF_STEPS = "test_name:unique_key,path:models/staging test_name:unique_key,path:models/intermediate"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Every lab cluster, every incident (as `incident-1` …) and the bad input, ingested and built."""
    folder = tmp_path_factory.mktemp("lab")
    for archive in sorted(ARCHIVES.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    lab = Lab(folder, str(tmp_path_factory.mktemp("warehouse")))
    for cluster in sorted(path.name for path in folder.iterdir()):
        lab.load(cluster, folder / cluster / "input")
    for bundle in sorted(INCIDENTS.glob("*/input")):
        lab.load(f"incident-{bundle.parent.name[0]}", bundle, timezone="Asia/Shanghai")
    lab.load("bad", bad_input(folder / "bad"), folder / "missing")
    lab.built = lab.build(tests=True, exclude=KEYS_OF_STEPS if os.environ.get("CHRONICLE_KEYS") != "1" else None)
    yield lab
    lab.spark.stop()
