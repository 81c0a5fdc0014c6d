"""The query of each chart, as Superset sends it when nothing is filtered: `queries()` needs no Superset.

    from dashboards.queries import queries
    for dashboard, chart, sql in queries(): ...

`python -m dashboards.queries` prints them all.  `make superset-look` compares what each returns with what Superset shows.
"""

from __future__ import annotations

from dashboards.described import Chart, load

UNITS = {"PT1S": "second", "PT1M": "minute", "PT1H": "hour", "P1D": "day", "P1W": "week", "P1M": "month", "P3M": "quarter", "P1Y": "year"}


def queries() -> list[tuple[str, str, str]]:
    """(dashboard, chart, SQL) of every chart, in the order of the screen; names of dashboards are those of files in `boards`."""
    return [(dashboard.name, chart.title, sql_of(chart)) for dashboard in load().dashboards for chart in dashboard.charts]


def sql_of(chart: Chart, *, is_limited: bool = True, is_rounded: bool = True) -> str:
    """The SQL of a chart; `is_limited=False` leaves out the limit on rows, so that engines can be compared where rows tie, and
    `is_rounded=False` the rounding of metrics, so that they can be added up."""
    selected, grouped = _columns(chart, is_rounded)
    lines = ["select\n    " + ",\n    ".join(selected), f"from {chart.dataset.relation}"]
    if "where" in chart.says:
        lines.append(f"where ({chart.says['where'].strip()})")
    if grouped:
        lines.append(f"group by {', '.join(grouped)}")
    order = chart.order or ([(chart.metrics[0].name, False)] if grouped and chart.metrics else [])
    if order:
        lines.append("order by " + ", ".join(f"{name} {'asc' if ascends else 'desc'}" for name, ascends in order))
    if chart.limit and is_limited:
        lines.append(f"limit {chart.limit}")
    return "\n".join(lines)


def _columns(chart: Chart, is_rounded: bool) -> tuple[list[str], list[str]]:
    """What is selected, and what is grouped by: nothing where rows are shown as they are."""
    metrics = [f"{metric.shown if is_rounded else metric.sql} as {metric.name}" for metric in chart.metrics]
    if chart.kind == "spans":
        names = dict.fromkeys(name for key in ("start", "end", "y", "series", "tooltip") for name in chart.listed(key))
        return [_expression(chart, name) for name in names], [chart.dataset.columns[name].expression or name for name in names]
    if chart.kind == "table" and not metrics:
        return [_expression(chart, name) for name in chart.listed("columns")], []
    names = list(dict.fromkeys([*([chart.x] if chart.x else []), *chart.listed("y"), *chart.listed("by"), *chart.listed("split")]))
    by = {name: _by(chart, name) for name in names}
    return [f"{sql} as {name}" if sql != name else name for name, sql in by.items()] + metrics, list(by.values())


def _by(chart: Chart, name: str) -> str:
    sql = chart.dataset.columns[name].expression or name
    return f"date_trunc('{UNITS[chart.grain]}', {sql})" if name == chart.x and chart.grain else sql


def _expression(chart: Chart, name: str) -> str:
    expression = chart.dataset.columns[name].expression
    return f"{expression} as {name}" if expression else name


if __name__ == "__main__":
    for dashboard, title, sql in queries():
        print(f"-- {dashboard}: {title}\n{sql};\n")
