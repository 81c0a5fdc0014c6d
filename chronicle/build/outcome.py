"""What a build is asked for, and what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

from chronicle.build.runner import Result


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
