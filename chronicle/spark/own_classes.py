"""Our own classes in Spark's JVM: rules for builds on one machine (`chronicle/spark/jvm`), and the server and its rules (`chronicle/serve/jvm`).
They are compiled once, into one jar, with the Scala compiler that Spark brings, which needs no JDK.  Each is in a package of its own and comes last
on the class path: none has the name of one of Spark's.

`python -m chronicle.spark.own_classes` compiles what is not there yet.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.output.console import tell
from chronicle.spark import jars, java
from chronicle.spark.internals import spark_home
from chronicle.spark.internals.java_objects import has_java
from ingestion import cache

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF_BUILDS, OF_SERVER = Path(__file__).with_name("jvm"), Path(__file__).parents[1] / "serve" / "jvm"
SETUP = "`make setup`" if cache.IS_CHECKOUT else "`python -m chronicle.spark.own_classes`"
# In the name of every extension of ours.
PACKAGE = ".chronicle."
COMPILER = ("scala-compiler", "scala-library", "scala-reflect")


class NoGuard(RuntimeError):
    """Our classes are not there or cannot be compiled; the text says what to do."""


def of_builds() -> list[Path]:
    """The sources that decide what a build makes."""
    return sorted(OF_BUILDS.glob("*.scala"))


def sources() -> list[Path]:
    return of_builds() + sorted(OF_SERVER.glob("*.scala"))


def jar() -> Path:
    """The jar of the classes, named by the hash of its sources and of names and sizes of the jars that they are compiled with, Spark's and Delta's."""
    digest = hashlib.sha256(repr([(path.name, path.stat().st_size) for path in compiled_with()]).encode())
    for source in sources():
        digest.update(source.name.encode() + source.read_bytes())
    return cache.folder() / f"guard-{digest.hexdigest()[:16]}.jar"


def compiled_with() -> list[Path]:
    """Delta's jars as far as they are there, and Spark's."""
    folder = jars.folder()
    return [*filter(Path.is_file, (folder / jar.name for jar in jars.JARS)), *sorted(spark_home.jars().glob("*.jar"))]


def are_in(spark: SparkSession) -> bool:
    """Whether a session has our classes: it was started with them, and is not of Spark Connect."""
    return has_java(spark) and PACKAGE in str(spark.conf.get("spark.sql.extensions", ""))


def ensure() -> Path:
    """The jar, compiled where it is not there yet.  Raises NoGuard, java.NoJava, jars.NoJars."""
    # In an installation this fetches Delta's jars, by which ours is named.
    jars.class_path()
    wanted = jar()
    if not wanted.exists():
        tell("setup: compiling our classes for Spark (half a minute, once)")
        for old in wanted.parent.glob("guard-*.jar"):
            old.unlink()
        wanted.parent.mkdir(parents=True, exist_ok=True)
        compile_to(wanted)
    return wanted


def compile_to(wanted: Path) -> None:
    """Compile the sources into a jar.  Raises NoGuard with the first line that Java says."""
    home = spark_home.jars()
    compiler = [path for name in COMPILER for path in home.glob(f"{name}-2*.jar")]
    with tempfile.TemporaryDirectory(dir=wanted.parent) as folder:
        classes = Path(folder, "classes")
        classes.mkdir()
        run(compiler, "scala.tools.nsc.Main", "-nowarn", "-cp", class_path(compiled_with()), "-d", str(classes), *map(str, sources()))
        aside = Path(folder, wanted.name)
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in classes.rglob("*") if path.is_file()):
                archive.write(path, path.relative_to(classes))
        aside.replace(wanted)


def run(classes: Iterable[Path], main: str, *arguments: str) -> None:
    """Run a program of Java's.  Raises NoGuard with the first line that it says if it fails."""
    # With these options the compiler takes 8 s of CPU instead of 17.
    options = [java.FIRST_COMPILER_ALONE, java.SERIAL_COLLECTOR, "-Xss8m"]
    command = [str(java.find() / "bin" / "java"), *options, "-cp", class_path(classes), main, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = next((line for line in (ran.stdout + ran.stderr).splitlines() if line.strip()), "no word")
        raise NoGuard(f"our classes for Spark do not compile ({said}); run {SETUP} again, with pyspark {metadata.version('pyspark')}")


def class_path(of: Iterable[Path]) -> str:
    return os.pathsep.join(map(str, of))


if __name__ == "__main__":
    try:
        ensure()
    except (java.NoJava, jars.NoJars, NoGuard) as error:
        print(f"setup: {error}", file=sys.stderr)
        raise SystemExit(1) from None
