"""The lab's clusters, the incidents and a folder of bad input, loaded and built once for all; dbt's own tests run in that build."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Lab, made


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Every lab cluster, every incident (as `incident-1` …) and the bad input, ingested and built.

    CHRONICLE_LAB names the folder of a lab made by `python -m tests.lab`; tests work on a copy of its warehouse.
    """
    given = os.environ.get("CHRONICLE_LAB")
    lab = Lab.of(Path(given)).copied(tmp_path_factory.mktemp("copy")) if given else made(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.stop()
