"""Captures: what people collect in addition to broker logs, one module per family of formats, in a folder per subject.

No Spark here.  Every module below this package (none that begins with an underscore) has

- `KINDS`: the kinds of source that it reads, as `fct_sources.kind` names them, each with one sentence;
- `OF_NODE`, if any: those of its kinds that are about one node or its machine, so that a folder or a name may say which;
  a describe of the whole cluster is not.  `OF_OTHERS`: those of programs that are not nodes;
- `LOG_BESIDE = True` if lines of the tool's own log may be before and between its output, so that a text with lines of a log may
  still be its capture;
- `WITHIN_LOGS`, if its kind may be printed into the output of a program, between the records of its log: texts of which every such capture has one,
  without digits; then also `begins(text)`: whether a line begins it, and, if any, `leads(text)`: whether a line does so if the next one begins it;
- `EMPTY_LINES`, if its texts have empty lines within: words by one of which they are found.  With it, and with `WITHIN_LOGS`, `goes_on(text)`: whether a
  line may be a later one of it;
- `kind_of(sample, name)`: which of its kinds a text is, by its first 64 KiB, or None; the file's name may only break a tie;
- `read(kind, lines, about)`: the text's `Row`s (one table row of a describe, one pause, one thread …) and `Sample`s (one
  value of one metric at one time), in the order of the text; of a document also `Logged`: the records of a log in it.

`read` gets lines one by one and keeps no more of them than one piece needs, because a GC log may have gigabytes.  It never
raises because of a text's content: a torn or foreign line is a `Row` of kind `unread` with its raw text and a warning, or
part of the raw text of the row that it belongs to.
"""

from __future__ import annotations

import datetime as dt
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType

from ingestion.records.pasted import Printed

UNREAD = "unread"
# What somebody wrote, in a document; a sentence of a tool that no other row takes, or the time of what follows it.
PROSE, REMARK = "prose", "remark"
# A line that states when a text was taken says nothing of its kind.
STATED = re.compile(
    r"^[ \t=\-#*>]{0,20}(?:time ?stamp|captured|taken|collected|snapshot)\b[^\n:=]{0,20}[:=][ \t]{0,8}(?:\d{4}-|1\d{9}|[A-Z][a-z]{2} )[^\n]{0,60}\n",
    re.M | re.I,
)
# A text of nothing but log lines and what belongs to them (frames of traces, settings, what the cleaner has done) is not the output of a tool.
LOG_ALONE = re.compile(
    r"(?:(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    # ZooKeeper's own layouts.
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:\[myid:[^\]\n]*+\] )?- (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    r"|[ \t]++at |\t[\w.]++ = "
    r"|\t(?:Log cleaner thread \d|[\d.,]++ MB of log processed |Indexed \d|Buffer utilization: |Cleaned \d|(?:Start|End) size: |[\d.,]++% size reduction )"
    r"| \((?:kafka|org\.apache)\.[\w.$]++\)$"
    r")[^\n]*+\n?|[ \t\r]*+\n)*+",
    re.M,
)


@dataclass(frozen=True)
class Line:
    """One line without its end.  `offset`: where it begins in the (decompressed) file, in bytes."""

    offset: int
    text: str


@dataclass(frozen=True)
class About:
    """What is known about a text besides its content.  `zone`: that of its local times."""

    name: str
    modified_at: dt.datetime | None = None
    zone: dt.tzinfo = dt.UTC


@dataclass(frozen=True)
class Row:
    """One row of `bronze.capture_rows`.  `at`: UTC; `at_known_by`: content, name or modified; `fields`: as they were printed."""

    kind: str
    offset: int
    raw_text: str
    fields: dict[str, str] = field(default_factory=dict)
    at: dt.datetime | None = None
    at_known_by: str | None = None
    node_id: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One row of `bronze.metric_samples`.  `metric`: canonical name (`catalogue/metrics.yml`), or its own if the catalogue has none."""

    metric: str
    offset: int
    value: float | None
    labels: dict[str, str] = field(default_factory=dict)
    attribute: str | None = None
    unit: str | None = None
    kind: str | None = None
    at: dt.datetime | None = None
    at_known_by: str | None = None
    node_id: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Logged:
    """Records of a log within another text, as if they were in a file of their own: those of one piece, which may name its node."""

    offset: int
    lines: tuple[Printed, ...]


@lru_cache(maxsize=1)
def modules() -> tuple[ModuleType, ...]:
    """All modules of captures, by name."""
    found = {info.name.rpartition(".")[2]: info for info in pkgutil.walk_packages(__path__, f"{__name__}.") if not info.ispkg}
    return tuple(importlib.import_module(found[name].name) for name in sorted(found) if not name.startswith("_"))


def detect(sample: str, name: str = "", *, is_log: bool = False) -> tuple[ModuleType, str] | None:
    """(module, kind) of a text; None if no module knows it.  A test holds that no two modules know the same text.

    `is_log`: some of its lines are those of a log: then only modules with `LOG_BESIDE` are asked, and none if all lines are.
    """
    sample = STATED.sub("", sample, count=3)
    # The last line of a sample may be torn.
    if is_log and LOG_ALONE.fullmatch(sample[: sample.rfind("\n") + 1] or sample):
        return None
    for module in modules():
        if is_log and not getattr(module, "LOG_BESIDE", False):
            continue
        kind = module.kind_of(sample, name)
        if kind is not None:
            return module, kind
    return None


def is_of_node(kind: str) -> bool:
    """Whether a kind of capture is about one node or its machine."""
    return any(kind in getattr(module, "OF_NODE", ()) for module in modules())


def is_of_others(kind: str) -> bool:
    """Whether a kind of capture is of a program that is not a node."""
    return any(kind in getattr(module, "OF_OTHERS", ()) for module in modules())


def module_of(kind: str) -> ModuleType:
    """The module that reads a kind of capture."""
    return next(module for module in modules() if kind in module.KINDS)


def lines_of(text: str, offset: int = 0) -> Iterator[Line]:
    """The lines of a text that is in memory, with their offsets in UTF-8."""
    for line in text.split("\n"):
        yield Line(offset, line.removesuffix("\r"))
        offset += len(line.encode()) + 1


def unread(lines: Iterable[Line], warning: str) -> Iterator[Row]:
    """Lines that a module could not make out, as rows."""
    for line in lines:
        if line.text.strip():
            yield Row(UNREAD, line.offset, line.text, warnings=(warning,))


DATED_BY_FILE = "neither its text nor its name has a time: the last change of the file is taken for it"
NAMED_TIME = re.compile(
    r"(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)[T_\-. ]?([0-2]\d)[:\-_]?([0-5]\d)[:\-_]?([0-5]\d)?(?:[.,]?(\d{3}))?(Z)?(?!\d)"
)


def time_of(about: About) -> tuple[dt.datetime | None, str | None, tuple[str, ...]]:
    """(UTC, known by, warnings) of a text without a time of its own: from its name, else the file's last change."""
    match = NAMED_TIME.search(about.name.rsplit("/", 1)[-1])
    if match:
        year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
        try:
            local = dt.datetime(year, month, day, hour, minute, int(match[6] or 0), int(match[7] or 0) * 1000)
        except ValueError:
            pass
        else:
            return local.replace(tzinfo=dt.UTC if match[8] else about.zone).astimezone(dt.UTC), "name", ()
    if about.modified_at is not None:
        return about.modified_at, "modified", ("no time in the text or the name; taken from the file's last change",)
    return None, None, ("no time in the text, the name or the file",)
