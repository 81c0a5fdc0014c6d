"""An answer as a table, CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from chronicle.output.console import as_json, visible
from chronicle.output.values import cell, plain

if TYPE_CHECKING:
    import pyarrow as pa


FORMATS = ("table", "csv", "json", "parquet")


def write(answer: pa.Table, form: str, out: TextIO | None = None, *, pager: bool = True, wide: bool = False) -> int:
    """Write an answer to standard output as `table`, `csv`, `json` or `parquet`.  Returns how many values a table had to cut.

    `pager`, `wide`: of tables on a terminal.  Raises ValueError if the form cannot hold it.
    """
    out = out or sys.stdout
    if form == "table":
        from chronicle.output import table

        return table.write(answer, out, pager=pager, wide=wide)
    if form == "parquet":
        if out.isatty():
            raise ValueError("parquet is binary and this is a terminal; send it to a file: … > answer.parquet")
        import pyarrow.parquet

        pyarrow.parquet.write_table(answer, out.buffer)
        out.buffer.flush()
        return 0
    names = answer.column_names
    rows = zip(*(column.to_pylist(maps_as_pydicts="lossy") for column in answer.columns), strict=True) if names else iter(())
    if form == "json":
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two columns are called {', '.join(sorted(twice))}; give them names of their own with `as`")
        out.write("[")
        for number, row in enumerate(rows):
            values = {name: plain(value) for name, value in zip(names, row, strict=True)}
            out.write(("," if number else "") + "\n" + as_json(values))
        out.write("\n]\n")
    elif form == "csv":
        # The writer quotes a value with a carriage return only if lines end with one.
        lines = SimpleNamespace(write=lambda line: out.write(line.removesuffix("\r\n") + "\n"))
        writer = csv.writer(lines, lineterminator="\r\n")
        shown = visible if out.isatty() else str
        writer.writerow(map(shown, names))
        writer.writerows([shown(cell(value)) for value in row] for row in rows)
    out.flush()
    return 0
