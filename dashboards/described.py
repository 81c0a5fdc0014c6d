"""The descriptions of dashboards: datasets.yml, filters.yml and one file for each dashboard in `boards`, joined with what dbt says of the columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dashboards.metrics import LOADER
from dashboards.metrics import metrics as defined

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parent

# How a number is read, by the end of its column's name: formats of Superset (d3, and its own for durations and bytes).
DURATION = "DURATION"
FORMATS = {"_ms": DURATION, "_bytes": "MEMORY_BINARY", "_ratio": ".3%"}
COUNT = ",d"
# Superset shows all units of a duration that are not nought (12d 3h 4m 5.6s); rounded to these steps it shows what the reports say
# (chronicle.output.units): up to so many milliseconds, the step.  Beyond the last, hours.
ROUNDED_TO = ((1000, 1), (59_950, 100), (3_599_500, 1000), (172_770_000, 60_000))
# Of times on an axis, finest first, with about how many seconds each has.  As Superset's own list for Spark has them.
GRAINS = {"PT1S": 1, "PT1M": 60, "PT1H": 3600, "P1D": 86_400, "P1W": 604_800, "P1M": 2_629_800, "P3M": 7_889_400, "P1Y": 31_557_600}
# What each kind of chart must and may say, beside the keys in COMMON: title, question, dataset, kind; a condition; rows at most; place on the
# screen; what it means if nothing is shown (`nothing`); why it is empty on the test data; filters that it is to be spared.
KINDS = {
    "number": ({"metric"}, set()),
    "bars": ({"metrics"}, {"by", "x", "grain", "stacked"}),
    "ranking": ({"by", "metrics"}, {"split"}),
    "heatmap": ({"x", "y", "metric"}, set()),
    "spans": ({"start", "end", "y", "series"}, {"tooltip", "order", "margin"}),
    "table": (set(), {"columns", "by", "metrics", "order"}),
}
COMMON = {"title", "asks", "of", "as", "where", "limit", "width", "height", "nothing", "empty", "unfiltered"}
# What a dataset may say; the head of datasets.yml explains it.
DATASET = {"from", "sql", "description", "columns", "computed", "time", "finest", "within", "nothing"}
DATASET |= {"metrics", "sum", "max", "distinct", "count", "labels"}
LIMITS = {"table": 200, "spans": 30, "ranking": 20}


class Misdescribed(ValueError):
    """A description cannot be used; one line that names the file, the place and what to write instead."""


@dataclass(frozen=True)
class Column:
    """A column of a dataset: `kind` is the type as dbt's contract gives it, `expression` is set where the dataset computes it, or rounds it."""

    name: str
    kind: str
    description: str
    expression: str | None = None

    @property
    def label(self) -> str:
        return label_of(self.name)

    @property
    def is_time(self) -> bool:
        return self.kind in ("timestamp", "date")


@dataclass(frozen=True)
class Metric:
    name: str
    sql: str
    label: str
    form: str
    description: str

    @property
    def shown(self) -> str:
        """The SQL of what Superset shows: durations are rounded."""
        return rounded(self.sql) if self.form == DURATION else self.sql


@dataclass(frozen=True)
class Dataset:
    """A table of `marts` or `reports`, or (`sql`) a query over such.  `finest`: the finest grain of its times; `within`: the column by which
    people look at parts of it, so that the grain fits such a part."""

    name: str
    schema: str
    description: str
    columns: dict[str, Column]
    metrics: dict[str, Metric]
    time: str | None
    finest: str
    within: str | None
    nothing: str | None
    sql: str | None

    @property
    def relation(self) -> str:
        return f"(\n{self.sql.strip()}\n) as virtual_table" if self.sql else f"{self.schema}.{self.name}"

    def form(self, name: str) -> str:
        """The format of a metric or column."""
        return self.metrics[name].form if name in self.metrics else form_of(name)


@dataclass(frozen=True)
class Chart:
    """One chart: what it asks, of which dataset, and `says`: the keys of its kind as written."""

    title: str
    asks: str
    dataset: Dataset
    kind: str
    says: dict[str, Any]

    def listed(self, key: str) -> list[str]:
        found = self.says.get(key, [])
        return [found] if isinstance(found, str) else list(found)

    @property
    def nothing(self) -> str | None:
        """What it means if nothing is shown.  A number says so only where it says it itself: most are counts, and always something."""
        return self.says.get("nothing", None if self.kind == "number" else self.dataset.nothing)

    @property
    def empty_if(self) -> str:
        return f"Empty if {self.nothing}." if self.nothing else ""

    @property
    def limit(self) -> int | None:
        return None if self.kind == "number" else self.says.get("limit", LIMITS.get(self.kind, 10_000))

    @property
    def x(self) -> str | None:
        """The column of the x axis.  Of several (days, weeks, months as texts), the last, if nobody chose another (dashboards.grains)."""
        return self.listed("x")[-1] if "x" in self.says else self.dataset.time if self.kind == "bars" else None

    @property
    def grain(self) -> str | None:
        """The grain of the x axis as an ISO 8601 duration; None where x is not a time.  Days, if nobody chose another (dashboards.grains)."""
        column = self.dataset.columns.get(self.x or "")
        if column is None or not column.is_time:
            return None
        return self.says.get("grain") or max("P1D", self.dataset.finest, key=GRAINS.__getitem__)

    @property
    def metrics(self) -> list[Metric]:
        return [self.dataset.metrics[name] for name in self.listed("metric") + self.listed("metrics")]

    @property
    def order(self) -> list[tuple[str, bool]]:
        """Columns or metrics to order by, each with whether it ascends: `-name` descends."""
        return [(name.lstrip("-"), not name.startswith("-")) for name in self.listed("order")]


@dataclass(frozen=True)
class Filter:
    """A filter above a dashboard: a column of a dataset to choose from, or time, or the grain of times."""

    name: str
    kind: str
    title: str
    description: str
    dataset: Dataset | None = None
    column: str | None = None
    under: str | None = None
    is_first_chosen: bool = False

    def reaches(self, chart: Chart) -> bool:
        """Whether a chart is filtered: its dataset has the column, or a time, and it does not say otherwise."""
        if self.name in chart.listed("unfiltered"):
            return False
        if self.kind == "time":
            return chart.dataset.time is not None
        if self.kind == "grain":
            return chart.grain is not None
        return self.column in chart.dataset.columns


@dataclass(frozen=True)
class Dashboard:
    name: str
    title: str
    description: str
    filters: list[Filter]
    rows: list[list[Chart]]

    @property
    def charts(self) -> list[Chart]:
        return [chart for row in self.rows for chart in row]

    def notes(self, chart: Chart) -> str:
        """What a reader has to know who looks at the chart alone: when it is empty, and which filters of the dashboard leave it as it is."""
        spared = [one.title for one in self.filters if one.kind != "grain" and not one.reaches(chart)]
        return " ".join(part for part in (chart.empty_if, f"Not filtered by {' or '.join(spared)}." if spared else "") if part)

    @property
    def about(self) -> str:
        """What stands above the charts: what the dashboard is for, and which charts a filter leaves as they are."""
        spared = {
            one.title: [chart.title for chart in self.charts if not one.reaches(chart)] for one in self.filters if one.kind != "grain"
        }
        notes = [f"Not filtered by {name}: {', '.join(charts)}." for name, charts in spared.items() if charts]
        return "\n\n".join([self.description.strip(), *([" ".join(notes)] if notes else [])])


@dataclass(frozen=True)
class Described:
    datasets: dict[str, Dataset]
    dashboards: list[Dashboard] = field(default_factory=list)


def form_of(name: str) -> str:
    """The format of a quantity by its name: its unit ends it, or begins it (`bytes_growth`)."""
    if name.startswith("bytes"):
        return FORMATS["_bytes"]
    return next((form for end, form in FORMATS.items() if name.endswith(end)), COUNT)


def rounded(sql: str) -> str:
    """A duration in milliseconds, rounded as the reports round it."""
    exact = f"cast({sql} as double)"
    steps = " ".join(f"when abs({exact}) < {below} then {step}" for below, step in ROUNDED_TO)
    step = f"case {steps} else 3600000 end"
    return f"round({exact} / {step}) * {step}"


def label_of(name: str) -> str:
    """A column's name as people read it: units, which the format shows, and `id` left off."""
    words = re.sub(r"_(ms|bytes|ratio|at|id)$", "", name.removeprefix("is_")).split("_")
    words = [{"isr": "ISR", "gc": "GC", "cpu": "CPU", "id": "ID"}.get(word, word) for word in words]
    return " ".join([words[0] if words[0].isupper() else words[0].capitalize(), *words[1:]])


def load() -> Described:
    """All descriptions.  Raises Misdescribed."""
    models = dbt_models()
    datasets = {name: _dataset(name, said or {}, models) for name, said in _yaml(FOLDER / "datasets.yml").items()}
    filters = {name: _filter(name, said, datasets) for name, said in _yaml(FOLDER / "filters.yml").items()}
    return Described(datasets, [_dashboard(path, datasets, filters) for path in sorted((FOLDER / "boards").glob("*.yml"))])


@cache
def dbt_models() -> dict[str, tuple[str, str, dict[str, Column]]]:
    """Schema, description and columns of every mart and report, from the files beside the models."""
    docs: dict[str, str] = {}
    for path in sorted((PROJECT / "models").rglob("*.md")):
        docs |= dict(re.findall(r"{%\s*docs (\w+)\s*%}(.*?){%\s*enddocs\s*%}", path.read_text(), re.DOTALL))
    models = {}
    for schema, names in {"marts": "dim_* fct_*", "reports": "rpt_*"}.items():
        for path in sorted(path for name in names.split() for path in (PROJECT / "models").rglob(f"{name}.yml")):
            for model in _yaml(path).get("models", []):
                columns = {
                    column["name"]: Column(column["name"], column["data_type"], _resolved(column["description"], docs))
                    for column in model["columns"]
                }
                models[model["name"]] = (schema, _resolved(model["description"], docs), columns)
    return models


def _resolved(text: str, docs: dict[str, str]) -> str:
    return re.sub(r"{{\s*doc\(['\"](\w+)['\"]\)\s*}}", lambda found: docs[found[1]].strip(), text)


def _yaml(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=LOADER)


def _dataset(name: str, said: dict[str, Any], models: dict[str, Any]) -> Dataset:
    place = f"dashboards/datasets.yml: {name}"
    _known(said, DATASET, place)
    based_on = said.get("from", name)
    if based_on not in models:
        raise Misdescribed(f"{place}: there is no dbt model {based_on}; a query of its own names the one it is about under `from`")
    schema, description, columns = models[based_on]
    query = said.get("sql")
    if "columns" in said:
        if unknown := [column for column in said["columns"] if column not in columns]:
            raise Misdescribed(f"{place}: `columns` names {', '.join(unknown)}; {based_on} has {', '.join(columns)}")
        columns = {column: columns[column] for column in said["columns"]}
    for column, more in said.get("computed", {}).items():
        columns = {**columns, column: Column(column, more["type"], more["description"], None if "sql" in said else more["sql"])}
    columns = {column: _shown(one) for column, one in columns.items()}
    for key in ("time", "within"):
        if said.get(key, next(iter(columns))) not in columns:
            raise Misdescribed(f"{place}: `{key}` names {said[key]}, which is not a column of {name}")
    about = said.get("description", description)
    metrics = _metrics(said, place, based_on, columns, description)
    finest = said.get("finest", _finest(columns.get(said.get("time", ""))))
    if finest not in GRAINS:
        raise Misdescribed(f"{place}: `finest` is {finest}; write one of {', '.join(GRAINS)}")
    return Dataset(name, schema, about, columns, metrics, said.get("time"), finest, said.get("within"), said.get("nothing"), query)


def _metrics(said: dict[str, Any], place: str, based_on: str, columns: dict[str, Column], description: str) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    if "count" in said:
        metrics["rows"] = Metric("rows", "count(*)", said["count"], COUNT, f"Number of rows. {description}")
    for verb, template in (("sum", "sum({})"), ("max", "max({})"), ("distinct", "count(distinct {})")):
        for column in said.get(verb, []):
            if column not in columns:
                raise Misdescribed(f"{place}: {verb} of {column}, which is not a column of {based_on}")
            form = COUNT if verb == "distinct" else form_of(column)
            label = said.get("labels", {}).get(column, label_of(column)) + {"sum": "", "max": ", largest", "distinct": "s"}[verb]
            metrics[f"{column}_{verb}"] = Metric(f"{column}_{verb}", template.format(column), label, form, columns[column].description)
    for metric, more in said.get("metrics", {}).items():
        if "metric" in more:
            one = defined()[more["metric"]]
            if one.table != based_on:
                raise Misdescribed(f"{place}: the metric {one.name} is of {one.table}")
            metrics[metric] = Metric(metric, str(one.sql), one.label, form_of(metric), one.description)
            continue
        metrics[metric] = Metric(metric, more["sql"], more.get("label", label_of(metric)), form_of(metric), more["description"])
    return metrics


def _shown(column: Column) -> Column:
    """A column as Superset shows it: durations are rounded."""
    if column.kind not in ("bigint", "int", "double") or form_of(column.name) != DURATION:
        return column
    return replace(column, expression=rounded(column.expression or column.name))


def _finest(time: Column | None) -> str:
    return "P1D" if time and time.kind == "date" else "PT1S"


def _filter(name: str, said: dict[str, Any], datasets: dict[str, Dataset]) -> Filter:
    dataset = datasets[said["of"]] if "of" in said else None
    return Filter(
        name, said["kind"], said["title"], said["description"], dataset, said.get("column"), said.get("under"), said.get("first", False)
    )


def _dashboard(path: Path, datasets: dict[str, Dataset], filters: dict[str, Filter]) -> Dashboard:
    said = _yaml(path)
    place = f"dashboards/boards/{path.name}"
    _known(said, {"title", "description", "filters", "rows"}, place)
    for name in said["filters"]:
        if name not in filters:
            raise Misdescribed(f"{place}: there is no filter {name}; dashboards/filters.yml has {', '.join(filters)}")
    rows = [[_chart(chart, datasets, place) for chart in row] for row in said["rows"]]
    return Dashboard(re.sub(r"^\d+_", "", path.stem), said["title"], said["description"], [filters[name] for name in said["filters"]], rows)


def _chart(said: dict[str, Any], datasets: dict[str, Dataset], place: str) -> Chart:
    place = f"{place}: {said.get('title', said)}"
    if said.get("as") not in KINDS:
        raise Misdescribed(f"{place}: `as` is {said.get('as')}; write one of {', '.join(KINDS)}")
    must, may = KINDS[said["as"]]
    _known(said, COMMON | must | may, place)
    for key in ({"title", "asks", "of"} | must) - said.keys():
        raise Misdescribed(f"{place}: `{key}` is missing")
    if said["of"] not in datasets:
        raise Misdescribed(f"{place}: there is no dataset {said['of']} in dashboards/datasets.yml; add it there")
    if "grain" in said and said["grain"] not in GRAINS:
        raise Misdescribed(f"{place}: `grain` is {said['grain']}; write one of {', '.join(GRAINS)}")
    if re.fullmatch(r"\w+", said.get("where", "").strip()):
        raise Misdescribed(f"{place}: Spark takes `where ({said['where']})` for a name of the table; write `{said['where']} = true`")
    chart = Chart(said["title"], said["asks"], datasets[said["of"]], said["as"], said)
    _check_names(chart, place)
    if chart.kind == "heatmap" and any(chart.dataset.columns[name].is_time for name in chart.listed("x")):
        raise Misdescribed(f"{place}: x is a time, by which Superset cannot order a heatmap on Spark; compute a text of it")
    return chart


def _check_names(chart: Chart, place: str) -> None:
    """Every name that a chart uses is a column, or a metric, of its dataset."""
    columns, metrics = chart.dataset.columns, chart.dataset.metrics
    for key in ("by", "split", "x", "y", "start", "end", "series", "tooltip", "columns"):
        for name in chart.listed(key):
            if name not in columns:
                raise Misdescribed(f"{place}: `{key}` names {name}, which is not a column of {chart.dataset.name}")
    for key in ("metric", "metrics"):
        for name in chart.listed(key):
            if name not in metrics:
                raise Misdescribed(f"{place}: `{key}` names {name}; {chart.dataset.name} has {', '.join(metrics) or 'no metrics'}")
    for name, _ in chart.order:
        if name not in columns and name not in metrics:
            raise Misdescribed(f"{place}: `order` names {name}, which {chart.dataset.name} does not have")


def _known(said: dict[str, Any], keys: set[str], place: str) -> None:
    for key in said.keys() - keys:
        raise Misdescribed(f"{place}: unknown key `{key}`; known are {', '.join(sorted(keys))}")
