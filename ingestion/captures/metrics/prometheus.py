"""Metrics as exporters show them: Prometheus' text format 0.0.4 and OpenMetrics 1.0, one scrape or several.

Samples: one per line.  Exemplars are left out.  Rows, with their keys:
- `scrape_time`: time (a line between scrapes that says when: ISO 8601, `date`, epoch, or the `Date:` of an HTTP answer).

`process_…` and `jvm_…` of an exporter that is not an agent of the broker (it shows metrics of Go, or says that it is alone) keep their
own names, because the catalogue's mean the broker.

Time: the timestamp of the sample, else the line before the scrape that says it, else the text's.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime

from ingestion.captures import UNREAD, About, Line, Row, Sample, time_of
from ingestion.captures.metrics._metrics import Metric, exported_bean, instant, number, plain
from ingestion.captures.metrics._series import LABELS, NUMBER, metric_of
from ingestion.reading import linear

KINDS = {
    "prometheus_text": "Metrics of an exporter in Prometheus' text format.",
    "openmetrics_text": "Metrics of an exporter, or of promtool tsdb dump-openmetrics, in the OpenMetrics format.",
}
OF_NODE = frozenset(KINDS)
TYPES = "counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram"
META = re.compile(
    rf"#\s+(?:HELP\s+(?P<help>\S+)\s?(?P<text>.*)|TYPE\s+(?P<type>\S+)\s+(?P<is>{TYPES})\s*|UNIT\s+(?P<unit>\S+)\s?(?P<of>.*))"
)
VALUE = re.compile(
    rf"(?P<name>[a-zA-Z_:][\w:.]*+)?+(?:\s*+(?P<labels>{LABELS})\s*+|\s++)(?P<value>{NUMBER})"
    rf"(?:\s++(?P<stamp>[+-]?[0-9.eE+]++))?+\s*+(?:#\s*+\{{.*)?"
)
BEAN = linear.for_lines(r"(?:^|\s)(?P<domain>[\w.\-]+):name=(?P<name>[^,]*),type=(?P<type>[^,]*),attribute=(?P<attribute>\S+)$")
ENDS = re.compile(r"_(?:total|bucket|count|sum|created|info|gcount|gsum)$")
ISO = re.compile(r"(20\d\d-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?")
DATE = linear.for_lines(r"[A-Z][a-z]{2},? +(?:[A-Z][a-z]{2} +\d+|\d+ [A-Z][a-z]{2}) .*\d\d:\d\d:\d\d.*")
TOLD = 500  # the end of a help text that may tell the bean
EPOCH = re.compile(r"\d{10}(?:\.\d+)?|\d{13}")


def kind_of(sample: str, name: str) -> str | None:
    """Lines of samples and their comments, nearly all; names alone would not be enough, for other tools print a name and a number too."""
    lines = [line for line in sample.lstrip("\ufeff").splitlines()[:400] if line.strip()]
    if len(sample) >= 60_000 and len(lines) > 1:
        lines.pop()
    metas = [match for line in lines if line.startswith("#") and (match := META.fullmatch(line))]
    samples = [match for line in lines if not line.startswith("#") and (match := VALUE.fullmatch(line))]
    labelled = sum(1 for match in samples if match["name"] and match["labels"])
    comments = sum(1 for line in lines if line.startswith("#"))
    if len(samples) + comments < 0.7 * len(lines) or not samples or not (metas or labelled >= min(3, len(samples))):
        return None
    is_open = any(line.rstrip() == "# EOF" for line in lines) or any(
        match["unit"] or match["is"] in ("unknown", "info", "stateset", "gaugehistogram") for match in metas
    )
    return "openmetrics_text" if is_open else "prometheus_text"


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """Samples in the order of the text."""
    scrape = Scrape(*time_of(about))
    for line in lines:
        text = line.text.strip("\ufeff\r ")
        if not text:
            continue
        if text.startswith("#"):
            if text == "# EOF":
                scrape = Scrape(*time_of(about), is_first=False)
                continue
            match = META.fullmatch(text)
            if match:
                if scrape.has(match):
                    scrape = scrape.next(about)
                scrape.learn(match)
            elif at := said_time(text.lstrip("# "), about):
                scrape = Scrape(at, "content")
                yield Row("scrape_time", line.offset, line.text, {"time": text.lstrip("# ")}, at, "content")
            continue
        match = VALUE.fullmatch(text)
        if match and (match["name"] or match["labels"]) and (sample := scrape.sample(line, match)):
            yield sample
        elif at := said_time(text, about):
            scrape = Scrape(at, "content")
            yield Row("scrape_time", line.offset, line.text, {"time": text}, at, "content")
        else:
            yield Row(UNREAD, line.offset, line.text, warnings=("no sample",))


class Scrape:
    """What one scrape says of its families, and when it was made."""

    def __init__(self, at: dt.datetime | None, known_by: str | None, warnings: tuple[str, ...] = (), is_first: bool = True) -> None:
        self.at, self.known_by = at, known_by
        several = () if is_first or known_by == "content" else ("one of several scrapes in a text that gives them no time",)
        self.warnings = (*warnings, *several)
        self.types: dict[str, str] = {}
        self.beans: dict[str, str] = {}
        self.units: dict[str, str] = {}
        self.helps: set[str] = set()
        self.is_beside = False

    def has(self, match: re.Match[str]) -> bool:
        """Whether a comment was seen already, which begins another scrape."""
        return match["help"] in self.helps or match["type"] in self.types

    def next(self, about: About) -> Scrape:
        """The scrape after this one, of which no line says the time."""
        return Scrape(*time_of(about), is_first=False)

    def learn(self, match: re.Match[str]) -> None:
        """Take what a comment says; the help of jmx_exporter ends in the MBean."""
        if match["help"]:
            self.helps.add(match["help"])
            told = match["text"][-TOLD:]
            bean = BEAN.search(told)
            if bean:
                parts = (bean["domain"], bean["type"], bean["name"] if bean["name"] != "null" else "", bean["attribute"])
                self.beans[match["help"]] = plain("".join(parts))
            else:  # before jmx_exporter 1.0
                self.beans[match["help"]] = exported_bean(told)
        elif match["type"]:
            self.types[match["type"]] = match["is"]
        else:
            self.units[match["unit"]] = match["of"]

    def sample(self, line: Line, match: re.Match[str]) -> Sample | None:
        """The sample of a line; None if its labels are torn."""
        name = match["name"] or ""
        metric = metric_of(name, match["labels"] or "", self.beans.get(name, ""))
        if metric is None:
            return None
        self.is_beside = self.is_beside or is_other_process(name, metric)
        if self.is_beside and name.startswith(("jvm_", "process_")):
            metric = Metric(name, metric.labels)
        if metric.kind is None:
            family = name if name in self.types else ENDS.sub("", name)
            metric = metric._replace(
                kind=kind_of_sample(name, self.types.get(family), metric),
                unit=None if name.endswith("_created") else self.units.get(family),
            )
        at, known_by, warnings = self.at, self.known_by, self.warnings
        if match["stamp"]:
            found = instant(number(match["stamp"]))
            at, known_by, warnings = (found, "content", ()) if found else (at, known_by, (*warnings, "the timestamp is none"))
        return metric.sample(line.offset, number(match["value"]), at, known_by, warnings)


def is_other_process(name: str, metric: Metric) -> bool:
    """Whether a sample shows that the exporter is a process of its own: then its `process_…` and `jvm_…` say nothing of the broker."""
    if name == "jmx_exporter_build_info":
        return "javaagent" not in metric.labels.get("name", "javaagent")
    return name.startswith("go_")


def kind_of_sample(name: str, family_type: str | None, metric: Metric) -> str | None:
    """The kind of a sample of a metric that the catalogue does not know."""
    match family_type:
        case "counter" | "gauge" | "info":
            return None if name.endswith("_created") else family_type
        case "histogram" | "summary":
            if name.endswith(("_bucket", "_count", "_sum")):
                return "counter"
            return "quantile" if "quantile" in metric.labels else None
        case "stateset":
            return "info"
        case _:
            return None


def said_time(text: str, about: About) -> dt.datetime | None:
    """The time that a line between scrapes says."""
    if len(text) > 100:
        return None
    if EPOCH.fullmatch(text):
        return instant(number(text))
    text = re.sub(r"^[Dd]ate: ", "", text)
    iso = ISO.search(text)
    try:
        if iso:
            zone = (iso[3] or "").replace("UTC", "Z").replace("GMT", "Z")
            found = dt.datetime.fromisoformat(f"{iso[1]}T{iso[2].replace(',', '.')}{zone}")
        elif DATE.fullmatch(text):
            words = text.replace(",", "").split()
            if not words[1].isdigit():  # date(1): Sat Nov 21 09:32:14 UTC 2026
                words = [words[0], words[2], words[1], words[-1], words[3], *words[4:-1]]
            found = parsedate_to_datetime(" ".join(words))
        else:
            return None
    except (ValueError, IndexError, TypeError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=about.zone)).astimezone(dt.UTC)
