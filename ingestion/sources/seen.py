"""What files were found to be, kept from run to run: a file that is unchanged is not opened again.

A file is unchanged where its place on disk, its size and both its times are (the time of its status moves with every write, whatever sets the other
back), it was asked for in the same way, and the code that looks at it is the same.  Only what was read to its end is kept; a file whose last record
may still grow, or that changed within the last seconds, is looked at again.  What is to be read is decided by `bronze.sources` alone: without
this file a run is slower and says the same.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, is_dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ingestion.sources.stages import BINARY, COPY, EMPTY, TO_READ, UNKNOWN, Found, Identified, Inspected, grown, said_of
from ingestion.warehouse import put

# All of the package `ingestion`.
HERE = Path(__file__).parent.parent
KEPT = (TO_READ, COPY, EMPTY, BINARY, UNKNOWN)
# Clocks of file systems are this coarse at worst (FAT).
COARSEST_SECONDS = 2.0
# Files that are written as one: who writes remembers all that has been written of it, to say nothing twice.
AT_ONCE = 5_000

Mark = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was: on disk, as it was asked for, and what it was found to be."""

    mark: Mark
    given: tuple[Any, ...]
    source: Inspected


class Seen:
    """The files of earlier runs; `find` an unchanged one, `note` what another one is, `keep` them all when the run is committed."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self.code = code() if file else ""
        self.entries: dict[str, Entry] = self._read(file) if file else {}
        self.marks: dict[str, Mark] = {}
        self.found: dict[str, Entry] = {}

    def find(self, found: Found, pattern: str | None = None) -> Inspected | None:
        """What a file was found to be, where it is unchanged.  `pattern`: as it was inspected with."""
        if self.file is None:
            return None
        try:
            status = os.stat(found.path)
        except OSError:
            return None
        name = os.path.abspath(found.path)
        self.marks[name] = mark = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        entry = self.entries.get(name)
        if entry is None or entry.mark != mark or entry.given != given_of(found, pattern):
            return None
        self.found[name] = entry
        # The name may be another one, by a link.
        return grown(Inspected, entry.source, **said_of(found))

    def note(self, source: Inspected, pattern: str | None = None) -> Inspected:
        """Remember what a file is that `find` did not know."""
        name = os.path.abspath(source.path)
        if name in self.marks:
            self.found[name] = Entry(self.marks[name], given_of(source, pattern), source)
        return source

    def keep(self, roots: Iterable[str], sources: Iterable[Identified], held: set[str]) -> None:
        """Write down what may be known without opening it, after `sources` have been committed."""
        if self.file is None:
            return
        latest = (time.time() - COARSEST_SECONDS) * 1e9
        below = tuple(os.path.join(os.path.abspath(root), "") for root in roots)
        # Files that are gone from the folders that were looked through are dropped.
        entries = {name: entry for name, entry in self.entries.items() if not name.startswith(below)}
        for source in sources:
            name = os.path.abspath(source.path)
            entry = self.found.get(name)
            if entry and source.outcome in KEPT and source.path not in held and max(entry.mark[3:]) < latest:
                known = entry.source.seen_as == source.source_id
                entries[name] = entry if known else replace(entry, source=grown(Inspected, entry.source, seen_as=source.source_id))
        if entries != self.entries:
            self._write(self.file, entries)

    def _read(self, file: Path) -> dict[str, Entry]:
        try:
            with file.open("rb") as kept:
                if kept.readline().decode().strip() != self.code:
                    return {}
                entries: dict[str, Entry] = {}
                with gzip.open(kept) as packed:
                    while some := _Reader(packed).load():
                        entries |= some
                return entries
        except (OSError, EOFError, zlib.error, pickle.UnpicklingError, AttributeError, TypeError, ValueError, ImportError, IndexError):
            return {}

    def _write(self, file: Path, entries: dict[str, Entry]) -> None:
        with gzip.GzipFile(fileobj=(kept := io.BytesIO()), mode="wb", compresslevel=1) as packed:
            names = iter(entries.items())
            while some := dict(islice(names, AT_ONCE)):
                pickle.dump(some, packed, pickle.HIGHEST_PROTOCOL)
            pickle.dump({}, packed)
        put(file, f"{self.code}\n".encode() + kept.getvalue())


class _Reader(pickle.Unpickler):
    """Reads values and this package's own dataclasses, and nothing that could run anything else."""

    def find_class(self, module: str, name: str) -> Any:
        kind = super().find_class(module, name) if module.startswith("ingestion.") and "." not in name else None
        if not (isinstance(kind, type) and is_dataclass(kind)):
            raise pickle.UnpicklingError(f"{module}.{name} has no place in it")
        return kind


def given_of(found: Found, pattern: str | None) -> tuple[Any, ...]:
    """How a file was asked for, as far as what it is hangs on it."""
    return found.folder, found.cluster_id, found.path_node, pattern


def code() -> str:
    """A name for the state of the code that looks at files, by its files' sizes and times."""
    files = sorted(path for path in HERE.rglob("*") if path.suffix in (".py", ".yml"))
    parts = [(str(path.relative_to(HERE)), status.st_size, status.st_mtime_ns) for path in files for status in (path.stat(),)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
