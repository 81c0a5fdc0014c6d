"""The report page from marts made by hand: its content, its escapes, and what it leaves out."""

from __future__ import annotations

import datetime as dt
import re
from html.parser import HTMLParser
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake

from chronicle.ask import remedies
from chronicle.ask.remedies import Case, Known
from chronicle.ask.tables import Period, Tables
from chronicle.cli import main
from chronicle.output.sql_text import moment
from chronicle.output.times import parse_time
from chronicle.output.units import duration_text, size_text
from chronicle.report import figures, plots, queries, report
from chronicle.report.queries import SPANS
from ingestion.warehouse import Warehouse

TIME = pa.timestamp("us", tz="UTC")
EVIDENCE = pa.list_(pa.struct([("node_id", pa.int32()), ("source_path", pa.string()), ("byte_offset", pa.int64())]))
COMMON = {"cluster_id": pa.string(), "cluster_incarnation": pa.int32()}
FACT = {**COMMON, "evidence": EVIDENCE, "evidence_count": pa.int64(), "warnings": pa.list_(pa.string())}
SCHEMAS = {
    "marts/dim_clusters": {
        **COMMON, "kafka_version": pa.string(), "cluster_mode": pa.string(), "nodes": pa.list_(pa.int32()),
        "valid_to": TIME, "first_seen_at": TIME, "last_seen_at": TIME,
    },
    "marts/dim_nodes": {"cluster_id": pa.string(), "node_id": pa.int32(), "node_name": pa.string()},
    "marts/fct_parse_coverage_daily": {"cluster_id": pa.string(), "node_id": pa.int32(), "records": pa.int64(), "event_date": pa.date32()},
    "marts/fct_incidents": {
        **FACT, "incident_key": pa.string(), "started_at": TIME, "ended_at": TIME, "root_cause_kind": pa.string(), "root_cause_key": pa.string(),
        "summary": pa.string(), "severity": pa.string(), "nodes": pa.list_(pa.int32()), "partitions_affected": pa.int64(),
        "leaderless_ms": pa.int64(), "groups_affected": pa.int64(), "groups": pa.list_(pa.string()), "is_maintenance": pa.bool_(),
    },
    "marts/fct_incident_events": {
        **FACT, "incident_event_key": pa.string(), "incident_key": pa.string(), "sequence": pa.int32(), "happened_at": TIME,
        "event_kind": pa.string(), "fact_name": pa.string(), "fact_key": pa.string(), "role": pa.string(), "sentence": pa.string(),
    },
    "marts/fct_leaderless_windows": {
        **FACT, "topic_name": pa.string(), "partition_id": pa.int32(), "started_at": TIME, "ended_at": TIME,
        "is_open": pa.bool_(), "observed_until": TIME, "duration_ms": pa.int64(),
    },
    "marts/fct_leader_elections": {
        **FACT, "topic_name": pa.string(), "partition_id": pa.int32(), "leader_id": pa.int32(), "elected_at": TIME, "held_until": TIME,
        "is_unclean": pa.bool_(),
    },
    "marts/fct_truncations": {
        **FACT, "topic_name": pa.string(), "partition_id": pa.int32(), "node_id": pa.int32(), "truncated_at": TIME, "records_truncated": pa.int64(),
        "leader_epoch": pa.int32(), "to_offset": pa.int64(),
    },
    "marts/dim_node_runs": {
        "node_run_key": pa.string(), "cluster_id": pa.string(), "node_id": pa.int32(), "end_kind": pa.string(), "failure_kind": pa.string(),
    },
    "marts/fct_offsets_topic_growth_hourly": {
        **FACT, "node_id": pa.int32(), "partition_id": pa.int32(), "hour_at": TIME, "bytes_at_end": pa.int64(), "bytes_growth": pa.int64(),
        "measure_kind": pa.string(), "cleaner_runs": pa.int32(), "failed_tombstones": pa.int64(), "hours_since_clean": pa.int32(),
        "is_abnormal": pa.bool_(),
    },
    "reports/rpt_cluster_daily": {
        "cluster_id": pa.string(), "event_date": pa.date32(), "evidence_state": pa.string(), "availability_ratio": pa.float64(),
        **dict.fromkeys(
            (
                "nodes_with_records", "partitions", "leaderless_ms", "under_replicated_ms", "incidents", "elections_leader_lost", "elections_unclean",
                "controller_changes", "expiries_gc_pause", "expiries_process_stall", "expiries_process_death", "expiries_network",
                "expiries_unknown", "stale_epoch_ms", "records_truncated",
            ),
            pa.int64(),
        ),
    },
    "bronze/log_records": {
        "cluster_id": pa.string(), "source_path": pa.string(), "byte_offset": pa.int64(), "node_id": pa.int32(), "logged_at": TIME,
        "event_date": pa.date32(), "raw_text": pa.string(),
    },
}  # fmt: skip
HOSTILE = "[2026-06-10 15:48:30,006] WARN <script>alert('x')</script> & \x1b[31mred http://evil.example/a.js (kafka.Log)"


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def make(root: Path, tables: dict[str, list[dict[str, Any]]]) -> Warehouse:
    """A warehouse with these rows; columns that a row does not name are null."""
    for name, rows in tables.items():
        schema = pa.schema(list(SCHEMAS[name].items()))
        write_deltalake(root / name, pa.Table.from_pylist(rows, schema=schema))
    return Warehouse.at(str(root))


def cluster(name: str = "orders", **more: Any) -> dict[str, Any]:
    return {
        "cluster_id": name, "cluster_incarnation": 1, "kafka_version": "2.8.2", "cluster_mode": "zookeeper", "nodes": [1, 2],
        "first_seen_at": at("2026-06-10 08:00"), "last_seen_at": at("2026-06-12 20:00"), **more,
    }  # fmt: skip


def incident(key: str, started: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster_id": "orders", "incident_key": key, "started_at": at(started), "ended_at": at(started) + dt.timedelta(seconds=90),
        "root_cause_kind": "process_death", "summary": f"Summary of {key}", "severity": "critical", "nodes": [1], "partitions_affected": 3,
        "leaderless_ms": 252_000, "groups_affected": 0, "groups": [], "is_maintenance": False, **more,
    }  # fmt: skip


def event(key: str, sequence: int, happened: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster_id": "orders", "incident_event_key": f"{key}-{sequence}", "incident_key": key, "sequence": sequence, "happened_at": at(happened),
        "fact_name": "fct_session_expiries", "fact_key": "f" * 32, "role": "cause", "sentence": f"Sentence {sequence} of {key}.", "evidence_count": 1, **more,
    }  # fmt: skip


def lines_at(*offsets: int) -> dict[str, Any]:
    return {
        "evidence": [{"node_id": 1, "source_path": "/logs/1/server.log", "byte_offset": offset} for offset in offsets],
        "evidence_count": len(offsets),
    }


def record(offset: int, text: str, name: str = "orders", day: str = "2026-06-10") -> dict[str, Any]:
    return {
        "cluster_id": name, "source_path": "/logs/1/server.log", "byte_offset": offset, "node_id": 1,
        "event_date": dt.date.fromisoformat(day), "raw_text": text,
    }  # fmt: skip


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A cluster with an incident of two events, a maintenance, and logs of one of three days."""
    return make(
        tmp_path,
        {
            "marts/dim_clusters": [cluster()],
            "marts/dim_nodes": [{"cluster_id": "orders", "node_id": node, "node_name": f"node {node}"} for node in (1, 2)],
            "marts/fct_parse_coverage_daily": [
                {"cluster_id": "orders", "node_id": node, "records": 40, "event_date": dt.date(2026, 6, 10)} for node in (1, 2)
            ],
            "marts/fct_incidents": [
                incident("death", "2026-06-10 15:48:30.006"),
                incident("upkeep", "2026-06-11 02:00", is_maintenance=True, summary="Rolling restart of 2 nodes"),
            ],
            "marts/fct_incident_events": [
                event("death", 2, "2026-06-10 15:48:36.006", role="effect", **lines_at(9)),
                event("death", 1, "2026-06-10 15:48:30.006", sentence="Node <b>1</b> died.", **lines_at(7, 8)),
            ],
            "marts/fct_leaderless_windows": [
                {
                    "cluster_id": "orders", "topic_name": "a$b$<i>", "partition_id": 0, "started_at": at("2026-06-10 15:48:36"), "ended_at": None,
                    "is_open": True, "observed_until": at("2026-06-12 20:00"),
                }
            ],
            "marts/fct_leader_elections": [
                {"cluster_id": "orders", "cluster_incarnation": 1, "leader_id": 1, "elected_at": at("2026-06-10 09:00"), "held_until": None}
            ],
            "marts/fct_offsets_topic_growth_hourly": [
                {
                    "cluster_id": "orders", "node_id": 1, "partition_id": 38, "hour_at": at(f"2026-06-10 {hour}:00"), "bytes_growth": 3 << 30,
                    "measure_kind": "measured", "cleaner_runs": 0, "failed_tombstones": 363, "is_abnormal": hour == 12,
                }
                for hour in (10, 11, 12)
            ],
            "bronze/log_records": [
                record(7, HOSTILE),
                record(8, "x" * 9000),
                # A line of another day is also found, one of another cluster is not.
                record(9, "the line of the effect", day="2026-05-01"),
                record(9, "a stranger's line", name="payments"),
            ],
        },
    )  # fmt: skip


def page_of(place: Warehouse, name: str | None = None, since: str | None = None, until: str | None = None) -> str:
    start, end = parse_time(since) if since else None, parse_time(until, is_end=True) if until else None
    return report.render(report.collect(place, name, start, end, at("2026-06-13 10:00")))


MODELS = Path(__file__).parents[2] / "models"
PLAIN = {
    "string": pa.string(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "date": pa.date32(), "timestamp": TIME,
}  # fmt: skip


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a column by the type in its contract."""
    kind, _, inner = text.removesuffix(">").partition("<")
    if kind == "array":
        return pa.list_(arrow_type(inner))
    if kind == "map":
        return pa.map_(*map(arrow_type, inner.split(",", 1)))
    if kind == "struct":
        return pa.struct([(name, arrow_type(of)) for name, _, of in (one.partition(":") for one in re.split(r",(?=\w+:)", inner))])
    return PLAIN[kind]


class Reader(HTMLParser):
    """A page as a browser parses it: its tags with their attributes, its text, and its ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.open and self.open[-1] != "style" else ""

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_an_incident_is_told_in_order_with_its_raw_lines(warehouse: Warehouse) -> None:
    page = Reader(page_of(warehouse))
    assert not page.open
    assert page.text.index("Node <b>1</b> died.") < page.text.index("Sentence 2 of death.")
    assert "2026-06-10 15:48:36.006 +6.0 s effect" in " ".join(page.text.split())
    assert HOSTILE.replace("\x1b", "\ufffd") in page.text
    assert "the line of the effect" in page.text
    assert "a stranger's line" not in page.text
    assert "… 5,000 characters more" in page.text
    assert (
        "to: 2026-06-10 15:50:00.006 (1 min 30 s)" in " ".join(page.text.replace("to ", "to: ", 1).split()) or "(1 min 30 s)" in page.text
    )
    assert "4 min 12 s" in page.text


def test_an_incident_names_its_groups_and_not_thousands() -> None:
    def told(groups: list[str]) -> str:
        row = {"is_open": False, "warnings": [], **incident("a" * 32, "2026-06-10 10:00"), "groups_affected": len(groups), "groups": groups}
        return dict(report.incident(row, [], 0, Case(row, frozenset(), {}, Known()), "c1-i1").facts)["groups affected"]

    assert told([]) == "0"
    assert told(["billing", "fraud"]) == "2, billing, fraud"
    assert told([f"group-{number}" for number in range(21)]).endswith("group-18, group-19 …")


def test_nothing_of_a_log_becomes_markup(warehouse: Warehouse) -> None:
    page = Reader(page_of(warehouse))
    assert {"script", "b", "i", "link", "img", "iframe", "object", "embed"}.isdisjoint(tag for tag, _ in page.tags)
    assert "a$b$<i>" in page.text


def test_the_page_loads_nothing(warehouse: Warehouse) -> None:
    page = Reader(page_of(warehouse))
    for tag, attributes in page.tags:
        for name in ("src", "href", "srcset", "data", "action", "poster"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert "http" not in (attributes.get("style") or "")
    policy = [one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    style = re.search(r"<style>(.*?)</style>", page_of(warehouse), re.DOTALL)
    assert style and "http" not in style[1] and "@import" not in style[1] and "url(" not in style[1]


def test_the_page_can_be_read_by_ear_and_by_key(warehouse: Warehouse) -> None:
    page = Reader(page_of(warehouse, "orders"))
    assert page.all("html") == [{"lang": "en"}]
    assert "orders: report · Kafka Chronicle" in page.text
    assert len(page.all("h1")) == 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {(one["href"] or "").removeprefix("#") for one in page.all("a") + page.all("use")}
    assert links <= set(ids)
    pictures = [one for _, one in page.tags if one.get("role") == "img"]
    assert len(pictures) == 2 * len(page.all("figure")) == 6
    assert all(len(one["aria-label"] or "") > 40 for one in pictures)
    assert all(one.get("aria-label") for _, one in page.tags if one.get("class") == "scroll")


def test_days_without_logs_are_unknown(warehouse: Warehouse) -> None:
    page = Reader(page_of(warehouse))
    assert "1 of 3" in page.text
    assert "2 of 3 days have no logs at all; 4 of 6 days of nodes have none. Unknown is not healthy." in page.text
    quiet = Reader(page_of(warehouse, "orders", since="2026-06-12"))
    assert "No incident was found. That says nothing about times without logs (1 of 1 days have no logs at all" in quiet.text


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [
        (None, None, (True, True)),
        ("2026-06-10", "2026-06-10", (True, False)),
        ("2026-06-10 15:49", None, (True, True)),
        ("2026-06-10 15:50:01", None, (False, True)),
        (None, "2026-06-10T17:48:30+02:00", (False, False)),
        (None, "2026-06-10T17:48:31+02:00", (True, False)),
        ("2026-06-11", "2026-06-11", (False, True)),
    ],
)
def test_since_and_until_choose_what_touches_the_time_between(
    warehouse: Warehouse, since: str | None, until: str | None, told: tuple[bool, bool]
) -> None:
    page = page_of(warehouse, "orders", since, until)
    assert ("Summary of death" in page, "Rolling restart of 2 nodes" in page) == told


def test_what_is_cut_is_said(tmp_path: Path) -> None:
    # The worst incidents are kept, whatever their time; they are listed in the order of their harm.
    incidents = [
        incident(f"i{n:02}", f"2026-06-10 1{n % 10}:00", severity="critical" if n in (3, 57) else "info", leaderless_ms=n)
        for n in range(58)
    ]
    chain = [event("i57", n, f"2026-06-10 17:00:{n % 60:02}", **lines_at(*range(9))) for n in range(70)]
    place = make(
        tmp_path,
        {
            "marts/dim_clusters": [cluster()],
            "marts/fct_incidents": incidents,
            "marts/fct_incident_events": chain,
            "bronze/log_records": [record(n, f"line {n}") for n in range(9)],
        },
    )
    page = page_of(place)
    assert "The 50 worst of 58." in page
    shown = re.findall(r"<h4>[^\n]*\n?[^\n]*Summary of (i\d\d)</h4>", page)
    assert len(shown) == 50
    assert {"i03", "i57"} < set(shown) and not {"i00", "i01", "i02", "i04"} & set(shown)
    assert shown[:4] == ["i57", "i03", "i56", "i55"]
    assert shown == sorted(shown, key=lambda key: (key not in ("i03", "i57"), -int(key[1:])))
    assert "10 later events are left out" in page
    assert "5 of 9 shown." in page
    assert "line 4" in page and "line 5" not in page


def test_the_raw_lines_of_a_page_have_a_limit(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_TEXT", len(HOSTILE) + 10)
    page = Reader(page_of(warehouse))
    assert "red http://evil.example/a.js" in page.text
    assert "the line of the effect" not in page.text
    assert "1 of 2 shown." in page.text and "0 of 1 shown." in page.text


def test_of_many_clusters_the_worst_are_told(tmp_path: Path) -> None:
    names = [f"c{n:02}" for n in range(12)]
    place = make(
        tmp_path,
        {
            "marts/dim_clusters": [cluster(name) for name in names],
            "marts/fct_incidents": [incident("death", "2026-06-10 10:00", cluster_id="c11")],
        },
    )
    page = page_of(place)
    told = re.findall(r'<h2 id="c\d+">(.*?)</h2>', page)
    assert told == ["c11", *names[:7]]
    contents = report.collect(place, None, None, None, at("2026-06-13 10:00")).contents
    assert contents == "12 clusters (8 in detail, 4 in the table: --cluster NAME), 1 incident"
    assert "4 further clusters have a row in the table alone: c07, c08, c09, c10." in page


def test_clusters_stand_in_the_order_of_harm_not_of_the_number_of_incidents(tmp_path: Path) -> None:
    many = [incident(f"m{n}", "2026-06-10 10:00", cluster_id="many", severity="major", leaderless_ms=10) for n in range(9)]
    long = [incident("l", "2026-06-10 10:00", cluster_id="long", severity="major", leaderless_ms=500_000)]
    grave = [incident("g", "2026-06-10 10:00", cluster_id="grave", severity="critical", leaderless_ms=0, ended_at=None)]
    names = ("grave", "long", "many", "quiet")
    place = make(tmp_path, {"marts/dim_clusters": [cluster(name) for name in names], "marts/fct_incidents": [*many, *long, *grave]})
    page = page_of(place)
    assert re.findall(r'<h2 id="c\d+">(.*?)</h2>', page) == list(names)
    # A reader that jumps from region to region hears that it is in another cluster.
    regions = [one["aria-label"] for _, one in Reader(page).tags if one.get("role") == "region"]
    assert len(regions) == len(set(regions))
    text = Reader(page).text
    assert "3 of 4 clusters had incidents: 1 critical and 10 major incidents, 1 with no end in the logs." in text
    assert "Not as far as the logs show: incidents of grave (1) have no end in them. All others are over." in text
    table = re.search(r"<caption>Clusters</caption>.*?</table>", page, re.DOTALL)
    assert table
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>\s*<td.*?</tr>", table[0], re.DOTALL)]
    assert [row[1:5] for row in rows] == [
        ["1 critical", "Summary of g", "1", "none seen"],
        ["1 major", "Summary of l", "0", "none seen"],
        ["9 major", "Summary of m0", "0", "none seen"],
        ["none", "", "0", "none seen"],
    ]


def first_screen(page: str) -> dict[str, str]:
    """The answers of the first screen by their questions, and the sentence above them."""
    found = re.search(r'<p class="sentence">(.*?)</p>\s*<dl>(.*?)</dl>', page, re.DOTALL)
    assert found
    answers = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", found[2], re.DOTALL)
    return {"": found[1], **{question: " ".join(re.sub(r"<[^>]+>", " ", text).split()) for question, text in answers}}


def test_the_first_screen_answers_five_questions(tmp_path: Path) -> None:
    """A node died, another replica that was not in sync became leader, and the node cut 66 records when it came back; another cut 3 elsewhere."""

    def cut(topic: str, when: str, records: int | None, node: int) -> dict[str, Any]:
        return {
            "cluster_id": "orders", "topic_name": topic, "partition_id": 0, "node_id": node, "truncated_at": at(when), "records_truncated": records,
            "leader_epoch": 7, "to_offset": 100,
        }  # fmt: skip

    election = {
        "cluster_id": "orders",
        "topic_name": "clicks",
        "partition_id": 0,
        "leader_id": 3,
        "elected_at": at("2026-06-10 15:48:50"),
        "is_unclean": True,
    }
    place = make(
        tmp_path,
        {
            "marts/dim_clusters": [cluster()],
            "marts/fct_incidents": [
                incident("death", "2026-06-10 15:48:30", nodes=[1, 2, 3], root_cause_key="run", summary="clicks-0 lost its leader"),
                incident("stall", "2026-06-10 16:00", severity="major", root_cause_kind="process_stall", root_cause_key="stall"),
            ],
            "marts/fct_incident_events": [
                event("death", 1, "2026-06-10 15:48:30", event_kind="process_death", fact_name="dim_node_runs", fact_key="run"),
                event("death", 2, "2026-06-10 15:48:50", event_kind="unclean_election", role="effect"),
            ],
            "marts/dim_node_runs": [{"node_run_key": "run", "cluster_id": "orders", "node_id": 2, "end_kind": "killed"}],
            "marts/fct_leader_elections": [election],
            "marts/fct_truncations": [
                cut("clicks", "2026-06-10 15:40", 500, 2), cut("clicks", "2026-06-10 15:50", 66, 2), cut("clicks", "2026-06-10 15:51", 9, 2),
                cut("audit", "2026-06-10 15:50", 3, 1), cut("audit", "2026-06-10 15:50", 3, 2),
            ],
        },
    )  # fmt: skip
    told = first_screen(page_of(place, "orders"))
    assert told[""] == "1 critical and 1 major incidents, all over."
    assert told["What broke"].startswith("critical clicks-0 lost its leader 2026-06-10 15:48:30")
    assert told["Is it over"].startswith("Yes: the last one ended at 2026-06-10 16:01:30.")
    assert told["Where it began"] == "A process ended without a shutdown (node 2) and a process stood still (node 1)."
    assert told["Was data lost"] == (
        "Perhaps: up to 66 records of clicks-0, where a replica that was not in sync became leader."
        " In other partitions followers cut 3 records that had not reached all of them: lost only to producers with acks=0 or 1."
    )
    assert "Up to 66 records of clicks-0 may be gone (node 2 cut them after 2026-06-10 15:48:50)" in told["What to change"]
    assert "Nothing says who killed node 2: add the kernel" in told["What to change"]


def test_whether_data_was_lost_is_unknown_without_elections(warehouse: Warehouse, tmp_path: Path) -> None:
    place = make(
        tmp_path / "other",
        {"marts/dim_clusters": [cluster()], "marts/fct_incidents": [incident("death", "2026-06-10 15:48:30", ended_at=None)]},
    )
    told = first_screen(page_of(place, "orders"))
    assert told["Was data lost"].startswith("Unknown: no log names an election of a leader")
    assert told["Is it over"].startswith("Not as far as the logs show: 1 of 1 incident without an end. The logs end at 2026-06-12 20:00:00")
    told = first_screen(page_of(warehouse, "orders"))
    assert told["Was data lost"] == "Not that the logs show: in 1 election no replica that was not in sync became leader."


def test_severities_differ_by_more_than_colour(tmp_path: Path) -> None:
    incidents = [incident(name, "2026-06-10 10:00", severity=name) for name in ("critical", "major", "minor")]
    page = page_of(make(tmp_path, {"marts/dim_clusters": [cluster()], "marts/fct_incidents": incidents}))
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style and "border-left-style: double" in style[1] and 'content: "▲ "' in style[1] and "border-style: dotted" in style[1]
    assert re.findall(r'<article id="c1-i\d" class="(\w+)">', page) == ["critical", "major", "minor"]


def test_paper_has_two_lines_of_each_event_and_the_worst_chains(warehouse: Warehouse) -> None:
    page = page_of(warehouse, "orders")
    paper = re.search(r"@media print \{(.*?)\n\}", page, re.DOTALL)
    assert (
        paper and ".line ~ .line ~ .line" in paper[1] and "line-clamp: 2" in paper[1] and "article:nth-of-type(n + 7) ol.chain" in paper[1]
    )
    # What the style counts: each raw line is a box beside the others of its event.
    assert re.search(
        r'<summary>2 raw lines</summary>\s*<div class="line">.*?</div>\s*<div class="line">.*?</div>\s*</details>', page, re.DOTALL
    )
    assert "Printed: the chains of the six worst incidents, two raw lines of each event, ten rows of each table." in page


def test_a_size_that_nothing_measured_is_unknown(tmp_path: Path) -> None:
    """Estimates count segments that were rolled: where none was, nothing is known of the size."""

    def hour(partition: int, kind: str, size: int, grown: int) -> dict[str, Any]:
        return {
            "cluster_id": "orders", "node_id": 1, "partition_id": partition, "hour_at": at("2026-06-10 10:00"), "bytes_at_end": size, "bytes_growth": grown,
            "measure_kind": kind, "is_abnormal": False,
        }  # fmt: skip

    hours = [hour(0, "estimated", 0, 0), hour(1, "measured", 0, 0), hour(2, "estimated", 2048, 1024)]
    page = page_of(make(tmp_path, {"marts/dim_clusters": [cluster()], "marts/fct_offsets_topic_growth_hourly": hours}))
    table = re.search(r"<caption>Partitions of the offsets topic</caption>.*?</table>", page, re.DOTALL)
    assert table
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>\s*<td.*?</tr>", table[0], re.DOTALL)]
    assert {row[0]: row[3:5] for row in rows} == {"0": ["–", "–"], "1": ["0 B", "0 B"], "2": ["1 KB", "2 KB"]}


@pytest.mark.parametrize("marts", [{"marts/dim_clusters": []}, {"marts/dim_clusters": [cluster()]}])
def test_what_is_not_built_is_said_and_no_failure(tmp_path: Path, marts: dict[str, list[dict[str, Any]]]) -> None:
    page = Reader(page_of(make(tmp_path, marts)))
    assert not page.open
    assert "not built" in page.text.lower()


def test_a_mart_without_a_column_is_not_built(tmp_path: Path) -> None:
    place = make(tmp_path, {"marts/dim_clusters": [cluster()]})
    write_deltalake(tmp_path / "marts/fct_gc_pauses", pa.table({"cluster_id": ["orders"]}))
    assert "GC pauses (the column " in page_of(place)


def test_an_empty_mart_has_nothing_found(tmp_path: Path) -> None:
    place = make(tmp_path, {"marts/dim_clusters": [cluster()], "marts/fct_leaderless_windows": []})
    assert "Nothing found in the evidence: Partitions without a leader, by topic." in page_of(place)


def test_the_command_writes_the_file(warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.html"
    assert main.execute(["report", "--warehouse", warehouse.root, "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>\n")
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(rf"{out}: 1 cluster, 1 incident, \d+ KB, in \d+\.\d s\n", told.err)
    assert main.execute(["report", "--warehouse", warehouse.root, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--cluster", "nobody's"], 1, "unknown cluster 'nobody's'; {root} has orders"),
        (["--since", "yesterday"], 2, "invalid time 'yesterday'; use 2026-06-10, '2026-06-10 15:48' or 2026-06-10T15:48:30+02:00"),
        (["--since", "2026-06-12", "--until", "2026-06-11"], 2, "2026-06-12 is not before 2026-06-11"),
        (["-o", "/nowhere/page.html"], 1, "/nowhere/page.html: No such file or directory"),
    ],
)
def test_faults_are_one_line(warehouse: Warehouse, arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(["report", "--warehouse", warehouse.root, *arguments]) == code
    error = capsys.readouterr().err
    assert said.format(root=warehouse.root) in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_949, "59.9 s"), (59_960, "1 min 00 s"), (252_000, "4 min 12 s"),
        (3_600_000, "1 h 00 min"), (172_740_000, "47 h 59 min"), (172_800_000, "2 d 0 h"), (-1500, "-1.5 s"),
    ],
)  # fmt: skip
def test_durations_have_the_unit_that_suits_them(milliseconds: int, text: str) -> None:
    assert duration_text(milliseconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1 KB"), (104_857_600, "100 MB"), (500 << 30, "500 GB"), (1_610_612_736, "1.5 GB"), (-2048, "-2 KB")]
)  # fmt: skip
def test_sizes_have_the_unit_that_suits_them(size: int, text: str) -> None:
    assert size_text(size) == text


def test_ticks_are_round_and_name_each_day_once() -> None:
    assert [label for _, label in figures.time_ticks(at("2026-06-10 21:10"), at("2026-06-11 08:00"), 4)] == [
        "00:00\n2026-06-11",
        "03:00",
        "06:00",
    ]
    assert [label for _, label in figures.time_ticks(at("2026-06-10 21:10"), at("2026-06-10 21:10:03"), 4)] == [
        "21:10:00\n2026-06-10",
        "21:10:01",
        "21:10:02",
        "21:10:03",
    ]
    assert [label for _, label in figures.time_ticks(at("2025-12-30"), at("2026-01-02"), 4)] == [
        "12-30\n2025",
        "12-31",
        "01-01\n2026",
        "01-02",
    ]
    assert len(figures.time_ticks(at("1970-01-01"), at("2026-01-01"), 4)) <= 5


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [
        (0, 9 << 30, [0, 2 << 30, 4 << 30, 6 << 30, 8 << 30]),
        (-(1 << 20), 3 << 20, [n << 20 for n in range(-1, 4)]),
        (0, 1, [0, 1]),
        (0, 0, [0]),
    ],
)
def test_sizes_have_round_ticks(least: int, most: int, ticks: list[int]) -> None:
    assert figures.size_ticks(least, most) == ticks


def test_a_cluster_without_a_line_of_a_node_spans_its_days_of_logs(tmp_path: Path) -> None:
    place = make(
        tmp_path,
        {
            "marts/dim_clusters": [cluster(first_seen_at=None, last_seen_at=None)],
            "marts/dim_nodes": [],
            "marts/fct_parse_coverage_daily": [
                {"cluster_id": "orders", "node_id": None, "records": 1, "event_date": dt.date(2026, 6, day)} for day in (3, 5)
            ],
        },
    )
    page = page_of(place)
    assert "<p>2026-06-03 00:00:00 to 2026-06-06 00:00:00. All times" in page
    assert "2 of 3" in page


def test_an_unknown_day_says_nothing_of_availability(tmp_path: Path) -> None:
    counts = [name for name, kind in SCHEMAS["reports/rpt_cluster_daily"].items() if kind == pa.int64()]
    days = [
        {
            "cluster_id": "orders", "event_date": dt.date(2026, 6, 10), "evidence_state": "known", "availability_ratio": 0.99975,
            **dict.fromkeys(counts, 1), "leaderless_ms": 252_000,
        },
        {"cluster_id": "orders", "event_date": dt.date(2026, 6, 11), "evidence_state": "unknown", "nodes_with_records": 0},
    ]  # fmt: skip
    page = page_of(make(tmp_path, {"marts/dim_clusters": [cluster()], "reports/rpt_cluster_daily": days}))
    table = re.search(r"<caption>Day by day</caption>.*?</table>", page, re.DOTALL)
    assert table
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>\s*<td.*?</tr>", table[0], re.DOTALL)]
    assert rows[0] == ["2026-06-11", "unknown", *["–"] * 11, "0"]
    assert rows[1] == ["2026-06-10", "known", "1", "99.9750%", "4 min 12 s", "1 ms", "1", "1", "1", "1", "1", "5", "1 ms", "1"]
    headings = re.findall(r"<th.*?>(.*?)</th>", table[0])
    assert headings[4:7] == ["leaderless, partition-time", "under replicated, partition-time", "partitions"]


def test_times_without_a_leader_are_those_within_the_period_and_the_evidence(tmp_path: Path) -> None:
    """Partition 0 has none from an hour before the period to an hour into it; partition 1 from an hour before the last record of its incarnation, without an
    end; partition 2 in incarnation 2, half an hour. A period that ends after the last record says nothing of the time between."""

    def window(partition: int, started: str, ended: str | None, life: int = 1) -> dict[str, Any]:
        lasted = int((at(ended) - at(started)).total_seconds() * 1000) if ended else None
        return {
            "cluster_id": "orders", "cluster_incarnation": life, "topic_name": "t", "partition_id": partition, "started_at": at(started),
            "ended_at": at(ended) if ended else None, "is_open": ended is None, "observed_until": at(ended or "2026-06-12 20:00"),
            "duration_ms": lasted,
        }  # fmt: skip

    lives = [
        cluster(last_seen_at=at("2026-06-12 20:00")),
        cluster(cluster_incarnation=2, first_seen_at=at("2026-06-13 00:00"), last_seen_at=at("2026-06-13 20:00")),
    ]
    windows = [
        window(0, "2026-06-10 09:00", "2026-06-10 11:00"),
        window(1, "2026-06-12 19:00", None),
        window(2, "2026-06-13 10:00", "2026-06-13 10:30", life=2),
    ]
    make(tmp_path, {"marts/dim_clusters": lives, "marts/fct_leaderless_windows": windows})
    for since, told in (
        ("2026-06-10 10:00", ["t", "2 h 30 min", "3", "1 h 00 min", "3", "1", "2026-06-10 09:00:00"]),
        ("2026-06-13 00:00", ["t", "30 min 00 s", "1", "30 min 00 s", "1", "0", "2026-06-13 10:00:00"]),
    ):
        page = page_of(Warehouse.at(str(tmp_path)), since=since, until="2026-06-20 00:00")
        table = re.search(r"<caption>Partitions without a leader, by topic</caption>.*?</table>", page, re.DOTALL)
        assert table
        (row,) = [re.findall(r"<td.*?>(.*?)</td>", one) for one in re.findall(r"<tr>\s*<td.*?</tr>", table[0], re.DOTALL)]
        assert row == told


def test_every_question_asks_for_columns_that_the_models_have(tmp_path: Path) -> None:
    made = set()
    for file in sorted(file for name in ("dim_*", "fct_*", "rpt_*") for file in MODELS.rglob(f"{name}.yml")):
        schema_name = "reports" if file.name.startswith("rpt_") else "marts"
        for model in (yaml.safe_load(file.read_text(encoding="utf-8")) or {}).get("models", []):
            if not all("data_type" in column for column in model.get("columns", [{}])):
                continue
            schema = pa.schema([(column["name"], arrow_type(column["data_type"].replace(" ", ""))) for column in model["columns"]])
            rows = [cluster("marts.orders")] if model["name"] == "dim_clusters" else []
            write_deltalake(tmp_path / schema_name / model["name"], pa.Table.from_pylist(rows, schema=schema))
            made.add(f"{schema_name}.{model['name']}")
    assert {"marts.dim_clusters", "marts.fct_leader_elections"} <= made
    tables, period = Tables(Warehouse.at(str(tmp_path))), Period("marts.orders", at("2026-06-10"), at("2026-06-12"))
    for query in (plots.LEADERS, plots.LEADERLESS, plots.GROWTH, *SPANS):
        # Raises NotBuilt if a column is missing.
        if {f"marts.{name}" for name in re.findall(r"marts\.(\w+)", query)} <= made:
            tables.rows(Template(query).safe_substitute(cluster="''", step="1", since=moment(period.since), until=moment(period.until)))
    for query in (
        remedies.FINDINGS,
        remedies.EXPOSURES,
        remedies.SETTINGS,
        remedies.READ_FILES,
        remedies.PAUSES,
        remedies.LIVES,
        remedies.EVENTS,
        remedies.LOSSES,
    ):
        tables.rows(query.format(cluster="''", names="''", read="''", keys="''"))
    for query in (queries.HARM_DONE, queries.WORST, queries.CUT):
        tables.rows(period.filled(query, rank=queries.severity_rank()))
    page = page_of(Warehouse.at(str(tmp_path)), "marts.orders")
    assert "the column" not in page
    assert not made & set(re.findall(r"\(((?:marts|reports)\.\w+)\)", page))
