"""How Superset draws each kind of chart: the form data of its chart types, written once."""

from __future__ import annotations

import json
from typing import Any

from dashboards.described import COUNT, Chart

HEIGHTS = {"number": 22, "bars": 45, "ranking": 50, "heatmap": 50, "spans": 55, "table": 50}
# Counts beside an axis, whose steps may be parts of one.
AXIS = {COUNT: ",.2~f"}
TIME = "%Y-%m-%d %H:%M:%S"
DAY = "%Y-%m-%d"
# Times beside an axis, by its grain; the others are days.
TIMES = {"PT1S": "%m-%d %H:%M:%S", "PT1M": "%m-%d %H:%M", "PT1H": "%m-%d %H:%M", "P1M": "%Y-%m", "P3M": "%Y-%m", "P1Y": "%Y"}


def form_data(chart: Chart) -> dict[str, Any]:
    """The form data of a chart, as Superset's explore page would save it."""
    common = {"adhoc_filters": _filters(chart), "extra_form_data": {}, "color_scheme": "supersetColors"}
    if chart.limit:
        common["row_limit"] = chart.limit
    return common | {
        "number": _number,
        "bars": _bars,
        "ranking": _ranking,
        "heatmap": _heatmap,
        "spans": _spans,
        "table": _table,
    }[chart.kind](chart)


def _filters(chart: Chart) -> list[dict[str, Any]]:
    """The chart's own condition, and a range of time that the dashboard's filter replaces."""
    found: list[dict[str, Any]] = []
    if "where" in chart.says:
        found.append(
            {"clause": "WHERE", "expressionType": "SQL", "sqlExpression": chart.says["where"].strip(), "filterOptionName": "where"}
        )
    if chart.dataset.time:
        whole = {"operator": "TEMPORAL_RANGE", "subject": chart.dataset.time, "comparator": "No filter", "filterOptionName": "time"}
        found.append({"clause": "WHERE", "expressionType": "SIMPLE", **whole})
    return found


def _number(chart: Chart) -> dict[str, Any]:
    return {
        "viz_type": "big_number_total",
        "metric": chart.metrics[0].name,
        "y_axis_format": chart.metrics[0].form,
        "header_font_size": 0.6,
        "subtitle": chart.empty_if,
        "subtitle_font_size": 0.2,
    }


def _bars(chart: Chart) -> dict[str, Any]:
    return {
        "viz_type": "echarts_timeseries_bar",
        "x_axis": chart.x,
        "time_grain_sqla": chart.grain,
        "metrics": [metric.name for metric in chart.metrics],
        "groupby": chart.listed("by"),
        "order_desc": True,
        "stack": "Stack" if chart.says.get("stacked", True) else None,
        "y_axis_format": AXIS.get(chart.metrics[0].form, chart.metrics[0].form),
        # Superset's smart dates write nothing below an hour, and of a day only which of the week and month it is.
        "x_axis_time_format": TIMES.get(chart.grain, DAY) if chart.grain else None,
        "show_legend": True,
        "legendType": "scroll",
        "legendOrientation": "top",
        "rich_tooltip": True,
        "tooltipTimeFormat": TIME,
        "truncate_metric": True,
        "minorTicks": False,
        "zoomable": False,
    }


def _ranking(chart: Chart) -> dict[str, Any]:
    return {
        "viz_type": "echarts_timeseries_bar",
        "orientation": "horizontal",
        "x_axis": chart.listed("by")[0],
        "xAxisForceCategorical": True,
        # Split in series, Superset orders by name whatever it is told.
        "x_axis_sort": chart.metrics[0].name,
        "x_axis_sort_asc": True,
        "metrics": [metric.name for metric in chart.metrics],
        "groupby": chart.listed("split"),
        "order_desc": True,
        "stack": "Stack" if "split" in chart.says else None,
        "y_axis_format": AXIS.get(chart.metrics[0].form, chart.metrics[0].form),
        "show_legend": "split" in chart.says,
        "legendType": "scroll",
        "legendOrientation": "top",
        "rich_tooltip": True,
        "truncate_metric": True,
        "show_value": False,
    }


def _heatmap(chart: Chart) -> dict[str, Any]:
    return {
        "viz_type": "heatmap_v2",
        "x_axis": chart.x,
        "groupby": chart.says["y"],
        "metric": chart.metrics[0].name,
        "linear_color_scheme": "superset_seq_1",
        "normalize_across": "heatmap",
        "sort_x_axis": "alpha_asc",
        "sort_y_axis": "alpha_asc",
        "legend_type": "continuous",
        "show_legend": True,
        "show_values": False,
        "show_percentage": False,
        "normalized": False,
        "y_axis_format": chart.metrics[0].form,
        "left_margin": 30,
        "bottom_margin": 30,
        # Every label, but of days and weeks as many as there is room for.
        "xscale_interval": -1 if chart.x in ("day", "week", "month") else 1,
        "yscale_interval": 1,
    }


def _spans(chart: Chart) -> dict[str, Any]:
    return {
        "viz_type": "gantt_chart",
        "start_time": chart.says["start"],
        "end_time": chart.says["end"],
        "y_axis": chart.says["y"],
        "series": chart.says["series"],
        "subcategories": False,
        "y_axis_title": " ",
        "y_axis_title_position": "Left",
        # Room for the names, which Superset clips.
        "y_axis_title_margin": chart.says.get("margin", 220),
        "tooltip_columns": chart.listed("tooltip"),
        "tooltip_metrics": [],
        "order_by_cols": _order(chart),
        "show_legend": True,
        "legendType": "scroll",
        "legendOrientation": "top",
        "x_axis_time_format": "smart_date",
        "tooltipTimeFormat": TIME,
        "tooltipValuesFormat": "SMART_NUMBER",
        "zoomable": True,
    }


def _table(chart: Chart) -> dict[str, Any]:
    metrics = [metric.name for metric in chart.metrics]
    shown = [*chart.listed("columns"), *chart.listed("by"), *metrics]
    return {
        "viz_type": "table",
        "query_mode": "aggregate" if metrics else "raw",
        "all_columns": chart.listed("columns"),
        "groupby": chart.listed("by"),
        "metrics": metrics,
        "order_by_cols": _order(chart),
        "order_desc": True,
        "server_pagination": False,
        "include_search": True,
        "show_cell_bars": False,
        "page_length": 50,
        "table_timestamp_format": TIME,
        # Names are texts: Superset would make links, and whatever its filter lets through, of what looks like HTML.
        "allow_render_html": False,
        "column_config": {name: config for name in shown if (config := _column(chart, name))},
    }


def _column(chart: Chart, name: str) -> dict[str, Any]:
    """How a table shows a column: numbers with their unit, ids and epochs without a thousand's comma."""
    column = chart.dataset.columns.get(name)
    if column is None or column.kind in ("bigint", "double"):
        form = chart.dataset.form(name)
        return {"d3NumberFormat": form, "d3SmallNumberFormat": form}
    if column.kind == "int":
        form = "d" if name.endswith(("_id", "_epoch")) else COUNT
        return {"d3NumberFormat": form, "d3SmallNumberFormat": form}
    if column.kind == "date":
        return {"d3TimeFormat": DAY}
    return {}


def _order(chart: Chart) -> list[str]:
    return [json.dumps([name, ascends]) for name, ascends in chart.order]
