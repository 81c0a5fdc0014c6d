"""The partition that an exception names is that of its record, if the record's own text names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.test_records import line, read

FRAME = "\tat kafka.log.Cleaner.clean(LogCleaner.scala:1)\n"
FETCHER = ("[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error due to", "kafka.server.ReplicaFetcherThread")
OLD_FETCHER = ("[ReplicaFetcherThread-0-2], Error due to ", "kafka.server.ReplicaFetcherThread")
CLEANER = ("[kafka-log-cleaner-thread-0]: Error due to", "kafka.log.LogCleaner")


@pytest.mark.parametrize(
    ("said", "trace", "partition"),
    [
        (FETCHER, "org.apache.kafka.common.KafkaException: Error processing data for partition pay.v2-x-7 offset 12", ("pay.v2-x", 7)),
        (OLD_FETCHER, "kafka.common.KafkaException: error processing data for partition [orders,3] offset 12", ("orders", 3)),
        (
            FETCHER,
            "java.lang.RuntimeException: no\n"
            + FRAME
            + "Caused by: java.lang.IllegalStateException: Offset mismatch for partition orders-3: fetched offset = 5, log end offset = 7.",
            ("orders", 3),
        ),
        (
            CLEANER,
            "java.lang.IllegalArgumentException: requirement failed: 977 messages in segment __consumer_offsets-11/00000000000000000000.log but offset map can "
            "fit only 503. You can increase log.cleaner.dedupe.buffer.size or decrease log.cleaner.threads",
            ("__consumer_offsets", 11),
        ),
        (
            CLEANER,
            "java.lang.IllegalStateException: Batch size 7 < buffer size 9, but not processed for log segment /var/kafka logs/my-topic-1-0/00000000000000000500.log at position 7",
            ("my-topic-1", 0),
        ),
        (
            CLEANER,
            "java.lang.IllegalStateException: This log contains a message larger than maximum allowable size of 1000012.",
            (None, None),
        ),
    ],
)
def test_a_thread_that_dies_names_the_partition_in_its_exception(
    tmp_path: Path, said: tuple[str, str], trace: str, partition: tuple[str | None, int | None]
) -> None:
    (tmp_path / "server.log").write_text(line(1, said[0], "ERROR", said[1]) + f"{trace}\n{FRAME}" + line(2, "after"))
    row, _ = read(tmp_path / "server.log")
    assert row["event_type"] in ("thread_failed", "cleaner_thread_failed")
    assert (row["topic_name"], row["partition_id"]) == partition


def test_the_text_of_a_record_counts_before_its_exception(tmp_path: Path) -> None:
    own = "[Partition orders-3 broker=1] Failed to update"
    trace = "org.apache.kafka.common.KafkaException: Error processing data for partition pay-7 offset 12\n"
    (tmp_path / "server.log").write_text(line(1, own, "ERROR", "kafka.cluster.Partition") + trace)
    [row] = read(tmp_path / "server.log")
    assert (row["topic_name"], row["partition_id"]) == ("orders", 3)


def test_records_that_differ_in_digits_each_have_their_partition(tmp_path: Path) -> None:
    traces = [f"kafka.common.KafkaException: Error processing data for partition orders-{n} offset {n}5\n{FRAME}" for n in (3, 4)]
    (tmp_path / "server.log").write_text("".join(line(n, FETCHER[0], "ERROR", FETCHER[1]) + trace for n, trace in enumerate(traces)))
    assert [row["partition_id"] for row in read(tmp_path / "server.log")] == [3, 4]
