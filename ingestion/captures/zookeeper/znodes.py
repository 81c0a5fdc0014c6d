"""Nodes of ZooKeeper: `get`, `stat` and `ls` in zkCli and zookeeper-shell, with what Kafka keeps in them.

Rows:
- `znode`: path, data, created_at, modified_at (created_printed, modified_printed where the letters of the zone mean several), czxid,
  mzxid, pzxid, children_version, data_version, acl_version, ephemeral_owner (0x0: none), data_length, children; of what Kafka keeps
  there: broker_id, controller_epoch, topic_name, partition_id, leader_id, leader_epoch, isr, host, port, endpoints, said_at (the
  timestamp in the data);
- `znode_children`: path, children (comma-separated);
- `broker_listed`: broker_id, for each child of /brokers/ids.

An answer without its command has no path.

Sources: `StatPrinter` of ZooKeeper's client, Kafka's `ZkData`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, at_millis, command_of, date_of, lines_in, mostly, zone_doubt
from ingestion.reading import linear

KINDS = {"zookeeper_nodes": "Nodes of ZooKeeper with their data and their stat, as zkCli prints them."}
ZK_PROMPT = re.compile(r"\[zk: (?P<server>[^()\]]*)\((?P<state>[A-Z_]+)\) \d+\] ?(?P<text>.*)")
ZK_COMMAND = re.compile(r"(?:.*\s)?(?P<verb>get|stat|ls|ls2|getData)\s+(?:-\w\s+)*(?P<path>/\S*)(?:\s+(?:true|watch|-\w))?\s*\"?")
STAT = linear.for_lines(
    r"(?P<name>cZxid|ctime|mZxid|mtime|pZxid|cversion|dataVersion|aclVersion|ephemeralOwner|dataLength|numChildren) = (?P<value>.*?)\s*"
)
STAT_KEYS = {
    "cZxid": "czxid", "ctime": "created_at", "mZxid": "mzxid", "mtime": "modified_at", "pZxid": "pzxid", "cversion": "children_version", "dataVersion": "data_version",
    "aclVersion": "acl_version", "ephemeralOwner": "ephemeral_owner", "dataLength": "data_length", "numChildren": "children",
}  # fmt: skip
CHILDREN = re.compile(r"\[(?P<children>[^\[\]]*)\]\s*")
NOISE = re.compile(r"Connecting to .*|Welcome to ZooKeeper!|JLine support is (?:en|dis)abled|WATCHER::|WatchedEvent state:.*")
# Log lines that zkCli prints along with its answers.
LOG = re.compile(r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\]) .*")
STATE_PATH = re.compile(r"/brokers/topics/(?P<topic_name>[^/]+)/partitions/(?P<partition_id>\d+)/state\Z")
BROKER_ID = re.compile(r"(?<![^,\s])\d{1,9}(?![^,\s])")
BROKER_PATH = re.compile(r"/brokers/ids/(?P<broker_id>\d+)\Z")


def kind_of(sample: str, name: str) -> str | None:
    """By the stat block, the prompts of zkCli, or the event that its client prints when it has connected."""
    lines = lines_in(sample)
    if re.search(r"^cZxid = 0x", sample, re.M) or any(ZK_PROMPT.fullmatch(line) and ZK_COMMAND.fullmatch(line) for line in lines):
        return "zookeeper_nodes" if mostly(lines, node_line, 0.6) else None
    # From ZooKeeper 3.5 on `zookeeper-shell.sh HOST get PATH` prints the data without a stat.
    if re.search(r"^WatchedEvent state:", sample, re.M) and mostly(lines, node_line, 0.9) and not LOG.fullmatch(lines[-1]):
        return "zookeeper_nodes"
    return None


def node_line(text: str) -> bool:
    return bool(
        STAT.fullmatch(text)
        or ZK_PROMPT.fullmatch(text)
        or CHILDREN.fullmatch(text)
        or NOISE.fullmatch(text)
        or LOG.fullmatch(text)
        or text.startswith(("{", '"'))
        or re.fullmatch(r"-?\d+|null", text.strip())
    )


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    verb, path, piece, in_stat = "", None, list[Line](), False
    for line in lines:
        text = line.text.rstrip()
        prompt = ZK_PROMPT.fullmatch(text)
        command = None if prompt else command_of(text)
        typed = ZK_COMMAND.fullmatch(prompt["text"] if prompt else command.text if command else "")
        stat = STAT.fullmatch(text)
        if prompt or command or (in_stat and not stat and text.strip()):
            yield from node_rows(page, verb, path, piece)
            piece, in_stat = [], False
            if prompt or command:
                verb, path = (typed["verb"], typed["path"].rstrip('"')) if typed else ("", None)
                page.command = command
                piece = [line]
                continue
            verb, path = "", None
        if NOISE.fullmatch(text) or LOG.fullmatch(text) or not text.strip():
            continue
        in_stat = in_stat or stat is not None
        piece.append(line)
    yield from node_rows(page, verb, path, piece)


def node_rows(page: Page, verb: str, path: str | None, piece: list[Line]) -> Iterator[Row]:
    """The row of one command with its answer."""
    answer = [line for line in piece if not ZK_PROMPT.fullmatch(line.text.rstrip()) and command_of(line.text) is None]
    if not answer:
        return
    raw_text = "\n".join(line.text for line in piece)
    listed = [CHILDREN.fullmatch(line.text) for line in answer]
    if any(listed) and (verb.startswith("ls") or len(answer) == 1):
        children = next(match for match in listed if match)["children"]
        yield page.row(
            "znode_children",
            piece[0],
            {"path": path, "children": ",".join(part.strip() for part in children.split(",") if part.strip())},
            raw_text=raw_text,
        )
        if (path or "").endswith("/brokers/ids"):
            yield from (
                page.row("broker_listed", piece[0], {"broker_id": broker_id}, raw_text=raw_text)
                for broker_id in BROKER_ID.findall(children)
            )
        return
    fields: dict[str, str | None] = {"path": path}
    data, warnings = [], tuple[str, ...]()
    for line in answer:
        stat = STAT.fullmatch(line.text.rstrip())
        if stat is None:
            data.append(line.text)
            continue
        value = stat["value"]
        if stat["name"] in ("ctime", "mtime"):
            at, doubt = date_of(value, page.about.zone), zone_doubt(value, page.about.zone)
            if at is None or doubt:
                fields["created_printed" if stat["name"] == "ctime" else "modified_printed"] = value
                warnings = (doubt or "a time that cannot be read",)
                continue
            value = at.isoformat()
        fields[STAT_KEYS[stat["name"]]] = value
    if len(fields) == 1 and not (data and (path or data[0].startswith("{"))):
        yield from unread(answer, "no answer of zkCli")
        return
    fields["data"] = "\n".join(data) or None
    yield page.row("znode", piece[0], fields | kafka_fields(path, fields["data"] or ""), *warnings, raw_text=raw_text)


def kafka_fields(path: str | None, data: str) -> dict[str, str | None]:
    """What Kafka says in the data of its nodes; without a path the keys of the data tell which node it is."""
    fields: dict[str, str | None] = {}
    state = STATE_PATH.search(path or "")
    broker = BROKER_PATH.search(path or "")
    fields |= state.groupdict() if state else broker.groupdict() if broker else {}
    if (path or "").endswith("/controller_epoch") and data.strip().isdigit():
        return fields | {"controller_epoch": data.strip()}
    try:
        said = json.loads(data)
    except ValueError:
        return fields
    if not isinstance(said, dict):
        return fields
    names = {
        "brokerid": "broker_id",
        "controller_epoch": "controller_epoch",
        "leader": "leader_id",
        "leader_epoch": "leader_epoch",
        "host": "host",
        "port": "port",
        "kraftControllerEpoch": "kraft_controller_epoch",
    }
    fields |= {key: str(said[name]) for name, key in names.items() if said.get(name) is not None}
    for name in ("isr", "endpoints"):
        if isinstance(said.get(name), list):
            fields[name] = ",".join(str(part) for part in said[name])
    if str(said.get("timestamp", "")).isdigit():
        fields["said_at"] = at_millis(str(said["timestamp"]))
    return fields
