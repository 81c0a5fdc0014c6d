"""Keys and payloads of Kafka's own topics, as the decoders of `kafka-dump-log` print them, as fields.

`key_kind` says what a record is, whatever the release prints: offset_commit, group_metadata, transaction_metadata.
"""

from __future__ import annotations

import json
import re

from ingestion.captures._tools import flat

INTERNAL = re.compile(r"^(?:__\w+|@metadata)$")
OLD_OFFSET = re.compile(r"^offset::(?P<group>.*):(?P<topic>[\w.-]+):(?P<partition>\d+)$", re.S)
OLD_OFFSET_VALUE = re.compile(r"^(?P<offset>-?\d+)(?::(?P<metadata>.*))?$", re.S)
OLD_GROUP = re.compile(r"^metadata::(?P<group>.*)$", re.S)
OLD_GROUP_VALUE = re.compile(r"^(?P<protocol_type>[\w-]*):(?P<protocol>[^:]*):(?P<generation>-?\d+):(?P<assignment>\{.*\})$", re.S)
OFFSET = re.compile(r"^offset_commit::group=(?P<group>.*),partition=(?P<topic>[\w.-]+)-(?P<partition>\d+)$", re.S)
OFFSET_VALUE = re.compile(r"^offset=(?P<offset>-?\d+)(?:,metadata=(?P<metadata>.*))?$", re.S)
GROUP = re.compile(r"^group_metadata::group=(?P<group>.*)$", re.S)
GROUP_VALUE = re.compile(
    r"^protocolType=(?P<protocol_type>[^,]*),protocol=(?P<protocol>[^,]*),generation=(?P<generation>-?\d+),assignment=(?P<assignment>\{.*\})$",
    re.S,
)
TRANSACTION = re.compile(r"^(?:transaction_metadata::)?transactionalId=(?P<transactional_id>.*)$", re.S)
TRANSACTION_VALUE = re.compile(
    r"^producerId:(?P<producer_id>-?\d+),producerEpoch:(?P<producer_epoch>-?\d+),state=(?P<state>\w+),partitions=(?P<partitions>.*),"
    r"txnLastUpdateTimestamp=(?P<last_update_timestamp>-?\d+),txnTimeoutMs=(?P<timeout_ms>-?\d+)$",
    re.S,
)
TEXTS = (
    ("offset_commit", OFFSET, OFFSET_VALUE),
    ("offset_commit", OLD_OFFSET, OLD_OFFSET_VALUE),
    ("group_metadata", GROUP, GROUP_VALUE),
    ("group_metadata", OLD_GROUP, OLD_GROUP_VALUE),
    ("transaction_metadata", TRANSACTION, TRANSACTION_VALUE),
)
# By the names in a key: its number means something else in each of Kafka's topics.
KEY_KINDS = {
    frozenset({"group", "topic", "partition"}): "offset_commit",
    frozenset({"group"}): "group_metadata",
    frozenset({"transactionalId"}): "transaction_metadata",
}
TOMBSTONE = "<DELETE>"


def decoded(key: str | None, payload: str | None, is_control: bool, topic: str | None = None) -> dict[str, str | None]:
    """Fields of a record's key and payload: decoded where a decoder was at work, else as they were printed."""
    if is_control:
        return flat(json_of(payload), "value_")
    plain = {"key": key, "payload": None if payload == TOMBSTONE else payload, "is_tombstone": "true" if payload == TOMBSTONE else None}
    if topic is not None and not INTERNAL.match(topic):
        return plain
    for kind, key_form, value_form in TEXTS:
        found = key_form.match(key) if key is not None else None
        if found:
            value = value_form.match(payload) if payload is not None else None
            fields = {f"key_{name}": part for name, part in found.groupdict().items()} | {
                "key_kind": kind,
                "is_tombstone": plain["is_tombstone"],
            }
            return fields | (
                {f"value_{name}": part for name, part in value.groupdict().items()} if value else {"payload": plain["payload"]}
            )
    return from_json(key, payload) or plain


def from_json(key: str | None, payload: str | None) -> dict[str, str | None]:
    """`{"type":"1","data":{…}}` and `{"version":"3","data":{…}}`, of the metadata log both in one; of a group in 1.0 to 2.1
    `{"metadata":"g"}`; nothing for other texts."""
    keyed, valued = json_of(key), json_of(payload)
    if isinstance(keyed, dict) and set(keyed) == {"metadata"}:
        group = {"key_kind": "group_metadata", "key_group": str(keyed["metadata"])}
        return group | {name.replace("generation_id", "generation"): part for name, part in flat(valued or {}, "value_").items()}
    if not any(isinstance(one, dict) and isinstance(one.get("data"), dict) and {"type", "version"} & one.keys() for one in (keyed, valued)):
        return {}
    fields: dict[str, str | None] = {"is_tombstone": "true" if payload == TOMBSTONE else None}
    for prefix, one, text in (("key_", keyed, key), ("value_", valued, payload)):
        if not isinstance(one, dict):
            fields["key" if prefix == "key_" else "payload"] = None if text == TOMBSTONE else text
            continue
        fields |= flat({name: part for name, part in one.items() if name != "data"}, prefix) | flat(one.get("data") or {}, prefix)
    if isinstance(keyed, dict) and isinstance(keyed.get("data"), dict):
        fields["key_kind"] = KEY_KINDS.get(frozenset(keyed["data"]))
    return fields


def json_of(text: str | None) -> object:
    if text is None or not text.startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
