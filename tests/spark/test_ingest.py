"""Exactly once: a run that is killed at any point is completed by the next, and nothing is doubled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ingestion import ingest as ingesting
from ingestion import write

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

    def killed(session: SparkSession, path: str, files: list[write.Added], version: int) -> None:
        if path.endswith(table):
            raise KeyboardInterrupt
        commit(session, path, files, version)

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
