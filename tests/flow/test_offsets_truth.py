"""The offsets topic, compared with the brokers' disks, which a poller of the lab measured every ten seconds, and with the lab's faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.truth import millis

SEGMENT = 262144  # offsets.topic.segment.bytes of the lab's brokers
Sizes = dict[tuple[int, int], list[tuple[int, int]]]


def lines(path: Path) -> Iterator[dict]:
    with open(path) as file:
        yield from map(json.loads, file)


def old_sizes(path: Path) -> Sizes:
    """(node, partition) → (epoch ms, bytes), of the poller's form with one line per partition."""
    sizes: Sizes = {}
    for line in lines(path):
        if line["topic"] == "__consumer_offsets" and not line["deleted"]:
            sizes.setdefault((line["broker"], line["partition"]), []).append((line["ts"], line["bytes"]))
    return sizes


def new_sizes(path: Path) -> Sizes:
    """The same, of the form with one line per node."""
    sizes: Sizes = {}
    for line in lines(path):
        for name, (size, *_) in line["parts"].items():
            topic, _, partition = name.rpartition("-")
            if topic == "__consumer_offsets":
                sizes.setdefault((line["node"], int(partition)), []).append((line["ts"], size))
    return sizes


def hours(lab, cluster: str) -> list:
    return lab.rows(f"select * from marts.fct_offsets_topic_growth_hourly where cluster_id = '{cluster}' order by hour_at")


def outages(lab, cluster: str) -> list:
    return lab.rows(f"select * from marts.fct_log_cleaner_outages where cluster_id = '{cluster}' order by node_id, stopped_at")


def test_estimated_sizes_are_within_two_segments_of_the_disk(lab) -> None:
    sizes = old_sizes(lab.folder / "zk-c-0.10.1.0-cleaner/truth/log-dirs.jsonl")
    compared = 0
    for row in hours(lab, "zk-c-0.10.1.0-cleaner"):
        end = millis(row.hour_at) + 3_600_000
        at, size = max(sample for sample in sizes[row.node_id, row.partition_id] if sample[0] <= end)
        # The open segment is not in the estimate, and the sizes that the cleaner printed are rounded to 0.1 MB.
        assert abs((row.bytes_at_end or 0) - size) <= 2 * SEGMENT, (row, at, size)
        # Less than a segment is not told to be nothing.
        assert row.bytes_at_end != 0
        assert row.measure_kind == "estimated"
        compared += 1
    assert compared == 60


@pytest.mark.xfail(strict=True, reason="the fixture is without the output of kafka-log-dirs, so that nothing is measured")
def test_measured_sizes_are_what_was_on_the_disk(lab) -> None:
    sizes = new_sizes(lab.folder / "kraft-372-offsets/truth/log-dirs.jsonl")
    measured = [row for row in hours(lab, "kraft-372-offsets") if row.measure_kind == "measured"]
    assert len(measured) == 30
    for row in measured:
        near = [size for _, size in sizes[row.node_id, row.partition_id]]
        # The last describe lies between two polls, between which the cleaner may run.
        assert min(near) - SEGMENT <= row.bytes_at_end <= max(near) + SEGMENT


def test_the_partition_that_grows_on_one_broker_is_abnormal_there_and_nowhere_else(lab) -> None:
    abnormal = [row for row in hours(lab, "kraft-372-offsets") if row.is_abnormal]
    assert {(row.node_id, row.partition_id) for row in abnormal} == {(1, 0)}
    assert all("its replicas on other nodes" in row.abnormal_reason for row in abnormal)


def damaged(folder: Path) -> set[tuple[int, str, int]]:
    """(node, topic, partition) of the segments that were damaged."""
    names = [
        (action["broker"], Path(action["file"]).parent.name)
        for action in lines(folder / "truth/actions.jsonl")
        if action["action"] == "damage segment"
    ]
    return {(node, *split) for node, name in names for split in [(name.rpartition("-")[0], int(name.rpartition("-")[2]))]}


def test_cleaners_that_were_killed_are_out_until_their_process_starts_anew(lab) -> None:
    found = [(row.node_id, row.found_by, row.scope, row.ended_at is None) for row in outages(lab, "zk-c-0.10.1.0-cleaner")]
    assert found == [
        (1, "thread_error", "thread", False),
        (1, "thread_error", "thread", True),
        (2, "thread_error", "thread", False),
        (2, "thread_error", "thread", True),
    ]
    found = [(row.node_id, row.found_by, row.scope, row.partition_id, row.ended_at is None) for row in outages(lab, "kraft-372-offsets")]
    # The error of node 2 names no partition: its thread had begun with partition 1, 58 ms before.
    assert found == [
        (1, "thread_error", "partition", 0, False),
        (1, "thread_error", "partition", 0, True),
        (2, "thread_error", "thread", 1, False),
    ]


def test_a_cleaner_died_at_the_partition_whose_segment_was_damaged(lab) -> None:
    rows = outages(lab, "zk-c-0.10.1.0-cleaner")
    assert {(row.node_id, row.topic_name, row.partition_id) for row in rows} == damaged(lab.folder / "zk-c-0.10.1.0-cleaner")
    assert all(any(warning.startswith("concluded: ") for warning in row.warnings) for row in rows)


def test_no_other_cluster_has_an_outage(lab) -> None:
    rows = lab.rows("select distinct cluster_id from marts.fct_log_cleaner_outages where cluster_id not like 'incident%'")
    assert {row.cluster_id for row in rows} == {"zk-c-0.10.1.0-cleaner", "kraft-372-offsets"}
