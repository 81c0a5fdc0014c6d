"""Ports of this machine for servers that tests start."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

START_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Whether a server takes connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_for(port: int, server: subprocess.Popen[Any], said: Callable[[], str], seconds: float = START_SECONDS) -> None:
    """Wait until a server takes connections.  Raises RuntimeError with its last output if it ends or takes too long."""
    end = time.monotonic() + seconds
    while not listens(port):
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"nothing listens on port {port}: {said()[-2000:]}")
        time.sleep(0.1)
