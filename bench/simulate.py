"""Simulates the run of a Spark event log with other numbers of cores: `python -m bench.simulate LOG`.

The tasks are the real ones, each as long as it took. A stage starts when its parents are complete; a free core takes the next task of the
earliest job (list scheduling, as Spark's FIFO does it). What the driver did alone between jobs and stages takes as long as it did. Where
descriptions of jobs name models, these run in lanes: a free lane takes the first model whose parents are there; else in the lanes of the log.

Not simulated: that cores share a machine's memory bandwidth and disks, that executors are far from their data, and that they fail.
"""

from __future__ import annotations

import argparse
import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import ceil
from pathlib import Path
from statistics import median

from bench.event_log import Dag, Job, Reader, Run, Stage, Statement, Task, events, parents_of
from chronicle.build.compiled import Project, compiled
from chronicle.project import PROJECT

CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LANES = (1, 2, 8)
# A stage counts as skewed only if its longest task takes so many seconds.
LONG_TASK = 1.0
MIB = 1 << 20


@dataclass(frozen=True)
class Split:
    """How Spark divides input by the number of cores, with its defaults (bytes): files into parts of at least `file_least` and at most `file_most`,
    what was shuffled (adaptive execution, parallelism first) into `shuffle_least` to `shuffle_most`, at most `partitions`."""

    file_least: int = 4 * MIB
    file_most: int = 128 * MIB
    shuffle_least: int = MIB
    shuffle_most: int = 64 * MIB
    partitions: int = 200

    def stage(self, tasks: Sequence[Task], cores: int, fixed: float) -> list[Task]:
        """The tasks of a stage as that many cores would get them: large ones are divided, and each part costs `fixed` seconds besides its share."""
        from_files, from_shuffle = sum(task.from_files for task in tasks), sum(task.from_shuffle for task in tasks)
        is_shuffle = from_shuffle > from_files
        least, most = (self.shuffle_least, self.shuffle_most) if is_shuffle else (self.file_least, self.file_most)
        part = min(most, max(least, ceil(max(from_files, from_shuffle) / cores)))
        found = list[Task]()
        for task in tasks:
            parts = max(1, ceil((task.from_shuffle if is_shuffle else task.from_files) / part))
            if is_shuffle and len(tasks) * parts > self.partitions:
                parts = max(1, self.partitions // len(tasks))
            seconds = task.seconds if parts == 1 else fixed + max(0.0, task.seconds - fixed) / parts
            found += [replace(task, seconds=seconds)] * parts
        return found


def rescaled(run: Run, cores: int, split: Split) -> Run:
    """The run with its tasks divided as Spark would for so many cores."""
    fixed = fixed_seconds(run)
    return with_tasks(run, lambda stage: split.stage(stage.tasks, cores, fixed))


def fixed_seconds(run: Run) -> float:
    """What a task costs besides its data: as much as the shortest tenth of the tasks."""
    took = sorted(task.seconds for _, stage in run.stages for task in stage.tasks)
    return took[len(took) // 10] if took else 0.0


def with_fleet(run: Run, times: float) -> Run:
    """The run of a fleet so many times as large: each task reads so many times as much, and takes so much longer but for what it costs besides."""
    fixed = fixed_seconds(run)

    def larger(task: Task) -> Task:
        seconds = task.seconds + max(0.0, task.seconds - fixed) * (times - 1)
        return Task(seconds, round(task.from_files * times), round(task.from_shuffle * times))

    return with_tasks(run, lambda stage: list(map(larger, stage.tasks)))


def with_giant(run: Run, times: float) -> Run:
    """The run with one cluster that is so many times as large: the longest task of each stage takes so many times as long."""

    def tasks(stage: Stage) -> list[Task]:
        longest = max(range(len(stage.tasks)), key=lambda number: stage.tasks[number].seconds)
        return [replace(task, seconds=task.seconds * (times if number == longest else 1)) for number, task in enumerate(stage.tasks)]

    return with_tasks(run, tasks)


def with_tasks(run: Run, tasks: Callable[[Stage], list[Task]]) -> Run:
    """The run with other tasks."""
    statements = [
        replace(one, jobs=[replace(job, stages=[replace(stage, tasks=tasks(stage)) for stage in job.stages]) for job in one.jobs])
        for one in run.statements
    ]
    return replace(run, statements=statements)


class Simulation:
    """A run on some cores and lanes; `parents`: what each statement depends on; `drivers`: cores of the driver (None: one for each lane)."""

    def __init__(self, run: Run, parents: Mapping[str, set[str]], cores: int, lanes: int, drivers: int | None = None) -> None:
        self.run, self.parents = run, parents
        self.free_cores, self.free_lanes, self.free_drivers = cores, lanes, drivers or lanes
        self.now, self.order, self.jobs = 0.0, count(), count()
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.tasks: list[tuple[int, int, int, float, Callable[[], None]]] = []
        self.thoughts = deque[tuple[float, Callable[[], None]]]()
        self.waiting, self.done = list(run.statements), set[str]()

    def seconds(self) -> float:
        """How long it takes."""
        self.offer_statements()
        while self.events:
            self.now, _, then = heapq.heappop(self.events)
            then()
        if self.waiting:
            raise ValueError(f"statements that wait for each other: {', '.join(one.name for one in self.waiting[:5])}")
        return self.now

    def at(self, seconds: float, then: Callable[[], None]) -> None:
        """Do something so many seconds from now."""
        heapq.heappush(self.events, (self.now + seconds, next(self.order), then))

    def drive(self, seconds: float, then: Callable[[], None]) -> None:
        """Let the driver work for some seconds, as soon as it has a core free."""
        if not self.free_drivers:
            self.thoughts.append((seconds, then))
            return
        self.free_drivers -= 1

        def over() -> None:
            self.free_drivers += 1
            then()
            if self.thoughts and self.free_drivers:
                self.drive(*self.thoughts.popleft())

        self.at(seconds, over)

    def offer_statements(self) -> None:
        for one in [one for one in self.waiting if self.parents[one.name] <= self.done]:
            if not self.free_lanes:
                return
            self.free_lanes -= 1
            self.waiting.remove(one)
            self.drive(one.gap, lambda one=one: StatementRun(self, one).begin())  # type: ignore[misc]

    def ended(self, statement: Statement) -> None:
        self.free_lanes += 1
        self.done.add(statement.name)
        self.offer_statements()

    def submit(self, job: int, stage: Stage, then: Callable[[], None]) -> None:
        """Let cores run the tasks of a stage; `then` is called at the end of each."""
        for number, task in enumerate(stage.tasks):
            heapq.heappush(self.tasks, (job, stage.number, number, task.seconds, then))
        self.start_tasks()

    def start_tasks(self) -> None:
        while self.free_cores and self.tasks:
            *_, seconds, then = heapq.heappop(self.tasks)
            self.free_cores -= 1

            def over(then: Callable[[], None] = then) -> None:
                self.free_cores += 1
                then()
                self.start_tasks()

            self.at(seconds, over)


class StatementRun:
    """A statement as it runs in a simulation."""

    def __init__(self, simulation: Simulation, statement: Statement) -> None:
        self.simulation, self.statement = simulation, statement
        self.left = {job.number: set(job.after) for job in statement.jobs}
        self.begun, self.ended = set[int](), 0

    def begin(self) -> None:
        """Begin the jobs that wait for no other."""
        for job in self.statement.jobs:
            if not self.left[job.number] and job.number not in self.begun:
                self.begun.add(job.number)
                self.simulation.drive(job.gap, lambda job=job: JobRun(self, job).begin())  # type: ignore[misc]

    def job_ended(self, job: Job) -> None:
        self.ended += 1
        for others in self.left.values():
            others.discard(job.number)
        self.begin()
        if self.ended == len(self.statement.jobs):
            self.simulation.drive(self.statement.tail, lambda: self.simulation.ended(self.statement))


class JobRun:
    """A job as it runs in a simulation."""

    def __init__(self, within: StatementRun, job: Job) -> None:
        self.within, self.job, self.number = within, job, next(within.simulation.jobs)
        ran = {stage.number for stage in job.stages}
        self.parents = {stage.number: set(stage.parents) & ran for stage in job.stages}
        self.tasks_left = {stage.number: len(stage.tasks) for stage in job.stages}
        self.begun, self.complete = set[int](), set[int]()

    def begin(self) -> None:
        """Begin the stages whose parents are complete, or end."""
        simulation = self.within.simulation
        for stage in self.job.stages:
            if stage.number not in self.begun and self.parents[stage.number] <= self.complete:
                self.begun.add(stage.number)
                simulation.drive(stage.lag, lambda stage=stage: simulation.submit(self.number, stage, lambda: self.task_ended(stage)))  # type: ignore[misc]
        if len(self.complete) == len(self.job.stages):
            simulation.drive(self.job.tail, lambda: self.within.job_ended(self.job))

    def task_ended(self, stage: Stage) -> None:
        self.tasks_left[stage.number] -= 1
        if not self.tasks_left[stage.number]:
            self.complete.add(stage.number)
            self.begin()


@dataclass(frozen=True)
class Simulated:
    """What a run takes on some cores."""

    cores: int
    lanes: int
    seconds: float
    speed_up: float

    @property
    def efficiency(self) -> float:
        return self.speed_up / self.cores


@dataclass(frozen=True)
class Model:
    """A log with what is assumed: see `main`."""

    run: Run
    dag: Dag
    split: Split | None = None
    giant: float = 1.0
    drivers: int | None = None
    fleet: float = 1.0

    def seconds(self, cores: int, lanes: int) -> float:
        run = with_fleet(self.run, self.fleet) if self.fleet != 1 else self.run
        run = with_giant(run, self.giant) if self.giant != 1 else run
        run = rescaled(run, cores, self.split) if self.split else run
        return Simulation(run, parents_of(run.statements, self.dag), cores, lanes, self.drivers).seconds()

    def lanes(self, wanted: Sequence[int]) -> Sequence[int]:
        """The numbers of lanes to simulate: only those of the log if models are not known."""
        return wanted if any(one.is_known for one in self.run.statements) else (self.run.lanes,)

    def simulated(self, lanes: int, cores: Sequence[int] = CORES) -> Iterator[Simulated]:
        """What the run takes by cores, relative to one."""
        alone = self.seconds(1, lanes)
        for some in cores:
            seconds = self.seconds(some, lanes)
            yield Simulated(some, lanes, seconds, alone / seconds)


def table(model: Model, lanes: Sequence[int]) -> Iterator[str]:
    """The simulation as Markdown."""
    yield "| cores | " + " | ".join(f"{some} lane{'s' if some > 1 else ''}, s | speed-up | efficiency" for some in lanes) + " |"
    yield "|---:|" + "---:|---:|---:|" * len(lanes)
    by_cores: dict[int, list[Simulated]] = defaultdict(list)
    for some in lanes:
        for one in model.simulated(some):
            by_cores[one.cores].append(one)
    for cores, found in by_cores.items():
        yield f"| {cores} | " + " | ".join(f"{one.seconds:,.1f} | {one.speed_up:.1f} | {one.efficiency:.2f}" for one in found) + " |"


def facts(model: Model) -> Iterator[str]:
    """What limits the run, and how well the simulation tells what was measured."""
    run = model.run
    tasks = [(task.seconds, statement.name, stage.number) for statement, stage in run.stages for task in stage.tasks]
    simulated = replace(model, split=None, giant=1.0, fleet=1.0).seconds(run.cores, run.lanes)
    yield (
        f"measured: {run.seconds:.1f} s on {run.cores} cores in {run.lanes} lane{'s' if run.lanes > 1 else ''}; simulated the same: {simulated:.1f} s "
        f"({simulated / run.seconds - 1:+.1%})"
    )
    yield f"{len(run.statements)} statements, {sum(len(one.jobs) for one in run.statements)} jobs, {len(run.stages)} stages, {len(tasks):,} tasks"
    yield f"tasks: {run.task_seconds:.1f} s of a core; the driver alone: {run.driver_seconds:.1f} s, of all lanes together"
    seconds, statement, stage = max(tasks)
    yield f"longest task: {seconds:.2f} s, in stage {stage} of {statement}"
    if skewed := skew(run):
        times, longest, statement, stage = skewed
        yield f"widest skew: the longest task takes {longest:.2f} s, {times:.1f} times the median of its stage, in stage {stage} of {statement}"
    alone = sum(one.tasks[0].seconds for _, one in run.stages if len(one.tasks) == 1)
    yield f"in stages of one task: {alone / max(run.task_seconds, 1e-9):.1%} of the tasks' time"


def of_a_terabyte(run: Run, logs: float) -> str:
    """What a terabyte of logs takes if it takes as much for each byte as the logs of the run did, of which there were so many bytes."""
    return f"a terabyte of such logs: {run.task_seconds / logs * 1e12 / 3600:,.0f} core hours of tasks"


def skew(run: Run) -> tuple[float, float, str, int] | None:
    """The stage with the largest ratio of its longest task to the median, among those with a long task: ratio, seconds, statement, stage."""
    found = []
    for statement, stage in run.stages:
        took = [task.seconds for task in stage.tasks]
        if len(took) > 1 and max(took) >= LONG_TASK:
            found.append((max(took) / max(median(took), 0.001), max(took), statement.name, stage.number))
    return max(found, default=None)


def dag_of(project: Project) -> dict[str, set[str]]:
    """The models and seeds of a project with what they read."""
    return {name: set(model.parents) for name, model in project.models.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, help="an event log: a file, or a folder of rolled files")
    parser.add_argument(
        "--lanes", type=lambda text: tuple(map(int, text.split(","))), default=LANES, help="numbers of models that are built at once"
    )
    parser.add_argument("--rescale", action="store_true", help="divide tasks as Spark's defaults would for each number of cores")
    parser.add_argument(
        "--giant", type=float, default=1.0, metavar="TIMES", help="the longest task of each stage takes so many times as long"
    )
    parser.add_argument(
        "--fleet", type=float, default=1.0, metavar="TIMES", help="a fleet that is so many times as large; use it with --rescale"
    )
    parser.add_argument("--driver-cores", type=int, help="cores of the driver; without it, one for each lane")
    parser.add_argument("--bytes", type=float, help="bytes of the logs that the run built: prints what a terabyte costs")
    given = parser.parse_args()
    dag = dag_of(compiled(PROJECT))
    model = Model(
        Reader(dag).read(events(given.log)), dag, Split() if given.rescale else None, given.giant, given.driver_cores, given.fleet
    )
    for line in (*facts(model), "", *table(model, model.lanes(given.lanes))):
        print(line)
    if given.bytes:
        print(f"\n{of_a_terabyte(model.run, given.bytes)}")


if __name__ == "__main__":
    main()
