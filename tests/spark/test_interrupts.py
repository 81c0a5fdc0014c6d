"""Ctrl-C and SIGTERM at any moment: one line, the exit code of the signal, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

LOGS = Path(__file__).parents[2] / "examples" / "orders"


def descendants(process: int) -> set[int]:
    """Ids of all processes below one."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, due = set(), [process]
    while due:
        due += (below := children.get(due.pop(), []))
        found |= set(below)
    return found


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def reached(what: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (done := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return done


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("number", "moment", "kept"),
    [
        (signal.SIGINT, "java starts", "what was committed is kept, and the next run goes on from there"),
        (signal.SIGINT, "it builds", "what was ingested is kept; the tables stay those of the last complete build"),
        (signal.SIGTERM, "it builds", "what was ingested is kept; the tables stay those of the last complete build"),
    ],
)
def test_an_interrupted_command_ends_at_once(tmp_path: Path, number: signal.Signals, moment: str, kept: str) -> None:
    heard = tmp_path / "stderr"
    with heard.open("w") as stderr:
        command = [sys.executable, "-m", "chronicle", "run", str(LOGS), "--warehouse", str(tmp_path / "warehouse")]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, cwd=LOGS.parents[1])
    try:
        if moment == "java starts":
            assert reached(lambda: bool(descendants(process.pid)), 60)
        else:
            assert reached(lambda: any(line[:1].isdigit() and "/" in line.split()[0] for line in heard.read_text().splitlines()), 200)
        below = descendants(process.pid)
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
