"""Fixtures that many pure tests read and that are expensive to make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chronicle.build.parsed import parse
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse
from tests.objects import Bucket, server


@pytest.fixture(scope="session")
def manifest() -> Any:
    """The dbt project as dbt reads it."""
    return parse(Warehouse.at(str(PROJECT / ".cache/tests")))


@pytest.fixture(scope="session")
def store() -> Iterator[Any]:
    """A client of a server of S3."""
    with server() as client:
        yield client


@pytest.fixture
def bucket(store: Any) -> Bucket:
    """An empty bucket."""
    return Bucket(store)
