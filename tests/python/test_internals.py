"""Private parts of libraries are used in one place each, and are still as they were when we read them.

Each canary asserts one thing that a module relies on; its message says what broke and which module uses it.  Those that need a session
are in `tests/spark/test_internals.py`; `docs/upgrading.md` says what to do when one fails.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Schema, Transaction

from chronicle.build import internals
from chronicle.build.compiled import Model
from chronicle.build.dbt_runs import prepare
from chronicle.build.memory import NO_MORE_PAGES
from chronicle.project import PROJECT
from chronicle.spark.internals import error_lines, gateway, spark_home
from ingestion.delta_files import Added, add

# The places that may touch private parts.
OURS = ("chronicle/spark/internals/", "chronicle/build/internals.py", "ingestion/delta_files.py")
# Modules that the libraries do not offer for use by others.
PRIVATE_MODULES = (
    "dbt.adapters",
    "dbt.artifacts",
    "dbt.config",
    "dbt.contracts",
    "deltalake._internal",
    "deltalake.transaction",
    "py4j.java_gateway",
    "pyspark.core",
    "pyspark.find_spark_home",
    "pyspark.java_gateway",
    "pyspark.logger",
)
PRIVATE_NAMES = re.compile(
    r"(_j[a-zA-Z]*|_sc|_gateway|_ensure_initialized|_protected_args|__post_init__|AddAction|create_write_transaction)$"
)
PRIVATE_SETTINGS = re.compile(r"spark\.sql\.legacy\.|NO_CODEGEN|spark\.databricks\.delta\.")
# Macros that replace the adapter's, and names in dbt that its documentation does not offer to macros.
PRIVATE_IN_DBT = re.compile(
    r"extra_ctes|\bgraph\.setdefault|load_agate_table|store_result|get_assert_columns_equivalent|get_select_subquery|persist_constraints"
    r"|macro (spark|dbt_spark|default)_|materialization \w|spark\.sql\.legacy|NO_CODEGEN"
)


def files(*patterns: str) -> Iterator[tuple[str, str]]:
    """(path, text) of all files that may not use private parts."""
    for pattern in patterns:
        for path in sorted(PROJECT.glob(pattern)):
            name = path.relative_to(PROJECT).as_posix()
            if not name.startswith((*OURS, "macros/internals/")):
                yield name, path.read_text(encoding="utf-8")


def private_parts(text: str) -> Iterator[tuple[int, str]]:
    """(line, name) of private parts of the libraries that a Python module uses."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and PRIVATE_NAMES.match(node.attr):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                if name.startswith(PRIVATE_MODULES) or re.match(r"(pyspark|py4j|dbt|deltalake)\..*\b_\w+$", name):
                    yield node.lineno, name
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.startswith(PRIVATE_MODULES))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PRIVATE_SETTINGS.search(node.value):
            yield node.lineno, node.value


def test_python_touches_private_parts_in_their_places_alone() -> None:
    found = [(name, *part) for name, text in files("chronicle/**/*.py", "ingestion/**/*.py") for part in private_parts(text)]
    assert found == [], "move these behind a module of chronicle/spark/internals, chronicle/build/internals.py or ingestion/delta_files.py"


@pytest.mark.parametrize(
    "line",
    [
        "spark._jvm.java.lang.System.gc()",
        "spark._jsparkSession.sessionState()",
        "from pyspark.find_spark_home import _find_spark_home",
        "from dbt.contracts.graph.nodes import ModelNode",
        "import py4j.java_gateway",
        "spark.conf.set('spark.sql.legacy.timeParserPolicy', 'LEGACY')",
        "DeltaTable(path).create_write_transaction([], 'append', columns)",
    ],
)
def test_a_private_part_is_found(line: str) -> None:
    assert list(private_parts(line))


def test_macros_touch_private_parts_in_their_place_alone() -> None:
    texts = files(
        "macros/**/*.sql",
        "models/**/*.sql",
        "analyses/**/*.sql",
        "tests/data/**/*.sql",
        "tests/alerts/*.sql",
        "dbt_project*/*.yml",
        "dbt_project.yml",
        "profiles.yml",
    )
    found = [(name, part[0]) for name, text in texts for part in [PRIVATE_IN_DBT.search(text)] if part]
    assert found == [], "move these to macros/internals"


def test_each_module_says_what_it_relies_on() -> None:
    paths = [PROJECT / place for place in OURS[1:]] + sorted((PROJECT / OURS[0]).glob("[a-z]*.py"))
    for path in paths:
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert all(word in said for word in ("Relies on:", "Read in:", "Breaks:")), path.name


# chronicle/spark/internals/spark_home.py


def test_spark_lies_in_its_package() -> None:
    jars = [path.name for path in spark_home.jars().glob("*.jar")]
    assert (spark_home.home() / "bin/spark-submit").is_file(), (
        "bin/spark-submit is gone: internals/resolver.py fetches Delta's jars with it"
    )
    for name in (
        "spark-core",
        "spark-hive-thriftserver",
        "scala-compiler-2",
        "scala-library-2",
        "scala-reflect-2",
    ):
        assert any(jar.startswith(name) for jar in jars), (
            f"{name} is not among Spark's jars: own_classes.py needs it to compile our classes"
        )


# chronicle/spark/internals/gateway.py


def test_the_gateway_is_a_class_of_spark() -> None:
    (core,) = spark_home.jars().glob("spark-core_2*.jar")
    with zipfile.ZipFile(core) as archive:
        assert gateway.MAIN.replace(".", "/") + ".class" in archive.namelist(), f"{gateway.MAIN} is gone: internals/gateway.py starts it"


def test_pyspark_takes_a_gateway_that_is_there() -> None:
    from pyspark.core.context import SparkContext
    from pyspark.java_gateway import launch_gateway

    code = inspect.getsource(launch_gateway)
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "_PYSPARK_DRIVER_CONN_INFO_PATH", "SPARK_CONNECT_MODE"):
        assert f'"{name}"' in code, f"launch_gateway does not read {name}: internals/gateway.py hands the JVM over with it"
    taken = inspect.signature(SparkContext._ensure_initialized).parameters
    assert "gateway" in taken, "SparkContext._ensure_initialized takes no gateway: internals/gateway.py gives it one"


def test_the_address_is_what_pyspark_reads(tmp_path: Path) -> None:
    from pyspark.serializers import UTF8Deserializer, read_int

    answer = struct.pack("!ii", 43210, 6) + b"secret"
    (tmp_path / "answer").write_bytes(answer)
    with open(tmp_path / "answer", "rb") as stream:
        read = (read_int(stream), UTF8Deserializer().loads(stream))  # type: ignore[no-untyped-call]
    assert gateway.address(answer) == read == (43210, "secret"), "the JVM's answer has another form: internals/gateway.py decodes it"


# chronicle/spark/internals/error_lines.py


def test_pyspark_logs_errors_under_the_name_that_is_silenced() -> None:
    from pyspark.errors.exceptions import captured

    code = inspect.getsource(captured) + (Path(inspect.getfile(captured)).parent / "base.py").read_text(encoding="utf-8")
    assert f'"{error_lines.LOGGER}"' in code, f"no logger {error_lines.LOGGER}: errors appear as JSON too (internals/error_lines.py)"


# ingestion/delta_files.py


def test_files_that_are_there_are_committed_with_statistics_and_transaction(tmp_path: Path) -> None:
    rows = pa.table({"number": pa.array([3, 5], pa.int64())})
    table = DeltaTable.create(str(tmp_path), Schema.from_arrow(rows.schema))
    for number, mode in enumerate(("append", "append", "overwrite"), 1):
        pq.write_table(rows, tmp_path / f"{number}.parquet")
        stats = json.dumps({"numRecords": 2, "minValues": {"number": 3}, "maxValues": {"number": 5}, "nullCount": {"number": 0}})
        size = (tmp_path / f"{number}.parquet").stat().st_size
        told = CommitProperties(custom_metadata={"made.by": "test"}, app_transactions=[Transaction("canary", number, 1)])
        add(DeltaTable(table.table_uri), [Added(f"{number}.parquet", size, 1, stats)], mode, table.schema(), told)  # type: ignore[arg-type]
        held = DeltaTable(table.table_uri)
        where = "ingestion/delta_files.py commits bronze and marts"
        assert held.to_pyarrow_table().num_rows == (2 if mode == "overwrite" else 2 * number), f"delta-rs commits other files: {where}"
        assert held.transaction_version("canary") == number, f"delta-rs keeps no version of an application: {where}"
        assert held.history(1)[0]["made.by"] == "test", f"delta-rs keeps no metadata of a commit: {where}"
    actions = pa.table(held.get_add_actions(flatten=True)).to_pylist()
    assert [(one["min.number"], one["max.number"], one["num_records"]) for one in actions] == [(3, 5, 2)], f"no statistics: {where}"


def test_partitions_that_are_named_are_replaced_and_others_stay(tmp_path: Path) -> None:
    rows = pa.table({"number": pa.array([3, 5], pa.int64())})
    columns = Schema.from_arrow(pa.schema([("number", pa.int64()), ("day", pa.date32())]))
    DeltaTable.create(str(tmp_path / "table"), columns, partition_by=["day"])
    for only, days in ((None, ["2026-05-01", "2026-05-02", None]), (["2026-05-02", "2026-05-03"], ["2026-05-02"])):
        files = []
        for day in days:
            pq.write_table(rows if only is None else rows.slice(1), tmp_path / "aside.parquet")
            files.append(Added.moved(tmp_path / "aside.parquet", str(tmp_path / "table"), f"day={day}", {"day": day}))
        held = DeltaTable(tmp_path / "table")
        add(held, files, "overwrite" if only else "append", held.schema(), only=[("day", "in", only)] if only else None)
    found = DeltaTable(tmp_path / "table").to_pyarrow_table().to_pylist()
    assert sorted((str(row["day"]), row["number"]) for row in found) == [
        ("2026-05-01", 3),
        ("2026-05-01", 5),
        ("2026-05-02", 5),
        ("None", 3),
        ("None", 5),
    ], "delta-rs replaces other partitions: ingestion/delta_files.py replaces days of events"


# chronicle/build/internals.py


def test_models_have_what_is_read_of_them(manifest: Any) -> None:
    where = "chronicle/build/internals.py reads it"
    try:
        model = Model(**internals.fields_of(manifest.nodes["model.chronicle.fct_log_dir_failures"]))
        seed = Model(**internals.fields_of(manifest.nodes["seed.chronicle.event_types"]))
    except (AttributeError, KeyError) as error:
        raise AssertionError(f"dbt's models have no {error}: {where}") from error
    assert model.is_published and model.has_contract and model.table == "marts.`fct_log_dir_failures`", where
    assert model.columns["cluster_id"][0] == "string" and model.columns["cluster_id"][1], where
    assert set(model.parents) == {ref.name for ref in manifest.nodes["model.chronicle.fct_log_dir_failures"].refs}, where
    assert seed.kind == "seed" and seed.types["is_noise"] == "boolean", where
    coverage = Model(**internals.fields_of(manifest.nodes["model.chronicle.int_logs__coverage"]))
    assert coverage.is_incremental and coverage.partition_by == ("event_date",), where
    roots = Model(**internals.fields_of(manifest.nodes["model.chronicle.int_incidents__roots"]))
    assert roots.is_step and roots.before and roots.after, where


def test_dbts_sessions_keep_ansi_mode() -> None:
    from dbt.adapters.spark.connections import SparkCredentials

    prepare()
    credentials = SparkCredentials(host="NA", method="session", schema="marts")  # type: ignore[arg-type]
    said = "SparkCredentials.__post_init__ is not what sets it any more: overflows would be wrong numbers (chronicle/build/internals.py)"
    assert credentials.server_side_parameters["spark.sql.ansi.enabled"] == "true", said


def test_dbts_command_line_is_read_as_dbt_reads_it() -> None:
    said = "dbt's command line has another form: `chronicle dbt` reads it (chronicle/build/internals.py)"
    line = internals.command_line(["docs", "generate", "--target", "prod_server", "--select", "a", "b"], strict=False)
    assert line.words == ["docs", "generate"], said
    assert line.given["target"] == "prod_server" and tuple(line.given["select"]) == ("a", "b"), said
    assert {"project_dir", "profiles_dir", "target_path", "log_path"} <= line.known, said
    with pytest.raises(internals.Misused, match="--nonsense"):
        internals.command_line(["build", "--nonsense"], strict=True)


def test_dbts_errors_and_events_have_their_names() -> None:
    from dbt.adapters.events import types
    from dbt.cli.main import dbtRunner
    from dbt.events import types as own

    done = dbtRunner().invoke(["build", "--nonsense"])
    assert internals.is_misuse(done.exception), (
        f"{type(done.exception).__name__}: exit codes of `chronicle dbt` (chronicle/build/internals.py)"
    )
    event = getattr(own, "LogStartLine", None) or getattr(types, "LogStartLine", None)
    assert event is not None, "no event LogStartLine: builds show no progress (chronicle/build/internals.py)"
    fields = set(event(description="model a", index=1, total=2).to_dict())
    assert {"description", "index", "total"} <= fields, (
        "LogStartLine has other fields: builds show no progress (chronicle/build/internals.py)"
    )


# macros/internals

# (package, macro, text that its definition must contain) for macros that ours replace or call.
MACROS = [
    ("dbt_spark", "spark__clustered_cols", "(label, required=false)"),
    ("dbt_spark", "spark__alter_column_comment", "(relation, column_dict)"),
    ("dbt_spark", "spark__alter_column_set_constraints", "(relation, column_dict)"),
    ("dbt_spark", "spark__create_table_as", "(temporary, relation, compiled_code, language='sql')"),
    ("dbt_spark", "spark__location_clause", "()"),
    ("dbt_spark", "dbt_spark_get_incremental_sql", "(strategy, source, target, existing, unique_key, incremental_predicates)"),
    ("dbt_spark", "get_insert_overwrite_sql", "(source_relation, target_relation, existing_relation)"),
    ("dbt_spark", "get_insert_into_sql", "(source_relation, target_relation)"),
    ("dbt", "get_merge_sql", "(target, source, unique_key, dest_columns, incremental_predicates=none)"),
    ("dbt", "get_assert_columns_equivalent", "(sql)"),
    ("dbt", "get_select_subquery", "(sql)"),
    ("dbt", "load_relation", "(relation)"),
    ("dbt", "make_temp_relation", "(base_relation, suffix='__dbt_tmp')"),
    ("dbt", "get_create_table_as_sql", "(temporary, relation, sql)"),
    ("dbt", "get_fixture_sql", "(rows, column_name_to_data_types)"),
    ("dbt", "format_row", "(row, column_name_to_data_types)"),
    ("dbt", "get_unit_test_sql", "(main_sql, expected_fixture_sql, expected_column_names)"),
    ("dbt", "should_full_refresh", "()"),
    ("dbt", "run_hooks", "(hooks, inside_transaction=True)"),
    ("dbt_spark", "persist_constraints", "(relation, model)"),
    ("dbt", "persist_docs", "(relation, model, for_relation=true, for_columns=true)"),
]


@pytest.mark.parametrize(("package", "name", "arguments"), MACROS, ids=[name for _, name, _ in MACROS])
def test_macros_that_ours_replace_or_call_take_the_same(manifest: Any, package: str, name: str, arguments: str) -> None:
    theirs = manifest.macros.get(f"macro.{package}.{name}")
    assert theirs is not None, f"{package} has no macro {name}: macros/internals replaces or calls it"
    head = re.search(rf"macro {name}\s*(\(.*?\))\s*-?%}}", theirs.macro_sql, re.DOTALL)
    assert head is not None and head[1].replace(" ", "") == arguments.replace(" ", ""), (
        f"{name} takes {head and head[1]}: see macros/internals"
    )


def test_the_adapter_calls_what_ours_replace(manifest: Any) -> None:
    calls = {
        "create_table_as": "create_table_as",
        "spark__create_table_as": "location_clause",
        "alter_column_comment": "alter_column_comment",
    }
    for caller, called in calls.items():
        for package in ("dbt_spark", "dbt"):
            theirs = manifest.macros.get(f"macro.{package}.{caller}")
            if theirs is not None:
                assert called in theirs.macro_sql, f"{caller} does not call {called}: macros/internals/spark_overrides.sql is never used"
                break
        else:
            raise AssertionError(f"no macro {caller}: macros/internals/spark_overrides.sql is never used")


def test_models_name_the_views_they_read() -> None:
    from dbt.adapters.base.relation import BaseRelation
    from dbt.cli.main import cli

    assert BaseRelation.add_ephemeral_prefix("a") == internals.EPHEMERAL + "a", (
        "ephemeral models have another prefix: chronicle/build/compiled.py"
    )
    options = {name for option in cli.commands["compile"].params for name in (*option.opts, *option.secondary_opts)}
    assert {"--no-inject-ephemeral-ctes", "--no-introspect"} <= options, "dbt compile has other options: chronicle/build/compiled.py"


def test_spark_says_in_these_words_that_a_task_has_no_more_pages() -> None:
    (core,) = spark_home.jars().glob("spark-core_2*.jar")
    with zipfile.ZipFile(core) as archive:
        said = archive.read("org/apache/spark/memory/TaskMemoryManager.class")
    assert NO_MORE_PAGES.encode() in said, "a task with too many pages is not tried again (chronicle/build/memory.py)"
    assert b"8192 pages" in said, "a task may have another number of pages: PAGES in chronicle/spark/session.py"
