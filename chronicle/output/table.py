"""An answer as a table for people: fitted to the terminal, times in UTC, and through a pager where it is longer than the screen."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len, set_cell_size

from chronicle.output.values import shown

if TYPE_CHECKING:
    import pyarrow as pa

CUT, BETWEEN = "…", "  "
# A text column is not made narrower than that; numbers and times are never cut, because half of one is a different one.
NARROWEST = 12
# A key of which so many digits are shown is still found by them (chronicle/ask/known.py), and among a million keys hardly ever another.
KEY_SHOWN = 12
# If even that does not fit, the pager scrolls sideways; only texts that fill a screen by themselves are cut.
SCROLLED = 60


def write(answer: pa.Table, out: TextIO, *, pager: bool = True, wide: bool = False) -> int:
    """Write an answer as a table.  On a terminal it is fitted to its width (not with `wide`), and paged where it is longer than the
    screen.  Returns how many values were cut.
    """
    size = shutil.get_terminal_size() if out.isatty() else None
    lines, cut = laid_out(answer, None if wide or size is None else size.columns)
    text = "".join(f"{line}\n" for line in lines)
    if pager and size and (len(lines) >= size.lines or max(map(cell_len, lines)) > size.columns) and paged(text):
        return cut
    out.write(text)
    out.flush()
    return cut


def laid_out(answer: pa.Table, columns: int | None) -> tuple[list[str], int]:
    """(lines, values cut) of a table with a head, `columns` wide where that can be."""
    import pyarrow.types as types

    names = answer.column_names
    if not names:
        return ["(no columns)"], 0
    values = [column.to_pylist(maps_as_pydicts="lossy") for column in answer.columns]
    counted = [columns is not None and of_records(kind) for kind in answer.schema.types]
    texts = [[in_number(value) if count else shown(value) for value in column] for column, count in zip(values, counted, strict=True)]
    rows = [[shown(name) for name in names], *map(list, zip(*texts, strict=True))]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    numeric = [types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) for kind in answer.schema.types]
    keys = [field.name.endswith("_key") for field in answer.schema]
    fixed = [types.is_temporal(kind) or number or key for kind, number, key in zip(answer.schema.types, numeric, keys, strict=True)]
    if columns is not None:
        if sum(widths) + len(BETWEEN) * (len(widths) - 1) > columns:
            widths = [
                min(width, max(KEY_SHOWN + 1, cell_len(name))) if key else width
                for width, key, name in zip(widths, keys, rows[0], strict=True)
            ]
        widths = fitted(widths, fixed, columns)
    rows.insert(1, ["-" * width for width in widths])
    cut = sum(value is not None for column, count in zip(values, counted, strict=True) if count for value in column)
    cut += sum(cell_len(text) > width for row in rows for text, width in zip(row, widths, strict=True))
    lines = [
        BETWEEN.join(placed(text, width, right) for text, width, right in zip(row, widths, numeric, strict=True)).rstrip() for row in rows
    ]
    return lines, cut


def of_records(kind: pa.DataType) -> bool:
    """Whether values are lists of records, of which a terminal shows the number."""
    import pyarrow.types as types

    return bool((types.is_list(kind) or types.is_large_list(kind)) and types.is_struct(kind.value_type))


def in_number(records: list[object] | None) -> str:
    """How many records a list has."""
    return shown(None) if records is None else f"{len(records)} record{'' if len(records) == 1 else 's'}"


def fitted(widths: list[int], fixed: list[bool], columns: int) -> list[int]:
    """Widths that fit into so many columns: the widest texts give way first, none below NARROWEST; where that is not enough, texts are SCROLLED
    wide at most.
    """
    widths = list(widths)
    room = columns - len(BETWEEN) * (len(widths) - 1)
    if sum(width if stays else min(width, NARROWEST) for width, stays in zip(widths, fixed, strict=True)) > room:
        return [width if stays else min(width, SCROLLED) for width, stays in zip(widths, fixed, strict=True)]
    over = sum(widths) - room
    while over > 0:
        width = max(width for width, stays in zip(widths, fixed, strict=True) if not stays)
        widest = [place for place, stays in enumerate(fixed) if not stays and widths[place] == width]
        next_width = max((other for other, stays in zip(widths, fixed, strict=True) if not stays and other < width), default=NARROWEST)
        step = min(width - max(next_width, NARROWEST), -(-over // len(widest)))
        for place in widest:
            widths[place] -= step
        over -= step * len(widest)
    return widths


def placed(text: str, width: int, right: bool) -> str:
    """A cell of that width, flush right for numbers; what is cut ends in …."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + CUT
    return " " * (width - length) + text if right else text + " " * (width - length)


def paged(text: str) -> bool:
    """Show a text in $PAGER, else in less, which scrolls sideways.  False where there is none."""
    command = shlex.split(os.environ.get("PAGER") or "less -S")
    with pipe(command) as program:
        if program is None:
            return False
        # The reader may quit the pager early.
        with contextlib.suppress(BrokenPipeError):
            program.communicate(text.encode())
    return program.returncode != 127


@contextlib.contextmanager
def pipe(command: list[str]) -> Iterator[subprocess.Popen[bytes] | None]:
    """A program that reads what is written to it; None if it cannot be started."""
    try:
        program = subprocess.Popen(command, stdin=subprocess.PIPE)
    except OSError:
        yield None
        return
    with program:
        yield program
