"""A build that was interrupted or killed is rolled back by the next one, which then only has to build what is new and not all of history.

Before a partial build changes anything, it notes what it starts from: what the tables were built from, and the version of each Delta table
that it may write.  The steps are moved aside meanwhile (`chronicle/build/steps.py`).  If the note is still there when the next build begins,
the previous one has not ended: steps are moved back and tables restored to their versions.  A build that fails removes the note, and the next
is a full build, because what failed on a part may fail again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from chronicle.build.versions import PUBLISHED, Record
from ingestion.moves import move
from ingestion.warehouse import Warehouse, opened, put


def note(place: Warehouse, tables: Iterable[tuple[str, str]]) -> None:
    """Note what a build starts from.  `tables`: (schema, name) of the Delta tables that it may write."""
    versions = {f"{schema}.{name}": opened(place.table(schema, name)).version() for schema, name in tables}
    put(place.unfinished, json.dumps({"built": place.built.read_text(), "versions": versions}))


def forget(place: Warehouse) -> None:
    """Remove the note and the steps moved aside: the build has ended, or the tables will be rebuilt."""
    place.unfinished.unlink(missing_ok=True)
    shutil.rmtree(place.kept_steps, ignore_errors=True)


def take_back(place: Warehouse, made_by: str) -> None:
    """Roll the tables back to before a build that has not ended, if there is one.  `made_by`: what makes tables now, as `made_by.fingerprint`
    returns it; tables that something else has made are of no use.

    Where files of the noted versions are gone, everything is built.
    """
    if not place.unfinished.exists():
        return
    noted = json.loads(place.unfinished.read_text(encoding="utf-8"))
    if json.loads(noted["built"]).get("made_by") == made_by:
        for kept in sorted(place.kept_steps.glob("*/*")):
            step = Path(place.table(kept.parent.name, kept.name))
            shutil.rmtree(step, ignore_errors=True)
            move(kept, step)
        try:
            restore(place, noted["versions"])
            place.built.write_text(noted["built"])
        except (DeltaError, OSError):
            place.built.unlink(missing_ok=True)
    forget(place)


def restore(place: Warehouse, versions: dict[str, int]) -> None:
    """Restore Delta tables to their versions.  Readers of published ones see these versions, meanwhile and afterwards."""
    tables = {name: DeltaTable(place.table(*name.split(".", 1))) for name in versions}
    changed = [name for name, table in tables.items() if table.version() != versions[name]]
    published = {name: version for name, version in versions.items() if name.split(".")[0] in PUBLISHED}
    if not published.keys().isdisjoint(changed):
        Record("", published).write(place)
    for name in changed:
        tables[name].restore(versions[name])
