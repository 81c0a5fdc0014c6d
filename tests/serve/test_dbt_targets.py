"""dbt by hand, in a session of ours and over thrift through `chronicle serve`, makes what `chronicle build` makes.

On one cluster of the lab, and a selection of models; CHRONICLE_DBT=all makes all of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build.publish import ordered, plain
from chronicle.project import PROJECT
from tests.lab import Lab
from tests.served import serving

ALL = os.environ.get("CHRONICLE_DBT") == "all"
# Steps in Parquet, an incremental model, facts with keys, times and evidence, and few models beneath them.
MADE = ("fct_coordinator_loads", "fct_parse_coverage_daily", "dim_event_types")
CLUSTER = "zk-a-2.8.2"
# What holds something of every cluster in one row, or is as long as the history of all.
OF_ALL_CLUSTERS = {"rpt_fleet_daily", "dim_dates"}
BUILD = ["build", "--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
SELECTED = [] if ALL else ["--select", *(f"+{name}" for name in MADE)]


@pytest.fixture(scope="module")
def warehouse(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bronze of one cluster and nothing else: the rest is to be made, and where one test has made it the next makes it again."""
    place = tmp_path_factory.mktemp("dbt") / "warehouse"
    for log in Path(lab.warehouse, "bronze").glob("*/_delta_log"):
        held = DeltaTable(str(log.parent))
        rows = held.to_pyarrow_table(filters=[("cluster_id", "=", CLUSTER)])
        write_deltalake(str(place / "bronze" / log.parent.name), rows, configuration=held.metadata().configuration)
    return place


def content(path: Path | str) -> pa.Table:
    """The rows of a table, in the order of all columns that have one."""
    rows = DeltaTable(str(path)).to_pyarrow_table()
    if "cluster_id" in rows.column_names:
        rows = rows.filter(pc.field("cluster_id") == CLUSTER)
    return ordered(rows.select(sorted(rows.column_names)))


def differences(lab: Lab, made: Path) -> list[str]:
    """Tables that are missing, or hold other rows or comments than the lab's."""
    wanted = [Path(log).parent for schema in ("marts", "reports") for log in Path(lab.warehouse, schema).glob("*/_delta_log")]
    found = []
    for table in wanted:
        if table.name in OF_ALL_CLUSTERS or (not ALL and table.name not in MADE):
            continue
        here = made / table.parent.name / table.name
        if not here.exists():
            found.append(f"{table.name}: not made")
        elif not content(here).equals(content(table)):
            found.append(f"{table.name}: other rows")
        elif columns(here) != columns(table):
            found.append(f"{table.name}: other columns or comments")
    return found


def columns(table: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, type and comment of each column.  Whether part of an array or struct can be null is left out: by dbt that comes from the
    query, by a build it always can."""
    fields = json.loads(DeltaTable(str(table)).schema().to_json())["fields"]
    return [(field["name"], json.dumps(plain(field["type"])), field["metadata"]) for field in fields]


def run(command: list[str], **environment: str) -> None:
    """Run a command.  Fails with all that it said."""
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr


def chronicle(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "chronicle", *arguments]


def test_dbt_in_a_session_makes_what_a_build_makes(lab: Lab, warehouse: Path) -> None:
    run(chronicle("dbt", "--warehouse", str(warehouse), *BUILD, *SELECTED))
    assert differences(lab, warehouse) == []


def test_dbt_over_thrift_makes_what_a_build_makes(lab: Lab, warehouse: Path, tmp_path: Path) -> None:
    dbt = [str(Path(sys.executable).with_name("dbt")), *BUILD, *SELECTED, "--profiles-dir", "dbt_project", "--target", "server"]
    with serving(str(warehouse), "--read-write", memory="2g") as served:
        run([*dbt, "--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs")], CHRONICLE_PORT=str(served.port))
    assert differences(lab, warehouse) == []
