"""The real command as a process of its own, on the lab's warehouse: one server for all tests of this folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ingestion.client import connect
from tests.lab import Lab

START_SECONDS = 300
MAX_ROWS = 100_000
QUERY_SECONDS = 60


@dataclass
class Served:
    """A server that runs: where, its process, and what it has said."""

    port: int
    process: subprocess.Popen[str]
    said: str
    warehouse: str
    environment: dict[str, str] = field(default_factory=dict)

    def ask(self, query: str, **options: Any) -> list[tuple[Any, ...]]:
        """Rows of a query on a connection of its own."""
        connection = connect("127.0.0.1", self.port, **options)
        try:
            cursor = connection.cursor()
            cursor.execute(query)
            return cursor.fetchall()
        finally:
            connection.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def launch(warehouse: str, *arguments: str, **environment: str) -> Served:
    """Start `chronicle serve` and wait until it says that it serves."""
    port = free_port()
    line = [sys.executable, "-m", "ingestion.cli", "serve", "--port", str(port), "--warehouse", warehouse, "--memory", "1g", *arguments]
    process = subprocess.Popen(
        line, stderr=subprocess.PIPE, text=True, env=os.environ | environment, cwd=Path(__file__).parents[2], process_group=0
    )
    assert process.stderr is not None
    end = time.monotonic() + START_SECONDS
    said = ""
    while "serving" not in said:
        said = process.stderr.readline()
        assert said and time.monotonic() < end, f"the server ended with {process.wait(60)}"
    return Served(port, process, said, warehouse)


@pytest.fixture(scope="session")
def server(lab: Lab) -> Iterator[Served]:
    served = launch(lab.warehouse, "--max-rows", str(MAX_ROWS), "--query-timeout", str(QUERY_SECONDS), "--max-queries", "2")
    yield served
    if served.process.poll() is None:
        assert served.stop() == 0


@pytest.fixture(scope="session")
def ask(server: Served) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """Ask on one connection that stays."""
    connection = connect("127.0.0.1", server.port)

    def asked(query: str) -> list[tuple[Any, ...]]:
        cursor = connection.cursor()
        cursor.execute(query)
        return cursor.fetchall() if cursor.description else []

    yield asked
    connection.close()
