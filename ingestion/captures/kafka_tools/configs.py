"""`kafka-configs --describe`: settings of topics, brokers, clients, users, groups and addresses.

Rows (beside those of `_tools`):

- `config`: entity_kind (topic, broker, user, client, ip, group, client_metrics, broker_logger), entity_name (`<default>` for all; a user
  with a client has both, joined by a comma as printed), config_name, config_value (left out where it prints null), is_sensitive, source
  (where the value in force comes from: the first synonym's, `DYNAMIC_TOPIC_CONFIG` …), synonyms (as printed, without braces), scope
  (all, dynamic, quota, scram, default);
- `config_entity`: entity_kind, entity_name, scope (the head over the settings; it may have none);
- `config_change`: entity_kind, entity_name (`Completed updating config …`).

Forms: one line per entity through ZooKeeper and for quotas (`Configs for topic 'x' are a=b,c=d`; 0.9 `Configs for topics:x are`), one
line per setting through the brokers (1.1 and later).  The node of a broker's setting is that broker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, mostly, number, significant, whole
from ingestion.reading import linear

CONFIGS = "kafka_configs"
KINDS = {CONFIGS: "Settings of topics, brokers, clients or users, as kafka-configs --describe prints them."}
LOG_BESIDE = True

HEAD = linear.for_lines(
    r"^\s*(?:(?P<scope>All|Dynamic|Default|Quota|SCRAM credential|Client metrics|Share group|Consumer group) configs|Configs|(?P<metrics>Client metrics)) for "
    r"(?P<entity>\S.*?) are(?::?\s*|\s+(?P<settings>[A-Za-z_][\w.$-]*=.*))$"
)
SETTING = linear.for_lines(
    r"^\s*(?P<name>[A-Za-z_][\w.$-]*)=(?P<value>.*) sensitive=(?P<sensitive>true|false)(?: synonyms=\{(?P<synonyms>.*)\})?\s*$"
)
BARE_SETTING = re.compile(r"^\s+(?P<name>[A-Za-z_][\w.$-]*)=(?P<value>.*)$")
CHANGED = re.compile(r"^Completed [Uu]pdating (?:default )?config (?:for entity: |for )?(?P<entity>.+?)\.?$")
SAID = re.compile(r"^(?:Error retrieving SCRAM credential configs|Warning: |WARNING: |Error: )")
ENTITY = re.compile(
    r"^(?:(?P<default>default |the default )?(?P<type>topics?|brokers?|broker-loggers?|clients?|client-id|users?|user-principal|ips?|groups?|client-metrics)\b"
    r"(?:\s+'(?P<quoted>[^']*)'|:(?P<old>\S+)| in the (?P<all>cluster)|\s+(?P<bare>\S+))?)$"
)
ENTITY_KINDS = {
    "topic": "topic",
    "broker": "broker",
    "broker-logger": "broker_logger",
    "client": "client",
    "client-id": "client",
    "user": "user",
    "user-principal": "user",
    "ip": "ip",
    "group": "group",
    "client-metrics": "client_metrics",
}
NEXT_SETTING = re.compile(r",\s*(?=[A-Za-z_][\w.$-]*=)")
NEXT_CREDENTIAL = re.compile(r",\s*(?=SCRAM-)")
OWN = any_of(HEAD, SETTING, BARE_SETTING, SAID)
SOURCE = re.compile(r"^([A-Z][A-Z_]+):")


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    if mostly(lines, CHANGED) or (any(entity_of(head["entity"]) for line in lines if (head := HEAD.match(line))) and mostly(lines, OWN)):
        return CONFIGS
    return CONFIGS if mostly(lines, SETTING) or failed_tool(sample) == "kafka-configs" else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-configs")
    entity: dict[str, str | None] = {}
    for line in whole(lines):
        head = HEAD.match(line.text)
        if head:
            entity = entity_of(head["entity"]) | {"scope": scope_of(head)}
            yield from head_rows(head, line, entity, stamp)
            continue
        yield stamp.common(line) or row_of(line, entity, stamp)


def head_rows(head: re.Match[str], line: Line, entity: dict[str, str | None], stamp: Stamp) -> Iterator[Row]:
    """The entity's own row, and those of the settings that are on the same line."""
    yield stamp.row("config_entity", line, entity, node_of(entity))
    settings = (head["settings"] or "").strip()
    for part in (NEXT_CREDENTIAL if entity["scope"] == "scram" else NEXT_SETTING).split(settings) if settings else ():
        name, _, value = part.partition("=")
        yield stamp.row("config", line, entity | {"config_name": name.strip(), "config_value": value.strip()}, node_of(entity))


def row_of(line: Line, entity: dict[str, str | None], stamp: Stamp) -> Row:
    """The row of one line that is not a head."""
    setting = SETTING.match(line.text) or (BARE_SETTING.match(line.text) if entity else None)
    if setting:
        known = setting.groupdict()
        fields = entity | {"config_name": known["name"], "config_value": None if known["value"] == "null" else known["value"]}
        fields |= {"is_sensitive": known.get("sensitive"), "synonyms": known.get("synonyms")}
        source = SOURCE.match(known.get("synonyms") or "")
        fields["source"] = source[1] if source else None
        return stamp.row("config", line, fields, node_of(entity), () if entity else ("the owner was named above this part",))
    changed = CHANGED.match(line.text)
    if changed:
        return stamp.row("config_change", line, entity_of(changed["entity"]))
    return stamp.said(line) if SAID.match(line.text) else stamp.unread(line, "no line of kafka-configs")


def scope_of(head: re.Match[str]) -> str | None:
    scope = head["scope"] or head["metrics"]
    return {"SCRAM credential": "scram"}.get(scope, scope.split(" ", maxsplit=1)[0].lower()) if scope else None


def entity_of(text: str) -> dict[str, str | None]:
    """entity_kind and entity_name of `topic 'x'`, `topics:x`, `broker 1`, `the default client-id`, `user-principal 'a', client-id 'b'`."""
    found = [ENTITY.match(part.strip()) for part in re.split(r",\s+(?=(?:the )?(?:default )?(?:client-id|user))", text)]
    kinds, names = [], []
    for part in found:
        if part is None:
            return {}
        kinds.append(ENTITY_KINDS.get(part["type"], ENTITY_KINDS.get(part["type"].removesuffix("s"), part["type"])))
        named = part["quoted"] if part["quoted"] is not None else part["old"] or part["bare"]
        names.append("<default>" if part["default"] or part["all"] or named in (None, "<default>") else named)
    return {"entity_kind": ",".join(kinds), "entity_name": ",".join(names)}


def node_of(entity: dict[str, str | None]) -> int | None:
    return number(entity.get("entity_name")) if entity.get("entity_kind") in ("broker", "broker_logger") else None
