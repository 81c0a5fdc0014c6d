"""The metadata that tools ask for first: schemas, tables, columns, keys, types; over JDBC, beeline and PyHive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jaydebeapi
import jpype
import pytest
import yaml
from deltalake import DeltaTable

from chronicle.serve.client import connect
from chronicle.serve.relations import relations
from chronicle.spark.internals import spark_home
from tests.served import Served

DRIVER = "org.apache.hive.jdbc.HiveDriver"
MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture(scope="module")
def jdbc(server: Served) -> Any:
    if not jpype.isJVMStarted():
        jpype.startJVM("-Xmx128m", "-XX:TieredStopAtLevel=1", classpath=[f"{spark_home.jars()}/*"])
    connection = jaydebeapi.connect(DRIVER, f"jdbc:hive2://127.0.0.1:{server.port}/", ["bi", ""])
    yield connection
    connection.close()


def rows(result: Any, *columns: str) -> list[tuple[Any, ...]]:
    """The named columns of a JDBC result, row by row."""
    found = []
    while result.next():
        values = (result.getObject(name) for name in columns)
        found.append(tuple(str(value) if isinstance(value, jpype.JString) else value for value in values))
    return found


def documented() -> dict[tuple[str, str], dict[str, Any]]:
    """(schema, model) → its YAML, for marts and reports."""
    found = {}
    for name, schema in {"bridge_*": "marts", "dim_*": "marts", "fct_*": "marts", "rpt_*": "reports"}.items():
        for path in MODELS.rglob(f"{name}.yml"):
            for model in yaml.safe_load(path.read_text(encoding="utf-8"))["models"]:
                found[schema, model["name"]] = model
    return found


def test_schemas_are_those_that_people_read(jdbc: Any) -> None:
    metadata = jdbc.jconn.getMetaData()
    assert rows(metadata.getSchemas(), "TABLE_SCHEM") == [("bronze",), ("marts",), ("reports",)]
    assert rows(metadata.getSchemas(None, "mar%"), "TABLE_SCHEM") == [("marts",)]
    assert rows(metadata.getSchemas(None, "global%"), "TABLE_SCHEM") == []


def test_tables_come_with_what_they_are(jdbc: Any) -> None:
    found = rows(jdbc.jconn.getMetaData().getTables(None, None, "%", None), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS")
    wanted = documented()
    assert {(schema, name) for schema, name, _, _ in found if schema != "bronze"} == set(wanted)
    views = {name for _, name, kind, _ in found if kind == "VIEW"}
    assert {kind for _, _, kind, _ in found} == {"TABLE", "VIEW"}
    assert views == {"bridge_evidence", "bridge_incident_groups", "bridge_incident_nodes", "bridge_incident_partitions"}
    for schema, name, _, said in found:
        assert said.startswith("One row per ")
        if schema != "bronze":
            assert " ".join(said.split()) == " ".join(wanted[schema, name]["description"].split())


def test_every_column_has_its_type_and_comment(jdbc: Any, server: Served) -> None:
    found = rows(
        jdbc.jconn.getMetaData().getColumns(None, "%", "%", "%"), "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "TYPE_NAME", "REMARKS"
    )
    assert [row for row in found if not row[4]] == []
    for (schema, name), model in documented().items():
        told = [column for in_schema, table, column, _, _ in found if (in_schema, table) == (schema, name)]
        assert told == [column["name"] for column in model["columns"]]
        if DeltaTable.is_deltatable(path := f"{server.warehouse}/{schema}/{name}"):
            assert told == [column["name"] for column in json.loads(DeltaTable(path).schema().to_json())["fields"]]
    kinds = {row[2]: row[3] for row in found if row[1] == "fct_leader_elections"}
    assert (kinds["elected_at"], kinds["leader_epoch"], kinds["isr"], kinds["is_unclean"]) == ("TIMESTAMP", "INT", "ARRAY<INT>", "BOOLEAN")


def test_primary_keys_are_told(jdbc: Any) -> None:
    metadata = jdbc.jconn.getMetaData()
    names = ("TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ")
    assert rows(metadata.getPrimaryKeys(None, "marts", "fct_incidents"), *names) == [("marts", "fct_incidents", "incident_key", 1)]
    assert rows(metadata.getPrimaryKeys(None, "marts", "dim_known_issues"), *names) == [("marts", "dim_known_issues", "issue_id", 1)]
    assert rows(metadata.getPrimaryKeys(None, "bronze", "log_records"), *names) == []


def test_foreign_keys_are_asked_for_without_a_metastore_of_hives(jdbc: Any, server: Served) -> None:
    """Hive would start one in the folder in which the server was started."""
    metadata = jdbc.jconn.getMetaData()
    names = ("PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE", "DEFERRABILITY")
    crossing = metadata.getCrossReference(None, "marts", "fct_incidents", None, "marts", "fct_incident_events")
    assert rows(crossing, *names) == [("fct_incidents", "incident_key", "fct_incident_events", "incident_key", 1, 3, 7)]
    assert rows(metadata.getCrossReference(None, "marts", "fct_incidents", None, "marts", "dim_dates"), *names) == []
    folder = Path(os.readlink(f"/proc/{server.process.pid}/cwd"))
    assert not (folder / "metastore_db").exists()


def test_a_table_is_told_all_that_it_refers_to(jdbc: Any) -> None:
    metadata = jdbc.jconn.getMetaData()
    found = rows(metadata.getCrossReference(None, None, None, None, "marts", "fct_leader_elections"), "FKCOLUMN_NAME", "PKTABLE_NAME")
    keys = {("cluster_key", "dim_clusters"), ("node_key", "dim_nodes"), ("topic_key", "dim_topics"), ("partition_key", "dim_partitions")}
    assert keys <= set(found)
    every = metadata.getCrossReference(None, None, None, None, None, None)
    assert len(rows(every, "FKTABLE_NAME")) == len(relations())


@pytest.mark.parametrize("pattern", ["(.*.){14}!", "%a%a%a%a%a%a%a%a%a%a!"])
def test_patterns_of_names_that_cost_much_are_refused(jdbc: Any, pattern: str) -> None:
    metadata = jdbc.jconn.getMetaData()
    began = time.monotonic()
    for ask in (
        lambda: metadata.getTables(None, "marts", pattern, None),
        lambda: metadata.getTables(None, pattern, "%", None),
        lambda: metadata.getColumns(None, "marts", "fct_incidents", pattern),
        lambda: metadata.getFunctions(None, None, pattern),
        lambda: metadata.getSchemas(None, pattern),
    ):
        with pytest.raises(Exception, match=r"pattern .* is refused"):
            ask()
    assert time.monotonic() - began < 2


def test_types_and_functions_are_told(jdbc: Any) -> None:
    metadata = jdbc.jconn.getMetaData()
    assert {"STRING", "TIMESTAMP", "BIGINT", "ARRAY"} <= {name for (name,) in rows(metadata.getTypeInfo(), "TYPE_NAME")}
    assert ("count",) in rows(metadata.getFunctions(None, None, "count"), "FUNCTION_NAME")
    assert str(metadata.getDatabaseProductName()) == "Spark SQL"


def test_values_come_over_jdbc_as_they_are(jdbc: Any, server: Served) -> None:
    query = "select incident_key, started_at, leaderless_ms, is_maintenance from fct_incidents order by incident_key limit 3"
    cursor = jdbc.cursor()
    cursor.execute(query)
    told = [(key, at[:23], int(ms), bool(planned)) for key, at, ms, planned in cursor.fetchall()]
    assert told == [(key, str(at)[:23], ms, planned) for key, at, ms, planned in server.ask(query)]


def test_beeline_reads(server: Served) -> None:
    told = subprocess.run(
        [
            str(Path(sys.executable).with_name("beeline")),
            *("-u", f"jdbc:hive2://127.0.0.1:{server.port}/marts", "-n", "bi", "--silent=true", "--outputformat=csv2"),
            *("-e", "select count(*) > 0 as there from fct_incidents", "-e", "drop table fct_incidents"),
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"SPARK_HOME": str(spark_home.home())},
        check=False,
    )
    assert "there\ntrue\n" in told.stdout
    assert "[CHRONICLE_READ_ONLY] DROP TABLE is refused" in told.stderr and told.returncode != 0


def test_pyhive_lists_tables_and_columns(server: Served) -> None:
    connection = connect("127.0.0.1", server.port)
    cursor = connection.cursor()
    cursor.execute("describe fct_incidents")
    assert cursor.fetchall()[0] == ("incident_key", "string", "Key of the row.")
    connection.close()
