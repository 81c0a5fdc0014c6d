"""What is asked for its logs or metrics, as it has no files: one module each, by the scheme of its URI.

A module has `new(uri, names, settled_after, spool, whole_end)`, which gives what no earlier run has taken as files of a spool, and `marks(uri)`, numbers
that change when there is more.  How far it was read is said by the names of its files in `bronze.sources`, which are committed with what was in
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType

from ingestion.sources import prometheus, topics
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Found

SERVICES: dict[str, ModuleType] = {"kafka": topics, "prometheus+http": prometheus, "prometheus+https": prometheus}


def new(uri: str, names: Iterable[str], settled_after: float, spool: Spool, whole_end: Callable[[Found], int]) -> Iterator[Found]:
    """What a service has that no earlier run has taken, as files.  `names`: of all files that were read; `whole_end`: of a file that may go on, the
    byte up to which its records are whole.  Raises CannotReach."""
    yield from _module_of(uri).new(uri, names, settled_after, spool, whole_end)


def marks(uri: str) -> dict[str, int]:
    """Numbers that change when a service has more.  Raises CannotReach."""
    return dict(_module_of(uri).marks(uri))


def _module_of(uri: str) -> ModuleType:
    return SERVICES[uri.split("://", 1)[0]]
