"""Failures of command line tools whose output no other module reads, or of a tool that nothing identifies.

Rows: those of `_tools`; what else stands in such a text is an `unread` row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tool_errors import CLASSES
from ingestion.captures._tools import Stamp, failed_tool, whole

TOOL_ERROR = "kafka_tool_error"
KINDS = {TOOL_ERROR: "What a command line tool printed as it failed, where its output is of no other kind."}
LOG_BESIDE = True
# Tools whose failures are captures of their own output's kind.
ELSEWHERE = frozenset(CLASSES) - {"kafka-client-metrics", "kafka-cluster", "kafka-delegation-tokens", "kafka-dump-log"}


def kind_of(sample: str, name: str = "") -> str | None:
    tool = failed_tool(sample)
    return TOOL_ERROR if tool is not None and tool not in ELSEWHERE else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about)
    for line in whole(lines):
        row = stamp.common(line) or stamp.said(line)
        yield stamp.unread(line, "no line of a tool that failed") if row.kind == "remark" else row
