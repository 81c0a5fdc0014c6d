"""Containers of Kubernetes' pods that ended, as `kubectl describe pod` prints them.

Rows: `container_exit`: unit (pod/container, as far as they are printed), image, reason (OOMKilled, Error, Completed …), exit_code, started_at;
of the exit code, as systemd would say it: code (exited, killed), status (number of the exit or of the signal), and result (oom-kill) of
OOMKilled.  Its time is that of `Finished`.

A part of the output will do, from the line `State:` or `Last State:` on.

Sources: `describe.go` of kubectl 1.5 to 1.31 (`describeContainerState`), signal(7).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from email.utils import parsedate_to_datetime

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._terminal import Page, is_foreign, lines_in
from ingestion.reading import linear

PROGRAMS = ("kubectl", "oc")
KINDS = {"kubernetes_pod": "Containers of a pod that ended, as kubectl describe prints them."}

STATE = re.compile(r"^\s*(?:Last )?State:\s+(?:Running|Waiting|Terminated)\s*$", re.M)
EXIT = re.compile(r"^\s+Exit Code:\s+\d+\s*$", re.M)
ENTRY = linear.for_lines(r"(?P<indent> *)(?P<name>[A-Z][A-Za-z ]*):(?:\s+(?P<value>\S.*?))?\s*")
CONTAINER = linear.for_lines(r" {2}(?P<name>[a-z0-9][\w.-]*):\s*")
# An exit code above this is a signal, as shells and container runtimes count.
SIGNALS = 128


def kind_of(sample: str, name: str) -> str | None:
    """By the state of a container and the exit code of one."""
    if is_foreign(sample, PROGRAMS):
        return None
    text = "\n".join(lines_in(sample))
    return "kubernetes_pod" if STATE.search(text) and EXIT.search(text) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page, reader = Page(about), Reader()
    for line in lines:
        if page.passes(line):
            continue
        ended = reader.take(line)
        if ended:
            yield exit_row(page, *ended)
    for ended in reader.rest():
        yield exit_row(page, *ended)


class Reader:
    """What was printed of a pod and of its current container.  `ended`: the line and the entries of a state in which it has ended."""

    def __init__(self) -> None:
        self.pod: dict[str, str] = {}
        self.container: dict[str, str] = {}
        self.ended: tuple[Line, dict[str, str]] | None = None
        self.indent = 0

    def take(self, line: Line) -> tuple[Line, dict[str, str]] | None:
        """The exit that a line closes, if it closes one."""
        text = line.text.rstrip()
        closed = None
        entry, begun = ENTRY.fullmatch(text), CONTAINER.fullmatch(text)
        indent = len(text) - len(text.lstrip())
        if self.ended and text and indent <= self.indent:
            closed, self.ended = self.close(), None
        if begun:
            self.container = {"container": begun["name"]}
        elif entry is None:
            return closed
        elif entry["name"] in ("State", "Last State") and entry["value"] == "Terminated":
            self.ended, self.indent = (line, {}), indent
        elif self.ended:
            self.ended[1][entry["name"]] = entry["value"] or ""
        elif not indent and entry["name"] in ("Name", "Namespace"):
            self.pod[entry["name"]] = entry["value"] or ""
        elif entry["name"] == "Image" and entry["value"]:
            self.container["image"] = entry["value"]
        return closed

    def rest(self) -> Iterator[tuple[Line, dict[str, str]]]:
        """The exit that the text ends with."""
        if self.ended:
            yield self.close()

    def close(self) -> tuple[Line, dict[str, str]]:
        assert self.ended is not None
        line, entries = self.ended
        unit = "/".join(filter(None, (self.pod.get("Name"), self.container.get("container"))))
        return line, entries | {"unit": unit, "image": self.container.get("image", "")}


def exit_row(page: Page, line: Line, entries: dict[str, str]) -> Row:
    """The row of a container's exit."""
    exit_code = entries.get("Exit Code", "")
    fields: dict[str, str | None] = {"unit": entries["unit"] or None, "image": entries["image"] or None, "reason": entries.get("Reason")}
    if exit_code.isdigit():
        number = int(exit_code)
        is_signal = SIGNALS < number < SIGNALS + 64
        fields |= {
            "exit_code": exit_code,
            "code": "killed" if is_signal else "exited",
            "status": str(number - SIGNALS if is_signal else number),
        }
    fields["result"] = "oom-kill" if entries.get("Reason") == "OOMKilled" else None
    started, finished = time_of(entries.get("Started")), time_of(entries.get("Finished"))
    fields["started_at"] = started.isoformat() if started else None
    row = page.row("container_exit", line, fields)
    return replace(row, at=finished, at_known_by="content", warnings=()) if finished else row


def time_of(text: str | None) -> dt.datetime | None:
    """The time of 'Tue, 09 Jul 2024 06:12:42 +0000' in UTC; None if it is none."""
    try:
        return parsedate_to_datetime(text).astimezone(dt.UTC) if text else None
    except ValueError:
        return None
