"""Commands of `chronicle` in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from chronicle.project import PROJECT
from chronicle.spark import master as masters

ORDERS = PROJECT / "examples/orders"
QUESTION = "select topic_name, count(*) as elections from fct_leader_elections group by topic_name order by topic_name"


def environment(master: str | None, settings: Path | None) -> dict[str, str]:
    """The environment in which a process finds that Spark.  `master`: None for this machine's cores."""
    own = {name: value for name, value in os.environ.items() if name not in (masters.MASTER, masters.SETTINGS)}
    own["PYTHONPATH"] = str(PROJECT)
    if master:
        own[masters.MASTER] = master
    if settings:
        own[masters.SETTINGS] = str(settings)
    return own


def chronicle(master: str | None, settings: Path | None, *arguments: object) -> subprocess.Popen[str]:
    """Start a command.  `master`: None for this machine's cores."""
    command = [sys.executable, "-m", "chronicle", *map(str, arguments)]
    return subprocess.Popen(command, env=environment(master, settings), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def begun(process: subprocess.Popen[str], warehouse: Path) -> subprocess.Popen[str]:
    """Wait until a command has written records into a warehouse in a folder, before it commits them."""
    end = time.monotonic() + 120
    while not any(path.stat().st_size for path in warehouse.glob("bronze/log_records/*.parquet")):
        assert time.monotonic() < end, "nothing is written"
        time.sleep(0.05)
    return process


def done(process: subprocess.Popen[str], seconds: float = 600) -> str:
    """The output of a command.  Fails if the command did, or takes longer."""
    said = process.communicate(timeout=seconds)[0]
    assert process.returncode == 0, said
    return said
