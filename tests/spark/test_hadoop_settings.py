"""Builds by the local engine work without the defaults that Hadoop reads from files in its jars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.spark.internals.hadoop_settings import drop_defaults
from chronicle.spark.internals.java_objects import java_of, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SITE = "<configuration><property><name>fs.trash.interval</name><value>60</value></property></configuration>"


def test_what_the_user_has_set_stays(spark: SparkSession, tmp_path: Path) -> None:
    site = tmp_path / "core-site.xml"
    site.write_text(SITE)
    settings = java_of(spark).org.apache.hadoop.conf.Configuration()
    settings.addResource(java_of(spark).org.apache.hadoop.fs.Path(str(site)))
    settings.set("fs.own.impl", "of.the.User")
    assert settings.size() > 300
    java_of(spark).org.apache.spark.sql.chronicle.HadoopSettings.dropDefaults(settings)
    assert {key: settings.get(key) for key in ("fs.trash.interval", "fs.own.impl")} == {
        "fs.trash.interval": "60",
        "fs.own.impl": "of.the.User",
    }
    assert settings.size() < 60


def test_a_session_copies_few_settings(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    drop_defaults(spark)
    settings = session_of(spark).sessionState().newHadoopConf()
    assert settings.size() < 200, "something reads Hadoop's defaults again (internals/hadoop_settings.py)"
    assert settings.get("fs.file.impl") == "org.apache.spark.sql.chronicle.LocalFiles"
    for form in ("parquet", "delta"):
        spark.range(9).write.format(form).save(str(tmp_path / form))
        assert spark.read.format(form).load(str(tmp_path / form)).count() == 9
