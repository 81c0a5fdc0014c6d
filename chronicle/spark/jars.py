"""The three jars of Delta, and those of S3 for a warehouse in a bucket: fetched once by Spark's own resolver, checked by hash, never again from the
network.

Their other dependencies are in Spark's own folder already.  `python -m chronicle.spark.jars` fetches what is missing of Delta's,
`python -m chronicle.spark.jars s3` of those of S3; an installation does so on first need.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Sequence
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

# Hadoop's S3A, of the release of Hadoop in Spark, and those parts of Amazon's SDK that it uses: 13 MB of jars instead of the 600 MB of its `bundle`.
S3_JARS = Path(__file__).with_name("s3_jars.tsv")
# What is in Spark's folder, too, or what S3A does without.
S3_LEFT_OUT = (
    "software.amazon.awssdk:bundle",
    "io.netty:*",
    "org.slf4j:*",
    "org.apache.httpcomponents:*",
    "commons-*:*",
    "org.wildfly.*:*",
)
SETUP = "`make setup`" if cache.IS_CHECKOUT else "`python -m chronicle.spark.jars`"
S3_SETUP = "`python -m chronicle.spark.jars s3`"


@dataclass(frozen=True)
class Wanted:
    """Jars that are fetched together.  `what`: their name and size in a line that says so; `left_out`: dependencies that the resolver shall not bring;
    `setup`: the command that fetches them."""

    jars: tuple[Jar, ...]
    what: str
    left_out: tuple[str, ...]
    setup: str


def of_delta() -> Wanted:
    return Wanted(JARS, "Delta's jars into {} (10 MB, once)", LEFT_OUT, SETUP)


def of_s3() -> Wanted:
    """The jars for `s3a://`, as their file names and pins them."""
    lines = (re.split("[:\t]", line) for line in S3_JARS.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    pinned = tuple(Jar(group, artifact, version, sha256) for group, artifact, version, sha256 in lines)
    return Wanted(pinned, "the jars of S3 into {} (13 MB, once)", S3_LEFT_OUT, S3_SETUP)


class NoJars(RuntimeError):
    """A jar is missing, cannot be fetched or is not the one that was pinned; the text says what to do."""


def folder() -> Path:
    """Where the jars are: CHRONICLE_JARS, else `jars` in the cache folder."""
    return Path(os.environ.get("CHRONICLE_JARS") or cache.folder() / "jars").resolve()


def missing(where: Path, wanted: Wanted | None = None) -> list[Jar]:
    """The jars, by default Delta's, that are not in a folder."""
    return [jar for jar in (wanted or of_delta()).jars if not (where / jar.name).is_file()]


def class_path(where: Path | None = None, wanted: Wanted | None = None) -> list[str]:
    """The paths of the jars, by default Delta's.  Raises NoJars where one is missing; an installation, which has no `make setup`, fetches them first."""
    fetches = where is None and not cache.IS_CHECKOUT and not os.environ.get("CHRONICLE_JARS")
    where, wanted = where or folder(), wanted or of_delta()
    gone = missing(where, wanted)
    if gone and fetches:
        ensure(where, wanted)
    elif gone:
        raise NoJars(
            f"{where}: no {', '.join(jar.name for jar in gone)}; run {wanted.setup} (or put the jars there and name the folder in CHRONICLE_JARS)"
        )
    return [str(where / jar.name) for jar in wanted.jars]


def check(where: Path, wanted: Wanted | None = None) -> None:
    """Compare every jar with its pinned hash.  Raises NoJars for one that is missing or differs."""
    wanted = wanted or of_delta()
    for path, jar in zip(class_path(where, wanted), wanted.jars, strict=True):
        found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if found != jar.sha256:
            raise NoJars(f"{path}: sha256 is {found}, pinned is {jar.sha256}; delete the file and run {wanted.setup} again")


def ensure(where: Path | None = None, wanted: Wanted | None = None) -> None:
    """Fetch what is missing and check every hash.  Raises NoJars; a folder that is complete needs no network."""
    where, wanted = where or folder(), wanted or of_delta()
    gone = missing(where, wanted)
    if gone:
        tell(f"setup: fetching {wanted.what.format(where)}")
        where.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".ivy-", dir=where) as ivy:
            resolve(gone, wanted.left_out, where, Path(ivy))
    check(where, wanted)


def resolve(wanted: Sequence[Jar], left_out: tuple[str, ...], where: Path, ivy: Path) -> None:
    """Let Spark's resolver (Ivy; Maven Central unless Spark's own configuration says otherwise) bring jars to a folder.

    `ivy`: where Ivy keeps its files, on the same disk as the folder.
    """
    from chronicle.spark.java import find

    said = resolver.resolve([jar.coordinates for jar in wanted], left_out, ivy, find())
    for jar in wanted:
        brought = resolver.brought(ivy, jar.group, jar.name)
        if not brought.is_file():
            why = next(
                (line.strip() for line in said.splitlines() if "unresolved" in line or "not found" in line or "ERROR" in line),
                "no answer",
            )
            raise NoJars(
                f"{jar.coordinates} could not be fetched from Maven Central ({why}); check the network, or put {', '.join(j.name for j in wanted)} into {where}"
            )
        # Moved in one step, so that a run that is killed leaves no half of a jar behind.
        brought.replace(where / jar.name)


if __name__ == "__main__":
    from chronicle.spark.java import NoJava

    if sys.argv[1:] not in ([], ["s3"]):
        raise SystemExit("usage: python -m chronicle.spark.jars [s3]")
    try:
        ensure(wanted=of_s3() if sys.argv[1:] else None)
    except (NoJars, NoJava) as error:
        print(f"setup: {error}", file=sys.stderr)
        raise SystemExit(1) from None
