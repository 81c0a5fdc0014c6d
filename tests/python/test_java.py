"""Which Java is chosen, with which options, and the message if there is none that Spark can use."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.serve.serve import JAVA_OPTIONS
from chronicle.spark import master as masters
from chronicle.spark import session
from chronicle.spark.java import FIRST_COMPILER_ALONE, NoJava, find, release


def install(home: Path, version: str) -> Path:
    """A folder that looks like an installed Java."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize(("version", "number"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8), ("25-ea", 25)])
def test_the_release_is_read_from_its_file(tmp_path: Path, version: str, number: int) -> None:
    assert release(install(tmp_path / "jdk", version)) == number


def test_without_a_release_file_java_is_asked(tmp_path: Path) -> None:
    home = install(tmp_path / "jdk", "17")
    (home / "release").unlink()
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"21.0.2\" 2024-01-16' >&2\n")
    assert release(home) == 21


def test_java_home_comes_before_the_path_and_the_path_before_the_systems_folders(tmp_path: Path) -> None:
    named, on_path = install(tmp_path / "named", "21.0.1"), install(tmp_path / "path", "17.0.1")
    system = install(tmp_path / "jvm" / "java-17", "17.0.2")
    folders = (str(tmp_path / "jvm"),)
    environment = {"JAVA_HOME": str(named), "PATH": str(on_path / "bin")}
    assert find(environment, folders) == named
    assert find({"PATH": str(on_path / "bin")}, folders) == on_path
    assert find({"PATH": str(tmp_path)}, folders) == system


def test_a_java_that_spark_cannot_use_is_passed_over(tmp_path: Path) -> None:
    new, usable = install(tmp_path / "new", "25.0.1"), install(tmp_path / "jvm" / "jdk-17", "17.0.1")
    assert find({"JAVA_HOME": str(new), "PATH": str(new / "bin")}, (str(tmp_path / "jvm"),)) == usable


def test_only_a_java_that_spark_cannot_use_is_one_line_that_says_so(tmp_path: Path) -> None:
    new = install(tmp_path / "new", "25.0.1")
    with pytest.raises(NoJava, match=r"cannot use Java 25 in .*; install a JDK or JRE 17 or 21") as caught:
        find({"PATH": str(new / "bin")}, ())
    assert "\n" not in str(caught.value)


def test_no_java_at_all_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(NoJava, match=r"no Java found .*JAVA_HOME, PATH and /nowhere"):
        find({"PATH": str(tmp_path)}, ("/nowhere",))


def test_a_page_of_spark_fits_half_a_region_of_the_collector() -> None:
    """Larger pages get whole regions: pages of 1 MB took two of 1 MB each, so Spark used twice the memory that it counted."""
    region = next(option for option in JAVA_OPTIONS if option.startswith("-XX:G1HeapRegionSize="))
    page = session.settings("/warehouse")["spark.buffer.pageSize"]
    assert 2 * (megabytes(page) + 0.001) < megabytes(region.partition("=")[2])


@pytest.mark.parametrize(
    ("memory", "page"), [("2g", 1), ("8192m", 1), ("11g", 1), ("14g", 2), ("32G", 3), ("64g", 6), ("1t", 90), ("half", 1)]
)
def test_the_pages_of_a_task_are_enough_for_all_of_its_memory(memory: str, page: int) -> None:
    """A task may have 8,192 pages; one that needs more fails, and a larger heap would not help."""
    assert megabytes(session.settings("/warehouse", memory)["spark.buffer.pageSize"]) == page
    assert session.megabytes(memory) * 0.6 < 8192 * page * 0.9


def test_executors_may_have_more_memory_than_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "spark.conf"
    file.write_text("spark.executor.memory 64g\n")
    monkeypatch.setenv(masters.SETTINGS, str(file))
    assert session.settings("/warehouse")["spark.buffer.pageSize"] == "6m"


def megabytes(size: str) -> int:
    return int(size.removesuffix("m"))


MANY = session.MANY_RECORDS


@pytest.mark.parametrize(
    ("records", "is_built", "is_first_alone"), [(0, False, True), (MANY - 1, False, True), (MANY, False, False), (MANY, True, True)]
)
def test_the_second_compiler_is_for_many_records_to_build(
    monkeypatch: pytest.MonkeyPatch, records: int, is_built: bool, is_first_alone: bool
) -> None:
    monkeypatch.setattr(session, "rows_of", lambda path: records)
    assert (FIRST_COMPILER_ALONE in session.command_options("/warehouse", session.Work(is_built=is_built))) is is_first_alone


@pytest.mark.parametrize(("name", "is_first_alone"), [("small.log", True), ("large.log", False), ("large.log.gz", False)])
def test_the_second_compiler_is_for_large_files(tmp_path: Path, name: str, is_first_alone: bool) -> None:
    size = session.RECORD * MANY if name == "large.log" else session.RECORD * MANY // 8
    (tmp_path / "logs").mkdir()
    with (tmp_path / "logs" / name).open("wb") as file:
        file.truncate(size)
    assert (FIRST_COMPILER_ALONE in session.command_options("/warehouse", session.Work([str(tmp_path / "logs")]))) is is_first_alone


@pytest.mark.parametrize(("records", "is_first_alone"), [(1_000, False), (MANY - 1, True)])
def test_files_that_a_built_warehouse_has_read_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, records: int, is_first_alone: bool
) -> None:
    with (tmp_path / "node.log").open("wb") as file:
        file.truncate(2 * session.RECORD * MANY)
    monkeypatch.setattr(session, "rows_of", lambda path: records)
    assert (FIRST_COMPILER_ALONE in session.command_options("/warehouse", session.Work([str(tmp_path)], is_built=True))) is is_first_alone
