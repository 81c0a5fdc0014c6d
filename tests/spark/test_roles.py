"""A message counts in a fact by one entry in one file of the catalogue."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chronicle.build import build as building
from chronicle.catalogue import authoring
from chronicle.project import PROJECT
from chronicle.spark.catalog import register
from ingestion import ingest as ingesting
from ingestion.bronze import shares as reading
from ingestion.bronze.tasks import Task
from ingestion.recognition import recognise
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FACT = "fct_log_dir_failures"
ENTRY = """
storage_volume_lost:
  means: A watchdog of the company's own found that the volume of a log directory is gone.
  roles: [log_dir_failure]
  forms:
    - loggers: [com.example.VolumeWatch]
      line: "Volume behind <<log_dir=/data/kafka-1>> is gone"
"""
LOG = """\
[2026-11-21 09:46:30,143] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)
[2026-11-21 09:47:02,518] ERROR Volume behind /data/kafka-2 is gone (com.example.VolumeWatch)
"""


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[recognise.Catalogue]:
    """The catalogue with one more entry, as ingestion in this process uses it."""
    folder = shutil.copytree(recognise.CATALOGUE, tmp_path / "catalogue")
    with (folder / "messages/segments.yml").open("a", encoding="utf-8") as messages:
        messages.write(ENTRY)
    monkeypatch.setattr(recognise, "CATALOGUE", folder)
    recognise.catalogue.cache_clear()
    yield recognise.catalogue()
    recognise.catalogue.cache_clear()


def sources_of(model: str) -> set[Path]:
    """The SQL of a model and of all models upstream, each with its description."""
    path = next((PROJECT / "models").rglob(f"{model}.sql"), None)
    if path is None:
        return set()
    read = re.findall(r"ref\('(\w+)'\)", path.read_text(encoding="utf-8"))
    return {path, path.with_suffix(".yml")}.union(*(sources_of(name) for name in read))


@pytest.fixture
def project(catalogue: recognise.Catalogue, tmp_path: Path) -> Path:
    """The part of the project that the fact needs (all of it takes longer to parse than to build), generated for that catalogue."""
    shared = [PROJECT / name for name in ("dbt_project.yml", "profiles.yml", "models/_groups.yml", "models/staging/_sources.yml")]
    shared += [path for folder in ("macros", "dbt_project") for path in (PROJECT / folder).rglob("*") if path.is_file()]
    shared += (PROJECT / "models").rglob("_*.md")
    texts = {path: path.read_text(encoding="utf-8") for path in {*shared, *sources_of(FACT)}} | authoring.made_files(catalogue)
    for path, text in texts.items():
        copy = tmp_path / "project" / path.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    return tmp_path / "project"


def test_an_entry_with_a_role_is_a_fact(
    spark: SparkSession, warehouse: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_here(spark: SparkSession, warehouse: str, shares: list[list[Task]], *others: object) -> list[reading.Done]:
        """In this process, because workers know only the shipped catalogue."""
        return [reading.write_share(tasks, f"{warehouse}/bronze") for tasks in shares]

    monkeypatch.setattr(reading, "read_shares", read_here)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "server.log").write_text(LOG)
    options = Options([str(logs)], cluster="lab", timezone="UTC", settled_after=0)
    ingesting.ingest(lambda: spark, warehouse, options, tell=lambda text: None)
    building.build(spark, warehouse, project=project, select=f"+{FACT}")
    register(spark, Warehouse.at(warehouse))
    (row,) = spark.sql(f"select node_id, log_dir, first_event_type, is_dir_offline from marts.{FACT}").collect()
    assert tuple(row) == (1, "/data/kafka-2", "storage_volume_lost", True)
