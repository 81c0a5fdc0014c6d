"""A warehouse folder: where its tables are, and how the SQL catalog is made from them.

The tables on disk are the truth.  The catalog lives in memory and is rebuilt by `register` in every process, before dbt
above all: `create or replace` over a folder that the catalog does not know replaces its content without a word.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ingestion.lease import FOLDER, highest, leased, locked, place_of, taken
from ingestion.reading import objects

if TYPE_CHECKING:
    from deltalake import DeltaTable

SCHEMAS = ("bronze", "staging", "intermediate", "marts", "reports")
# File whose lock the writing process of a warehouse in a folder holds.
LOCK = "writing"
# Variables with the endpoint of an S3 server that is not Amazon's.
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
# Schemas whose folders without a Delta log are Parquet tables that each build makes again.
STEPS = ("staging", "intermediate")
# Requests at once, to look at the tables of a bucket.
MOST_REQUESTS = 16


class Damaged(ValueError):
    """A table's log cannot be read; the text names it and says what to do."""


def opened(path: str | Path, version: int | None = None) -> DeltaTable:
    """A Delta table.  Raises Damaged where its log cannot be read."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        return DeltaTable(path, version=version)
    except DeltaError as error:
        if not DeltaTable.is_deltatable(str(path)):
            raise
        cure = "restore the folder from a backup" if Path(path).parent.name == "bronze" else "delete the folder and run `chronicle build`"
        raise Damaged(f"{path}: the table's log cannot be read ({' '.join(str(error).split())}); {cure}") from error


def rows_of(path: str | Path) -> int:
    """Rows of a Delta table's newest version or of a folder of Parquet files; 0 where there is none."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    from deltalake import DeltaTable

    if DeltaTable.is_deltatable(str(path)):
        return sum(pa.table(opened(path).get_add_actions())["num_records"].to_pylist())
    return ds.dataset(path, format="parquet").count_rows() if Path(path).is_dir() else 0


def path_of(place: str) -> Path:
    """A folder or prefix as a path, with `/` and the methods of pathlib."""
    if not objects.is_uri(place):
        return Path(place)
    from upath import UPath

    return cast(Path, UPath(place, use_listings_cache=False))


def put(file: Path, content: str | bytes) -> None:
    """Write a file atomically: a reader finds either the old content or all of the new."""
    written = content.encode() if isinstance(content, str) else content
    if (files := getattr(file, "fs", None)) is not None:
        # Stores replace an object at once.
        files.pipe_file(file.path, written)  # type: ignore[attr-defined]
        return
    aside = file.with_suffix(".part")
    aside.write_bytes(written)
    aside.replace(file)


@dataclass(frozen=True)
class Warehouse:
    """The places in a warehouse.  `root`: a folder, or the URI of a prefix in an object store (s3://…)."""

    root: str

    @classmethod
    def at(cls, root: str) -> Warehouse:
        """The warehouse of a folder as the user writes it, or of a URI."""
        root = objects.plain(root)
        if any(os.environ.get(name, "").startswith("http://") for name in ENDPOINTS):
            # An endpoint without TLS is meant so; delta-rs has to be told.
            os.environ.setdefault("AWS_ALLOW_HTTP", "true")
        return cls(root if objects.is_uri(root) else str(Path(root).resolve()))

    @property
    def is_local(self) -> bool:
        return not objects.is_uri(self.root)

    @property
    def folder(self) -> Path:
        """The warehouse as a path."""
        return path_of(self.root)

    def table(self, schema: str, name: str) -> str:
        """Path of a table."""
        return f"{self.root}/{schema}/{name}"

    def bronze(self, name: str) -> str:
        """Path of a bronze table."""
        return self.table("bronze", name)

    def tables(self, schema: str) -> list[str]:
        """The names of a schema's existing Delta tables, in order."""
        return [name for name, is_delta in self.folders(schema) if is_delta]

    def folders(self, schema: str) -> list[tuple[str, bool]]:
        """(name, whether it is a Delta table) of every folder below a schema's, in order."""
        if self.is_local:
            folder = f"{self.root}/{schema}"
            found = [entry for entry in os.scandir(folder) if entry.is_dir()] if os.path.isdir(folder) else []
            return sorted((entry.name, has_commits(f"{entry.path}/_delta_log")) for entry in found)
        names = objects.folders(f"{self.root}/{schema}")
        with ThreadPoolExecutor(MOST_REQUESTS) as pool:
            return list(zip(names, pool.map(lambda name: has_commits(f"{self.table(schema, name)}/_delta_log"), names), strict=True))

    def delete(self, schema: str, name: str) -> None:
        """Delete the folder of a table, with all that it holds."""
        if self.is_local:
            shutil.rmtree(self.table(schema, name), ignore_errors=True)
        else:
            files, path = objects.file_system(self.table(schema, name))
            files.rm(path, recursive=True)

    def must_exist(self) -> None:
        """Raises FileNotFoundError if there is no such folder."""
        if not self.folder.is_dir():
            raise FileNotFoundError(
                f"{self.root}: no warehouse there; create one with `chronicle run PATH`, or choose another with --warehouse"
            )

    def must_have_bronze(self) -> None:
        """Raises FileNotFoundError if nothing was ever ingested: the first ingestion makes all tables of bronze."""
        from deltalake import DeltaTable

        self.must_exist()
        if not DeltaTable.is_deltatable(self.bronze("sources")):
            raise FileNotFoundError(f"{self.root}: nothing was read in yet; do so with `chronicle ingest PATH`")

    @property
    def work(self) -> Path:
        """Folder for what dbt writes besides the tables; for a URI it is local, below the current folder, and also has the copy to build in."""
        if self.is_local:
            return Path(self.root, ".dbt")
        # dbt takes a relative path for one below its project.
        return Path(".chronicle", re.sub(r"\W+", "-", self.root)).absolute()

    @property
    def building(self) -> Path:
        """Folder of a running build's marts, on the warehouse's own file system."""
        return self.work / "building"

    @property
    def kept_steps(self) -> Path:
        """Folder that keeps the steps of the previous build during a partial build."""
        return self.work / "steps"

    @property
    def built(self) -> Path:
        """File that says which state of the project made the marts; missing while they are incomplete."""
        return self.work / "built"

    @property
    def unfinished(self) -> Path:
        """File that says what a partial build started from; deleted when it has ended (`chronicle/build/unfinished.py`)."""
        return self.work / "unfinished"

    @property
    def clusters_built(self) -> Path:
        """File that names the clusters of the last build (null: all); missing if only some models were built since."""
        return self.work / "clusters"

    @property
    def incremental(self) -> Path:
        """File that says which state of the project made the incremental tables; missing while unknown."""
        return self.work / "incremental"

    @property
    def published(self) -> Path:
        """File that says which versions of the published tables belong together (`chronicle/build/versions.py`)."""
        return self.folder / "published.json"

    @property
    def views(self) -> Path:
        """File that keeps the views' SQL after a build."""
        return self.folder / "views.json"


def has_commits(log: str) -> bool:
    """Whether there is a log of a Delta table in a folder or below a URI, with a commit in it: a Spark that is killed before its first commit leaves an
    empty log."""
    try:
        names = (uri for uri, _ in objects.below(log)) if objects.is_uri(log) else os.listdir(log)
        return any(name.endswith((".json", ".parquet")) for name in names)
    except (FileNotFoundError, NotADirectoryError):
        return False


def writer(place: Warehouse) -> str | None:
    """Who writes to the warehouse now."""
    if not place.is_local:
        number = highest(place.folder / FOLDER)
        said = json.loads(objects.content(place_of(place.folder / FOLDER, number))) if number else {"is_free": True}
        return None if said["is_free"] else said.get("owner", "another host")
    try:
        with open(place.work / LOCK) as file:
            return taken(file)
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def only_writer(place: Warehouse) -> Iterator[Callable[[], None]]:
    """Lock the warehouse for one writing process: rows that arrive while a build runs could miss their day.  Yields a function that raises Busy once
    the lock is lost.

    Raises Busy if another process holds the lock: at once in a folder, where the lock ends with the process, however that ends; after some minutes in
    an object store (`lease.py`).
    """
    place.work.mkdir(parents=True, exist_ok=True)
    if not place.is_local:
        with leased(place.folder / FOLDER) as lease:
            yield lease.must_hold
        return
    with locked(place.work / LOCK, place.root, "writing to"):
        yield lambda: None
