"""The dbt project as dbt reads it, kept for later runs: to read all of its files takes dbt nine seconds, to read what was kept one.

dbt itself compares what was kept with the files, the variables, the profile and its own version, and reads again what differs.  It keeps this in
the target folder, of which each warehouse has one.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, cast

from chronicle.build.dbt_runs import BuildFailed, one_line, options, prepare
from chronicle.project import PROJECT
from ingestion import cache

if TYPE_CHECKING:
    from chronicle.build.internals import Manifest
    from ingestion.warehouse import Warehouse

# dbt's name for what it has read.
READ = "partial_parse.msgpack"
# States of projects that are kept, among them those of tests. This one has five megabytes.
KEPT = 16


def project_hash(project: Path = PROJECT) -> str:
    """SHA-256 of everything that the marts are built from, except the data."""
    digest = hashlib.sha256((project / "dbt_project.yml").read_bytes() + (project / "profiles.yml").read_bytes())
    for folder in ("models", "macros", "dbt_project"):
        for path in sorted((project / folder).rglob("*")):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def parse(place: Warehouse, project: Path = PROJECT) -> Manifest:
    """Read the project.  Raises BuildFailed with what dbt says about it."""
    prepare()
    from dbt.cli.main import dbtRunner

    file, target = kept(project), place.work / "target"
    is_kept = bring(file, target)
    if not is_kept:
        # What is kept does not depend on what dbt has read before.
        (target / READ).unlink(missing_ok=True)
    done = dbtRunner().invoke(["parse", *options(place, project)])
    if not done.success or done.result is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    if not is_kept:
        cache.keep(file, (target / READ).read_bytes(), KEPT)
    return cast("Manifest", done.result)


def bring(file: Path, target: Path) -> bool:
    """Put what was kept into a target folder, where dbt looks for it.  Returns whether there was such a file."""
    if (content := cache.read(file)) is None:
        return False
    target.mkdir(parents=True, exist_ok=True)
    (target / READ).write_bytes(content)
    return True


def kept(project: Path) -> Path:
    """Where the reading of a project is kept.  The nodes of seeds name the folder in which they were read."""
    made_for = [str(project), project_hash(project), *map(metadata.version, ("dbt-core", "dbt-spark"))]
    return cache.folder() / f"parsed-{hashlib.sha256(repr(made_for).encode()).hexdigest()[:16]}.msgpack"
