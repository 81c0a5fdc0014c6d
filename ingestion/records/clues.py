"""Finds in log lines which node wrote them, and its time zone.  No Spark here."""

from __future__ import annotations

import datetime as dt
import re

# The node in the prefix of a line, in the configuration dump, and in texts that only the node itself prints.  Each pattern begins with fixed text,
# which `re` finds fast.  Before a message stands a level, a logger, the place in the source, or the mark of a rewritten line.
BEFORE = rb"(?:(?<=[A-Z]{4} TEXT)|(?<=[\d\]] - TEXT)|(?<=\x02TEXT)|(?<=[\w$\]]: TEXT)|(?<=[A-Za-z$] - TEXT))"
# A colon or a dash may stand anywhere within a message: before it there has to be a level with a logger, as in Cloudera's layouts and in log4j's usual one.
DOUBTFUL = re.compile(rb".{2}: |[A-Za-z$] - ", re.S)
LOGGER_BEFORE = re.compile(rb"(?:\A|\s)[A-Z]{4,5} +(?:[\w.$]+: (?:\[[^\[\]\n]*\]: )?|\[[^\[\]\n]*\] +[\w.$]+ - )\Z")
LONGEST_HEAD = 300


def _message(begin: bytes, rest: bytes) -> re.Pattern[bytes]:
    """A pattern of a message that begins with some bytes."""
    return re.compile(re.escape(begin) + BEFORE.replace(b"TEXT", re.escape(begin)) + rest)


NODE = (
    _message(
        b"[",
        rb"(?:(?:[A-Za-z]+ )?(?:[A-Za-z]+ |(?:SocketServer listener|DynamicConfigPublisher node)Type=\w+,? |(?:Partition |(?:Metadata|Raft)Log partition=)[\w.-]+,? )?"
        rb"(?:id|broker|brokerId|nodeId|replicaId|controllerId)=(\d{1,9})[\], ]"
        rb"|(?:Controller|Kafka Server|GroupCoordinator|MetadataLoader|SnapshotGenerator|StandardAuthorizer|Topic Deletion Manager|(?:\w+ )?ProducerId Manager"
        rb"|Transaction (?:Coordinator|State Manager|Marker Channel Manager|Marker Request Completion Handler)"
        rb"|[A-Za-z][\w -]* on (?:[Bb]roker|[Cc]ontroller|Node)|[A-Z]\w+Listener on) (\d{1,9})(?:[\]:]| epoch )"
        rb"|(?:(?:zk-broker|broker|controller|KafkaApi|AclApis-broker|AclApis-controller|Controller|AddPartitionsToTxnSenderThread|delete-topics-thread"
        rb"|FetchRequestPurgatory|ProducerRequestPurgatory)-|RemoteLogManager=|ConfigAdminManager\[nodeId=)(\d{1,9})(?:[\] ]|-to-))",
    ),
    re.compile(rb"\n\t(?:broker|node)\.id = (\d{1,9})\r?\n"),
    _message(b"Property broker.id is overridden to ", rb"(\d{1,9})\b"),
    _message(b"Registered broker ", rb"(\d{1,9}) at path "),
    _message(b"Partition ", rb"\S+ on broker (\d{1,9}): "),
    _message(b"Broker ", rb"(\d{1,9})(?:[\]:]| epoch )"),
    _message(b"Controller ", rb"(\d{1,9})(?:[\]:]| epoch )"),
)
CLOCK = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[,.](\d{3}))?")


def _first(pattern: re.Pattern[bytes], text: bytes, start: int) -> re.Match[bytes] | None:
    """The first match of a pattern that is the beginning of a message."""
    return next((match for match in pattern.finditer(text, start) if _begins_message(text, match.start())), None)


def _begins_message(text: bytes, at: int) -> bool:
    """Whether what is before a place may be the head of a line."""
    if not DOUBTFUL.fullmatch(text, max(at - 4, 0), at):
        return True
    return LOGGER_BEFORE.search(text[max(text.rfind(b"\n", 0, at) + 1, at - LONGEST_HEAD) : at]) is not None


def first_node(text: bytes, start: int = 0) -> tuple[int, int] | None:
    """(offset, node) where a text first names the node that writes it, from an offset on."""
    found = [match for match in (_first(pattern, text, start) for pattern in NODE) if match]
    match = min(found, key=lambda match: match.start(), default=None)
    return (match.start(), int(match[match.lastindex or 0])) if match else None


def node_at(text: bytes, at: int) -> tuple[int, int] | None:
    """The span of the node in a message that begins at an offset, if it names the node that writes it."""
    match = next((match for match in (pattern.match(text, at) for pattern in NODE) if match and _begins_message(text, at)), None)
    return match.span(match.lastindex or 0) if match else None


def node_number(digits: str | None) -> int | None:
    """The node that a path names; None if it names none, or has more digits than Kafka's ids."""
    return int(digits) if digits and len(digits) < 10 else None


def clock_millis(text: bytes) -> int | None:
    """'2020-05-15 12:00:01,123…' (or T between, or no milliseconds) as milliseconds on the local clock; None if it is not a time."""
    match = CLOCK.match(text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second, millis = (int(part or 0) for part in match.groups())
        return (dt.datetime(year, month, day, hour, minute, second) - dt.datetime(1970, 1, 1)) // dt.timedelta(milliseconds=1) + millis
    except ValueError:
        return None


def zone_between(local: int, utc: int) -> str | None:
    """'+05:30' if a local clock differs from UTC by whole quarters of an hour, within a minute (both in ms); else None."""
    quarters = round((local - utc) / 900_000)
    if abs(local - utc - quarters * 900_000) >= 60_000 or abs(quarters) > 56:
        return None
    return f"{'-' if quarters < 0 else '+'}{abs(quarters) // 4:02}:{abs(quarters) % 4 * 15:02}"
