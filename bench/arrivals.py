"""Measures new lines on top of a history: they are ingested and built in the process that has built the history."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.fleet import Fleet
from bench.journal import DAY_MS, HOUR_MS
from bench.measurements import LAYOUT, Row, Stand, append, measurement, middle, pieces
from bench.plan import BUSY, SMALL, TEN


@measurement(quick=((2,),), full=((2,), (275,)), limit=240)
def two_days(stand: Stand, days: int) -> Iterator[Row]:
    """Two days of one broker on top of others."""
    fleet = Fleet(days=days + 2, rotation="day", kept=(1,), plan=BUSY, has_truth=False, later_ms=2 * DAY_MS)
    yield from arrived(stand, fleet, f"2 days on {days} of one broker")


@measurement(quick=(), full=((20, 30), (200, 365)))
def an_hour(stand: Stand, clusters: int, days: int) -> Iterator[Row]:
    """An hour of all clusters on top of their days, and the hour after it: by the first one, tables that a first build has written are laid out
    for what comes."""
    fleet = Fleet(clusters=clusters, days=days, rotation="day", plan=SMALL, has_truth=False, later_ms=HOUR_MS)
    yield from arrived(stand, fleet, f"1 hour on {days} days of {clusters} clusters", ("what arrived", "the hour after it"))


@measurement(quick=((1, 2),), full=((1, 275), (10, 180)), limit=420)
def five_minutes(stand: Stand, brokers: int, days: int) -> Iterator[Row]:
    """An hour on top of a history, five minutes at a time: ten of them in the process that has built the history, two by commands of their own, as
    cron starts them."""
    one = Fleet(days=days, rotation="day", kept=(1,), plan=BUSY, has_truth=False, later_ms=HOUR_MS)
    logs, later = set_apart(stand, one if brokers == 1 else replace(one, kept=None, plan=TEN))
    warehouse, of = stand.empty("arrived"), f"5 minutes on {days} days of {'one broker' if brokers == 1 else f'{brokers} brokers'}"
    stand.ingest(warehouse, logs, Row(""))
    stand.build(warehouse, Row(""))
    ingested, built, run = list[Row](), list[Row](), list[Row]()
    hour = pieces(later.iterdir(), minutes=5)
    for number, piece in enumerate(hour):
        for file, lines in piece.items():
            with (logs / file.parts[0] / "input" / Path(*file.parts[1:])).open("ab") as log:
                log.write(lines)
        if number < len(hour) - 2:
            read = Row("")
            stand.ingest(warehouse, logs, read)
            ingested.append(read)
            built.append(stand.build(warehouse, Row("", records=read.records)))
        else:
            run.append(stand.command(["run", str(logs), "--layout", LAYOUT, "--timezone", "UTC", "--warehouse", str(warehouse)]))
    for what, rows in (("ingest", ingested), ("build", built)):
        yield middle(rows, Row(f"{what}, median of {len(rows)}", of))
        yield slowest(rows, what, of)
    yield slowest(run, "chronicle run, in a new process", of)


def slowest(rows: Sequence[Row], what: str, of: str) -> Row:
    """The slowest of some rows; `what`, `of`: what they measured."""
    return replace(max(rows, key=lambda row: row.seconds or 0), what=f"{what}, slowest of {len(rows)}", of=of)


def arrived(stand: Stand, fleet: Fleet, of: str, names: Sequence[str] = ("what arrived",)) -> Iterator[Row]:
    """Build what a fleet wrote first, then what it wrote later.  `names`: what it is called; of several, each is the same lines an hour later
    than the one before, on top of that."""
    logs, later = set_apart(stand, fleet)
    warehouse = stand.empty("arrived")
    stand.ingest(warehouse, logs, Row("", ""))
    yield stand.build(warehouse, Row("build of what was there", of))
    for hours, name in enumerate(names):
        for lines in sorted(later.iterdir()):
            append(lines, logs / lines.name / "input", hours)
        read = Row(f"ingest of {name}", of)
        stand.ingest(warehouse, logs, read)
        yield read
        row = stand.build(warehouse, Row(f"build of {name}", of))
        row.records = read.records
        yield row


def set_apart(stand: Stand, fleet: Fleet) -> tuple[Path, Path]:
    """A copy of a fleet's logs, and a folder with what its clusters wrote later."""
    logs, later = stand.copy_of(stand.logs(fleet)), stand.empty("later")
    later.mkdir(parents=True)
    # A quiet cluster has written nothing later.
    for lines in sorted(logs.glob("cluster-*/later")):
        # Moved away, or it would be read at once, as the logs of another cluster.
        shutil.move(lines, later / lines.parent.name)
    return logs, later
