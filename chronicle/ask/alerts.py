"""`chronicle check`: the alerts of tests/alerts, each a dbt test of tag `alert`, run by delta-rs without a session.

An alert's SQL gives cluster_id, at (when it happened, UTC), key (of a row of a fact, the same in every build) and sentence.  It is new in a
period if `at` falls in it: from `since` to before `now`.
"""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronicle.ask.questions import must_know
from chronicle.ask.render import render
from chronicle.ask.tables import NotBuilt, Tables
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse

FOLDER = PROJECT / "tests" / "alerts"
SEVERITIES = ("warn", "error")
# Exit code of `chronicle check` where something was found: not that of a failure, 1, nor of wrong usage, 2.
FOUND = 3


@dataclass(frozen=True)
class Alert:
    """An alert: its name, severity, description, and what to ask next, with {key}, {cluster_id} and {at}."""

    name: str
    severity: str
    description: str
    ask: str
    path: Path


def alerts(folder: Path = FOLDER) -> Iterator[Alert]:
    """All alerts, in order of their names."""
    for path in sorted(folder.glob("*.sql")):
        config = render(path, {}).config
        yield Alert(path.stem, config["severity"], config["meta"]["description"], config["meta"]["ask"], path)


def check(
    place: Warehouse, since: dt.datetime, now: dt.datetime, cluster: str | None = None, severity: str = "warn"
) -> list[dict[str, Any]]:
    """Alerts raised from `since` to `now`, in order of time: alert, severity, cluster_id, at, key, sentence, ask.

    `cluster`: only of this one; `severity`: this or higher.  Raises ValueError for a cluster that is not there, NotBuilt for a table.
    """
    tables = Tables(place)
    given = {"since": since.isoformat(), "until": now.isoformat()}
    if cluster is not None:
        must_know(tables, cluster)
        given["cluster"] = cluster
    found = []
    for alert in alerts():
        if SEVERITIES.index(alert.severity) < SEVERITIES.index(severity):
            continue
        try:
            rows = tables.rows(render(alert.path, given).sql)
        except NotBuilt as error:
            tables.must_be_built()
            raise NotBuilt(f"{alert.name} reads {error}, which is not in {place.root}; run `chronicle build`") from error
        for row in rows:
            row["at"] = row["at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
            found.append({"alert": alert.name, "severity": alert.severity, **row, "ask": asked(alert, row)})
    return sorted(found, key=lambda one: (one["at"], one["alert"], one["cluster_id"], one["key"]))


def asked(alert: Alert, row: Mapping[str, str]) -> str:
    """What to ask next, quoted for a shell: a name is one word, whatever it holds."""
    return alert.ask.format(**{name: shlex.quote(text) for name, text in row.items() if name in ("key", "cluster_id", "at")})
