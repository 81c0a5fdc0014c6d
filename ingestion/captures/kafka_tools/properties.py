"""Files of properties: of brokers, clients, Connect, ZooKeeper and log4j, and a log directory's `meta.properties`.

Rows:

- `setting`: name, value (escapes and broken lines undone); of a name that is set twice the last one counts, as in Java;
- `meta_properties`: cluster_id, node_id, directory_id, version (one row of a `meta.properties`, V0 with `broker.id`, V1 with `node.id`).

Comments are decoration, except for the one with the day that Java writes on top of `meta.properties`: it is the text's time.  The
node is the one that the file names.  Also read: `name = value` below `KafkaConfig values:`, `name: value` of a YAML block.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import LOG_LINE, Stamp, number

SERVER, CONSUMER, PRODUCER, CLIENT = (
    "kafka_server_properties",
    "kafka_consumer_properties",
    "kafka_producer_properties",
    "kafka_client_properties",
)
CONNECT, ZOOKEEPER, META, LOG4J = "kafka_connect_properties", "zookeeper_properties", "kafka_meta_properties", "log4j_properties"
KINDS = {
    SERVER: "A broker's or a KRaft node's server.properties.",
    CONSUMER: "A consumer's properties.",
    PRODUCER: "A producer's properties.",
    CLIENT: "A client's properties that are neither a consumer's nor a producer's alone.",
    CONNECT: "A Connect worker's properties.",
    ZOOKEEPER: "zoo.cfg or zookeeper.properties.",
    META: "meta.properties of a log directory: cluster, node and directory.",
    LOG4J: "A log4j configuration in properties.",
}
# Settings have no time of their own.
HOLDS_AT_ANY_TIME = True
OF_NODE = frozenset({SERVER, META, LOG4J})
OF_OTHERS = frozenset(KINDS) - OF_NODE

# Settings that only one of the programs has; where several kinds are named, most names win.
MARKS = {
    SERVER: {
        "broker.id", "node.id", "process.roles", "log.dir", "log.dirs", "listeners", "advertised.listeners", "controller.quorum.voters",
        "controller.listener.names", "controller.quorum.bootstrap.servers", "num.network.threads", "num.io.threads", "num.partitions", "num.replica.fetchers",
        "default.replication.factor", "min.insync.replicas", "offsets.topic.replication.factor", "offsets.topic.num.partitions", "log.retention.hours",
        "log.retention.bytes", "log.retention.check.interval.ms", "log.segment.bytes", "log.cleaner.enable", "auto.create.topics.enable", "delete.topic.enable",
        "unclean.leader.election.enable", "auto.leader.rebalance.enable", "replica.lag.time.max.ms", "replica.lag.max.messages", "inter.broker.protocol.version",
        "inter.broker.listener.name", "message.max.bytes", "queued.max.requests", "broker.rack", "num.recovery.threads.per.data.dir", "host.name",
        "transaction.state.log.replication.factor", "transaction.state.log.min.isr", "socket.request.max.bytes", "log.flush.interval.messages",
    },
    CONSUMER: {
        "group.id", "group.instance.id", "auto.offset.reset", "enable.auto.commit", "auto.commit.enable", "auto.commit.interval.ms", "max.poll.records",
        "max.poll.interval.ms", "session.timeout.ms", "heartbeat.interval.ms", "key.deserializer", "value.deserializer", "partition.assignment.strategy",
        "rebalance.max.retries", "rebalance.backoff.ms", "fetch.message.max.bytes", "fetch.min.bytes", "fetch.max.wait.ms", "fetch.wait.max.ms", "offsets.storage",
        "dual.commit.enabled", "consumer.timeout.ms", "max.partition.fetch.bytes", "isolation.level", "consumer.id",
    },
    PRODUCER: {
        "acks", "key.serializer", "value.serializer", "linger.ms", "batch.size", "buffer.memory", "max.in.flight.requests.per.connection", "enable.idempotence",
        "transactional.id", "delivery.timeout.ms", "max.block.ms", "metadata.broker.list", "request.required.acks", "producer.type", "serializer.class",
        "batch.num.messages", "queue.buffering.max.ms", "message.send.max.retries", "partitioner.class",
    },
    CLIENT: {"bootstrap.servers", "security.protocol", "sasl.mechanism", "sasl.jaas.config", "client.id"},
    CONNECT: {
        "offset.storage.topic", "config.storage.topic", "status.storage.topic", "key.converter", "value.converter", "offset.storage.file.filename", "plugin.path",
        "offset.flush.interval.ms", "rest.advertised.host.name",
    },
    ZOOKEEPER: {
        "tickTime", "initLimit", "syncLimit", "dataDir", "dataLogDir", "clientPort", "clientPortAddress", "maxClientCnxns", "autopurge.purgeInterval",
        "autopurge.snapRetainCount", "4lw.commands.whitelist", "admin.enableServer", "minSessionTimeout", "maxSessionTimeout", "standaloneEnabled",
    },
    LOG4J: {"log4j.rootLogger", "log4j.rootCategory", "rootLogger.level", "log4j.logger.kafka", "log4j.appender.stdout", "log4j.appender.kafkaAppender"},
}  # fmt: skip
META_NAMES = {
    "version": "version",
    "cluster.id": "cluster_id",
    "broker.id": "node_id",
    "node.id": "node_id",
    "directory.id": "directory_id",
}
SETTING = re.compile(r"^\s*(?:- )?(?P<name>(?:\\.|[\w$-])(?:\\.|[\w.$/-])*)\s*(?:=|(?<=\w):(?=\s|$))\s?\s*(?P<value>.*?)\s*$")
PLAIN = re.compile(
    r"^(?!.* sensitive=(?:true|false)(?: |$))(?:\s*+[A-Za-z0-9][\w.$/-]*+\s*+=|^\s*+[a-z]++[._][\w-]++(?:\.[\w-]++)*+:(?:\s|$))"
)
COMMENT = re.compile(r"^\s*[#!]")
HEADING = re.compile(r"^\s*\w+Config values:\s*$|^\s*(?:config|spec|data|kafka):\s*[|>]?$|^---$")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
STAMPED = re.compile(r"^#\w{3} (?P<day>\w{3} \d\d \d\d:\d\d:\d\d) (?P<zone>[\w:+-]+) (?P<year>\d{4})\s*$")
UTC_NAMES = {"UTC", "GMT", "Z"}


def kind_of(sample: str, name: str = "") -> str | None:
    # A log prints whole configurations, too.
    if any(LOG_LINE.match(line) or ("Config values:" in line and not HEADING.match(line)) for line in sample.split("\n")):
        return None
    lines = [line for line in logical(sample.split("\n")) if line.strip() and not COMMENT.match(line) and not HEADING.match(line)]
    names = [found["name"] for line in lines if PLAIN.match(line) and (found := SETTING.match(line))]
    if not names or 5 * len(names) < 4 * len(lines):
        return None
    if set(names) <= META_NAMES.keys() and "version" in names and len(set(names)) > 1:
        return META
    # The answer to a ZooKeeper server's command conf has the server's number in it.
    if "serverId" in names:
        return None
    counts = {kind: len(marks.intersection(names)) for kind, marks in MARKS.items()}
    counts[LOG4J] += sum(one.startswith(("log4j.", "appender.", "logger.")) for one in names)
    counts[CLIENT] = min(counts[CLIENT], 1 if counts[CONSUMER] or counts[PRODUCER] or counts[CONNECT] or counts[SERVER] else counts[CLIENT])
    if counts[CONSUMER] and counts[PRODUCER] and not counts[SERVER] and not counts[CONNECT]:
        return CLIENT
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about)
    settings: list[tuple[Line, str, str]] = []
    others: list[Line] = []
    for line, text in joined(lines):
        found = SETTING.match(text)
        if COMMENT.match(text):
            stamp.says(written_at(line.text, about))
        elif found:
            settings.append((line, unescaped(found["name"]), unescaped(found["value"])))
        elif text.strip() and not HEADING.match(text):
            others.append(line)
    node_id = next(
        (number(value) for name in ("node.id", "broker.id") for _, named, value in settings if named == name and number(value) is not None),
        None,
    )
    if kind == META:
        fields = {META_NAMES[name]: value for _, name, value in settings if name in META_NAMES}
        first = settings[0][0].offset if settings else 0
        yield stamp.row("meta_properties", Line(first, "\n".join(line.text for line, _, _ in settings)), fields, node_id)
    else:
        for line, name, value in settings:
            yield stamp.row("setting", line, {"name": name, "value": value}, node_id)
    for line in others:
        yield stamp.common(line) or stamp.unread(line, "no setting")


def joined(lines: Iterable[Line]) -> Iterator[tuple[Line, str]]:
    """Settings that are broken over several lines as one: as printed, and in one line."""
    held: Line | None = None
    text = ""
    for line in lines:
        if held is None:
            held, text = line, line.text
        else:
            held, text = Line(held.offset, f"{held.text}\n{line.text}"), text[:-1] + line.text.lstrip()
        if not goes_on(text):
            yield held, text
            held = None
    if held is not None:
        yield held, text


def logical(lines: list[str]) -> list[str]:
    return [text for _, text in joined(Line(0, text.rstrip("\r")) for text in lines)]


def goes_on(text: str) -> bool:
    """Whether a line ends with a backslash that is not escaped."""
    return not COMMENT.match(text) and (len(text) - len(text.rstrip("\\"))) % 2 == 1


def unescaped(text: str) -> str:
    """As Java reads it: `\\:` is a colon, `\\u00e4` a letter."""
    return ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 5 else ESCAPED.get(found[1], found[1]), text)


def written_at(comment: str, about: About) -> dt.datetime | None:
    """The time of `#Sat Nov 21 09:43:29 UTC 2026`; a zone by another name than UTC's is ambiguous and taken for the text's."""
    found = STAMPED.match(comment)
    if not found:
        return None
    try:
        local = dt.datetime.strptime(f"{found['day']} {found['year']}", "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return local.replace(tzinfo=dt.UTC if found["zone"] in UTC_NAMES else about.zone).astimezone(dt.UTC)
