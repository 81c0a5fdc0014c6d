"""Which versions of the published tables belong together.

A build commits its tables one after the other, with the build's number in each commit.  After the last one a record of all versions replaces
the previous record, by one rename.  Readers that go by the record see the tables of one build, also while the next is being published, and
after a build that was killed while it published.  A table that something other than a build has written last is read as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace

from deltalake import CommitProperties, DeltaTable

from ingestion.reading.objects import content
from ingestion.warehouse import Warehouse, opened, put

# Key of the build in a commit's metadata.
BUILD = "chronicle.build"
# Schemas whose tables builds publish.
PUBLISHED = ("marts", "reports")


@dataclass(frozen=True)
class Record:
    """The last build that was published whole (None: nothing is known of builds), and the version of each table, by `schema.name`; `state`: what the
    plain engine built them from, as `changes.built_from` says it (None: another engine made them)."""

    build: str | None = None
    versions: dict[str, int] = field(default_factory=dict)
    state: str | None = None

    @classmethod
    def of(cls, place: Warehouse) -> Record:
        """The record of a warehouse as it is now."""
        if not place.published.exists():
            return cls()
        return cls(**json.loads(content(place.published)))

    def table(self, place: Warehouse, schema: str, name: str) -> DeltaTable | None:
        """A table as the record knows it; None if it does not."""
        path = place.table(schema, name)
        if not DeltaTable.is_deltatable(path):
            return None
        newest, version = opened(path), self.versions.get(f"{schema}.{name}")
        if self.build is None or newest.version() == version or build_of(newest) in (None, self.build):
            return newest
        return None if version is None else opened(path, version)

    def tables(self, place: Warehouse) -> list[tuple[str, str]]:
        """(schema, name) of the tables that the record knows and that are there, in order."""
        known = sorted(self.versions)
        return [
            (schema, name) for schema, name in (one.split(".", 1) for one in known) if DeltaTable.is_deltatable(place.table(schema, name))
        ]

    def write(self, place: Warehouse) -> None:
        """Replace the warehouse's record by this one."""
        put(place.published, json.dumps(asdict(self), indent=1) + "\n")


def before(place: Warehouse) -> Record:
    """The record before a build publishes its tables; where there is none yet, one of the tables as they are is written."""
    if place.published.exists():
        return Record.of(place)
    tables = [(schema, name) for schema in PUBLISHED for name in place.tables(schema)]
    held = {f"{schema}.{name}": place.table(schema, name) for schema, name in tables}
    record = Record("", {name: DeltaTable(path).version() for name, path in held.items() if DeltaTable.is_deltatable(path)})
    record.write(place)
    return record


def after(place: Warehouse, record: Record, build: str, tables: Iterable[tuple[str, str]], state: str | None = None) -> None:
    """Record that a build has published these tables (schema, name); all others stay as in the previous record.  `state`: as in `Record`."""
    versions = {f"{schema}.{name}": DeltaTable(place.table(schema, name)).version() for schema, name in tables}
    Record(build, record.versions | versions, state).write(place)


def forget_state(place: Warehouse) -> None:
    """Make the plain engine's next build one of everything, because something else has written tables."""
    if place.published.exists() and (record := Record.of(place)).state is not None:
        replace(record, state=None).write(place)


def of_build(build: str) -> CommitProperties:
    """The metadata by which a commit names its build."""
    return CommitProperties(custom_metadata={BUILD: build})


def build_of(table: DeltaTable) -> str | None:
    """The build that made a table's newest commit: delta-rs has a key of its own for it, Spark one for a text."""
    commit = table.history(1)[0]
    name, _, build = str(commit.get("userMetadata")).partition("=")
    return commit.get(BUILD) or (build if name == BUILD else None)
