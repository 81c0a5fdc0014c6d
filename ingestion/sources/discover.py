"""Finds the files below the given paths, folders or prefixes of objects, and in archives, and reads what their paths say."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from ingestion.reading import objects
from ingestion.reading.files import fault_of, readable, real
from ingestion.reading.names import COMPRESSED
from ingestion.reading.objects import Status, is_service, is_uri
from ingestion.reading.zones import zone_of
from ingestion.records.patterns import compile_pattern
from ingestion.sources import archives
from ingestion.sources.layout import Layout
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Found, grown

# Bytes of a log per byte of its gzip.
GZIPPED = 8
# A kind of bundle, and the cluster that it names.
Bundle = tuple[archives.Bundle, str | None]


@dataclass
class Options:
    """The options of `chronicle ingest`.  `settled_after`: seconds without change after which a file counts as complete; one that is given by its own
    name is complete at once, unless `is_followed`."""

    paths: list[str]
    cluster: str | None = None
    node: int | None = None
    layout: str | None = None
    timezone: str | None = None
    settled_after: float = 60.0
    pattern: str | None = None
    is_followed: bool = False

    def __post_init__(self) -> None:
        self.paths = [objects.plain(path) for path in self.paths]

    def check(self) -> None:
        """Raises ValueError for an invalid time zone or pattern."""
        if self.timezone:
            zone_of(self.timezone)
        if self.pattern:
            compile_pattern(self.pattern)

    @cached_property
    def placeholders(self) -> Layout | None:
        """The layout, compiled.  Raises ValueError if it is invalid."""
        return Layout(self.layout) if self.layout else None


def discover(
    options: Options, leave_out: str | None = None, is_known: Callable[[Found, Status], bool] = lambda found, status: False
) -> Iterator[Found]:
    """Every file below the given paths, in order.  `leave_out`: a folder that is skipped; `is_known`: whether an object is skipped, because it
    is unchanged since it was read."""
    for given in options.paths:
        if is_service(given):
            # A service has no files yet: `services.py` makes them of what is new.
            continue
        if is_uri(given):
            yield from discover_objects(given, options, is_known)
            continue
        root = readable(os.path.realpath(given))
        files = [(path, below(path, given)) for path in find_files(given, leave_out)]
        bundle = archives.bundle_of(relative for _, relative in files)
        folder, resolved, is_named = "", "", not options.is_followed and not os.path.isdir(given)
        for path, relative in files:
            # The files of a folder come in a row, so it is resolved once: to resolve a path costs more than to look at it.
            if os.path.dirname(path) != folder or not folder:
                folder = os.path.dirname(path)
                resolved = os.path.realpath(folder)
            name = os.path.realpath(path) if os.path.islink(path) or not folder else os.path.join(resolved, os.path.basename(path))
            # Workers may have another current folder. Equal texts are one object in memory.
            absolute, shown = os.path.abspath(path), readable(name)
            found = Found(absolute, absolute if absolute == shown else shown, folder_of(folder), "", root, is_whole=is_named)
            yield located(found, relative, options, bundle)


class Names:
    """The names of the objects below a URI, relative to it.  Each iteration lists them again, because they may be too many to hold in memory."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def __iter__(self) -> Iterator[str]:
        return (below(uri, self.uri) for uri, _ in objects.below(self.uri))


def discover_objects(given: str, options: Options, is_known: Callable[[Found, Status], bool]) -> Iterator[Found]:
    """Every object at or below a URI that is not known yet."""
    if not objects.exists(given):
        yield located(Found(given, given, os.path.dirname(given), "", given), below(given, given), options, None)
        return
    bundle, unknown = None if options.layout else archives.bundle_of(Names(given)), []
    for uri, status in objects.below(given):
        found = Found(uri, readable(uri), readable(os.path.dirname(uri)), "", given, is_whole=True)
        found = located(found, below(uri, given), options, bundle)
        if not is_known(found, status):
            unknown.append(found)
    yield from sorted(unknown, key=lambda found: as_in_folders(found.path))


def as_in_folders(path: str) -> list[tuple[bool, str]]:
    """Sorts paths in the order of `find_files`: the files of a folder, then those of each folder in it."""
    *folders, name = path.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


def find_files(given: str, leave_out: str | None = None) -> Iterator[str]:
    """Every regular file below a path, in order; a missing path is returned as it is.  `leave_out`: a folder that is skipped."""
    if not os.path.isdir(given):
        yield given
        return
    yield from _files_in(given, os.path.realpath(leave_out) if leave_out else None)


def have_bytes(paths: Iterable[str], least: int) -> bool:
    """Whether the files below some paths have at least so many bytes together; a compressed one counts for eight times its size, as a log has.
    Stops looking as soon as there are enough."""
    size = 0
    for path, length in (file for given in paths for file in _sizes(objects.plain(given))):
        size += length * (GZIPPED if COMPRESSED.search(path) else 1)
        if size >= least:
            return True
    return False


def _sizes(given: str) -> Iterator[tuple[str, int]]:
    """The files at or below a path with their bytes."""
    with contextlib.suppress(OSError):
        if is_uri(given):
            yield from ((uri, status.size) for uri, status in objects.below(given))
            return
    for path in find_files(given):
        with contextlib.suppress(OSError):
            yield path, os.stat(path).st_size


def _files_in(folder: str, passed_by: str | None) -> Iterator[str]:
    """The files of a folder, then those of each folder in it; links to folders are not followed.  A folder that cannot be read has none."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    yield from (entry.path for entry in entries if _may_be_read(entry))
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and os.path.realpath(entry.path) != passed_by:
            yield from _files_in(entry.path, passed_by)


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file, or cannot be looked at, which is then reported."""
    try:
        return entry.is_file() or not (entry.is_dir() or os.access(entry.path, os.R_OK))
    except OSError:
        return True


def below(path: str, root: str) -> str:
    """A path as seen from the folder that was given."""
    folder, name = os.path.split(path)
    return readable(name if path == root else os.path.normpath(os.path.join(_folder_below(folder, root), name)))


# Cached: thousands of files lie in one folder.
@lru_cache(maxsize=64)
def _folder_below(folder: str, root: str) -> str:
    return os.path.relpath(folder, root)


def located(found: Found, relative: str, options: Options, bundle: Bundle | None) -> Found:
    """A file with cluster, node and host by its path: as given, by `--layout`, by what is known about the bundle, else the cluster by the
    folder's or archive's name."""
    layout = options.placeholders
    if layout is not None:
        cluster, node = layout.read(relative)
        place = archives.Place("layout", cluster, node, layout.parts(relative).get("host"), layout.names_files and node is not None)
    else:
        place = archives.place_of(bundle, relative) or archives.Place("folder")
    return grown(
        Found,
        found,
        cluster_id=sys.intern(readable(options.cluster or "") or place.cluster or name_of(found.root)),
        path_node=options.node if options.node is not None else place.node,
        path_host=place.host,
        is_said_of_file=place.is_of_file,
    )


@lru_cache(maxsize=64)
def name_of(root: str) -> str:
    """The name of a folder or archive without the archive's suffix; as the name of a cluster it is never empty."""
    name = os.path.basename(root)
    return re.sub(r"(?s)(?<=.)\.(?:tar(?:\.\w+)?|tgz|txz|tbz2?|zip)\Z", "", name) or root


@lru_cache(maxsize=64)
def folder_of(name: str) -> str:
    """A folder's path in its shortest form, as text."""
    return readable(str(Path(name)))


def is_archive(found: Found) -> bool:
    """Whether a file is an archive whose members are to be read; a file that cannot be opened is none."""
    if is_uri(found.path):
        return archives.is_bundle(found.path)
    return os.path.isfile(found.path) and os.access(found.path, os.R_OK) and archives.is_bundle(found.path)


def members(archive: Found, options: Options, spool: Spool) -> Iterator[Found]:
    """The members of an archive as files; a refused one has the reason."""
    shown = readable(real(archive.path))
    kept: list[tuple[str, str, str | None]] = []
    try:
        for member in archives.members(archive.path):
            if isinstance(member, archives.Refused):
                kept.append((readable(member.path), shown, member.reason))
            else:
                kept.append((readable(member.path), spool.keep(member), None))
    except Exception as error:  # one archive's fault must not stop the other files
        kept.append(("", shown, fault_of(error)))
    bundle = archives.bundle_of(path for path, _, _ in kept)
    for path, copy, refused in kept:
        name = f"{shown}/{path}" if path else shown
        folder = readable(os.path.dirname(name)) if refused is None else shown
        found = located(Found(copy, name, folder, "", archive.root, is_whole=True), path, options, bundle)
        yield found if refused is None else Found(copy, name, folder, found.cluster_id, refused=refused)
