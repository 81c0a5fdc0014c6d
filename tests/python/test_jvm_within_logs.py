"""What a JVM prints into the output of a program, between the records of its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingestion.captures import lines_of
from ingestion.captures._within_log import parts_of
from tests.python.pasted import tables_of

ONE = "[2026-11-21 10:43:36,369] INFO [Partition orders-7 broker=2] Expanding ISR from 2,1 to 2,1,3 (kafka.cluster.Partition)\n"
TWO = ONE.replace("10:43:36,369", "10:43:50,001")
STRIMZI = "2026-11-21 10:43:36 INFO  [main] KafkaServer:66 - [KafkaServer id=2] started\n"
UNIFIED = "[2026-11-21T10:43:40.120+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 612M->201M(1024M) 310.554ms\n"
UPTIMES = (
    "[0.012s][info][gc] Using G1\n"
    "[35.120s][info][gc] GC(13) Pause Young (Normal) (G1 Evacuation Pause) 912M->401M(1024M) 20.5ms\n"
    "[37.620s][info][gc] GC(14) Pause Full (G1 Compaction Pause) 1000M->400M(1024M) 1810.25ms\n"
)
JDK8 = (
    "2026-11-21T10:43:40.120+0000: 34.612: [GC pause (G1 Evacuation Pause) (young), 1.0092810 secs]\n"
    "   [Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->6541.5K(256.0M)]\n"
    " [Times: user=0.03 sys=0.01, real=1.01 secs] \n"
)
BARE8 = (
    "[GC (Allocation Failure)  65536K->10720K(251392K), 0.5000000 secs]\n[Full GC (Ergonomics)  90720K->9720K(251392K), 2.2500000 secs]\n"
)
STOPPED = "2026-11-21T10:43:41.500+0000: 36.000: Total time for which application threads were stopped: 0.7500000 seconds, Stopping threads took: 0.0010000 seconds\n"
DUMP = (
    "2026-11-21 10:43:40\nFull thread dump OpenJDK 64-Bit Server VM (11.0.9+11 mixed mode):\n\n"
    '"kafka-request-handler-0" #51 daemon prio=5 os_prio=0 tid=0x00007f3a4d0b2800 nid=0x6b waiting for monitor entry [0x00007f39f1ef0000]\n'
    "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat kafka.log.Log.append(Log.scala:760)\n\t- waiting to lock <0x00000000e0771f18> (a java.lang.Object)\n\n"
    '"kafka-scheduler-1" #40 daemon prio=5 os_prio=0 tid=0x00007f3a4d0b2900 nid=0x5b runnable [0x00007f39f1ef1000]\n'
    "   java.lang.Thread.State: RUNNABLE\n\tat kafka.log.Log.roll(Log.scala:960)\n\t- locked <0x00000000e0771f18> (a java.lang.Object)\n\n"
)
CRASH = (
    "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGBUS (0x7) at pc=0x00007f1a2c3d4e5f, pid=4711, tid=4822\n#\n"
    "# Problematic frame:\n# v  [libjvm.so+0x5c8a13]  Copy::fill_to_memory_atomic(void*, unsigned long, unsigned char)+0x123\n#\n"
)


def rows(folder: Path, text: str, name: str = "kafka.out") -> list[tuple[Any, ...]]:
    """(kind of row, node, time in UTC, duration) of what JVMs printed."""
    tables, _ = tables_of(folder, text, name)
    return [
        (row["row_kind"], row["node_id"], f"{row['captured_at']:%H:%M:%S.%f}"[:12], dict(row["fields"]).get("duration_ms"))
        for row in tables.get("capture_rows", [])
    ]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (UNIFIED, [("gc_pause", 2, "10:43:39.809", "310.554")]),
        (JDK8, [("gc_pause", 2, "10:43:40.120", "1009.281")]),
        (STOPPED, [("safepoint", 2, "10:43:40.750", "750")]),
        # Without a date: at the record before it, as far apart as its uptimes say.
        (
            UPTIMES,
            [("gc_header", 2, "10:43:36.369", None), ("gc_pause", 2, "10:43:36.369", "20.5"), ("gc_pause", 2, "10:43:37.079", "1810.25")],
        ),
        # Without any clock: one after the other.
        (BARE8, [("gc_pause", 2, "10:43:36.369", "500"), ("gc_pause", 2, "10:43:36.869", "2250")]),
        (DUMP, [("thread_dump", 2, "10:43:40.000", None), ("thread", 2, "10:43:40.000", None), ("thread", 2, "10:43:40.000", None)]),
        (CRASH, [("jvm_crash", 2, "10:43:36.369", None)]),
        (UNIFIED + DUMP + UNIFIED, [("gc_pause", 2, "10:43:39.809", "310.554")]),
    ],
)
def test_what_a_jvm_prints_between_records_is_read(printed: str, expected: list[tuple[Any, ...]], tmp_path: Path) -> None:
    found = rows(tmp_path, ONE + printed + TWO)
    assert found[: len(expected)] == expected
    if printed.startswith(UNIFIED) and len(printed) > len(UNIFIED):
        assert [row[0] for row in found] == ["gc_pause", "thread_dump", "thread", "thread", "gc_pause"]


def test_values_of_pauses(tmp_path: Path) -> None:
    tables, count = tables_of(tmp_path, ONE + JDK8 + TWO, "kafka.out")
    (row,) = tables["capture_rows"]
    fields = dict(row["fields"])
    assert (fields["pause_kind"], fields["cause"], fields["heap_after_bytes"], fields["user_ms"]) == (
        "young",
        "G1 Evacuation Pause",
        "6698496",
        "30",
    )
    assert (row["source_kind"], row["byte_offset"], row["captured_known_by"]) == ("gc_log", len(ONE), "content")
    assert (count.records, count.recognised) == (3, 3)


def test_a_dump_within_a_log_has_its_deadlock(tmp_path: Path) -> None:
    cycle = (
        DUMP.replace("   java.lang.Thread.State: RUNNABLE\n", "   java.lang.Thread.State: BLOCKED (on object monitor)\n")
        .replace(
            "\tat kafka.log.Log.roll(Log.scala:960)\n",
            "\tat kafka.log.Log.roll(Log.scala:960)\n\t- waiting to lock <0x00000000e0771f99> (a java.lang.Object)\n",
        )
        .replace(
            "\tat kafka.log.Log.append(Log.scala:760)\n",
            "\tat kafka.log.Log.append(Log.scala:760)\n\t- locked <0x00000000e0771f99> (a java.lang.Object)\n",
        )
    )
    tables, _ = tables_of(tmp_path, ONE + cycle + TWO, "kafka.out")
    assert [row["row_kind"] for row in tables["capture_rows"]].count("deadlock") == 1


def test_records_are_what_they_are_without_these_lines(tmp_path: Path) -> None:
    for record in (ONE, STRIMZI):
        for printed in (UNIFIED, JDK8, UPTIMES, DUMP, CRASH):
            tables, _ = tables_of(tmp_path, record + printed + record, "kafka.out")
            first, second = tables["log_records"]
            assert first["event_type"] == second["event_type"] is not None
            assert first["body"] == second["body"]


def test_of_containers_each_has_its_own(tmp_path: Path) -> None:
    text = "".join(f"kafka-a  | {line}\n" for line in (ONE + UNIFIED + TWO).splitlines())
    text += "".join(
        f"kafka-b  | {line}\n" for line in (ONE.replace("broker=2", "broker=3") + UNIFIED.replace("40.120", "41.120") + TWO).splitlines()
    )
    tables, _ = tables_of(tmp_path, text, "compose.log")
    assert rows(tmp_path, text, "compose.log") == [("gc_pause", 2, "10:43:39.809", "310.554"), ("gc_pause", 3, "10:43:40.809", "310.554")]
    assert [text.encode()[row["byte_offset"] :].startswith(b"kafka-") for row in tables["capture_rows"]] == [True, True]


def test_lines_before_the_first_record_are_read(tmp_path: Path) -> None:
    assert rows(tmp_path, UNIFIED + ONE + TWO) == [("gc_pause", 2, "10:43:39.809", "310.554")]


@pytest.mark.parametrize(
    "printed",
    [
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat kafka.log.Log.append(Log.scala:760)\n",
        "\t# A fatal error may have many causes\n\tsee [GC tuning] and [gc]\n",
        "java.lang.IllegalStateException: [gc] is no name, use [GC\n\tat a.b.C.d(C.java:12)\n",
        "\tgc.log = [gc, GC]\n",
    ],
)
def test_what_only_has_such_words_gives_nothing(printed: str, tmp_path: Path) -> None:
    assert rows(tmp_path, ONE + printed + TWO) == []


def test_a_part_ends_where_another_kind_begins() -> None:
    found = [
        (next(iter(module.KINDS)), len(part))
        for module, part in parts_of(list(lines_of(UNIFIED + CRASH + "and then it was gone\n" + JDK8.rstrip("\n"))))
    ]
    assert found == [("gc_log", 2), ("hs_err", 7), ("gc_log", 3)]
