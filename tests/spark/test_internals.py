"""Canaries that need a session: what `chronicle/spark/internals` and our classes rely on in Spark, Delta and Hive.

The others are in `tests/python/test_internals.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from chronicle.build.dbt_runs import CHANGED_BY_DBT, ROW_GROUP, WHILE_BUILDING, settings_kept
from chronicle.serve import serve
from chronicle.spark import java, own_classes, session
from chronicle.spark.internals import error_lines, executions, gateway, resolver, settings
from chronicle.spark.internals.beside import EXTENSIONS, session_beside
from chronicle.spark.internals.java_objects import is_instance, java_of, session_of
from chronicle.spark.internals.statements import parsed
from tests.lab import set_to_build

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Our own keys, which only our classes read.
OURS = ("spark.chronicle.", "chronicle.")
# Keys of dbt-spark, or keys that Spark and Delta read without listing them.
UNLISTED = {"spark.app.name", "spark.master", "spark.sql.catalog.spark_catalog"}


def known(spark: SparkSession, key: str) -> bool:
    """Whether Spark, Delta, Hive or Parquet has a setting of this name."""
    java = java_of(spark)
    if key.startswith("parquet."):
        return bool(key == java.org.apache.parquet.hadoop.ParquetOutputFormat.BLOCK_ROW_COUNT_LIMIT)
    if key.startswith("spark.hadoop.fs."):
        scheme, conf = key.split(".")[3], session_of(spark).sessionState().newHadoopConf()
        return bool(java.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, conf).getName() == session.settings("/warehouse")[key])
    if key.startswith("spark.hadoop.hive."):
        return java.org.apache.hadoop.hive.conf.HiveConf.getConfVars(key.removeprefix("spark.hadoop.")) is not None
    settings_of_sql = getattr(getattr(java.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    others = getattr(getattr(java.org.apache.spark.internal.config, "ConfigEntry$"), "MODULE$")
    return bool(settings_of_sql.containsConfigKey(key)) or others.findEntry(key) is not None


def every_setting() -> dict[str, str]:
    """All settings of Spark, Delta, Hive and Parquet that we set, and the file that sets each."""
    given = dict.fromkeys(session.settings("/warehouse"), "chronicle/spark/session.py")
    given |= dict.fromkeys(serve.settings(serve.Options(password_file=Path("users")), "/work"), "chronicle/serve/serve.py")
    given |= dict.fromkeys((*WHILE_BUILDING, *CHANGED_BY_DBT), "chronicle/build/dbt_runs.py")
    given |= dict.fromkeys((*settings.ALWAYS, *settings.WHILE_BUILDING, *settings.WHILE_SERVING), "chronicle/spark/internals/settings.py")
    given |= dict.fromkeys(("spark.sql.cteRecursionLevelLimit", "spark.sql.cteRecursionRowLimit"), "macros/internals/recursion.sql")
    return {key: where for key, where in given.items() if not key.startswith(OURS) and key not in UNLISTED}


@pytest.mark.parametrize("key", every_setting())
def test_settings_exist(spark: SparkSession, key: str) -> None:
    # Settings of Delta and of the server are known once their classes are loaded.
    java_of(spark).org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS()
    assert known(spark, key), f"no setting {key}: {every_setting()[key]} sets it, and Spark ignores what it does not know"


def test_parquet_takes_its_settings_from_the_session(spark: SparkSession, tmp_path: Path) -> None:
    with settings_kept(spark):
        spark.conf.set("parquet.block.row.count.limit", WHILE_BUILDING["parquet.block.row.count.limit"])
        spark.range(0, ROW_GROUP + 1, numPartitions=1).write.parquet(str(tmp_path / "numbers"))
    [file] = (tmp_path / "numbers").glob("*.parquet")
    groups = pq.ParquetFile(file).metadata
    assert [groups.row_group(number).num_rows for number in range(groups.num_row_groups)] == [ROW_GROUP, 1]


# internals/gateway.py


def test_the_same_packages_are_opened_as_by_the_launcher(spark: SparkSession) -> None:
    theirs = java_of(spark).org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptions().split()
    missing = [option for option in theirs if option.startswith("--") and option not in gateway.JVM_OPTIONS]
    # The vector module is left out on purpose.
    assert missing == ["--add-modules=jdk.incubator.vector"], "Spark's launcher opens more to itself: add it in internals/gateway.py"


# internals/java_objects.py


def test_a_session_has_its_jvm(spark: SparkSession) -> None:
    said = "PySpark hides its JVM elsewhere (internals/java_objects.py)"
    assert java_of(spark).java.lang.Runtime.version().feature() in java.USABLE, said
    assert session_of(spark).sessionState().conf().getConfString("spark.sql.session.timeZone") == "UTC", said


# internals/beside.py


def test_a_session_beside_has_a_catalog_and_rules_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    said = "sessions of one JVM share more than before: `chronicle follow` (internals/beside.py)"
    rules = spark.sparkContext._jsc.sc().conf().get(EXTENSIONS)
    beside = session_beside(spark, {EXTENSIONS: "io.delta.sql.DeltaSparkSessionExtension", "spark.sql.warehouse.dir": str(tmp_path)})
    beside.sql(f"create schema aside location '{tmp_path}/aside'")
    beside.sql(f"create table aside.kept using delta location '{tmp_path}/aside/kept' as select 1 as one")
    beside.sql("drop table aside.kept")
    assert (tmp_path / "aside/kept/_delta_log").is_dir(), said
    assert "aside" not in {row[0] for row in spark.sql("show schemas").collect()}, said
    assert spark.sparkContext._jsc.sc().conf().get(EXTENSIONS) == rules, said
    assert spark.sql("select current_schema()").first()[0] != "aside", said


# internals/statements.py


@pytest.mark.parametrize(
    ("text", "looks", "changes"),
    [
        ("select 1", False, False),
        ("with a as (select 1) select * from a", False, False),
        ("show tables in marts", True, False),
        ("describe table marts.fct", True, False),
        ("explain select 1", True, False),
        ("drop table marts.fct", False, True),
        ("create table marts.fct as select 1", False, True),
        ("with a as (select 1) insert into marts.fct select * from a", False, True),
        ("from marts.fct insert into marts.other select *", False, True),
        ("delete from marts.fct", False, True),
        ("merge into marts.fct using marts.other on true when matched then delete", False, True),
        ("set spark.sql.ansi.enabled = false", False, True),
        ("use marts", False, True),
        ("cache table marts.fct", False, True),
    ],
)
def test_a_statement_is_known_by_its_plan(spark: SparkSession, text: str, looks: bool, changes: bool) -> None:
    found = parsed(spark, text)
    assert (found.looks, found.changes) == (looks, changes), "plans have other classes: `chronicle sql` (internals/statements.py)"


# internals/error_lines.py


def test_errors_are_printed_once(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    error_lines.silence()
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        spark.sql("select nothing_of_this_name")
    assert capfd.readouterr().err == "", "pyspark prints errors itself (internals/error_lines.py)"


# internals/settings.py: the effects of the settings, because a name may outlive its meaning.


@pytest.fixture
def building(spark: SparkSession) -> Any:
    """The session with the settings of a build."""
    with set_to_build(spark):
        yield spark


def test_views_of_the_session_keep_their_plan(building: SparkSession) -> None:
    building.sql("select id + 1 as id from range(3)").createOrReplaceTempView("canary")
    option = session_of(building).sessionState().catalog().getRawTempView("canary").get()
    said = "views are analysed by each reader: builds become slower (chronicle/build/session_tables.py)"
    assert is_instance(building, option, "org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation") and option.plan().isDefined(), said
    building.catalog.dropTempView("canary")


def test_names_of_a_with_are_written_into_the_plan(building: SparkSession) -> None:
    plan = building.sql("explain extended with a as (select 1 as id) select * from a join a as b using (id)").collect()[0][0]
    analysed = plan.split("== Analyzed Logical Plan ==")[1].split("== Optimized")[0]
    assert "CTE" not in analysed, (
        "names given by `with` are carried along: builds become slower (ctePrecedencePolicy, internals/settings.py)"
    )


def test_no_code_is_generated(building: SparkSession) -> None:
    plan = building.sql("explain select id + 1 as id from range(3) where id > 1").collect()[0][0]
    assert "*(1)" not in plan, "code is generated for plans: builds become slower (codegen.wholeStage, chronicle/build/dbt_runs.py)"
    with pytest.raises(Exception, match="factoryMode"):
        building.conf.set("spark.sql.codegen.factoryMode", "no such mode")


def test_the_catalog_knows_the_columns_of_a_delta_table(spark: SparkSession) -> None:
    spark.sql("create or replace table staging.canary using delta as select 1 as id, 'a' as name")
    table = (
        session_of(spark)
        .sessionState()
        .catalog()
        .getTableMetadata(
            java_of(spark).org.apache.spark.sql.catalyst.TableIdentifier("canary", java_of(spark).scala.Option.apply("staging"))
        )
    )
    said = "the catalog holds no columns: BI tools see empty tables (catalog.update.enabled, internals/settings.py)"
    assert list(table.schema().fieldNames()) == ["id", "name"], said
    spark.sql("drop table staging.canary")


# internals/resolver.py


def test_the_resolver_leaves_jars_where_they_are_looked_for(tmp_path: Path) -> None:
    """A repository of one jar in a folder: no network is used."""
    place = tmp_path / "repository/com/example/canary/1.0"
    place.mkdir(parents=True)
    (place / "canary-1.0.jar").write_bytes(b"PK\x05\x06" + bytes(18))
    (place / "canary-1.0.pom").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>com.example</groupId><artifactId>canary</artifactId><version>1.0</version></project>"
    )
    said = resolver.resolve(
        ["com.example:canary:1.0"], (), tmp_path / "ivy", java.find(), "--repositories", (tmp_path / "repository").as_uri()
    )
    brought = resolver.brought(tmp_path / "ivy", "com.example", "canary-1.0.jar")
    assert brought.is_file(), f"jars lie elsewhere: `make setup` cannot fetch Delta's (internals/resolver.py)\n{said}"


# chronicle/spark/jvm, chronicle/serve/jvm


def test_the_servers_classes_compile(spark: SparkSession) -> None:
    assert own_classes.ensure().is_file()


# internals/executions.py


def test_spark_notes_what_the_jobs_of_a_group_took_and_read(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1000).write.parquet(str(tmp_path / "numbers"))
    spark.sparkContext.setJobGroup("canary", "reads a thousand rows")
    try:
        spark.read.parquet(str(tmp_path / "numbers")).where("id % 2 = 0").collect()
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    jobs = executions.jobs_of(spark, "canary")
    said = "Spark's stores of jobs and stages changed; `chronicle build --profile` reads them"
    assert jobs.rows_read == 1000 and jobs.bytes_read > 0 and 0 <= jobs.seconds < 60, said
    assert executions.jobs_of(spark, "nobody") == executions.Jobs(0, 0, 0)


def test_spark_notes_its_statements_and_what_they_read(spark: SparkSession, tmp_path: Path) -> None:
    """Also in a session that has run more statements than Spark keeps (1,000), as after the tests before this one."""
    spark.range(1000).write.parquet(str(tmp_path / "numbers"))
    with executions.noting(spark) as noted:
        for _ in range(20):
            spark.read.parquet(str(tmp_path / "numbers")).where("id % 2 = 0").collect()
    assert noted.executions == 20, "Spark's store of statements changed; `make bench` counts with it"
    assert noted.rows_read == 20_000, "Spark's store of stages changed; `make bench` counts rows with it"
