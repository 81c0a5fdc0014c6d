"""Exactly once: a run that is killed at any point is completed by the next, and nothing is doubled."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from chronicle.build import build as building
from chronicle.spark.catalog import register
from ingestion import ingest as ingesting
from ingestion.bronze import write
from ingestion.delta_files import Added
from ingestion.records.redact import secrets
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load(spark: SparkSession, warehouse: str, folder: Path) -> ingesting.Outcome:
    options = ingesting.Options([str(folder)], cluster="killed", timezone="UTC", settled_after=0)
    return ingesting.ingest(lambda: spark, warehouse, options, tell=lambda text: None)


def count(spark: SparkSession, warehouse: str, table: str) -> int:
    return spark.read.format("delta").load(f"{warehouse}/bronze/{table}").where("cluster_id = 'killed'").count()


@pytest.mark.parametrize("table", ["log_records", "sources"])
def test_a_killed_run_is_completed_by_the_next(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    warehouse, logs = str(tmp_path / "warehouse"), tmp_path / "logs"
    logs.mkdir()
    lines = "".join(f"[2020-05-15 12:00:{n:02},123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n" for n in range(60))
    (logs / "server.log").write_text(lines)
    commit = write.commit

    def killed(path: str, files: list[Added], version: int) -> None:
        if path.endswith(table):
            raise KeyboardInterrupt
        commit(path, files, version)

    monkeypatch.setattr(write, "commit", killed)
    with pytest.raises(KeyboardInterrupt):
        load(spark, warehouse, logs)
    monkeypatch.setattr(write, "commit", commit)
    (logs / "server.log").write_text(lines * 2)
    assert load(spark, warehouse, logs).records == 60
    assert load(spark, warehouse, logs).records == 0
    assert (count(spark, warehouse, "log_records"), count(spark, warehouse, "sources")) == (120, 2)
    assert list(Path(warehouse, "bronze", write.NOTES).iterdir()) == []


def test_the_table_says_what_its_files_hold(spark: SparkSession, tmp_path: Path) -> None:
    """Statistics decide which files a query reads: a wrong bound would lose rows in silence."""
    warehouse, logs = str(tmp_path / "warehouse"), tmp_path / "logs"
    logs.mkdir()
    for day in (15, 16):
        (logs / f"server.log.2020-05-{day}-12").write_text(
            f"[2020-05-{day} 12:00:00,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
        )
        load(spark, warehouse, logs)
    records = spark.read.format("delta").load(f"{warehouse}/bronze/log_records")
    assert records.where("event_date = date'2020-05-16'").count() == 1
    assert records.where("event_date > date'2020-05-16'").count() == 0
    arrived = sorted(row.ingested_at for row in records.select("ingested_at").collect())
    for at in arrived:
        assert records.where(f"ingested_at = timestamp'{at.isoformat()}'").count() == 1
    assert records.where("cluster_id = 'killed' and batch_id = 2").count() == 1
    assert {field.name for field in records.schema if not (field.metadata or {}).get("comment")} == set()


SECRET_FORMS = {
    "url": "u:Zq{:04}Planted",
    "web_token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.Zq{:04}abcdefgh",
    "cloud_key": "AKIAZQZQZQZQZQZQ{:04}",
}


def planted() -> tuple[list[str], list[str]]:
    """(texts, the secrets in them): every example of the catalogue with a value that is nowhere else."""
    texts, values = [], []
    for shape in secrets():
        for example in shape.examples:

            def plant(match: re.Match[str], name: str = shape.name) -> str:
                values.append(SECRET_FORMS.get(name, "Zq{:04}Planted").format(len(values)))
                return values[-1]

            texts.append(re.sub(r"<<(.*?)>>", plant, example, flags=re.S))
    return texts, values


def test_no_secret_reaches_a_file_of_the_warehouse(spark: SparkSession, tmp_path: Path) -> None:
    """Every shape of secret in every kind of input; Parquet is decoded, all other files are searched as they are."""
    warehouse, logs = tmp_path / "warehouse", tmp_path / "logs"
    logs.mkdir()
    texts, values = planted()
    assert len(values) >= 30
    lines = [f"[2020-05-15 12:00:01,123] WARN {text} (a.b.C)\n" for text in texts]
    (logs / "server.log").write_text("".join(lines))
    (logs / "docker.log").write_text(
        "".join(
            json.dumps({"log": part + "\n", "stream": "stdout", "time": "2020-05-15T12:00:01Z"}) + "\n"
            for line in lines
            for part in line.splitlines()
        )
    )
    (logs / "ecs.json").write_text(
        "".join(
            json.dumps({"@timestamp": "2020-05-15T12:00:01Z", "log.level": "INFO", "log.logger": "a.b.C", "message": text}) + "\n"
            for text in texts
        )
    )
    one_line = [text.strip() for text in texts if "\n" not in text]
    (logs / "server.properties").write_text(
        "broker.id=1\nlog.dirs=/a\nzookeeper.connect=z:2181\n" + "".join(f"{text}\n" for text in one_line)
    )
    (logs / "gc.log").write_text(
        "[2026-11-21T09:34:21.048+0000][gc] Using G1\n"
        + "".join(f"[2026-11-21T09:34:21.048+0000][gc,init] CommandLine flags: {text}\n" for text in one_line)
    )
    (logs / "metrics.prom").write_text("".join(f"# HELP m{n} {text}\n# TYPE m{n} gauge\nm{n} 1\n" for n, text in enumerate(one_line)))
    answers = [
        {"request": {"mbean": f"a:type=b{n}", "type": "read"}, "value": {"x": text}, "timestamp": 1589544001, "status": 200}
        for n, text in enumerate(one_line)
    ]
    (logs / "jolokia.json").write_text(json.dumps(answers))
    describe = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    (logs / "issue.md").write_text(f"We saw this:\n\n```\n{describe}```\n\nand these:\n\n" + "\n\n".join(texts) + "\n")
    with tarfile.open(tmp_path / "bundle.tar.gz", "w:gz") as archive:
        for path in sorted(logs.iterdir()):
            archive.add(path, f"node-9/{path.name}")
    options = ingesting.Options([str(logs), str(tmp_path / "bundle.tar.gz")], cluster="secret", timezone="UTC", settled_after=0)
    outcome = ingesting.ingest(lambda: spark, str(warehouse), options, tell=lambda text: None)
    assert outcome.files == {"new": 16}, outcome
    searched = 0
    for path in warehouse.rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            if path.suffix == ".parquet":
                rows = pq.read_table(path).to_pylist()
                searched += len(rows)
                text += json.dumps(rows, default=str)
            assert [value for value in values if value in text] == [], path
    assert searched > 400


def test_a_node_that_a_later_log_tells_reaches_the_rows_of_earlier_captures(spark: SparkSession, warehouse: str, tmp_path: Path) -> None:
    """First the captures, then, in another run, the log that says which host is which node; and then both at once."""
    captured, logs = tmp_path / "given" / "captures", tmp_path / "given" / "logs"
    captured.mkdir(parents=True)
    logs.mkdir()
    (captured / "ss-alpha03.txt").write_text("State Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0 50 *:9092 *:*\n")
    (captured / "jmx-b3.csv").write_text('"time","kafka.server:type=ReplicaManager,name=LeaderCount:Value"\n1795257000000,7\n')
    (logs / "server.log").write_text(
        "[2026-11-21 10:00:00,000] INFO KafkaConfig values: \n\tadvertised.listeners = PLAINTEXT://alpha03:9092\n\tbroker.id = 3\n (kafka.server.KafkaConfig)\n"
    )

    def read(cluster: str, *folders: Path) -> ingesting.Outcome:
        options = ingesting.Options([str(folder) for folder in folders], cluster=cluster, timezone="UTC", settled_after=0)
        return ingesting.ingest(lambda: spark, warehouse, options, tell=lambda text: None)

    assert len(read("in_turn", captured).nodeless) == 2
    assert read("in_turn", logs).owned_now == 2
    assert read("in_turn", captured, logs).rows_written == 0
    read("at_once", captured, logs)
    building.build(spark, warehouse, select="base_captures__rows base_metrics__samples event_types")
    register(spark, Warehouse.at(warehouse))
    for table in ("base_captures__rows", "base_metrics__samples"):
        found = spark.table(f"staging.{table}").where("cluster_id in ('in_turn', 'at_once')").select("cluster_id", "node_id").distinct()
        assert {(row.cluster_id, row.node_id) for row in found.collect()} == {("in_turn", 3), ("at_once", 3)}, table
