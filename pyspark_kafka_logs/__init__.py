"""The package name by which Spark finds data sources: once installed, `spark.read.format("kafka_logs")` needs no registration."""

from ingestion.data_source import KafkaLogs as DefaultSource

__all__ = ["DefaultSource"]
