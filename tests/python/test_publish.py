"""Publishing the tables that a build wrote aside: only changed parts are written."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema, write_deltalake

from chronicle.ask.tables import NotBuilt, Tables
from chronicle.build import publish
from chronicle.build.dbt_runs import ROW_GROUP
from chronicle.build.publish import BrokenContract, Mart, Published, commit_all, described
from ingestion.warehouse import Warehouse

ROOT = Path(__file__).resolve().parents[2]
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
def mart(tmp_path: Path) -> Built:
    return Built(tmp_path)


def columns() -> Schema:
    fields = [{"name": name, "type": kind} for name, kind in TYPES.items()]
    return Schema.from_json(described({"type": "struct", "fields": fields}, {"ratio": "A share."}))


class Built:
    """A table, and the folder in which a build leaves its rows."""

    def __init__(self, folder: Path) -> None:
        self.place = Warehouse.at(str(folder))
        self.aside, self.table = folder / "aside", self.place.table("marts", "fct_it")

    def build(self, *rows: dict[str, Any], clusters: list[str] | None = None) -> Published:
        self.aside.mkdir(exist_ok=True)
        for old in self.aside.glob("*"):
            old.unlink()
        pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), self.aside / "part-0.parquet")
        return self.publish(columns(), clusters)

    def publish(self, schema: Schema, clusters: list[str] | None = None) -> Published:
        (published,) = commit_all(self.place, [Mart("marts", "fct_it", self.aside, self.table, schema, "A fact.", clusters)])
        return published

    def rows(self) -> list[dict[str, Any]]:
        found = DeltaTable(self.table).to_pyarrow_dataset().to_table().to_pylist()
        return sorted(found, key=lambda each: each["fact_key"])

    def files(self) -> set[str]:
        return set(DeltaTable(self.table).file_uris())


MARCH, APRIL, MAY = (dt.date(2026, month, 3) for month in (3, 4, 5))


def test_a_table_is_made_with_its_comments(mart: Built) -> None:
    rows = [row("a", "one", MARCH), row("b", "two", None)]
    assert mart.build(*rows) == Published(2, 2)
    assert mart.rows() == rows
    comments = {field["name"]: field["metadata"] for field in json.loads(DeltaTable(mart.table).schema().to_json())["fields"]}
    assert comments["ratio"] == {"comment": "A share."}
    assert DeltaTable(mart.table).protocol().min_reader_version == 1


def test_what_is_as_it_was_is_not_written(mart: Built) -> None:
    rows = [row("a", "one", MARCH), row("b", "one", None), row("c", "two", MAY, None)]
    mart.build(*rows)
    version = DeltaTable(mart.table).version()
    assert mart.build(*rows[::-1]) == Published(3, 0)
    assert DeltaTable(mart.table).version() == version


def test_what_is_known_to_be_as_before_is_not_compared(mart: Built) -> None:
    mart.build(row("a", "one", MARCH))
    version = DeltaTable(mart.table).version()
    mart.aside.mkdir()
    # It does differ, so a comparison would find that.
    pq.write_table(pa.Table.from_pylist([row("b", "one", APRIL), row("c", "one", APRIL)], SCHEMA), mart.aside / "part-0.parquet")
    known = Mart("marts", "fct_it", mart.aside, mart.table, columns(), "A fact.", ["one"], is_as_before=True)
    assert commit_all(mart.place, [known]) == [Published(2, 0)]
    assert DeltaTable(mart.table).version() == version and not mart.aside.exists()


@pytest.mark.parametrize("at_once", [0, publish.MOST_AT_ONCE])
def test_one_more_day_replaces_its_month_alone(mart: Built, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(publish, "MOST_AT_ONCE", at_once)
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


@pytest.mark.parametrize("months", [1, 5])
def test_row_groups_stay_small(mart: Built, months: int) -> None:
    """delta-rs would write a million rows into one, which readers hold at once."""
    many = ROW_GROUP // months + 1
    rows = [row(f"{number}", "one", dt.date(2026, month + 1, 9)) for month in range(months) for number in range(many)]
    mart.build(row("a", "one", MARCH), row("b", "two", MARCH))
    assert mart.build(*rows, clusters=["one"]).rows == len(rows) > ROW_GROUP
    files = [pq.ParquetFile(file).metadata for file in mart.files()]
    assert all(file.row_group(number).num_rows <= ROW_GROUP for file in files for number in range(file.num_row_groups))
    assert sum(file.num_rows for file in files) == len(rows) + 1


def test_a_changed_value_below_a_column_is_seen(mart: Built) -> None:
    mart.build(row("a", "one", MARCH), row("b", "one", APRIL))
    other = row("a", "one", MARCH)
    other["evidence"][0]["byte_offset"] = 8
    assert mart.build(other, row("b", "one", APRIL)) == Published(2, 1)
    assert mart.rows()[0] == other


def test_a_day_that_became_empty_becomes_empty(mart: Built) -> None:
    mart.build(row("a", "one", MARCH), row("b", "one", APRIL))
    assert mart.build(row("b", "one", APRIL)) == Published(1, 1)
    assert [each["fact_key"] for each in mart.rows()] == ["b"]


@pytest.mark.parametrize("months", [1, 5])
def test_the_rows_of_other_clusters_stay(mart: Built, months: int) -> None:
    days = [dt.date(2026, month + 1, 9) for month in range(months)]
    other = [row(f"o{day}", "it's", day) for day in days]
    mart.build(*other, row("a", "one", days[0]))
    new = [row(f"n{day}", "one", day) for day in days]
    assert mart.build(*new, clusters=["one"]) == Published(months, months)
    assert mart.rows() == [*new, *other]
    assert mart.build(clusters=["it's"]) == Published(0, months)
    assert mart.rows() == new


def test_another_schema_makes_the_table_anew(mart: Built) -> None:
    mart.build(row("a", "one", MARCH))
    mart.aside.mkdir()
    pq.write_table(pa.table({"fact_key": ["z"]}), mart.aside / "part-0.parquet")
    schema = Schema.from_json(described({"type": "struct", "fields": [{"name": "fact_key", "type": "string"}]}, {}))
    assert mart.publish(schema) == Published(1, None)
    assert mart.rows() == [{"fact_key": "z"}]


def test_a_table_that_was_partitioned_is_made_anew(mart: Built) -> None:
    write_deltalake(mart.table, pa.Table.from_pylist([row("old", "one", MARCH)], SCHEMA), partition_by=["started_date"])
    assert mart.build(row("a", "one", APRIL), row("b", "one", None)) == Published(2, 2)
    assert [each["fact_key"] for each in mart.rows()] == ["a", "b"]
    assert mart.build(row("a", "one", APRIL), row("c", "one", MAY)) == Published(2, 2)
    assert [each["fact_key"] for each in mart.rows()] == ["a", "c"]
    assert DeltaTable(mart.table).metadata().partition_columns == []


@pytest.mark.parametrize("loss", ["folder", "columns"])
def test_rows_of_other_clusters_are_never_replaced_with_nothing(mart: Built, loss: str) -> None:
    """A table was deleted or altered outside of builds: a partial build lacks the rows of the other clusters."""
    other = Built(mart.place.building)
    other.table = mart.place.table("marts", "fct_other")
    mart.build(row("a", "one", MARCH), row("b", "two", MARCH))
    if loss == "folder":
        shutil.rmtree(mart.table)
    else:
        write_deltalake(mart.table, pa.table({"fact_key": ["a"]}), mode="overwrite", schema_mode="overwrite")
    for table in (mart, other):
        table.aside.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist([row("c", "one", MAY)], SCHEMA), table.aside / "part-0.parquet")
    marts = [Mart("marts", "fct_other", other.aside, other.table, columns(), "")]
    marts += [Mart("marts", "fct_it", mart.aside, mart.table, columns(), "A fact.", ["one"])]
    with pytest.raises(BrokenContract, match="fct_it: missing, or with other columns, in a build of some clusters"):
        commit_all(mart.place, marts)
    assert not DeltaTable.is_deltatable(other.table)
    assert loss == "folder" or mart.rows() == [{"fact_key": "a"}]


class Marts:
    """Three tables of one number each, which is the same in all tables of one build."""

    NAMES = ("fct_a", "fct_b", "fct_c")
    COLUMNS = Schema.from_json(described({"type": "struct", "fields": [{"name": "number", "type": "long"}]}, {}))

    def __init__(self, folder: Path) -> None:
        self.place = Warehouse.at(str(folder))

    def publish(self, number: int, names: tuple[str, ...] = NAMES) -> None:
        marts = []
        for name in names:
            aside = self.place.building / name
            aside.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table({"number": [number]}), aside / "part-0.parquet")
            marts.append(Mart("marts", name, aside, self.place.table("marts", name), self.COLUMNS, ""))
        commit_all(self.place, marts)

    def publish_and_be_killed(self, number: int, after: int) -> None:
        """Publish in a process of its own that exits as soon as this many tables are committed."""
        text = (
            "import os, sys, chronicle.build.publish as publish, tests.python.test_publish as here; from pathlib import Path\n"
            "left, commit = [int(sys.argv[3])], publish.commit\n"
            "def counted(*given):\n"
            "    left[0] < 1 and os._exit(9)\n"
            "    left[0] -= 1\n"
            "    return commit(*given)\n"
            "publish.commit = counted\n"
            "here.Marts(Path(sys.argv[1])).publish(int(sys.argv[2]))\n"
        )
        done = subprocess.run([sys.executable, "-c", text, self.place.root, str(number), str(after)], cwd=ROOT)
        assert done.returncode == 9

    def read(self, tables: Tables | None = None) -> list[int]:
        """The numbers, each table queried by itself, as a report does."""
        tables = tables or Tables(self.place)
        return [tables.rows(f"select number from marts.{name}")[0]["number"] for name in self.NAMES]

    def newest(self) -> list[int]:
        paths = [self.place.table("marts", name) for name in self.NAMES]
        return [DeltaTable(path).to_pyarrow_table()["number"][0].as_py() for path in paths]


@pytest.mark.long
def test_a_reader_sees_one_build_while_others_are_published(tmp_path: Path) -> None:
    marts, seen, over = Marts(tmp_path), [], threading.Event()
    marts.publish(0)

    def read() -> None:
        while not over.is_set():
            seen.append(marts.read())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(1, 16):
        marts.publish(number)
    over.set()
    reader.join()
    assert len(seen) > 5
    assert [numbers for numbers in seen if len(set(numbers)) > 1] == []
    assert marts.read() == [15, 15, 15]


def test_a_reader_stays_with_the_build_it_began_with(tmp_path: Path) -> None:
    marts = Marts(tmp_path)
    marts.publish(1)
    tables = Tables(marts.place)
    assert tables.rows("select number from marts.fct_a") == [{"number": 1}]
    marts.publish(2)
    marts.publish(3)
    assert marts.read(tables) == [1, 1, 1]
    assert marts.read() == [3, 3, 3]


@pytest.mark.long
@pytest.mark.parametrize("kills", [[1], [2], [2, 1]])
def test_a_build_that_is_killed_while_it_publishes_is_not_seen(tmp_path: Path, kills: list[int]) -> None:
    marts = Marts(tmp_path)
    marts.publish(1)
    for number, committed in enumerate(kills):
        marts.publish_and_be_killed(2 + number, committed)
    assert sorted(marts.newest()) != [1, 1, 1]
    assert marts.read() == [1, 1, 1]
    # The next build makes the same rows that the killed one had committed.
    marts.publish(2)
    assert marts.read() == marts.newest() == [2, 2, 2]


@pytest.mark.long
def test_a_first_build_that_is_killed_has_published_nothing(tmp_path: Path) -> None:
    marts = Marts(tmp_path)
    marts.publish_and_be_killed(1, 2)
    with pytest.raises(NotBuilt):
        marts.read()
    marts.publish(1)
    assert marts.read() == [1, 1, 1]


def test_what_others_write_is_read_as_it_is(tmp_path: Path) -> None:
    """dbt by hand, a server that writes, a compaction with the old files deleted: their commits name no build."""
    marts = Marts(tmp_path)
    marts.publish(1)
    write_deltalake(marts.place.table("marts", "fct_b"), pa.table({"number": [7]}), mode="overwrite")
    table = DeltaTable(marts.place.table("marts", "fct_b"))
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert marts.read() == [1, 7, 1]
    marts.publish(2, ("fct_a",))
    assert marts.read() == [2, 7, 1]


def test_tables_of_a_warehouse_without_a_record_are_read_as_they_are(tmp_path: Path) -> None:
    marts = Marts(tmp_path)
    marts.publish(1)
    marts.place.published.unlink()
    assert marts.read() == [1, 1, 1]
    marts.publish_and_be_killed(2, 1)
    assert marts.read() == [1, 1, 1]
