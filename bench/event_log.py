"""Reads an event log of Spark: its statements with their jobs, stages and tasks, what each took, and what the driver did alone meanwhile.

`spark.eventLog.enabled` makes Spark write one: JSON lines in a file or, as Spark 4 does by default, in rolled files of a folder, packed with zstd.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Dag = Mapping[str, set[str]]

PACKED = ".zstd"
# Rolled files by number, in a folder that also has a file with the state of the application.
ROLLED = re.compile(r"events_(\d+)_.*")
SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"


@dataclass(frozen=True)
class Task:
    """A task that succeeded.  `seconds`: for which it took a core, from its launch until the driver knew that it had finished, because only then the next
    one is launched; `from_files`, `from_shuffle`: bytes that it read."""

    seconds: float
    from_files: int = 0
    from_shuffle: int = 0


@dataclass
class Stage:
    """A stage; `parents`: stages whose output it reads; `lag`: the driver's seconds from the end of the last of these until it was submitted."""

    number: int
    parents: tuple[int, ...]
    tasks: list[Task] = field(default_factory=list)
    submitted: float | None = None
    completed: float = 0.0
    lag: float = 0.0


@dataclass
class Job:
    """`after`: jobs of its statement that had ended when it was submitted; `gap`: the driver's seconds from then on; `tail`: those from the end of
    its last stage until its own."""

    number: int
    statement: str
    submitted: float
    stages: list[Stage] = field(default_factory=list)
    completed: float = 0.0
    after: list[int] = field(default_factory=list)
    gap: float = 0.0
    tail: float = 0.0


@dataclass
class Statement:
    """What a lane of the driver does at a time: a model, or where names are not known a query.  `after`: the statement that its lane did before;
    `gap`: the driver's seconds since then, or since the last statement that it depends on; `tail`: those after its last job."""

    name: str
    jobs: list[Job] = field(default_factory=list)
    began: float = float("inf")
    ended: float = 0.0
    after: str | None = None
    gap: float = 0.0
    tail: float = 0.0
    is_known: bool = False


@dataclass
class Run:
    """What a log tells, in seconds.  `cores`: of all executors that were there at once; `statements`: in the order in which they began;
    `lanes`: how many ran at once."""

    statements: list[Statement]
    cores: int
    lanes: int

    @property
    def seconds(self) -> float:
        """On the clock, from the first statement to the end of the last."""
        return max(one.ended for one in self.statements) - min(one.began for one in self.statements)

    @property
    def stages(self) -> list[tuple[Statement, Stage]]:
        """All stages that ran, with their statements."""
        return [(statement, stage) for statement in self.statements for job in statement.jobs for stage in job.stages]

    @property
    def task_seconds(self) -> float:
        return sum(task.seconds for _, stage in self.stages for task in stage.tasks)

    @property
    def driver_seconds(self) -> float:
        """Seconds in which a lane's statement waited for the driver alone, of all lanes together."""
        jobs = sum(job.gap + job.tail + sum(stage.lag for stage in job.stages) for one in self.statements for job in one.jobs)
        return jobs + sum(one.gap + one.tail for one in self.statements)


def events(log: Path) -> Iterator[Event]:
    """The events of a log: a file, or a folder with rolled files."""
    if log.is_dir():
        rolled = {int(found[1]): file for file in log.iterdir() if (found := ROLLED.fullmatch(file.name))}
        inner = sorted(path for path in log.iterdir() if not path.name.startswith("."))
        if not rolled and len(inner) != 1:
            raise ValueError(f"{log}: has no event log, or more than one")
        for file in [rolled[number] for number in sorted(rolled)] or inner:
            yield from events(file)
        return
    with log.open("rb") as packed:
        for line in io.TextIOWrapper(_unpacked(packed, log.name), "utf-8"):
            # The last line of a log that is still being written may not be whole.
            if line.endswith("\n"):
                yield json.loads(line)


def _unpacked(packed: Any, name: str) -> Any:
    if PACKED not in name:
        return packed
    import zstandard

    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True))


class Reader:
    """Collects a run from events.  `dag`: the models whose names may stand in descriptions of jobs."""

    def __init__(self, dag: Dag | None = None) -> None:
        self.dag = dag or {}
        self.jobs: dict[int, Job] = {}
        self.stages: dict[int, Stage] = {}
        self.executions: dict[int, Event] = {}
        # The statement of each query that had a job.
        self.queries: dict[int, str] = {}
        self.ended: dict[int, float] = {}
        self.cores: dict[str, int] = {}
        self.most_cores = 0

    def read(self, log: Iterator[Event]) -> Run:
        handlers = {
            "SparkListenerJobStart": self.job_started,
            "SparkListenerJobEnd": self.job_ended,
            "SparkListenerStageCompleted": self.stage_completed,
            "SparkListenerTaskEnd": self.task_ended,
            "SparkListenerExecutorAdded": self.executor_added,
            "SparkListenerExecutorRemoved": lambda event: self.cores.pop(event["Executor ID"], None),
            f"{SQL}Start": lambda event: self.executions.update({event["executionId"]: event}),
            f"{SQL}End": lambda event: self.ended.update({event["executionId"]: event["time"] / 1000}),
        }
        for event in log:
            if handler := handlers.get(event["Event"]):
                handler(event)
        return self.run()

    def executor_added(self, event: Event) -> None:
        self.cores[event["Executor ID"]] = event["Executor Info"]["Total Cores"]
        self.most_cores = max(self.most_cores, sum(self.cores.values()))

    def job_started(self, event: Event) -> None:
        number, properties = event["Job ID"], event.get("Properties") or {}
        job = self.jobs[number] = Job(number, self.statement_of(number, properties), event["Submission Time"] / 1000)
        for info in event["Stage Infos"]:
            if info["Stage ID"] not in self.stages:
                stage = self.stages[info["Stage ID"]] = Stage(info["Stage ID"], tuple(info["Parent IDs"]))
                job.stages.append(stage)

    def statement_of(self, job: int, properties: Mapping[str, str]) -> str:
        """The name of the statement of a job: a known one that its description has, else its query's."""
        execution = self.executions.get(int(properties.get("spark.sql.execution.id", -1)), {})
        root = execution.get("rootExecutionId", execution.get("executionId"))
        texts = [properties.get("spark.job.description"), properties.get("spark.jobGroup.id"), execution.get("description")]
        name = next((known for text in texts if (known := self.known(text or ""))), "")
        if not name:
            # Spark may name a file and a line of code: its folders, which are this machine's, are left out.
            said = " ".join(re.sub(r"\S*/", "", next(filter(None, texts), None) or "").split())[:60]
            name = f"{'job' if root is None else 'query'} {job if root is None else root} {said}".strip()
        self.queries |= {number: name for number in (root, execution.get("executionId")) if number is not None}
        return name

    def known(self, text: str) -> str:
        """The longest name of a model in a text; empty if there is none."""
        return max((word for word in re.findall(r"\w+", text) if word in self.dag), key=len, default="")

    def stage_completed(self, event: Event) -> None:
        info = event["Stage Info"]
        if stage := self.stages.get(info["Stage ID"]):
            submitted = info.get("Submission Time", info["Completion Time"]) / 1000
            stage.submitted = submitted if stage.submitted is None else min(stage.submitted, submitted)
            stage.completed = max(stage.completed, info["Completion Time"] / 1000)

    def task_ended(self, event: Event) -> None:
        took, info = event.get("Task Metrics"), event["Task Info"]
        if took and event["Task End Reason"]["Reason"] == "Success" and event["Stage ID"] in self.stages:
            shuffled, seconds = took["Shuffle Read Metrics"], (info["Finish Time"] - info["Launch Time"]) / 1000
            read = shuffled["Remote Bytes Read"] + shuffled["Local Bytes Read"]
            self.stages[event["Stage ID"]].tasks.append(Task(seconds, took["Input Metrics"]["Bytes Read"], read))

    def job_ended(self, event: Event) -> None:
        self.jobs[event["Job ID"]].completed = event["Completion Time"] / 1000

    def run(self) -> Run:
        statements: dict[str, Statement] = {}
        for job in self.jobs.values():
            job.stages = [stage for stage in job.stages if stage.tasks and stage.submitted is not None]
            job.completed = max([job.completed, job.submitted, *(stage.completed for stage in job.stages)])
            one = statements.setdefault(job.statement, Statement(job.statement, is_known=job.statement in self.dag))
            one.jobs.append(job)
            one.began, one.ended = min(one.began, job.submitted), max(one.ended, job.completed)
        self.add_times_of_queries(statements)
        if not statements:
            raise ValueError("the log has no job")
        ordered = sorted(statements.values(), key=lambda one: one.began)
        for one in ordered:
            split_driver_time(one)
        lanes = share_lanes(ordered)
        add_gaps(ordered, parents_of(ordered, self.dag))
        return Run(ordered, max(self.most_cores, 1), lanes)

    def add_times_of_queries(self, statements: Mapping[str, Statement]) -> None:
        """A statement begins and ends with its queries, not with their jobs."""
        for number, name in self.queries.items():
            if number in self.executions and number in self.ended:
                one = statements[name]
                one.began, one.ended = min(one.began, self.executions[number]["time"] / 1000), max(one.ended, self.ended[number])


def split_driver_time(statement: Statement) -> None:
    """Note what the driver did alone within a statement: between its jobs, between their stages, and at the end."""
    for job in statement.jobs:
        earlier = [other for other in statement.jobs if other is not job and other.completed <= job.submitted]
        job.after = [other.number for other in earlier]
        job.gap = max(0.0, job.submitted - max((other.completed for other in earlier), default=statement.began))
        ran = {stage.number: stage for stage in job.stages}
        for stage in job.stages:
            ready = max((ran[parent].completed for parent in stage.parents if parent in ran), default=job.submitted)
            stage.lag = max(0.0, (stage.submitted or ready) - ready)
        job.tail = max(0.0, job.completed - max((stage.completed for stage in job.stages), default=job.submitted))
    statement.tail = max(0.0, statement.ended - max(job.completed for job in statement.jobs))


def share_lanes(statements: list[Statement]) -> int:
    """Give each statement the lane that became free last before it began.  Returns the number of lanes."""
    lanes: list[Statement] = []
    for statement in statements:
        free = [number for number, last in enumerate(lanes) if last.ended <= statement.began]
        if free:
            lane = max(free, key=lambda number: lanes[number].ended)
            statement.after = lanes[lane].name
            lanes[lane] = statement
        else:
            lanes.append(statement)
    return len(lanes)


def parents_of(statements: list[Statement], dag: Dag) -> dict[str, set[str]]:
    """By statement, the statements that have to end before it can begin.

    A model waits for the models that it reads.  A statement that belongs to no model waits for all that had ended before it, and all that began
    after it wait for it.  If the log names no model at all, each statement waits for the one before it in its lane.
    """
    if not any(one.is_known for one in statements):
        return {one.name: {one.after} if one.after else set() for one in statements}
    there = {one.name for one in statements if one.is_known}
    found = {}
    for one in statements:
        before = [other for other in statements if other.ended <= one.began and other is not one]
        if one.is_known:
            found[one.name] = ancestors(one.name, dag, there) | {other.name for other in before if not other.is_known}
        else:
            found[one.name] = {other.name for other in before}
    return found


def ancestors(name: str, dag: Dag, there: set[str]) -> set[str]:
    """The nearest models that a model reads and that ran, directly or through others that did not run."""
    found, seen, left = set[str](), {name}, list(dag[name])
    while left:
        parent = left.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in there:
            found.add(parent)
        else:
            left.extend(dag.get(parent, ()))
    return found


def add_gaps(statements: list[Statement], parents: Mapping[str, set[str]]) -> None:
    """Note what the driver did before each statement, since its lane was free and what it depends on was there."""
    ended = {one.name: one.ended for one in statements}
    first = min(one.began for one in statements)
    for one in statements:
        waited_for = {*parents[one.name], *([one.after] if one.after else [])}
        since = [at for name in waited_for if (at := ended[name]) <= one.began]
        one.gap = one.began - max(since, default=first)
