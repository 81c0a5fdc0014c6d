"""Processes and load: top, ps, free, vmstat, iostat, uptime, dmesg."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from ingestion.captures import About, Row, lines_of
from ingestion.captures.system import processes

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "processes"


def read(name: str) -> list[Row]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = processes.kind_of(text, name)
    assert kind is not None
    return [row for row in processes.read(kind, lines_of(text), About(name)) if isinstance(row, Row)]


def test_threads_of_top_with_decimal_commas() -> None:
    rows = read("20261121T100000Z-top-H.txt")
    assert [row.kind for row in rows] == ["load_average", "task_count", "cpu_usage", "memory", "memory", "process", "process"]
    assert rows[0].fields == {"load_1m": "0.52", "load_5m": "0.58", "load_15m": "0.59", "up": "12 days,  3:04", "users": "1"}
    assert (rows[1].fields["counted"], rows[1].fields["total"]) == ("threads", "231")
    assert (rows[2].fields["user_percent"], rows[2].fields["idle_percent"]) == ("12.5", "84.4")
    assert rows[3].fields == {
        "of": "memory",
        "total_bytes": "25275924480",
        "free_bytes": "19961741312",
        "used_bytes": "2876243968",
        "cached_bytes": "2437939200",
    }
    # top prints the available memory in the line of the swap.
    assert rows[4].fields == {
        "of": "swap",
        "total_bytes": "0",
        "free_bytes": "0",
        "used_bytes": "0",
        "memory_available_bytes": "22398631936",
    }
    assert rows[5].fields == {
        "process_id": "18135",
        "user": "kafka",
        "priority": "20",
        "nice": "0",
        "virtual_bytes": "5993689088",
        "resident_bytes": "1610612736",
        "shared_bytes": "20905984",
        "state": "S",
        "cpu_percent": "99.9",
        "memory_percent": "2.5",
        "cpu_time": "1:02.03",
        "command": "kafka-request-h",
    }
    assert rows[6].fields["command"] == "kafka-log-cleaner-thread-0"


def test_top_of_old_systems_and_of_busybox() -> None:
    old = read("20261121T100000Z-top-old.txt")
    assert (old[2].fields["user_percent"], old[2].fields["iowait_percent"]) == ("1.2", "0.3")
    assert old[3].fields == {
        "of": "memory",
        "total_bytes": "8254877696",
        "used_bytes": "8089600000",
        "free_bytes": "165277696",
        "buffers_bytes": "204800000",
    }
    assert old[4].fields["memory_cached_bytes"] == "5120000000"
    assert (old[5].fields["resident_bytes"], old[5].fields["cpu_time"]) == ("2684354560", "999:59.01")
    busybox = read("20261121T100000Z-top-busybox.txt")
    assert busybox[0].fields["used_bytes"] == "1264196608"
    assert (busybox[1].fields["system_percent"], busybox[1].fields["idle_percent"]) == ("2", "92")
    assert busybox[2].fields == {"load_1m": "0.50", "load_5m": "0.41", "load_15m": "0.35"}
    assert (busybox[3].fields["virtual_bytes"], busybox[3].fields["cpu_percent"], busybox[3].fields["command"]) == (
        "2684354560",
        "5",
        "java -Xmx1g kafka.Kafka",
    )


def test_ps_in_its_layouts() -> None:
    (aux,) = read("20261121T100000Z-ps-aux.txt")
    assert (aux.fields["process_id"], aux.fields["resident_bytes"], aux.fields["cpu_percent"]) == ("13517", "2688245760", "120")
    assert aux.fields["command"] == "java -Xmx1G kafka.Kafka server.properties"
    (thread,) = read("20261121T100000Z-ps-eLf.txt")
    assert (thread.fields["process_id"], thread.fields["thread_id"], thread.fields["threads"]) == ("4711", "4800", "88")
    (started,) = read("20261121T100000Z-ps-lstart.txt")
    assert (started.fields["started"], started.fields["threads"], started.fields["command"]) == (
        "Sat Nov 21 09:46:13 2026",
        "88",
        "java -Xmx1g kafka.Kafka",
    )


def test_iostat_of_both_layouts() -> None:
    cpu, sda = read("iostat-old.txt")
    assert cpu.fields["iowait_percent"] == "30.10"
    assert (sda.at, sda.at_known_by) == (dt.datetime(2026, 11, 21, 15, tzinfo=dt.UTC), "content")
    assert sda.fields == {
        "device": "sda",
        "reads_merged_per_second": "0.00",
        "writes_merged_per_second": "1.00",
        "reads_per_second": "0.50",
        "writes_per_second": "20.00",
        "read_bytes_per_second": "524288",
        "written_bytes_per_second": "5242880",
        "request_bytes": "256000",
        "queue_size": "9.90",
        "await_ms": "120.00",
        "read_await_ms": "5.00",
        "write_await_ms": "125.00",
        "service_ms": "4.00",
        "utilised_percent": "99.90",
        "host": "broker-1",
    }
    (nvme,) = read("20261121T100000Z-iostat-new.txt")
    assert (
        nvme.fields["read_bytes_per_second"],
        nvme.fields["written_bytes_per_second"],
        nvme.fields["queue_size"],
        nvme.fields["flush_await_ms"],
    ) == ("24576", "512000", "0.02", "0.20")


def test_free_uptime_and_vmstat_of_the_lab() -> None:
    memory, swap, load, first, second = read("20261121T094659Z-free.txt")
    assert memory.fields == {
        "of": "memory",
        "total": "24105",
        "used": "2743",
        "free": "19037",
        "shared": "8",
        "cached": "2617",
        "available": "21361",
    }
    assert memory.warnings == ("free prints no unit: KiB unless an option changed it",)
    assert swap.fields["of"] == "swap"
    assert load.fields == {"load_1m": "20.55", "load_5m": "11.91", "load_15m": "6.33"}
    assert (first.fields["runnable"], first.fields["free_bytes"], first.fields["blocks_out_per_second"], first.fields["idle_percent"]) == (
        "11",
        "19960463360",
        "1229",
        "62",
    )
    assert (second.fields["runnable"], second.fields["context_switches_per_second"], second.fields["user_percent"]) == ("28", "17908", "80")


def test_free_says_its_unit_by_letters_or_options() -> None:
    people, _ = read("20261121T100000Z-free-h.txt")
    assert (people.fields["total_bytes"], people.fields["used_bytes"]) == ("24696061952", "2791728742")
    memory, without_buffers, swap = read("20261121T100000Z-free-m-old.txt")
    assert (memory.fields["total_bytes"], memory.fields["cached_bytes"]) == ("8254390272", "5119148032")
    assert without_buffers.fields == {"of": "-/+ buffers/cache", "used_bytes": "2766143488", "free_bytes": "5488246784", "host": "broker-1"}
    assert swap.fields["total_bytes"] == "4293918720"


def test_meminfo_and_uptime() -> None:
    rows = read("mem.info")
    assert rows[0].fields == {"name": "MemTotal", "value_bytes": "25276489728"}
    assert rows[3].fields == {"name": "HugePages_Total", "value": "0"}
    (load,) = read("20261121T100000Z-uptime.txt")
    assert load.fields == {"load_1m": "2.15", "load_5m": "2.29", "load_15m": "2.30", "up": "5 days, 20 mins", "users": "3"}


def test_other_texts_are_no_processes() -> None:
    for text in (
        "COMMAND   PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n",
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER\n",
        "[0.005s][info][gc] Using G1\n",
        "[2020-05-15 12:00:01,123] INFO x (kafka.Kafka)\n",
        "1 0 0 19492640\n",
        "",
    ):
        assert processes.kind_of(text, "top.txt") is None


def test_threads_below_their_process() -> None:
    process, thread = read("20261121T100000Z-ps-auxm.txt")
    assert (process.kind, process.fields["process_id"], process.fields["resident_bytes"]) == ("process", "4711", "624541696")
    assert (thread.kind, thread.fields) == (
        "process_thread",
        {"user": "kafka", "cpu_percent": "0.1", "state": "Sl", "started": "11:59", "cpu_time": "0:01"},
    )


def test_vmstat_in_its_other_layouts() -> None:
    (wide,) = read("20261121T100000Z-vmstat-wide.txt")
    assert (wide.fields["runnable"], wide.fields["free_bytes"], wide.fields["guest_percent"]) == ("2", "22135820288", "0")
    rows = read("vmstat_-s")
    assert [row.fields for row in rows] == [
        {"name": "total memory", "value_bytes": "25274793984"},
        {"name": "used memory", "value_bytes": "1622798336"},
        {"name": "non-nice user cpu ticks", "value": "794932"},
    ]


def test_a_file_that_is_named_after_its_command_has_its_unit() -> None:
    (memory,) = read("free_-m")
    assert (memory.fields["total_bytes"], memory.fields["available_bytes"], memory.warnings) == (
        "25275924480",
        "22398631936",
        ("no time in the text, the name or the file",),
    )
