"""Which grain a time axis has: the finest that its column holds and with which the whole range of its data has room on the screen.

The warehouse is asked when the dashboards are imported, at each start; the filter above a dashboard chooses another.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import median_low
from typing import Any

from dashboards.described import GRAINS, Chart, Dashboard, Described

# Bars that half a screen has room for.
MOST = 200
# Heatmaps have texts for times, from which those are chosen that fit.
TEXTS = {"P1D": "day", "P1W": "week", "P1M": "month"}
Ask = Callable[[str], Iterable[tuple[Any, ...]]]


def fitting(seconds: float, finest: str) -> str:
    """The grain for a range of so many seconds."""
    fine_enough = [grain for grain, step in GRAINS.items() if step >= GRAINS[finest]]
    return next((grain for grain in fine_enough if seconds <= MOST * GRAINS[grain]), fine_enough[-1])


def fitted(described: Described, ask: Ask) -> Described:
    """The descriptions with a grain for each time axis that names none.  `ask` runs a query in the warehouse."""
    ranges: dict[str, float | None] = {}

    def of(chart: Chart) -> Chart:
        texts = chart.listed("x")
        if "grain" in chart.says or (chart.grain is None and len(texts) < 2):
            return chart
        query = range_of(chart)
        if query not in ranges:
            ranges[query] = seconds(ask(query))
        length = ranges[query]
        if length is None:
            return chart
        grain = fitting(length, chart.dataset.finest)
        chosen = {"grain": grain} if chart.grain else {"x": TEXTS.get(grain, texts[-1])}
        return replace(chart, says=chart.says | chosen)

    def board(one: Dashboard) -> Dashboard:
        return replace(one, rows=[[of(chart) for chart in row] for row in one.rows])

    return replace(described, dashboards=[board(one) for one in described.dashboards])


def range_of(chart: Chart) -> str:
    """The query for the first and last time of a chart, or of each part of it that people look at alone."""
    name = str(chart.x if chart.grain else chart.dataset.time)
    time = chart.dataset.columns[name].expression or name
    where = f"\nwhere ({chart.says['where'].strip()})" if "where" in chart.says else ""
    parts = f"\ngroup by {chart.dataset.within}" if chart.dataset.within else ""
    return f"select\n    cast(min({time}) as string) as first,\n    cast(max({time}) as string) as last\nfrom {chart.dataset.relation}{where}{parts}"


def seconds(rows: Iterable[tuple[Any, ...]]) -> float | None:
    """How long a range is; of several, the one in the middle.  None if there is nothing."""
    lengths = [(dt.datetime.fromisoformat(last) - dt.datetime.fromisoformat(first)).total_seconds() for first, last in rows if first]
    return median_low(lengths) if lengths else None
