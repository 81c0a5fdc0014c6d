"""What the commands that ingest and build do, with the lines that people read about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark.sql import SparkSession

    from chronicle.build.compiled import Project
    from chronicle.build.outcome import Outcome as Built
    from ingestion.bronze.shares import Progress
    from ingestion.outcome import Outcome
    from ingestion.sources.discover import Options


# A round of `chronicle follow` takes seconds; whoever writes for longer is reported.
WAITED_SECONDS = 30.0


def wait_for_others(warehouse: str, tell: Callable[[str], None]) -> None:
    """Wait for a process that writes to the warehouse, as `chronicle follow` does in each of its rounds; tell so.  In a bucket, leases wait."""
    from ingestion.warehouse import Warehouse, writer

    place = Warehouse.at(warehouse)
    end, told = time.monotonic() + WAITED_SECONDS, ""
    while place.is_local and (other := writer(place)) and time.monotonic() < end:
        if other != told:
            tell(f"waiting for {other}, which is writing to {place.root}")
        told = other
        time.sleep(0.1)


def read_in(
    options: Options, warehouse: str, session: Callable[[], SparkSession], tell: Callable[[str], None], progress: Progress | None = None
) -> Outcome:
    """Ingest, and tell what became of the files."""
    from ingestion import ingest as ingesting
    from ingestion.outcome import little_known_said, no_files_said, nodeless_said

    wait_for_others(warehouse, tell)
    outcome = ingesting.ingest(session, warehouse, options, tell=tell, progress=progress)
    if not outcome.files:
        tell(no_files_said(options.paths))
        return outcome
    known = sum(outcome.files.values())
    kinds = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(outcome.files.items(), key=lambda pair: -pair[1]))
    tell(f"{known:,} files: {kinds}")
    rate = outcome.records / outcome.read_seconds if outcome.read_seconds else 0
    recognised = f"{outcome.recognised / outcome.records:.1%} recognised, " if outcome.records else ""
    tell(
        f"{outcome.records:,} new records, {recognised}{outcome.bytes_read / 1e6:,.1f} MB in {outcome.read_seconds:.1f} s, {rate:,.0f} records/s"
    )
    if outcome.owned_now:
        tell(f"{outcome.owned_now} files of earlier runs were assigned to another or a newly known node")
    if outcome.nodeless:
        tell(nodeless_said(outcome.nodeless))
    for line in little_known_said(outcome.little_known):
        tell(line)
    if outcome.waiting:
        tell(f"{outcome.waiting} files changed within the last minute; what may be incomplete is left to the next run (--settled-after)")
    return outcome


def build_new(
    session: Callable[[], SparkSession],
    warehouse: str,
    tell: Callable[[str], None],
    progress: Callable[[int, int, str], None] | None = None,
    ahead: Future[Project] | None = None,
) -> None:
    """Build what is new, if anything is, and tell so."""
    from chronicle.build import build as building

    if has_nothing_new(warehouse, Wanted(), tell):
        return
    spark = session()
    wait_for_others(warehouse, tell)
    built = building.build(spark, warehouse, ahead=ahead, progress=progress)
    tell_anew(built, tell)
    tell(f"built {len(built.models)} models in {built.seconds:.1f} s")


@dataclass(frozen=True)
class Wanted:
    """What `chronicle build` was asked for."""

    select: str | None = None
    full_refresh: bool = False
    tests: bool = False
    explain: bool = False
    profile: bool = False


def has_nothing_new(warehouse: str, wanted: Wanted, tell: Callable[[str], None]) -> bool:
    """Whether the tables are already as wanted; tells so."""
    from chronicle.build.changes import is_current

    if wanted.select or wanted.full_refresh or wanted.tests or not is_current(warehouse):
        return False
    tell("nothing new: tables unchanged")
    return True


def build_wanted(
    spark: SparkSession,
    warehouse: str,
    wanted: Wanted,
    tell: Callable[[str], None],
    out: TextIO,
    progress: Callable[[int, int, str], None] | None = None,
    ahead: Future[Project] | None = None,
) -> None:
    """Build, and tell what was built."""
    from chronicle.build import build as building
    from chronicle.build import profiles
    from chronicle.output.table import write

    wait_for_others(warehouse, tell)
    outcome = building.build(
        spark,
        warehouse,
        select=wanted.select,
        full_refresh=wanted.full_refresh,
        tests=wanted.tests,
        is_profiled=wanted.profile,
        explain=tell if wanted.explain else None,
        ahead=ahead,
        progress=progress,
    )
    tell_anew(outcome, tell)
    for warning in outcome.warnings:
        tell(f"warning: {warning}")
    for name in sorted(outcome.rows | outcome.days):
        tell(f"  {name}: {', '.join(counted(outcome, name))}")
    if outcome.clusters is not None:
        tell(f"rebuilt the clusters with new data: {', '.join(outcome.clusters)}; all others are unchanged")
    tested = f", {outcome.tests} tests passed" if wanted.tests else ""
    unchanged = len(outcome.results) - len(outcome.models)
    left = f" and left {unchanged} that nothing new feeds" if unchanged else ""
    tell(f"built {len(outcome.models)} models{left}{tested} in {outcome.seconds:.1f} s")
    if wanted.explain:
        write(profiles.explained(outcome.results), out, pager=False)
    if wanted.profile:
        write(profiles.profiled(outcome.results), out, pager=False)


def tell_anew(outcome: Built, tell: Callable[[str], None]) -> None:
    """Say why tables were built anew that would otherwise have stayed."""
    if outcome.anew:
        tell(f"built anew: {'; '.join(outcome.anew)}")


def counted(outcome: Built, name: str) -> list[str]:
    """How many rows of a model were built, and how many days changed."""
    said = [f"{outcome.rows[name]:,} row{'' if outcome.rows[name] == 1 else 's'}"] if name in outcome.rows else []
    if name in outcome.days:
        days = outcome.days[name]
        said.append("all days" if days is None else f"{days} day{'' if days == 1 else 's'} changed")
    return said
