"""What has changed since the last build: what makes the tables, and which clusters' rows arrived in bronze."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from chronicle.build import company
from chronicle.build.made_by import fingerprint
from chronicle.build.publish import fits
from chronicle.build.versions import Record
from chronicle.project import PROJECT
from ingestion.warehouse import Damaged, Warehouse, opened

if TYPE_CHECKING:
    from chronicle.build.compiled import Project

# Columns of bronze that say when a record was written.
TIMES = ("event_date", "logged_at")


@dataclass(frozen=True)
class Arrivals:
    """New rows in bronze since the last build of all models: their clusters, and those in each table that has any.  `begins`: the time of a table's
    earliest new row, without tables of which any new row has no day; `is_same`: the previous build was of the same clusters; `seeds`: those whose
    file in `company/` has changed since, which may be about any cluster."""

    clusters: list[str]
    tables: dict[str, set[str]]
    begins: dict[str, dt.datetime] = field(default_factory=dict)
    is_same: bool = False
    seeds: frozenset[str] = frozenset()


def arrivals(place: Warehouse, state: str) -> Arrivals | None:
    """New rows in bronze since the last build of all models; None if a full build is needed.

    That is before the first build, after a change of what makes the tables (`made_by.py`), and where bronze lost files (then its history has changed).
    `state`: what `built_from` returns now.
    """
    if not place.built.exists():
        return None
    before, now = json.loads(place.built.read_text()), json.loads(state)
    if before.get("made_by") != now["made_by"] or set(before["bronze"]) - set(now["bronze"]):
        return None
    clusters: set[str] = set()
    tables: dict[str, set[str]] = {}
    begins: dict[str, dt.datetime] = {}
    undated: set[str] = set()
    for name, version in now["bronze"].items():
        table = place.table("bronze", name)
        if version == before["bronze"].get(name):
            continue
        changed = changed_files(table, before["bronze"].get(name))
        if changed is None or changed[1]:
            return None
        for file in changed[0]:
            columns = [column for column in ("cluster_id", *TIMES) if column in pq.read_schema(file).names]
            rows = pq.read_table(file, columns=columns, partitioning=None)
            found = set(rows["cluster_id"].unique().to_pylist())
            clusters |= found
            if found:
                tables.setdefault(name, set()).update(found)
            if "event_date" in columns and (begin := first_time(rows)):
                begins[name] = min(begin, begins.get(name, begin))
            if "event_date" in columns and rows["event_date"].null_count:
                undated.add(name)
    hashes, hashes_now = before.get("company", {}), now["company"]
    seeds = frozenset(name for name in {**hashes, **hashes_now} if hashes.get(name) != hashes_now.get(name))
    if seeds:
        clusters |= known_clusters(place) or set()
    # No cluster has an empty name: if new files have no rows, nothing is rebuilt.
    if None in clusters:
        return None
    built = sorted(clusters) or [""]
    is_same = place.clusters_built.exists() and json.loads(place.clusters_built.read_text()) == built
    # A row without a day may matter at any time.
    return Arrivals(built, tables, {name: begin for name, begin in begins.items() if name not in undated}, is_same, seeds)


def has_others(place: Warehouse, clusters: Collection[str]) -> bool:
    """Whether files of other clusters were read, too; true where that is not known."""
    known = known_clusters(place)
    return known is None or not known <= set(clusters)


def known_clusters(place: Warehouse) -> set[str] | None:
    """The clusters of which files were read; None before the first ingestion."""
    sources = place.table("bronze", "sources")
    if not DeltaTable.is_deltatable(sources):
        return None
    known = DeltaTable(sources).to_pyarrow_dataset().to_table(["cluster_id"])
    return set(known["cluster_id"].unique().to_pylist())


def has_lost_rows(place: Warehouse) -> bool:
    """Whether bronze lost files since the last build of all models: then days built before hold rows that are gone."""
    return place.built.exists() and table_that_lost_rows(place, json.loads(place.built.read_text())["bronze"]) is not None


def table_that_lost_rows(place: Warehouse, versions: Mapping[str, int]) -> str | None:
    """The first table of bronze that is gone, or has lost files, since these versions; None if none has."""
    for name, version in versions.items():
        table = place.table("bronze", name)
        changed = changed_files(table, version) if DeltaTable.is_deltatable(table) else None
        if changed is None or changed[1]:
            return name
    return None


def changed_files(path: str, version: int | None) -> tuple[set[str], set[str]] | None:
    """The files that a table of bronze has gained since a version (None: all its files), and those that it has lost; None where its log no
    longer reaches back to that version.  Files that were only compacted (`maintenance.py`) count as neither."""
    table = opened(path)
    held = set(table.file_uris())
    if version is None:
        return held, set()
    try:
        known = set(opened(path, version).file_uris())
    except Damaged:
        return None
    if known - held:
        commits = table.history(table.version() - version)
        for compacted in sorted(commit["version"] for commit in commits if commit["operation"] == "OPTIMIZE"):
            before, after = (set(opened(path, number).file_uris()) for number in (compacted - 1, compacted))
            if before - after <= known:
                known = known - (before - after) | (after - before)
    return held - known, known - held


def first_time(rows: pa.Table) -> dt.datetime | None:
    """The earliest time of rows of bronze: `logged_at`, or the beginning of the day where a row has none; None where no row has a day."""
    times = rows["event_date"].cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
    if "logged_at" in rows.column_names:
        times = pc.coalesce(rows["logged_at"].cast(times.type), times)
    begin: dt.datetime | None = pc.min(times).as_py()
    return begin.astimezone(dt.UTC) if begin else None


def loses_others(place: Warehouse, project: Project) -> bool:
    """Whether a partial build could not keep the rows of other clusters: a table is missing, or breaks its contract."""
    return any(not fits(mart, place.table(mart.schema, mart.alias)) for mart in project.of_kind("stable_table")) or any(
        not Path(place.table(step.schema, step.alias)).is_dir() for step in project.of_kind("table")
    )


def built_from(place: Warehouse, project: Path = PROJECT) -> str:
    """What the marts are built from, as text: what makes them (`made_by.py`), the versions of bronze's tables, and what the company says."""
    versions = {name: opened(place.bronze(name)).version() for name in place.tables("bronze")}
    return json.dumps({"made_by": fingerprint(project), "bronze": versions, "company": company.given(place)})


def is_built(warehouse: str, project: Path = PROJECT) -> bool:
    """Whether all models were built as they would be now, so that the next build is of what arrived since."""
    place = Warehouse.at(warehouse)
    return place.built.exists() and json.loads(place.built.read_text()).get("made_by") == fingerprint(project)


def is_current(warehouse: str, project: Path = PROJECT) -> bool:
    """Whether the last build of all models used project, code and bronze as they are now."""
    place = Warehouse.at(warehouse)
    built = place.built.read_text() if place.built.exists() else Record.of(place).state
    return built is not None and built == built_from(place, project)
