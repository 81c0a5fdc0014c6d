"""The wheel holds the files in git, and works without the repository."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.wheel import DBT, PACKAGES, built, in_git, installed, run


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(wheel, tmp_path_factory.mktemp("installed"))


def wanted() -> set[str]:
    """The files that the wheel must hold: both packages, and the dbt project within one of them."""
    names = [name for name in in_git() if not Path(name).name.startswith(".")]
    packages = {name for name in names if name.startswith(PACKAGES)}
    return packages | {f"chronicle/dbt/{name}" for name in names if name.startswith(DBT)}


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_holds_what_is_in_git_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == wanted()


def test_the_wheel_needs_ranges_and_neither_spark_nor_tools_of_development(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    stated = [Requirement(line.removeprefix("Requires-Dist: ")) for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    needs = {one.name for one in stated if one.marker is None}
    assert {"dbt-core", "dbt-spark", "deltalake", "matplotlib"} <= needs
    assert not {"pytest", "ruff", "mypy", "sqlfluff", "duckdb", "setuptools", "wheel"} & needs
    # Installed beside a Spark that is there, it must not bring another, nor ask for exact releases of what others need, too.
    assert {one.name for one in stated if one.marker and one.marker.evaluate({"extra": "spark"})} == {"pyspark"}
    assert [str(one) for one in stated if any(limit.operator == "==" for limit in one.specifier)] == []


@pytest.mark.long
def test_an_installation_works_alone_and_writes_into_the_users_folders_only(installation: Path, tmp_path: Path) -> None:
    before = files(installation)
    code = "import chronicle, ingestion; from chronicle.project import PROJECT; print(chronicle.__file__, ingestion.__file__, PROJECT)"
    places = ["chronicle/__init__.py", "ingestion/__init__.py", "chronicle/dbt"]
    assert run(installation, tmp_path, "-c", code).stdout.split() == [f"{installation}/{place}" for place in places]

    assert "The history of a Kafka fleet" in run(installation, tmp_path, "-m", "chronicle", "--help").stdout
    assert "who-was-controller" in run(installation, tmp_path, "-m", "chronicle", "ask").stdout

    done = run(installation, tmp_path, "-m", "chronicle", "catalogue", "check")
    assert done.stderr.endswith("prefixes: sound\n")

    line = "[2026-11-21 09:46:30,143] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    (tmp_path / "server.log").write_text(line, encoding="utf-8")
    done = run(installation, tmp_path, "-m", "chronicle", "catalogue", "match", "server.log")
    assert "node_started" in done.stdout, done.stderr
    assert len(list((tmp_path / ".cache/kafka-chronicle").glob("catalogue-*.json"))) == 1

    done = run(installation, tmp_path, "-m", "chronicle", "dbt", "-w", "warehouse", "parse")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "warehouse/.dbt").is_dir()

    done = run(installation, tmp_path, "-m", "chronicle", "catalogue", "build")
    assert (done.returncode, done.stderr) == (1, "chronicle: catalogue build writes files of the repository: run it in a checkout\n")
    assert files(installation) == before


@pytest.mark.long
def test_what_is_kept_goes_where_the_user_says(installation: Path, tmp_path: Path) -> None:
    code = "from chronicle.spark import jars, own_classes; print(jars.folder(), own_classes.jar().parent)"
    places: list[tuple[dict[str, str], Path]] = [
        ({}, tmp_path / ".cache/kafka-chronicle"),
        ({"XDG_CACHE_HOME": str(tmp_path / "xdg")}, tmp_path / "xdg/kafka-chronicle"),
        ({"XDG_CACHE_HOME": str(tmp_path / "xdg"), "CHRONICLE_CACHE": str(tmp_path / "own")}, tmp_path / "own"),
    ]
    for given, place in places:
        assert run(installation, tmp_path, "-c", code, **given).stdout.split() == [f"{place}/jars", str(place)]
