"""Commands of `chronicle` in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from chronicle.project import PROJECT
from chronicle.spark import master as masters

ORDERS = PROJECT / "examples/orders"


def chronicle(master: str | None, settings: Path | None, *arguments: object) -> subprocess.Popen[str]:
    """Start a command.  `master`: None for this machine's cores."""
    environment = {name: value for name, value in os.environ.items() if name not in (masters.MASTER, masters.SETTINGS)}
    environment["PYTHONPATH"] = str(PROJECT)
    if master:
        environment[masters.MASTER] = master
    if settings:
        environment[masters.SETTINGS] = str(settings)
    command = [sys.executable, "-m", "chronicle", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def done(process: subprocess.Popen[str]) -> str:
    """What a command said.  Fails where it did not end well."""
    said = process.communicate(timeout=600)[0]
    assert process.returncode == 0, said
    return said
