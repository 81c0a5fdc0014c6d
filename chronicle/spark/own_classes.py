"""Our own classes in Spark's JVM, in `jvm/`: the rules of the server and of builds, and classes and files that replace Spark's and Hadoop's of
the same name.  They are compiled once with the Scala compiler that Spark brings, which needs no JDK.

`python -m chronicle.spark.own_classes` compiles what is not there yet.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
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

SOURCES = Path(__file__).with_name("jvm")
SETUP = "`make setup`" if cache.IS_CHECKOUT else "`python -m chronicle.spark.own_classes`"
COMPILER = ("scala-compiler", "scala-library", "scala-reflect")


class NoGuard(RuntimeError):
    """Our classes are not there or cannot be compiled; the text says what to do."""


def sources() -> list[Path]:
    return sorted(SOURCES.glob("*.scala"))


def resources() -> list[Path]:
    """Files that are in the jar as they are."""
    return sorted(SOURCES.glob("*.xml"))


def jar() -> Path:
    """The jar of the classes, named by the hash of its sources and of Spark's release."""
    digest = hashlib.sha256(metadata.version("pyspark").encode())
    for source in sources() + resources():
        digest.update(source.name.encode() + source.read_bytes())
    return cache.folder() / f"guard-{digest.hexdigest()[:16]}.jar"


def are_in(spark: SparkSession) -> bool:
    """Whether a session has our classes: they are compiled, and it is not of Spark Connect."""
    return has_java(spark) and jar().exists()


def ensure() -> Path:
    """The jar, compiled where it is not there yet.  Raises NoGuard, java.NoJava."""
    wanted = jar()
    if not wanted.exists():
        tell("setup: compiling our classes for Spark (half a minute, once)")
        for old in wanted.parent.glob("guard-*.jar"):
            old.unlink()
        wanted.parent.mkdir(parents=True, exist_ok=True)
        compile_to(wanted)
    return wanted


def compile_to(wanted: Path) -> None:
    """Compile the sources into a jar.  Raises NoGuard with the compiler's first line."""
    home = spark_home.jars()
    compiler = os.pathsep.join(str(path) for name in COMPILER for path in home.glob(f"{name}-2*.jar"))
    class_path = os.pathsep.join([*jars.class_path(), *map(str, sorted(home.glob("*.jar")))])
    # With these options the compiler takes 8 s of CPU instead of 17.
    options = [java.FIRST_COMPILER_ALONE, java.SERIAL_COLLECTOR, "-Xss8m"]
    with tempfile.TemporaryDirectory(dir=wanted.parent) as folder:
        arguments = ["-nowarn", "-cp", class_path, "-d", folder, *map(str, sources())]
        run = subprocess.run(
            [str(java.find() / "bin" / "java"), *options, "-cp", compiler, "scala.tools.nsc.Main", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        made = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        if run.returncode or not made:
            said = next((line for line in (run.stdout + run.stderr).splitlines() if line.strip()), "no word")
            raise NoGuard(f"our classes for Spark do not compile ({said}); run {SETUP} again, with pyspark {metadata.version('pyspark')}")
        aside = Path(folder, wanted.name)
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in made:
                archive.write(path, path.relative_to(folder))
            for path in resources():
                archive.write(path, path.name)
        aside.replace(wanted)


if __name__ == "__main__":
    try:
        ensure()
    except (java.NoJava, jars.NoJars, NoGuard) as error:
        print(f"setup: {error}", file=sys.stderr)
        raise SystemExit(1) from None
