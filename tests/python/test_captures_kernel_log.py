"""The kernel's log: dmesg and syslog."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

from ingestion.captures import About, Row, lines_of
from ingestion.captures.system import kernel_log
from ingestion.records.unwrap import find_wrappers

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "kernel_log"


def read(name: str) -> list[Row]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = kernel_log.kind_of(text, name)
    assert kind is not None
    return [row for row in kernel_log.read(kind, lines_of(text), About(name)) if isinstance(row, Row)]


def test_the_out_of_memory_killer() -> None:
    invoked, choice, kill = read("20261121T100000Z-dmesg.txt")
    assert invoked.kind == "kernel_message"
    assert choice.fields == {"since_boot_seconds": "12345.678999", "process_id": "18135", "process_name": "java", "score": "901"}
    assert kill.fields == {
        "since_boot_seconds": "12345.679999",
        "process_id": "18135",
        "process_name": "java",
        "virtual_bytes": "5993689088",
        "resident_bytes": "624541696",
    }
    assert (choice.kind, kill.kind) == ("oom_choice", "oom_kill")
    assert kill.warnings == ("the kernel says seconds since boot; the time is the capture's",)
    _, timed = read("20261121T100000Z-dmesg-T.txt")
    assert (timed.kind, timed.at, timed.at_known_by) == ("oom_kill", dt.datetime(2026, 11, 21, 9, 59, 1, tzinfo=dt.UTC), "content")
    syslog, flood = read("20261121T100000Z-messages.txt")
    assert (syslog.kind, syslog.at, syslog.fields["host"]) == ("oom_kill", dt.datetime(2025, 12, 31, 23, 59, tzinfo=dt.UTC), "broker-1")
    assert (flood.kind, flood.fields["since_boot_seconds"]) == ("kernel_message", "12345.678901")


def test_syslog_with_iso_times_and_dmesg_with_levels() -> None:
    text = "2026-11-21T17:59:00.123456+08:00 broker-1 kernel: Out of memory: Killed process 42 (java) total-vm:100kB, anon-rss:50kB\n"
    assert kernel_log.kind_of(text, "x") == "kernel_log"
    (row,) = kernel_log.read("kernel_log", lines_of(text), About("x"))
    assert isinstance(row, Row)
    assert (row.kind, row.at) == ("oom_kill", dt.datetime(2026, 11, 21, 9, 59, 0, 123456, tzinfo=dt.UTC))
    text = "kern  :warn  : [  123.456789] java invoked oom-killer: order=0\n"
    (row,) = kernel_log.read("kernel_log", lines_of(text), About("x"))
    assert isinstance(row, Row)
    assert row.fields == {"since_boot_seconds": "123.456789"}


def test_a_log_beside_them_knows_the_year() -> None:
    text = (
        "Dec 31 23:59:58 kfk2 kernel: Out of memory: Killed process 2291 (java) total-vm:100kB, anon-rss:50kB\n"
        "Dec 31 23:59:59 kfk2 start.sh[1]: [2022-12-31 23:59:59,018] INFO starting (kafka.server.KafkaServer)\n"
        "Jan  1 00:00:02 kfk2 systemd[1]: kafka.service: Failed with result 'signal'.\n"
    )
    rows = list(kernel_log.read_beside(lines_of(text), About("x", dt.datetime(2026, 11, 21, tzinfo=dt.UTC))))
    assert [(row.kind, row.at) for row in rows] == [
        ("oom_kill", dt.datetime(2022, 12, 31, 23, 59, 58, tzinfo=dt.UTC)),
        ("unit_failed", dt.datetime(2023, 1, 1, 0, 0, 2, tzinfo=dt.UTC)),
    ]


def test_syslog_may_print_a_priority_and_parts_of_seconds() -> None:
    text = (
        "<4>Mar 11 04:12:09 kb7 kernel: Out of memory: Killed process 2291 (java) total-vm:100kB, anon-rss:50kB\n"
        "Mar 11 04:12:09.334512 kb7 systemd[1]: kafka.service: Failed with result 'signal'.\n"
        "Mar 11 04:12:10.104410 kb7 start.sh[1]: [2022-03-11 04:12:10,103] INFO starting (kafka.server.KafkaServer)\n"
    )
    rows = list(kernel_log.read_beside(lines_of(text), About("x")))
    assert [(row.kind, row.at) for row in rows] == [
        ("oom_kill", dt.datetime(2022, 3, 11, 4, 12, 9, tzinfo=dt.UTC)),
        ("unit_failed", dt.datetime(2022, 3, 11, 4, 12, 9, 334512, tzinfo=dt.UTC)),
    ]


def test_syslog_after_rfc_5424() -> None:
    text = (
        "<4>1 2023-08-14T05:11:02.125Z kfk2 kernel - - - Out of memory: Killed process 2291 (java) total-vm:100kB, anon-rss:50kB\n"
        "<30>1 2023-08-14T05:11:03Z kfk2 systemd 1 - [meta seq=\"7\"] kafka.service: Failed with result 'signal'.\n"
        "<30>1 2023-08-14T05:11:04Z kfk2 kafka 7 - - [2023-08-14 05:11:04,018] INFO the kernel is up (kafka.server.KafkaServer)\n"
    )
    rows = list(kernel_log.read_beside(lines_of(text), About("x")))
    assert [(row.kind, row.at, row.fields["host"]) for row in rows] == [
        ("oom_kill", dt.datetime(2023, 8, 14, 5, 11, 2, 125000, tzinfo=dt.UTC), "kfk2"),
        ("unit_failed", dt.datetime(2023, 8, 14, 5, 11, 3, tzinfo=dt.UTC), "kfk2"),
    ]


def test_a_journal_as_json() -> None:
    def entry(second: int, program: str, message: object) -> str:
        micros = 1_691_989_862_125_000 + second * 1_000_000
        return (
            json.dumps({"__REALTIME_TIMESTAMP": str(micros), "_HOSTNAME": "kfk2", "SYSLOG_IDENTIFIER": program, "MESSAGE": message}) + "\n"
        )

    kernel = entry(0, "kernel", "Out of memory: Killed process 2291 (java) total-vm:100kB, anon-rss:50kB")
    text = (
        entry(-1, "kafka", "[2023-08-14 05:11:01,018] INFO the kernel is up (kafka.server.KafkaServer)")
        + kernel
        + entry(1, "systemd", "kafka.service: Failed with result 'oom-kill'.")
        + entry(2, "kernel", [27, 91])
        + kernel.replace('"1691989862125000"', "null")
    )
    assert find_wrappers(text.encode()) == ("journal_json",)
    rows = list(kernel_log.read_beside(lines_of(text), About("x")))
    assert [(row.kind, row.at, row.fields["host"]) for row in rows] == [
        ("oom_kill", dt.datetime(2023, 8, 14, 5, 11, 2, 125000, tzinfo=dt.UTC), "kfk2"),
        ("unit_failed", dt.datetime(2023, 8, 14, 5, 11, 3, 125000, tzinfo=dt.UTC), "kfk2"),
        ("kernel_message", dt.datetime(2023, 8, 14, 5, 11, 4, 125000, tzinfo=dt.UTC), "kfk2"),
    ]
    assert kernel_log.kind_of(kernel, "x") == "kernel_log"
    assert [row.kind for row in kernel_log.read("kernel_log", lines_of(kernel), About("x")) if isinstance(row, Row)] == ["oom_kill"]


def test_other_texts_are_no_kernel_log() -> None:
    for text in (
        "[0.005s][info][gc] Using G1\n",
        "[2020-05-15 12:00:01,123] INFO x (kafka.Kafka)\n",
        "Nov 21 09:59:00 broker-1 sshd[1]: x\n",
        "",
    ):
        assert kernel_log.kind_of(text, "dmesg.txt") is None
