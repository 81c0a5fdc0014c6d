"""`chronicle check`: the alerts of tests/alerts, each a dbt test of tag `alert`, run by delta-rs without a session.

An alert's SQL gives cluster_id, at (when it happened, UTC), key (of a row of a fact, the same in every build) and sentence.  It is new in a
period if `at` falls in it: from `since` to before `now`.  An incident is one alert, with its events as parts, also in a period in which it only
went on; a fact that belongs to it is none (macro `outside_incidents`).
"""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronicle.ask.known import must_know
from chronicle.ask.render import render
from chronicle.ask.tables import NotBuilt, Tables
from chronicle.project import PROJECT
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse

FOLDER = PROJECT / "tests" / "alerts"
SEVERITIES = ("warn", "error")
# Exit code of `chronicle check` where something was found: not that of a failure, 1, nor of wrong usage, 2.
FOUND = 3
PARTS = """
select incident_key, happened_at as at, fact_key as key, sentence
from marts.fct_incident_events
where role <> 'recovery' and incident_key in ({keys})
order by incident_key, sequence"""


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
    place: Warehouse,
    since: dt.datetime,
    now: dt.datetime,
    cluster: str | None = None,
    severity: str = "warn",
    asked_of: Iterable[Alert] | None = None,
) -> list[dict[str, Any]]:
    """Alerts raised from `since` to `now`, in order of time: alert, severity, cluster_id, at, key, sentence, ask, parts.

    `cluster`: only of this one; `severity`: this or higher; `asked_of`: these alerts, not all.  Raises ValueError for a cluster that is not there, NotBuilt for a table.
    """
    tables = Tables(place)
    given = {"since": since.isoformat(), "until": now.isoformat()}
    if cluster is not None:
        must_know(tables, cluster)
        given["cluster"] = cluster
    found = []
    for alert in alerts() if asked_of is None else asked_of:
        if SEVERITIES.index(alert.severity) < SEVERITIES.index(severity):
            continue
        try:
            rows = tables.rows(render(alert.path, given).sql)
        except NotBuilt as error:
            tables.must_be_built()
            raise NotBuilt(f"{alert.name} reads {error}, which is not in {place.root}; run `chronicle build`") from error
        for row in rows:
            row["at"] = in_utc(row["at"])
            found.append({"alert": alert.name, "severity": alert.severity, **row, "ask": asked(alert, row)})
    parts = parts_of(tables, [one["key"] for one in found])
    found = [{**one, "parts": parts.get(one["key"], [])} for one in found]
    return sorted(found, key=lambda one: (one["at"], one["alert"], one["cluster_id"], one["key"]))


def parts_of(tables: Tables, keys: list[str]) -> dict[str, list[dict[str, str]]]:
    """The events of those of the keys that are of incidents, each incident's in order: at, key (of the fact), sentence.  Recoveries are not."""
    parts: dict[str, list[dict[str, str]]] = {}
    for row in tables.rows(PARTS.format(keys=", ".join(map(literal, keys)))) if keys else []:
        parts.setdefault(row.pop("incident_key"), []).append({**row, "at": in_utc(row["at"])})
    return parts


def in_utc(at: dt.datetime) -> str:
    """A time as alerts write it."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def asked(alert: Alert, row: Mapping[str, str]) -> str:
    """What to ask next, quoted for a shell: a name is one word, whatever it holds."""
    return alert.ask.format(**{name: shlex.quote(text) for name, text in row.items() if name in ("key", "cluster_id", "at")})
