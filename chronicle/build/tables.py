"""What a build knows of each table that models read: one record, filled in as tables are found unchanged or are made."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.build.compiled import Model, Project
from chronicle.build.needs import is_met
from chronicle.build.steps import kept_step
from ingestion.warehouse import Warehouse, rows_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

# Prefix of bronze's tables among the names of models.
BRONZE = "bronze."


@dataclass
class TableState:
    """What is known of a table of bronze, or of a model.

    is_left: it stays as the previous build left it
    is_registered: of a view, or a table that is left: the session has it
    rows: how many it has of the clusters that are built (None: not counted)
    values: the values of the column that its `known_values` names (None: not known)
    columns: as Spark has them (None: it is not made)
    changed: whether its rows differ from those of the previous build (None: not looked at)
    changed_values: of its known column, the values whose rows differ (None: it has no such column, or that is not known)
    changed_since: the time of the first row that differs (None: not known)
    changed_clusters: the clusters in which rows differ, for each value of its known column, or for an empty text (None: not known)
    unchanged_columns: sets of columns, as readers use them, in which no rows differ
    """

    is_left: bool = False
    is_registered: bool = False
    rows: int | None = None
    values: frozenset[str] | None = None
    columns: StructType | None = None
    changed: bool | None = None
    changed_values: frozenset[str] | None = None
    changed_since: dt.datetime | None = None
    changed_clusters: Mapping[str, set[str | None]] | None = None
    unchanged_columns: Sequence[list[str]] = ()

    @property
    def is_as_before(self) -> bool:
        """Whether its rows are known to be those of the previous build."""
        return self.changed is False


@dataclass
class Tables:
    """The states of a project's tables by name, those of bronze as `bronze.<name>`, and where they are while a build runs.  `count_left`: counts
    the rows of a table that is left."""

    place: Warehouse
    project: Project
    count_left: Callable[[Model], int] | None = None
    _states: dict[str, TableState] = field(default_factory=dict)
    _stored_rows: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.project.models, *(BRONZE + name for name in self.project.sources())):
            self._states[name] = TableState()

    def __getitem__(self, name: str) -> TableState:
        return self._states.setdefault(name, TableState())

    def folder(self, model: Model) -> Path:
        """Folder of the table that this build reads: a new mart is aside until it is published, a step that is left until the build ends."""
        if model.is_published and not self[model.name].is_left:
            return self.place.building / model.schema / model.alias
        if model.is_step and self[model.name].is_left:
            return kept_step(self.place, model)
        return Path(self.place.table(model.schema, model.alias))

    def count(self, model: Model, rows: int) -> None:
        """Note how many rows a table that is made has."""
        self[model.name].rows = self._stored_rows[model.name] = rows

    def rows_read(self, model: Model) -> int:
        """Rows of the tables that a model reads, directly or through views; of all clusters, as far as a table holds them."""
        readers = [self.project.models[name] for name in self.project.with_views([model.name])]
        names = {name for reader in readers for name in reader.parents if not self.project.models[name].is_view}
        return sum(map(self._stored, names | {BRONZE + name for reader in readers for name in reader.sources}))

    def _stored(self, name: str) -> int:
        if name not in self._stored_rows:
            in_bronze = name.startswith(BRONZE)
            self._stored_rows[name] = rows_of(
                self.place.bronze(name.removeprefix(BRONZE)) if in_bronze else self.folder(self.project.models[name])
            )
        return self._stored_rows[name]

    def may_have_rows(self, name: str, values: Iterable[str] | None = None) -> bool:
        """Whether a table or view may have rows in this build, with one of these values in its known column if any are given."""
        if name.startswith(BRONZE):
            return self._stored(name) > 0
        model, state = self.project.models[name], self[name]
        if model.is_view:
            return is_met(model.needs, self.may_have_rows)
        if values and state.values is not None:
            return not state.values.isdisjoint(values)
        if state.rows is None and state.is_left and self.count_left:
            state.rows = self.count_left(model)
        return state.rows != 0

    def changed_values(self) -> list[frozenset[str]]:
        """The values of known columns whose rows differ, of all tables that have such a column."""
        return [state.changed_values for state in self._states.values() if state.changed_values]
