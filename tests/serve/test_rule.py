"""The statements that the server answers and refuses, however they are sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyhive import hive
from pyhive.exc import OperationalError

from chronicle.serve import serve as serving
from chronicle.serve.client import connect
from tests.serve.conftest import MAX_ROWS
from tests.served import Served

STATEMENTS = yaml.safe_load(Path(__file__).with_name("statements.yml").read_text(encoding="utf-8"))
Ask = Callable[[str], list[tuple[Any, ...]]]


def refusal(ask: Ask, query: str) -> tuple[str, str]:
    """(SQLSTATE, message) with which a query fails."""
    with pytest.raises(OperationalError) as failed:
        ask(query)
    return failed.value.args[0].status.sqlState, failed.value.args[0].status.errorMessage


@pytest.mark.parametrize("query", STATEMENTS["allowed"])
def test_what_only_looks_is_answered(ask: Ask, query: str) -> None:
    assert not any("Error occurred" in str(row) for row in ask(query))


@pytest.mark.parametrize("case", STATEMENTS["refused"], ids=lambda case: case["sql"][:60])
def test_everything_else_is_refused_with_its_reason(ask: Ask, case: dict[str, str]) -> None:
    state, message = refusal(ask, case["sql"])
    assert case["why"].lower() in message.lower()
    assert (state, "[CHRONICLE_READ_ONLY]" in message) == (case.get("state", "42501"), case.get("state") is None)
    assert "\tat " not in message


def test_every_function_of_spark_is_allowed_or_refused(ask: Ask) -> None:
    """New releases of Spark add functions: somebody has to look at each before clients may call it."""
    known = {name for (name,) in ask("show functions")}
    decided = serving.functions()
    allowed = {name for names in decided["allowed"].values() for name in names}
    assert not allowed & decided["refused"].keys()
    # SHOW FUNCTIONS also lists words of the grammar, and Delta's functions, which read tables by name or path.
    grammar, delta = {"case", "||", "<>", "!="}, {"table_changes", "table_changes_by_path"}
    assert known - grammar - delta == allowed | decided["refused"].keys()


def test_a_function_that_nobody_knows_is_spelled_wrong_and_not_refused(ask: Ask) -> None:
    state, message = refusal(ask, "select cuont(1)")
    assert state == "42883" and message.startswith("[UNRESOLVED_ROUTINE]")


def test_a_refusal_says_what_is_answered(ask: Ask) -> None:
    expected = "[CHRONICLE_READ_ONLY] DROP TABLE is refused; this server answers SELECT, SHOW, DESCRIBE, EXPLAIN and USE"
    assert refusal(ask, "drop table marts.dim_nodes") == ("42501", expected)


def test_variables_tell_nothing(ask: Ask) -> None:
    assert ask("select '${env:PATH}', '${system:user.dir}'") == [("${env:PATH}", "${system:user.dir}")]


def test_settings_of_a_connection_do_not_go_round_the_rule(server: Served) -> None:
    given = {
        "set:hiveconf:spark.sql.runSQLOnFiles": "true",
        "set:hiveconf:spark.chronicle.maxRows": "0",
        "set:hiveconf:spark.sql.variable.substitute": "true",
        "set:hiveconf:spark.sql.session.timeZone": "Asia/Shanghai",
        "set:system:user.timezone": "Asia/Tokyo",
        "set:hivevar:name": "dim_nodes",
        "spark.sql.thriftServer.queryTimeout": "1",
    }
    connection = hive.connect("127.0.0.1", server.port, username="bi", configuration=given)
    try:
        cursor = connection.cursor()
        cursor.execute("select current_timezone(), current_schema(), '${env:PATH}'")
        assert cursor.fetchall() == [("Asia/Shanghai", "marts", "${env:PATH}")]
        for query, state in (("select * from text.`/etc/passwd`", "42501"), (f"select * from range({MAX_ROWS + 1})", "54000")):
            with pytest.raises(OperationalError) as failed:
                cursor.execute(query)
            assert failed.value.args[0].status.sqlState == state
    finally:
        connection.close()


@pytest.mark.parametrize("schema", ["staging", "nix; drop table marts.dim_nodes", "spark_catalog.marts"])
def test_a_connection_begins_in_a_schema_that_is_shown(server: Served, schema: str) -> None:
    with pytest.raises(Exception, match=r"."):
        hive.connect("127.0.0.1", server.port, username="bi", configuration={"use:database": schema}, database="marts").cursor().execute(
            "select 1"
        )
    assert server.ask("select count(*) > 0 from dim_nodes") == [(True,)]


def test_connections_share_no_settings(server: Served) -> None:
    first, second = connect("127.0.0.1", server.port), connect("127.0.0.1", server.port)
    one, two = first.cursor(), second.cursor()
    one.execute("set time zone 'Asia/Tokyo'")
    two.execute("select current_timezone()")
    assert two.fetchall() == [("UTC",)]
    first.close(), second.close()
