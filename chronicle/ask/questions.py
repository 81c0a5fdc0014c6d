"""`chronicle ask`: saved questions, each a dbt analysis (`analyses/<name>.sql` with its `.yml`), answered by delta-rs without a session."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from chronicle.ask.known import KEY, incident_keys, must_know, must_know_all, whole_key
from chronicle.ask.render import render
from chronicle.ask.tables import NotBuilt, Tables
from chronicle.output.times import parse_moment
from chronicle.project import PROJECT

if TYPE_CHECKING:
    import pyarrow as pa

    from ingestion.warehouse import Warehouse

FOLDER = PROJECT / "analyses"
# The parameters of questions, and how their values are written in usage texts.
PARAMETERS = {
    "cluster": "NAME",
    "node": "ID",
    "topic": "TOPIC",
    "partition": "TOPIC-NUMBER",
    "group": "GROUP",
    "release": "VERSION",
    "key": "KEY",
    "at": "T",
    "since": "T",
    "until": "T",
}
TIMES = {"at", "since", "until"}
SHAPES = {"node": r"-?\d+", "partition": r"(?s).+-\d+", "key": KEY.pattern}


class WrongParameter(ValueError):
    """A question got a parameter that it does not take or that cannot be read, or lacks one that it needs."""


@dataclass(frozen=True)
class Question:
    """A saved question: what it asks, how its answer is read, what it can (`takes`) and must (`needs`) be given; `columns`: those that no
    table documents."""

    name: str
    asks: str
    reading: str
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    columns: dict[str, str]
    path: Path

    @property
    def title(self) -> str:
        """Its name on the command line."""
        return self.name.replace("_", "-")

    def usage(self) -> str:
        """Its name with its parameters, as they are written on a command line."""
        needed = [spoken(name) for name in self.needs]
        options = [f"[--{name} {PARAMETERS[name]}]" for name in self.takes if name not in self.needs]
        return " ".join([self.title, *needed, *options])

    def values(self, values: list[str], options: Mapping[str, str | None], now: dt.datetime, must: bool = True) -> dict[str, str]:
        """Its parameters: `values` fill those it needs, in order; options by name; `must`: all that it needs.  Raises WrongParameter."""
        given = {name: text for name, text in options.items() if text is not None}
        open_needs = [name for name in self.needs if name not in given]
        if len(values) > len(open_needs):
            raise WrongParameter(f"unexpected argument '{values[len(open_needs)]}'; usage: chronicle ask {self.usage()}")
        given |= dict(zip(open_needs, values, strict=False))
        for name in given:
            if name not in self.takes:
                raise WrongParameter(f"{self.title} has no option --{name}; usage: chronicle ask {self.usage()}")
        missing = [name for name in self.needs if name not in given]
        if missing and must:
            raise WrongParameter(f"{self.title} needs {' and '.join(map(spoken, missing))}; usage: chronicle ask {self.usage()}")
        return {name: checked(name, text, now) for name, text in given.items()}


def spoken(name: str) -> str:
    """The name of a needed value in usage texts."""
    return name.upper() if name in TIMES else PARAMETERS[name]


def checked(name: str, text: str, now: dt.datetime) -> str:
    """A value as SQL takes it, times in ISO 8601 in UTC.  Raises WrongParameter."""
    if name in TIMES:
        try:
            return parse_moment(text, now, is_end=name == "until").isoformat(timespec="microseconds")
        except ValueError as error:
            raise WrongParameter(f"--{name}: {error}") from None
    if name in SHAPES and not re.fullmatch(SHAPES[name], text):
        raise WrongParameter(f"--{name}: invalid {PARAMETERS[name]} '{text}'")
    return text


def questions(folder: Path = FOLDER) -> dict[str, Question]:
    """All saved questions by name, in order."""
    found = {}
    for path in sorted(folder.glob("*.yml")):
        for entry in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["analyses"]:
            about = entry["config"]["meta"]
            found[entry["name"]] = Question(
                entry["name"],
                about["asks"],
                " ".join(entry["description"].split()),
                (*about.get("needs", ()), *about.get("takes", ())),
                tuple(about.get("needs", ())),
                {column["name"]: column["description"] for column in entry.get("columns", ())},
                folder / f"{entry['name']}.sql",
            )
    return found


def question(name: str) -> Question:
    """The question of a name, with - or _.  Raises WrongParameter with similar names."""
    known = questions()
    if (wanted := name.replace("-", "_")) in known:
        return known[wanted]
    near = [known[match].title for match in get_close_matches(wanted, known, n=3, cutoff=0.5)]
    offered = f"did you mean {', '.join(near)}?" if near else "`chronicle ask` lists them"
    raise WrongParameter(f"unknown question '{name}'; {offered}")


def listed() -> list[str]:
    """A line for each question."""
    known = questions().values()
    width = max(len(one.title) for one in known)
    return [f"{one.title.ljust(width)}  {one.asks}" for one in known]


def shown(one: Question, given: Mapping[str, Any]) -> str:
    """The question's SQL with its parameters filled in, after comments on how its answer is read."""
    sql = render(one.path, given).sql
    about = [one.asks, one.reading, f"chronicle ask {one.usage()}", *(f"{name}: {text}" for name, text in one.columns.items())]
    return "\n".join([*(f"-- {line}" for line in about), "", *(line for line in sql.splitlines() if not line.startswith("-- sqlfluff"))])


def answer(place: Warehouse, one: Question, given: Mapping[str, Any]) -> pa.Table:
    """The answer.  Raises ValueError for a cluster that is not there, or for another name if there is no answer; NotBuilt for a table."""
    tables = Tables(place)
    if "cluster" in given:
        must_know(tables, given["cluster"])
    try:
        if "key" in given:
            given = {**given, "key": whole_key(given["key"], partial(incident_keys, tables), place.root)}
        found = tables.table(render(one.path, given).sql)
    except NotBuilt as error:
        tables.must_be_built()
        raise NotBuilt(f"{one.title} reads {error}, which is not in {place.root}; run `chronicle build`") from error
    if not found.num_rows:
        must_know_all(tables, given)
    return found
