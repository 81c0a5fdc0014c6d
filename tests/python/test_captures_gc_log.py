"""GC logs: values typed by hand from the fixtures, and totals against awk."""

from __future__ import annotations

import datetime as dt
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

from ingestion.captures import About, Line, Row, lines_of
from ingestion.captures.jvm import gc_log

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "gc_log"


def rows(name: str, about: About | None = None) -> list[Row]:
    return list(gc_log.read("gc_log", lines_of((FIXTURES / name).read_text()), about or About(name)))


def of_kind(found: list[Row], kind: str) -> list[Row]:
    return [row for row in found if row.kind == kind]


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def said(row: Row, *names: str) -> tuple[str | None, ...]:
    return tuple(row.fields.get(name) for name in names)


def test_total_of_a_broker_is_that_of_awk() -> None:
    name = "kraft-391-node-12-kafkaServer-gc.log"
    program = r'/GC\([0-9]+\) Pause .*ms$/ { sub(/ms$/, "", $NF); total += $NF * 1000; count++ } END { printf "%d %d", count, total }'
    awk = subprocess.run(["awk", program, FIXTURES / name], capture_output=True, text=True, check=True).stdout
    pauses = of_kind(rows(name), "gc_pause")
    assert f"{len(pauses)} {sum(Decimal(row.fields['duration_ms']) for row in pauses) * 1000:.0f}" == awk == "25 451955"


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir() if "-17-" in path.name or "-25-" in path.name))
def test_totals_of_all_collectors_are_those_of_awk(name: str) -> None:
    program = r'/GC\([0-9]+\) ([YyO]: )?Pause .*[0-9]ms$/ { sub(/ms$/, "", $NF); total += $NF * 1000; count++ } END { printf "%d %d", count, total }'
    awk = subprocess.run(["awk", program, FIXTURES / name], capture_output=True, text=True, check=True).stdout
    pauses = of_kind(rows(name), "gc_pause")
    assert f"{len(pauses)} {sum(Decimal(row.fields['duration_ms']) for row in pauses) * 1000:.0f}" == awk


def test_unified_pause_with_all_it_says() -> None:
    found = rows("serial-17-time-uptime-level-tags.log")
    first = of_kind(found, "gc_pause")[0]
    assert first.fields == {
        "gc_id": "0",
        "pause_kind": "young",
        "pause_name": "Pause Young (Allocation Failure)",
        "cause": "Allocation Failure",
        "collector": "Serial",
        "duration_ms": "7.8",
        "heap_before_bytes": "8388608",
        "heap_after_bytes": "7340032",
        "heap_total_bytes": "31457280",
        "metaspace_before_bytes": "136192",
        "metaspace_after_bytes": "136192",
        "metaspace_total_bytes": "327680",
        "user_ms": "0",
        "sys_ms": "0",
        "real_ms": "10",
        "uptime_ms": "58.2",
    }
    # printed at .603; gc,start was printed at .595
    assert (first.at, first.at_known_by) == (at("2026-11-21T15:20:41.595200"), "content")
    assert first.raw_text.count("\n") == 1
    safepoint = of_kind(found, "safepoint")[0]
    assert said(safepoint, "operation", "duration_ms", "reach_ms") == ("GenCollectForAllocation", "7.879975", "0.003567")
    assert safepoint.at == at("2026-11-21T15:20:41.595120")
    header = of_kind(found, "gc_header")
    assert [said(row, "collector", "jvm_version", "cpus", "memory_bytes", "heap_max_bytes") for row in header] == [
        ("Serial", "17.0.15+6-Debian-1deb12u1 (release)", "2", "25273827328", "67108864")
    ]
    full = [row for row in of_kind(found, "gc_pause") if row.fields["pause_kind"] == "full"]
    assert said(full[0], "gc_id", "duration_ms", "heap_before_bytes", "heap_after_bytes") == ("4", "4.251", "28311552", "22020096")


def test_every_decoration_at_once() -> None:
    pause = of_kind(rows("g1-17-all-decorations.log"), "gc_pause")[0]
    assert said(pause, "gc_id", "pause_kind", "duration_ms", "cause") == ("0", "young", "7.251", "G1 Evacuation Pause")
    assert pause.at is not None
    assert pause.at_known_by == "content"


def test_no_decorations_at_all() -> None:
    found = rows("g1-17-none.log")
    assert [row.kind for row in found if row.kind != "gc_pause"] == ["gc_header"]
    assert {row.at for row in found} == {None}
    assert said(of_kind(found, "gc_pause")[0], "gc_id", "collector", "pause_kind") == ("0", "G1", "young")


def test_process_and_thread_ids_are_no_times() -> None:
    pause = of_kind(rows("parallel-17-utctime-pid-tid.log"), "gc_pause")[0]
    assert said(pause, "pause_kind", "collector", "duration_ms", "uptime_ms") == ("young", "Parallel", "7.162", None)
    assert pause.at == at("2026-11-21T15:20:42.899838")


def test_uptime_alone_is_dated_by_the_last_change_of_the_file() -> None:
    modified = at("2026-11-21T15:21:00")
    found = rows("g1-17-uptime.log", About("gc.log", modified_at=modified))
    first, last = of_kind(found, "gc_pause")[0], of_kind(found, "gc_pause")[-1]
    assert said(first, "uptime_ms", "duration_ms") == ("54.338", "5.662")
    assert first.at_known_by == "modified"
    assert first.warnings == ("the log has uptimes alone; its last one is taken for the time of the file's last change",)
    assert last.at is not None
    assert last.at + dt.timedelta(milliseconds=float(last.fields["duration_ms"])) == modified


def test_uptime_alone_is_dated_by_the_start_in_the_name() -> None:
    zone = dt.timezone(dt.timedelta(hours=8))
    first = of_kind(rows("g1-17-uptime.log", About("logs/gc-2026-11-21_23-20-46.log", zone=zone)), "gc_pause")[0]
    assert (first.at, first.at_known_by) == (at("2026-11-21T15:20:46.054338"), "name")
    unknown = of_kind(rows("g1-17-uptime.log"), "gc_pause")[0]
    assert (unknown.at, unknown.warnings) == (None, ("the log has uptimes alone, and nothing says when its JVM started",))


def test_a_second_run_in_a_log_of_uptimes_leaves_the_first_without_time() -> None:
    lines = [
        "[50.000s][info][gc] GC(9) Pause Cleanup 10M->10M(64M) 1.000ms",
        "[2.000s][info][gc] GC(0) Pause Cleanup 10M->10M(64M) 1.000ms",
    ]
    found = list(gc_log.read("gc_log", lines_of("\n".join(lines)), About("gc.log", modified_at=at("2026-11-21T15:21:00"))))
    assert [(row.fields["uptime_ms"], row.at) for row in found] == [("49999", None), ("1999", at("2026-11-21T15:20:59.999"))]


def test_nanoseconds_of_any_clock_date_as_uptimes_do() -> None:
    pauses = of_kind(rows("serial-25-timenanos.log", About("gc.log", modified_at=at("2026-11-21T15:21:00"))), "gc_pause")
    assert said(pauses[1], "gc_id", "duration_ms", "uptime_ms") == ("1", "9.098", None)
    assert pauses[1].at is not None and pauses[0].at is not None
    assert pauses[1].at > pauses[0].at


def test_zgc_pauses_phases_cycles_and_stalls() -> None:
    found = rows("z-17.log")
    assert [said(row, "pause_kind", "duration_ms", "collector") for row in of_kind(found, "gc_pause")] == [
        ("mark_start", "0.007", "Z"),
        ("mark_end", "0.022", "Z"),
        ("relocate_start", "0.016", "Z"),
    ]
    assert said(of_kind(found, "gc_concurrent")[0], "phase", "duration_ms", "concurrent_kind") == ("Concurrent Mark", "7.74", "phase")
    assert said(of_kind(found, "gc_stall")[0], "stall_kind", "thread", "duration_ms") == ("Allocation Stall", "main", "9.952")


def test_generational_zgc() -> None:
    found = rows("z-25-generational.log")
    assert sorted(said(row, "generation", "pause_kind", "duration_ms") for row in of_kind(found, "gc_pause")) == [
        ("old", "mark_end", "0.013"),
        ("old", "relocate_start", "0.01"),
        ("young", "mark_end", "0.02"),
        ("young", "mark_start", "0.022"),
        ("young", "relocate_start", "0.011"),
    ]
    cycle = next(row for row in found if row.fields.get("concurrent_kind") == "cycle")
    assert said(cycle, "phase", "cause", "duration_ms", "heap_before_bytes", "heap_after_bytes", "heap_total_bytes") == (
        "Major Collection (Warmup)",
        "Warmup",
        "9",
        "10485760",
        "20971520",
        None,
    )


def test_shenandoah() -> None:
    pauses = of_kind(rows("shenandoah-17-uptimemillis.log"), "gc_pause")
    assert [said(row, "pause_kind", "cause", "duration_ms", "uptime_ms", "collector") for row in pauses] == [
        ("initial_mark", None, "0.023", "143.977", "Shenandoah"),
        ("final_mark", None, "0.051", "145.949", "Shenandoah"),
    ]
    pauses = of_kind(rows("shenandoah-25-degenerated-full.log"), "gc_pause")
    assert [said(row, "pause_kind", "duration_ms", "heap_after_bytes") for row in pauses] == [
        ("degenerated", "3.129", "50331648"),
        ("full", "18.571", "28311552"),
    ]


def test_evacuation_failure_is_no_cause() -> None:
    pause = of_kind(rows("g1-25-evacuation-failure.log"), "gc_pause")[0]
    assert said(pause, "pause_kind", "cause", "failure") == ("mixed", "G1 Evacuation Pause", "Evacuation Failure: Allocation")


def test_a_full_collection_within_a_young_one_is_marked_and_old_safepoint_wording_is_read() -> None:
    found = rows("jdk11-serial-safepoints.log")
    assert sorted(said(row, "gc_id", "inside_gc_id", "duration_ms") for row in of_kind(found, "gc_pause")) == [
        ("24", None, "42.5"),
        ("25", "24", "41.644"),
    ]
    safepoint = of_kind(found, "safepoint")[0]
    assert said(safepoint, "operation", "duration_ms", "reach_ms") == ("GenCollectForAllocation", "43", "0.5")
    assert safepoint.at == at("2020-10-16T10:00:01")
    assert said(of_kind(found, "gc_pause")[0], "real_ms") == ("40",)


def test_names_of_jdk_9_a_warning_and_a_cut_end() -> None:
    found = rows("jdk9-g1.log")
    assert [said(row, "pause_kind", "failure", "duration_ms") for row in of_kind(found, "gc_pause")] == [
        ("initial_mark", "to-space exhausted", "12"),
        ("mixed", None, "7.5"),
    ]
    assert said(of_kind(found, "gc_message")[0], "level", "message") == ("warning", "GC locker is held; cannot collect")
    assert [row.warnings for row in of_kind(found, "unread")] == [("a pause that is cut",)]


def test_cms_of_jdk_8() -> None:
    found = rows("jdk8-cms.log")
    pauses = of_kind(found, "gc_pause")
    assert [said(row, "pause_kind", "duration_ms", "heap_before_bytes", "heap_after_bytes", "real_ms") for row in pauses] == [
        ("young", "21.25", "286326784", "20971520", "20"),
        ("initial_mark", "28.581", None, "106187776", "30"),
        ("full", "2700.1", "921600000", "317440000", "2700"),
        ("remark", "32.272", None, "326976512", "30"),
        ("young", "11.2", "614400000", "327680000", "10"),
        ("full", "1001", "409600000", "307200000", "1000"),
    ]
    assert [row.fields.get("cause") for row in pauses] == [
        "Allocation Failure",
        "CMS Initial Mark",
        "Allocation Failure",
        "CMS Final Remark",
        "Allocation Failure",
        "System.gc()",
    ]
    assert said(pauses[2], "failure", "collector", "metaspace_total_bytes") == ("concurrent mode failure", "CMS", "1103101952")
    assert pauses[2].at == at("2021-03-04T08:00:05")
    mark = of_kind(found, "gc_concurrent")[0]
    assert said(mark, "phase", "duration_ms", "active_ms", "user_ms") == ("CMS-concurrent-mark", "3271", "1500", "2000")
    assert mark.at == at("2021-03-04T08:00:02.029")
    safepoint = of_kind(found, "safepoint")[0]
    assert (safepoint.at, *said(safepoint, "duration_ms", "reach_ms")) == (at("2021-03-04T08:00:10"), "12", "0.3")
    header = of_kind(found, "gc_header")
    assert [(row.at, *said(row, "jvm_version", "memory_bytes", "collector", "heap_max_bytes")) for row in header] == [
        (at("2021-03-04T07:59:59.500"), "1.8.0_292-b10", "8589934592", "CMS", "1073741824")
    ]
    assert of_kind(found, "unread") == []


def test_parallel_of_jdk_8_with_uptimes_and_other_switches_between() -> None:
    found = rows("jdk8-parallel-uptime.log", About("gc.log", modified_at=at("2021-01-01T00:00:00")))
    assert [said(row, "pause_kind", "duration_ms", "uptime_ms", "failure") for row in of_kind(found, "gc_pause")] == [
        ("young", "12.3456", "1000", None),
        ("young", "20", "2000", None),
        ("young", "30", "3000", "promotion failed"),
        ("full", "500", "3030", None),
    ]
    assert found[0].at == at("2020-12-31T23:59:57.470")
    assert of_kind(found, "unread") == []


def test_decimal_commas_and_an_offset_that_changes() -> None:
    found = rows("jdk8-serial-decimal-comma.log")
    assert [(row.at, *said(row, "pause_kind", "collector", "duration_ms", "user_ms")) for row in found] == [
        (at("2019-12-02T18:17:46.577"), "young", "Serial", "58.3", "50"),
        (at("2019-12-02T19:17:48"), "full", "Serial", "185.6954", "180"),
    ]


def test_g1_of_jdk_8_interleaved_spliced_and_cut() -> None:
    found = rows("jdk8-g1.log")
    pauses = of_kind(found, "gc_pause")
    assert [said(row, "pause_kind", "cause", "duration_ms", "heap_before_bytes", "heap_after_bytes", "real_ms") for row in pauses] == [
        ("young", "G1 Evacuation Pause", "60", "311951360", "178677350", "60"),
        ("young", "Metadata GC Threshold", "7.366", "220620390", "180355072", "10"),
        ("full", "Allocation Failure", "580", "1073741824", "67108864", "580"),
        ("remark", None, "3", None, None, "0"),
        ("cleanup", None, "0.6806", "146800640", "142606336", "0"),
        ("mixed", "G1 Evacuation Pause", "10", "220200960", "157286400", None),
        ("young", "G1 Evacuation Pause", "5", None, None, "10"),
    ]
    assert pauses[0].fields["failure"] == "to-space exhausted"
    assert pauses[0].at == at("2021-05-05T16:17:25.693")
    assert pauses[6].warnings == ("the line begins with a piece of another",)
    assert [said(row, "phase", "duration_ms") for row in of_kind(found, "gc_concurrent")] == [
        ("concurrent-root-region-scan", "3"),
        ("concurrent-cleanup", "2.1397"),
    ]
    assert [(row.at, row.warnings) for row in of_kind(found, "unread")] == [(at("2021-05-05T16:17:39.693"), ("a pause that is cut",))]


def test_shenandoah_of_jdk_8_prints_the_ends() -> None:
    pauses = of_kind(rows("jdk8-shenandoah.log"), "gc_pause")
    assert [(row.at, *said(row, "pause_kind", "duration_ms")) for row in pauses] == [
        (at("2020-03-11T11:00:00.999017"), "initial_mark", "1.983"),
        (at("2020-03-11T11:00:01.010712"), "final_mark", "2.288"),
    ]


def test_a_long_log_is_read_line_by_line() -> None:
    def lines() -> object:
        for number in range(30_000):
            yield Line(
                number * 100,
                f"[2026-11-21T15:20:41.603+0000][gc] GC({number}) Pause Young (Normal) (G1 Evacuation Pause) 8M->7M(30M) 7.800ms",
            )
            handed.append(number)

    handed: list[int] = []
    reader = gc_log.read("gc_log", lines(), About("gc.log"))
    next(reader)
    assert len(handed) < 100


def test_foreign_lines_are_one_unread_row() -> None:
    text = "[2026-11-21T15:20:41.603+0000][gc] GC(1) Pause Cleanup 10M->10M(64M) 1.000ms\nwhat is this\nand this\n"
    found = list(gc_log.read("gc_log", lines_of(text), About("gc.log")))
    assert [(row.kind, row.raw_text, row.warnings) for row in found if row.kind == "unread"] == [
        ("unread", "what is this\nand this", ("no line of a GC log",))
    ]


def test_jdk_7_and_logs_without_details() -> None:
    text = """
1.000: [GC (CMS Initial Mark)  1234K(5678K), 0.0010000 secs]
2.000: [GC (CMS Final Remark)  2345K(5678K), 0.0020000 secs]
3.000: [Full GC 3.001: [CMS: 100K->90K(200K), 0.0300000 secs] 150K->90K(300K), [CMS Perm : 60K->50K(70K)], 0.0310000 secs] [Times: user=0.03 sys=0.00, real=0.03 secs]
4.000: [GC pause (G1 Evacuation Pause) (young) 24M->4096K(256M), 0.0030000 secs]
5.000: [Full GC (Ergonomics)  100K->50K(200K), 0.1000000 secs]
""".strip()
    found = list(gc_log.read("gc_log", lines_of(text), About("gc.log")))
    assert [said(row, "pause_kind", "duration_ms", "heap_before_bytes", "heap_after_bytes") for row in found] == [
        ("initial_mark", "1", None, "1263616"),
        ("remark", "2", None, "2401280"),
        ("full", "31", "153600", "92160"),
        ("young", "3", "25165824", "4194304"),
        ("full", "100", "102400", "51200"),
    ]
    assert said(found[2], "permgen_before_bytes", "permgen_after_bytes", "metaspace_before_bytes") == ("61440", "51200", None)


def test_a_line_without_end_is_not_looked_at() -> None:
    (found,) = gc_log.read("gc_log", lines_of("1" * 10_000_000), About("gc.log"))
    assert found.warnings == ("a line too long for a GC log",)
    assert gc_log.kind_of("1" * 65536) is None


def test_pauses_on_one_line_and_a_stamp_that_was_parted_from_its_pause() -> None:
    text = """
1.000: [GC (Allocation Failure)  512K->400K(1024K), 0.0010000 secs]2.000: [GC (Allocation Failure)  600K->500K(1024K), 0.0020000 secs] [Times: user=0.01 sys=0.00, real=0.02 secs]
3.000: 3.000: [GC concurrent-root-region-scan-start]
[GC pause (G1 Evacuation Pause) (young), 0.0030000 secs]
 [Times: user=0.01 sys=0.00, real=0.03 secs]
""".strip()
    found = list(gc_log.read("gc_log", lines_of(text), About("gc.log")))
    assert [said(row, "uptime_ms", "duration_ms", "real_ms") for row in found] == [
        ("1000", "1", None),
        ("2000", "2", "20"),
        ("3000", "3", "30"),
    ]


STATISTICS = """GC STATISTICS:
  "(G)" (gross) pauses include VM time: time to notify and block threads, do the pre-
        and post-safepoint housekeeping. Use -XX:+PrintSafepointStatistics to dissect.

Total Pauses (G)            =     0.00 s (a =      995 us) (n =     2) (lvls, us =       43,      117,      445,      676,     1882)
Pause Init Mark (N)         =     0.00 s (a =      373 us) (n =     1) (lvls, us =      223,      320,      357,      402,     5994)
  Scan Roots                =     0.00 s (a =      338 us) (n =     1) (lvls, us =      223,      320,      357,      402,     5994)

Under allocation pressure, concurrent cycles may cancel, and either continue cycle
under stop-the-world pause or result in stop-the-world Full GC.

    1 successful concurrent GCs
    0 Degenerated GCs

ALLOCATION PACING:

Max pacing delay is set for 10 ms.
       1 ms -        2 ms:          12
"""


def test_shenandoah_of_jdk_8_with_its_statistics_and_the_next_jvm_behind_them() -> None:
    begin = "Trigger: Learning 1 of 5. Free (66M) is below initial threshold (67M)\nFree: 60M (60 regions), Max regular: 1024K\n"
    log = (FIXTURES / "jdk8-shenandoah.log").read_text()
    text = begin + log + STATISTICS * 3 + log.replace("07:00", "09:00")
    assert gc_log.kind_of(text) == "gc_log"
    found = list(gc_log.read("gc_log", lines_of(text), About("gc.log")))
    assert [(row.at and row.at.hour, *said(row, "pause_kind", "duration_ms")) for row in of_kind(found, "gc_pause")] == [
        (11, "initial_mark", "1.983"),
        (11, "final_mark", "2.288"),
        (13, "initial_mark", "1.983"),
        (13, "final_mark", "2.288"),
    ]
    assert of_kind(found, "unread") == []


def test_two_jvms_that_write_one_file_keep_their_pauses_apart() -> None:
    """A full collection of the other JVM within a pause is not a part of it, and CPU times of equal numbers are of neither."""
    said_by_two = [
        "GC(7) Pause Young (Allocation Failure)",
        "GC(40) Pause Full (Ergonomics)",
        "GC(40) Pause Full (Ergonomics) 30M->20M(64M) 80.000ms",
        "GC(7) Pause Young (Allocation Failure) 10M->5M(64M) 90.000ms",
        "GC(7) User=0.01s Sys=0.00s Real=0.09s",
        "GC(8) Pause Young (Allocation Failure) 10M->5M(64M) 2.000ms",
        "GC(8) Pause Young (Allocation Failure) 11M->6M(64M) 3.000ms",
        "GC(8) User=0.01s Sys=0.00s Real=0.00s",
        "GC(8) User=0.02s Sys=0.00s Real=0.00s",
    ]
    text = "".join(f"[2026-07-01T10:00:0{n}.000+0000][info][gc] {message}\n" for n, message in enumerate(said_by_two))
    found = of_kind(list(gc_log.read("gc_log", lines_of(text), About("gc.log"))), "gc_pause")
    pauses = sorted(found, key=lambda row: row.offset)
    assert [said(row, "gc_id", "duration_ms", "inside_gc_id", "real_ms") for row in pauses] == [
        ("40", "80", None, None),
        ("7", "90", None, "90"),
        ("8", "2", None, None),
        ("8", "3", None, None),
    ]
    assert [bool(row.warnings) for row in pauses] == [False, False, True, True]
