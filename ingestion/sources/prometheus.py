"""Samples from Prometheus, or a compatible server (Thanos, Mimir, VictoriaMetrics): prometheus+http://host:9090?match[]={job="kafka"}.

The answer of `query_range` for an hour becomes a file named prometheus+http://host:9090/<matcher>/<step>s/<from>-<to>, in which each line is the
answer for one metric.  The last of these names in `bronze.sources` says how far a matcher has been queried, so each sample counts once.  The file of
the current hour holds what is there so far.

The URI's query: `match[]`, a series selector as Prometheus' federation takes it, once or several times (default: what brokers export); `step`,
seconds between two samples (60); `days`, how far the first run goes back (1).  A user and a password come from ~/.netrc, a token from
CHRONICLE_PROMETHEUS_TOKEN.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ingestion.reading.objects import CannotReach
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Found

NAME = re.compile(r"(?P<series>.+/\d+s)/(?P<first>\d{4}-[\dT:-]+Z)-(?P<end>\d{4}-[\dT:-]+Z)")
DEFAULT_MATCHERS = ['{__name__=~"(kafka|java|jvm|process|zookeeper)_.+"}']
# One file covers so many seconds; its text is held in memory, so a time with more bytes is queried in shorter pieces.
FILE_SECONDS, FILE_BYTES = 3600, 64 << 20
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True)
class Asked:
    """What a URI asks for.  `api`: the address up to /api/v1; `step`: seconds; `since`: how many seconds the first run goes back."""

    root: str
    api: str
    matchers: tuple[str, ...]
    step: int
    since: int

    @classmethod
    def by(cls, uri: str) -> Asked:
        """Parse a URI.  Raises CannotReach for an invalid one."""
        parts = urlsplit(uri)
        if "@" in parts.netloc:
            raise CannotReach(f"{parts.scheme}://{parts.hostname}: no user or password in the address; put them into ~/.netrc")
        given = parse_qs(parts.query)
        if unknown := given.keys() - {"match[]", "step", "days"}:
            raise CannotReach(f"{uri}: unknown {', '.join(sorted(unknown))}; use match[], step and days")
        try:
            step, days = int(given.get("step", ["60"])[-1]), float(given.get("days", ["1"])[-1])
        except ValueError:
            raise CannotReach(f"{uri}: step takes seconds, days a number") from None
        if not parts.hostname or not 1 <= step <= FILE_SECONDS or not 0 < days < 10_000:
            raise CannotReach(f"{uri}: no such address, step or days; use prometheus+http://HOST:PORT?step=60&days=1")
        root = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        matchers = tuple(dict.fromkeys(given.get("match[]", DEFAULT_MATCHERS)))
        return cls(root, f"{root.removeprefix('prometheus+')}/api/v1", matchers, step, int(days * 86_400))


def ends(names: Iterable[str]) -> dict[str, int]:
    """Address, matcher and step → time up to which it was queried, in seconds since 1970.  `names`: of all files that were read."""
    found: dict[str, int] = {}
    for name in names:
        if name.startswith("prometheus+") and (parts := NAME.fullmatch(name)) is not None:
            found[parts["series"]] = max(found.get(parts["series"], 0), _seconds(parts["end"]))
    return found


def marks(uri: str) -> dict[str, int]:
    """A number that changes when there is more to query: that of the current step, by the clock."""
    asked = Asked.by(uri)
    return {uri: int(time.time()) // asked.step}


def new(uri: str, names: Iterable[str], settled_after: float, spool: Spool, whole_end: Callable[[Found], int]) -> Iterator[Found]:
    """What was not queried yet, as files.  `names`: of all files that were read; `settled_after`: seconds after which no more samples of a time
    arrive; `spool`: takes the answers.  Raises CannotReach."""
    asked, now = Asked.by(uri), int(time.time() - max(settled_after, 0))
    until, known = now - now % asked.step, ends(names)
    for matcher in asked.matchers:
        series = f"{asked.root}/{matcher}/{asked.step}s"
        first = known.get(series, until - until % FILE_SECONDS - asked.since)
        while first < until:
            # Files end with the hour.
            end = min(until, first - first % FILE_SECONDS + FILE_SECONDS)
            text = answers(asked, matcher, first, end)
            while len(text) > FILE_BYTES and end - first > asked.step:
                end = first + max((end - first) // 2 // asked.step, 1) * asked.step
                text = answers(asked, matcher, first, end)
            name = f"{series}/{_shown(first)}-{_shown(end)}"
            yield Found(spool.write(text, end), name, series, "", asked.root, is_whole=True)
            first = end


def answers(asked: Asked, matcher: str, first: int, end: int) -> bytes:
    """The answers for all metrics of a matcher, a line each; empty if there is no sample.  `end`: the first second that does not belong to
    them."""
    times = {"start": first, "end": end - 1}
    lines = []
    for name in _get(asked, "label/__name__/values", {"match[]": matcher, **times}, is_data=True):
        answer = _get(asked, "query_range", {"query": _of_metric(matcher, str(name)), "step": asked.step, **times})
        if b'"result":[]' not in answer[:200]:
            lines.append(answer.replace(b"\n", b" ") + b"\n")
    return b"".join(lines)


def _of_metric(matcher: str, name: str) -> str:
    """A selector for the series of one metric that a matcher selects."""
    labels = matcher[matcher.index("{") + 1 : matcher.rindex("}")].strip().strip(",") if "{" in matcher else ""
    own = '__name__="' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "{" + (f"{labels},{own}" if labels else own) + "}"


def _get(asked: Asked, path: str, parameters: dict[str, Any], is_data: bool = False) -> Any:
    """The bytes of an answer, or its data.  Raises CannotReach with the server's message."""
    import requests

    token = os.environ.get("CHRONICLE_PROMETHEUS_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = requests.get(f"{asked.api}/{path}", params=parameters, headers=headers, timeout=TIMEOUT_SECONDS)
        content: Any = answer.json() if is_data or not answer.ok else None
    except (requests.RequestException, ValueError) as error:
        raise CannotReach(f"{asked.root}: {type(error).__name__}: {' '.join(str(error).split())[:500]}") from None
    if not answer.ok or (is_data and content.get("status") != "success"):
        said = content.get("error") if isinstance(content, dict) else None
        raise CannotReach(f"{asked.root}: {answer.status_code} {said or answer.reason}")
    return content["data"] if is_data else answer.content


def _shown(seconds: int) -> str:
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def _seconds(shown: str) -> int:
    return int(dt.datetime.fromisoformat(shown).timestamp())
