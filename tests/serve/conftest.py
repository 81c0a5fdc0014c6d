"""One server for all tests of this folder, on the lab's warehouse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chronicle.serve.client import connect
from tests.lab import Lab
from tests.processes import FIRST_COMPILER
from tests.served import Served, launch

MAX_ROWS = 100_000
QUERY_SECONDS = 60


@pytest.fixture(scope="session", autouse=True)
def first_compiler() -> Iterator[None]:
    """Start all servers of this folder with Java's first compiler alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FIRST_COMPILER.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def server(lab: Lab) -> Iterator[Served]:
    served = launch(lab.warehouse, "--max-rows", str(MAX_ROWS), "--query-timeout", str(QUERY_SECONDS), "--max-queries", "2")
    yield served
    assert served.stop() == 0


@pytest.fixture(scope="session")
def ask(server: Served) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """Run queries on one connection that stays open."""
    connection = connect("127.0.0.1", server.port)

    def asked(query: str) -> list[tuple[Any, ...]]:
        cursor = connection.cursor()
        cursor.execute(query)
        return cursor.fetchall() if cursor.description else []

    yield asked
    connection.close()
