"""The lab's clusters, the incidents and a folder of bad input, loaded and built once for all; dbt's own tests run in that build."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.lab import Lab, filled

# Each asks a view, and so all that lies beneath it, once more: four minutes of two cores. What they would find shows in the keys
# and counts of marts; CHRONICLE_KEYS=1 runs them too.
KEYS_OF_STEPS = "test_name:unique_key,path:models/staging test_name:unique_key,path:models/intermediate"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Every lab cluster, every incident (as `incident-1` …) and the bad input, ingested and built."""
    lab = filled(tmp_path_factory.mktemp("lab"), str(tmp_path_factory.mktemp("warehouse")))
    lab.built = lab.build(tests=True, exclude=KEYS_OF_STEPS if os.environ.get("CHRONICLE_KEYS") != "1" else None)
    yield lab
    lab.spark.stop()
