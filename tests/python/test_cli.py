"""The command line without Spark: exit codes, one line per fault, help that comes at once."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from chronicle.build import changes
from chronicle.cli import main, work
from chronicle.cli.work import Wanted, has_nothing_new
from chronicle.output.console import NEW_LINE, Progress
from chronicle.project import PROJECT
from chronicle.report import report
from chronicle.spark import jars
from ingestion import cache
from ingestion.captures.system import open_files
from ingestion.lease import Busy
from ingestion.warehouse import Warehouse, only_writer, writer
from tests.python.test_report import cluster, make


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["sql"], "Missing argument"),
        (["sql", "select 1", "--format", "xml"], "unknown format 'xml'; use table, csv, json, parquet"),
        (["sql", "  "], "the query is empty"),
    ],
)
def test_wrong_usage_is_2_with_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("chronicle: ")
    assert said in error
    assert error.count("\n") == 1


def test_without_a_command_help_comes_in_the_order_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute([]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    listed = re.findall(r"^  ([a-z]+) ", told.out[told.out.index("Commands:") :], re.MULTILINE)
    assert listed[:8] == ["run", "report", "ask", "sql", "evidence", "check", "serve", "follow"]
    assert {*main.ORDER} <= {*listed}
    assert main.execute(["--help"]) == 0
    assert capsys.readouterr().out == told.out
    assert main.execute(["catalogue"]) == 0
    assert "coverage" in capsys.readouterr().out


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(["--version"]) == 0
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert capsys.readouterr() == (f"chronicle {version}\n", "")


@pytest.mark.parametrize(
    ("words", "offered"),
    [("chronicle fo", ["follow"]), ("chronicle ask who-", ["who-led", "who-was-controller"]), ("chronicle sql --eng", ["--engine"])],
)
def test_a_shell_completes_commands_options_and_questions(words: str, offered: list[str]) -> None:
    given = {"_CHRONICLE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run([sys.executable, "-m", "chronicle"], capture_output=True, text=True, env={**os.environ, **given})
    assert done.stdout.split() == offered, done.stderr


def test_an_empty_folder_says_what_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is built of nothing."""
    monkeypatch.setattr("chronicle.spark.session.start_ahead", lambda *given, **named: SimpleNamespace(result=lambda: pytest.fail("Spark")))
    monkeypatch.setattr("chronicle.build.compiled.compiled_ahead", lambda: None)
    (tmp_path / "logs/deep").mkdir(parents=True)
    assert main.execute(["run", str(tmp_path / "logs"), "--warehouse", str(tmp_path / "warehouse")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"no files in {tmp_path}/logs; looked in all folders and archives there for logs of Kafka, ")
    assert told.err.count("\n") == 1


def test_long_work_is_told_as_a_share_and_a_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    monkeypatch.setattr("chronicle.output.console.time.monotonic", lambda: now)
    progress = Progress("building", "models")
    for number in range(1, 104):
        now += 1
        progress(number, 103, f"marts.fct_{number}")
    # Nobody looks on: a line now and then, and no names.
    assert capsys.readouterr().err.splitlines() == [
        f"building: {share}% of 103 models, {seconds} s" for share, seconds in ((14, 15), (28, 30), (43, 45), (57, 60), (72, 75), (86, 90))
    ]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress(103, 103, "marts.fct_103")
    assert capsys.readouterr().err == f"{NEW_LINE}building: 99% of 103 models, 103 s"


def test_a_report_tells_where_it_is_part_by_part(tmp_path: Path) -> None:
    place = make(tmp_path, {"marts/dim_clusters": [cluster("a"), cluster("b")], "marts/fct_incidents": []})
    seen: list[tuple[int, int]] = []
    report.collect(place, None, None, None, dt.datetime(2026, 6, 13, tzinfo=dt.UTC), lambda number, total: seen.append((number, total)))
    each = 2 * (1 + len({question.part for question in report.QUESTIONS}))
    assert seen == [(number, each) for number in range(1, each + 1)]


def test_a_warehouse_that_is_not_there_is_1_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(["sql", "select 1", "--warehouse", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == (
        f"chronicle: {tmp_path}/none: no warehouse there; create one with `chronicle run PATH`, or choose another with --warehouse\n"
    )


def test_nothing_is_built_before_anything_was_read_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(["build", "--warehouse", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.startswith(f"chronicle: {tmp_path}/none: no warehouse there; ")
    assert main.execute(["build", "--warehouse", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"chronicle: {tmp_path}: nothing was read in yet; do so with `chronicle ingest PATH`\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wanted", "is_said"),
    [(Wanted(), True), (Wanted(explain=True), True), (Wanted(select="fct_x"), False), (Wanted(full_refresh=True), False)],
)
def test_tables_that_are_as_wanted_are_not_built(wanted: Wanted, is_said: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(changes, "is_current", lambda warehouse: True)
    assert has_nothing_new("w", wanted, said.append) == is_said
    assert said == ["nothing new: tables unchanged"] * is_said
    monkeypatch.setattr(changes, "is_current", lambda warehouse: False)
    assert not has_nothing_new("w", wanted, said.append)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from chronicle.cli import main; main.execute(['--help']);"
        " print([name for name in ('pyspark', 'dbt', 'pyarrow', 'numpy', 'jinja2', 'matplotlib') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "sql" in done.stdout
    assert done.stderr == "[]\n"


def test_missing_jars_are_named_before_a_file_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHRONICLE_JARS", str(tmp_path))
    monkeypatch.setattr("ingestion.ingest.look", lambda *arguments: pytest.fail("a file was looked at"))
    assert main.execute(["ingest", str(tmp_path), "--cluster", "c", "--warehouse", str(tmp_path / "warehouse")]) == 1
    assert f"{tmp_path}: no delta-spark_" in capsys.readouterr().err


def test_a_jar_with_other_bytes_is_named_with_its_hash(tmp_path: Path) -> None:
    for jar in jars.JARS:
        (tmp_path / jar.name).write_bytes(b"")
    with pytest.raises(jars.NoJars, match=r"sha256 is e3b0c44298fc1c14.*, pinned is 27d4fd8b1f879535.*delete the file"):
        jars.ensure(tmp_path)


def test_an_installation_fetches_the_jars_once_and_a_checkout_names_make_setup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def resolve(wanted: list[jars.Jar], left_out: tuple[str, ...], where: Path, ivy: Path) -> None:
        for jar in wanted:
            shutil.copyfile(have / jar.name, where / jar.name)

    have = jars.folder()
    monkeypatch.delenv("CHRONICLE_JARS", raising=False)
    monkeypatch.setenv("CHRONICLE_CACHE", str(tmp_path))
    monkeypatch.setattr(jars, "resolve", resolve)
    with pytest.raises(jars.NoJars, match="run `make setup`"):
        jars.class_path()
    monkeypatch.setattr(cache, "IS_CHECKOUT", False)
    wanted = [str(tmp_path / "jars" / jar.name) for jar in jars.JARS]
    assert jars.class_path() == wanted
    assert capsys.readouterr().err == f"setup: fetching Delta's jars into {tmp_path}/jars (10 MB, once)\n"
    assert jars.class_path() == wanted
    assert capsys.readouterr().err == ""


def test_suggest_says_where_there_is_nothing_to_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("milk\nbread\n")
    log = tmp_path / "logs" / "server.log"
    log.parent.mkdir()
    log.write_text("[2026-11-21 09:46:30,143] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    assert main.execute(["catalogue", "suggest", str(log.parent), str(tmp_path / "nowhere")]) == 1
    said = capsys.readouterr()
    missing = f"{tmp_path}/nowhere: no such file or folder; give a log of Kafka or ZooKeeper, or a folder of them"
    assert (said.out, said.err) == ("", f"chronicle: {missing}\n")
    assert main.execute(["catalogue", "suggest", str(notes)]) == 1
    assert f"{notes}: no log of Kafka or ZooKeeper there" in capsys.readouterr().err
    assert main.execute(["catalogue", "suggest", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "nothing to suggest: every record is recognised\n"


def test_match_says_where_there_is_nothing_to_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(["catalogue", "match", str(tmp_path / "nowhere")]) == 1
    assert (
        capsys.readouterr().err
        == f"chronicle: {tmp_path}/nowhere: no such file or folder; give a log of Kafka or ZooKeeper, or a capture\n"
    )


def test_match_shows_what_a_capture_is_read_as(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = tmp_path / "20261121T100000Z-fd-counts.txt"
    counts.write_text("4711 164\n")
    assert main.execute(["catalogue", "match", str(counts)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "open_file_counts:",
        "         0 open_file_count: process_id='4711', count='164'",
        "         0 sample process_open_files: value=164.0, unit='files', process_id='4711'",
    ]


def test_match_says_why_the_reader_of_a_capture_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*given: object) -> None:
        raise ValueError("no such field")

    monkeypatch.setattr(open_files, "read", read)
    counts = tmp_path / "20261121T100000Z-fd-counts.txt"
    counts.write_text("4711 164\n")
    assert main.execute(["catalogue", "match", str(counts)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert "the reader of this kind of capture failed here" in told[1]
    assert told[2].startswith("the reader failed: ValueError: no such field")


@pytest.mark.parametrize("command", [["ask", "split-brain"], ["check"], ["report", "-o", "-"]])
@pytest.mark.parametrize("is_building", [False, True])
def test_before_the_first_build_there_is_nothing_to_ask(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], is_building: bool
) -> None:
    with only_writer(Warehouse.at(str(tmp_path))) if is_building else contextlib.nullcontext():
        assert main.execute([*command, "--warehouse", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "no build has been completed yet" in err
    assert (f"(process {os.getpid()}) is writing to it now" if is_building else "run `chronicle build`") in err


# Ctrl-C during the import of a module that executes text, as every module with a dataclass does.
INTERRUPTED = """
from chronicle.cli import main

def importing(*arguments, **options):
    exec("import os, signal\\nos.kill(os.getpid(), signal.SIGINT)\\nfor number in range(10**9): pass")

main.app = importing
main.main(["ingest"])
"""


def test_an_interrupt_within_executed_text_has_its_exit_code(tmp_path: Path) -> None:
    """With `-m`, because there Python checks for such an interrupt at its very end."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "chronicle: interrupted\n")


def test_a_command_waits_for_a_round_of_another_and_names_who_writes_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock belongs to an open file, so this process acts like another one."""
    place, told = Warehouse.at(str(tmp_path)), list[str]()
    monkeypatch.setattr(work, "WAITED_SECONDS", 0.2)
    monkeypatch.setattr(sys, "argv", ["/opt/chronicle/bin/chronicle", "follow", "/var/log/kafka"])
    work.wait_for_others(place.root, told.append)
    assert (told, writer(place)) == ([], None)
    follow = f"`chronicle follow` (process {os.getpid()})"
    with only_writer(place):
        work.wait_for_others(place.root, told.append)
        with pytest.raises(Busy) as caught, only_writer(place):
            pass
    assert told == [f"waiting for {follow}, which is writing to {place.root}"]
    assert str(caught.value) == f"{place.root}: {follow} is writing to this warehouse; try again when it is done"
    with only_writer(place):
        assert writer(place) == follow
    assert writer(place) is None
