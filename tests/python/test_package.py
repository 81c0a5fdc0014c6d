"""Which PySpark can be used, and what is said where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chronicle.project import PROJECT
from chronicle.spark import package

HIDDEN = "import sys; sys.modules['pyspark'] = None; from chronicle.cli.main import main; main()"


def pyspark(folder: Path, version: str) -> None:
    (folder / "pyspark").mkdir()
    (folder / "pyspark/__init__.py").touch()
    (folder / "pyspark/version.py").write_text(f'__version__: str = "{version}"\n')


@pytest.mark.parametrize("command", [["ingest"], ["sql", "--engine", "spark", "select 1"]])
def test_without_pyspark_a_command_says_in_one_line_what_to_install(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("[2026-11-21 09:46:30,143] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    paths = [str(tmp_path / "server.log"), "--timezone", "UTC"] if command[0] == "ingest" else []
    (tmp_path / "warehouse").mkdir()
    line = [sys.executable, "-c", HIDDEN, *command, *paths, "--warehouse", str(tmp_path / "warehouse")]
    done = subprocess.run(line, env=os.environ | {"PYTHONPATH": str(PROJECT)}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"PySpark is not installed; {package.REMEDY}" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("version", "fits"), [("4.2.0", True), ("4.2.7", True), ("4.1.1", False), ("4.20.0", False), ("3.5.6", False)])
def test_a_pyspark_that_is_there_has_to_be_of_deltas_release(
    version: str, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspark(tmp_path, version)
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    if fits:
        package.must_be_there()
    else:
        with pytest.raises(package.NoSpark, match=f"PySpark is {version}, and Delta's jars are made for 4.2; install"):
            package.must_be_there()


def test_the_extra_brings_the_release_that_is_checked() -> None:
    wanted = (PROJECT / "requirements-spark.in").read_text()
    assert f"pyspark>={package.RELEASE}." in wanted
