"""The dbt project as the SQL of its models.  dbt compiles it once; the result is cached until the project changes, and builds read that.

Reading and compiling the project takes dbt more than ten seconds of CPU, and the SQL does not depend on the data.  `template.py` has the places
for what does: the clusters of a build, the days that an incremental table replaces, the rows of other clusters, and the time from which on a
table is rebuilt.

`python -m chronicle.build.compiled` compiles ahead (`make setup`).
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import json
import re
import tempfile
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from chronicle.build import columns, needs, template
from chronicle.build.dbt_runs import BuildFailed, given, one_line, prepare, results_of
from chronicle.build.internals import EPHEMERAL, fields_of
from chronicle.build.parsed import parse, project_hash
from chronicle.build.template import Place, Template
from chronicle.build.versions import PUBLISHED
from chronicle.output.sql_text import spark_literal
from chronicle.project import PROJECT
from chronicle.spark.internals.settings import CARRIED_ALONG, WITH, WRITTEN_IN
from ingestion import cache
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

# Prefix of a view's name in the SQL of its readers: dbt's own for the CTE of an ephemeral model. In a build it is a view of the session.
VIEW = EPHEMERAL
# Types of events after which a table is rebuilt whole (`whole_for`).
WHOLE_FOR = re.compile(r"/\* whole for ([\w,]+) \*/")
# Compiled projects kept in the cache, among them those of other branches and of tests.
KEPT = 24
# Types of seeds' columns.
TYPES = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}


@dataclass(frozen=True)
class Model:
    """A model or seed.  `kind`: its materialization in dbt, or `seed`; `sql`: its query, with the places of a template (a seed has none); `parents`: names of the
    models and seeds it reads; `sources`: tables of bronze that it reads; `path`: its file; `columns`: type and description of each, in order;
    `before`, `after`: statements to run before and after its own; `known`: the column whose values a build notes; `at`: the column with the
    time of its rows; `ahead`: how long before a change in its input its own rows may change; `unit`: the unit to which `at` is truncated
    (`minute`, `hour`; None: it is a moment or a day); `carried`, `back`: a part of it reads the last of its earlier rows for each of these keys, and
    those of so long before it (empty: all of them); `needs`: what must have rows so that it can have any; `reads`: by table with known
    values, those whose rows it reads (`chronicle/build/needs.py`); `columns_read`: of a stored model, by upstream table, the columns that its
    rows depend on, directly or through views (None: all; `chronicle/build/columns.py`); `types`: of a seed's columns that are not text."""

    name: str
    schema: str
    alias: str
    kind: str
    sql: str
    parents: tuple[str, ...]
    sources: tuple[str, ...]
    path: str
    description: str = ""
    columns: dict[str, tuple[str, str]] = field(default_factory=dict)
    has_contract: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    known: str | None = None
    at: str | None = None
    ahead: dict[str, float] = field(default_factory=dict)
    unit: str | None = None
    carried: tuple[str, ...] = ()
    back: dict[str, float] = field(default_factory=dict)
    needs: needs.Need = True
    reads: needs.Reads = field(default_factory=dict)
    columns_read: dict[str, list[str] | None] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.alias}"

    @property
    def table(self) -> str:
        """Its name in SQL."""
        return f"{self.schema}.`{self.alias}`"

    @property
    def columns_in_sql(self) -> str:
        """The columns of its contract, as in `create table`."""
        return ", ".join(f"`{name}` {kind}" for name, (kind, _) in self.columns.items())

    @property
    def is_view(self) -> bool:
        return self.kind in ("view", "ephemeral")

    @property
    def is_published(self) -> bool:
        """Whether it is written aside and committed by `publish`."""
        return self.kind == "stable_table"

    @property
    def is_step(self) -> bool:
        """Whether it is a Parquet table between staging and marts, rebuilt by each build."""
        return self.kind == "table"

    @property
    def is_incremental(self) -> bool:
        """Whether builds replace only the days that new rows fall on."""
        return self.kind == "incremental"

    @cached_property
    def template(self) -> Template:
        """Its query as a template."""
        return Template.of(self.sql)

    @property
    def is_made_in_part(self) -> bool:
        """Whether a partial build may rebuild only its rows from a time on."""
        return self.at is not None and self.template.has(template.SINCE)

    @property
    def whole_for(self) -> set[str]:
        """Types of events after which all of its rows are rebuilt."""
        return {name for names in WHOLE_FOR.findall(self.sql) for name in names.split(",")}


@dataclass(frozen=True)
class Part:
    """The part of a table that is rebuilt: its rows from `since` on (None: of all times), of some `clusters` (None: of all that are built).
    `before`: a query of the rows that the previous build left, as far as a part from a time on reads them; `newest`: of an incremental table,
    the last batch in those rows."""

    since: dt.datetime | None
    before: str
    newest: int | None = None
    clusters: list[str] | None = None

    def time(self, less: str) -> str:
        """SQL of the time that is `less` before the one from which on the table is rebuilt."""
        assert self.since
        return f"timestamp'{self.since.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC' - interval {less}"

    @property
    def day(self) -> str:
        """SQL of the day of that time."""
        assert self.since
        return f"date'{self.since.astimezone(dt.UTC):%Y-%m-%d}'"


@dataclass(frozen=True)
class Project:
    """A compiled project: its models and seeds by name, each after those it reads; and the folder of its files."""

    models: dict[str, Model]
    folder: Path

    def of_kind(self, kind: str) -> list[Model]:
        """The models of a kind."""
        return [model for model in self.models.values() if model.kind == kind]

    def stored(self) -> set[str]:
        """Names of the models and seeds of which there are tables."""
        return {model.name for model in self.models.values() if not model.is_view}

    def with_views(self, names: Iterable[str]) -> set[str]:
        """Models, and the views that they read directly or through other views."""
        found: set[str] = set()
        due = list(names)
        while due:
            name = due.pop()
            found.add(name)
            due += [parent for parent in self.models[name].parents if parent not in found and self.models[parent].is_view]
        return found

    def sources(self) -> set[str]:
        """Tables of bronze that models read."""
        return {name for model in self.models.values() for name in model.sources}

    def fed(self) -> set[str]:
        """Models downstream of bronze; the others are the same in every warehouse."""
        found: set[str] = set()
        for model in self.models.values():
            if model.sources or found.intersection(model.parents):
                found.add(model.name)
        return found

    def columns_asked(self) -> dict[str, list[list[str]]]:
        """By table that stored models read, directly or through views: the sets of columns that readers use, where they do not use all."""
        found: dict[str, list[list[str]]] = {}
        for model in self.models.values():
            for name, read in model.columns_read.items():
                asked = found.setdefault(name, [])
                if name in self.models and read is not None and read not in asked and read != sorted(self.models[name].columns):
                    asked.append(read)
        return found

    def values_read(self, model: Model) -> needs.Reads:
        """By table with known values: those whose rows a model reads, directly or through views (None: all)."""
        found: needs.Reads = {}
        for name in self.with_views([model.name]):
            for table, values in self.models[name].reads.items():
                if not self.models[table].is_view:
                    before = found.get(table, [])
                    found[table] = None if before is None or values is None else [*before, *values]
        return found

    def readers_beneath(self) -> dict[str, int]:
        """By model, the length of the longest chain of models downstream of it: the longer, the more it holds up."""
        found = dict.fromkeys(self.models, 0)
        for model in reversed(self.models.values()):
            for parent in model.parents:
                found[parent] = max(found[parent], found[model.name] + 1)
        return found

    def views(self) -> list[tuple[str, str, str]]:
        """(schema, name, SQL) of each view, after those it reads: for all clusters, with the full names of other views."""
        return [(model.schema, model.alias, self.whole(model)) for model in self.models.values() if model.is_view]

    def documented_views(self) -> dict[str, tuple[str, str]]:
        """By full name, columns with their comments, as in `create table`, and description of each view that people read."""
        return {
            f"{model.schema}.{model.alias}": (
                ", ".join(f"`{name}` {kind} comment {spark_literal(said)}" for name, (kind, said) in model.columns.items()),
                model.description,
            )
            for model in self.models.values()
            if model.is_view and model.has_contract and model.schema in PUBLISHED
        }

    def whole(self, model: Model) -> str:
        """A model's query of all clusters and days, which reads views by their full names."""
        return re.sub(
            rf"{VIEW}(\w+)", lambda match: self.models[match[1]].table, query(model, None, of_all=lambda mart: self.models[mart].table)
        )


def query(
    model: Model,
    clusters: Sequence[str] | None,
    days: Sequence[str] | None = None,
    of_all: Callable[[str], str] = lambda mart: f"nowhere.{mart}",
    part: Part | None = None,
) -> str:
    """A model's query in a build of `clusters` and `days` (None: of all); `of_all`: gives the rows of all clusters of a mart, by its name;
    `part`: what is rebuilt of its table (None: all)."""
    timed = part if part and part.since else None

    def fill(place: Place) -> str:
        if place.kind == template.CLUSTERS:
            return "true" if clusters is None else of_clusters(clusters)
        if place.kind == template.DAYS:
            return "true" if days is None else f"event_date in ({', '.join(f'date{spark_literal(day)}' for day in days) or 'null'})"
        if place.kind == template.BATCHES:
            return f"batch_id > {part.newest}" if part else "true"
        if place.kind == template.SINCE:
            return f"{place.of} >= {timed.time(place.less)}" if timed else "true"
        if place.kind == template.SINCE_DAY:
            return f"{place.of} >= {timed.day}" if timed else "true"
        return of_all(place.of) if place.kind == template.ALL_CLUSTERS else f"({part.before})" if part else "nowhere"

    rows = model.template.filled(fill, in_part=bool(timed))
    # What a model has of a cluster depends on nothing of others, so Spark takes this condition to the tables that it reads.
    return rows if part is None or part.clusters is None else f"select * from ({rows}) where {of_clusters(part.clusters)}"


def of_clusters(clusters: Sequence[str]) -> str:
    """The condition that a row is of one of some clusters."""
    return f"cluster_id in ({', '.join(map(spark_literal, clusters))})"


def source_of_days(model: Model) -> str:
    """The name of the table of bronze whose new rows decide which days of an incremental model are replaced."""
    return next(place.of for place in model.template.places() if place.kind == template.DAYS).split(".")[-1]


def seed_rows(seed: Model, project: Path = PROJECT) -> pa.Table:
    """The rows of a seed's file.  Columns are text unless the seed's `column_types` say otherwise; an empty cell is null."""
    with open(project / seed.path, encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    columns = {}
    for number, name in enumerate(header):
        cells = pa.array([line[number].strip() or None for line in lines], pa.string())
        columns[name] = pc.cast(cells, TYPES[seed.types.get(name, "string")])
    return pa.table(columns)


def compiled(project: Path = PROJECT) -> Project:
    """The project as it stands, compiled now unless the cache has it.  Raises BuildFailed with dbt's message."""
    code = [Path(file).read_text("utf-8") for file in (__file__, columns.__file__, needs.__file__, template.__file__)]
    made_for = [project_hash(project), *map(metadata.version, ("dbt-core", "dbt-spark", "sqlglot")), *code]
    kept = cache.folder() / f"project-{hashlib.sha256(repr(made_for).encode()).hexdigest()[:16]}.json"
    if content := cache.read(kept):
        return Project({name: _read(model) for name, model in json.loads(content).items()}, project)
    found = compile_by_dbt(project)
    cache.keep(kept, json.dumps({name: asdict(model) for name, model in found.models.items()}), KEPT)
    return found


def compiled_ahead(project: Path = PROJECT) -> Future[Project]:
    """Compile in a thread, while Spark starts."""
    future: Future[Project] = Future()

    def work() -> None:
        try:
            future.set_result(compiled(project))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=work, name="compile", daemon=True).start()
    return future


def compile_by_dbt(project: Path) -> Project:
    """Let dbt compile all models and seeds, without a session and without asking a database."""
    prepare()
    from dbt.cli.main import dbtRunner

    with tempfile.TemporaryDirectory() as folder:
        place = Warehouse.at(folder)
        manifest = parse(place, project)
        for node in manifest.nodes.values():
            if node.config.materialized == "view":
                node.config.materialized = "ephemeral"
        # Ephemeral models are not inlined: a model reads views by their names.
        wanted = [
            "--select",
            "resource_type:model",
            "resource_type:seed",
            "--exclude",
            "resource_type:test",
            "--no-inject-ephemeral-ctes",
            "--no-introspect",
        ]
        done = dbtRunner(manifest=manifest).invoke(
            ["compile", *given(project, place.work / "target", place.work / "logs", compiled=True), *wanted]
        )
        results = results_of(done)
        if not done.success:
            broken = [f"{one_line(result.message)} ({result.node.original_file_path})" for result in results if result.status == "error"]
            raise BuildFailed(broken[0] if broken else f"dbt: {one_line(str(done.exception))}")
    models = {model.name: model for model in with_needs([set_for_recursion(Model(**fields_of(result.node))) for result in results])}
    order = TopologicalSorter({name: model.parents for name, model in models.items()})
    return with_columns(Project({name: models[name] for name in order.static_order()}, project))


def set_for_recursion(model: Model) -> Model:
    """The model; if it is recursive, with a setting of the session meanwhile, which a build sets otherwise for all others."""
    if "with recursive" not in model.sql:
        return model
    wanted, others = (f"set {WITH} = {value}" for value in (CARRIED_ALONG, WRITTEN_IN))
    return replace(model, before=(wanted, *model.before), after=(others, *model.after))


def names_in_sql(models: Collection[Model]) -> dict[str, str]:
    """The model, or table of bronze, behind each name in the text of queries."""
    names = {name: model.name for model in models for name in (VIEW + model.name, model.full_name)}
    return names | {f"bronze.{name}": f"bronze.{name}" for model in models for name in model.sources}


def with_needs(models: Sequence[Model]) -> list[Model]:
    """The models with `needs` and `reads` filled in."""
    found = needs.Needs(names_in_sql(models), {model.name: model.known for model in models if model.known})
    # SQL for a part only reads the rest of the same table.
    return [
        model
        if model.kind == "seed"
        else replace(model, needs=found.of(model.template.filled(lambda place: place.text, in_part=False)), reads=found.reads(model.sql))
        for model in models
    ]


def with_columns(project: Project) -> Project:
    """The project with `columns_read` of its stored models filled in."""
    models = project.models
    names = names_in_sql(models.values())
    held = {name: list(model.columns) for name, model in models.items() if model.has_contract and not model.is_view}
    held |= {seed.name: seed_rows(seed, project.folder).column_names for seed in project.of_kind("seed")}

    def text(model: Model) -> str:
        def named(place: Place) -> str:
            table = model if place.kind == template.AS_BEFORE else models.get(place.of) if place.kind == template.ALL_CLUSTERS else None
            return table.full_name if table else place.text

        return model.template.filled(named, in_part=True)

    reads = columns.Reads(names, held, {model.name: text(model) for model in models.values() if model.is_view})

    def read(model: Model) -> dict[str, list[str] | None]:
        found = reads.beneath(text(model))
        return {name: some if some is None else sorted(some) for name, some in found.items() if name != model.name}

    return replace(
        project,
        models={
            name: model if model.is_view or model.kind == "seed" else replace(model, columns_read=read(model))
            for name, model in models.items()
        },
    )


def _read(kept: dict[str, Any]) -> Model:
    tuples = ("parents", "sources", "before", "after", "partition_by", "carried")
    return Model(
        **{**kept, **{name: tuple(kept[name]) for name in tuples}, "columns": {name: tuple(of) for name, of in kept["columns"].items()}}
    )


if __name__ == "__main__":
    compiled()
