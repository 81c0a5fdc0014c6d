"""What Superset imports, compiled from the descriptions: its asset bundle (metadata.yaml, databases/, datasets/, charts/, dashboards/).

`python -m dashboards.bundle FOLDER` writes it.  Ids are UUIDs made of names, so that a second import replaces the first.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml

from dashboards import forms
from dashboards.described import Chart, Dashboard, Dataset, Described, Filter, Misdescribed, load
from dashboards.grains import fitted

DATABASE = "Kafka Chronicle"
# SQLAlchemy's address of the Thrift Server, with a password where it asks for one: hive://user:password@host:port/marts?auth=LDAP
URI_VARIABLE = "CHRONICLE_SQLALCHEMY_URI"
URI = "hive://superset@127.0.0.1:10000/marts?auth=NONE"
VERSION = "1.0.0"
COLUMNS = 12
CSS = Path(__file__).parent / "boards.css"
COLOURS = {
    "critical": "#b3123a",
    "major": "#e8743b",
    "minor": "#f2b84b",
    "info": "#8a94a6",
    "outage": "#b3123a",
    "data_loss": "#e8743b",
    "degraded": "#f2b84b",
    "leak": "#5b8ff9",
    "two at once": "#b3123a",
    "killed": "#e8743b",
    "expired": "#f2b84b",
    "still open": "#b3123a",
    "over": "#8a94a6",
}


def identity(*names: str) -> str:
    return str(uuid5(NAMESPACE_URL, "/".join(("kafka-chronicle", *names))))


def write(folder: Path, described: Described, uri: str = URI) -> None:
    """Write the bundle into a folder, which is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files(described, uri).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=200))


def files(described: Described, uri: str = URI) -> dict[str, dict[str, Any]]:
    """Path in the bundle → content, of all that the dashboards need."""
    used = {chart.dataset.name: chart.dataset for board in described.dashboards for chart in board.charts}
    used |= {one.dataset.name: one.dataset for board in described.dashboards for one in board.filters if one.dataset}
    found: dict[str, dict[str, Any]] = {
        "metadata.yaml": {"version": VERSION, "type": "assets", "timestamp": "2026-01-01T00:00:00+00:00"},
        "databases/chronicle.yaml": _database(uri),
    }
    found |= {f"datasets/chronicle/{name}.yaml": _dataset(dataset) for name, dataset in sorted(used.items())}
    for board in described.dashboards:
        found |= {f"charts/{board.name}_{_slug(chart.title)}.yaml": _chart(board, chart) for chart in board.charts}
        found[f"dashboards/{board.name}.yaml"] = _dashboard(board)
    return found


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower()).strip("_")


def _database(uri: str) -> dict[str, Any]:
    return {
        "database_name": DATABASE,
        "sqlalchemy_uri": uri,
        "expose_in_sqllab": True,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "allow_run_async": False,
        "extra": {"allows_virtual_table_explore": True, "metadata_params": {}, "engine_params": {}},
        "uuid": identity("database"),
        "version": VERSION,
    }


def _dataset(dataset: Dataset) -> dict[str, Any]:
    return {
        "table_name": dataset.name,
        "main_dttm_col": dataset.time,
        "description": dataset.description,
        "schema": dataset.schema,
        "sql": dataset.sql,
        "filter_select_enabled": True,
        "normalize_columns": False,
        "columns": [
            {
                "column_name": column.name,
                "verbose_name": column.label,
                "type": column.kind.split("<")[0].upper(),
                "is_dttm": column.is_time,
                "is_active": True,
                "groupby": True,
                "filterable": True,
                "expression": column.expression,
                "description": column.description,
            }
            for column in dataset.columns.values()
        ],
        "metrics": [
            {
                "metric_name": one.name,
                "verbose_name": one.label,
                "expression": one.shown,
                "description": one.description,
                "d3format": one.form,
            }
            for one in dataset.metrics.values()
        ],
        "uuid": identity("dataset", dataset.name),
        "version": VERSION,
        "database_uuid": identity("database"),
    }


def _chart(board: Dashboard, chart: Chart) -> dict[str, Any]:
    form = forms.form_data(chart)
    return {
        "slice_name": chart.title,
        "description": f"{chart.asks} {board.notes(chart)}".strip(),
        "viz_type": form["viz_type"],
        "params": form,
        "query_context": None,
        "uuid": identity("chart", board.name, chart.title),
        "version": VERSION,
        "dataset_uuid": identity("dataset", chart.dataset.name),
        "is_managed_externally": True,
    }


def _dashboard(board: Dashboard) -> dict[str, Any]:
    # Superset's importer gives charts their own numbers and translates these in the layout and in the filters' scopes.
    numbers = {chart.title: number for number, chart in enumerate(board.charts, 1)}
    return {
        "dashboard_title": board.title,
        "description": board.description,
        "slug": board.name.replace("_", "-"),
        "css": CSS.read_text(),
        "uuid": identity("dashboard", board.name),
        "version": VERSION,
        "published": True,
        "is_managed_externally": True,
        "position": _position(board, numbers),
        "metadata": {
            "native_filter_configuration": [_filter(board, one, numbers) for one in board.filters],
            "cross_filters_enabled": True,
            "color_scheme": "supersetColors",
            "label_colors": COLOURS,
            "refresh_frequency": 0,
            "timed_refresh_immune_slices": [],
            "expanded_slices": {},
        },
    }


def _position(board: Dashboard, numbers: dict[str, int]) -> dict[str, Any]:
    """Superset's layout: rows of charts on a grid of twelve columns, heights in units of eight pixels."""
    about = {
        "id": "MARKDOWN-about",
        "type": "MARKDOWN",
        "children": [],
        "parents": ["ROOT_ID", "GRID_ID", "ROW-about"],
        "meta": {"code": board.about, "width": COLUMNS, "height": 12 if "\n\n" in board.about else 8},
    }
    grid = ["ROW-about"]
    position: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "HEADER_ID": {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": board.title}},
        "ROOT_ID": {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]},
        "GRID_ID": {"id": "GRID_ID", "type": "GRID", "children": grid, "parents": ["ROOT_ID"]},
        "ROW-about": _row("ROW-about", ["MARKDOWN-about"]),
        "MARKDOWN-about": about,
    }
    for number, charts in enumerate(board.rows, 1):
        row = f"ROW-{number}"
        grid.append(row)
        names = [f"CHART-{numbers[chart.title]}" for chart in charts]
        position[row] = _row(row, names)
        height = max(chart.says.get("height", forms.HEIGHTS[chart.kind]) for chart in charts)
        for name, chart, width in zip(names, charts, widths(charts), strict=True):
            meta = {
                "chartId": numbers[chart.title],
                "uuid": identity("chart", board.name, chart.title),
                "sliceName": chart.title,
                "width": width,
                "height": height,
            }
            position[name] = {"id": name, "type": "CHART", "children": [], "parents": ["ROOT_ID", "GRID_ID", row], "meta": meta}
    return position


def _row(name: str, children: list[str]) -> dict[str, Any]:
    return {
        "id": name,
        "type": "ROW",
        "children": children,
        "parents": ["ROOT_ID", "GRID_ID"],
        "meta": {"background": "BACKGROUND_TRANSPARENT"},
    }


def widths(charts: list[Chart]) -> list[int]:
    """Columns of each chart of a row: as written, and what is left shared evenly, more to the first."""
    open_ones = [chart for chart in charts if "width" not in chart.says]
    left = COLUMNS - sum(chart.says.get("width", 0) for chart in charts)
    if left < len(open_ones):
        raise Misdescribed(f"the row of {charts[0].title} is wider than {COLUMNS} columns")
    share, more = divmod(left, len(open_ones)) if open_ones else (0, 0)
    given = iter([share + (number < more) for number in range(len(open_ones))])
    return [chart.says.get("width") or next(given) for chart in charts]


def _filter(board: Dashboard, one: Filter, numbers: dict[str, int]) -> dict[str, Any]:
    kinds = {"choice": "filter_select", "time": "filter_time", "grain": "filter_timegrain"}
    reached = {chart.title for chart in board.charts if one.reaches(chart)}
    if not reached:
        raise Misdescribed(f"{board.name}: the filter {one.name} reaches no chart")
    above = [other.name for other in board.filters if other.name == one.under]
    target: dict[str, Any] = {}
    if one.dataset:
        target = {"datasetUuid": identity("dataset", one.dataset.name), "column": {"name": one.column}}
    elif one.kind == "grain":
        timed = next(chart for chart in board.charts if chart.title in reached)
        target = {"datasetUuid": identity("dataset", timed.dataset.name)}
    values = {"enableEmptyFilter": False, "defaultToFirstItem": one.is_first_chosen, "multiSelect": not one.is_first_chosen}
    return {
        "id": f"NATIVE_FILTER-{one.name}",
        "type": "NATIVE_FILTER",
        "filterType": kinds[one.kind],
        "name": one.title,
        "description": one.description,
        "targets": [target],
        "defaultDataMask": {"extraFormData": {}, "filterState": {}, "ownState": {}},
        "controlValues": values | {"searchAllOptions": True, "inverseSelection": False, "sortAscending": not one.is_first_chosen}
        if one.kind == "choice"
        else {"enableEmptyFilter": False},
        # Without it the first choice is shown, and charts are not filtered by it.
        "requiredFirst": one.is_first_chosen,
        "cascadeParentIds": [f"NATIVE_FILTER-{name}" for name in above],
        "scope": {"rootPath": ["ROOT_ID"], "excluded": [number for title, number in numbers.items() if title not in reached]},
    }


def fitted_to(uri: str, described: Described) -> Described:
    """The descriptions with the grains that fit the warehouse; as they are if it cannot be asked."""
    from sqlalchemy.exc import SQLAlchemyError
    from thrift.transport.TTransport import TTransportException

    try:
        with closing(connect(uri)) as cursor:
            return fitted(described, lambda query: rows(cursor, query))
    except (OSError, TTransportException, SQLAlchemyError) as error:
        print(
            f"dashboards: the server cannot be asked how long its history is ({type(error).__name__}): time axes show days", file=sys.stderr
        )
        return described


def connect(uri: str) -> Any:
    """A cursor on the Thrift Server that Superset asks."""
    from sqlalchemy import create_engine

    return create_engine(uri).raw_connection().cursor()


def rows(cursor: Any, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    return list(cursor.fetchall())


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python -m dashboards.bundle FOLDER", file=sys.stderr)
        return 2
    uri = os.environ.get(URI_VARIABLE) or URI
    try:
        write(Path(sys.argv[1]), fitted_to(uri, load()), uri)
    except (Misdescribed, yaml.YAMLError) as error:
        print(f"dashboards: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"bundle": sys.argv[1]}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
