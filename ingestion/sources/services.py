"""Services that are queried for logs or metrics because they have no files: one module for each scheme of URIs.

A module has `new(uri, names, settled_after, spool, whole_end)`, which gives what no earlier run has read as files of a spool, and `marks(uri)`,
numbers that change when there is more.  The names of these files in `bronze.sources`, which are committed with what was in them, say how far a
service has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType

from ingestion.sources import prometheus, topics
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Found

SERVICES: dict[str, ModuleType] = {"kafka": topics, "prometheus+http": prometheus, "prometheus+https": prometheus}


def new(uri: str, names: Iterable[str], settled_after: float, spool: Spool, whole_end: Callable[[Found], int]) -> Iterator[Found]:
    """What a service has that no earlier run has read, as files.  `names`: of all files that were read; `whole_end`: gives the byte up to which the
    records of a file that may go on are complete.  Raises CannotReach."""
    yield from _module_of(uri).new(uri, names, settled_after, spool, whole_end)


def marks(uri: str) -> dict[str, int]:
    """Numbers that change when a service has more.  Raises CannotReach."""
    return dict(_module_of(uri).marks(uri))


def _module_of(uri: str) -> ModuleType:
    return SERVICES[uri.split("://", 1)[0]]
