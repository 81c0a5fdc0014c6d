"""The report's figures: plain values in, SVG for a page out.  Knows nothing of tables.

Each figure is drawn twice, wide and narrow, for letters that shrink with a picture cannot be read on a phone.  Ink, paper and
lines take the page's colours, so that they follow it into the dark and onto paper.
"""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import matplotlib
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from chronicle.output.units import count_text, size_text

Time = dt.datetime
Stretch = tuple[Time, Time]

DAY = 86_400
# Seconds between two labels of time.
TICKS = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10_800,
    21_600,
    43_200,
    *(days * DAY for days in (1, 2, 7, 14, 28, 91, 182)),
)

# Placeholders for the page's own colours; nothing else on a figure has them.
INK, PAPER, LINE = "#010203", "#fdfcfb", "#c0c1c2"
PAGE_COLOURS = {INK: "currentColor", PAPER: "var(--paper)", LINE: "var(--line)"}
# Can be told apart with any colour vision, on white and on black (Okabe and Ito).
BLUE, ORANGE, RED, GREY = "#0072b2", "#e69f00", "#d55e00", "#8b949e"
SERIES = (BLUE, ORANGE, "#009e73", "#cc79a7", "#56b4e9", RED)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "chronicle",
    # A dollar in a topic's name does not begin a formula.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    **{f"{name}.color": INK for name in ("text", "xtick", "ytick")},
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "hatch.color": GREY,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
}
WIDE_INCHES, NARROW_INCHES = 9.6, 3.45


@dataclass(frozen=True)
class Plot:
    """A figure for the page.  `caption`: what it shows, in words; `left_out`: what it does not."""

    title: str
    caption: str
    wide: str
    narrow: str
    left_out: str = ""


@dataclass
class NodeLine:
    """What happened to a node: stretches of its processes (with how they ended), of being controller, of lost sessions."""

    name: str
    runs: list[tuple[Time, Time, str]] = field(default_factory=list)
    tenures: list[Stretch] = field(default_factory=list)
    expiries: list[Stretch] = field(default_factory=list)


@dataclass(frozen=True)
class Frame:
    """The time that a figure shows, and the days in it of which there are no logs."""

    start: Time
    end: Time
    unknown: Sequence[Stretch] = ()


def plot(title: str, caption: str, paint: Callable[[Figure, bool], None], inches: tuple[float, float], left_out: str = "") -> Plot:
    """A figure, painted wide and narrow; `paint` gets whether it is narrow; `inches`: the height of each."""
    pictures = []
    name = re.sub(r"\W+", "-", title.lower())
    for is_narrow, width, height in ((False, WIDE_INCHES, inches[0]), (True, NARROW_INCHES, inches[1])):
        with matplotlib.rc_context(STYLE):
            figure = Figure(figsize=(width, height), layout="constrained")
            paint(figure, is_narrow)
            out = io.BytesIO()
            FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        pictures.append(for_page(out.getvalue().decode(), f"{name}-{'narrow' if is_narrow else 'wide'}"))
    return Plot(title, caption, pictures[0], pictures[1], left_out)


def for_page(svg: str, name: str) -> str:
    """An SVG file as a part of a page: ids of its own, the page's colours, no reference to anything outside."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(?::\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    # A hundredth of a point is finer than any screen.
    svg = re.sub(r"(\.\d\d)\d+", r"\1", svg)
    for stand_in, colour in PAGE_COLOURS.items():
        svg = svg.replace(stand_in, colour)
    return re.sub(r">\s+<", "><", svg).replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()


def numbered(plots: Sequence[Plot], prefix: str) -> list[Plot]:
    """The same figures with ids that no other cluster's figures have."""
    return [
        Plot(p.title, p.caption, *(re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg) for svg in (p.wide, p.narrow)), p.left_out)
        for p in plots
    ]


def nodes_timeline(lines: Sequence[NodeLine], frame: Frame, left_out: str = "") -> Plot:
    """Processes, controllers and lost sessions, a row for each node."""
    kinds = {
        "process running": Patch(color=GREY, alpha=0.45),
        "controller": Patch(color=BLUE),
        "session lost": Patch(color=RED),
        "unclean end": _mark("x", INK),
    }

    def paint(figure: Figure, is_narrow: bool) -> None:
        axes = figure.subplots()
        for row, line in enumerate(lines):
            axes.broken_barh([_bar(a, b, frame) for a, b, _ in line.runs], (row - 0.32, 0.64), color=GREY, alpha=0.45, linewidth=0)
            axes.broken_barh([_bar(*one, frame, least=0.003) for one in line.tenures], (row - 0.18, 0.36), color=BLUE, linewidth=0)
            axes.broken_barh([_bar(*one, frame, least=0.004) for one in line.expiries], (row + 0.2, 0.2), color=RED, linewidth=0)
            deaths = [b for _, b, kind in line.runs if kind in ("killed", "fatal")]
            axes.plot(deaths, [row] * len(deaths), "x", color=INK, markersize=6, markeredgewidth=1.6, linestyle="none")
        axes.set_yticks(range(len(lines)), [line.name for line in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        _time_axis(axes, frame, is_narrow)
        _legend(figure, kinds, frame, is_narrow)

    controllers = [line.name for line in lines if line.tenures]
    caption = (
        f"{len(lines)} rows. Controller at some time: {', '.join(controllers) or 'unknown'}. "
        f"Sessions lost: {sum(len(line.expiries) for line in lines)}. "
        f"Processes that ended without a shutdown: {sum(kind in ('killed', 'fatal') for line in lines for *_, kind in line.runs)}."
    )
    height = 0.34 * len(lines)
    return plot("Nodes, controllers and sessions", caption, paint, (height + 1.0, height + 1.4), left_out)


def leaders(lines: Sequence[tuple[str, list[Time], list[int]]], frame: Frame, left_out: str = "") -> Plot:
    """How many partitions each node led over time, a row for each node, all on one scale; the row without a node is red."""
    most = max((max(counts, default=0) for name, _, counts in lines if name != NOBODY), default=0)

    def paint(figure: Figure, is_narrow: bool) -> None:
        # One pair of axes for all rows: one for each takes seconds where there are many.
        axes = figure.subplots()
        for row, (name, times, counts) in enumerate(lines):
            top = max(1, max(counts, default=0) if name == NOBODY else most)
            axes.axhline(-row, color=LINE, linewidth=0.6, zorder=0)
            heights = [0.85 * count / top - row for count in counts]
            axes.fill_between(times, heights, -row, step="post", color=RED if name == NOBODY else BLUE, alpha=0.8, linewidth=0)
        labels = [f"{name}\nup to {count_text(max(counts, default=0))}" for name, _, counts in lines]
        axes.set_yticks([0.4 - row for row in range(len(lines))], labels)
        axes.set_ylim(-len(lines) + 0.95, 1)
        axes.tick_params(axis="y", length=0)
        _time_axis(axes, frame, is_narrow)
        _legend(figure, {}, frame, is_narrow)

    ranges = [f"{name}: {count_text(min(counts))} to {count_text(max(counts))}" for name, _, counts in lines if counts]
    caption = f"Least and most at a time: {_listed(ranges)}."
    height = 0.45 * len(lines)
    return plot("Partitions led, by node", caption, paint, (height + 0.7, height + 0.9), left_out)


NOBODY = "no leader"


def growth(lines: Sequence[tuple[str, list[Time], list[int], list[bool]]], frame: Frame, left_out: str = "") -> Plot:
    """Growth of partitions of the offsets topic since the beginning; abnormal hours are marked."""
    kinds: dict[str, Any] = {}
    sizes = [line[2] for line in lines]

    def paint(figure: Figure, is_narrow: bool) -> None:
        axes = figure.subplots()
        for number, (name, times, bytes_grown, abnormal) in enumerate(lines):
            style = {"color": SERIES[number % len(SERIES)], "linestyle": DASHES[number % len(DASHES)]}
            (kinds[name],) = axes.plot(times, bytes_grown, linewidth=1.4, **style)
            marked = [(at, size) for at, size, is_odd in zip(times, bytes_grown, abnormal, strict=True) if is_odd]
            if marked:
                axes.plot(*zip(*marked, strict=True), "o", color=style["color"], markersize=4, linestyle="none")
        if any(any(line[3]) for line in lines):
            kinds["abnormal"] = _mark("o", GREY)
        axes.yaxis.set_major_formatter(lambda value, _: size_text(int(value)))
        axes.set_yticks(size_ticks(min(map(min, sizes)), max(map(max, sizes))))
        axes.grid(axis="y", color=LINE, linewidth=0.5)
        _time_axis(axes, frame, is_narrow)
        _legend(figure, kinds, frame, is_narrow)

    ends = [f"{name}: {size_text(grown[-1])}" for name, _, grown, _ in lines if grown]
    caption = f"Growth since the beginning of the period: {'; '.join(ends)}."
    return plot("Growth of the offsets topic", caption, paint, (3.2, 3.6), left_out)


def coverage(names: Sequence[str], days: Sequence[dt.date], records: Sequence[Sequence[int]], step: int, left_out: str = "") -> Plot:
    """Log records by node and day (or stretch of `step` days); where there are none, nothing is known."""
    levels = sorted(count for row in records for count in row if count)
    usual = median(levels) if levels else 1

    shades = {
        "no logs: unknown": {"facecolor": "none", "edgecolor": GREY, "hatch": "////", "linewidth": 0.3},
        "few records": {"facecolor": BLUE, "alpha": 0.4, "linewidth": 0},
        "as usual": {"facecolor": BLUE, "alpha": 0.7, "linewidth": 0},
        "many": {"facecolor": BLUE, "alpha": 1.0, "linewidth": 0},
    }

    def shade(count: int) -> str:
        if not count:
            return "no logs: unknown"
        return "few records" if count < usual / 2 else "as usual" if count <= 2 * usual else "many"

    def paint(figure: Figure, is_narrow: bool) -> None:
        axes = figure.subplots()
        for y, row in enumerate(records):
            for kind, style in shades.items():
                boxes = [(x + 0.03, 0.94) for x, count in enumerate(row) if shade(count) == kind]
                if boxes:
                    axes.broken_barh(boxes, (y + 0.05, 0.9), **style)
        # A few days do not need boxes as wide as the page.
        width = max(len(days), 7 if is_narrow else 14)
        axes.set_xlim(0, width)
        axes.set_ylim(len(names), 0)
        axes.set_yticks([y + 0.5 for y in range(len(names))], names)
        apart = -(-width // (3 if is_narrow else 8))
        axes.set_xticks([x + 0.5 for x in range(0, len(days), apart)], [str(days[x]) for x in range(0, len(days), apart)])
        axes.tick_params(axis="both", length=0)
        kinds = {kind: Patch(**style) for kind, style in shades.items()}
        _legend(figure, kinds, Frame(Time.min, Time.max), is_narrow)

    lacking = [f"{name}: {sum(not count for count in row)}" for name, row in zip(names, records, strict=True) if not all(row)]
    unit = ("day" if len(days) == 1 else "days") if step == 1 else f"windows of {step} days"
    caption = f"{len(days)} {unit}. Without logs, and so unknown: {_listed(lacking) or 'none'}."
    height = 0.26 * len(names)
    return plot("Evidence by node and day", caption, paint, (height + 0.8, height + 1.2), left_out)


def _listed(texts: Sequence[str], most: int = 8) -> str:
    """Texts in a row, the first of them where there are many."""
    more = f"; and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def _mark(kind: str, colour: str) -> Any:
    return matplotlib.lines.Line2D([], [], marker=kind, color=colour, linestyle="none", markersize=6, markeredgewidth=1.6)


def _bar(start: Time, end: Time, frame: Frame, least: float = 0.0) -> tuple[float, float]:
    """A stretch as matplotlib's bars want it, at least that part of the frame long so that it can be seen."""
    begin, stop = dates.date2num(max(start, frame.start)), dates.date2num(min(end, frame.end))
    return begin, max(stop - begin, least * (dates.date2num(frame.end) - dates.date2num(frame.start)))


def _time_axis(axes: Axes, frame: Frame, is_narrow: bool) -> None:
    """UTC below, with few labels on narrow figures, and what is unknown hatched."""
    axes.set_xlim(frame.start, frame.end)
    ticks = time_ticks(frame.start, frame.end, 4 if is_narrow else 9)
    axes.set_xticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.set_xlabel("UTC", loc="left")
    for start, end in frame.unknown:
        axes.axvspan(start, end, facecolor="none", edgecolor=GREY, hatch="////", linewidth=0, zorder=0)


def size_ticks(least: int, most: int) -> list[int]:
    """Some four round numbers of bytes: a power of two between each and the next."""
    step = 1 << max(0, ((most - least) // 3).bit_length() - 1)
    return [number * step for number in range(least // step, most // step + 1)]


def time_ticks(start: Time, end: Time, most: int) -> list[tuple[Time, str]]:
    """At most so many round times of a stretch with their labels: the day is below the first and wherever it changes."""
    span = (end - start).total_seconds()
    step = next((step for step in TICKS if span / step <= most), -(-span // (most * DAY)) * DAY)
    first = -(-start.timestamp() // step) * step
    times = [dt.datetime.fromtimestamp(first + n * step, dt.UTC) for n in range(most + 1) if first + n * step <= end.timestamp()]
    upper, lower = ("%m-%d", "%Y") if step >= DAY else ("%H:%M" if step >= 60 else "%H:%M:%S", "%Y-%m-%d")
    labels, last_below = [], ""
    for at in times:
        below = at.strftime(lower)
        labels.append(at.strftime(upper) + (f"\n{below}" if below != last_below else ""))
        last_below = below
    return list(zip(times, labels, strict=True))


def _legend(figure: Figure, kinds: dict[str, Any], frame: Frame, is_narrow: bool) -> None:
    """What the marks mean, below the figure, in the order given."""
    if frame.unknown:
        kinds = {**kinds, "no logs: unknown": Patch(facecolor="none", edgecolor=GREY, hatch="////")}
    if kinds:
        columns = 2 if is_narrow else 5
        figure.legend(kinds.values(), kinds.keys(), loc="outside lower left", ncols=columns, handlelength=1.6, columnspacing=1.2)
