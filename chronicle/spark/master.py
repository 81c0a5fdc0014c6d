"""Which Spark does the work: this machine's cores, or an existing cluster.

CHRONICLE_SPARK, or `--master`, names it as Spark does: local[N], spark://host:port, k8s://…, yarn, or sc://host:port for Spark Connect.
CHRONICLE_SPARK_SETTINGS names a file of settings in the form of spark-defaults.conf, which override ours, except for those in PINNED.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping

from ingestion.reading.settings import settings_lines

MASTER, SETTINGS = "CHRONICLE_SPARK", "CHRONICLE_SPARK_SETTINGS"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
HERE = "local[*]"
KNOWN = re.compile(r"local(\[[\d*]+(,\d+)?\])?|spark://.+|k8s://.+|yarn|sc://.+")
# With any of these, rows of a file that has vanished or cannot be read would be missing from the facts without an error.
PINNED = {
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreInvalidPartitionPaths": "false",
    "spark.files.ignoreMissingFiles": "false",
    "spark.files.ignoreCorruptFiles": "false",
}
LOOPBACK = ("localhost", "127.", "[::1]", "::1")


class BadMaster(ValueError):
    """The given master or settings cannot be used; the text says what to write."""


def master() -> str:
    """The master as Spark names it.  Raises BadMaster."""
    given = os.environ.get(MASTER) or HERE
    if not KNOWN.fullmatch(given):
        raise BadMaster(f"{given}: no master of Spark; use local[N], spark://HOST:PORT, k8s://…, yarn or sc://HOST:PORT")
    return given


def is_local(name: str) -> bool:
    """Whether the work is done by threads of the driver."""
    return name.startswith("local")


def is_connect(name: str) -> bool:
    """Whether a server of Spark Connect has the driver, so that there is none of ours."""
    return name.startswith("sc://")


def given_settings() -> dict[str, str]:
    """The settings in the file that CHRONICLE_SPARK_SETTINGS names.  Raises BadMaster where it cannot be read, or sets what is pinned otherwise."""
    parts = [re.split(r"\s*=\s*|\s+", line, maxsplit=1) for line in settings_lines(SETTINGS, BadMaster)]
    given = {part[0]: part[1] if len(part) > 1 else "" for part in parts}
    for name, value in PINNED.items():
        if given.get(name, value).lower() != value:
            raise BadMaster(
                f"{name} {given[name]}: rows of vanished or damaged files would be left out in silence; take it out of {os.environ[SETTINGS]}"
            )
    return given


def pinned_in_sql() -> dict[str, str]:
    """Those of PINNED that belong to a session, not to the JVM."""
    return {name: value for name, value in PINNED.items() if name.startswith("spark.sql.")}


def java_options() -> list[str]:
    """What the file of settings adds to the command line of the driver's Java, as for spark-submit.  Raises BadMaster where it sets the heap."""
    try:
        given = shlex.split(given_settings().get(JAVA_OPTIONS, ""))
    except ValueError as error:
        raise BadMaster(f"{JAVA_OPTIONS} cannot be read: {error}") from None
    if any(option.startswith("-Xmx") for option in given):
        raise BadMaster(f"{JAVA_OPTIONS} sets Java's heap; use --memory")
    return given


def cluster_settings(*, has_own_classes: bool) -> dict[str, str]:
    """The jars that executors on other machines need, because plans name their classes."""
    from chronicle.spark import jars, own_classes

    return {"spark.jars": ",".join([*([str(own_classes.jar())] if has_own_classes else []), *jars.class_path()])}


def must_be_secured(settings: Mapping[str, str]) -> None:
    """Raises BadMaster where the driver would listen to other machines without asking for a secret."""
    hosts = [settings.get(name, "127.0.0.1") for name in ("spark.driver.host", "spark.driver.bindAddress")]
    is_open = any(not host.startswith(LOOPBACK) for host in hosts)
    if is_open and settings.get("spark.authenticate", "").lower() != "true":
        raise BadMaster(
            f"the driver would listen on {' and '.join(dict.fromkeys(hosts))} without a secret;"
            f" put `spark.authenticate true` and `spark.network.crypto.enabled true` into the file that {SETTINGS} names"
        )
