"""`make bench`: the result of a measurement, and of one that fails or takes too long."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import shutil
import time
from pathlib import Path

import pytest

from bench import measurements, run
from bench.fleet import Fleet
from bench.following import WARMING_UP, by_ten_minutes
from bench.measurements import MEASUREMENTS, Row, Stand, append, cpu_seconds, middle, pieces, taken
from bench.run import Measured, held, with_new


@pytest.fixture(autouse=True)
def _loaded() -> None:
    run.load()


def test_a_measurement_that_fails_is_a_row_that_says_so(tmp_path: Path) -> None:
    (row,) = run.measured(tmp_path, "no_such_thing", (3,), 1, 60)
    assert (row.what, row.of, row.cores) == ("no_such_thing", "3", 1)
    assert row.says == "failed with code 1: KeyError: 'no_such_thing'"


def test_a_measurement_that_takes_too_long_is_a_row_that_says_so(tmp_path: Path) -> None:
    (row,) = run.measured(tmp_path, "cold_and_warm", (), 1, 0)
    assert row.says == "stopped: it took longer than 0 s"


def test_the_table_has_a_line_per_row() -> None:
    rows = [
        Row(
            "build, cold",
            "30 days",
            81.26,
            97.5,
            records=826_000,
            peak_bytes=3 << 30,
            executions=98,
            rows_read=1_234_567,
            cores=2,
            engine="local",
        ),
        Row("ingest", "60 MB", 2.0, 3.0, megabytes=64.0, cores=1, engine="plain", says="a | b"),
    ]
    lines = list(run.FORMS["work"].lines(rows))
    assert lines == [
        "| what | of | cores | engine | s | CPU s | MB/s | records | peak GiB | executions | rows read |  |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
        "| build, cold | 30 days | 2 | local | 81.3 | 97.5 |  | 826,000 | 3.00 | 98 | 1,234,567 |  |",
        "| ingest | 60 MB | 1 | plain | 2.0 | 3.0 | 32.0 |  |  |  |  | a / b |",
    ]
    assert "\n".join(lines) in run.page([Measured("by_history", [30], 2, "2026-11-01", "c01", rows)])


def measured(name: str, size: list[int], cores: int, day: str, seconds: float, engine: str = "local") -> Measured:
    return Measured(name, size, cores, day, f"c{day[-2:]}", [Row(name, f"{size}", seconds=seconds, cores=cores, engine=engine)], engine)


def test_a_measurement_takes_the_place_of_its_last() -> None:
    known: list[Measured] = []
    for new in (
        measured("two_days", [2], 2, "2026-11-01", 20.0),
        measured("by_history", [365], 2, "2026-11-01", 90.0),
        measured("by_history", [30], 1, "2026-11-01", 40.0),
        measured("gone", [1], 2, "2026-11-01", 1.0),
        measured("two_days", [2], 2, "2026-11-02", 19.0),
    ):
        known = with_new(known, new)
    assert [(one.name, one.size, one.rows[0].seconds) for one in known] == [
        ("by_history", [30], 40.0),
        ("by_history", [365], 90.0),
        ("two_days", [2], 19.0),
        ("gone", [1], 1.0),
    ]
    text = run.page(known)
    places = [text.index(part) for part in ("2026-11-02, commit c02", "| two_days |", "2026-11-01, commit c01", "| by_history |")]
    assert places == sorted(places)


def test_what_both_engines_did_stands_side_by_side() -> None:
    known: list[Measured] = []
    for new in (
        measured("two_days", [2], 2, "2026-11-01", 20.0),
        measured("two_days", [2], 2, "2026-11-03", 30.0, "plain"),
        measured("by_history", [30], 1, "2026-11-01", 40.0),
        measured("by_history", [30], 2, "2026-11-02", 25.0, "plain"),
    ):
        known = with_new(known, new)
    assert [(one.name, one.engine) for one in known] == [
        ("by_history", "local"),
        ("by_history", "plain"),
        ("two_days", "local"),
        ("two_days", "plain"),
    ]
    # Nothing was measured by both on the same cores but one.
    assert run.of_both(known).splitlines()[-3:] == [
        "| what | of | cores | local, s | plain, s |",
        "|---|---|---:|---:|---:|",
        "| two_days | [2] | 2 | 20.0 (c01) | 30.0 (c03) |",
    ]
    assert run.of_both(known[:2]) == ""


def test_what_was_measured_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "measured.jsonl"
    assert held(file) == []
    one = measured("two_days", [2], 2, "2026-11-01", 20.0)
    file.write_text(json.dumps(dataclasses.asdict(one)) + "\n")
    assert held(file) == [one]


def test_every_measurement_has_sizes_that_its_function_takes() -> None:
    assert MEASUREMENTS
    for name, wanted in MEASUREMENTS.items():
        arguments = wanted.measure.__code__.co_argcount - 1
        assert wanted.full, name
        assert {len(size) for size in (*wanted.quick, *wanted.full)} == {arguments}, name
        assert wanted.measure.__doc__, name


def test_logs_are_made_again_when_what_makes_them_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = tmp_path / "bench"
    shutil.copytree(Path(measurements.__file__).parent, bench)
    monkeypatch.setattr(measurements, "__file__", str(bench / "measurements.py"))
    made: list[Path] = []
    monkeypatch.setattr(measurements, "write_fleet", lambda place, fleet: (place.mkdir(parents=True), made.append(place)))
    stand = Stand(tmp_path / "stand")
    assert stand.logs(Fleet()) == stand.logs(Fleet()) == made[0]
    for name in ("cluster.py", "kraft.py", "voices_kraft.yml", "zookeeper.py"):
        with (bench / name).open("a") as file:
            file.write("# other\n")
        assert stand.logs(Fleet()) == made[-1]
    assert len(set(made)) == 5


def test_what_is_taken_is_filled_in() -> None:
    row = Row("", "")
    before = cpu_seconds()
    with taken(row):
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
    assert row.seconds is not None and row.cpu_seconds is not None
    assert row.seconds >= 0.3 and 0.2 <= row.cpu_seconds <= row.seconds + 0.2
    assert cpu_seconds() - before >= 0.2 and row.peak_bytes


def test_logs_grow_by_what_is_appended(tmp_path: Path) -> None:
    for path, text in (("logs/a/server.log", "1\n"), ("later/a/server.log", "2\n"), ("later/b/server.log", "3\n")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    append(tmp_path / "later", tmp_path / "logs")
    assert (tmp_path / "logs/a/server.log").read_text() == "1\n2\n"
    assert (tmp_path / "logs/b/server.log").read_text() == "3\n"


def test_lines_are_put_off_by_hours(tmp_path: Path) -> None:
    lines = "[2026-12-31 23:30:00,123] INFO at 2026-12-31 23:30:00\n\tat a.b\n2026-12-31 22:59:59,001 [myid:1] - INFO\n"
    (tmp_path / "later").mkdir()
    (tmp_path / "later/server.log").write_text(lines)
    append(tmp_path / "later", tmp_path / "logs", hours=1)
    wanted = "[2027-01-01 00:30:00,123] INFO at 2026-12-31 23:30:00\n\tat a.b\n2026-12-31 23:59:59,001 [myid:1] - INFO\n"
    assert (tmp_path / "logs/server.log").read_text() == wanted


def test_a_stand_leaves_no_warehouses(tmp_path: Path) -> None:
    stand = Stand(tmp_path)
    place = stand.empty("warehouse")
    place.mkdir(parents=True)
    stand.close()
    assert not place.exists()


def test_delays_of_facts_are_told_by_ten_minutes() -> None:
    built = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    began = built + WARMING_UP
    changes = [began + dt.timedelta(seconds=number) for number in (-1, 0, 599, 600, 601, 602)]
    waited = dict(zip(changes, (9.0, 1.0, 2.0, 5.0, 3.0, 4.0), strict=True))
    held = [(built, 7), (changes[1], 8), (changes[2], 9), (changes[3], 8)]
    rows = [(row.of, row.seconds, row.records, row.peak_bytes, row.says) for row in by_ten_minutes(waited, held)]
    assert rows == [
        ("two minutes after the first build of follow at 1 MB/s", 9.0, 1, 7, "90% within 9.0 s, all within 9.0 s"),
        ("minutes 0 to 10 of follow at 1 MB/s", 2.0, 2, 9, "90% within 2.0 s, all within 2.0 s"),
        ("minutes 10 to 20 of follow at 1 MB/s", 4.0, 3, 8, "90% within 5.0 s, all within 5.0 s"),
    ]


def test_logs_come_in_pieces_of_some_minutes(tmp_path: Path) -> None:
    """Lines without a time come with the one before them; nothing is lost, and no line is cut."""
    server, state = tmp_path / "one/server.log", tmp_path / "one/logs/state.log"
    state.parent.mkdir(parents=True)
    server.write_bytes(
        b"[2026-05-01 10:04:59,1] a\n\tat b\n[2026-05-01 10:05:00,0] c\n[2026-05-01 10:09:59,9] d\n[2026-05-01 10:20:00,0] e\n"
    )
    state.write_bytes(b"2026-05-01 10:06:00 f\n")
    names = {path: Path("one") / path.relative_to(tmp_path / "one") for path in (server, state)}
    assert pieces([tmp_path / "one"], minutes=5) == [
        {names[server]: b"[2026-05-01 10:04:59,1] a\n\tat b\n"},
        {names[state]: b"2026-05-01 10:06:00 f\n", names[server]: b"[2026-05-01 10:05:00,0] c\n[2026-05-01 10:09:59,9] d\n"},
        {names[server]: b"[2026-05-01 10:20:00,0] e\n"},
    ]


def test_the_median_of_some_rows_is_that_of_each_figure() -> None:
    rows = [Row("", seconds=seconds, records=records) for seconds, records in ((3.0, 10), (1.0, 40), (2.0, 20))]
    assert middle(rows, Row("build", "5 minutes")) == Row("build", "5 minutes", seconds=2.0, records=20)
