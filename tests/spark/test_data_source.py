"""`kafka_logs` in Spark: a folder as a table, and as a stream that has each record once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ingestion.data_source import KafkaLogs
from tests.python.test_records import line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = "examples/orders"


def test_a_folder_is_a_table(spark: SparkSession) -> None:
    spark.dataSource.register(KafkaLogs)
    found = spark.read.format("kafka_logs").option("cluster", "orders").load(ORDERS)
    by_type = {row["event_type"]: row["n"] for row in found.groupBy("event_type").count().withColumnRenamed("count", "n").collect()}
    assert sum(by_type.values()) == found.count() == 15_796
    assert by_type["isr_shrunk"] > 0 and found.where("outcome <> 'recognised'").count() < 100
    row = found.where("event_type = 'isr_shrunk'").orderBy("source_path", "byte_offset").first()
    assert (
        row is not None
        and row["node_id"] in (1, 2, 3)
        and row["fields"]["topic"] == row["topic_name"]
        and "Shrinking ISR" in row["raw_text"]
    )


def test_a_stream_has_each_record_once(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(KafkaLogs)
    logs, log = tmp_path / "logs", tmp_path / "logs" / "server.log"
    logs.mkdir()

    def run() -> list[str]:
        """Write all available rows into a table, with a query that then ends."""
        stream = spark.readStream.format("kafka_logs").options(cluster="c", timezone="UTC").load(str(logs))
        written = stream.select("body").writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        written.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
        return sorted(row["body"] for row in spark.read.parquet(str(tmp_path / "out")).collect())

    log.write_text(line(1, "[KafkaServer id=7] started") + line(2, "two"))
    assert run() == ["started"]
    with log.open("a") as file:
        file.write(line(3, "three"))
    assert run() == ["started", "two"]
    log.rename(logs / "server.log.2026-01-01-00")
    log.write_text(line(4, "four") + line(5, "five"))
    assert run() == ["four", "started", "three", "two"]
