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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ingestion.sources import said
from ingestion.sources.discover import Options
from ingestion.sources.earlier import LastSaid, Past
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


@dataclass
class Passed:
    """The files of skipped clusters: how many of each outcome, and what is reported of them."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    nodeless: list[str] = field(default_factory=list)

    def add(self, shown: str, summary: Summary) -> None:
        self.outcomes[summary.outcome] += 1
        if summary.fault:
            self.faults.append(summary.fault)
        if summary.is_nodeless:
            self.nodeless.append(shown)

    def extend(self, other: Passed) -> None:
        self.outcomes.update(other.outcomes)
        self.faults += other.faults
        self.nodeless += other.nodeless


class OfCluster:
    """The cache of one cluster, by path: the summary of each file and, read when first needed, what each was found to be."""

    def __init__(self, file: Path, code: str) -> None:
        self.file, self.code = file, code
        self.summaries: dict[str, Summary] = self._part(0)

    @cached_property
    def sources(self) -> dict[str, Inspected]:
        return self._part(1) if self.summaries else {}

    def _part(self, number: int) -> dict[str, Any]:
        """The summaries (0) or what the files were found to be (1)."""
        try:
            with self.file.open("rb") as kept:
                if kept.readline().decode().strip() != self.code:
                    return {}
                with gzip.open(kept) as packed:
                    for _ in range(number):
                        for _ in parts_in(packed):
                            pass
                    return {name: value for part in parts_in(packed) for name, value in part.items()}
        except (OSError, EOFError, zlib.error, pickle.UnpicklingError, AttributeError, TypeError, ValueError, ImportError, IndexError):
            return {}

    def write(self, summaries: Mapping[str, Summary], sources: Mapping[str, Inspected]) -> None:
        """Replace the cache with these."""
        with gzip.GzipFile(fileobj=(kept := io.BytesIO()), mode="wb", compresslevel=1) as packed:
            for values in (summaries, sources):
                items = iter(values.items())
                while some := dict(islice(items, AT_ONCE)):
                    pickle.dump(some, packed, pickle.HIGHEST_PROTOCOL)
                pickle.dump({}, packed)
        self.file.parent.mkdir(exist_ok=True)
        put(self.file, f"{self.code}\n".encode() + kept.getvalue())


class Seen:
    """The files of earlier runs: `pass_by` skips a cluster whose files are all unchanged, `find` gives an unchanged file, `note` remembers what
    another one is, and `keep` writes all down when the run is committed."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.code = code() if folder else ""
        self.passed: dict[str, Passed] = {}
        self._clusters: dict[str, OfCluster] = {}
        # Of the files that are looked at: their marks and times of change, and what they were found to be.
        self._marks: dict[str, tuple[Mark, int]] = {}
        self._found: dict[str, tuple[Mark, int, Inspected]] = {}
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
        last, passed = past.last_said(cluster), Passed()
        for found in files:
            summary, now = kept.get(name_of(found.path)), self._mark(found, options.pattern)
            if summary is None or now is None or not summary.holds(found, now[0], last.get(found.shown)):
                return False
            passed.add(found.shown, summary)
        self.passed[cluster] = passed
        # Frees memory: in a large fleet they are hundreds of thousands.
        del self._clusters[cluster]
        for found in files:
            self._marks.pop(name_of(found.path), None)
        return True

    def find(self, found: Found, pattern: str | None = None) -> Inspected | None:
        """What a file was found to be, if it is unchanged.  `pattern`: with which it was inspected."""
        now = self._mark(found, pattern) if self.folder else None
        if now is None:
            return None
        name, kept = name_of(found.path), self.of(found.cluster_id)
        summary = kept.summaries.get(name)
        source = kept.sources.get(name) if summary and summary.mark == now[0] else None
        if source is None:
            return None
        del self._marks[name]
        # The file may have been given by another name (a link), or below a higher folder.
        source = source if summary and summary.path == path_mark(found) else grown(Inspected, source, **said_of(found))
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

    def keep(self, roots: Iterable[str], sources: Iterable[Identified], held: set[str]) -> None:
        """Write the cache, after `sources` have been committed.  `held`: paths of files that were not read to their end, which are not
        cached."""
        if self.folder is None:
            return
        latest, folders = (time.time() - COARSEST_SECONDS) * 1e9, within(roots)
        clusters: dict[str, list[Identified]] = {}
        for source in sources:
            clusters.setdefault(source.cluster_id, []).append(source)
        for cluster, some in clusters.items():
            before = self.of(cluster)
            # Files that are gone from the searched folders are dropped.
            summaries = {name: summary for name, summary in before.summaries.items() if not name.startswith(folders)}
            kept = {name: before.sources[name] for name in summaries if name in before.sources}
            for source in some:
                name = name_of(source.path)
                if name not in self._found or source.outcome not in KEPT or source.path in held:
                    continue
                mark, changed, inspected = self._found[name]
                if changed < latest:
                    summaries[name] = summary_of(source, mark)
                    is_known = inspected.seen_as == source.source_id
                    kept[name] = inspected if is_known else grown(Inspected, inspected, seen_as=source.source_id)
            if summaries != before.summaries:
                before.write(summaries, kept)
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Delete the caches of clusters that no run has asked for in a long time."""
        assert self.folder is not None
        used = {file_name(cluster) for cluster in self.passed.keys() | self._clusters.keys()}
        for file in self.folder.glob("*"):
            if file.name in used:
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
