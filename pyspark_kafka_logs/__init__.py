"""Where Spark looks for data sources by itself: installed, `spark.read.format("kafka_logs")` needs no registration."""

from ingestion.data_source import KafkaLogs as DefaultSource

__all__ = ["DefaultSource"]
