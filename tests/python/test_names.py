"""Names are data: the name of a topic, group, client, host or cluster comes out as it went in and controls nothing."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
import shlex
import subprocess
import tarfile
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import DeltaTable, write_deltalake
from rich.cells import cell_len

from chronicle.ask import alerts, known, questions, run_summary
from chronicle.ask.render import MACROS, compiled, render
from chronicle.build.compiled import Model, query
from chronicle.build.publish import same
from chronicle.cli import main as cli
from chronicle.output import formats, table
from chronicle.output.console import as_json, line
from chronicle.output.values import shown as shown_value
from chronicle.report import report
from dashboards import bundle, described, forms
from ingestion import ingest as ingesting
from ingestion.outcome import Outcome
from ingestion.sources import discover, layout
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse
from tests import duck, names
from tests.names import NAMES
from tests.python.test_report import MODELS, arrow_type, at, cluster, event, incident, lines_at, make, page_of, record
from tests.rotations import Here

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
# Characters that may not reach a terminal: its control characters, and those that change the direction of a line.
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# Names that can be given on a command line.
ARGUMENTS = {key: name for key, name in NAMES.items() if "\0" not in name and name}
# The nastiest, for tests in which each name takes long.
SOME = (
    "single_quote", "backslash", "escaped_quote", "sql_or", "newline", "right_to_left", "up_and_out", "jinja", "spark_variable", "template",
    "sql_table", "emoji", "option", "outer_blanks", "long",
)  # fmt: skip


def load(root: Path, **options: Any) -> Outcome:
    given = {"timezone": "UTC", "settled_after": 0.0} | options
    return ingesting.ingest(Here, str(root / "warehouse"), discover.Options([str(root / "logs")], **given), tell=lambda text: None)


def bronze(root: Path, name: str) -> list[dict[str, Any]]:
    return DeltaTable(str(root / "warehouse/bronze" / name)).to_pyarrow_table().to_pylist()


def test_the_names_are_many_and_their_file_is_plain() -> None:
    assert len(NAMES) >= 40
    assert names.FIXTURE.read_text().isascii()
    assert max(map(len, NAMES.values())) == 10_000


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Outcome, Path]:
    """Logs with all names where Kafka logs one, and clusters in folders with those names, read in one run."""
    root = tmp_path_factory.mktemp("names")
    names.write(root / "logs")
    outcome = load(root, layout="{cluster}/{node}/**")
    return bronze(root, "log_records"), outcome, root


@pytest.mark.parametrize("held", names.HELD)
def test_every_name_is_read_as_it_stands(held: str, read: tuple[list[dict[str, Any]], Outcome, Path]) -> None:
    rows = [row for row in read[0] if row["cluster_id"] == "names" and Path(row["source_path"]).stem == held]
    by_second = {row["logged_at"]: row for row in rows}
    start = dt.datetime.fromisoformat(names.DAY).replace(tzinfo=dt.UTC)
    event, field = names.HELD[held]
    for number, (key, name) in enumerate(NAMES.items()):
        row = by_second[start + dt.timedelta(seconds=2 * number)]
        body, _ = names.wording(held, names.as_read(name))
        # A name with a newline and the head of a record ends the record: this cannot be distinguished from two records.
        is_torn = key == "false_record"
        assert names.as_read(body).split("\n[")[0] in row["raw_text"], key
        # Kafka allows no blanks in topic names: with one, the record does not match the wording and stays text.
        if is_torn or (held == "topic" and (not name or re.search(r"[\t-\r ]", name))):
            assert row["event_type"] != event, key
        else:
            assert (row["event_type"], dict(row["fields"])[field]) == (event, names.as_read(name)), key
        # No name harms the next record.
        after = by_second[start + dt.timedelta(seconds=2 * number + 1)]
        assert (after["event_type"], after["node_id"], after["body"]) == ("node_started", 1, "started"), key
    planted = [row for row in rows if row["body"].startswith("planted")]
    assert (len(rows), len(planted)) == (2 * len(NAMES) + 1, 1)


def test_a_folder_names_its_cluster_whatever_it_is_called(read: tuple[list[dict[str, Any]], Outcome, Path]) -> None:
    rows, outcome, root = read
    wanted = set(names.as_folders().values())
    assert len(wanted) > 50
    assert {row["cluster_id"] for row in rows} == wanted | {"names"} == outcome.clusters
    assert outcome.failed == [] == outcome.faults
    # No name is in a path of the warehouse.
    assert sorted(path.name for path in root.iterdir()) == ["logs", "warehouse"]
    written = {path.relative_to(root / "warehouse").as_posix() for path in (root / "warehouse").rglob("*") if path.is_file()}
    assert all(re.fullmatch(r"[\w./-]+", path) for path in written), written


def test_a_cluster_is_named_on_the_command_line_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/server.log").write_text(names.line(0, *names.STARTED))
    called = [NAMES[key] for key in SOME]
    for name in [*called, "caf\udce9"]:
        assert load(tmp_path, cluster=name).records == 1, name
    wanted = {*called, "caf\\xe9"}
    assert {row["cluster_id"] for row in bronze(tmp_path, "log_records")} == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "warehouse"]


@pytest.mark.parametrize("name", [".zip", ".tgz", ".tar.gz"])
def test_no_cluster_has_an_empty_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "server.log").write_text(names.line(0, *names.STARTED))
    assert discover.name_of(str(folder)) == name
    assert discover.name_of("/") == "/"
    assert discover.name_of("/evidence/orders\n.zip") == "orders\n"


@pytest.mark.parametrize("number", ["99999999999", "9" * 5000])
def test_a_number_that_is_no_node_stops_nothing(tmp_path: Path, number: str) -> None:
    (tmp_path / "logs").mkdir()
    text = names.line(0, "hello", "a.B").encode()
    describe = f"Topic: orders\tPartition: 0\tLeader: 1\tReplicas: {number},1\tIsr: 1\n".encode()
    with tarfile.open(tmp_path / "logs/all.tar", "w") as packed:
        for path, content in ((f"c/{number}/server.log", text), ("c/2/server.log", text + text), ("c/2/describe.txt", describe)):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    outcome = load(tmp_path, layout="{cluster}/{node}/**")
    assert outcome.failed == []
    assert sorted(row["node_id"] or 0 for row in bronze(tmp_path, "log_records")) == [0, 2, 2]


def test_a_layout_reads_folders_with_newlines() -> None:
    found = layout.Layout("{cluster}/{node}/**")
    assert found.read("a\nb/1/c\nd/server.log") == ("a\nb", 1)
    assert found.read("x" * 10_000 + "/1/c\nd/server.log") == ("x" * 10_000, 1)


def test_a_build_asks_for_clusters_as_they_are_called() -> None:
    clusters = "cluster_id in ('/* built clusters */')"
    names = [*NAMES.values(), clusters, "event_date in ('/* days of bronze.log_records */')", "__of_all_clusters__dim_nodes"]
    model = Model("steps", "intermediate", "steps", "table", f"select 1 where {clusters}", (), (), "steps.sql")
    literals = re.findall(r"(?s)'((?:[^'\\]|\\.)*)'", query(model, names))
    assert [re.sub(r"(?s)\\(.)", r"\1", literal) for literal in literals] == names


def test_a_literal_of_spark_keeps_blanks_and_escapes_the_rest() -> None:
    source = (MACROS.parent / "sql_text.sql").read_text()
    macro = re.search(r"{% macro sql_text.*?{%- endmacro %}", source, re.S)
    assert macro is not None
    from jinja2 import Environment

    text = Environment(extensions=["jinja2.ext.do"]).from_string(macro[0]).make_module({"return": lambda value: value})
    for key, name in NAMES.items():
        written = str(text.sql_text(name)).strip("\n")
        body = written.strip()[1:-1]
        assert re.fullmatch(r"(?s)(?:[^'\\]|\\.)*", body), key
        assert re.sub(r"(?s)\\(.)", r"\1", body) == name, key


def test_published_rows_of_other_clusters_stay(tmp_path: Path) -> None:
    """The condition by which a partial build replaces rows of its clusters, as delta-rs reads it."""
    for key, name in NAMES.items():
        path = str(tmp_path / key)
        write_deltalake(path, pa.table({"cluster_id": [name, "others"], "n": [1, 1]}))
        write_deltalake(path, pa.table({"cluster_id": [name], "n": [2]}), mode="overwrite", predicate=f"cluster_id in ({literal(name)})")
        kept = DeltaTable(path).to_pyarrow_table().sort_by("n")
        assert same(kept, pa.table({"cluster_id": ["others", name], "n": [1, 2]})), key


# ----- output for terminals, and for programs


@pytest.fixture
def answer() -> pa.Table:
    all_names = list(NAMES.values())
    return pa.table(
        {
            "topic_name": all_names,
            "groups": pa.array([[name, None] for name in all_names]),
            "settings": pa.array([[(name or "-", name)] for name in all_names], pa.map_(pa.string(), pa.string())),
            "n": list(range(len(all_names))),
        }
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_table_steers_no_terminal_and_keeps_its_width(answer: pa.Table) -> None:
    out = io.StringIO()
    formats.write(answer, "table", out)
    lines, cut = table.laid_out(answer, 100)
    assert cut > 0
    assert len(lines) == len(out.getvalue().splitlines()) == len(NAMES) + 2
    assert not STEERING.search(out.getvalue())
    assert max(map(cell_len, lines)) <= 100
    head = table.laid_out(pa.table({name: [1] for name in NAMES.values()}), 100)[0]
    assert len(head) == 3 and not STEERING.search("\n".join(head))


def test_names_that_cannot_be_told_apart_are_written_apart() -> None:
    shown = [shown_value(name) for name in NAMES.values()]
    assert len(set(shown)) == len(shown)
    assert shown_value("or\u200bders") == "or\\u200bders"
    assert shown_value("orders\U000e0041") == "orders\\U000e0041"
    # A joiner is part of ordinary text.
    assert shown_value("\U0001f469\u200d\U0001f680") == "\U0001f469\u200d\U0001f680"


def test_json_steers_no_terminal_and_keeps_every_value(answer: pa.Table) -> None:
    out = io.StringIO()
    formats.write(answer, "json", out)
    assert not STEERING.search(out.getvalue())
    assert [row["topic_name"] for row in json.loads(out.getvalue())] == list(NAMES.values())
    assert [row["groups"][0] for row in json.loads(out.getvalue())] == list(NAMES.values())


def test_csv_keeps_every_value_and_on_a_terminal_steers_nothing(answer: pa.Table) -> None:
    out, terminal = io.StringIO(newline=""), Terminal(newline="")
    formats.write(answer, "csv", out)
    rows = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert [row[0] for row in rows] == ["topic_name", *NAMES.values()]
    assert [json.loads(row[1])[0] for row in rows[1:]] == list(NAMES.values())
    formats.write(answer.rename_columns(["\x1b[2J", "b", "c", "d"]), "csv", terminal)
    assert not STEERING.search(terminal.getvalue())


def test_parquet_keeps_every_value(answer: pa.Table, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    with (tmp_path / "a.parquet").open("wb") as file:
        formats.write(answer, "parquet", SimpleNamespace(isatty=lambda: False, buffer=file))  # type: ignore[arg-type]
    assert pq.read_table(tmp_path / "a.parquet").column("topic_name").to_pylist() == list(NAMES.values())


def test_lines_for_people_steer_nothing() -> None:
    for key, name in NAMES.items():
        told = line(f"chronicle: no cluster '{name}'")
        assert not STEERING.search(told) and told.count("\n") == 1, key
        assert not STEERING.search(as_json({"said": name})) and json.loads(as_json({"said": name}))["said"] == name, key


def test_what_run_found_steers_nothing_and_keeps_its_width() -> None:
    lines = list(run_summary.table_text(["cluster_id", "node"], [[name, "1"] for name in NAMES.values()]))
    assert len(lines) == len(NAMES) + 2
    assert not any(STEERING.search(one) or "\n" in one for one in lines)
    assert max(map(cell_len, lines)) < 80


# ----- evidence, saved questions and alerts


def typed(model: str) -> pa.Schema:
    """The columns of a mart or report, from its contract."""
    path = next(MODELS.rglob(f"{model}.yml"))
    columns = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["models"][0]["columns"]
    return pa.schema([(column["name"], arrow_type(column["data_type"].lower().replace(" ", ""))) for column in columns])


NAMED = {"cluster_id", "topic_name", "group_id", "member_id", "client_id", "host", "source_path"}


def rows_of(schema: pa.Schema, called: Iterator[str] | list[str]) -> pa.Table:
    """A row for each name, with the name in all columns of names; other columns are null or have a minimal value."""

    def value(field: pa.Field, name: str) -> Any:
        if field.name in NAMED:
            return name
        if pa.types.is_integer(field.type):
            return 1
        if pa.types.is_timestamp(field.type):
            return NOW - dt.timedelta(hours=1)
        if pa.types.is_boolean(field.type):
            return True
        return "0" * 32 if pa.types.is_string(field.type) and field.name.endswith("_key") else None

    return pa.Table.from_pylist([{field.name: value(field, name) for field in schema} for name in called], schema=schema)


@pytest.fixture(scope="module")
def marts(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Every table that a question or an alert reads, with a row for each name."""
    root = tmp_path_factory.mktemp("marts")
    read = {"marts.dim_clusters", *(one.table for one in known.NAMES.values())}.union(
        *(render(one.path, {}).tables for one in [*questions.questions().values(), *alerts.alerts()])
    )
    for name in sorted(read):
        schema, model = name.split(".")
        write_deltalake(str(root / schema / model), rows_of(typed(model), list(NAMES.values())))
    return Warehouse.at(str(root))


ASKED = {"topic": "{}", "partition": "{}-1", "group": "{}", "cluster": "{}"}


@pytest.mark.parametrize("one", questions.questions().values(), ids=lambda one: one.name)
def test_a_question_about_a_name_finds_that_name_or_none(one: questions.Question, marts: Warehouse) -> None:
    needed = {"key": "0" * 32, "node": "1", "at": "1h", "since": "1d", "until": "1m", "release": "2.8.2"}
    for parameter in set(one.takes) & ASKED.keys():
        for key in SOME:
            others = {name: needed.get(name) or ASKED[name].format(NAMES[key]) for name in one.needs if name != parameter}
            given = one.values([], {**others, parameter: ASKED[parameter].format(NAMES[key])}, NOW)
            for row in questions.answer(marts, one, given).to_pylist():
                told = [value for name, value in row.items() if name in NAMED and value is not None]
                assert set(told) <= {NAMES[key]}, (one.name, parameter, key)


def test_who_led_finds_exactly_the_partition(marts: Warehouse) -> None:
    one = questions.question("who-led")
    for key, name in NAMES.items():
        if name and key != "nul":
            rows = questions.answer(marts, one, one.values([f"{name}-1"], {}, NOW)).to_pylist()
            assert [row["topic_name"] for row in rows] == [name], key
            rows = questions.answer(marts, one, one.values([f"{name}-1"], {"cluster": name}, NOW)).to_pylist()
            assert [row["cluster_id"] for row in rows] == [name], key
        with pytest.raises(ValueError, match="unknown partition"):
            questions.answer(marts, one, one.values([f"{name} or more-1"], {}, NOW))


def test_a_literal_of_a_question_is_the_same_text_to_both_engines() -> None:
    macros = compiled(MACROS).make_module({"var": lambda name, *default: None})
    with duck.connect() as engine:
        for key, name in ARGUMENTS.items():
            written = str(macros.text_literal(name))
            # Spark would read a backslash within quotes as an escape.
            assert "\\" not in written and "{" not in written.replace(name.replace("'", "''"), ""), key
            assert engine.sql(f"select {written}").fetchone() == (name,), key


def test_alerts_say_names_as_they_are_and_ask_as_a_shell_reads_it(marts: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    rows = alerts.check(marts, NOW - dt.timedelta(days=30), NOW + dt.timedelta(days=30))
    assert {row["cluster_id"] for row in rows} >= set(NAMES.values()) - {"others"}
    for row in rows:
        words = shlex.split(row["ask"])
        if "--cluster" in words:
            assert words[words.index("--cluster") + 1] == row["cluster_id"]
        assert len(words) <= 7, row["ask"]
    code = cli.execute(["check", "--since", "2026-10-21", "--now", "2026-12-21", "--warehouse", marts.root])
    told = capsys.readouterr()
    assert code == 3
    assert not STEERING.search(told.out)
    assert {json.loads(text)["cluster_id"] for text in told.out.splitlines()} >= set(NAMES.values())


def test_what_an_alert_asks_next_runs_nothing_in_a_shell(tmp_path: Path) -> None:
    alert = next(one for one in alerts.alerts() if "{cluster_id}" in one.ask)
    for key, name in ARGUMENTS.items():
        asked = alerts.asked(alert, {"key": "k", "cluster_id": name, "at": "2026-11-21T12:00:00.000Z"})
        printed = f"chronicle() {{ printf '%s\\0' \"$@\"; }}; {asked}"
        said = subprocess.run(["sh", "-c", printed], capture_output=True, cwd=tmp_path, check=True).stdout.decode().split("\0")
        assert name in said, key
    assert list(tmp_path.iterdir()) == []


def test_asking_for_a_cluster_that_is_not_there_is_one_line(marts: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    for key in SOME:
        assert cli.execute(["ask", "split-brain", "--cluster", f"{NAMES[key]}?", "--warehouse", marts.root]) == 1, key
        told = capsys.readouterr()
        assert told.out == "" and told.err.count("\n") == 1 and not STEERING.search(told.err), key


def test_evidence_steers_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, texts = "a" * 32, list(NAMES.values())
    place = [{"node_id": 1, "source_path": "/logs/\x1b[2J\u202e.log", "byte_offset": n} for n in range(len(texts))]
    make(
        tmp_path,
        {
            "marts/fct_incidents": [],
            "bronze/log_records": [{**record(n, text), "source_path": place[0]["source_path"]} for n, text in enumerate(texts)],
        },
    )
    write_deltalake(
        str(tmp_path / "marts/fct_lines"),
        pa.Table.from_pylist([{"line_key": key, "cluster_id": "orders", "evidence": place}]),
    )
    assert cli.execute(["evidence", key, "--warehouse", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert not STEERING.search(told.replace("\t", ""))
    assert told.count("node 1") == len(texts)


# ----- the report


class Parsed(HTMLParser):
    """Every tag with its attributes, and the texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[str] = []
        self.texts: list[str] = []
        self.comments = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))
        self.values += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments += 1


def page_about(root: Path, name: str) -> str:
    """A page with a name in every place where names can be."""
    place = make(
        root,
        {
            "marts/dim_clusters": [cluster(name), cluster(f"{name}2")],
            "marts/dim_nodes": [{"cluster_id": name, "node_id": 1, "node_name": "node 1"}],
            "marts/fct_parse_coverage_daily": [{"cluster_id": name, "node_id": 1, "records": 4, "event_date": dt.date(2026, 6, 10)}],
            "marts/fct_incidents": [
                incident(
                    "death", "2026-06-10 15:48", cluster_id=name, summary=f"Topic {name} of {name}", groups_affected=1, groups=[name], severity=name or "minor",
                    root_cause_kind=name or "cause", warnings=[name],
                ),
                incident("upkeep", "2026-06-11 02:00", cluster_id=name, is_maintenance=True, summary=name),
            ],
            "marts/fct_incident_events": [event("death", 1, "2026-06-10 15:49", cluster_id=name, sentence=f"Group {name} hangs.", role=name or "cause", **lines_at(7))],
            "marts/fct_leaderless_windows": [
                {"cluster_id": name, "topic_name": name, "partition_id": 0, "started_at": at("2026-06-10 15:48:36"), "ended_at": None}
            ],
            "bronze/log_records": [record(7, f"[2026-06-10 15:48:30,006] WARN {name} (kafka.Log)", name)],
        },
    )  # fmt: skip
    return page_of(place)


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    return Parsed(page_about(tmp_path_factory.mktemp("harmless"), "orders"))


@pytest.mark.parametrize("key", [pytest.param(key, marks=() if key in SOME else pytest.mark.long) for key in NAMES])
def test_no_name_changes_the_report(key: str, harmless: Parsed, tmp_path: Path) -> None:
    name = NAMES[key]
    text = page_about(tmp_path, name)
    page = Parsed(text)
    # The same page tag by tag; long texts may wrap.
    assert page.tags == harmless.tags or [(tag, set(has) - {"class"}) for tag, has in page.tags] == [
        (tag, set(has) - {"class"}) for tag, has in harmless.tags
    ]
    assert page.comments == 0
    assert not any(value.startswith(("javascript:", "data:", "http")) for value in page.values)
    assert not any(name in value for value in page.values) or name in "".join(harmless.values) or not name.strip()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", text)
    assert max((len(one) for one in page.texts), default=0) < max(12_000, max(map(len, harmless.texts)) + 1)
    if name.strip() and not re.search(r"[\r\n]", name) and len(name) < 200:
        shown = report.visible(name)
        assert sum(shown in one for one in page.texts) >= 10


def test_a_long_name_is_cut_and_said_to_be(tmp_path: Path) -> None:
    page = Parsed(page_about(tmp_path, NAMES["long"]))
    assert sum("characters more" in one for one in page.texts) >= 8
    # The raw line is the evidence: it is cut no shorter than any raw line.
    assert sorted(map(len, page.texts))[-1] > report.LONGEST_LINE
    assert all(len(one) < 2 * report.LONGEST_SENTENCE for one in page.texts if "xxx" in one and "WARN" not in one)


# ----- dashboards


def test_dashboards_render_no_name_as_markup() -> None:
    """Superset draws marks on a canvas and cleans tooltips itself; tables render text that looks like HTML unless that is turned off."""
    found = described.load()
    for board in found.dashboards:
        for chart in board.charts:
            form = forms.form_data(chart)
            assert form["viz_type"] in {
                "big_number_total", "echarts_timeseries_bar", "heatmap_v2", "gantt_chart", "table",
            }  # fmt: skip
            if form["viz_type"] == "table":
                assert form["allow_render_html"] is False, chart.title
    for path, content in bundle.files(found).items():
        if path.startswith("dashboards/"):
            markdown = [
                part["meta"]["code"] for part in content["position"].values() if isinstance(part, dict) and part.get("type") == "MARKDOWN"
            ]
            # We wrote these texts, and they have no placeholders.
            assert markdown and all("{{" not in code and "<" not in code for code in markdown), path
            # Ours as well: it fetches nothing, and what it shows of a page is text.
            assert content["css"] == bundle.CSS.read_text()
            assert not re.search(r"url\(|@import|<|\{\{", content["css"]), path
    config = (Path(forms.__file__).parent / "superset_config.py").read_text()
    assert "TALISMAN_ENABLED = True" in config
    assert not re.search(r"HTML_SANITIZATION|ENABLE_JAVASCRIPT_CONTROLS|ENABLE_TEMPLATE_PROCESSING|unsafe", config)


def test_the_names_are_what_they_are_said_to_be() -> None:
    kinds = {unicodedata.category(character) for name in NAMES.values() for character in name}
    assert {"Cc", "Cf", "Mn", "Zl", "Zp", "So", "Lo"} <= kinds
