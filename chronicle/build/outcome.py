"""What a build is asked for, and what it did."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chronicle.build.compiled import Model, Part
from chronicle.build.dbt_runs import one_line, results_of
from chronicle.spark.internals.executions import Jobs

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql.types import StructType

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Statement:
    """What a model's statement took: seconds to parse and analyse it, and seconds in all."""

    analysis: float
    seconds: float


@dataclass(frozen=True)
class Took:
    """What a model's statement took, and its jobs."""

    statement: Statement
    jobs: Jobs


@dataclass(frozen=True)
class Result:
    """What became of a model.

    seconds: in all; view_seconds: of these for views that it was the first to read
    rows: those it has (None: days were replaced); columns: as Spark found them
    days: how many of an incremental table were replaced (None: all)
    failure: why it could not be built
    because: what it reads that has changed (None: everything is built)
    part: what was rebuilt of it (None: all)
    is_as_before: its rows are known to be those of the previous build
    took: what its statement took (None: not profiled)
    """

    model: Model
    seconds: float = 0.0
    view_seconds: float = 0.0
    rows: int | None = None
    columns: StructType | None = None
    days: int | None = None
    failure: str | None = None
    because: list[str] | None = None
    part: Part | None = None
    is_as_before: bool = False
    took: Took | None = None

    @property
    def is_made(self) -> bool:
        return not self.failure and self.because != []

    @property
    def since(self) -> dt.datetime | None:
        """The time from which on its rows were built; None: all were."""
        return self.part.since if self.part else None

    @property
    def clusters(self) -> list[str] | None:
        """Of which clusters they were built; None: of all that the build is of."""
        return self.part.clusters if self.part else None


@dataclass
class Outcome:
    """What a build did.  `models`: seconds by model, in order; `rows`: by mart; `days`: how many days changed, by model (None: all);
    `clusters`: those that were built (None: all); `results`: one per stored model; `view_columns`: by view, as in `ViewColumns`, of those
    that models read, if everything was built; `tests`: how many passed; `warnings`: a line for each."""

    models: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    days: dict[str, int | None] = field(default_factory=dict)
    clusters: list[str] | None = None
    results: list[Result] = field(default_factory=list)
    view_columns: dict[str, str] = field(default_factory=dict, repr=False)
    tests: int = 0
    warnings: list[str] = field(default_factory=list)
    anew: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def note_tests(self, done: dbtRunnerResult) -> list[str]:
        """Note which of dbt's tests passed or warned.  Returns a line for each node that failed, or for what stopped dbt."""
        failed = []
        for result in results_of(done):
            name, kind = result.node.name, str(result.node.resource_type)
            if result.status in ("error", "fail", "runtime error"):
                failed.append(f"{kind} {name}: {one_line(result.message or 'failed')} ({result.node.original_file_path})")
            elif result.status == "warn":
                self.warnings.append(f"{kind} {name}: {one_line(result.message or '')}")
            elif result.status == "pass":
                self.tests += 1
        if done.exception and not failed:
            failed.append(f"dbt: {one_line(str(done.exception))}")
        return failed


@dataclass(frozen=True)
class Wanted:
    """What a build was asked for.  `select`, `exclude`: dbt's selection syntax, several separated by blanks; `tests`: also run data and
    unit tests."""

    select: str | None = None
    exclude: str | None = None
    full_refresh: bool = False
    tests: bool = False

    @property
    def is_all(self) -> bool:
        """Whether nothing was asked for but to build what is new."""
        return not (self.select or self.exclude or self.full_refresh or self.tests)

    @property
    def selection(self) -> list[str]:
        """The selection as options of dbt."""
        selected = ["--select", *self.select.split()] if self.select else []
        return selected + (["--exclude", *self.exclude.split()] if self.exclude else [])
