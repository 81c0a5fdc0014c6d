"""Jars from Maven Central, brought by the resolver in Spark (Ivy).

Relies on: spark-submit, which resolves `--packages` before it fails to find its class; the folder `jars` below `spark.jars.ivy`, with
files called `<group>_<artifact>-<version>.jar`.  Read in: Spark 4.2.0.
Breaks: `make setup` without Delta's jars ends with one line that says so; a folder that has them is not affected.
Brings: mirrors, proxies and credentials as Spark's own configuration has them (`spark.jars.ivySettings`).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from chronicle.spark.internals import spark_home


def resolve(coordinates: list[str], left_out: tuple[str, ...], ivy: Path, java: Path, *options: str) -> str:
    """Bring jars into `ivy`, where Ivy keeps its files, because the user's home may not exist.  Returns what spark-submit printed about it.

    `coordinates`: `group:artifact:version`; `left_out`: patterns of dependencies not to bring; `java`: its folder;
    `options`: more of spark-submit's.
    """
    home = spark_home.home()
    run = subprocess.run(
        [
            f"{home}/bin/spark-submit",
            *("--master", "local[1]"),
            *("--conf", f"spark.jars.ivy={ivy}"),
            *("--conf", f"spark.driver.extraJavaOptions=-Duser.home={ivy}"),
            *("--packages", ",".join(coordinates)),
            *(("--exclude-packages", ",".join(left_out)) if left_out else ()),
            *options,
            *("--class", "org.apache.spark.deploy.DeltaIsHere"),
            "spark-internal",
        ],
        env={**os.environ, "JAVA_HOME": str(java), "SPARK_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stderr


def brought(ivy: Path, group: str, name: str) -> Path:
    """Where a jar lies after `resolve`."""
    return ivy / "jars" / f"{group}_{name}"
