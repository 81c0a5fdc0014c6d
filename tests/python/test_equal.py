"""Two warehouses are equal only if every value is."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.equal import Renames, compare, main

SCHEMA = pa.schema(
    [
        ("fact_key", pa.string()),
        ("cluster_id", pa.string()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("evidence", pa.list_(pa.struct([("node_id", pa.int32()), ("source_path", pa.string()), ("byte_offset", pa.int64())]))),
        ("settings", pa.map_(pa.string(), pa.string())),
        ("ratio", pa.float64()),
        ("ingested_at", pa.timestamp("us", tz="UTC")),
    ]
)
FACT = "marts.fct_facts"


def fact(root: str, key: str, **changes: Any) -> dict[str, Any]:
    row = {
        "fact_key": key,
        "cluster_id": "orders",
        "at": dt.datetime(2026, 5, 1, 10, tzinfo=dt.UTC),
        "evidence": [{"node_id": 1, "source_path": f"{root}/broker-1/server.log", "byte_offset": 7}],
        "settings": [("broker.id", "1")],
        "ratio": 0.1 + 0.2,
        "ingested_at": dt.datetime.now(dt.UTC),
    }
    return row | changes


def warehouse(folder: Path, logs: str, facts: list[dict[str, Any]] | pa.Table, *, table: str = "marts/fct_facts") -> Path:
    sources = [{"cluster_id": "orders", "source_path": f"{logs}/broker-{node}/server.log"} for node in (1, 2)]
    write_deltalake(folder / "bronze/sources", pa.Table.from_pylist(sources))
    write_deltalake(folder / "bronze/log_records", pa.table({"cluster_id": ["orders"] * 3}))
    rows = facts if isinstance(facts, pa.Table) else pa.Table.from_pylist(facts, SCHEMA)
    write_deltalake(folder / table, rows.slice(0, 1))
    write_deltalake(folder / table, rows.slice(1), mode="append")
    return folder


def differences(old: Path, new: Path, renames: str = "") -> dict[str, list[str]]:
    return {verdict.table: verdict.differences for verdict in compare(old, new, Renames.read(renames)) if verdict.differences}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return warehouse(tmp_path / "old", "/mnt/logs", [fact("/mnt/logs", key) for key in "abbc"])


def test_neither_order_nor_files_nor_places_nor_clocks_count(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = warehouse(tmp_path / "new", "/home/me/copy", [fact("/home/me/copy", key) for key in "cbab"])
    assert differences(old, new) == {}
    assert main([str(old), str(new)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["bronze.log_records", "3", "rows", "equal"],
        ["bronze.sources", "2", "rows", "equal"],
        [FACT, "4", "rows", "equal"],
        ["3", "tables", "compared,", "0", "differ"],
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"ratio": 0.3},
        {"ratio": None},
        {"at": dt.datetime(2026, 5, 1, 10, 0, 0, 1, tzinfo=dt.UTC)},
        {"settings": [("broker.id", "2")]},
        {"evidence": [{"node_id": 1, "source_path": "/mnt/logs/broker-1/server.log", "byte_offset": 8}]},
        {"evidence": [{"node_id": 1, "source_path": "/mnt/logs/broker-2/server.log", "byte_offset": 7}]},
        {"evidence": []},
    ],
    ids=str,
)
def test_one_value_that_differs_is_found(old: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    new = warehouse(tmp_path / "new", "/mnt/logs", [fact("/mnt/logs", "a", **changes), *(fact("/mnt/logs", key) for key in "bbc")])
    assert differences(old, new) == {FACT: ["1 rows only in OLD, 1 only in NEW"]}


def test_what_changed_is_shown_by_its_key(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [fact("/mnt/logs", "a", ratio=0.3), *(fact("/mnt/logs", key) for key in "bbc")]
    assert main([str(old), str(warehouse(tmp_path / "new", "/mnt/logs", rows))]) == 1
    assert "    fact_key a: ratio: 0.30000000000000004 -> 0.3\n" in capsys.readouterr().out


def test_a_row_more_counts_even_if_it_is_a_copy(old: Path, tmp_path: Path) -> None:
    new = warehouse(tmp_path / "new", "/mnt/logs", [fact("/mnt/logs", key) for key in "abbbc"])
    assert differences(old, new) == {FACT: ["4 rows in OLD", "0 rows only in OLD, 1 only in NEW"]}


def test_tables_columns_and_types_count(old: Path, tmp_path: Path) -> None:
    rows = pa.Table.from_pylist([fact("/mnt/logs", key) for key in "abbc"], SCHEMA)
    named = rows.rename_columns({"ratio": "share"})
    typed = rows.set_column(5, "ratio", rows["ratio"].cast(pa.float32()))
    moved = warehouse(tmp_path / "moved", "/mnt/logs", rows, table="reports/fct_facts")
    assert differences(old, warehouse(tmp_path / "named", "/mnt/logs", named)) == {
        FACT: ["columns only in OLD: ratio", "columns only in NEW: share"]
    }
    assert differences(old, warehouse(tmp_path / "typed", "/mnt/logs", typed))[FACT][0] == "ratio: DOUBLE -> FLOAT"
    assert differences(old, moved) == {"reports.fct_facts": ["in schema marts of OLD"]}
    assert differences(old, warehouse(tmp_path / "other", "/mnt/logs", rows, table="marts/fct_other")) == {
        FACT: ["only in OLD"],
        "marts.fct_other": ["only in NEW"],
    }


def test_bronze_is_counted_by_cluster(old: Path, tmp_path: Path) -> None:
    new = warehouse(tmp_path / "new", "/mnt/logs", [fact("/mnt/logs", key) for key in "abbc"])
    write_deltalake(new / "bronze/log_records", pa.table({"cluster_id": ["orders", "orders", "billing"]}), mode="overwrite")
    assert differences(old, new) == {"bronze.log_records": ["3 rows in OLD; 2 clusters differ"]}


RENAMES = """
| Old | New | Why |
|---|---|---|
| `fct_facts` | `fct_findings` | plainer |
| `fct_facts.ratio` | `fct_findings.share` | |
| `*.at` | `*.logged_at` | |
"""


def test_renames_are_applied_to_the_old(old: Path, tmp_path: Path) -> None:
    rows = pa.Table.from_pylist([fact("/mnt/logs", key) for key in "abbc"], SCHEMA)
    new = warehouse(tmp_path / "new", "/mnt/logs", rows.rename_columns({"ratio": "share", "at": "logged_at"}), table="marts/fct_findings")
    assert differences(old, new, RENAMES) == {}
    assert set(differences(old, new)) == {FACT, "marts.fct_findings"}


def test_a_folder_without_tables_is_an_error(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(old), str(tmp_path / "missing")])
    assert "missing: no published tables there" in capsys.readouterr().err
