"""Rows to bronze: workers write Parquet files, the driver adds them to Delta tables, one transaction each.

Arrow goes to Parquet in the process that made it: handed to the JVM, every value would be copied into a row and written
one by one, which took longer than all reading and recognising together.  A file that no commit names (a killed run's) is
not part of the table; `vacuum` deletes it.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import time
import uuid
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction

from ingestion.delta_files import CONFIGURATION, Added, add
from ingestion.lease import Busy, put_new
from ingestion.reading.objects import is_uri
from ingestion.warehouse import opened, path_of

# (name, Arrow type, comment) of each column of a table.
Columns = list[tuple[str, pa.DataType, str]]
TIME = pa.timestamp("us", tz="UTC")
# Words that many rows share: written as a dictionary and a number for each row.
WORD = pa.dictionary(pa.int32(), pa.string())

APP = "chronicle-ingest"
# Folder of the batches that are being committed.
NOTES = "_batches"
# Columns with statistics: those by which builds and look-ups filter; no long texts.
STATISTICS = ("cluster_id", "batch_id", "ingested_at", "event_date", "logged_at")


class File:
    """A Parquet file that is being written into a table's folder, one row group for each batch."""

    def __init__(self, folder: str, schema: pa.Schema) -> None:
        self.path = path_of(folder) / f"part-{uuid.uuid4()}.parquet"
        if not is_uri(folder):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self.rows = 0
        self.least: dict[str, object] = {}
        self.most: dict[str, object] = {}
        self.nulls: dict[str, int] = {}
        plain = [field.name for field in schema if not pa.types.is_string(field.type) and not pa.types.is_nested(field.type)]
        # Arrow itself writes to a folder, fsspec to a store.
        self.file = self.path.open("wb") if is_uri(folder) else None
        self.writer = pq.ParquetWriter(
            self.file or self.path,
            schema,
            compression="zstd",
            compression_level=1,
            # Long texts hardly repeat: their dictionary would be built, and then thrown away.
            use_dictionary=[*(field.name for field in schema if field.name not in ("body", "raw_text", "fields")), "fields.key_value.key"],
            write_statistics=plain,
            # Other engines would take the dictionaries as part of the type.
            store_schema=False,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        self.writer.write_batch(batch, row_group_size=max(1, batch.num_rows))
        self.rows += batch.num_rows
        for name in STATISTICS:
            if name in batch.schema.names and batch.num_rows:
                column = batch.column(name)
                if pa.types.is_dictionary(column.type):
                    column = column.cast(pa.string())
                self.nulls[name] = self.nulls.get(name, 0) + column.null_count
                ends = pc.min_max(column)
                for known, value, choose in ((self.least, ends["min"].as_py(), min), (self.most, ends["max"].as_py(), max)):
                    if value is not None:
                        known[name] = choose(known[name], value) if name in known else value

    def close(self) -> Added:
        """End the file and say what a commit needs to know."""
        self.writer.close()
        if self.file:
            self.file.close()
        status = self.path.stat()

        def said(values: dict[str, object]) -> dict[str, object]:
            return {name: _stated(value) for name, value in values.items()}

        # Readers take a missing null count as 0, and skip the file when they look for nulls.
        stats = {"numRecords": self.rows, "minValues": said(self.least), "maxValues": said(self.most), "nullCount": self.nulls}
        return Added(self.path.name, status.st_size, int(status.st_mtime * 1000), json.dumps(stats))


def _stated(value: object) -> object:
    """A bound in the form of Delta's statistics: times to the millisecond, as bronze keeps them."""
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    return value.isoformat() if hasattr(value, "isoformat") else value


def schema_of(columns: Columns) -> pa.Schema:
    """The Arrow schema of a table's columns."""
    return pa.schema([(name, kind) for name, kind, _ in columns])


def has_table(path: str) -> bool:
    """Whether a Delta table has been made there."""
    return DeltaTable.is_deltatable(path)


def create(path: str, columns: Columns, comment: str) -> None:
    """Make an empty Delta table at a path; one that is there gets the columns that it lacks."""
    if has_table(path):
        table = opened(path)
        names = {field.name for field in table.schema().fields}
        lacking = [field for field in Schema.from_arrow(stored_schema(columns)).fields if field.name not in names]
        if lacking:
            table.alter.add_columns(lacking)
    else:
        statistics = ",".join(name for name, _, _ in columns if name in STATISTICS)
        DeltaTable.create(
            path, stored_schema(columns), description=comment, configuration=CONFIGURATION | {"delta.dataSkippingStatsColumns": statistics}
        )


def stored_schema(columns: Columns) -> pa.Schema:
    """The schema as the table has it: with comments, and with strings instead of dictionaries."""
    plain = [(name, pa.string() if kind == WORD else kind, said) for name, kind, said in columns]
    return pa.schema([pa.field(name, kind, metadata={"comment": said}) for name, kind, said in plain])


def commit_batch(warehouse: str, batch_id: int, files: dict[str, list[Added]]) -> None:
    """Append the files of a batch to the bronze tables, table by table, after a note of the batch has been written.

    Killed before the note is written, nothing has happened; killed after, `complete` does the rest.  Raises Busy if another host has written
    a note of this number.
    """
    note, content = notes_of(warehouse) / f"{batch_id}.json", {table: [asdict(added) for added in batch] for table, batch in files.items()}
    if is_uri(warehouse):
        if not put_new(note, json.dumps(content).encode()):
            raise Busy(f"{warehouse}: another host has written batch {batch_id}; the next run continues from there")
        complete(warehouse)
        return
    note.parent.mkdir(parents=True, exist_ok=True)
    aside = note.with_suffix(".part")
    with aside.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        # The commits below may outlive a power cut; so must the note to which they belong.
        os.fsync(file.fileno())
    aside.replace(note)
    complete(warehouse)


def notes_of(warehouse: str) -> Path:
    """Folder with the notes of batches that are being committed."""
    return path_of(warehouse) / "bronze" / NOTES


def complete(warehouse: str) -> list[str]:
    """Finish the commits of all batches with a note.  Returns a line for each note that could not be read."""
    undone = []
    for note in sorted(notes_of(warehouse).glob("*.json"), key=lambda path: int(path.stem)):
        try:
            files = {table: [Added(**file) for file in batch] for table, batch in json.loads(note.read_text(encoding="utf-8")).items()}
        except (ValueError, TypeError, AttributeError) as error:
            undo(warehouse, int(note.stem))
            undone.append(f"{note}: damaged ({error}): batch {note.stem} was undone, and its files are read again")
        else:
            # `sources` comes last: where it has the batch, another host has completed it meanwhile.
            if last_batch(f"{warehouse}/bronze/sources") < int(note.stem):
                for table, batch in files.items():
                    commit(f"{warehouse}/bronze/{table}", batch, int(note.stem))
        note.unlink(missing_ok=True)
    return undone


def undo(warehouse: str, batch_id: int) -> None:
    """Delete what a batch has committed, unless it is complete: `sources`, which says how far files were read, comes last."""
    if last_batch(f"{warehouse}/bronze/sources") >= batch_id:
        return
    for log in (path_of(warehouse) / "bronze").glob("*/_delta_log"):
        if last_batch(str(log.parent)) >= batch_id:
            DeltaTable(str(log.parent)).delete(f"batch_id = {batch_id}")


def last_batch(path: str) -> int:
    """Number of the newest batch that a table holds, or held; 0 before the first."""
    return opened(path).transaction_version(APP) or 0


def commit(path: str, files: list[Added], version: int) -> None:
    """Append files to a table in one transaction; nothing if it holds this version already."""
    table = DeltaTable(path)
    if (table.transaction_version(APP) or 0) >= version:
        return
    transaction = CommitProperties(app_transactions=[Transaction(APP, version, int(time.time() * 1000))])
    add(table, files, "append", table.schema(), transaction)
