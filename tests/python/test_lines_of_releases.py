"""One record of each wording that clusters of our own printed, by release: none may become unknown.

`fixtures/lines/kafka-4.4.0.log`: two clusters of 4.4.0, three combined nodes and one controller with two brokers, with kills, freezes, a failed
log directory, a voter removed and added, unclean elections, dead letter queues that fail, automatic topics, consumers, share consumers, Streams,
transactions. Of the records with the same beginning the shortest is kept; stack traces are cut after their first line.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingestion.bronze.shapes import shape_of
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import envelopes

LINES = Path(__file__).parents[1] / "fixtures" / "lines"
KAFKA = next(envelope for envelope in envelopes() if envelope.name == "kafka")


def records(release: str) -> list[bytes]:
    return re.split(rb"\n(?=\[\d{4}-)", (LINES / f"kafka-{release}.log").read_bytes().rstrip(b"\n"))


def fields_of(record: bytes) -> tuple[str | None, dict[str, str]]:
    shape = shape_of(record, True, KAFKA, catalogue())
    return shape.event_type, {name: record[slice(*span)].decode() for name, span in zip(shape.keys, shape.spans, strict=True)}


@pytest.mark.parametrize("release", sorted(path.stem.removeprefix("kafka-") for path in LINES.glob("kafka-*.log")))
def test_every_record_is_recognised(release: str) -> None:
    assert [record for record in records(release) if fields_of(record)[0] is None] == []


def test_the_coordinators_of_clients_of_4_4_are_brokers() -> None:
    """The clusters have brokers 1 to 3; until 4.3 these numbers were 2147483646 to 2147483644."""
    found = [fields["coordinator_node"] for _, fields in map(fields_of, records("4.4.0")) if "coordinator_node" in fields]
    # Ten lines about coordinators of groups, one about one of transactions.
    assert len(found) == 11
    assert set(found) == {"1", "2", "3"}
