"""A warehouse in an object store, built in a folder of this machine.

A build reads each table many times, writes steps that nobody else reads, and moves files into their place, which a store can only copy.  So it
works in a copy: new files of bronze are downloaded, the build runs as for any warehouse in a folder, and new files of `marts` and `reports` are
uploaded, each table's log after its data and `published.json` last.  Readers of the store see the tables of one build at any time.  One host
builds at a time (`ingestion/lease.py`); a host that was not the last to build discards all but bronze in its copy.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chronicle.build import company
from chronicle.build.maintenance import maintain
from chronicle.build.versions import PUBLISHED
from chronicle.spark import s3a
from chronicle.spark.engine import chosen
from ingestion.bronze.write import NOTES, notes_of
from ingestion.lease import leased, put_new
from ingestion.reading import objects
from ingestion.warehouse import STEPS, Warehouse, only_writer, put

FOLDER = "building"
LOG = "_delta_log"
# Files that one build writes into the store's root, the last of which says that the others belong together.
RECORDS = ("views.json", "published.json")
BATCH = 256
# To commit a batch takes a second or two. For so long a moment is waited for at which none is being committed.
QUIET_SECONDS, LOOK_SECONDS = 20.0, 0.5


@contextmanager
def at_hand(place: Warehouse, tell: Callable[[str], None]) -> Iterator[Warehouse]:
    """The warehouse as a build can use it: itself where it is in a folder or the engine builds in place, else its copy, which is uploaded at the
    end.  Its tables are maintained after the build.

    Raises Busy where another host builds it for longer than some minutes, and jars.NoJars where Spark cannot reach the bucket.
    """
    if place.is_local:
        yield place
        maintain(place)
        return
    if chosen().is_in_place:
        s3a.must_be_there(place.root)
        yield place
        maintain(place, is_of_bucket=True)
        return
    with leased(place.folder / FOLDER) as lease:
        copy = Copy(place)
        copy.end_putting()
        tell(copy.bring())
        yield copy.here
        maintain(copy.here, is_of_bucket=True)
        lease.must_hold()
        tell(copy.put_back())


def copy_of(place: Warehouse) -> Warehouse:
    """The warehouse that `at_hand` will yield."""
    return place if place.is_local or chosen().is_in_place else Copy(place).here


def brought(place: Warehouse, tell: Callable[[str], None]) -> Warehouse:
    """The warehouse as Spark can read it: itself, or its copy as of the last build that was uploaded."""
    if place.is_local:
        return place
    copy = Copy(place)
    tell(copy.bring())
    return copy.here


def is_log(name: str) -> bool:
    """Whether a file of a table belongs to its log."""
    return f"/{LOG}/" in name


def is_pointer(name: str) -> bool:
    """Whether a file says where the log's last checkpoint is: the only file of a log that is overwritten."""
    return is_log(name) and name.endswith("_last_checkpoint")


def is_commit(name: str) -> bool:
    """Whether a file is one of the numbered commits of a log."""
    return is_log(name) and name.endswith(".json")


@dataclass(frozen=True)
class Log:
    """The log of a table in the store: bytes of each file, and the content of what says where the last checkpoint is (None: there is none)."""

    pointer: bytes | None
    files: dict[str, int]


class Copy:
    """The copy of a warehouse: `there` the store, `here` the folder."""

    def __init__(self, there: Warehouse) -> None:
        self.there, self.here = there, Warehouse(str((there.work / "copy").resolve()))
        self.files, self.root = objects.file_system(there.root)

    @property
    def unput(self) -> Path:
        """File that exists while a build is uploaded, and holds the `published.json` that the store had before; empty: none."""
        return self.here.work / "unput"

    def bring(self) -> str:
        """Download what is new in the store.  Returns a line that says how much it was."""
        self.here.work.mkdir(parents=True, exist_ok=True)
        with only_writer(self.here):
            logs, is_whole = self._bronze()
            size = self._fetch(logs)
            published = self._published()
            if published != (self.here.published.read_text() if self.here.published.exists() else ""):
                # Another host has built since, or this one never did: its steps and its notes on its own builds are of no use.
                for schema in (*PUBLISHED, *STEPS):
                    shutil.rmtree(Path(self.here.root, schema), ignore_errors=True)
                for known in (self.here.built, self.here.incremental, self.here.clusters_built, self.here.unfinished):
                    known.unlink(missing_ok=True)
                size += sum(self._fetch(self._logs(schema)) for schema in PUBLISHED)
                for name in RECORDS:
                    if self.files.exists(f"{self.root}/{name}"):
                        put(Path(self.here.root, name), self.files.cat_file(f"{self.root}/{name}"))
            self._company()
        unfinished = "" if is_whole else "; a batch is only in part of its tables, until the next ingestion completes it"
        return f"brought {size / 1e6:,.1f} MB from {self.there.root}{unfinished}"

    def _company(self) -> None:
        """Download what the company says of its clusters and topics."""
        for seed in company.SEEDS:
            file, content = company.file_of(self.here, seed), self._content(f"{company.FOLDER}/{seed}.csv")
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.parent.mkdir(exist_ok=True)
                put(file, content)

    def end_putting(self) -> None:
        """Upload the rest of a build that was killed while it was uploaded, unless another host has built since."""
        if self.unput.exists() and self.unput.read_text() == self._published():
            self.put_back()

    def put_back(self) -> str:
        """Upload what builds publish.  Returns a line that says how much it was."""
        published = self._published()
        if self.here.published.exists() and self.here.published.read_text() != published:
            put(self.unput, published)
            size, gone = 0, []
            for table in (f"{schema}/{name}" for schema in PUBLISHED for name in self.here.tables(schema)):
                there, have = self._there(table), self._here(table)
                put_bytes, cleared_up = self._put(there, have), unneeded(there, have)
                if put_bytes or cleared_up:
                    self._point(have)
                size += put_bytes
                gone += cleared_up
            for name in RECORDS:
                if (file := Path(self.here.root, name)).exists():
                    self.files.pipe_file(f"{self.root}/{name}", file.read_bytes())
            for begin in range(0, len(gone), BATCH):
                self.files.rm([f"{self.root}/{name}" for name in gone[begin : begin + BATCH]])
            self.unput.unlink()
        else:
            size = 0
        return f"put {size / 1e6:,.1f} MB into {self.there.root}"

    def _published(self) -> str:
        return (self._content("published.json") or b"").decode()

    def _content(self, name: str) -> bytes | None:
        """The content of an object of the store; None where there is none."""
        try:
            return objects.content(self.there.folder / name)
        except FileNotFoundError:
            return None

    def _there(self, below: str) -> dict[str, int]:
        """Bytes of each file that the store has below a path, by its path in the warehouse."""
        prefix = f"{self.there.root}/"
        if not objects.exists(prefix + below):
            return {}
        return {uri.removeprefix(prefix): status.size for uri, status in objects.below(prefix + below)}

    def _here(self, below: str) -> dict[str, Path]:
        """The files of the copy below a path, by their path in the warehouse."""
        found = (path for path in Path(self.here.root, below).rglob("*") if path.is_file())
        return {str(path.relative_to(self.here.root)): path for path in found}

    def _log(self, table: str) -> Log:
        """The log of a table.  What says where the last checkpoint is, is read before the log is listed, in which that checkpoint then is."""
        pointer = self._content(f"{table}/{LOG}/_last_checkpoint")
        return Log(pointer, {name: length for name, length in self._there(f"{table}/{LOG}").items() if not is_pointer(name)})

    def _logs(self, schema: str) -> dict[str, Log]:
        """The logs of a schema's tables."""
        return {table: self._log(table) for table in (f"{schema}/{name}" for name in self._tables(schema))}

    def _bronze(self) -> tuple[dict[str, Log], bool]:
        """The logs of bronze's tables as they are together at one moment: between two listings that are the same, at which no batch has a note, which
        it has while table after table is committed.  Whether there was such a moment: an ingestion that was killed leaves its note to the next."""
        until, logs = time.monotonic() + QUIET_SECONDS, self._logs("bronze")
        while True:
            is_committing = any(notes_of(self.there.root).glob("*.json"))
            before, logs = logs, self._logs("bronze")
            if before == logs and not is_committing:
                return logs, True
            if time.monotonic() > until:
                return logs, False
            time.sleep(LOOK_SECONDS)

    def _fetch(self, logs: Mapping[str, Log]) -> int:
        """Download tables as their logs say; returns bytes.  A table's log is listed before its data, which are there before a commit names them;
        files that the store no longer has are deleted."""
        size = 0
        for table, log in logs.items():
            there = {name: length for name, length in self._there(table).items() if not is_log(name)} | log.files
            have = self._here(table)
            wanted = [name for name, length in there.items() if name not in have or have[name].stat().st_size != length]
            for name in have.keys() - there.keys():
                have[name].unlink()
            for begin in range(0, len(wanted), BATCH):
                some = {name: Path(self.here.root, name) for name in wanted[begin : begin + BATCH]}
                for path in some.values():
                    path.parent.mkdir(parents=True, exist_ok=True)
                # A download that was cut off has another size, or is not there yet.
                self.files.get([f"{self.root}/{name}" for name in some], [str(path) for path in some.values()])
            if log.pointer is not None:
                put(Path(self.here.root, table, LOG, "_last_checkpoint"), log.pointer)
            size += sum(there[name] for name in wanted)
        return size

    def _tables(self, schema: str) -> list[str]:
        try:
            found = self.files.ls(f"{self.root}/{schema}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(name for path in found if (name := path.rstrip("/").rsplit("/", 1)[-1]) not in (NOTES, schema))

    def _put(self, there: Mapping[str, int], have: Mapping[str, Path]) -> int:
        """Upload what a table has in the copy and not in the store; returns bytes.  Raises ValueError where the store has another commit of the
        same number."""
        data = [name for name in have if not is_log(name) and name not in there]
        for begin in range(0, len(data), BATCH):
            some = data[begin : begin + BATCH]
            self.files.put([str(have[name]) for name in some], [f"{self.root}/{name}" for name in some])
        # Each commit builds on the one before: where the last that both have is the same, so are all before it.
        last = max((name for name in have if is_commit(name) and name in there), default=None)
        if last and objects.content(self.there.folder / last) != have[last].read_bytes():
            raise ValueError(f"{self.there.root}/{last} was written by somebody else meanwhile; run the build again")
        log = sorted(name for name in have if is_log(name) and name not in there)
        for name in log:
            if not put_new(self.there.folder / name, have[name].read_bytes()):
                raise ValueError(f"{self.there.root}/{name} was written by somebody else meanwhile; run the build again")
        return sum(have[name].stat().st_size for name in (*data, *log))

    def _point(self, have: Mapping[str, Path]) -> None:
        """Upload the file that says where a table's last checkpoint is, from which readers start."""
        for name in filter(is_pointer, have):
            self.files.pipe_file(f"{self.root}/{name}", have[name].read_bytes())


def unneeded(there: Mapping[str, int], have: Mapping[str, Path]) -> list[str]:
    """Files that a table has in the store and, after maintenance, no longer in the copy; none where somebody else has committed in the store."""
    newest = max(filter(is_commit, have), default="")
    is_ours = all(name <= newest for name in there if is_commit(name))
    return sorted(there.keys() - have.keys()) if is_ours else []
