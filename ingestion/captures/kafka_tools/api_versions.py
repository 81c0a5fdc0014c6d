"""`kafka-broker-api-versions`: which requests each broker understands, which shows its release.

Rows (beside those of `_tools`):

- `broker`: node_id, host, port, rack, error;
- `api_version`: node_id, api_name, api_key, minimum_version, maximum_version, usable_version (left out where the tool cannot use it), is_supported.

Form: BrokerApiVersionsCommand of 0.10 to 4.x.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, mostly, number, significant, whole

API_VERSIONS = "kafka_api_versions"
KINDS = {API_VERSIONS: "Versions of requests that each broker understands, as kafka-broker-api-versions prints them."}
LOG_BESIDE = True

BROKER = re.compile(
    r"^(?P<host>\S+):(?P<port>-?\d+) \(id: (?P<node_id>-?\d+) rack: (?P<rack>.*?)(?: isFenced: \w+)?\) -> (?:\(|ERROR: ?(?P<error>.*))\s*$",
    re.S,
)
VERSION = re.compile(
    r"^\s*(?P<api_name>\w+)\((?P<api_key>\d+)\): (?:(?P<minimum_version>\d+)(?: to (?P<maximum_version>\d+))? \[(?:usable: (?P<usable_version>\d+)|unusable: [^\]]*)\]|UNSUPPORTED),?\s*$"
)
END = re.compile(r"^\s*\)\s*$")


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    return (
        API_VERSIONS
        if (mostly(lines, any_of(BROKER, VERSION, END)) and any(BROKER.match(line) or VERSION.match(line) for line in lines))
        or failed_tool(sample) == "kafka-broker-api-versions"
        else None
    )


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp, node = Stamp(about, "kafka-broker-api-versions"), None
    for line in whole(lines):
        broker = BROKER.match(line.text)
        if broker:
            node = broker["node_id"]
            fields = broker.groupdict() | {"rack": None if broker["rack"] == "null" else broker["rack"]}
            yield stamp.row("broker", line, fields, number(node))
        elif not END.match(line.text):
            yield stamp.common(line) or row_of(node, line, stamp)


def row_of(node: str | None, line: Line, stamp: Stamp) -> Row:
    version = VERSION.match(line.text)
    if not version:
        return stamp.unread(line, "no line of kafka-broker-api-versions")
    fields = version.groupdict() | {"node_id": node, "is_supported": "true" if version["minimum_version"] else "false"}
    fields["maximum_version"] = version["maximum_version"] or version["minimum_version"]
    return stamp.row("api_version", line, fields, number(node))
