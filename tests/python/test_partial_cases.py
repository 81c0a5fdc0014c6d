"""The histories of `tests.partial`: after cutting, stretching and delivery they are still the same logs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ingestion.reading.names import ROTATED
from tests import partial
from tests.partial import LEFT_OUT, ROWS_OF_BRONZE, Loads, made_cases
from tests.partial_cases import BEGINNING, Archive, Case, Scale, archives, made, records, stretched, within

SCALE = Scale(rounds=4, most_bytes=60_000, most_days=30)
KAFKA = b"[2026-11-21 10:00:00,500] INFO one (kafka.A)\n[2026-11-21 10:00:02,000] WARN two (kafka.B)\n\tat a.b.C\n"
ZOOKEEPER = b"2026-11-21 10:00:01,000 [myid:1] - INFO  [main:X@1] - three\n"
HALF_PAST = 1_795_255_200_500


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(made_cases(14, 7, archives(), SCALE))


def test_records_are_lines_with_a_stamp_and_all_that_follows() -> None:
    assert records(KAFKA) == [(HALF_PAST, KAFKA[:45]), (HALF_PAST + 1500, KAFKA[45:])]
    assert [at for at, _ in records(ZOOKEEPER)] == [HALF_PAST + 500]
    for other in (
        b"\tat a.b.C\n" + KAFKA,
        b"[2026-11-21T10:00:00.500+0000][gc] Using G1\n",
        b"broker.id=1\n",
        b"",
        KAFKA.replace(b"-21 ", b"-31 "),
    ):
        assert records(other) == []


def test_stretching_moves_all_clocks_alike() -> None:
    logs = {"broker-1/server.log": records(KAFKA), "zookeeper/zookeeper.log": records(ZOOKEEPER)}
    found, said = stretched(logs, 30, Random(1))
    (first, one), (last, two) = found["broker-1/server.log"]
    ((middle, three),) = found["zookeeper/zookeeper.log"]
    assert (middle - first) * 3 == pytest.approx(last - first, abs=3)
    assert last - first >= 2 * 3_600_000
    assert said == f" over {(last - first) / 86_400_000:.1f} days"
    for text, plain in ((one, KAFKA[:45]), (two, KAFKA[45:]), (three, ZOOKEEPER)):
        assert len(text) == len(plain)
        assert text.split(b",", 1)[1][3:] == plain.split(b",", 1)[1][3:]
        ((at, _),) = records(text)
        assert at in (first, middle, last)


def test_a_part_is_one_span_of_time_in_all_files() -> None:
    logs = {name: [(at, b"%04d\n" % at) for at in range(offset, 1000, 2)] for offset, name in enumerate(("even", "odd"))}
    some = within(logs, 500, Random(3))
    times = sorted(at for lines in some.values() for at, _ in lines)
    assert times == list(range(times[0], times[0] + 100))


def test_everything_arrives_and_only_what_is_not_rotated_grows(cases: list[Case]) -> None:
    styles: Counter[str] = Counter()
    for case in cases:
        for path, steps in case.arrivals.items():
            assert steps == sorted(steps)
            assert steps[-1][1] == len(case.files[path])
            if len({size for _, size in steps}) > 1:
                assert not ROTATED.search(path)
                styles["grown"] += 1
            styles["rotated"] += path.rsplit(".", 1)[1][:1].isdigit()
            styles["overlap"] += "/restored-" in path
            styles["copy"] += path.endswith(".bak")
            styles["again"] += len(steps) > 1 and steps[-1][1] == steps[-2][1]
        assert set(case.rounds) <= set(range(4))
    assert min(styles[style] for style in ("grown", "rotated", "overlap", "copy", "again")) > 3


def test_no_two_files_of_a_node_begin_alike_but_for_copies(cases: list[Case]) -> None:
    for case in cases:
        heads = Counter((path.split("/")[0], content[:BEGINNING]) for path, content in case.files.items() if not path.endswith(".bak"))
        assert max(heads.values()) == 1


def test_a_case_is_the_same_by_its_number_and_seed(cases: list[Case]) -> None:
    assert made(5, 7, archives(), SCALE) == cases[5]
    assert made(5, 8, archives(), SCALE) != cases[5]
    assert len({case.story.split()[0].rstrip(",") for case in cases}) == len(archives()) == 14


def test_pieces_are_as_long_as_one_says(tmp_path: Path) -> None:
    log = tmp_path / "plain/broker-1/server.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(b"[2026-11-21 10:%02d:00,000] INFO %d (kafka.A)\n" % (n, n) for n in range(60)))
    found = [Archive("plain", tmp_path / "plain")]
    counts = set()
    for number in range(60):
        case = made(number, 1, found, replace(SCALE, grain_ms=600_000))
        if "over" not in case.story and case.story.endswith("late"):
            counts |= {len(records(content)) for path, content in case.files.items() if "restored" not in path}
    assert counts == {10}


def test_what_arrives_in_pieces_is_the_same_in_bronze(tmp_path: Path, cases: list[Case]) -> None:
    loads = Loads(tmp_path, cases[:3])
    pieces = sum(loads.ingest("partial", loads.deliver(number)) for number in range(SCALE.rounds))
    assert loads.ingest("full", loads.cases) == pieces > 300
    pair = partial.Pair(tmp_path / "full", tmp_path / "partial", partial.Renames(), LEFT_OUT)
    for name in ROWS_OF_BRONZE:
        verdict = pair.compared(name, *(tmp_path / side / "bronze" / name for side in ("full", "partial")))
        assert verdict.differences == [], verdict


def test_the_command_for_one_case_alone() -> None:
    assert partial.without_only(["--seed", "2", "--only", "case-001,case-002", "--cases", "9"]) == ["--seed", "2", "--cases", "9"]
    assert partial.without_only(["--seed", "2"]) == ["--seed", "2"]
