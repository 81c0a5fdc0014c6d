"""The processes of a command, as /proc has them."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from chronicle.spark.processes import stat, tree
from tests.processes import alive

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def test_a_tree_has_all_processes_below_one() -> None:
    with subprocess.Popen(["sh", "-c", "sh -c 'cat; true'; true"], stdin=subprocess.PIPE) as outer:
        end = time.monotonic() + 10
        while len(found := tree(outer.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.02)
        assert [int(stat(process)[1]) for process in found] == [os.getpid(), *found[:2]]
        assert found[0] == outer.pid and set(found) < set(tree(os.getpid()))
        assert all(map(alive, found))
    assert not any(map(alive, found))
    assert tree(outer.pid) == [outer.pid]
