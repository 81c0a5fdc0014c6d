"""One statement runs alone when all others have ended, and others wait for it; a long build gives memory back."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from unittest.mock import MagicMock

import pytest

from chronicle.build.memory import LONG_SECONDS, Turns, give_back_after, is_short

SECONDS = 20


def test_what_runs_alone_waits_for_others_and_others_for_it() -> None:
    turns, said = Turns(), list[str]()
    is_beside, may_end = Event(), Event()

    def beside() -> None:
        with turns.beside_others():
            is_beside.set()
            assert may_end.wait(SECONDS)
            said.append("beside")

    def alone() -> None:
        with turns.alone():
            said.append("alone")

    def later() -> None:
        with turns.beside_others():
            said.append("later")

    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(beside)
        assert is_beside.wait(SECONDS)
        second = threads.submit(alone)
        while not turns._is_alone:
            time.sleep(0.01)
        third = threads.submit(later)
        may_end.set()
        for thread in (first, second, third):
            thread.result(SECONDS)
    assert said == ["beside", "alone", "later"]


def test_two_that_want_to_be_alone_take_turns() -> None:
    turns, now, most = Turns(), 0, 0

    def alone() -> None:
        nonlocal now, most
        with turns.alone():
            now += 1
            most = max(most, now)
            now -= 1

    with ThreadPoolExecutor(2) as threads:
        for thread in [threads.submit(alone) for _ in range(50)]:
            thread.result(SECONDS)
    assert most == 1


def test_others_may_run_side_by_side() -> None:
    turns = Turns()
    with turns.beside_others(), turns.beside_others():
        assert turns._running == 2
    with turns.alone():
        pass


def test_a_lack_of_memory_is_known_by_its_name() -> None:
    text = "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0."
    assert is_short(RuntimeError(text))
    assert is_short(RuntimeError("org.apache.spark.memory.SparkOutOfMemoryError: There is not enough memory to build hash map."))
    # Raised as IllegalStateException by a task of 8,192 pages.
    assert is_short(RuntimeError("java.lang.IllegalStateException: Have already allocated a maximum of 8192 pages"))
    assert not is_short(RuntimeError("[ARITHMETIC_OVERFLOW] overflow"))


@pytest.mark.parametrize(
    ("seconds", "has_java", "collects"), [(LONG_SECONDS, True, 1), (LONG_SECONDS - 1, True, 0), (LONG_SECONDS, False, 0)]
)
def test_a_long_build_lets_java_collect(seconds: float, *, has_java: bool, collects: int) -> None:
    spark = MagicMock(spec_set=["_jvm", "_jsparkSession"] if has_java else ["_jvm"])
    give_back_after(spark, seconds)
    assert spark._jvm.java.lang.System.gc.call_count == collects
