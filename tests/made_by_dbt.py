"""Tables that dbt makes by itself, compared with those of `chronicle build`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from chronicle.build.publish import ordered, plain
from chronicle.project import PROJECT
from chronicle.serve import passwords
from ingestion.warehouse import Warehouse
from tests.served import serving
from tests.wheel import DBT as PROJECT_FILES
from tests.wheel import in_git

PASSWORD = "a password of the tests"
DBT = str(Path(sys.executable).with_name("dbt"))
BUILD = ["build", "--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]


@dataclass(frozen=True)
class Checkout:
    """A copy of the dbt project as a user has it, and where dbt finds its Spark.

    `given`: environment variables; `target`: of the profile; `program`: the dbt to run."""

    folder: Path
    target: str
    given: dict[str, str]
    program: str = DBT

    @classmethod
    def at(cls, folder: Path, target: str, program: str = DBT, **given: str) -> Checkout:
        """A new copy, with bronze in the folder `warehouse` beside it unless `given` names another."""
        for name in in_git():
            if name.startswith(PROJECT_FILES):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(PROJECT / name, folder / name)
        return cls(folder, target, given, program)

    def dbt(self, *arguments: str, schema: str | None = None) -> None:
        """Run dbt, without any option for its profile.  `schema`: another prefix of schemas.  Fails with its output."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CHRONICLE_", "DBT_"))}
        environment |= {"PWD": str(self.folder), "HOME": str(self.folder / "home")} | self.given
        environment |= {"CHRONICLE_DBT_SCHEMA": schema} if schema else {}
        command = [self.program, *arguments, "--target", self.target]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr

    def results(self, file: str = "run_results") -> dict[str, str]:
        """What the last command did, and how it ended: `fct_incidents` → `success`."""
        results = json.loads((self.folder / "target" / f"{file}.json").read_text())["results"]
        return {one["unique_id"].split(".")[2]: one["status"] for one in results}


def over_thrift(warehouse: Path, folder: Path, *arguments: str) -> None:
    """Run dbt in a process without Spark, through a server of the warehouse.  `folder`: for dbt's other output."""
    users = folder / "users"
    users.write_text(passwords.line("dbt", PASSWORD) + "\n")
    users.chmod(0o600)
    places = ["--target-path", str(folder / "target"), "--log-path", str(folder / "logs")]
    with serving(str(warehouse), "--read-write", "--password-file", str(users), memory="2g") as served:
        run([DBT, *arguments, "--target", "prod_server", *places], CHRONICLE_PORT=str(served.port), CHRONICLE_PASSWORD=PASSWORD)


def run(command: list[str], **environment: str) -> None:
    """Run a command.  Fails with its output."""
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr


def bronze_of(lab: str, cluster: str, folder: Path) -> Path:
    """The folder, a warehouse with the lab's bronze of one cluster and nothing else."""
    bronze = Warehouse.at(lab)
    for name in bronze.tables("bronze"):
        held = DeltaTable(bronze.bronze(name))
        rows = held.to_pyarrow_table(filters=[("cluster_id", "=", cluster)])
        write_deltalake(str(folder / "bronze" / name), rows, configuration=held.metadata().configuration)
    return folder


def content(path: Path, cluster: str | None) -> pa.Table:
    """The rows of a table, of a cluster or all, in the order of all columns that have one."""
    rows = DeltaTable(str(path)).to_pyarrow_table()
    if cluster and "cluster_id" in rows.column_names:
        rows = rows.filter(pc.field("cluster_id") == cluster)
    return ordered(rows.select(sorted(rows.column_names)))


def differences(wanted: Path, made: Path, cluster: str | None = None, names: Collection[str] = (), schema: str = "{}") -> list[str]:
    """Tables that another warehouse lacks, or has with other rows or comments.

    `cluster`: whose rows; `names`: the tables to compare; none: all; `schema`: the folder in which `made` has the tables of a schema."""
    found = []
    place = Warehouse.at(str(wanted))
    for table in (Path(place.table(schema, name)) for schema in ("marts", "reports") for name in place.tables(schema)):
        if names and table.name not in names:
            continue
        here = made / schema.format(table.parent.name) / table.name
        if not here.exists():
            found.append(f"{table.name}: not made")
        elif not content(here, cluster).equals(content(table, cluster)):
            found.append(f"{table.name}: other rows")
        elif columns(here) != columns(table):
            found.append(f"{table.name}: other columns or comments")
    return found


def columns(table: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, type and comment of each column.  Whether part of an array or struct can be null is left out: dbt takes that from the
    query, while in a build it always can."""
    fields = json.loads(DeltaTable(str(table)).schema().to_json())["fields"]
    return [(field["name"], json.dumps(plain(field["type"])), field["metadata"]) for field in fields]
