"""A model that changes the session's settings is built while nothing else is planned: no table, and no view."""

from __future__ import annotations

import contextlib
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chronicle.build.compiled import Model, Project
from chronicle.build.memory import Turns
from chronicle.build.runner import Runner

SECONDS = 20
INLINED = "spark.sql.legacy.inlineCTEInCommands"


def model(name: str, kind: str, *parents: str, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Model:
    return Model(name, "intermediate", name, kind, "", parents, (), f"{name}.sql", before=before, after=after)


MODELS = [
    model("names", "ephemeral"),
    model("roots", "table", before=(f"set {INLINED} = false",), after=(f"set {INLINED} = true",)),
    model("others", "table", "names"),
]


class Lanes(Runner):
    """A runner whose session only knows its settings; it notes with which of them it made what."""

    def __init__(self) -> None:
        self.project = Project({one.name: one for one in MODELS}, Path())
        self.spark = cast(Any, SimpleNamespace(sql=self.set))
        self.unchanged = self.progress = None
        self.is_profiled = False
        self._turns, self._rows, self._planned = Turns(), {}, {}
        self._code = cast(Any, SimpleNamespace(where_worth_it=lambda rows: contextlib.nullcontext()))
        self.settings = {INLINED: "true"}
        self.seen: list[tuple[str, str]] = []
        self.is_in_roots, self.may_end = Event(), Event()

    def set(self, statement: str) -> None:
        name, value = statement.removeprefix("set ").split(" = ")
        self.settings[name] = value

    def can_be_written_empty(self, model: Model) -> bool:
        return False

    def _rows_read(self, model: Model) -> int:
        return 0

    def _bring(self, model: Model) -> None:
        self.seen.append((model.name, self.settings[INLINED]))

    def _write(self, model: Model, part: Any) -> None:
        self.seen.append((model.name, self.settings[INLINED]))
        if model.name == "roots":
            self.is_in_roots.set()
            assert self.may_end.wait(SECONDS)

    def _hold_to_contract(self, model: Model) -> None:
        pass


@pytest.fixture
def lanes() -> Lanes:
    return Lanes()


def test_neither_tables_nor_views_are_planned_with_settings_that_another_model_changed(lanes: Lanes) -> None:
    failures: list[str | None] = []

    def build(name: str) -> None:
        failures.append(lanes._result(lanes.project.models[name]).failure)

    first, second = (Thread(target=build, args=(name,)) for name in ("roots", "others"))
    first.start()
    assert lanes.is_in_roots.wait(SECONDS)
    second.start()
    # The other lane has the time to do what it would.
    second.join(0.2)
    lanes.may_end.set()
    for thread in (first, second):
        thread.join(SECONDS)
    assert failures == [None, None]
    assert lanes.seen == [("roots", "false"), ("names", "true"), ("others", "true")]
