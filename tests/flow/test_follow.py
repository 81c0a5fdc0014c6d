"""`chronicle follow`: appended lines become facts exactly once, also after a kill; signals end it and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.following import Brokers, Following
from chronicle.project import PROJECT
from chronicle.spark.processes import tree
from tests.processes import FIRST_COMPILER, alive

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def reached(what: Callable[[], bool], following: Following, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert following.process.poll() is None, following.said.read_text()
        assert time.monotonic() < end, following.said.read_text()
        time.sleep(0.2)


def command(*arguments: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-m", "chronicle", *arguments], capture_output=True, text=True, cwd=PROJECT, check=True)
    return done.stdout, done.stderr


def test_appended_lines_become_facts_exactly_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FIRST_COMPILER.items():
        monkeypatch.setenv(name, value)
    brokers = Brokers(tmp_path / "logs")
    warehouse = tmp_path / "warehouse"
    brokers.change()
    options = ("--every", "1", "--settled-after", "1")
    following = Following(tmp_path / "logs", warehouse, tmp_path / "first", *options)
    try:
        reached(lambda: following.changes() == brokers.changes, following)
        time.sleep(0.01)
        brokers.change()
        # By then it may be at any point of a round.
        time.sleep(3)
        java = tree(following.process.pid)[1:]
        following.process.kill()
        following.process.wait()
        time.sleep(0.01)
        brokers.change()
        following = Following(tmp_path / "logs", warehouse, tmp_path / "second", *options)
        reached(lambda: following.changes() == brokers.changes, following)
        out, _ = command("sql", "select count(*) as n from bronze.log_records", "-f", "csv", "-w", str(warehouse))
        assert out == f"n\n{len(brokers.changes) + len(brokers.logs)}\n"
        # Beside it, another command takes its turn, and the next round goes on from there.
        _, said = command("run", str(tmp_path / "logs"), "--cluster", "followed", "-w", str(warehouse))
        assert "3 files: 3 unchanged\n0 new records" in said and "nothing new: tables unchanged" in said
        _, said = command("build", "--full-refresh", "-w", str(warehouse))
        assert "\nbuilt " in said
        time.sleep(0.01)
        brokers.change()
        reached(lambda: following.changes() == brokers.changes, following)
        java += tree(following.process.pid)[1:]
        assert following.stop() == 143
        last = following.said.read_text().splitlines()[-1]
        assert last.startswith("chronicle: terminated; ingested data is kept, tables are those of the last complete build")
        end = time.monotonic() + 10
        while any(alive(process) for process in java) and time.monotonic() < end:
            time.sleep(0.1)
        assert [process for process in java if alive(process)] == []
    finally:
        following.process.kill()
