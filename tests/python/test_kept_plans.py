"""Without a JVM of its own a build makes tables in SQL (`chronicle/spark/internals/kept_plans.py`)."""

from __future__ import annotations

from unittest.mock import MagicMock

from chronicle.spark.internals.kept_plans import KeptPlans, Planned


def test_a_server_of_spark_connect_is_not_asked_what_a_statement_took() -> None:
    spark = MagicMock(spec_set=["sql"])
    spark.sql.return_value = MagicMock(spec_set=["collect"])
    assert KeptPlans(spark).table("key", "create table marts.fct using parquet", "/marts/fct", "select 1 as id") == Planned(0)
    spark.sql.assert_called_once_with("create table marts.fct using parquet location '/marts/fct' as select 1 as id")
