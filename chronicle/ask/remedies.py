"""What to do about incidents: the entries of remedies.yml whose conditions hold by the facts.

An entry is said only where all its conditions hold and every value in its text is known; a text that names several rules or issues is said once
for each.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from chronicle.ask.tables import NotBuilt, Row, Tables
from chronicle.output.units import duration_text, time_text
from ingestion.sources.said import READ
from ingestion.sql_text import literal

# What is said first: a change, then what to look at, then what evidence would tell more.
ORDER = {"change": "Change", "check": "Check", "add": "Add evidence"}
PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
UNKNOWN = "unknown"
# So many texts stand together where several incidents are told at once.
MOST = 4
# An issue is that of an incident if its records are at most so much older.
BEFORE = dt.timedelta(minutes=1)

# Of a cluster; the values are those of $cluster.  What is suspect decides nothing.
FINDINGS = """
select findings.rule_id, findings.node_id, findings.owner, findings.settings, findings.remedy, rules.consequence
from marts.fct_config_findings as findings
left join marts.dim_config_rules as rules on findings.rule_id = rules.rule_id
where findings.cluster_id = {cluster}
order by findings.rule_id, findings.node_id, findings.owner"""
EXPOSURES = """
select exposures.issue_id, exposures.node_id, exposures.exposure, exposures.kafka_version, exposures.fixed_in, exposures.first_seen_at,
    exposures.last_seen_at, issues.title, issues.component
from marts.fct_issue_exposures as exposures
inner join marts.dim_known_issues as issues on exposures.issue_id = issues.issue_id
where exposures.cluster_id = {cluster} and not exposures.is_suspect
order by exposures.issue_id, exposures.node_id, exposures.run_number"""
SETTINGS = """
select node_id, setting, setting_value, valid_from, valid_to from marts.dim_node_settings
where cluster_id = {cluster} and setting in ({names}) and not is_hidden
order by setting, node_id, valid_from"""
# A log of the process may hold its collections as well.
READ_FILES = """
select node_id, source_kind, source_path from marts.fct_sources where cluster_id = {cluster} and outcome in ({read}) and source_kind is not null"""
PAUSES = (
    "select distinct node_id, 'gc_log' as source_kind, process_name as source_path from marts.fct_gc_pauses where cluster_id = {cluster}"
)
LIVES = "select cluster_incarnation, cluster_mode, kafka_version from marts.dim_clusters where cluster_id = {cluster}"
EVENTS = """
select incident_key, event_kind, fact_name, fact_key from marts.fct_incident_events
where cluster_id = {cluster} and incident_key in ({keys}) and role <> 'recovery'"""
# A replica that comes back cuts what the replica that was not in sync does not have: its first truncation from the election on.
LOSSES = """
with elections as (
    select topic_name, partition_id, leader_id, elected_at from marts.fct_leader_elections
    where cluster_id = {cluster} and is_unclean and leader_id >= 0
),
cut as (
    select
        elections.topic_name, elections.partition_id, elections.elected_at, truncations.node_id, truncations.records_truncated as records,
        row_number() over (
            partition by elections.topic_name, elections.partition_id, truncations.node_id, truncations.truncated_at order by elections.elected_at desc
        ) as last_election,
        row_number() over (
            partition by elections.topic_name, elections.partition_id, elections.elected_at, truncations.node_id order by truncations.truncated_at
        ) as nth
    from elections
    inner join marts.fct_truncations as truncations
        on elections.topic_name = truncations.topic_name and elections.partition_id = truncations.partition_id
    where truncations.cluster_id = {cluster} and truncations.truncated_at >= elections.elected_at and truncations.node_id <> elections.leader_id
)
select elections.*, cut.node_id, cut.records
from elections
left join cut
    on elections.topic_name = cut.topic_name and elections.partition_id = cut.partition_id and elections.elected_at = cut.elected_at
    and cut.nth = 1 and cut.last_election = 1
order by elections.elected_at, elections.topic_name, elections.partition_id, cut.node_id"""


@dataclass(frozen=True)
class Remedy:
    """What to do, in a sentence or two; `do`: a key of ORDER; `entry`: its place in remedies.yml, the same for like advice on several incidents."""

    do: str
    text: str
    entry: int

    @property
    def title(self) -> str:
        return ORDER[self.do]


@dataclass(frozen=True)
class Loss:
    """A partition whose leader was elected out of sync; `records`: the most that one replica cut because of it, None if no record says."""

    partition: str
    topic: str
    leader: int
    elected_at: dt.datetime
    records: int | None
    cut_by: tuple[int, ...]


@dataclass
class Known:
    """What the conditions ask of a cluster; `files`: (node, kind, path) of what was read."""

    findings: list[Row] = field(default_factory=list)
    exposures: list[Row] = field(default_factory=list)
    settings: list[Row] = field(default_factory=list)
    files: list[Row] = field(default_factory=list)
    lives: dict[int, Row] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)


@dataclass
class Case:
    """An incident with the kinds of its events and the row that is its root cause, as far as they are known."""

    incident: Row
    events: frozenset[str]
    root: Row
    known: Known

    @property
    def node(self) -> int | None:
        """The node where it began, if it began at one."""
        nodes = self.incident["nodes"] or []
        node: int | None = self.root.get("node_id", nodes[0] if len(nodes) == 1 else None)
        return node

    @property
    def losses(self) -> list[Loss]:
        """The losses of its unclean elections."""
        end = self.incident["ended_at"]
        nodes = self.incident["nodes"] or []
        return [
            loss
            for loss in (self.known.losses if "unclean_election" in self.events else [])
            if loss.leader in nodes and self.incident["started_at"] <= loss.elected_at and (end is None or loss.elected_at <= end)
        ]

    def named(self, nodes: Sequence[int]) -> str:
        """'node 2', 'nodes 1 and 3'; those without a number by their names."""
        others = [self.known.names[node] for node in dict.fromkeys(nodes) if node in self.known.names]
        numbers = [str(node) for node in sorted(set(nodes)) if node not in self.known.names]
        return listed([*([f"node{'s' if len(numbers) > 1 else ''} {listed(numbers)}"] if numbers else []), *others])

    @property
    def life(self) -> Row:
        """The cluster's mode and release at the time; empty if they are not known."""
        number = self.incident.get("cluster_incarnation")
        return {} if number is None else self.known.lives.get(number, {})

    @property
    def began(self) -> str:
        """The node or process where it began, else all nodes that it affects; empty if none is known."""
        process = self.root.get("process_name") or self.root.get("owner")
        return self.named([self.node]) if self.node is not None else str(process or self.named(self.incident["nodes"] or []))

    def values(self) -> dict[str, str | None]:
        """What every text may name: columns of the root cause's row, and what is known of the incident."""
        return {
            **{name: shown(name, value) for name, value in self.root.items()},
            "node": self.began or None,
            "nodes": self.named(self.incident["nodes"] or []) or None,
            "groups": listed(self.incident.get("groups") or []) or None,
            "at": time_text(self.incident["started_at"].replace(microsecond=0)),
            "duration": shown("duration_ms", self.root.get("duration_ms")),
        }


def listed(names: Sequence[str], most: int = 5) -> str:
    """'a, b and c'; the first of many."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def shown(name: str, value: Any) -> str | None:
    """A value in a text: durations as people read them, whole numbers without a fraction."""
    if value is None:
        return None
    if name.endswith("_ms") and isinstance(value, int | float):
        return duration_text(value)
    return f"{value:.0f}" if isinstance(value, float) and value == int(value) else str(value)


Values = dict[str, str | None]


def root(case: Case, kinds: Any) -> list[Values]:
    return _if(case.incident["root_cause_kind"] in many(kinds))


def event(case: Case, kinds: Any) -> list[Values]:
    return _if(not case.events.isdisjoint(many(kinds)))


def fact(case: Case, columns: dict[str, Any]) -> list[Values]:
    return _if(all(name in case.root and matches(case.root[name], wanted) for name, wanted in columns.items()))


def setting(case: Case, asked: dict[str, Any]) -> list[Values]:
    """Of the nodes that state it at the beginning of the incident; `unknown` if none does."""
    start = case.incident["started_at"]
    held = [
        row
        for row in case.known.settings
        if row["setting"] == asked["name"] and row["valid_from"] <= start and (row["valid_to"] is None or start < row["valid_to"])
    ]
    limits = {name: limit for name, limit in asked.items() if name != "name"}
    if limits.get("is") == UNKNOWN:
        return _if(not held)
    wanted = limits.get("is", {name: case.root.get(limit, limit) for name, limit in limits.items()})
    those = [row for row in held if matches(row["setting_value"], wanted)]
    if not those or ("is" in limits and len(those) < len(held)):
        return []
    nodes = [row["node_id"] for row in those if row["node_id"] is not None]
    values = list(dict.fromkeys(row["setting_value"] for row in those))
    return [{"value": listed(values), "on": case.named(nodes)}]


def rule(case: Case, rules: Any) -> list[Values]:
    """Once for each rule that is broken by a node of the incident, by a topic, or by a client."""
    return [broken(case, rows) for one in many(rules) if (rows := findings(case, one))]


def no_rule(case: Case, rules: Any) -> list[Values]:
    return _if(not any(findings(case, one) for one in many(rules)))


def issue(case: Case, issues: Any) -> list[Values]:
    """Once for each issue that a release of the incident's nodes has."""
    nodes = case.incident["nodes"] or []
    return exposed(case, [row for row in case.known.exposures if row["node_id"] in nodes and row["issue_id"] in many(issues)])


def seen(case: Case, components: Any) -> list[Values]:
    """Once for each issue that records show at the time of the incident, of the node where it began if that is known."""
    nodes = (case.incident["nodes"] or []) if case.node is None else [case.node]
    those = [row for row in case.known.exposures if row["node_id"] in nodes and row["component"] in many(components)]
    return exposed(case, [row for row in those if is_seen(case, row)])


def exposed(case: Case, rows: Sequence[Row]) -> list[Values]:
    """The values of each issue of some rows."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["issue_id"]].append(row)
    return [
        {
            "issue": name,
            "title": those[0]["title"],
            "release": listed(sorted({row["kafka_version"] for row in those if row["kafka_version"]})) or None,
            "fixed": f"fixed in {listed(those[0]['fixed_in'])}" if those[0]["fixed_in"] else "and no release that fixes it is known",
            "on": case.named([row["node_id"] for row in those]),
        }
        for name, those in found.items()
    ]


def lacks(case: Case, kinds: Any) -> list[Values]:
    return _if(not has(case, kinds))


def has(case: Case, kinds: Any) -> list[Values]:
    """Of the process where it began; where that is unknown, of the whole cluster."""
    keeper = "zookeeper" in str(case.root.get("process_name") or "").lower()
    return _if(
        any(
            row["source_kind"] in many(kinds)
            and (case.node is None or row["node_id"] == case.node)
            and (not keeper or "zookeeper" in str(row["source_path"]).lower())
            for row in case.known.files
        )
    )


def mode(case: Case, name: str) -> list[Values]:
    return _if(case.life.get("cluster_mode") == name)


def since(case: Case, release: str) -> list[Values]:
    running = case.life.get("kafka_version")
    return _if(running is not None and number(running) >= number(release))


def until(case: Case, release: str) -> list[Values]:
    running = case.life.get("kafka_version")
    return _if(running is not None and number(running) < number(release))


def is_open(case: Case, wanted: bool) -> list[Values]:
    return _if((case.incident["ended_at"] is None) == wanted)


def loss(case: Case, wanted: str) -> list[Values]:
    """any; known: how many records; unknown: no record says how many."""
    those = [one for one in case.losses if wanted == "any" or (one.records is None) == (wanted == UNKNOWN)]
    if not those:
        return []
    records = sum(one.records or 0 for one in those)
    return [
        {
            "partitions": listed(sorted({one.partition for one in those})),
            "topics": listed(sorted({one.topic for one in those})),
            "elected_at": time_text(min(one.elected_at for one in those)),
            "records": f"{records:,} record{'' if records == 1 else 's'}" if records else None,
            "cut_by": case.named([node for one in those for node in one.cut_by]) or None,
        }
    ]


CONDITIONS: dict[str, Callable[[Case, Any], list[Values]]] = {
    "root": root, "event": event, "fact": fact, "setting": setting, "rule": rule, "no_rule": no_rule, "issue": issue, "seen": seen, "lacks": lacks, "has": has,
    "mode": mode, "since": since, "until": until, "open": is_open, "loss": loss,
}  # fmt: skip


def many(one: Any) -> list[Any]:
    return one if isinstance(one, list) else [one]


def matches(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one, or one of them, or within limits; what is unknown is in no limits."""
    if isinstance(wanted, dict):
        found = re.fullmatch(r"-?\d+(?:\.\d+)?", str(value))
        below, least = wanted.get("below", float("inf")), wanted.get("from", float("-inf"))
        is_known = found is not None and isinstance(below, int | float) and isinstance(least, int | float)
        return is_known and least <= float(value) < below
    return value in many(wanted)


def number(release: str) -> tuple[int, ...]:
    """A release for comparisons; 0.8.2 is before 0.11."""
    return tuple(int(part) for part in re.findall(r"\d+", release)[:4])


def is_seen(case: Case, row: Row) -> bool:
    """Whether records of the incident's time show an issue."""
    if row["exposure"] != "evidence_seen" or row["first_seen_at"] is None:
        return False
    end = case.incident["ended_at"]
    return row["last_seen_at"] >= case.incident["started_at"] - BEFORE and (end is None or row["first_seen_at"] <= end)


def findings(case: Case, name: str) -> list[Row]:
    """How a rule is broken on nodes of the incident; what is no node's is a topic's or a client's."""
    nodes = case.incident["nodes"] or []
    return [row for row in case.known.findings if row["rule_id"] == name and (row["node_id"] is None or row["node_id"] in nodes)]


def broken(case: Case, rows: Sequence[Row]) -> Values:
    """The values of a broken rule: each setting, of what was measured the most, and who has them."""
    held: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for name, value in row["settings"] or []:
            held[name].append(str(value))
    values: Values = {name: listed(list(dict.fromkeys(those))) for name, those in held.items()}
    for name, those in held.items():
        measured = [int(found[1]) for one in those if name.startswith("@") and (found := re.match(r"(\d+)", one))]
        if measured:
            values[name] = shown(name, max(measured))
    nodes = [row["node_id"] for row in rows if row["node_id"] is not None]
    owners = list(dict.fromkeys(row["owner"] for row in rows if row["node_id"] is None))
    said = ", ".join(f"{name.removeprefix('@').replace('_', ' ') if name.startswith('@') else name} = {values[name]}" for name in held)
    return {
        **values,
        "settings": said,
        "remedy": rows[0]["remedy"],
        "consequence": rows[0]["consequence"],
        "on": listed([*([case.named(nodes)] if nodes else []), *owners]),
    }


def _if(holds: bool) -> list[Values]:
    """No further values: once if a condition holds."""
    return [{}] if holds else []


@cache
def entries() -> tuple[dict[str, Any], ...]:
    """The entries of remedies.yml."""
    return tuple(content()["remedies"])


def without() -> dict[str, str]:
    """Root causes that have no text, and why."""
    return dict(content()["without"])


@cache
def content() -> dict[str, Any]:
    return dict(yaml.load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"), yaml.CSafeLoader))


def remedies(case: Case) -> list[Remedy]:
    """What to do about an incident, each text once, changes first."""
    said = [Remedy(entry["do"], text, place) for place, entry in enumerate(entries()) for text in texts(case, entry)]
    order = list(ORDER)
    return sorted(dict.fromkeys(said), key=lambda one: order.index(one.do))


def first_of(given: Iterable[Remedy]) -> list[Remedy]:
    """What to do about several incidents, the gravest first: like advice once, changes first."""
    made: dict[int, Remedy] = {}
    for one in given:
        made.setdefault(one.entry, one)
    order = list(ORDER)
    return sorted(made.values(), key=lambda one: order.index(one.do))[:MOST]


def texts(case: Case, entry: dict[str, Any]) -> Iterator[str]:
    """The text of an entry, once for each set of values with which its conditions hold."""
    held = [CONDITIONS[name](case, asked) for name, asked in entry.items() if name in CONDITIONS]
    for values in product(*held):
        known = case.values()
        for one in values:
            known |= one
        if all(known.get(name) is not None for name in PLACEHOLDER.findall(entry["text"])):
            yield filled(entry["text"], known)


def filled(text: str, known: Values) -> str:
    """A text with its values.  The name of a node may begin a sentence; that of a setting is as it is."""
    said = PLACEHOLDER.sub(lambda found: str(known[found[1]]), text)
    return said[0].upper() + said[1:] if text.startswith("{node") else said


def known_of(tables: Tables, cluster: str, names: dict[int, str], losses: list[Loss]) -> Known:
    """What the conditions ask of a cluster; what is not built is not known.  `losses`: those of `losses_in`."""
    settings = sorted({entry["setting"]["name"] for entry in entries() if "setting" in entry})
    asked = {"cluster": literal(cluster), "names": ", ".join(map(literal, settings)), "read": ", ".join(map(literal, READ))}

    def rows(query: str) -> list[Row]:
        try:
            return tables.rows(query.format(**asked))
        except NotBuilt:
            return []

    return Known(
        rows(FINDINGS),
        rows(EXPOSURES),
        rows(SETTINGS),
        rows(READ_FILES) + rows(PAUSES),
        {row["cluster_incarnation"]: row for row in rows(LIVES)},
        losses,
        names,
    )


def losses_in(tables: Tables, cluster: str) -> list[Loss]:
    """The unclean elections of a cluster, with what replicas cut because of them; none if elections or truncations are not built."""
    try:
        return losses_of(tables.rows(LOSSES.format(cluster=literal(cluster))))
    except NotBuilt:
        return []


def losses_of(rows: Sequence[Row]) -> list[Loss]:
    """One for each unclean election, from a row for each replica that cut its log."""
    found: dict[tuple[str, int, dt.datetime], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["topic_name"], row["partition_id"], row["elected_at"]].append(row)
    made = []
    for (topic, partition, at), those in found.items():
        counts = [row["records"] for row in those if row["records"] is not None]
        cut_by = tuple(row["node_id"] for row in those if row["records"])
        made.append(Loss(f"{topic}-{partition}", topic, those[0]["leader_id"], at, max(counts, default=None), cut_by))
    return made


def cases_of(tables: Tables, cluster: str, incidents: Sequence[Row], known: Known) -> dict[str, Case]:
    """The incidents of a cluster as cases, by their keys."""
    keys = ", ".join(literal(row["incident_key"]) for row in incidents)
    try:
        events = tables.rows(EVENTS.format(cluster=literal(cluster), keys=keys)) if incidents else []
    except NotBuilt:
        events = []
    kinds: dict[str, set[str]] = defaultdict(set)
    facts: dict[str, str] = {}
    for row in events:
        kinds[row["incident_key"]].add(row["event_kind"])
        facts[row["fact_key"]] = row["fact_name"]
    roots = root_rows(tables, {row["root_cause_key"]: facts[row["root_cause_key"]] for row in incidents if row["root_cause_key"] in facts})
    return {
        row["incident_key"]: Case(row, frozenset(kinds[row["incident_key"]]), roots.get(row["root_cause_key"], {}), known)
        for row in incidents
    }


def root_rows(tables: Tables, facts: dict[str, str]) -> dict[str, Row]:
    """The rows of the facts that are root causes, by their keys; the key of a fact is its first column."""
    found: dict[str, Row] = {}
    for name in sorted(set(facts.values())):
        keys = ", ".join(literal(key) for key, of in facts.items() if of == name)
        try:
            key = tables.table(f"select * from marts.{name} limit 0").column_names[0]
            found |= {row[key]: row for row in tables.rows(f"select * from marts.{name} where {key} in ({keys})")}
        except NotBuilt:
            continue
    return found
