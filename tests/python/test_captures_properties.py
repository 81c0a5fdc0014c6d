"""Files of properties."""

from __future__ import annotations

import datetime as dt

import pytest

from ingestion.captures import About, lines_of
from ingestion.captures.kafka_tools import properties
from tests.python.capture_rows import rows_of


def settings(name: str) -> dict[str, str]:
    return {row.fields["name"]: row.fields["value"] for row in rows_of(properties, name)}


def test_a_broker_names_its_node() -> None:
    rows = rows_of(properties, "server-0.8.properties")
    assert {row.node_id for row in rows} == {1}
    assert len(rows) == 22
    assert settings("server-0.8.properties")["replica.lag.time.max.ms"] == "2000"


def test_meta_properties_say_when_they_were_written() -> None:
    (row,) = rows_of(properties, "meta-v1.properties")
    assert row.fields == {"node_id": "1", "directory_id": "LwjQnPjEfGLKrYuJDlteaw", "version": "1", "cluster_id": "tqS-XPV7T3OrUUKYfil9jw"}
    assert (row.at, row.at_known_by, row.node_id) == (dt.datetime(2026, 11, 21, 9, 31, 57, 0, dt.UTC), "content", 1)
    assert rows_of(properties, "meta-v0.properties")[0].fields == {"node_id": "1", "version": "0", "cluster_id": "PF7EJLHFQYy_-kMkqkAx-A"}


def test_another_zone_than_utc_is_the_texts() -> None:
    zone = dt.timezone(dt.timedelta(hours=8))
    lines = lines_of("#\n#Sat Nov 21 17:31:57 CST 2026\nversion=0\nbroker.id=3\n")
    (row,) = properties.read(properties.META, lines, About("meta.properties", zone=zone))
    assert row.at == dt.datetime(2026, 11, 21, 9, 31, 57, 0, dt.UTC)


def test_escapes_and_broken_lines_are_undone() -> None:
    assert settings("producer.properties") == {
        "bootstrap.servers": "b1:9092,b2:9092",
        "acks": "all",
        "linger.ms": "5",
        "client.id": "café:1",
    }


def test_a_dump_of_a_configuration() -> None:
    rows = rows_of(properties, "dump-2.x.txt")
    assert rows[3].fields == {"name": "log.dirs", "value": "/d/1,/d/2"}
    assert rows[3].node_id == 12


def test_settings_of_zookeeper() -> None:
    assert settings("zoo.cfg")["4lw.commands.whitelist"] == "*"
    assert settings("zoo.cfg")["clientPort"] == "20180"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("server-0.8.properties", properties.SERVER),
        ("consumer-0.8.properties", properties.CONSUMER),
        ("producer.properties", properties.PRODUCER),
        ("connect.properties", properties.CONNECT),
        ("zoo.cfg", properties.ZOOKEEPER),
        ("log4j.properties", properties.LOG4J),
        ("meta-v0.properties", properties.META),
        ("dump-2.x.txt", properties.SERVER),
    ],
)
def test_the_names_tell_whose_they_are(name: str, kind: str) -> None:
    from tests.python.capture_rows import FIXTURES

    assert properties.kind_of((FIXTURES / "properties" / name).read_text()) == kind


def test_a_log_that_prints_its_configuration_is_no_file_of_properties() -> None:
    dump = "".join(f"\tlog.segment.bytes{n} = 1\n\tbroker.id = 1\n" for n in range(200))
    assert properties.kind_of(f"[2026-11-21 09:33:22,802] INFO KafkaConfig values: \n{dump}") is None
    assert properties.kind_of(f"2026-11-21T09:33:22Z INFO KafkaConfig values: \n{dump}") is None


def test_what_is_no_setting_is_kept() -> None:
    text = "broker.id=1\nlog.dirs=/d\nnum.io.threads=8\nlisteners=PLAINTEXT://:9092\n<html>\n"
    rows = list(properties.read(properties.kind_of(text), lines_of(text), About("x")))
    assert (rows[-1].kind, rows[-1].raw_text) == ("unread", "<html>")
