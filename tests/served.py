"""The real `chronicle serve` in a process of its own, and queries to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from chronicle.project import PROJECT
from chronicle.serve.client import connect
from tests.ports import free_port

START_SECONDS = 300


@dataclass
class Served:
    """A running server: its place, its process, and the file with its output."""

    port: int
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    warehouse: str

    @property
    def said(self) -> str:
        # Reads without moving the position at which the process continues to write.
        return os.pread(self.log.fileno(), os.fstat(self.log.fileno()).st_size, 0).decode()

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
        """End it, if it has not ended.  Returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)


def launch(warehouse: str, *arguments: str, memory: str = "1g", folder: Path = PROJECT, **environment: str) -> Served:
    """Start `chronicle serve` in a folder and wait until it reports that it serves.  Raises RuntimeError with its output if it does not."""
    port = free_port()
    line = [sys.executable, "-m", "chronicle", "serve", "--port", str(port), "--warehouse", warehouse, "--memory", memory, *arguments]
    log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
    environment |= {"PYTHONPATH": str(PROJECT)}
    process = subprocess.Popen(line, stderr=log, env=os.environ | environment, cwd=folder, process_group=0)
    served = Served(port, process, log, warehouse)
    end = time.monotonic() + START_SECONDS
    while not any(told.startswith("serving") for told in served.said.splitlines()):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}: {served.said}")
        if time.monotonic() > end:
            process.kill()
            raise RuntimeError(f"the server did not serve within {START_SECONDS} s: {served.said}")
        time.sleep(0.1)
    return served


@contextmanager
def serving(warehouse: str, *arguments: str, memory: str = "1g", folder: Path = PROJECT) -> Iterator[Served]:
    """A server for the duration of a `with` block."""
    served = launch(warehouse, *arguments, memory=memory, folder=folder)
    try:
        yield served
    finally:
        served.stop()
