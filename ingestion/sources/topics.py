"""Log lines that a shipper puts into a topic of Kafka: kafka://host:9092,host2:9092/topic.

The messages that were put into a partition since the last run become a file named kafka://<cluster id>/<topic>/<partition>/<first offset>-<end
offset>, in which a message is a line (or lines: what Filebeat, Fluent Bit and Vector make of a stack trace is one message, and one of OpenTelemetry's
has many records).  The last of these names in `bronze.sources`, which are committed with the records, says how far a partition has been read: each
message counts once, and no consumer group remembers anything.  The last record of each partition is left for the next run until nothing was put for a
while, because more of it may come.

CHRONICLE_KAFKA_SETTINGS names a file of librdkafka's settings (`security.protocol=SASL_SSL`, …).
"""

from __future__ import annotations

import contextlib
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ingestion.reading.objects import CannotReach
from ingestion.reading.settings import settings_lines
from ingestion.sources.otlp import lines_of
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Found

URI = re.compile(r"kafka://(?P<servers>[^/]+)/(?P<topic>[\w.-]+)/?", re.ASCII)
NAME = re.compile(r"kafka://(?P<cluster>[^/]+)/(?P<topic>[^/]+)/(?P<partition>\d+)/(?P<first>\d+)-(?P<end>\d+)", re.ASCII)
SETTINGS = "CHRONICLE_KAFKA_SETTINGS"
# Bytes of a partition in one file, and messages that are fetched at once.
FILE_BYTES, AT_ONCE = 64 << 20, 5_000
WAIT_SECONDS = 30.0
LOST = "its messages were deleted by the topic's retention before they were read"


def ends(names: Iterable[str]) -> dict[tuple[str, str, int], int]:
    """Cluster, topic and partition → offset up to which it was read.  `names`: of all files that were read."""
    found: dict[tuple[str, str, int], int] = {}
    for name in names:
        if (parts := NAME.fullmatch(name)) is not None:
            key = parts["cluster"], parts["topic"], int(parts["partition"])
            found[key] = max(found.get(key, 0), int(parts["end"]))
    return found


@dataclass
class Lines:
    """Messages as the lines of a file.  `begins`: where each begins, `offsets`: theirs, `put_at`: when the last was put, seconds since 1970."""

    text: bytearray = field(default_factory=bytearray)
    begins: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    put_at: float = 0.0

    def add(self, offset: int, value: bytes, put_at: float) -> None:
        self.begins.append(len(self.text))
        self.offsets.append(offset)
        value = lines_of(value)
        self.text += value if value.endswith(b"\n") else value + b"\n"
        self.put_at = max(self.put_at, put_at)

    def until(self, end: int) -> tuple[bytes, int | None]:
        """The messages that end at or before a byte, and the offset of the first that does not (None: all do)."""
        if end >= len(self.text):
            return bytes(self.text), None
        number = bisect_right(self.begins, end) - 1
        return bytes(self.text[: self.begins[number]]), self.offsets[number]


class Topic:
    """A topic, as it is now.  Raises CannotReach."""

    def __init__(self, uri: str) -> None:
        given = URI.fullmatch(uri)
        if given is None:
            raise CannotReach(f"{uri}: no topic; use kafka://HOST:PORT,…/TOPIC")
        try:
            from confluent_kafka import Consumer
        except ImportError:
            raise CannotReach(f"{uri}: to read it, install confluent-kafka (pip install confluent-kafka)") from None
        self.uri, self.name, self.said = uri, given["topic"], ""
        # The group is never joined, and stores no offsets.
        own = {
            "bootstrap.servers": given["servers"],
            "group.id": "kafka-chronicle",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
        own |= {"auto.offset.reset": "error", "error_cb": self._hear, "log_level": 0}
        self.consumer = Consumer({**own, **given_settings()})
        with self._faults():
            known = self.consumer.list_topics(self.name, timeout=WAIT_SECONDS)
        topic = known.topics[self.name]
        if topic.error is not None or not topic.partitions:
            raise CannotReach(f"{uri}: {topic.error.str() if topic.error else 'the topic has no partitions'}")
        self.cluster, self.partitions = str(known.cluster_id), sorted(topic.partitions)

    def _hear(self, error: Any) -> None:
        self.said = error.str()

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        from confluent_kafka import KafkaException

        try:
            yield
        except KafkaException as error:
            raise CannotReach(f"{self.uri}: {error.args[0].str()}{f' ({self.said})' if self.said else ''}") from None

    def __enter__(self) -> Topic:
        return self

    def __exit__(self, *error: object) -> None:
        self.consumer.close()

    def bounds(self, partition: int) -> tuple[int, int]:
        """The first offset of a partition, and the one after its last."""
        from confluent_kafka import TopicPartition

        with self._faults():
            low, high = self.consumer.get_watermark_offsets(TopicPartition(self.name, partition), timeout=WAIT_SECONDS)
        return int(low), int(high)

    def read(self, partition: int, first: int, end: int) -> Iterator[tuple[int, bytes, float]]:
        """(offset, value, when it was put) of the messages of a partition from an offset up to another one."""
        from confluent_kafka import KafkaError, TopicPartition

        with self._faults():
            self.consumer.assign([TopicPartition(self.name, partition, first)])
            quiet = time.monotonic()
            while first < end:
                messages = self.consumer.consume(AT_ONCE, timeout=0.2)
                if not messages and time.monotonic() - quiet > WAIT_SECONDS:
                    raise CannotReach(
                        f"{self.uri}: partition {partition} gives no messages from offset {first} on{f' ({self.said})' if self.said else ''}"
                    )
                for message in messages:
                    quiet, error, offset = time.monotonic(), message.error(), message.offset()
                    if error is not None and error.code() != KafkaError._PARTITION_EOF:
                        raise CannotReach(f"{self.uri}: partition {partition}: {error.str()}")
                    if error is not None or offset is None or offset >= end:
                        # At the end: markers of transactions have offsets but are no messages.
                        return
                    first = offset + 1
                    if (value := message.value()) is not None:
                        yield offset, value, message.timestamp()[1] / 1000


def given_settings() -> dict[str, str]:
    """The settings of the file that was named.  Raises CannotReach where it cannot be read."""
    pairs = [line.split("=", 1) for line in settings_lines(SETTINGS, CannotReach) if "=" in line]
    return {key.strip(): value.strip() for key, value in pairs}


def marks(uri: str) -> dict[str, int]:
    """Partition → offset after its last message."""
    with Topic(uri) as topic:
        return {f"{uri}/{partition}": topic.bounds(partition)[1] for partition in topic.partitions}


def new(uri: str, names: Iterable[str], settled_after: float, spool: Spool, whole_end: Callable[[Found], int]) -> Iterator[Found]:
    """What is new in a topic, as files.  `names`: of all files that were read; `spool`: takes the files; `whole_end`: gives the byte up to which the
    records of a file that may go on are complete.  Raises CannotReach."""
    known = ends(names)
    with Topic(uri) as topic:
        root = f"kafka://{topic.cluster}/{topic.name}"

        def found(content: bytes, put_at: float, partition: int, first: int, end: int) -> Found:
            return Found(spool.write(content, put_at), f"{root}/{partition}/{first}-{end}", f"{root}/{partition}", "", root, is_whole=True)

        for partition in topic.partitions:
            low, high = topic.bounds(partition)
            first = known.get((topic.cluster, topic.name, partition), low)
            if first < low:
                yield Found("", f"{root}/{partition}/{first}-{low}", f"{root}/{partition}", "", root, is_whole=True, refused=LOST)
                first = low
            while first < high:
                lines, end = Lines(), high
                for offset, value, put_at in topic.read(partition, first, high):
                    lines.add(offset, value, put_at)
                    if len(lines.text) >= FILE_BYTES:
                        end = offset + 1
                        break
                text = bytes(lines.text)
                if text and (end < high or 0 <= time.time() - lines.put_at < settled_after):
                    whole, left_out = lines.until(whole_end(found(text, lines.put_at, partition, first, end)))
                    if left_out == first and end == high:
                        # Only one record so far: it waits for more of it.
                        break
                    if left_out is not None and left_out > first:
                        text, end = whole, left_out
                if text:
                    yield found(text, lines.put_at, partition, first, end)
                first = end
