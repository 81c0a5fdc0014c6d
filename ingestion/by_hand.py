"""`chronicle dbt`: dbt as it is, with a session that knows this warehouse's tables.

A session that dbt starts for itself has neither Delta nor a catalog, and what stands on disk would be new to it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from ingestion.build import PROJECT, WHILE_BUILDING, make_views, prepare
from ingestion.warehouse import SCHEMAS, Warehouse, only_writer, register, register_views, tables

# What asks no database at all, and what writes to it; everything else reads.
AT_REST = {"parse", "list", "ls", "clean", "deps", "init"}
WRITES = {"build", "run", "seed", "snapshot", "retry", "clone", "run-operation"}


def invoke(warehouse: str, arguments: list[str], memory: str, project: Path = PROJECT) -> int:
    """Run dbt with these arguments; returns its exit code (0 done, 1 something failed, 2 wrong usage).

    With the target `local` the tables are registered first, and a command that writes holds the warehouse alone; with any other
    target the server it names knows its tables itself.
    """
    prepare()
    from dbt.cli.main import dbtRunner

    place = Warehouse.at(warehouse)
    with contextlib.ExitStack() as held:
        if asks_here(arguments):
            place.must_exist()
            if command(arguments) in WRITES:
                held.enter_context(only_writer(place))
                # What is made by hand need not be what a build would make.
                place.built.unlink(missing_ok=True)
            start_session(place, arguments, memory, project)
        done = dbtRunner().invoke([*arguments, *places(place, project, arguments)])
    if done.success:
        return 0
    return 2 if type(done.exception).__name__ == "DbtUsageException" else told(done.exception)


def told(exception: BaseException | None) -> int:
    """1.  Raises what kept dbt from running; what failed in a run dbt has told itself."""
    if exception is not None:
        raise ValueError(f"dbt: {' '.join(str(exception).split())}")
    return 1


def command(arguments: list[str]) -> str:
    """The verb: the first argument that is no option."""
    return next((word for word in arguments if not word.startswith("-")), "")


def asks_here(arguments: list[str]) -> bool:
    """Whether a command needs a session of ours."""
    if not command(arguments) or command(arguments) in AT_REST or {"--help", "-h", "--version"} & set(arguments):
        return False
    if command(arguments) == "docs" and "serve" in arguments:
        return False
    return given(arguments, "--target", "-t") in (None, "local")


def given(arguments: list[str], *names: str) -> str | None:
    """Value of an option, as `--name value` or `--name=value`; None where it is not given."""
    for number, word in enumerate(arguments):
        if word in names:
            return arguments[number + 1] if number + 1 < len(arguments) else ""
        if word.startswith(tuple(f"{name}=" for name in names)):
            return word.split("=", 1)[1]
    return None


def places(place: Warehouse, project: Path, arguments: list[str]) -> list[str]:
    """Options that say where things are, where the user has not said it."""
    if not command(arguments):
        return []
    found: dict[str, Any] = {
        "--project-dir": project,
        "--profiles-dir": project / "dbt_project",
        "--target-path": place.work / "by-hand",
        "--log-path": place.work / "logs",
    }
    return [text for name, path in found.items() if given(arguments, name) is None for text in (name, str(path))]


def start_session(place: Warehouse, arguments: list[str], memory: str, project: Path) -> None:
    """The session that dbt will find, with what the command may read in its catalog."""
    from ingestion.session import start

    spark = start(place.root, memory=memory)
    if command(arguments) == "source":
        register(spark, place, only=[table for table in tables(spark, place) if table[0] == SCHEMAS[0]])
        return
    if command(arguments) in WRITES and not any(word.startswith(("-s", "--select", "--exclude", "--resource")) for word in arguments):
        register(spark, place)
    else:
        # What is not built this time may be read.
        make_views(spark, place, project)
        register_views(spark, place)
    for key, value in WHILE_BUILDING.items():
        spark.conf.set(key, value)
