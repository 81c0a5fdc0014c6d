"""Ctrl-C and SIGTERM at any moment print one line, exit with the signal's code, and leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chronicle.spark.processes import tree
from tests.processes import alive

LOGS = Path(__file__).parents[2] / "examples" / "orders"


def reached(what: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (done := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return done


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("number", "moment", "kept"),
    [
        (signal.SIGINT, "java starts", "committed data is kept; the next run continues from there"),
        (signal.SIGINT, "it builds", "ingested data is kept; tables remain those of the last complete build"),
        (signal.SIGTERM, "it builds", "ingested data is kept; tables remain those of the last complete build"),
    ],
)
def test_an_interrupted_command_ends_at_once(tmp_path: Path, number: signal.Signals, moment: str, kept: str) -> None:
    heard = tmp_path / "stderr"
    with heard.open("w") as stderr:
        command = [sys.executable, "-m", "chronicle", "run", str(LOGS), "--warehouse", str(tmp_path / "warehouse")]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, cwd=LOGS.parents[1])
    try:
        if moment == "java starts":
            assert reached(lambda: len(tree(process.pid)) > 1, 60)
        else:
            assert reached(lambda: any((tmp_path / "warehouse").glob("intermediate/*")), 200)
        below = tree(process.pid)[1:]
        assert below
        began = time.monotonic()
        os.kill(process.pid, number)
        assert process.wait(20) == 128 + number
        assert time.monotonic() - began < 10
        lines = heard.read_text().splitlines()
        word = "interrupted" if number == signal.SIGINT else "terminated"
        assert lines[-1] == f"chronicle: {word}; {kept}"
        assert not any("Traceback" in line or line.startswith(" ") for line in lines)
        assert reached(lambda: not any(map(alive, below)), 10)
    finally:
        process.kill()
