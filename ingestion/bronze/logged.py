"""Records of a log within another text to `bronze.log_records`: by the same way as those of a file, each piece with its own layout, node and zone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ingestion.bronze.log_records import Batch, Cache, failed_row
from ingestion.bronze.pieces import Reader, piece_of, task_of_stream
from ingestion.bronze.tasks import Counted, Task
from ingestion.captures import Logged
from ingestion.reading.files import fault_of
from ingestion.reading.zones import ALWAYS
from ingestion.recognition.recognise import catalogue
from ingestion.records.framing import find_framing
from ingestion.records.kinds import kinds_of_libraries, kinds_of_others
from ingestion.records.nature import kind_of_stream, zone_evidence
from ingestion.records.pasted import wrappers_of
from ingestion.records.streams import Line, Stream
from ingestion.records.unwrap import Inner, unwrap


def records_of(found: Logged, task: Task, count: Counted, cache: Cache, begin: int = 0, end: int | None = None) -> Iterator[pa.RecordBatch]:
    """The records of one piece of a text that begin between two bytes of the file; `count` is filled."""
    known = catalogue()
    for stream, lines in streams_of(found):
        reader = Reader(task_of_piece(task, stream, lines))
        reader.resolution_ms = stream.resolution
        piece = piece_of(reader, lines)
        try:
            table = Batch([piece], known, cache).table()
        except Exception as error:  # one piece's fault must not stop the others
            count.failed = fault_of(error)
            table = failed_row(piece, known, count.failed)
        places = table["byte_offset"]
        is_new = pc.greater_equal(places, begin)
        table = table.filter(is_new if end is None else pc.and_(is_new, pc.less(places, end)))
        count.records += table.num_rows
        count.recognised += table.num_rows - table["event_type"].null_count
        count.doubts |= reader.doubts
        if table.num_rows:
            yield table


def streams_of(found: Logged) -> Iterator[tuple[Stream, list[Line]]]:
    """The lines of a piece by who wrote them and in which layout, each in the order of the text."""
    names: tuple[str, ...] = ()
    streams: dict[tuple[str, ...], Stream] = {}
    # A time that a table has without its zone is local.
    local: set[tuple[str, ...]] = set()
    key: tuple[str, ...] = ()
    for line in found.lines:
        names = wrappers_of(line.text) if line.is_head and line.cut is None else names
        inner = unwrap(names, line.text) if names else Inner(line.text)
        if line.cut is not None:
            inner = Inner(line.cut.message, inner.stream, None, cut=line.cut)
        if line.is_head or not streams:
            key = (inner.stream, line.label, "" if inner.cut else layout_of(inner.text))
        if line.cut is not None and not line.cut.is_utc:
            local.add(key)
        stream = streams.setdefault(key, Stream(inner.stream, inner.writer, None, None))
        stream.add(inner, line.offset, line.offset + line.length, line.raw.encode("utf-8", "replace"))
    for key, stream in streams.items():
        lines = stream.take(True, False)
        stream.is_utc &= key not in local
        yield stream, lines


def layout_of(text: str) -> str:
    """The name of the layout of a line."""
    found = find_framing([text])
    return found.envelope.name if found.envelope else found.pattern.name if found.pattern else ""


def task_of_piece(task: Task, stream: Stream, lines: list[Line]) -> Task:
    """The task for the records of one piece: what it says of its node and zone holds for it alone."""
    assert stream.envelope is not None
    text = "\n".join(line.text for line in lines).encode("utf-8", "replace")
    of_piece = task_of_stream(task, stream, lines)
    if of_piece.node_known_by != "content" and kind_of_stream(stream, text, "") in kinds_of_others() - kinds_of_libraries():
        of_piece = replace(of_piece, node_id=None, node_known_by=None)
    evidence = zone_evidence(text, stream.envelope)
    if evidence and of_piece.zone_known_by in ("default", "cluster"):
        of_piece = replace(of_piece, zones=((ALWAYS, evidence[0][1]),), zone_known_by="evidence")
    return of_piece
