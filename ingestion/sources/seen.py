"""A cache of what files were found to be, between runs: an unchanged file is not opened again, and a cluster whose files are all unchanged is
skipped, because its files are looked at together and nothing else can be found.

A file is unchanged if its place on disk, its size and both its times are (the status time moves with every write, even if the other one is set
back), it was asked for in the same way, and the code that looks at it is the same.  Only what was read to its end is kept; a file whose last record
may still grow, or that changed within the last seconds, is looked at again.  What is to be read is decided by `bronze.sources` alone: a cluster is
skipped if the rows there still say of each file what they said when it was read.  Without the cache a run is slower, with the same result.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ingestion.sources import said
from ingestion.sources.discover import Options
from ingestion.sources.earlier import LastSaid, Past
from ingestion.sources.said import Reported
from ingestion.sources.stages import BINARY, COPY, EMPTY, PLACES, TO_READ, UNKNOWN, Found, Identified, Inspected, grown, said_of
from ingestion.warehouse import put

# All of the package `ingestion`.
HERE = Path(__file__).parent.parent
KEPT = (TO_READ, COPY, EMPTY, BINARY, UNKNOWN)
# Resolution of the coarsest file system clocks (FAT).
COARSEST_SECONDS = 2.0
# Files that are pickled together: the pickler remembers everything it has written, to write nothing twice.
AT_ONCE = 5_000
# A cluster that was not asked for in so long is dropped.
UNUSED_SECONDS = 30 * 86_400

# Ends the name of a cluster's second file, whose files are added to the first when they are more than a quarter of those, and more than a few.
NEWER, FEW = ".newer", 100

# A hash of a file's state on disk and of how it was asked for.
Mark = bytes


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run reports of an unchanged file.  `mark`: hash of its state on disk and of the options that decide what it is found to be; `path`: hash
    of everything that its path says."""

    mark: Mark
    path: Mark
    outcome: str
    source_id: str | None
    size: int | None
    disk_size: int | None
    fault: str | None
    is_nodeless: bool

    def holds(self, found: Found, mark: Mark, last: LastSaid | None) -> bool:
        """Whether a file is unchanged, and its last row in `bronze.sources` says that it was read to its end, or why not.  `mark`: as it is now."""
        if last is None or (mark, path_mark(found)) != (self.mark, self.path):
            return False
        outcome, disk_size, source_id, end, node_id = last
        if (disk_size, source_id) != (self.disk_size, self.source_id) or (self.is_nodeless and node_id is not None):
            return False
        if self.outcome != TO_READ:
            return outcome == self.outcome
        return outcome in said.READ and (self.size is None or (end or 0) >= self.size)


# What is kept of a file.
Kept = tuple[Summary, Inspected]


class OfCluster:
    """The cache of one cluster, by path: the summary of each file and, read when first needed, what each was found to be.

    It has two files: one for all of them, and beside it one for those that have changed since, so that a run does not write again what it did not
    look at.
    """

    def __init__(self, file: Path, code: str) -> None:
        self.file, self.code = file, code
        self.newer = file.with_name(f"{file.name}{NEWER}")
        self.summaries: dict[str, Summary] = self._part(0)

    @cached_property
    def sources(self) -> dict[str, Inspected]:
        return self._part(1) if self.summaries else {}

    def _part(self, number: int) -> dict[str, Any]:
        """The summaries (0) or what the files were found to be (1)."""
        both = self._read(self.file, number)
        if both:
            both |= self._read(self.newer, number)
        return {name: value for name, value in both.items() if value is not None}

    def _read(self, file: Path, number: int) -> dict[str, Any]:
        try:
            with file.open("rb") as kept:
                if kept.readline().decode().strip() != self.code:
                    return {}
                with gzip.open(kept) as packed:
                    for _ in range(number):
                        for _ in parts_in(packed):
                            pass
                    return {name: value for part in parts_in(packed) for name, value in part.items()}
        except (OSError, EOFError, zlib.error, pickle.UnpicklingError, AttributeError, TypeError, ValueError, ImportError, IndexError):
            return {}

    def update(self, changed: Mapping[str, Kept | None]) -> None:
        """Write down what some files are now; None: the file is gone."""
        changes = {name: one or (None, None) for name, one in changed.items()}
        newer = zip_of(self._read(self.newer, 0), self._read(self.newer, 1)) if self.summaries and self.newer.exists() else {}
        newer |= changes
        if len(newer) <= max(FEW, len(self.summaries) // 4) and self.summaries:
            self._write(self.newer, newer)
            return
        whole = zip_of(self.summaries, self.sources) | changes
        # If this is killed in between, the newest changes are forgotten, and those files looked at again.
        self.newer.unlink(missing_ok=True)
        self._write(self.file, {name: both for name, both in whole.items() if both[0] is not None})

    def _write(self, file: Path, values: Mapping[str, tuple[Summary | None, Inspected | None]]) -> None:
        with gzip.GzipFile(fileobj=(kept := io.BytesIO()), mode="wb", compresslevel=1) as packed:
            for part in (0, 1):
                items = iter(values.items())
                while some := {name: both[part] for name, both in islice(items, AT_ONCE)}:
                    pickle.dump(some, packed, pickle.HIGHEST_PROTOCOL)
                pickle.dump({}, packed)
        file.parent.mkdir(exist_ok=True)
        put(file, f"{self.code}\n".encode() + kept.getvalue())


def zip_of(summaries: Mapping[str, Any], sources: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one, with both values of each name that is in both."""
    return {name: (summary, sources[name]) for name, summary in summaries.items() if name in sources}


class Seen:
    """The files of earlier runs.  `pass_by` skips a cluster whose files are all unchanged; `knows` says of a file of another one whether it is
    unchanged, `find` gives it, `note` remembers what another file is, and `settle` what all of the cluster's files were found to be; `keep` writes it
    down when the run is committed."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.code = code() if folder else ""
        self.passed: dict[str, Reported] = {}
        self._clusters: dict[str, OfCluster] = {}
        # Of the files that are looked at: their marks and times of change, and what they were found to be.
        self._marks: dict[str, tuple[Mark, int]] = {}
        self._found: dict[str, tuple[Mark, int, Inspected]] = {}
        # What is to be written, by cluster and path (None: the file is gone).
        self._changed: dict[str, dict[str, Kept | None]] = {}
        if folder and folder.is_file():
            # Earlier releases had a file here.
            folder.unlink()

    def of(self, cluster: str) -> OfCluster:
        """The cache of a cluster."""
        assert self.folder is not None
        if cluster not in self._clusters:
            self._clusters[cluster] = OfCluster(self.folder / file_name(cluster), self.code)
        return self._clusters[cluster]

    def pass_by(self, cluster: str, files: Sequence[Found], options: Options, past: Past) -> bool:
        """Whether all files of a cluster in this run are unchanged, and none is gone; then `passed` has what is reported of them."""
        kept, folders = self.of(cluster).summaries if self.folder else {}, within(options.paths)
        if sum(name.startswith(folders) for name in kept) != len(files):
            return False
        last, passed = past.of(cluster).last_said(), Reported()
        for found in files:
            summary, now = kept.get(name_of(found.path)), self._mark(found, options.pattern)
            if summary is None or now is None or not summary.holds(found, now[0], last.get(found.shown)):
                return False
            passed.add(found.shown, summary.outcome, summary.fault, summary.is_nodeless)
        self.passed[cluster] = passed
        # Frees memory: in a large fleet they are hundreds of thousands.
        del self._clusters[cluster]
        for found in files:
            self._marks.pop(name_of(found.path), None)
        return True

    def knows(self, found: Found, pattern: str | None = None) -> bool:
        """Whether a file is unchanged.  `pattern`: with which it was inspected."""
        now = self._mark(found, pattern) if self.folder else None
        summary = self.of(found.cluster_id).summaries.get(name_of(found.path)) if now else None
        return bool(now and summary and summary.mark == now[0])

    def find(self, found: Found, pattern: str | None = None) -> Inspected | None:
        """What an unchanged file was found to be; None if the cache lacks it."""
        name, kept, now = name_of(found.path), self.of(found.cluster_id), self._mark(found, pattern)
        source = kept.sources.get(name) if now else None
        if now is None or source is None:
            return None
        del self._marks[name]
        # The file may have been given by another name (a link), or below a higher folder.
        source = source if kept.summaries[name].path == path_mark(found) else grown(Inspected, source, **said_of(found))
        # It had settled when it was cached.
        self._found[name] = (now[0], 0, source)
        return source

    def _mark(self, found: Found, pattern: str | None) -> tuple[Mark, int] | None:
        """The mark of a file and when it was last changed, as of the first call: before it is opened."""
        name = name_of(found.path)
        if name not in self._marks and (now := mark_of(found, pattern)):
            self._marks[name] = now
        return self._marks.get(name)

    def note(self, source: Inspected) -> Inspected:
        """Remember what a file is if `find` did not know it."""
        name = name_of(source.path)
        if name in self._marks:
            self._found[name] = (*self._marks.pop(name), source)
        return source

    def settle(self, cluster: str, roots: Iterable[str], sources: Sequence[Identified], held: set[str]) -> None:
        """Remember what differs from the cache of a cluster, and free the memory of the rest.  `sources`: those of its files that were identified;
        `held`: paths of files that are not read to their end, which are not cached."""
        if self.folder is None:
            return
        latest, folders, before = (time.time() - COARSEST_SECONDS) * 1e9, within(roots), self.of(cluster)
        now, changed = set[str](), dict[str, Kept | None]()
        for source in sources:
            name = name_of(source.path)
            if name not in self._found or source.outcome not in KEPT or source.path in held:
                continue
            mark, changed_at, inspected = self._found[name]
            if changed_at >= latest:
                continue
            now.add(name)
            summary, is_known = summary_of(source, mark), inspected.seen_as == source.source_id
            if not is_known or summary != before.summaries.get(name):
                changed[name] = (summary, inspected if is_known else grown(Inspected, inspected, seen_as=source.source_id))
        # Files that are gone from the searched folders are dropped.
        changed |= dict.fromkeys(name for name in before.summaries if name not in now and name.startswith(folders))
        self._changed[cluster] = changed
        del self._clusters[cluster]
        for source in sources:
            self._found.pop(name_of(source.path), None)

    def keep(self, cut: Iterable[Identified]) -> None:
        """Write the cache, after the files have been committed.  `cut`: those that were not read to their end after all."""
        if self.folder is None:
            return
        for source in cut:
            self._changed[source.cluster_id][name_of(source.path)] = None
        for cluster, changed in self._changed.items():
            if changed:
                self.of(cluster).update(changed)
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Delete the caches of clusters that no run has asked for in a long time."""
        assert self.folder is not None
        used = {file_name(cluster) for cluster in self.passed.keys() | self._changed.keys()}
        for file in self.folder.glob("*"):
            if file.name.removesuffix(NEWER) in used:
                os.utime(file)
            elif time.time() - file.stat().st_mtime > UNUSED_SECONDS:
                file.unlink()


class _Reader(pickle.Unpickler):
    """Loads plain values and this package's own dataclasses only, so that a pickle cannot run anything."""

    def find_class(self, module: str, name: str) -> Any:
        kind = super().find_class(module, name) if module.startswith("ingestion.") and "." not in name else None
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise pickle.UnpicklingError(f"{module}.{name} has no place in it")
        return kind


def parts_in(packed: gzip.GzipFile) -> Iterator[dict[str, Any]]:
    """The parts of a pickled dictionary, up to the empty one that ends it."""
    while some := _Reader(packed).load():
        yield some


def summary_of(source: Identified, mark: Mark) -> Summary:
    """What is reported of a file that was read to its end, as long as it is unchanged."""
    return Summary(
        mark,
        path_mark(source),
        source.outcome,
        source.source_id or None,
        source.size,
        source.disk_size,
        said.fault(source, is_held=False),
        said.is_nodeless(source),
    )


def file_name(cluster: str) -> str:
    """The name of a cluster's cache file, whatever characters the cluster's name has."""
    return hashlib.sha256(cluster.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def within(roots: Iterable[str]) -> tuple[str, ...]:
    """The prefixes of the names of all files in some folders."""
    return tuple(os.path.join(os.path.abspath(root), "") for root in roots)


def name_of(path: str) -> str:
    """The absolute form of a path; the same string object if it is absolute."""
    if path.startswith("/") and not path.endswith("/") and "//" not in path and "/." not in path:
        return path
    name = os.path.abspath(path)
    return path if name == path else name


def mark_of(found: Found, pattern: str | None) -> tuple[Mark, int] | None:
    """A hash of a file's state on disk and of the options that decide what it is found to be; and when it was last changed, in nanoseconds since
    1970.  None if it cannot be looked at."""
    try:
        status = os.stat(found.path)
    except OSError:
        return None
    on_disk = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    asked = (found.folder, found.cluster_id, found.path_node, pattern)
    return digest((on_disk, asked)), max(status.st_mtime_ns, status.st_ctime_ns)


def path_mark(found: Found) -> Mark:
    """A hash of everything that a file's path says."""
    return digest([getattr(found, name) for name in PLACES[Found]])


def digest(value: object) -> bytes:
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def code() -> str:
    """A hash of the state of this package's code, by its files' sizes and times."""
    files = sorted(path for path in HERE.rglob("*") if path.suffix in (".py", ".yml"))
    parts = [(str(path.relative_to(HERE)), status.st_size, status.st_mtime_ns) for path in files for status in (path.stat(),)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
