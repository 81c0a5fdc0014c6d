"""Simulations of an event log whose times can be computed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import zstandard

from bench import simulate
from bench.event_log import SQL, Reader, Run, Task, events
from bench.simulate import Model, Split, facts, of_a_terabyte, table

MIB = 1 << 20
DAG = {"int_a": set[str](), "int_view": {"int_a"}, "int_b": set[str](), "fct_c": {"int_view", "int_b"}}

# By stage: parents, when it was submitted and completed, and the seconds of its tasks.
Stages = dict[int, tuple[list[int], float, float, list[float]]]


def task(stage: int, seconds: float, reason: str = "Success") -> dict[str, Any]:
    read = {"Shuffle Read Metrics": {"Remote Bytes Read": 3, "Local Bytes Read": 4}, "Input Metrics": {"Bytes Read": 5}}
    times = {"Launch Time": 5000, "Finish Time": 5000 + int(seconds * 1000)}
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Task End Reason": {"Reason": reason},
        "Task Info": times,
        "Task Metrics": read,
    }


def job(number: int, query: int, submitted: float, completed: float, stages: Stages, description: str) -> Iterator[dict[str, Any]]:
    """A job, with those of its stages that ran: the others have no tasks."""
    infos = [{"Stage ID": stage, "Parent IDs": parents} for stage, (parents, *_) in stages.items()]
    properties = {"spark.sql.execution.id": str(query), "spark.job.description": description}
    start = {"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": submitted * 1000}
    yield start | {"Stage Infos": infos, "Properties": properties}
    for stage, (_, began, ended, tasks) in stages.items():
        yield from (task(stage, seconds) for seconds in tasks)
        if tasks:
            times = {"Submission Time": began * 1000, "Completion Time": ended * 1000}
            yield {"Event": "SparkListenerStageCompleted", "Stage Info": {"Stage ID": stage} | times}
    yield {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": completed * 1000}


def query(number: int, began: float, ended: float, inner: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"Event": f"{SQL}Start", "executionId": number, "rootExecutionId": number, "description": "save", "time": began * 1000}
    yield from inner
    yield {"Event": f"{SQL}End", "executionId": number, "time": ended * 1000}


def executors(some: int) -> Iterator[dict[str, Any]]:
    for number in range(some):
        yield {"Event": "SparkListenerExecutorAdded", "Executor ID": str(number), "Executor Info": {"Total Cores": 1}}


def written() -> Iterator[dict[str, Any]]:
    """Three models on two cores, one after the other: a takes a second of the driver, 4 s for tasks of 4 and 2 s, and 1 s for one of 1 s; after a second
    of the driver b takes 4 s for three tasks of 2 s; c takes a second of the driver and 2 s for four tasks of 1 s."""
    yield {"Event": "SparkListenerLogStart", "Spark Version": "4.2.0"}
    yield from executors(2)
    yield from query(0, 0, 6, job(0, 0, 1, 6, {0: ([], 1, 5, [4, 2]), 1: ([0], 5, 6, [1])}, "model int_a"))
    yield task(1, 30, "ExceptionFailure")
    yield from query(1, 7, 11, job(1, 1, 7, 11, {2: ([], 7, 11, [2, 2, 2])}, "model int_b"))
    # Its first stage was there already.
    yield from query(2, 11, 14, job(2, 2, 12, 14, {3: ([], 0, 0, []), 4: ([3], 12, 14, [1, 1, 1, 1])}, "model fct_c"))


def run(dag: dict[str, set[str]] | None = None) -> Run:
    return Reader(dag).read(written())


def seconds(cores: int, lanes: int = 1, **changed: Any) -> float:
    return Model(run(DAG), DAG, **changed).seconds(cores, lanes)


def test_a_log_is_read_into_statements_with_what_the_driver_did_alone() -> None:
    found = run(DAG)
    assert (found.cores, found.lanes, found.seconds) == (2, 1, 14)
    assert [(one.name, one.gap, one.tail) for one in found.statements] == [("int_a", 0, 0), ("int_b", 1, 0), ("fct_c", 0, 0)]
    assert [[job.gap for job in one.jobs] for one in found.statements] == [[1], [0], [1]]
    assert found.task_seconds == pytest.approx(17)
    assert found.driver_seconds == pytest.approx(3)
    assert found.statements[2].jobs[0].stages[0].tasks[0] == Task(1.0, 5, 7)


def test_the_run_that_was_measured_takes_as_long_when_it_is_simulated() -> None:
    assert Model(run(), {}).seconds(2, 1) == pytest.approx(14)
    assert seconds(2) == pytest.approx(14)


@pytest.mark.parametrize(
    ("cores", "lanes", "expected"),
    [
        # 1 + 6 + 1 for a, 1 + 6 for b, 1 + 4 for c.
        (1, 1, 20),
        # 1 + 4 + 1, 1 + 2, 1 + 1.
        (4, 1, 11),
        (256, 1, 11),
        # a until 6, of whose cores b gets one at 3 for its third task and ends at 5; c begins at 6, after a view of a.
        (4, 2, 8),
        (256, 16, 8),
    ],
)
def test_tasks_are_scheduled_on_cores_and_models_in_lanes(cores: int, lanes: int, expected: float) -> None:
    assert seconds(cores, lanes) == pytest.approx(expected)


def test_without_names_the_lanes_are_those_of_the_log() -> None:
    model = Model(run(), {})
    assert model.lanes((1, 2, 8)) == (1,)
    assert Model(run(DAG), DAG).lanes((1, 2, 8)) == (1, 2, 8)
    assert model.seconds(4, 1) == pytest.approx(11)


def test_a_giant_cluster_makes_the_longest_task_of_each_stage_longer() -> None:
    # 1 + 8 + 2, 1 + 4, 1 + 2.
    assert seconds(4, giant=2.0) == pytest.approx(19)


def test_a_fleet_twice_as_large_takes_twice_as_long_but_for_what_each_task_costs_besides() -> None:
    # The shortest tenth of the tasks takes 1 s: 1 + 7 + 1, 1 + 3, 1 + 1.
    assert seconds(4, fleet=2.0) == pytest.approx(15)


def test_a_driver_of_one_core_does_one_thing_at_a_time() -> None:
    # a's first second and b's before it follow each other: b begins at 2, has two cores until 4, and then those of a; c as before.
    assert seconds(4, 2, drivers=1) == pytest.approx(8)
    # With cores without end but one for the driver: a is submitted at 1, b begins at 2 and ends at 4.
    assert seconds(99, 2, drivers=1) == pytest.approx(8)
    two = Reader({"x": set(), "y": set()}).read(
        event
        for part in (
            executors(1),
            query(0, 0, 2, job(0, 0, 1, 2, {0: ([], 1, 2, [1])}, "x")),
            query(1, 2, 4, job(1, 1, 3, 4, {1: ([], 3, 4, [1])}, "y")),
        )
        for event in part
    )
    model = Model(two, {"x": set(), "y": set()})
    assert model.seconds(2, 2) == pytest.approx(2)
    assert replace(model, drivers=1).seconds(2, 2) == pytest.approx(3)


def test_jobs_of_a_query_that_ran_at_once_do_so_in_the_simulation() -> None:
    """Adaptive execution submits the stages of both sides of a join as jobs of their own, and the join when both are there."""

    def jobs() -> Iterator[dict[str, Any]]:
        yield from job(0, 0, 0, 4, {0: ([], 0, 4, [2, 2])}, "")
        yield from job(1, 0, 0, 6, {1: ([], 0, 6, [2])}, "")
        yield from job(2, 0, 7, 8, {2: ([], 7, 8, [1])}, "")

    model = Model(Reader().read(event for part in (executors(1), query(0, 0, 8, jobs())) for event in part), {})
    assert model.seconds(1, 1) == pytest.approx(2 + 2 + 2 + 1 + 1)
    assert model.seconds(3, 1) == pytest.approx(2 + 1 + 1)


def test_a_statement_that_is_no_model_waits_for_all_and_all_wait_for_it() -> None:
    numbers = count()

    def one(description: str) -> Iterator[dict[str, Any]]:
        n = next(numbers)
        return query(n, n, n + 1, job(n, n, n, n + 1, {n: ([], n, n + 1, [1])}, description))

    dag = {"x": set[str](), "y": set[str]()}
    parts = [executors(1), one("x"), one("vacuum"), one("y")]
    model = Model(Reader(dag).read(event for part in parts for event in part), dag)
    assert model.seconds(9, 9) == pytest.approx(3)
    assert [one.name for one in model.run.statements] == ["x", "query 1 vacuum", "y"]


def test_large_tasks_are_divided_as_spark_would_for_more_cores() -> None:
    split = Split()
    shuffled = [Task(10.0, from_shuffle=8 * MIB)]
    assert [task.seconds for task in split.stage(shuffled, 4, 0.4)] == pytest.approx([0.4 + 9.6 / 4] * 4)
    # At least one megabyte each.
    assert len(split.stage(shuffled, 64, 0.4)) == 8
    assert len(split.stage(shuffled, 1, 0.4)) == 1
    # Parts of files have at least four.
    assert len(split.stage([Task(10.0, from_files=8 * MIB)], 64, 0.4)) == 2
    assert len(split.stage([Task(1.0, from_shuffle=2 * MIB)] * 150, 1000, 0.0)) == 150
    assert split.stage([Task(1.0)], 64, 0.4) == [Task(1.0)]


def test_what_limits_a_run_is_said() -> None:
    said = "\n".join(facts(Model(run(DAG), DAG)))
    assert "measured: 14.0 s on 2 cores in 1 lane; simulated the same: 14.0 s (+0.0%)" in said
    assert "tasks: 17.0 s of a core; the driver alone: 3.0 s" in said
    assert "longest task: 4.00 s, in stage 0 of int_a" in said
    assert "longest task takes 4.00 s, 1.3 times the median of its stage, in stage 0 of int_a" in said
    assert "in stages of one task: 5.9% of the tasks' time" in said


def test_a_terabyte_takes_as_much_for_each_byte() -> None:
    assert of_a_terabyte(run(), 17e6) == "a terabyte of such logs: 278 core hours of tasks"


def test_the_table_has_a_line_for_each_number_of_cores() -> None:
    # On one core two lanes take 19 s: the second of the driver before b passes while a runs.
    lines = list(table(Model(run(DAG), DAG), (1, 2)))
    assert lines[0] == "| cores | 1 lane, s | speed-up | efficiency | 2 lanes, s | speed-up | efficiency |"
    assert lines[4] == "| 4 | 11.0 | 1.8 | 0.45 | 8.0 | 2.4 | 0.59 |"
    assert len(lines) == 2 + len(simulate.CORES)


def packed(text: str) -> bytes:
    """In two frames, as Spark writes them: it flushes."""
    half = len(text) // 2
    return b"".join(zstandard.ZstdCompressor().compress(part.encode()) for part in (text[:half], text[half:]))


def test_logs_are_read_from_files_and_from_rolled_ones_in_their_order(tmp_path: Path) -> None:
    lines = [json.dumps(event) + "\n" for event in written()]
    plain = tmp_path / "app-1"
    plain.write_text("".join(lines))
    assert list(events(plain)) == list(written())
    plain.write_text("".join(lines) + lines[0][:20])
    assert list(events(plain)) == list(written())
    rolled = tmp_path / "eventlog_v2_app-1"
    rolled.mkdir()
    (rolled / "appstatus_app-1").touch()
    parts = [lines[:3], *[[line] for line in lines[3:12]], lines[12:]]
    for number, part in enumerate(parts, 1):
        (rolled / f"events_{number}_app-1.zstd").write_bytes(packed("".join(part)))
    assert len(parts) > 10
    assert list(events(rolled)) == list(written())
    outer = tmp_path / "logs"
    outer.mkdir()
    rolled.rename(outer / rolled.name)
    assert list(events(outer)) == list(written())
    with pytest.raises(ValueError, match="no event log, or more than one"):
        list(events(tmp_path))
