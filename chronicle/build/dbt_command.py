"""`chronicle dbt`: plain dbt, with a session that knows this warehouse's tables.

A session that dbt starts for itself has neither Delta nor a catalog, and would not know the tables on disk.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronicle.build import internals, versions
from chronicle.build.dbt_runs import PRODUCTION, prepare
from chronicle.build.parsed import READ, bring, kept
from chronicle.build.plain import forget_local
from chronicle.project import PROJECT
from chronicle.spark.catalog import forget_earlier, register, register_views, tables
from chronicle.spark.engine import PLAIN
from ingestion.warehouse import SCHEMAS, Warehouse, only_writer

# Commands that need no database, and commands that write to it; all others read.
AT_REST = {"", "parse", "list", "ls", "clean", "deps", "init", "docs", "docs serve", "source"}
WRITES = {"build", "run", "seed", "snapshot", "retry", "clone", "run-operation"}
# Options that leave out a part of what a command would make.
SELECTING = {"select", "selector", "exclude", "resource_types", "exclude_resource_types"}
# Options that dbt answers itself, whatever the command.
ANSWERED = {"help", "version"}


class WrongUsage(ValueError):
    """dbt does not understand its arguments; the text is what it says."""


@dataclass(frozen=True)
class Asked:
    """What a command line asks of dbt.  `command`: `build`, or `docs serve`; `given`: the options on it, by dbt's names for them;
    `known`: the options that the command takes."""

    command: str
    given: dict[str, Any]
    known: frozenset[str]

    @property
    def needs_session(self) -> bool:
        """Whether it needs a session of ours."""
        return self.command not in AT_REST and not ANSWERED & set(self.given) and self.given.get("target", PRODUCTION) == PRODUCTION

    @property
    def writes(self) -> bool:
        """Whether it changes tables."""
        return self.command in WRITES


def asked(arguments: list[str], *, strict: bool = False) -> Asked:
    """A command line as dbt's own parser reads it.  `strict`: raises WrongUsage for what dbt does not understand."""
    prepare()
    try:
        line = internals.command_line(arguments, strict=strict)
    except internals.Misused as error:
        raise WrongUsage(f"dbt: {error}") from None
    return Asked(" ".join(line.words), line.given, line.known)


def invoke(warehouse: str, arguments: list[str], memory: str, project: Path = PROJECT) -> int:
    """Run dbt with these arguments; returns its exit code (0 done, 1 something failed).

    The target is `prod` unless the arguments name another.  With `prod` the tables are registered first, and a command that writes holds the
    warehouse alone; with any other, dbt finds its tables without us.  Raises WrongUsage before anything is touched.
    """
    place = Warehouse.at(warehouse)
    wanted = asked(arguments)
    arguments = [*arguments, *places(place, project, wanted)]
    from dbt.cli.main import dbtRunner

    with contextlib.ExitStack() as held:
        if wanted.needs_session:
            asked(arguments, strict=True)
            place.must_exist()
            if wanted.writes:
                held.enter_context(only_writer(place))
            start_session(place, wanted, memory, project)
            if not (by_hand(place) / READ).exists():
                bring(kept(project), by_hand(place))
            if wanted.writes:
                # What a user builds by hand may differ from what a build would make. Nothing is written before this point.
                forget_local(place)
                versions.forget_state(place)
        done = dbtRunner().invoke(arguments)
    if internals.is_misuse(done.exception):
        raise WrongUsage(f"dbt: {done.exception}")
    return 0 if done.success else told(done.exception)


def told(exception: BaseException | None) -> int:
    """Exit code 1.  Raises ValueError where dbt could not run; failures within a run dbt has already printed."""
    if exception is not None:
        raise ValueError(f"dbt: {' '.join(str(exception).split())}")
    return 1


def by_hand(place: Warehouse) -> Path:
    """dbt's target folder, unless the user names one."""
    return place.work / "by-hand"


def places(place: Warehouse, project: Path, wanted: Asked) -> list[str]:
    """Options for paths and the target, if the command accepts them and the user has not set them."""
    if "project_dir" not in wanted.known:
        return []
    found = {
        "project_dir": project,
        "profiles_dir": project,
        "target": PRODUCTION,
        "target_path": by_hand(place),
        "log_path": place.work / "logs",
    }
    missing = {name: path for name, path in found.items() if name in wanted.known and name not in wanted.given}
    return [text for name, path in missing.items() for text in (f"--{name.replace('_', '-')}", str(path))]


def start_session(place: Warehouse, wanted: Asked, memory: str, project: Path) -> None:
    """Start the session that dbt will find, and register what the command may read."""
    from chronicle.spark.session import start_to_build

    spark = start_to_build(place.root, memory=memory, engine=PLAIN)
    forget_earlier(spark, place)
    if wanted.command.startswith("source "):
        register(spark, place, only=[table for table in tables(place) if table[0] == SCHEMAS[0]])
        return
    if wanted.writes and not SELECTING & set(wanted.given):
        register(spark, place)
    else:
        # Models that are not built this time may be read.
        register_views(spark, place)
