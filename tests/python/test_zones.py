"""Local clocks to UTC around the end and the beginning of daylight saving."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import Counted
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found
from tests.python.test_records import task

BERLIN = ((-(10**15), "Europe/Berlin"),)


def log(*times: str, day: str = "2026-10-25") -> str:
    return "".join(f"[{day} {time}:00,000] INFO at {time} (kafka.server.KafkaServer)\n" for time in times)


def utc(path: Path, text: str, start: int = 0) -> tuple[list[str], set[str]]:
    """(times in UTC, doubts) of a log from a byte on."""
    path.write_text(text)
    counted: dict[str, Counted] = {}
    given = [task(path, zones=BERLIN, start=start, end=len(text))]
    rows = [row for batch in read_tasks(given, counted, {}) for row in batch.to_pylist()]
    return [row["logged_at"].strftime("%H:%M") for row in rows], counted["s"].doubts


# In Berlin the clock goes from 03:00 back to 02:00, at 01:00 UTC.
@pytest.mark.parametrize(
    ("times", "expected", "is_doubtful"),
    [
        (("01:50", "02:10", "02:50", "02:05", "02:59", "03:01"), ("23:50", "00:10", "00:50", "01:05", "01:59", "02:01"), False),
        # Threads may write slightly out of order.
        (("01:59", "02:31", "02:30", "02:32"), ("23:59", "00:31", "00:30", "00:32"), False),
        # A log that begins within the hour: a step back shows that it began in the first of the two.
        (("02:40", "02:10", "03:10"), ("00:40", "01:10", "02:10"), False),
        (("02:40", "02:50", "03:10"), ("00:40", "00:50", "02:10"), True),
        (("01:00", "03:10"), ("23:00", "02:10"), False),
    ],
)
def test_the_order_of_records_tells_which_of_two_equal_hours_it_is(
    tmp_path: Path, times: tuple[str, ...], expected: tuple[str, ...], is_doubtful: bool
) -> None:
    found, doubts = utc(tmp_path / "server.log", log(*times))
    assert tuple(found) == expected
    assert bool(doubts) == is_doubtful
    assert all("on 2026-10-25" in doubt and "twice" in doubt for doubt in doubts)


def test_a_later_run_goes_on_in_the_hour_in_which_the_earlier_one_ended(tmp_path: Path) -> None:
    text = log("01:50", "02:50", "02:05", "02:15", "02:25", "03:05")
    start = len(log("01:50", "02:50", "02:05"))
    assert utc(tmp_path / "server.log", text, start) == (["01:15", "01:25", "02:05"], set())


def test_pieces_of_one_log_share_their_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.bronze.pieces.CHUNK", 200)
    found, doubts = utc(tmp_path / "server.log", log("01:50", "02:10", "02:50", "02:05", "02:30", "02:59", "03:01"))
    assert (found, doubts) == (["23:50", "00:10", "00:50", "01:05", "01:30", "01:59", "02:01"], set())


def test_an_hour_that_the_clock_skips_is_doubtful(tmp_path: Path) -> None:
    found, doubts = utc(tmp_path / "server.log", log("01:59", "02:30", "03:01", day="2026-03-29"))
    assert found[0] == "00:59" and found[2] == "01:01"
    (doubt,) = doubts
    assert "times that the clock skips on 2026-03-29" in doubt


LINES = {
    "a JSON log of a service": '{"timestamp":"2026-11-21T09:00:0%d.000Z","level":"INFO","logger":"kafka.server.KafkaServer","message":"[KafkaServer id=1] started"}\n',
    "an ECS log": '{"@timestamp":"2026-11-21T10:00:0%d.000+01:00","log.level":"INFO","log.logger":"kafka.server.KafkaServer","message":"[KafkaServer id=1] started"}\n',
    "a local time in Docker's JSON": '{"log":"[2026-11-21 10:00:0%d,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\\n","stream":"stdout","time":"2026-11-21T09:00:0%d.001Z"}\n',
    "a local time": "[2026-11-21 10:00:0%d,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n",
}
STATED = {
    "a JSON log of a service": ("content", ()),
    "an ECS log": ("content", ()),
    "a local time in Docker's JSON": ("default", ()),
    "a local time": ("default", ("time zone unknown; taken as UTC",)),
}


@pytest.mark.parametrize("layout", LINES)
def test_the_zone_is_unknown_only_where_no_record_states_it(layout: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    line = LINES[layout]
    path.write_text("".join(line % ((second,) * line.count("%d")) for second in range(9)))
    (source,) = place([inspect(Found.at(str(path), "c", 1))])
    assert (source.zone_known_by, source.warnings) == STATED[layout]
