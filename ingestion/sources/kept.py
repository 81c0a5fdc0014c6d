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
from ingestion.sources.seen import code, digest
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
    # Only the columns that decide: of a large fleet each copy of all of them takes hundreds of megabytes.
    named = table.select([*PLACE, "source_id", "outcome"]).append_column("row", pa.array(np.arange(len(table))))
    read = named.filter(pc.is_in(named["outcome"], pa.array(READ)))
    lasts = (last_of(named, *PLACE), last_of(read, *PLACE), last_of(read, "source_id"))
    numbers = [*(last["row"].to_numpy() for last in lasts), np.fromiter(_first_shown(table), np.int64)]
    return table.take(pa.array(np.unique(np.concatenate(numbers))))


def _first_shown(table: pa.Table) -> Iterator[int]:
    """The numbers of the rows, of files that were read, that show something new."""
    known: set[bytes] = set()
    for number, row in enumerate(rows_of_table(table, *SHOWN, "outcome")):
        outcome, shown = row.pop("outcome"), digest(row)
        if outcome in READ and shown not in known:
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
