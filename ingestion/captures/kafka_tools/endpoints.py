"""`kafka-cluster list-endpoints`: where the brokers or controllers of a cluster answer, and which brokers are fenced.

Rows (beside those of `_tools`):

- `endpoint`: node_id, host, port, rack, endpoint_type (broker, controller), is_fenced (of brokers).

Form: a table with a header, ClusterTool of 3.9 to 4.x (KIP-1073); a broker without a rack prints null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, number, significant

ENDPOINTS = "kafka_endpoints"
KINDS = {ENDPOINTS: "Endpoints of brokers or controllers, as kafka-cluster list-endpoints prints them."}
LOG_BESIDE = True

HEADER = re.compile(r"^\s*ID\s+HOST\s+PORT\s+RACK\s+(?:STATE\s+)?ENDPOINT_TYPE\s*$")
ENDPOINT = re.compile(
    r"^\s*(?P<node_id>\d+)\s+(?P<host>\S+)\s+(?P<port>\d+)\s+(?P<rack>\S+)\s+(?:(?P<state>fenced|unfenced)\s+)?(?P<endpoint_type>broker|controller)\s*$"
)


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    return ENDPOINTS if any(HEADER.match(line) for line in lines[:5]) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-cluster")
    for line in lines:
        found = ENDPOINT.match(line.text)
        if found:
            fields = {name: found[name] for name in ("node_id", "host", "port", "endpoint_type")}
            fields |= {"rack": None if found["rack"] == "null" else found["rack"]}
            fields |= {"is_fenced": {"fenced": "true", "unfenced": "false"}.get(found["state"] or "")}
            yield stamp.row("endpoint", line, fields, number(found["node_id"]))
        elif line.text.strip() and not HEADER.match(line.text):
            yield stamp.common(line) or stamp.unread(line, "no line of kafka-cluster list-endpoints")
