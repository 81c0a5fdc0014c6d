"""Tables for people: their content, how they fit a terminal, when they are paged."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import pty
import stat
import termios
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from rich.cells import cell_len

from chronicle.output import formats, table
from chronicle.output.console import tell, visible

UTC = dt.UTC


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(answer: pa.Table, columns: int | None = None) -> list[str]:
    return table.laid_out(answer, columns)[0]


def test_values_are_readable() -> None:
    answer = pa.table(
        {
            "name": ["ab", None, "c\x1b[31md\ne"],
            "n": [10, 5, None],
            "ratio": [0.5, 1e-7, None],
            "ok": [True, None, False],
            "at": pa.array([dt.datetime(2026, 5, 1, 12, 0, 0, 250000, UTC), None, None], pa.timestamp("us", "UTC")),
            "isr": [[1, 2, None], [], None],
            "settings": pa.array([[("a", "1")], None, []], pa.map_(pa.string(), pa.string())),
            "price": [Decimal("1.50"), None, None],
        }
    )
    assert lines(answer) == [
        "name              n  ratio  ok     at                       isr           settings    price",
        "-------------  ----  -----  -----  -----------------------  ------------  ----------  -----",
        'ab               10    0.5  true   2026-05-01 12:00:00.250  [1, 2, null]  {"a": "1"}   1.50',
        "null              5  1e-07  null   null                     []            null         null",
        "c\\x1b[31md\\ne  null   null  false  null                     null          {}           null",
    ]


def test_no_rows_are_a_head() -> None:
    assert lines(pa.table({"a": pa.array([], pa.int64())})) == ["a", "-"]


def test_the_widest_texts_give_way_and_numbers_never() -> None:
    answer = pa.table({"fact_key": ["k" * 32], "n": [123456789012], "said": ["s" * 80], "topic": ["orders"]})
    fitted, cut = table.laid_out(answer, 80)
    # The head of the last column is one shorter than its value, and lines have no blanks at their end.
    assert [cell_len(line) for line in fitted] == [79, 80, 80]
    assert cut == 2
    assert "123456789012" in fitted[2]
    # Of a key so much is kept that it can be asked for.
    assert fitted[2].startswith(f"{'k' * 12}…  ")
    narrow, cut = table.laid_out(answer, 20)
    # A table that cannot fit is not squeezed until it is unreadable: the pager scrolls.
    assert narrow[2] == f"{'k' * 12}…  123456789012  {'s' * 59}…  orders"
    assert cut == 2
    assert "k" * 32 in table.laid_out(answer, 140)[0][2]
    assert table.laid_out(answer, None)[1] == 0


def test_a_terminal_tells_the_number_of_records_and_a_file_has_them_all() -> None:
    kind = pa.list_(pa.struct([("source_path", pa.string()), ("byte_offset", pa.int64())]))
    there = [{"source_path": "/a", "byte_offset": 0}, {"source_path": "/b", "byte_offset": 1}]
    answer = pa.table({"evidence": pa.array([there, there[:1], [], None], kind), "isr": [[1, 2], [3], [], None]})
    assert table.laid_out(answer, 80) == (
        ["evidence   isr", "---------  ------", "2 records  [1, 2]", "1 record   [3]", "0 records  []", "null       null"],
        3,
    )
    whole, cut = table.laid_out(answer, None)
    assert cut == 0
    assert json.loads(whole[2][: whole[2].index("]") + 1]) == there
    for form in ("csv", "json"):
        out = Terminal()
        assert formats.write(answer, form, out) == 0
        assert "record" not in out.getvalue() and out.getvalue().count("source_path") == 3


def test_wide_characters_keep_their_columns() -> None:
    answer = pa.table({"topic": ["订单", "orders"], "n": [1, 2]})
    assert lines(answer) == ["topic   n", "------  -", "订单    1", "orders  2"]
    assert {cell_len(line) for line in table.laid_out(pa.table({"said": ["订" * 40], "x": ["y"]}), 30)[0]} <= {29, 30}


def test_a_file_gets_whole_values_and_no_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "paged", lambda text: pytest.fail("paged"))
    monkeypatch.setenv("COLUMNS", "40")
    out = io.StringIO()
    assert table.write(pa.table({"said": ["s" * 200] * 100}), out) == 0
    assert "s" * 200 in out.getvalue()


@pytest.mark.parametrize(
    ("rows", "options", "is_paged"), [(3, {}, False), (100, {}, True), (100, {"pager": False}, False), (3, {"wide": True}, True)]
)
def test_what_is_longer_than_the_screen_is_paged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: int, options: dict[str, bool], is_paged: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "24")
    read = tmp_path / "read"
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {read}\n")
    pager.chmod(pager.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PAGER", str(pager))
    out = Terminal()
    cut = table.write(pa.table({"said": ["s" * 60] * rows}), out, **options)
    assert cut == (0 if options.get("wide") else rows)
    assert bool(out.getvalue()) is not is_paged
    text = read.read_text() if is_paged else out.getvalue()
    assert len(text.splitlines()) == rows + 2


def test_without_a_pager_the_table_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "/no/such/pager")
    monkeypatch.setenv("LINES", "5")
    out = Terminal()
    table.write(pa.table({"a": list(range(50))}), out)
    assert len(out.getvalue().splitlines()) == 52


def test_a_pager_that_is_left_early_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "true")
    monkeypatch.setenv("LINES", "5")
    out = Terminal()
    table.write(pa.table({"a": ["x" * 1000] * 5000}), out, wide=True)
    assert out.getvalue() == ""


def test_the_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("LINES", raising=False)
    leader, follower = pty.openpty()
    try:
        termios.tcsetwinsize(follower, (30, 50))
        monkeypatch.setattr("shutil.get_terminal_size", lambda: os.get_terminal_size(follower))
        with os.fdopen(os.dup(follower), "w") as out:
            assert table.write(pa.table({"said": ["s" * 200]}), out) == 1
        seen = os.read(leader, 10_000).decode().splitlines()
    finally:
        os.close(leader)
        os.close(follower)
    assert [len(line) for line in seen] == [4, 50, 50]
    assert seen[2].endswith("…")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\x9b31mb", "a\\x9b31mb"),
        ("gpj.\u202eexe", "gpj.\\u202eexe"),
        ("one\r\ntwo\tthree", "one\\r\\ntwo\\tthree"),
        (b"caf\xe9.log".decode("utf-8", "surrogateescape"), "caf\\xe9.log"),
        ("café 日本 <b>'\"", "café 日本 <b>'\""),
    ],
)
def test_no_text_steers_the_terminal(text: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert visible(text) == shown
    tell(text)
    assert capsys.readouterr().err == shown + "\n"


def test_json_holds_control_characters_as_escapes() -> None:
    out = io.StringIO()
    formats.write(pa.table({"name": ["a\x1b\x9b\u202eb日"]}), "json", out)
    assert out.getvalue() == '[\n{"name": "a\\u001b\\u009b\\u202eb日"}\n]\n'
    assert json.loads(out.getvalue()) == [{"name": "a\x1b\x9b\u202eb日"}]
