"""Logs of Kafka and ZooKeeper as a Spark data source, for any notebook: no warehouse, and nothing of ours but the reader.

    spark.read.format("kafka_logs").option("cluster", "orders").load("s3a://bucket/logs/")

`spark.readStream` gives first what is there, then what is appended: each record once, through rotation and renaming.  The last record of a file
is held back until the next record begins or nothing more was written for `settledAfter` seconds.  A compressed file is read once.  A stream's offset
identifies each file by its first bytes and says how far it has been read: some 200 bytes per file that is there, or was a week ago.  If a node with another id continues a file, the
records before the first that names it are assigned to the node before.

If the package is on the path but not installed, call `spark.dataSource.register(KafkaLogs)` first.  Options are those of `chronicle ingest`:
`cluster`, `node`, `layout`, `timezone`, `pattern`, and `settledAfter` (seconds; 0 for files that nobody writes to any more).  Paths are those of
`chronicle ingest`, s3:// and the like included.  Columns: COLUMNS, one row per log record as in `bronze.log_records`; a file that could not be read
has one row of length 0 whose `outcome` is `source_cut` and whose `body` says why.  Captures, metrics and archives give no rows: load those with
`chronicle ingest`.
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from ingestion.bronze import log_records
from ingestion.bronze.pieces import whole_end
from ingestion.bronze.shares import bins, inspect_some
from ingestion.bronze.tasks import Task, task_of
from ingestion.bronze.write import WORD, stored_schema
from ingestion.reading.files import exists, tail_hash
from ingestion.reading.objects import is_service
from ingestion.sources.discover import Options, discover
from ingestion.sources.identify import identify, is_in_the_making, may_grow
from ingestion.sources.resolve import place
from ingestion.sources.stages import FAILED, MISSING, TO_READ, UNREADABLE, Identified, Known

# Columns that only a batch of a warehouse has.
OF_BATCH = ("batch_id", "ingested_at")
# (name, Arrow type, comment) of each column.
COLUMNS = [column for column in log_records.COLUMNS if column[0] not in OF_BATCH]
SCHEMA = pa.schema([(field.name, field.type) for field in stored_schema(COLUMNS)])
# At least so many tasks, so that a cluster is not left idle; more bytes give more tasks.
LEAST_TASKS = 8


@dataclass
class Part(InputPartition):
    """The files that one task reads, and (cluster, path, reason) of files that could not be read."""

    tasks: list[Task]
    faults: list[tuple[str, str, str]]

    def __post_init__(self) -> None:
        super().__init__(self.tasks)


class KafkaLogs(DataSource):
    """The data source; Spark makes it with the options of a read."""

    @classmethod
    def name(cls) -> str:
        return "kafka_logs"

    def schema(self) -> StructType:
        return from_arrow_schema(SCHEMA)

    def reader(self, schema: StructType) -> Reader:
        return Reader(options_of(self.options))

    def streamReader(self, schema: StructType) -> StreamReader:
        return StreamReader(options_of(self.options))


class Reader(DataSourceReader):
    """Looks at all files when the query is planned, and reads them in tasks."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def partitions(self) -> Sequence[Part]:
        """The work of each task.  Raises FileNotFoundError, ValueError."""
        if not any(exists(path) for path in self.options.paths):
            raise FileNotFoundError(f"no such file or folder: {', '.join(self.options.paths)}")
        sources, now = sources_of(self.options), dt.datetime.now(dt.UTC)
        logs = [source for source in sources if is_log(source)]
        tasks = [task_of(source, may_grow(source, time.time(), self.options.settled_after), 0, now) for source in logs]
        faults = [
            (source.cluster_id, source.shown, source.reason or "") for source in sources if source.outcome in (MISSING, UNREADABLE, FAILED)
        ]
        parts = [Part([tasks[n] for n in share], []) for share in bins(logs, LEAST_TASKS)] if logs else []
        return [*parts, *([Part([], faults)] if faults else [])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a part."""
        assert isinstance(partition, Part)
        for batch in log_records.read_tasks(partition.tasks):
            yield plain(batch)
        if partition.faults:
            rows = [dict(zip(("cluster_id", "source_path", "body"), fault, strict=True)) for fault in partition.faults]
            said = [row | {"outcome": log_records.CUT, "byte_offset": 0, "byte_length": 0} for row in rows]
            yield pa.RecordBatch.from_pylist(said, schema=SCHEMA)


def options_of(given: Mapping[str, str]) -> Options:
    """The options of a read.  Raises ValueError for invalid ones."""
    paths = json.loads(given["paths"]) if "paths" in given else [given["path"]] if "path" in given else []
    if not paths:
        raise ValueError("kafka_logs: no path; use load(PATH)")
    if services := [path for path in paths if is_service(path)]:
        raise ValueError(f"kafka_logs: {services[0]} has no files; use `chronicle ingest` for it")
    options = Options(
        paths,
        cluster=given.get("cluster"),
        node=int(given["node"]) if "node" in given else None,
        layout=given.get("layout"),
        timezone=given.get("timezone"),
        settled_after=float(given.get("settledAfter", 60)),
        pattern=given.get("pattern"),
    )
    options.check()
    return options


def sources_of(options: Options, known: Sequence[Known] = ()) -> list[Identified]:
    """All files below the paths, identified; archives are left out.  `known`: the sources that were read before."""
    looked_at = [source for source in inspect_some([*discover(options)], options.pattern) if source is not None]
    in_the_making = {source.path for source in looked_at if is_in_the_making(source, time.time(), options.settled_after)}
    return identify(place(looked_at, timezone=options.timezone), known, in_the_making)


def is_log(source: Identified) -> bool:
    """Whether a file has records."""
    return source.outcome == TO_READ and source.capture is None


# What a stream has read of each source, by source id.
Offset = dict[str, dict[str, Any]]
# A compressed file is read to its end, wherever that is.
WHOLE = -1
# In an offset, when a file was first not found. After a week it is forgotten; should it come back later, its records come again.
GONE, FORGOTTEN_SECONDS = "gone_at", 7 * 86_400


class StreamReader(DataSourceStreamReader):
    """Reads what is appended to the files, batch by batch.  An offset says for each source how far it has been read."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def initialOffset(self) -> Offset:
        return {}

    def latestOffset(self, start: Offset, limit: object) -> Offset:
        """How far the files can be read now; without files that have been gone for long, whose number would only grow."""
        sources = self.sources(start)
        read = {source.source_id: entry for source in sources if is_log(source) and (entry := self.entry(source, start))}
        return still_known(start, {source.source_id for source in sources}, time.time()) | read

    def entry(self, source: Identified, start: Offset) -> dict[str, Any] | None:
        """A source's entry in an offset; None if it is unchanged."""
        before = start.get(source.source_id, {"end": 0})["end"]
        end = end_of(source, may_grow(source, time.time(), self.options.settled_after))
        if before == WHOLE or (end != WHOLE and end <= before):
            return None
        last = None if end == WHOLE else tail_hash(source.path, end)
        fingerprint, length = source.fingerprint(), len(source.head)
        return asdict(Known(source.source_id, source.shown, fingerprint, length, end, last, source.size, TO_READ, source.node_id))

    def sources(self, start: Offset) -> list[Identified]:
        return sources_of(self.options, [Known(**plain_entry(entry) | {"end": max(0, entry["end"])}) for entry in start.values()])

    def partitions(self, start: Offset, end: Offset) -> Sequence[Part]:
        """The work of each task between two offsets."""
        read = {name for name, entry in end.items() if plain_entry(entry) != plain_entry(start.get(name, {}))}
        sources = [source for source in self.sources(start) if is_log(source) and source.source_id in read]
        now = dt.datetime.now(dt.UTC)
        tasks = [replace(task_of(source, False, 0, now), end=end[source.source_id]["end"]) for source in sources]
        return [Part([tasks[n] for n in share], []) for share in bins(sources, LEAST_TASKS)] if tasks else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a part."""
        assert isinstance(partition, Part)
        return map(plain, log_records.read_tasks(partition.tasks))


def still_known(start: Offset, there: set[str], now: float) -> Offset:
    """The entries of sources that are there, or have not been gone for long.  If none is there, a mount may be missing: then all stay as they are."""
    if not there:
        return dict(start)
    found = {name: plain_entry(entry) if name in there else {GONE: int(now)} | entry for name, entry in start.items()}
    return {name: entry for name, entry in found.items() if now - entry.get(GONE, now) < FORGOTTEN_SECONDS}


def plain_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of an offset without what it says of a file that is gone."""
    return {name: value for name, value in entry.items() if name != GONE}


def end_of(source: Identified, grows: bool) -> int:
    """The byte up to which a source has complete records; WHOLE for a compressed one."""
    if source.size is None:
        return WHOLE
    if not grows:
        return source.size
    return whole_end(task_of(source, True, 0, dt.datetime.now(dt.UTC)))


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with the types that Spark takes: strings instead of dictionaries."""
    columns = [batch.column(name) for name in SCHEMA.names]
    return pa.RecordBatch.from_arrays([column.cast(pa.string()) if column.type == WORD else column for column in columns], schema=SCHEMA)
