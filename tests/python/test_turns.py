"""A model that changes the session's settings is built while nothing else is planned: no table, and no view."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

from chronicle.build.compiled import Model, Project
from chronicle.build.runner import Runner
from chronicle.build.tables import Tables
from chronicle.build.writer import Writer
from ingestion.warehouse import Warehouse

SECONDS = 20
WITH = "spark.sql.legacy.ctePrecedencePolicy"


def model(name: str, kind: str, *parents: str, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Model:
    return Model(name, "intermediate", name, kind, "", parents, (), f"{name}.sql", before=before, after=after)


MODELS = [
    model("names", "ephemeral"),
    model("roots", "table", before=(f"set {WITH} = CORRECTED",), after=(f"set {WITH} = LEGACY",)),
    model("others", "table", "names"),
]


class Session(Writer):
    """The writer for a session that only knows its settings; it notes with which of them it made what."""

    def __init__(self, folder: Path) -> None:
        place, project = Warehouse.at(str(folder)), Project({one.name: one for one in MODELS}, Path())
        spark = cast(Any, SimpleNamespace(sql=self.set, conf={}))
        super().__init__(spark, place, project, Tables(place, project), cast(Any, None), cast(Any, None))
        self.settings = {WITH: "LEGACY"}
        self.seen: list[tuple[str, str]] = []
        self.is_in_roots, self.may_end = Event(), Event()

    def set(self, statement: str) -> None:
        name, value = statement.removeprefix("set ").split(" = ")
        self.settings[name] = value

    def make_view(self, model: Model) -> None:
        self.seen.append((model.name, self.settings[WITH]))

    def write(self, model: Model, part: Any) -> None:
        self.seen.append((model.name, self.settings[WITH]))
        if model.name == "roots":
            self.is_in_roots.set()
            assert self.may_end.wait(SECONDS)


def test_neither_tables_nor_views_are_planned_with_settings_that_another_model_changed(tmp_path: Path) -> None:
    lanes = Session(tmp_path)
    runner = Runner(lanes)
    failures: list[str | None] = []

    def build(name: str) -> None:
        failures.append(runner.result(runner.project.models[name]).failure)

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
    assert lanes.seen == [("roots", "CORRECTED"), ("names", "LEGACY"), ("others", "LEGACY")]
