"""One session for all tests that need Spark, over a warehouse of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of a warehouse that only this test package uses."""
    return str(tmp_path_factory.mktemp("warehouse"))


@pytest.fixture(scope="session")
def spark(warehouse: str) -> Iterator[SparkSession]:
    """The session that the commands use, started once; its queries read few rows, as those of the lab do."""
    from chronicle.spark.catalog import register
    from chronicle.spark.session import start
    from ingestion.warehouse import Warehouse
    from tests.lab import without_code

    session = start(warehouse)
    without_code(session)
    register(session, Warehouse.at(warehouse))
    yield session
    session.stop()
