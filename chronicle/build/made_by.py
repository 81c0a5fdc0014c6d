"""What made the tables of a warehouse: models, our code, Spark and libraries.  If any of it changes, the next build makes everything anew, because
it cannot be told which rows a fix of ours, or one of Spark's, touches.

Ingestion is not among it: what bronze holds of a line was decided when the line was read.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from chronicle.build.parsed import project_hash
from chronicle.project import PROJECT
from chronicle.spark import jars, own_classes
from ingestion.warehouse import Warehouse

# Libraries that decide rows, or which tables a build may leave as they are: by their names for people, as their packages are called.
LIBRARIES = {
    "Spark": "pyspark",
    "delta-rs": "deltalake",
    "Arrow": "pyarrow",
    "dbt-core": "dbt-core",
    "dbt-spark": "dbt-spark",
    "sqlglot": "sqlglot",
}
MODELS, CODE, JARS = "models, macros and seeds", "Chronicle's code", "jars of Spark and Delta"


def fingerprint(project: Path = PROJECT) -> str:
    """What makes tables now, a line for each part: `Spark: 4.2.0`, or its hash."""
    return "\n".join(f"{name}: {version}" for name, version in {MODELS: project_hash(project), **_installed()}.items())


@cache
def _installed() -> dict[str, str]:
    """What does not change while a process runs."""
    code = [path for folder in ("build", "spark") for path in sorted(Path(own_classes.__file__).parents[1].joinpath(folder).rglob("*.py"))]
    sizes = [(path.name, path.stat().st_size) for path in own_classes.compiled_with()]
    return {
        **{name: metadata.version(package) for name, package in LIBRARIES.items()},
        "Delta": jars.JARS[0].version,
        CODE: _hash(*(path.read_bytes() for path in (*code, *own_classes.of_builds()))),
        JARS: _hash(repr(sizes).encode()),
    }


def _hash(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()


def changed(before: str, now: str) -> list[str]:
    """What differs between two fingerprints, in words: `Spark 4.2.0 -> 4.2.1`, `models, macros and seeds`."""
    old, new = (dict(line.split(": ", 1) for line in text.splitlines() if ": " in line) for text in (before, now))
    if not old:
        return ["an earlier release of Kafka Chronicle made the tables"]
    hashes = (MODELS, CODE, JARS)
    differ = [name for name in {**new, **old} if old.get(name) != new.get(name)]
    return [name if name in hashes else f"{name} {old.get(name, 'unknown')} -> {new.get(name, 'none')}" for name in differ]


def made_alike(place: Warehouse, project: Path = PROJECT) -> bool:
    """Whether all days of the incremental tables were built as they would be now: otherwise new days would be mixed with old ones that follow
    other rules or have other columns."""
    return place.incremental.exists() and place.incremental.read_text() == fingerprint(project)


def why_anew(place: Warehouse, project: Path = PROJECT) -> list[str]:
    """What has changed since the tables were built, in words; nothing if that is not known."""
    return changed(place.incremental.read_text(), fingerprint(project)) if place.incremental.exists() else []
