"""`make bench`: what ingestion costs beside a bare copy of the same files, in one session.

Prints MB/s of a `spark.read.text` to Delta copy and of `chronicle ingest` (files to recognised bronze rows) and their
ratio, and where the time goes: splitting, recognition and Arrow in one Python process, then Spark's and Delta's share.
Arguments: folders of logs; they are repeated under other node names until they come to 200 MB.
"""

from __future__ import annotations

import datetime as dt
import shutil
import sys
import tempfile
import time
from pathlib import Path

from chronicle.spark.session import peak_memory_bytes, start
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import task_of
from ingestion.ingest import ingest, look
from ingestion.recognition.recognise import catalogue
from ingestion.sources.discover import Options, Spool
from ingestion.sources.identify import identify

LEAST = 200 << 20


def logs_below(folders: list[str]) -> list[Path]:
    """Plain log files that ingestion would read."""
    options = Options(paths=folders, cluster="bench", timezone="UTC")
    sources = identify(look(options, "/nowhere", Spool(Path("/nowhere"))), [])
    return [Path(source.path) for source in sources if source.outcome == "read" and source.envelope and not source.compressed]


def repeat(files: list[Path], target: Path) -> tuple[int, int]:
    """Copies of the files under one folder per node, until they come to LEAST; (copies, bytes)."""
    size = sum(path.stat().st_size for path in files)
    copies = max(1, -(-LEAST // size))
    for node in range(1, copies + 1):
        for number, path in enumerate(files):
            folder = target / f"node-{node}" / f"{number // 500}"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / f"{number}-{path.name}")
    return copies, size * copies


def main(folders: list[str]) -> None:
    files = logs_below(folders)
    if not files:
        raise SystemExit(f"bench: no logs below {', '.join(folders)}; give folders of Kafka logs")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        copies, size = repeat(files, work / "logs")
        megabytes = size / 1e6
        print(f"{len(files)} files, {copies} times: {megabytes:.0f} MB")
        spark = start(str(work / "warehouse"))
        # Both sides once on a little, so that neither pays for a cold JVM.
        few = work / "few"
        few.mkdir()
        shutil.copy2(files[0], few / "a.log")
        spark.read.text(str(few)).write.format("delta").save(str(work / "warm"))
        ingest(
            lambda: spark, str(work / "warm-warehouse"), Options(paths=[str(few)], cluster="warm", timezone="UTC"), tell=lambda text: None
        )

        began = time.perf_counter()
        spark.read.text(str(work / "logs"), recursiveFileLookup=True).write.format("delta").save(str(work / "copy"))
        copied = time.perf_counter() - began
        began = time.perf_counter()
        options = Options(paths=[str(work / "logs")], cluster="bench", layout="node-{node}/**", timezone="UTC")
        outcome = ingest(lambda: spark, str(work / "warehouse"), options, tell=lambda text: None)
        ingested = time.perf_counter() - began
        peak = peak_memory_bytes()
        spark.stop()
        print(f"bare copy        {copied:6.1f} s  {megabytes / copied:6.1f} MB/s")
        print(
            f"files to bronze  {ingested:6.1f} s  {megabytes / ingested:6.1f} MB/s  {outcome.records:,} records, {outcome.recognised / max(1, outcome.records):.1%} recognised"
        )
        print(f"ratio            {ingested / copied:6.2f}")
        if peak:
            print(f"peak memory      {peak / 2**30:6.2f} GiB, driver and workers together")

        began = time.perf_counter()
        sources = identify(look(options, "/nowhere", Spool(Path("/nowhere"))), [])
        looked = time.perf_counter() - began
        catalogue()
        began = time.perf_counter()
        cache: dict = {}
        for _ in read_tasks([task_of(source, False, 1, dt.datetime.now(dt.UTC)) for source in sources], cache=cache):
            pass
        parsed = time.perf_counter() - began
        print(
            f"of which, on one core: finding and looking at files {looked:.1f} s; bytes to recognised Arrow {parsed:.1f} s ({megabytes / parsed:.0f} MB/s)"
        )
        print(f"{len(cache):,} shapes for {outcome.records:,} records")


if __name__ == "__main__":
    main(sys.argv[1:] or ["examples"])
