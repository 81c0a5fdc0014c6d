"""A plain session of PySpark with Delta, nothing of ours but jars and settings for the bucket: what tasks on the workers see of some folders, and a table
that they write and read.  `python -m tests.cluster.seen_from_workers MASTER TABLE FOLDER…` prints one JSON object."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from chronicle.spark import jars, java, s3a


def seen(folders: list[str]) -> dict[str, object]:
    """What this process sees: its mount namespace, and which of some folders are there and hold something."""
    return {
        "namespace": os.readlink("/proc/self/ns/mnt"),
        "folders": {folder: os.path.isdir(folder) and bool(os.listdir(folder)) for folder in folders},
    }


def main(master: str, table: str, *folders: str) -> None:
    os.environ["JAVA_HOME"] = str(java.find())
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": master,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.cores": "1",
        "spark.executor.memory": "1g",
        # Delta by default reads the log of a table in 50 tasks.
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.jars": ",".join([*jars.class_path(), *s3a.class_path(table)]),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        **s3a.settings(table),
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()

    def look(rows: Iterator[int]) -> Iterator[str]:
        # Long enough that both workers get some.
        list(rows)
        import time

        time.sleep(2)
        yield json.dumps(seen(list(folders)))

    workers = [json.loads(line) for line in spark.sparkContext.parallelize(range(4), 4).mapPartitions(look).collect()]
    there = f"delta.`{s3a.uri(table)}`"
    spark.sql(f"create or replace table {there} using delta as select /*+ repartition(4) */ id, string(id) as name from range(1000)")
    spark.sql(f"insert into {there} replace where id < 10 select id, 'new' from range(10)")
    count, total, new = spark.sql(f"select count(*), sum(id), count_if(name = 'new') from {there}").collect()[0]
    print(json.dumps({"driver": seen(list(folders)), "workers": workers, "rows": [count, total, new]}), file=sys.stdout)
    spark.stop()


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main(*sys.argv[1:])
