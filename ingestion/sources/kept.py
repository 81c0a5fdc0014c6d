"""The rows of `bronze.sources` that later runs need, cached between runs: a followed log has a row for each run, and most are superseded.

Only a cache: without this file a run reads all of `bronze.sources`, with the same result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from ingestion.sources.earlier import PLACE, SHOWN, last_of, rows_of_table
from ingestion.sources.said import READ
from ingestion.sources.seen import code
from ingestion.warehouse import opened, put

# The file is rewritten when there are at least so many new rows, and a quarter of those it holds.
LEAST = 1_000
ABOUT = b"about"


@dataclass(frozen=True)
class About:
    """What the cache holds: of which table, by which code, up to which batch, and how many rows the table had then."""

    table: str
    code: str
    batch: int
    rows: int


def rows(path: str, file: Path) -> pa.Table:
    """The rows of `bronze.sources` that `earlier.Past` uses, in order.  `file`: the cache."""
    table = opened(path)
    total = sum(pa.table(table.get_add_actions())["num_records"].to_pylist())
    about = About(str(table.metadata().id), code(), 0, 0)
    before, held = _read(file, about)
    new = newer(table, before.batch)
    if held is not None and (before.rows + len(new) != total or held.schema != new.schema):
        # The table has lost rows, or has other columns.
        before, held, new = about, None, newer(table, 0)
    found = new if held is None else pa.concat_tables([held, new])
    if len(new) < max(LEAST, (0 if held is None else len(held)) // 4):
        return found
    found = needed(found)
    _write(file, found, About(about.table, about.code, pc.max(new["batch_id"]).as_py(), total))
    return found


def newer(table: DeltaTable, batch: int = 0) -> pa.Table:
    """The rows of `bronze.sources` of the batches after one, in order."""
    found = table.to_pyarrow_table(filters=[("batch_id", ">", batch)])
    return found.sort_by([(name, "ascending") for name in ("batch_id", "source_path")])


def needed(table: pa.Table) -> pa.Table:
    """The rows needed, of rows in order: the last of each file, by path and by source, and the first that shows something new."""
    table = table.append_column("row", pa.array(np.arange(len(table))))
    read = table.filter(pc.is_in(table["outcome"], pa.array(READ)))
    lasts = (last_of(table, *PLACE), last_of(read, *PLACE), last_of(read, "source_id"))
    numbers = {number for last in lasts for number in last["row"].to_pylist()} | set(_first_shown(read))
    return table.take(pa.array(sorted(numbers), pa.int64())).drop_columns("row")


def _first_shown(read: pa.Table) -> Iterator[int]:
    known: set[str] = set()
    for row in rows_of_table(read, *SHOWN, "row"):
        number = row.pop("row")
        if (shown := repr(row)) not in known:
            known.add(shown)
            yield number


def _read(file: Path, now: About) -> tuple[About, pa.Table | None]:
    """The cache, if it is of this table and code."""
    try:
        kept = pa.ipc.open_file(file.read_bytes()).read_all()
        about = About(**json.loads(kept.schema.metadata[ABOUT]))
    except (OSError, pa.ArrowInvalid, KeyError, TypeError, ValueError):
        return now, None
    if (about.table, about.code) != (now.table, now.code):
        return now, None
    return about, kept.replace_schema_metadata(None)


def _write(file: Path, kept: pa.Table, about: About) -> None:
    sink = pa.BufferOutputStream()
    schema = kept.schema.with_metadata({ABOUT: json.dumps(asdict(about)).encode()})
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(kept.cast(schema))
    put(file, sink.getvalue().to_pybytes())
