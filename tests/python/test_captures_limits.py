"""Limits, maps, status of a process, and settings of the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import captures
from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.system import disks, limits

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "limits"


def read(name: str) -> tuple[list[Row], list[Sample]]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = limits.kind_of(text, name)
    assert kind is not None
    found = list(limits.read(kind, lines_of(text), About(name)))
    return [row for row in found if isinstance(row, Row)], [row for row in found if isinstance(row, Sample)]


def test_limits_of_a_process() -> None:
    rows, _ = read("20261121T100000Z-proc-4711-limits.txt")
    assert len(rows) == 6
    assert rows[3].fields == {"name": "open_files", "soft": "65536", "hard": "100000", "unit": "files", "process_id": "4711"}
    assert rows[4].fields == {"name": "nice", "soft": "0", "hard": "0", "process_id": "4711"}


def test_ulimit_of_bash_busybox_and_dash() -> None:
    assert [tuple(row.fields.get(key) for key in ("name", "soft", "unit")) for row in read("20261121T100000Z-ulimit-bash.txt")[0]] == [
        ("realtime_time", "unlimited", "microseconds"),
        ("core_file_size", "0", "blocks"),
        ("nice", "0", None),
        ("open_files", "1024", None),
        ("message_queue", "819200", "bytes"),
        ("processes", "unlimited", None),
    ]
    assert [(row.fields["name"], row.fields["soft"]) for row in read("20261121T100000Z-ulimit-busybox.txt")[0]] == [
        ("file_size", "unlimited"),
        ("cpu_time", "unlimited"),
        ("open_files", "1048576"),
        ("processes", "unlimited"),
    ]
    assert [(row.fields["name"], row.fields["soft"]) for row in read("20261121T100000Z-ulimit-dash.txt")[0]] == [
        ("cpu_time", "unlimited"),
        ("resident_set", "unlimited"),
        ("locked_memory", "64"),
        ("processes", "96189"),
        ("open_files", "4096"),
    ]


def test_a_number_alone_is_a_limit_only_where_the_name_says_so() -> None:
    assert limits.kind_of("65536\n", "10.0.0.1/file_descriptor.info") == "process_limits"
    assert limits.kind_of("65536\n", "x.txt") is None
    (row,) = limits.read("process_limits", lines_of("65536\n"), About("file_descriptor.info"))
    assert isinstance(row, Row)
    assert row.fields == {"name": "open_files", "soft": "65536"}


def test_memory_maps_are_rows_and_one_count() -> None:
    rows, samples = read("20261121T100000Z-maps-4711.txt")
    assert [row.fields.get("path") for row in rows] == [
        "/data/kafka/a-0/00000000000000000000.index",
        "/data/kafka/a-0/00000000000000000000.timeindex.deleted (deleted)",
        None,
        "[stack]",
    ]
    assert [row.fields["is_deleted"] for row in rows] == ["false", "true", "false", "false"]
    assert [(sample.metric, sample.value, sample.labels) for sample in samples] == [("process_memory_maps", 4.0, {"process_id": "4711"})]


def test_memory_maps_counted() -> None:
    rows, samples = read("20261121T100000Z-maps-counted.txt")
    assert [(row.fields["count"], row.fields["process_id"], row.fields["host"]) for row in rows] == [("65530", "4711", "broker-1")] * 2
    assert [sample.value for sample in samples] == [65530.0, 65530.0]


def test_status_of_a_process_is_one_row() -> None:
    rows, samples = read("20261121T100000Z-status.txt")
    assert rows[0].fields == {
        "process_name": "java",
        "state": "S (sleeping)",
        "process_id": "4711",
        "descriptor_slots": "512",
        "virtual_peak_bytes": "5993779200",
        "virtual_bytes": "5993689088",
        "resident_peak_bytes": "716800000",
        "resident_bytes": "624541696",
        "swapped_bytes": "0",
        "threads": "88",
    }
    assert len(rows) == 1
    assert [(sample.metric, sample.value) for sample in samples] == [
        ("process_threads", 88.0),
        ("process_resident_memory_bytes", 624541696.0),
    ]


def test_settings_of_the_kernel() -> None:
    rows, _ = read("20261121T100000Z-sysctl.txt")
    assert [(row.fields["name"], row.fields["value"]) for row in rows] == [
        ("vm.max_map_count", "65530"),
        ("vm.swappiness", "1"),
        ("net.core.somaxconn", "128"),
        ("fs.file-nr", "9344\t0\t811000"),
        ("net.ipv4.conf.eth0.100.rp_filter", "1"),
    ]


def test_other_texts_are_no_limits() -> None:
    for text in ("broker.id=1\nlog.dirs=/data\n", "process 12\n", "Name: x\nState: y\nOther: z\nMore: a\n", ""):
        assert limits.kind_of(text, "limits.txt") is None


@pytest.mark.parametrize(
    "text",
    [
        "65527 /proc/4711/maps\n",
        "$ wc -l /proc/4711/maps\n65527 /proc/4711/maps\n",
        "  65527  393162 6553000 /proc/4711/maps\n",
        "$ wc -l /proc/*/maps\n 65527 /proc/4711/maps\n 9 /proc/4712/maps\n 65536 total\n",
    ],
)
def test_what_wc_prints_of_maps_is_their_number_and_no_size_of_a_directory(text: str) -> None:
    found = captures.detect(text, "20261121T100000Z-broker-1.txt")
    assert found is not None
    assert found[1] == "process_maps"
    rows = list(limits.read("process_maps", lines_of(text), About("20261121T100000Z-broker-1.txt")))
    sample = next(row for row in rows if isinstance(row, Sample))
    assert (sample.metric, sample.value, sample.labels, sample.unit) == ("process_memory_maps", 65527.0, {"process_id": "4711"}, "maps")
    row = next(row for row in rows if isinstance(row, Row))
    assert (row.kind, row.fields["process_id"], row.fields["count"]) == ("memory_map_count", "4711", "65527")
    assert not any(isinstance(row, Row) and row.kind == "unread" for row in rows)


def test_maps_of_several_processes_each_have_their_number() -> None:
    rows, samples = read("20261121T100000Z-maps-wc.txt")
    assert [(sample.labels["process_id"], sample.value) for sample in samples] == [("4711", 65527.0), ("4712", 1204.0)]
    assert [row.kind for row in rows] == ["memory_map_count"] * 2


@pytest.mark.parametrize("text", ["$ wc -l /var/log/kafka/server.log\n326639 /var/log/kafka/server.log\n", "18 /proc/net/tcp\n"])
def test_lines_of_a_file_are_no_bytes(text: str) -> None:
    assert disks.kind_of(text, "a.txt") is None
