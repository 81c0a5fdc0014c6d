"""The jar of our own classes is compiled anew for any other Spark or Delta."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.spark import jars, own_classes
from chronicle.spark.internals import spark_home


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folders of Spark's jars and of Delta's."""
    spark, delta = tmp_path / "spark", tmp_path / "delta"
    for folder in (spark, delta):
        folder.mkdir()
    (spark / "spark-unsafe_2.13-4.2.0.jar").write_bytes(b"spark")
    for jar in jars.JARS:
        (delta / jar.name).write_bytes(b"delta")
    monkeypatch.setattr(spark_home, "jars", lambda: spark)
    monkeypatch.setenv("CHRONICLE_JARS", str(delta))
    return spark, delta


def test_a_vendors_jar_of_the_same_name_gives_other_classes(folders: tuple[Path, Path]) -> None:
    """SPARK_HOME may name a vendor's Spark of the same version."""
    before = own_classes.jar()
    (folders[0] / "spark-unsafe_2.13-4.2.0.jar").write_bytes(b"a vendor's spark")
    assert own_classes.jar() != before


def test_another_delta_gives_other_classes(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    before = own_classes.jar()
    newer = [jars.Jar(jar.group, jar.artifact, "9.9.9", jar.sha256) for jar in jars.JARS]
    for jar in newer:
        (folders[1] / jar.name).write_bytes(b"delta")
    monkeypatch.setattr(jars, "JARS", newer)
    assert own_classes.jar() != before


def test_the_same_jars_in_other_folders_or_of_another_time_give_the_same(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = own_classes.jar()
    moved = folders[0].rename(folders[0].with_name("elsewhere"))
    (moved / "spark-unsafe_2.13-4.2.0.jar").touch()
    monkeypatch.setattr(spark_home, "jars", lambda: moved)
    assert own_classes.jar() == before
