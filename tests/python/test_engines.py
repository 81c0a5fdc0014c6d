"""`chronicle sql --engine`: which engine answers, and the message about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.cli import main


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    write_deltalake(tmp_path / "marts" / "fct_pauses", pa.table({"node_id": [1, 2], "paused_ms": [1.5, None]}))
    return str(tmp_path)


def test_a_mart_is_asked_without_spark(warehouse: str) -> None:
    code = (
        "import sys; from chronicle.cli import main;"
        " code = main.execute(['sql', 'select * from fct_pauses order by node_id desc', '-f', 'csv', '-w', sys.argv[1]]);"
        " print(code, [name for name in ('pyspark', 'pandas', 'dbt') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, warehouse], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("node_id,paused_ms\n2,\n1,1.5\n", "0 []\n")


def test_what_is_left_to_spark_is_said(warehouse: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "by_spark", lambda *given: pa.table({"half": [0.5]}))
    assert main.execute(["sql", "select node_id / 2 as half from fct_pauses", "-f", "csv", "-w", warehouse]) == 0
    assert capsys.readouterr() == ("half\n0.5\n", "asking Spark: `node_id / 2`\n")
    assert main.execute(["sql", "select node_id from fct_pauses", "--engine", "spark", "-f", "csv", "-w", warehouse]) == 0
    assert capsys.readouterr() == ("half\n0.5\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["select node_id / 2 as half from fct_pauses", "--engine", "datafusion"], 1, "DataFusion is not asked this: `node_id / 2`; use --engine spark"),
        (["show tables in marts", "--engine", "datafusion"], 1, "DataFusion is not asked this: it is not one select"),
        (["copy fct_pauses to '/tmp/out.csv'", "--engine", "datafusion"], 1, "Syntax error at or near 'copy'"),
        (["select 1", "--engine", "duckdb"], 2, "unknown engine 'duckdb'; use auto, datafusion or spark"),
    ],
)  # fmt: skip
def test_datafusion_is_asked_nothing_else(
    warehouse: str, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert main.execute(["sql", *arguments, "-w", warehouse]) == code
    out, error = capsys.readouterr()
    assert out == ""
    assert said in error
    assert error.count("\n") == 1
