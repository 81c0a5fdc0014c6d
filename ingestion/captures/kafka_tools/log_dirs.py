"""`kafka-log-dirs --describe`: what lies in the log directories of the brokers.

Rows (beside those of `_tools`; their raw text is the entry of the JSON):

- `log_dir`: node_id, log_dir, exception (of an error, its class), message (its text), total_bytes, usable_bytes (where the release prints them);
- `replica_log`: node_id, log_dir, topic_name, partition_id, size_bytes, offset_lag (how far it is behind), is_future (being moved here).

Form: JSON of one line, since 1.0, with two sentences before it; also after `jq`.  Of a JSON that is cut the whole entries are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, documents, failed_tool, partition_of, plain, significant, slices, whole

LOG_DIRS = "kafka_log_dirs"
KINDS = {LOG_DIRS: "Sizes of the partitions in the brokers' log directories, as kafka-log-dirs prints them."}
LOG_BESIDE = True

BEGINS = re.compile(r"\{\s*(?:\"version\"\s*:\s*\d+\s*,\s*)?\"brokers\"\s*:\s*\[\s*(?:\]|\{\s*\"(?:broker|logDirs)\"\s*:)")
SAID = re.compile(
    r"^(?:Querying brokers for log directories information|Received log directory information from brokers |The given brokers do not exist)"
)
DIR_FIRST = re.compile(r'"logDirs"\s*:\s*\[\s*\{\s*"logDir"')
DIR = re.compile(r'"logDir"\s*:\s*(?P<log_dir>"(?:[^"\\]|\\.)*")')
PARTITION = re.compile(r'\{\s*"partition"\s*:[^{}]*\}')
PIECE = re.compile(rf'"broker"\s*:\s*(?P<broker>\d+)|{DIR.pattern}|(?P<partition>{PARTITION.pattern})')


def kind_of(sample: str, name: str = "") -> str | None:
    lines = [line for line in significant(sample) if not SAID.match(line)]
    if failed_tool("\n".join(line for line in sample.split("\n") if not SAID.match(line))) == "kafka-log-dirs":
        return LOG_DIRS
    return LOG_DIRS if lines and BEGINS.match("\n".join(lines).lstrip()) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-log-dirs")
    for line, value in documents(whole(lines)):
        if isinstance(value, dict) and isinstance(value.get("brokers"), list):
            yield from rows_of(value["brokers"], line, stamp)
        elif BEGINS.match(line.text.lstrip()):
            yield from rows_of_torn(line, stamp)
        else:
            said = stamp.said(line) if SAID.match(line.text) else stamp.unread(line, "no line of kafka-log-dirs")
            yield stamp.common(line) or said


def rows_of(brokers: list[object], line: Line, stamp: Stamp) -> Iterator[Row]:
    """The rows of a whole document."""
    pieces = {form: slices(line, form) for form in (DIR, PARTITION)}
    for broker in objects(brokers):
        node_id = broker.get("broker")
        node_id = node_id if isinstance(node_id, int) else None
        for log_dir in objects(broker.get("logDirs")):
            where = {"node_id": None if node_id is None else str(node_id), "log_dir": text(log_dir.get("logDir"))}
            sizes = {"total_bytes": text(log_dir.get("totalBytes")), "usable_bytes": text(log_dir.get("usableBytes"))}
            yield stamp.row("log_dir", next(pieces[DIR], line), where | sizes | error_of(log_dir), node_id)
            for partition in objects(log_dir.get("partitions")):
                yield replica_log(partition, next(pieces[PARTITION], line), where, node_id, stamp)


def error_of(log_dir: dict[str, object]) -> dict[str, str | None]:
    """Class and text of the error with which a broker answered for a directory; older releases print the class alone."""
    name, _, message = (text(log_dir.get("error")) or "").partition(": ")
    return {"exception": name or None, "message": message or None}


def replica_log(partition: dict[str, object], line: Line, where: dict[str, str | None], node_id: int | None, stamp: Stamp) -> Row:
    fields = where | partition_of(text(partition.get("partition")) or "")
    fields |= {
        "size_bytes": text(partition.get("size")),
        "offset_lag": text(partition.get("offsetLag")),
        "is_future": text(partition.get("isFuture")),
    }
    return stamp.row("replica_log", line, fields, node_id)


def rows_of_torn(line: Line, stamp: Stamp) -> Iterator[Row]:
    """The whole entries of a document that is cut.  Scala names a directory before its partitions, Java (3.7 and later) after them."""
    is_named_before = DIR_FIRST.search(line.text) is not None
    node_id: int | None = None
    log_dir: str | None = None
    waiting: list[tuple[dict[str, object], Line]] = []
    cut = "the JSON is cut"
    for place in slices(line, PIECE):
        found = PIECE.match(place.text)
        if found is None:
            continue
        if found["broker"]:
            node_id, log_dir = int(found["broker"]), None
        elif found["log_dir"]:
            log_dir = unquoted(found["log_dir"])
            yield from (torn_row(partition, where, node_id, log_dir, stamp, cut) for partition, where in waiting)
            log_dir, waiting = log_dir if is_named_before else None, []
        else:
            try:
                partition = json.loads(found["partition"])
            except ValueError:
                continue
            if log_dir is None:
                waiting.append((partition, place))
            else:
                yield torn_row(partition, place, node_id, log_dir, stamp, cut)
    yield from (torn_row(partition, where, node_id, None, stamp, cut) for partition, where in waiting)
    yield stamp.unread(Line(line.offset + len(line.text[:-200].encode()), line.text[-200:]), cut)


def torn_row(partition: dict[str, object], line: Line, node_id: int | None, log_dir: str | None, stamp: Stamp, warning: str) -> Row:
    row = replica_log(partition, line, {"node_id": None if node_id is None else str(node_id), "log_dir": log_dir}, node_id, stamp)
    return Row(row.kind, row.offset, row.raw_text, row.fields, row.at, row.at_known_by, row.node_id, (*row.warnings, warning))


def unquoted(text: str) -> str:
    """A string of JSON without its quotes."""
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


def objects(value: object) -> Iterator[dict[str, object]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def text(value: object) -> str | None:
    return None if value is None else plain(value)
