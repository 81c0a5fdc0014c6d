"""Environments, flags of JVMs, command lines."""

from __future__ import annotations

from ingestion.captures.jvm import environment
from tests.python.capture_rows import fields_of, rows_in, rows_of


def test_variables() -> None:
    assert fields_of(rows_of(environment, "env.txt"), "variable") == [
        {"name": "HOSTNAME", "value": "kafka-0"},
        {"name": "KAFKA_HEAP_OPTS", "value": "-Xmx1G -Xms1G"},
        {"name": "KAFKA_OPTS", "value": "-javaagent:/opt/jmx.jar=9404"},
        {"name": "KAFKA_LISTENERS", "value": "PLAINTEXT://:9092"},
    ]


def test_variables_parted_by_zeros() -> None:
    rows = rows_in(environment, "KAFKA_HOME=/opt/kafka\0PATH=/bin\0")
    assert [(row.offset, row.fields["name"]) for row in rows] == [(0, "KAFKA_HOME"), (22, "PATH")]


def test_flags_of_a_running_jvm() -> None:
    assert fields_of(rows_of(environment, "vm-flags.txt"), "jvm_flag") == [
        {"name": "CICompilerCount", "value": "3"},
        {"name": "UseG1GC", "value": "true"},
        {"name": "UseBiasedLocking", "value": "false"},
        {"name": "MaxHeapSize", "value": "1073741824"},
    ]
    assert fields_of(rows_of(environment, "flags-final.txt"), "jvm_flag") == [
        {"name": "UseG1GC", "value": "true", "origin": "ergonomic"},
        {"name": "MaxGCPauseMillis", "value": "20", "origin": "command line"},
    ]


def test_a_command_line_of_jcmd() -> None:
    rows = rows_of(environment, "vm-command-line.txt")
    assert fields_of(rows, "jvm_flag") == [
        {"name": "Xmx", "value": "1G"},
        {"name": "Xms", "value": "512m"},
        {"name": "UseG1GC", "value": "true"},
    ]
    assert fields_of(rows, "system_property")[0] == {"name": "kafka.logs.dir", "value": "/var/log/kafka"}
    assert fields_of(rows, "jvm_argument") == [{"argument": "-Xlog:gc*:file=/var/log/kafka/gc.log"}]
    assert fields_of(rows, "process") == [{"main_class": "kafka.Kafka", "program": "kafka", "arguments": "/etc/kafka/server.properties"}]


def test_a_command_line_of_ps() -> None:
    rows = rows_of(environment, "ps.txt")
    assert rows[0].fields == {
        "process_id": "4711",
        "user": "kafka",
        "main_class": "kafka.Kafka",
        "program": "kafka",
        "arguments": "/etc/kafka/server.properties --override broker.id=3",
    }
    assert fields_of(rows, "jvm_argument") == [{"argument": "-cp /opt/kafka/libs/*"}]


def test_command_lines_of_jps() -> None:
    rows = rows_of(environment, "jps.txt")
    assert [row["program"] for row in fields_of(rows, "process")] == ["kafka", "zookeeper"]
    assert fields_of(rows, "process")[0]["arguments"] == "/etc/kafka/server.properties"
    assert fields_of(rows, "jvm_flag")[2] == {"name": "Xmx", "value": "512M"}
