"""Compares ingestion with a bare copy of the same files, with DuckDB and regular expressions, and with grep."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb

from bench.fleet import Fleet
from bench.measurements import LAYOUT, Row, Stand, measurement, taken
from chronicle.project import PROJECT
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import task_of
from ingestion.ingest import look
from ingestion.recognition.recognise import catalogue
from ingestion.sources.discover import Options
from ingestion.sources.identify import identify
from ingestion.sources.spool import Spool

EXAMPLES = PROJECT / "examples"
# What somebody would write to get a few facts today: the frame of a line, and a dozen messages.
FRAME = r"^\[([^\]]+)\] (\w+) (.*) \(([\w.$]+)\)$"
MESSAGES = (
    r"Leader (\S+) starts at leader epoch (\d+) from offset (\d+)",
    r"Follower (\S+) starts at leader epoch (\d+) from offset (\d+)",
    r"Changed partition (\S+) from (\w+) to (\w+) with state LeaderAndIsr\(leader=(-?\d+), leaderEpoch=(\d+)",
    r"Shrinking ISR from ([\d,]+) to ([\d,]+)",
    r"ISR updated to ([\d,]+) and version updated to \[(\d+)\]",
    r"(\d+) successfully elected as the controller. Epoch incremented to (\d+)",
    r"Preparing to rebalance group (\S+) in state (\w+) with old generation (\d+)",
    r"Stabilized group (\S+) generation (\d+)",
    r"session 0x([0-9a-f]+) has expired",
    r"Rolled new log segment at offset (\d+)",
    r"Finished loading offsets and group metadata from (\S+) in (\d+) milliseconds",
    r"Log cleaner thread \d+ cleaned log (\S+) \(dirty section = \[(\d+), (\d+)\]\)",
)


@measurement(quick=((200,),), full=((200,),), limit=120)
def examples(stand: Stand, megabytes: int) -> Iterator[Row]:
    """The logs of examples/, unpacked and repeated as other nodes of one cluster until they come to so many megabytes."""
    contents = {path.relative_to(EXAMPLES): gzip.decompress(path.read_bytes()) for path in sorted(EXAMPLES.rglob("*.log.gz"))}
    logs = stand.empty("examples")
    for number in range(1, -(-megabytes * 1_000_000 // sum(map(len, contents.values()))) + 1):
        for path, content in contents.items():
            # broker-2 of the third repetition is broker-32.
            node = re.sub(r"(?:-(\d+))?$", rf"-{number}\1", path.parts[1], count=1)
            folder = logs / "examples" / "input" / node / path.relative_to(*path.parts[:2]).parent
            folder.mkdir(parents=True, exist_ok=True)
            (folder / path.stem).write_bytes(content)
    yield from beside(stand, logs, "examples, repeated")


@measurement(quick=((25,),), full=((80,),), limit=120)
def fleet(stand: Stand, days: int) -> Iterator[Row]:
    """A generated cluster of three brokers."""
    yield from beside(stand, stand.logs(Fleet(days=days, rotation="day", has_truth=False)), f"a cluster's {days} days")


def beside(stand: Stand, logs: Path, of: str) -> Iterator[Row]:
    """Copy, ingest and search the same files."""
    paths = sorted(str(path) for path in logs.rglob("input/*/**/*") if path.is_file())
    size = sum(os.path.getsize(path) for path in paths)
    of = f"{of}: {size / 1e6:.0f} MB in {len(paths):,} files"
    warehouse = stand.empty("reading")
    spark = stand.session(warehouse)
    # All sides run once on little data, so that none of them pays for a cold JVM.
    few = stand.empty("few") / "few" / "input" / "node-1"
    few.mkdir(parents=True)
    shutil.copy2(paths[0], few / "a.log")
    spark.read.text(str(few)).write.format("delta").save(str(stand.empty("warm")))
    stand.ingest(warehouse, few.parents[2], Row("", ""))

    copied = Row("bare copy (Spark, text to Delta)", of, megabytes=size / 1e6)
    with taken(copied):
        spark.read.text(str(logs), recursiveFileLookup=True, pathGlobFilter="*.log*").write.format("delta").save(str(stand.empty("copied")))
    yield copied
    ingested = Row("ingest", of)
    stand.ingest(warehouse, logs, ingested)
    assert ingested.seconds is not None and copied.seconds is not None
    ingested.says += f"; {ingested.seconds / copied.seconds:.2f} of the bare copy"
    yield ingested
    yield on_one_core(logs, of)

    searched = Row("DuckDB, regular expressions", of, megabytes=size / 1e6)
    with taken(searched):
        searched.records = in_duckdb(paths, len(os.sched_getaffinity(0)))
    searched.says = f"the frame and {len(MESSAGES)} messages, no stack traces, no sources"
    yield searched
    counted = Row("grep -c", of, megabytes=size / 1e6)
    with taken(counted):
        said = subprocess.run(
            ["xargs", "grep", "-ch", "starts at leader epoch"], input="\n".join(paths), capture_output=True, text=True
        ).stdout
    counted.says = f"{sum(map(int, said.split())):,} lines with one text"
    yield counted


def on_one_core(logs: Path, of: str) -> Row:
    """The part of ingestion that is Python: from bytes to recognised Arrow, in this process."""
    options = Options(paths=[str(logs)], layout=LAYOUT, timezone="UTC")
    clusters = look(options, "/nowhere", Spool(Path("/nowhere")))
    sources = [source for placed in clusters for source in identify(placed) if source.envelope]
    catalogue()
    cache: dict = {}
    row = Row("of which bytes to recognised Arrow, on one core", of, megabytes=sum(source.size or 0 for source in sources) / 1e6)
    with taken(row):
        for _ in read_tasks([task_of(source, False, 1, dt.datetime.now(dt.UTC)) for source in sources], cache=cache):
            pass
    row.says = f"{len(cache):,} shapes"
    return row


def in_duckdb(paths: list[str], threads: int) -> int:
    """Frames and a dozen messages, taken apart by regular expressions into a table; its rows."""
    cases = " ".join(f"when regexp_matches(message, '{pattern}') then regexp_extract_all(message, '{pattern}')[1]" for pattern in MESSAGES)
    with duckdb.connect() as database:
        database.execute(f"set threads = {threads}")
        database.execute(
            f"""create table lines as
            with framed as (
                select regexp_extract(line, '{FRAME}', ['logged_at', 'level', 'message', 'logger']) as parts
                from read_csv($paths, columns = {{'line': 'varchar'}}, delim = '\x01', quote = '', escape = '', header = false, ignore_errors = true)
            ), parted as (
                select try_strptime(parts.logged_at, '%Y-%m-%d %H:%M:%S,%g') as logged_at, parts.level, parts.message, parts.logger
                from framed where parts.logged_at <> ''
            )
            select *, case {cases} end as found from parted""",
            {"paths": paths},
        )
        found = database.execute("select count(*) from lines").fetchone()
    assert found is not None
    return int(found[0])
