"""Failures of processes: what their records and traces say, and the reasons that the wordings of exceptions tell."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from chronicle.project import PROJECT
from tests.python.test_records import line, read

FRAME = "\tat kafka.server.KafkaServer.startup(KafkaServer.scala:1)\n"
KAFKA = "kafka.Kafka$"


def fields_of(folder: Path, said: str, logger: str, trace: str = "", level: str = "ERROR") -> tuple[str, dict[str, str]]:
    """Event and fields of a record with a trace."""
    (folder / "server.log").write_text(line(1, said, level, logger) + trace)
    [row] = read(folder / "server.log")
    return row["event_type"], dict(row["fields"])


def test_the_last_cause_of_a_trace_is_kept_beside_the_exception(tmp_path: Path) -> None:
    trace = (
        "java.lang.RuntimeException: Received a fatal error while waiting for the acceptors\n"
        + FRAME
        + "Caused by: java.util.concurrent.CompletionException: no\n"
        + FRAME
        + "Caused by: java.net.BindException: Address already in use\n\tat x.Y.z(Y.java:1)\n\t... 3 more\n"
    )
    event, fields = fields_of(tmp_path, "Exiting Kafka due to fatal exception during startup.", KAFKA, trace)
    assert event == "process_exited"
    assert fields == {
        "exception": "java.lang.RuntimeException",
        "exception_message": "Received a fatal error while waiting for the acceptors",
        "root_exception": "java.net.BindException",
        "root_exception_message": "Address already in use",
    }


@pytest.mark.parametrize(
    ("cause", "root"),
    [
        ("Caused by: java.io.IOException\n", {"root_exception": "java.io.IOException"}),
        ("Caused by: something that is no class\n", {}),
        ("", {}),
    ],
)
def test_a_cause_without_a_message_or_a_class(tmp_path: Path, cause: str, root: dict[str, str]) -> None:
    _, fields = fields_of(tmp_path, "Exiting Kafka due to fatal exception", KAFKA, "java.lang.Error: no\n" + FRAME + cause + FRAME)
    assert fields == {"exception": "java.lang.Error", "exception_message": "no"} | root


def test_an_old_release_says_the_exception_in_its_own_line(tmp_path: Path) -> None:
    said = "kafka.common.InconsistentBrokerIdException: Configured brokerId 4 doesn't match stored brokerId 1 in meta.properties"
    assert fields_of(tmp_path, said, KAFKA, said + "\n" + FRAME, "FATAL") == (
        "node_start_failed",
        {
            "exception": "kafka.common.InconsistentBrokerIdException",
            "exception_message": "Configured brokerId 4 doesn't match stored brokerId 1 in meta.properties",
        },
    )


@pytest.mark.parametrize(
    ("said", "logger", "event"),
    [
        ("Halting Kafka.", KAFKA, "process_halted"),
        ("Exiting Kafka.", "kafka.server.KafkaServerStartable", "process_exited"),
        (
            "Stopping the server as it encountered a fatal error.",
            "org.apache.kafka.storage.internals.log.RemoteStorageThreadPool",
            "process_halted",
        ),
        ("Stopped due to fatal error with exit code 1", "kafka.server.ReplicaFetcherThread", "process_halted"),
        ("Halting due to unrecoverable I/O error while flushing logs: Input/output error", "kafka.log.LogManager", "node_stopped_for_disk"),
    ],
)
def test_a_process_that_ends_itself(tmp_path: Path, said: str, logger: str, event: str) -> None:
    assert fields_of(tmp_path, said, logger)[0] == event


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "Number of insync replicas for partition [pay-x,4] is [2], below required minimum [3]",
            {"in_sync_replicas": "2", "min_insync_replicas": "3"},
        ),
        (
            "The size of the current ISR Set(7, 12) is insufficient to satisfy the min.isr requirement of 3 for partition pay-x-4",
            {"isr": "7, 12", "min_insync_replicas": "3"},
        ),
        (
            "The size of the current ISR : 1 is insufficient to satisfy the min.isr requirement of 2 for partition pay-x-4, live replica(s) broker.id are : Set(12)",
            {"in_sync_replicas": "1", "isr": "12", "min_insync_replicas": "2"},
        ),
        ("Messages are written to the log, but to fewer in-sync replicas than required.", {}),
    ],
)
def test_a_refused_write_states_the_set_and_the_minimum(tmp_path: Path, message: str, told: dict[str, str]) -> None:
    exception = "org.apache.kafka.common.errors.NotEnoughReplicasException"
    event, fields = fields_of(
        tmp_path,
        "[ReplicaManager broker=1] Error processing append operation on partition pay-x-4",
        "kafka.server.ReplicaManager",
        f"{exception}: {message}\n",
    )
    assert event == "append_failed"
    assert {name: value for name, value in fields.items() if name in ("isr", "in_sync_replicas", "min_insync_replicas")} == told


def reasons() -> list[dict[str, str]]:
    with (PROJECT / "dbt_project/seeds/failure_reasons.csv").open(encoding="utf-8") as file:
        return sorted(csv.DictReader(file), key=lambda row: int(row["priority"]))


def like(text: str, pattern: str) -> bool:
    """SQL's like."""
    return re.fullmatch(re.escape(pattern).replace("%", ".*").replace("_", "."), text, re.S) is not None


@pytest.mark.parametrize(
    ("exception", "message", "reason"),
    [
        ("java.lang.RuntimeException", "Invalid cluster.id in: /d/meta.properties. Expected AAAA, but read BBBB", "cluster_id_differs"),
        (
            "kafka.common.InconsistentClusterIdException",
            "The Cluster ID A doesn't match stored clusterId Some(B) in meta.properties.",
            "cluster_id_differs",
        ),
        (
            "kafka.common.InconsistentBrokerIdException",
            "Configured node.id `2` doesn't match stored node.id `1' in meta.properties.",
            "node_id_differs",
        ),
        ("java.lang.RuntimeException", "Invalid node.id in: /d/meta.properties. Expected 2, but read 1", "node_id_differs"),
        ("kafka.common.InconsistentBrokerMetadataException", "BrokerMetadata is not consistent across log.dirs.", "log_dirs_differ"),
        ("java.lang.RuntimeException", "No readable meta.properties files found.", "storage_not_formatted"),
        (
            "org.apache.kafka.common.KafkaException",
            "No `meta.properties` found in /d (have you run `kafka-storage.sh` to format the directory?)",
            "storage_not_formatted",
        ),
        (
            "org.apache.kafka.common.KafkaException",
            "Failed to acquire lock on file .lock in /d. A Kafka instance in another process …",
            "log_dir_locked",
        ),
        (
            "org.apache.kafka.common.KafkaException",
            "Socket server failed to bind to 0.0.0.0:9092: Address already in use.",
            "address_in_use",
        ),
        (
            "org.apache.kafka.common.KafkaException",
            "Socket server failed to bind to 10.9.9.9:9092: Cannot assign requested address.",
            "address_unusable",
        ),
        ("java.net.BindException", "Address already in use", "address_in_use"),
        (
            "java.lang.IllegalArgumentException",
            "requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0.",
            "listeners_wrong",
        ),
        ("java.lang.IllegalArgumentException", "No security protocol defined for listener CONTROLLER", "listeners_wrong"),
        (
            "java.lang.IllegalArgumentException",
            "requirement failed: If process.roles contains the 'controller' role, the node id 1 must be included in the set of voters controller.quorum.voters=Set(2)",
            "quorum_voters_wrong",
        ),
        (
            "org.apache.kafka.common.config.ConfigException",
            "Missing required configuration `zookeeper.connect` which has no default value.",
            "setting_wrong",
        ),
        ("java.lang.IllegalArgumentException", "requirement failed: log.message.format.version must …", "setting_wrong"),
        (
            "kafka.zookeeper.ZooKeeperClientTimeoutException",
            "Timed out waiting for connection while in state: CONNECTING",
            "zookeeper_unreachable",
        ),
        (
            "org.I0Itec.zkclient.exception.ZkTimeoutException",
            "Unable to connect to zookeeper server within timeout: 6000",
            "zookeeper_unreachable",
        ),
        ("org.apache.zookeeper.KeeperException$NodeExistsException", "KeeperErrorCode = NodeExists", "node_id_taken"),
        ("", "DUPLICATE_BROKER_REGISTRATION", "node_id_taken"),
        ("java.io.IOException", "No space left on device", "disk_full"),
        ("java.io.FileNotFoundException", "/d/t-0/0.index (Too many open files)", "too_many_open_files"),
        (
            "java.lang.OutOfMemoryError",
            "unable to create native thread: possibly out of memory or process/resource limits reached",
            "out_of_memory",
        ),
        ("java.nio.file.AccessDeniedException", "/d/meta.properties.tmp", "access_denied"),
        ("java.io.FileNotFoundException", "/d/.lock (Permission denied)", "access_denied"),
        ("java.nio.file.NoSuchFileException", "/etc/kafka/server.properties", "file_missing"),
        ("javax.security.auth.login.LoginException", "no", "authentication_failed"),
        ("org.apache.kafka.common.KafkaException", "Failed to load SSL keystore /etc/k.jks of type JKS", "certificates_wrong"),
        ("org.apache.kafka.common.errors.CorruptRecordException", "Unexpected EOF while attempting to read the next batch", "data_damaged"),
        ("java.lang.NullPointerException", "", None),
        ("java.lang.IllegalStateException", "Kafka server is still starting up, cannot shut down!", "stopped_while_starting"),
    ],
)
def test_the_wording_of_an_exception_tells_the_reason(exception: str, message: str, reason: str | None) -> None:
    found = [row["reason_kind"] for row in reasons() if like(exception, row["exception"]) and like(message, row["message"])]
    assert (found[0] if found else None) == reason


def test_the_kinds_that_reasons_name_are_known() -> None:
    with (PROJECT / "dbt_project/seeds/failure_kinds.csv").open(encoding="utf-8") as file:
        kinds = {row["failure_kind"] for row in csv.DictReader(file)}
    assert {row["failure_kind"] for row in reasons()} - {""} <= kinds
