"""`chronicle register --in` with a persistent Hive metastore, which is part of Spark: tables that one process registers are found by others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cluster.commands import chronicle, done, environment

# A session that knows nothing of the warehouse.
ASK = """
import sys
from chronicle.spark.session import start
spark = start(sys.argv[1])
for statement in sys.argv[2:]:
    rows = spark.sql(statement).collect()
print(*(row[0] for row in rows))
"""


def test_a_metastore_that_stays(orders: Path, tmp_path: Path) -> None:
    settings = tmp_path / "spark.conf"
    settings.write_text(
        "spark.sql.catalogImplementation hive\n"
        f"spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={tmp_path}/metastore;create=true\n"
    )

    def asked(*statements: str) -> str:
        command = [sys.executable, "-c", ASK, str(tmp_path / "theirs"), *statements]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment(None, settings)).stdout.strip()

    refused = chronicle(None, settings, "register", "--in", "kafka", "-w", orders)
    assert "no schema kafka; make it there" in refused.communicate(timeout=120)[0] and refused.returncode == 1
    asked(f"create schema kafka location '{tmp_path}/kafka'")
    said = done(chronicle(None, settings, "register", "--in", "kafka", "-w", orders))
    assert "kafka.fct_leader_elections" in said
    before = int(asked("select count(*) from kafka.fct_leader_elections"))
    assert before > 0
    done(chronicle(None, settings, "register", "--in", "kafka", "-w", orders))
    assert int(asked("select count(*) from kafka.fct_leader_elections")) == before
