"""What is printed into the output of a program, between the records of its log, by its JVM: pauses, dumps of threads, the head of a fatal error report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import ModuleType

from ingestion.captures import UNREAD, About, Line, Row, modules

MOST_CHARACTERS = 2000


@lru_cache(maxsize=1)
def printers() -> tuple[ModuleType, ...]:
    """The modules of captures that may be within a log."""
    return tuple(module for module in modules() if hasattr(module, "WITHIN_LOGS"))


@lru_cache(maxsize=1)
def needles() -> tuple[bytes, ...]:
    """Texts of which every such capture has one; none has a digit."""
    return tuple(needle for module in printers() for needle in module.WITHIN_LOGS)


def rows_within(lines: Sequence[Line], about: About) -> Iterator[tuple[str, Row]]:
    """(kind of capture, row) of all that a JVM printed among the lines that follow the first of a record; what it did not print gives no row."""
    for module, part in parts_of(lines):
        (kind,) = module.KINDS
        for row in module.read(kind, part, about):
            if row.kind != UNREAD:
                yield kind, row


def parts_of(lines: Sequence[Line]) -> Iterator[tuple[ModuleType, list[Line]]]:
    """The lines that a JVM printed, by the module that reads them: each part from its first line up to that of another, or to a line that cannot be of it."""
    module: ModuleType | None = None
    part: list[Line] = []
    for n, line in enumerate(lines):
        following = lines[n + 1].text[:MOST_CHARACTERS] if n + 1 < len(lines) else ""
        found = begun(line.text[:MOST_CHARACTERS], following)
        is_end = module is not None and found is None and not module.goes_on(line.text[:MOST_CHARACTERS])
        if is_end or found not in (None, module):
            if module is not None:
                yield module, part
            module, part = found, []
        if module is not None:
            part.append(line)
    if module is not None:
        yield module, part


def begun(text: str, following: str) -> ModuleType | None:
    """The module whose capture begins with a line; None if none does.  `following`: the next line."""
    for module in printers():
        leads = getattr(module, "leads", None)
        if module.begins(text) or (leads is not None and leads(text) and module.begins(following)):
            return module
    return None
