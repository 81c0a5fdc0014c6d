"""What a build wrote aside becomes tables: only what is not as it was is written."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema

from ingestion.publish import Published, commit, described

SCHEMA = pa.schema(
    [
        ("fact_key", pa.string()),
        ("cluster_id", pa.string()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("evidence", pa.list_(pa.struct([("node_id", pa.int32()), ("source_path", pa.string()), ("byte_offset", pa.int64())]))),
        ("settings", pa.map_(pa.string(), pa.string())),
        ("ratio", pa.float64()),
        ("started_date", pa.date32()),
    ]
)
TYPES = {
    "fact_key": "string",
    "cluster_id": "string",
    "at": "timestamp",
    "evidence": {
        "type": "array",
        "containsNull": True,
        "elementType": {
            "type": "struct",
            "fields": [
                {"name": name, "type": kind, "nullable": True, "metadata": {}}
                for name, kind in (("node_id", "integer"), ("source_path", "string"), ("byte_offset", "long"))
            ],
        },
    },
    "settings": {"type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": True},
    "ratio": "double",
    "started_date": "date",
}


def row(key: str, cluster: str, day: dt.date | None, ratio: float | None = 0.5) -> dict[str, Any]:
    at = dt.datetime(2026, 5, 1, 10, tzinfo=dt.UTC)
    evidence = [{"node_id": 1, "source_path": f"/{key}.log", "byte_offset": 7}]
    return {
        "fact_key": key,
        "cluster_id": cluster,
        "at": at,
        "evidence": evidence,
        "settings": [("a", key)],
        "ratio": ratio,
        "started_date": day,
    }


@pytest.fixture
def mart(tmp_path: Path) -> Mart:
    return Mart(tmp_path)


class Mart:
    """A table, and the folder in which a build leaves its rows."""

    def __init__(self, folder: Path) -> None:
        self.aside, self.table = folder / "aside", str(folder / "table")

    def build(self, *rows: dict[str, Any], clusters: list[str] | None = None) -> Published:
        self.aside.mkdir(exist_ok=True)
        for old in self.aside.glob("*"):
            old.unlink()
        pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), self.aside / "part-0.parquet")
        fields = [{"name": name, "type": kind} for name, kind in TYPES.items()]
        schema = Schema.from_json(described({"type": "struct", "fields": fields}, {"ratio": "A share."}))
        return commit(self.aside, self.table, schema, "A fact.", clusters)

    def rows(self) -> list[dict[str, Any]]:
        found = DeltaTable(self.table).to_pyarrow_dataset().to_table().to_pylist()
        return sorted(found, key=lambda each: each["fact_key"])

    def files(self) -> set[str]:
        return set(DeltaTable(self.table).file_uris())


MARCH, APRIL, MAY = (dt.date(2026, month, 3) for month in (3, 4, 5))


def test_a_table_is_made_with_its_comments(mart: Mart) -> None:
    rows = [row("a", "one", MARCH), row("b", "two", None)]
    assert mart.build(*rows) == Published(2, 2)
    assert mart.rows() == rows
    comments = {field["name"]: field["metadata"] for field in json.loads(DeltaTable(mart.table).schema().to_json())["fields"]}
    assert comments["ratio"] == {"comment": "A share."}
    assert DeltaTable(mart.table).protocol().min_reader_version == 1


def test_what_is_as_it_was_is_not_written(mart: Mart) -> None:
    rows = [row("a", "one", MARCH), row("b", "one", None), row("c", "two", MAY, None)]
    mart.build(*rows)
    version = DeltaTable(mart.table).version()
    assert mart.build(*rows[::-1]) == Published(3, 0)
    assert DeltaTable(mart.table).version() == version


def test_one_more_day_replaces_its_month_alone(mart: Mart) -> None:
    rows = [row("a", "one", MARCH), row("b", "one", APRIL), row("c", "one", None)]
    mart.build(*rows)
    more = row("d", "one", MAY)
    assert mart.build(*rows, more) == Published(4, 1)
    assert mart.rows() == [*rows, more]
    before = mart.files()
    later = row("e", "one", MAY + dt.timedelta(days=1))
    assert mart.build(*rows, more, later) == Published(5, 1)
    assert mart.rows() == [*rows, more, later]
    assert len(before & mart.files()) == len(before) - 1
    assert DeltaTable(mart.table).protocol().min_reader_version == 1


def test_a_changed_value_below_a_column_is_seen(mart: Mart) -> None:
    mart.build(row("a", "one", MARCH), row("b", "one", APRIL))
    other = row("a", "one", MARCH)
    other["evidence"][0]["byte_offset"] = 8
    assert mart.build(other, row("b", "one", APRIL)) == Published(2, 1)
    assert mart.rows()[0] == other


def test_a_day_that_became_empty_becomes_empty(mart: Mart) -> None:
    mart.build(row("a", "one", MARCH), row("b", "one", APRIL))
    assert mart.build(row("b", "one", APRIL)) == Published(1, 1)
    assert [each["fact_key"] for each in mart.rows()] == ["b"]


@pytest.mark.parametrize("months", [1, 5])
def test_the_rows_of_other_clusters_stay(mart: Mart, months: int) -> None:
    days = [dt.date(2026, month + 1, 9) for month in range(months)]
    other = [row(f"o{day}", "it's", day) for day in days]
    mart.build(*other, row("a", "one", days[0]))
    new = [row(f"n{day}", "one", day) for day in days]
    assert mart.build(*new, clusters=["one"]) == Published(months, months)
    assert mart.rows() == [*new, *other]
    assert mart.build(clusters=["it's"]) == Published(0, months)
    assert mart.rows() == new


def test_another_schema_makes_the_table_anew(mart: Mart) -> None:
    mart.build(row("a", "one", MARCH))
    (mart.aside / "part-0.parquet").unlink(missing_ok=True)
    pq.write_table(pa.table({"fact_key": ["z"]}), mart.aside / "part-0.parquet")
    schema = Schema.from_json(described({"type": "struct", "fields": [{"name": "fact_key", "type": "string"}]}, {}))
    assert commit(mart.aside, mart.table, schema, "A fact.") == Published(1, None)
    assert mart.rows() == [{"fact_key": "z"}]
