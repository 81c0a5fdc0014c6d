"""What many pure tests read and is dear to make."""

from __future__ import annotations

from typing import Any

import pytest

from chronicle.build.build import parse
from ingestion.warehouse import Warehouse


@pytest.fixture(scope="session")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The dbt project as dbt reads it."""
    return parse(Warehouse.at(str(tmp_path_factory.mktemp("warehouse"))), inline=False)
