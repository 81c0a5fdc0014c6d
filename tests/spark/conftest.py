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
    from chronicle.build.dbt_runs import WHILE_BUILDING
    from chronicle.spark.catalog import register
    from chronicle.spark.session import start
    from ingestion.warehouse import Warehouse
    from tests.lab import WITHOUT_CODE

    session = start(warehouse)
    for key in WITHOUT_CODE:
        session.conf.set(key, WHILE_BUILDING[key])
    register(session, Warehouse.at(warehouse))
    yield session
    session.stop()
