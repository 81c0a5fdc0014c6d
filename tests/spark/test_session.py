"""The session, the catalog made of the tables on disk, and the answers of `chronicle sql`."""

from __future__ import annotations

import io
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.ask import spark_sql
from chronicle.output import formats
from chronicle.spark import jars, java, own_classes, session
from chronicle.spark import master as masters
from chronicle.spark.catalog import kept_views, register, register_views, save_views, sweep, tables
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def answer(spark: SparkSession, warehouse: str, question: str, form: str) -> str:
    out = io.StringIO()
    formats.write(spark_sql.ask(spark, warehouse, question), form, out)
    return out.getvalue()


@pytest.fixture(scope="module")
def orders(spark: SparkSession, warehouse: str) -> str:
    """A mart on disk that the catalog does not know yet."""
    spark.sql("select 1 as order_id, timestamp'2026-05-01 10:00:00.25' as placed_at").write.format("delta").save(
        f"{warehouse}/marts/fct_orders"
    )
    return "marts.fct_orders"


def test_times_are_utc_overflow_is_an_error_and_workers_find_the_package(spark: SparkSession) -> None:
    assert spark.sql("select string(timestamp'2026-05-01 12:00:00+02:00')").first()[0] == "2026-05-01 10:00:00"
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        spark.sql("select 2147483647 + int(rand() * 0 + 1)").collect()

    def known(batches):
        from ingestion.warehouse import SCHEMAS

        assert SCHEMAS
        yield from batches

    assert spark.range(3).mapInArrow(known, "id long").count() == 3


def test_a_second_start_gives_the_same_session(spark: SparkSession, warehouse: str) -> None:
    assert session.start(warehouse) is spark


def test_memory_is_at_least_that_of_this_process(spark: SparkSession) -> None:
    peak = session.peak_memory_bytes()
    assert peak is None or peak > 300_000_000


def test_a_missing_jar_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONICLE_JARS", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"no delta-spark_4.2_2.13-4.4.0.jar.*make setup"):
        session.command("1g", ())


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks for a mapped file in /proc")
def test_java_maps_the_archive_of_classes(spark: SparkSession) -> None:
    """Java starts without an archive that does not fit, and says nothing."""
    archive = session.class_archive(java.find())
    assert archive.exists(), "run `make setup`"
    assert session._jvm is not None
    assert str(archive) in Path(f"/proc/{session._jvm.pid}/maps").read_text()


def test_a_setup_that_is_stopped_leaves_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java archives what it has loaded whenever it ends: few classes, if that is early."""
    archive = tmp_path / "classes-1.jsa"
    monkeypatch.setenv("CHRONICLE_CACHE", str(tmp_path))
    monkeypatch.setattr(session, "class_archive", lambda home: archive)
    monkeypatch.setattr(session, "_aside", None)
    monkeypatch.setattr(jars, "class_path", list)

    def stopped(warehouse: str) -> None:
        option = next(one for one in session.command("1g", ()) if one.startswith("-XX:ArchiveClassesAtExit="))
        Path(option.partition("=")[2]).write_text("the first few")
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "start", stopped)
    with pytest.raises(KeyboardInterrupt):
        session.write_class_archive()
    assert list(tmp_path.iterdir()) != []
    assert not archive.exists()


def test_classes_that_were_compiled_again_have_an_archive_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = session.class_archive(java.find())
    again = tmp_path / "again.jar"
    shutil.copyfile(own_classes.jar(), again)
    monkeypatch.setattr(own_classes, "jar", lambda: again)
    assert len({before, session.class_archive(java.find()), aged(again)}) == 3


def aged(jar: Path) -> Path:
    """The archive for a jar that is an hour older than it is."""
    status = jar.stat()
    os.utime(jar, (status.st_atime, status.st_mtime - 3600))
    return session.class_archive(java.find())


def test_the_file_of_settings_may_have_options_of_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "spark.conf"
    monkeypatch.setenv(masters.SETTINGS, str(file))
    file.write_text("spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -Dwho='a b'\n")
    line = session.command("1g", session.COMMAND_OPTIONS)
    assert line[line.index(session.COMMAND_OPTIONS[-1]) + 1 :][:2] == ["-XX:TieredStopAtLevel=1", "-Dwho=a b"]
    for options, said in (("-Xmx3g", "use --memory"), ("-Dwho='a", "cannot be read")):
        file.write_text(f"spark.driver.extraJavaOptions {options}\n")
        with pytest.raises(masters.BadMaster, match=said):
            session.command("1g", ())


def test_tables_on_disk_become_tables_of_the_catalog(spark: SparkSession, warehouse: str, orders: str) -> None:
    assert orders in register(spark, Warehouse.at(warehouse))
    assert spark.table(orders).count() == 1


def test_a_step_without_files_is_no_table(spark: SparkSession, warehouse: str) -> None:
    """A killed build leaves such a folder."""
    place = Warehouse.at(warehouse)
    (Path(warehouse) / "intermediate" / "int_halves" / "_temporary").mkdir(parents=True)
    assert "intermediate.int_halves" not in register(spark, place)
    assert ("intermediate", "int_halves") not in tables(place)
    sweep(spark, place, only={("intermediate", "int_halves")})
    assert not (Path(warehouse) / "intermediate" / "int_halves").exists()


def test_a_table_that_an_older_release_had_among_steps_goes(spark: SparkSession, warehouse: str) -> None:
    place = Warehouse.at(warehouse)
    old, current = ("staging", "base_old"), ("staging", "base_current")
    for table in (old, current):
        write_deltalake(place.table(*table), pa.table({"id": [1]}))
    sweep(spark, place, only={old, current}, by_days={current})
    assert not Path(place.table(*old)).exists() and DeltaTable.is_deltatable(place.table(*current))
    sweep(spark, place, only={current}, by_days=set())


def test_a_session_of_another_warehouse_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not for"):
        register(spark, Warehouse.at(str(tmp_path)))


def test_views_come_back_with_those_beneath_them_and_no_others(spark: SparkSession, warehouse: str, orders: str) -> None:
    place = Warehouse.at(warehouse)
    views = [
        ("staging", "stg_orders", "select order_id from marts.fct_orders"),
        ("staging", "stg_broken", "select nothing from nowhere"),
        ("intermediate", "int_orders__counted", "select count(*) as orders from staging.stg_orders"),
    ]
    save_views(place, views)
    assert kept_views(place) == views
    assert register_views(spark, place, only="select * from intermediate.int_orders__counted") == [
        "staging.stg_orders",
        "intermediate.int_orders__counted",
    ]
    assert answer(spark, warehouse, "select orders from intermediate.int_orders__counted", "csv") == "orders\n1\n"


def test_json_is_one_array_with_times_in_utc(spark: SparkSession, warehouse: str, orders: str) -> None:
    text = answer(
        spark,
        warehouse,
        "select *, date'2026-05-01' as day, array(1, null) as isr, map('a', 1) as settings, named_struct('x', 'é') as line,"
        " 1.5 as ratio, double('nan') as nothing, cast(null as int) as leader from fct_orders",
        "json",
    )
    assert json.loads(text) == [
        {
            "order_id": 1,
            "placed_at": "2026-05-01T10:00:00.250Z",
            "day": "2026-05-01",
            "isr": [1, None],
            "settings": {"a": 1},
            "line": {"x": "é"},
            "ratio": 1.5,
            "nothing": None,
            "leader": None,
        }
    ]
    assert json.loads(answer(spark, warehouse, "select 1 as a where false", "json")) == []


def test_a_table_is_aligned_and_nulls_are_said(spark: SparkSession, warehouse: str, orders: str) -> None:
    text = answer(spark, warehouse, "select 'ab' as name, 10 as n, true as ok union all select null, 5, false order by n", "table")
    assert text == "name   n  ok\n----  --  -----\nnull   5  false\nab    10  true\n"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("selec 1", r"Syntax error at or near 'selec' \(line 1, column 1\)"),
        ("select order_idd from fct_orders", r"`order_id`.*\(line 1, column 8\)"),
        ("select 1 from fct_order", r"no table fct_order; did you mean marts.fct_orders\b.*\? \(line 1, column 15\)"),
        ("select 1 / 0", "DIVIDE_BY_ZERO"),
        ("drop table marts.fct_orders", "only queries are allowed"),
        ("with a as (select 2, now()) insert into marts.fct_orders select * from a", "only queries are allowed"),
    ],
)
def test_a_wrong_question_is_one_line(spark: SparkSession, warehouse: str, orders: str, question: str, said: str) -> None:
    with pytest.raises(spark_sql.WrongQuestion, match=said) as caught:
        spark_sql.ask(spark, warehouse, question)
    assert "\n" not in str(caught.value)
    assert spark.table(orders).count() == 1


def test_what_json_and_a_terminal_cannot_hold_is_said(spark: SparkSession, warehouse: str) -> None:
    with pytest.raises(ValueError, match="two columns are called a"):
        answer(spark, warehouse, "select 1 as a, 2 as a", "json")


def test_files_are_made_without_checksums_and_by_the_users_mask(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "numbers"))
    names = [path.name for path in (tmp_path / "numbers").iterdir()]
    assert names and not any(name.endswith(".crc") for name in names)
    (tmp_path / "plain").touch()
    assert {path.stat().st_mode for path in (tmp_path / "numbers").iterdir()} == {(tmp_path / "plain").stat().st_mode}
