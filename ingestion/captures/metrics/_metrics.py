"""One name for a metric, whoever exported it: what `catalogue/metrics.yml` says of MBeans, exporters' names and labels.

`of_series(name, labels)` for names as Prometheus knows them, `of_bean(mbean, attribute)` for JMX; both give a `Metric`:
canonical name, labels under canonical keys, attribute (`Value`, `Count`, `OneMinuteRate`, `99thPercentile` …), unit and kind
(`counter`, `gauge`, `rate`, `quantile`, `info`).  What the catalogue does not know keeps its own name: that of the exporter, or
the MBean's domain, type and name.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from ingestion.captures import Sample
from ingestion.reading import linear
from ingestion.reading.catalogue_files import CATALOGUE

PATH = CATALOGUE / "metrics.yml"
NAME = r'(?:"(?:[^"\\]|\\.)*"|[^,=:"*?]*)'
OBJECT_NAME = rf'(?:"[\w.\-]+"|[\w.\-]+):(?:[^,=:"*?]+={NAME})(?:,[^,=:"*?]+={NAME})*'
"""An ObjectName: values with a comma, an equals sign or a colon are always quoted, so its end is certain."""
PROPERTY = linear.for_lines(rf'([^,=:"*?]+)=({NAME})(?:,|$)')
EXPORTED = linear.for_lines(r"(?P<domain>[\w.\-]+)<(?P<keys>.*?)><(?P<path>[^>]*)>(?P<attribute>[^:\s]+)")
KEY = re.compile(r"(?:^|, )(type|name)=([^,]*)")
NOT_WORD = re.compile(r"[^a-z0-9]")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
SECONDS_END = 1e11
"""Prometheus gives milliseconds, OpenMetrics seconds: as seconds this is the year 5138, as milliseconds 1973."""


@dataclass(frozen=True)
class Target:
    """What a spelling means.  `takes`: keys that the MBean itself has; `family`: the targets of the metric's other attributes."""

    metric: str
    attribute: str
    unit: str
    kind: str
    per: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)
    name_as: str | None = None
    text_label: str | None = None
    takes: frozenset[str] = frozenset()
    family: dict[str, Target] = field(default_factory=dict, compare=False, repr=False)


class Metric(NamedTuple):
    """A sample without its value and time.  `per`: divide the value by it; `text_label`: takes a value that is a text."""

    metric: str
    labels: dict[str, str]
    attribute: str | None = None
    unit: str | None = None
    kind: str | None = None
    node_id: int | None = None
    per: int = 1
    text_label: str | None = None

    def sample(
        self, offset: int, value: float | str | None, at: dt.datetime | None, known_by: str | None, warnings: tuple[str, ...] = ()
    ) -> Sample | None:
        """The sample of a value; None for a text that the catalogue does not know as a state."""
        labels, amount = self.labels, number(value)
        if isinstance(value, str) and amount is None and value != "NaN":
            if self.text_label is None:
                return None
            labels, amount = {**labels, self.text_label: value}, 1.0
        if amount is not None and self.per != 1:
            amount /= self.per
        return Sample(self.metric, offset, amount, labels, self.attribute, self.unit, self.kind, at, known_by, self.node_id, warnings)


class Metrics:
    """The catalogue, compiled.  `problems`: spellings that two entries claim (a test holds that there are none)."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.kinds: dict[str, dict[str, dict[str, Any]]] = content["kinds"]
        self.decoration = frozenset(content["decoration"])
        self.label_keys: dict[str, str] = {key: canonical for canonical, keys in content["labels"].items() for key in (canonical, *keys)}
        self.old_names = [(rule["types"], re.compile(rule["pattern"])) for rule in content["old_names"]]
        self.exact: dict[str, Target] = {}
        self.derived: dict[str, Target] = {}
        self.problems: list[str] = []
        for group in content["groups"].values():
            beans = group.get("beans", {"": group["bean"]} if "bean" in group else {})
            for key, entry in group["metrics"].items():
                for prefix, bean in beans.items():
                    labels = group.get("labels", [])
                    common = labels[prefix] if isinstance(labels, dict) else labels
                    self._add(f"{prefix}_{key}" if prefix else key, {"labels": common, **entry}, as_list(bean))
                if not beans:
                    self._add(key, {"labels": [], **entry}, [])

    def _add(self, metric: str, entry: dict[str, Any], beans: list[str]) -> None:
        """One entry with all its spellings."""
        family: dict[str, Target] = {}
        common: dict[str, Any] = {"text_label": entry.get("label"), "takes": frozenset(entry["labels"]), "family": family}
        for attribute, rule in self.kinds[entry["kind"]].items():
            unit = unit_of(entry, rule)
            family[attribute] = Target(metric, attribute, unit, rule["kind"], **common)
            for bean in beans:
                for spelling in spellings(bean, entry, attribute, rule["endings"]):
                    self._claim(self.derived, spelling, family[attribute])
        spelled = entry.get("spelled", [])
        for spelling in spelled:
            attribute = spelled[spelling] if isinstance(spelled, dict) else "Value"
            self._claim(self.exact, spelling, family[attribute])
        for read in entry.get("read", []):
            base = family[read.get("as", "Value")]
            target = Target(
                metric, base.attribute, base.unit, base.kind, read.get("per", 1), read.get("labels", {}), read.get("name_as"), **common
            )
            self._claim(self.derived, plain(read["of"].replace("type=", "") + read["attribute"]), target)

    def _claim(self, spellings: dict[str, Target], spelling: str, target: Target) -> None:
        known = spellings.setdefault(spelling, target)
        if (known.metric, known.attribute) != (target.metric, target.attribute):
            self.problems.append(f"{spelling}: {known.metric} {known.attribute} and {target.metric} {target.attribute}")

    def label(self, key: str) -> str:
        """The canonical key of a label."""
        return self.label_keys.get(key, key)


def unit_of(entry: dict[str, str], rule: dict[str, str]) -> str:
    """The unit of one attribute of a metric."""
    match rule.get("unit"):
        case None:
            return entry["unit"]
        case "per_second":
            return f"{entry['unit']}_per_second"
        case "counts":
            return entry["counts"]
        case "counts_per_second":
            return f"{entry['counts']}_per_second"
        case unit:
            return unit


def spellings(bean: str, entry: dict[str, Any], attribute: str, endings: list[str]) -> list[str]:
    """The names that follow from an MBean for one attribute, in their plain form."""
    stem = plain(bean.replace("type=", ""))
    out = []
    for own in as_list(entry.get("attribute")):
        out += [stem + plain(own) + ending for ending in endings]
    for name in as_list(entry.get("name")):
        out += [stem + plain(name) + ending for ending in endings]
        if bean.startswith("kafka.server:"):  # the rules of Bitnami's chart for beans without further keys
            out += [f"{stem}total{plain(name)}{plain(attribute)}"]
        # jmx_exporter without rules: domain, type and attribute make the name, the bean's name is a label.
        out.append(f"{stem}{plain(attribute)}|{plain(name)}")
        if name.endswith("PerSec") and attribute == "Count":
            out.append(stem + plain(name.removesuffix("PerSec")) + "total")
    return out


def as_list(value: object) -> list[str]:
    """A value of the catalogue that may be alone or in a list."""
    return [] if value is None else value if isinstance(value, list) else [str(value)]


def plain(text: str) -> str:
    """A name in lower case without separators: what the rules of exporters leave of an MBean."""
    return NOT_WORD.sub("", text.lower()).removeprefix("orgapache")


@lru_cache(maxsize=1)
def catalogue() -> Metrics:
    """The catalogue as shipped; read once."""
    return Metrics(yaml.load(PATH.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def exported_bean(text: str) -> str:
    """The plain spelling of an MBean and its attribute as jmx_exporter prints them: `domain<type=…, name=…><key of a composite>attribute`."""
    match = EXPORTED.search(text[:1000])
    if match is None:
        return ""
    keys = dict(KEY.findall(match["keys"]))
    path = "".join(match["path"].split(", "))
    return plain(match["domain"] + keys.get("type", "") + keys.get("name", "") + path + match["attribute"])


def of_series(name: str, labels: Mapping[str, str], bean: str = "") -> Metric:
    """A metric by its name at an exporter.  `bean`: the spelling of its MBean, where the exporter's help tells it."""
    metrics = catalogue()
    target: Target | None = None
    dropped: tuple[str, ...] = ()
    if "_objectname" in labels:  # jmx_exporter adds it to tell apart two beans that its rules give one name
        target, dropped = metrics.derived.get(exported_bean(labels["_objectname"])), ("_objectname",)
    if target is None:
        target, dropped = metrics.exact.get(name.lower()), ()
    if target is None and "name" in labels:
        target, dropped = metrics.derived.get(f"{plain(name)}|{plain(labels['name'])}"), ("name",)
    if target is None:
        target, dropped = metrics.derived.get(plain(name)), ()
    if target is None and bean:
        target = metrics.derived.get(bean)
        # A rule may have put a key of the bean into the name: without it the series could not be distinguished.
        if target is not None and not target.takes <= {metrics.label(key) for key in labels}:
            target = None
    if target is None:
        return Metric(name, canonical_labels(labels))
    kept = {key: value for key, value in labels.items() if key not in dropped}
    if target.name_as and "name" in kept:
        kept[target.name_as] = kept.pop("name")
    quantile = kept.get("quantile", "")
    if quantile.startswith("0.") and len(target.family) > 1:
        kept.pop("quantile")
        attribute = f"{quantile[2:]:0<2}thPercentile"
        target = target.family.get(attribute) or Target(target.metric, attribute, target.family.get("Max", target).unit, "quantile")
    return metric_of(target, {**kept, **target.labels}, node_of(labels, target.takes))


@lru_cache(maxsize=16384)
def of_bean(mbean: str, attribute: str) -> Metric:
    """A metric by its MBean and attribute; keys of a composite attribute follow it after a dot.  Its labels are shared: copy them."""
    metrics = catalogue()
    domain, keys = object_name(mbean)
    kind, name = keys.pop("type", ""), keys.pop("name", "")
    if domain.startswith('"'):
        domain = domain.strip('"')
        for types, pattern in metrics.old_names:
            match = pattern.fullmatch(name) if kind in types else None
            if match:
                keys |= {key: value for key, value in match.groupdict().items() if key != "name"}
                name = match["name"]
                break
        if "request" in keys:
            keys["request"] = "".join(part[:1].upper() + part[1:] for part in keys["request"].split("-"))
    target = metrics.derived.get(plain(domain + kind + name + attribute))
    if target is None:
        target = metrics.derived.get(plain(domain + kind + attribute))
        if target is not None and name and not target.name_as:
            target = None
        if target is not None and name:
            keys[target.name_as or "name"] = name
    if target is None:
        own = f"{domain}:" + ",".join(f"{key}={value}" for key, value in (("type", kind), ("name", name)) if value)
        return Metric(own, canonical_labels(keys), attribute)
    return metric_of(target, {**keys, **target.labels}, None)


def metric_of(target: Target, labels: Mapping[str, str], node_id: int | None) -> Metric:
    """A target with the labels of one sample."""
    return Metric(
        target.metric, canonical_labels(labels), target.attribute, target.unit, target.kind, node_id, target.per, target.text_label
    )


def canonical_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels under their canonical keys, values without the quotes of an ObjectName; of two keys for one thing the second keeps its own."""
    keys = catalogue().label_keys
    out: dict[str, str] = {}
    for key, value in labels.items():
        canonical = keys.get(key, key)
        out[canonical if canonical not in out else key] = unquoted(value)
    return out


def node_of(labels: Mapping[str, str], taken: frozenset[str]) -> int | None:
    """The node that a series is about, where a label plainly says so; a key of the MBean itself names another node."""
    keys = catalogue().label_keys
    for key, value in labels.items():
        canonical = keys.get(key)
        if canonical in ("broker_id", "node_id") and canonical not in taken and value.isascii() and value.isdigit():
            return int(value)
    return None


def object_name(text: str) -> tuple[str, dict[str, str]]:
    """Domain (quoted before 0.8.2) and keys of an ObjectName, values without quotes."""
    domain, _, rest = text.partition(":")
    return domain, {match[1].strip(): unquoted(match[2]) for match in PROPERTY.finditer(rest)}


def unquoted(value: str) -> str:
    """A value as it was before ObjectName.quote."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], value[1:-1])
    return value


def number(value: object) -> float | None:
    """A value as a number: true is 1, NaN (no observation yet) is None; None for a text as well."""
    if isinstance(value, str):
        match value.strip().lower():
            case "true":
                return 1.0
            case "false":
                return 0.0
            case text if "_" in text:
                return None
            case text:
                try:
                    value = float(text)
                except ValueError:
                    return None
    if not isinstance(value, int | float):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return None if amount != amount else amount


def instant(stamp: float | None) -> dt.datetime | None:
    """The time of an epoch in seconds or milliseconds; None if it is none."""
    if stamp is None:
        return None
    try:
        return EPOCH + (dt.timedelta(seconds=stamp) if abs(stamp) < SECONDS_END else dt.timedelta(milliseconds=stamp))
    except (OverflowError, ValueError):
        return None
