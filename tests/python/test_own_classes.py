"""The jar of our own classes is compiled anew for any other Spark or Delta, and hides nothing of theirs."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest

from chronicle.spark import jars, own_classes, session
from chronicle.spark.engine import LOCAL
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


def names(jar: Path) -> set[str]:
    """The files in a jar: classes, and resources, by which libraries read their defaults."""
    with zipfile.ZipFile(jar) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture
def ours() -> set[str]:
    """The files in our jar."""
    return names(own_classes.ensure())


def test_nothing_of_ours_has_the_name_of_a_file_of_spark_delta_or_hadoop(ours: set[str]) -> None:
    others = own_classes.compiled_with()
    assert {"hadoop-client-api", "spark-core_2.13", "delta-spark_4.2_2.13"} <= {path.name.rpartition("-")[0] for path in others}
    assert {path.name: sorted(found) for path in others if (found := ours & names(path))} == {}


def test_our_classes_are_in_packages_of_ours(ours: set[str]) -> None:
    """Below Spark's, because what Spark calls `private[sql]` is open to them; each has our name."""
    strange = [name for name in ours if not re.fullmatch(r"org/apache/spark/sql/(\w+/)*chronicle/[\w$]+\.class", name)]
    assert ours and strange == []


def test_sparks_classes_come_before_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    line = session.command("1g", (), session.added_jars(LOCAL, "/warehouse"))
    path = line[line.index("-cp") + 1].split(os.pathsep)
    assert path[-1] == str(own_classes.jar()) and path[:-1] == [*jars.class_path(), f"{spark_home.jars()}/*"]
    assert line[-1].startswith("org.apache.spark.api.python.")


def test_no_class_of_ours_reaches_private_parts_by_reflection() -> None:
    reaching = re.compile(r"setAccessible|getDeclared(Field|Method|Constructor)|ReflectionUtils|setSuperField|xbean|objectweb")
    assert own_classes.sources()
    assert [path.name for path in own_classes.sources() if reaching.search(path.read_text(encoding="utf-8"))] == []
