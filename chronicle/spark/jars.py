"""The three jars of Delta: fetched once by Spark's own resolver, checked by hash, never again from the network.

Delta's other dependencies are in Spark's own folder already.  `python -m chronicle.spark.jars` fetches what is missing; an
installation does so on first need.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from chronicle.output.console import tell
from chronicle.spark.internals import resolver
from ingestion import cache


@dataclass(frozen=True)
class Jar:
    """A jar by its Maven coordinates and the SHA-256 of its bytes."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


JARS = (
    Jar("io.delta", "delta-spark_4.2_2.13", "4.4.0", "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead"),
    Jar("io.delta", "delta-storage", "4.4.0", "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"),
    Jar("io.unitycatalog", "unitycatalog-client", "0.6.0", "48257499a86b801a3e2372cec55ac226ca1c1c7eabe5c118e7302f29a1fdbc19"),
)
# Dependencies that the resolver would also fetch and that Spark ships itself: 70 MB.
LEFT_OUT = (
    "com.*:*",
    "org.*:*",
    "javax.*:*",
    "jakarta.*:*",
    "commons-*:*",
    "io.airlift:*",
    "io.delta:delta-kernel-*",
    "io.unitycatalog:unitycatalog-hadoop",
)


SETUP = "`make setup`" if cache.IS_CHECKOUT else "`python -m chronicle.spark.jars`"


class NoJars(RuntimeError):
    """A jar is missing, cannot be fetched or is not the one that was pinned; the text says what to do."""


def folder() -> Path:
    """Where the jars are: CHRONICLE_JARS, else `jars` in the cache folder."""
    return Path(os.environ.get("CHRONICLE_JARS") or cache.folder() / "jars").resolve()


def missing(where: Path) -> list[Jar]:
    """The jars that are not in a folder."""
    return [jar for jar in JARS if not (where / jar.name).is_file()]


def class_path(where: Path | None = None) -> list[str]:
    """The paths of the three jars.  Raises NoJars where one is missing; an installation, which has no `make setup`, fetches them first."""
    fetches = where is None and not cache.IS_CHECKOUT and not os.environ.get("CHRONICLE_JARS")
    where = where or folder()
    gone = missing(where)
    if gone and fetches:
        ensure(where)
    elif gone:
        raise NoJars(
            f"{where}: no {', '.join(jar.name for jar in gone)}; run {SETUP} (or put the jars there and name the folder in CHRONICLE_JARS)"
        )
    return [str(where / jar.name) for jar in JARS]


def check(where: Path) -> None:
    """Compare every jar with its pinned hash.  Raises NoJars for one that is missing or differs."""
    for path, jar in zip(class_path(where), JARS, strict=True):
        found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if found != jar.sha256:
            raise NoJars(f"{path}: sha256 is {found}, pinned is {jar.sha256}; delete the file and run {SETUP} again")


def ensure(where: Path | None = None) -> None:
    """Fetch what is missing and check every hash.  Raises NoJars; a folder that is complete needs no network."""
    where = where or folder()
    gone = missing(where)
    if gone:
        tell(f"setup: fetching Delta's jars into {where} (10 MB, once)")
        where.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".ivy-", dir=where) as ivy:
            resolve(gone, where, Path(ivy))
    check(where)


def resolve(wanted: list[Jar], where: Path, ivy: Path) -> None:
    """Let Spark's resolver (Ivy; Maven Central unless Spark's own configuration says otherwise) bring jars to a folder.

    `ivy`: where Ivy keeps its files, on the same disk as the folder.
    """
    from chronicle.spark.java import find

    said = resolver.resolve([jar.coordinates for jar in wanted], LEFT_OUT, ivy, find())
    for jar in wanted:
        brought = resolver.brought(ivy, jar.group, jar.name)
        if not brought.is_file():
            why = next(
                (line.strip() for line in said.splitlines() if "unresolved" in line or "not found" in line or "ERROR" in line),
                "no answer",
            )
            raise NoJars(
                f"{jar.coordinates} could not be fetched from Maven Central ({why}); check the network, or put {', '.join(j.name for j in JARS)} into {where}"
            )
        # Moved in one step, so that a run that is killed leaves no half of a jar behind.
        brought.replace(where / jar.name)


if __name__ == "__main__":
    from chronicle.spark.java import NoJava

    try:
        ensure()
    except (NoJars, NoJava) as error:
        print(f"setup: {error}", file=sys.stderr)
        raise SystemExit(1) from None
