"""GC logs whose offset has the wrong sign, as the JDK of macOS prints it, beside other clocks that show the zone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.bronze.capture_rows import read_capture
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import Counted, task_of
from ingestion.reading.zones import is_mirrored
from ingestion.sources.discover import find_files
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found, Identified

# 10:00:00 five hours west of Greenwich.
UTC = dt.datetime(2026, 7, 1, 15, 0, tzinfo=dt.UTC)
MILLIS = int(UTC.timestamp() * 1000)
AT = "[2026-07-01 10:00:00,000] INFO"
CLOCKS = {
    "start": f"{AT} Kafka startTimeMs: {MILLIS - 3} (org.apache.kafka.common.utils.AppInfoParser)\n",
    "znode": f"{AT} Stat of the created znode at /brokers/ids/1 is: 7,7,{MILLIS - 9},{MILLIS - 9},1,0,0,72057637872041985,212,0,7 (kafka.zk.KafkaZkClient)\n",
    "conflict": f'{AT} conflict in /controller data: {{"version":1,"brokerid":1,"timestamp":"{MILLIS - 40}"}} stored data: '
    f'{{"version":1,"brokerid":1,"timestamp":"{MILLIS - 130_000}"}} (kafka.utils.ZkUtils$)\n',
}
NO_CLOCK = f"{AT} [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
UNIFIED = "[2026-07-01T10:00:05.000{}][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 10M->5M(64M) 5.000ms\n"
JDK8 = "2026-07-01T10:00:05.000{}: 5.000: [GC pause (G1 Evacuation Pause) (young), 0.0050000 secs]\n"


def look(folder: Path, timezone: str | None = None) -> dict[str, Identified]:
    found = identify(place([inspect(Found.at(path, "c")) for path in find_files(str(folder))], timezone=timezone))
    return {str(Path(source.shown).relative_to(folder.resolve())): source for source in found}


def pauses(source: Identified) -> list[dt.datetime]:
    task = task_of(source, False, 1, dt.datetime(2026, 7, 2, tzinfo=dt.UTC))
    rows = [row for _, batch in read_capture(task, Counted()) for row in batch.to_pylist()]
    return [row["captured_at"] for row in rows if row["row_kind"] == "gc_pause"]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize(("text", "begins_before_ms"), [(UNIFIED, 5), (JDK8, 0)])
def test_another_clock_of_the_folder_wins_over_the_printed_offset(tmp_path: Path, clock: str, text: str, begins_before_ms: int) -> None:
    (tmp_path / "server.log").write_text(CLOCKS[clock])
    (tmp_path / "gc.log").write_text(text.format("+0500") * 2)
    found = look(tmp_path)
    assert {zone for source in found.values() for _, zone in source.zones} <= {"-05:00", "-0500"}
    assert pauses(found["gc.log"]) == [UTC + dt.timedelta(seconds=5, milliseconds=-begins_before_ms)] * 2
    assert found["gc.log"].warnings == ("its offset +0500 has the wrong sign, as other clocks show; taken as -0500",)
    assert found["server.log"].warnings == ()


def test_a_right_offset_stays_and_one_without_proof_is_believed(tmp_path: Path) -> None:
    for name, clock, offset in (("right", CLOCKS["start"], "-0500"), ("alone", NO_CLOCK, "+0500")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text(clock)
        (tmp_path / name / "gc.log").write_text(UNIFIED.format(offset))
    right = look(tmp_path / "right")
    assert (pauses(right["gc.log"])[0].hour, right["gc.log"].warnings) == (15, ())
    alone = look(tmp_path / "alone")
    assert (pauses(alone["gc.log"])[0].hour, alone["gc.log"].warnings) == (5, ())
    assert alone["server.log"].zones[-1][1] == "+0500"


def test_a_gc_log_in_a_folder_of_its_own_is_held_against_the_cluster(tmp_path: Path) -> None:
    for name, text in (("logs/server.log", CLOCKS["start"]), ("gc/gc.log", UNIFIED.format("+0500"))):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    found = look(tmp_path)
    assert (pauses(found["gc/gc.log"])[0].hour, found["gc/gc.log"].zones[-1][1]) == (15, "-0500")


def test_a_zone_that_was_given_tells_the_wrong_sign_too(tmp_path: Path) -> None:
    (tmp_path / "gc.log").write_text(UNIFIED.format("+0500"))
    # -05:00 in July.
    assert pauses(look(tmp_path, "America/Chicago")["gc.log"])[0].hour == 15
    assert pauses(look(tmp_path, "Asia/Karachi")["gc.log"])[0].hour == 5


def test_of_two_clocks_in_one_line_that_of_utc_counts(tmp_path: Path) -> None:
    line = UNIFIED.format("+0500")
    (tmp_path / "utc.log").write_text(line.replace("][info]", "][2026-07-01T15:00:05.000+0000][info]"))
    (tmp_path / "millis.log").write_text(line.replace("][info]", f"][{MILLIS + 5000}ms][info]"))
    assert {pauses(source)[0] for source in look(tmp_path).values()} == {UTC + dt.timedelta(milliseconds=4995)}


@pytest.mark.parametrize(
    ("printed", "proven", "expected"),
    [
        (5, -5, True),
        (6, -5, True),
        (-2, 1, True),
        (5, 5, False),
        (5, 4, False),
        (0, 0, False),
        (1, 0, False),
        (-1, 1, True),
        (5, -8, False),
    ],
)
def test_an_offset_is_mirrored_if_only_its_negative_fits_summer_time_included(printed: int, proven: int, expected: bool) -> None:
    assert is_mirrored(printed * 3_600_000, proven * 3_600_000) is expected


def test_the_clock_of_a_container_runtime_wins_over_an_offset_with_the_wrong_sign(tmp_path: Path) -> None:
    stamp = UTC.strftime("%Y-%m-%dT%H:%M:%S.000000000Z")
    (tmp_path / "pod.log").write_text(f"{stamp} stdout F {NO_CLOCK}")
    (tmp_path / "gc.log").write_text(UNIFIED.format("+0500"))
    source = look(tmp_path)["pod.log"]
    assert source.zones[-1][1] == "+0500"
    task = task_of(source, False, 1, dt.datetime(2026, 7, 2, tzinfo=dt.UTC))
    [row] = [row for batch in read_tasks([task], cache={}) for row in batch.to_pylist()]
    assert (row["logged_at"], row["zone"]) == (UTC, "-05:00")
