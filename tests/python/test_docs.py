"""README and docs: the names in them exist, their links lead somewhere, their pictures are pictures."""

from __future__ import annotations

import datetime as dt
import importlib.util
import os
import re
import struct
from itertools import pairwise
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup

from chronicle.ask.questions import question
from chronicle.cli.main import app
from chronicle.project import PROJECT
from docs.blocks import READ, RUN, Block, blocks, commands
from docs.outputs import EXAMPLE, PIECE, is_of_reader, pages, queries
from docs.pictures.make import BOARDS, PICTURES, REPORT_SIZE, browser, command, without_place
from ingestion.captures import modules

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
PAGES = [*pages(), PROJECT / "CONTRIBUTING.md", PROJECT / "DECISIONS.md"]
# Made by `chronicle catalogue build`; their wordings are Kafka's.
WRITTEN = [page for page in PAGES if page.parent.name != "messages"]
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
MODELS = {path.stem for path in (PROJECT / "models").rglob("*.sql")}
QUESTIONS = {path.stem.replace("_", "-") for path in (PROJECT / "analyses").glob("*.sql")}


def named(page: Path) -> str:
    return str(page.relative_to(PROJECT))


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


@pytest.mark.parametrize("page", WRITTEN, ids=named)
def test_links_lead_to_files(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link and not link.startswith("#")]
    assert [link for link in links if not (page.parent / link.split("#")[0]).exists()] == []


@pytest.mark.parametrize("page", WRITTEN, ids=named)
def test_tables_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # Names of old tables belong only in the lists of changes.
    if page.name != "DECISIONS.md":
        assert set(re.findall(r"\b(?:fct|dim|rpt)_[a-z0-9_]+[a-z0-9]\b", text)) - MODELS == set()


def test_all_marts_reports_and_questions_have_their_place() -> None:
    text = (PROJECT / "docs/questions.md").read_text(encoding="utf-8")
    asked = {name for row in text.splitlines() if row.startswith("|") for name in re.findall(r"`([a-z-]+)`", row.split("|")[2])}
    assert asked == QUESTIONS, "docs/questions.md lists each saved question, and none that does not exist"
    tables = {name for name in MODELS if name.startswith(("fct_", "rpt_"))}
    told = "".join(page.read_text(encoding="utf-8") for page in (PROJECT / "docs").glob("subjects/*.md")) + text
    unnamed = {name for name in tables if f"`{name}`" not in told}
    assert unnamed == set(), "name the table in docs/questions.md and on its subject's page in docs/subjects"


def test_questions_below_a_subject_exist() -> None:
    for page in (PROJECT / "docs/subjects").glob("*.md"):
        for line in re.findall(r"^Saved questions: (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert {name.removeprefix("chronicle ask ") for name in re.findall(r"`([^`]+)`", line)} - QUESTIONS == set(), page


@pytest.mark.parametrize("page", sorted((PROJECT / "docs/subjects").glob("*.md")), ids=named)
def test_each_subject_says_what_can_make_it_wrong_and_gives_an_example(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert "What can make it wrong" in headings
    assert "Example" in headings
    assert list(queries(text))
    # Every query has its answer below it.
    assert text.count("```sql") == len(list(PIECE.finditer(text)))


@pytest.mark.parametrize("page", pages(), ids=named)
def test_a_page_asks_for_the_example_or_says_how_to_get_another_cluster(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert (PROJECT / "examples" / EXAMPLE).is_dir()
    for query, _ in queries(text):
        if not is_of_reader(query):
            [cluster] = re.findall(r"cluster_id = '([^']*)'", query)
            [given] = re.findall(rf"^    chronicle run (\S+) --cluster {re.escape(cluster)}\b", text[: text.index(query)], re.MULTILINE)
            unpacked = re.findall(r"^    tar xf (\S+) -C /tmp$", text, re.MULTILINE)
            assert all((PROJECT / path).is_file() for path in unpacked)
            assert unpacked or (PROJECT / given).is_dir()


def test_the_readme_is_short_before_its_first_picture() -> None:
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert text[: text.index("![")].count("\n") < 40
    assert "make run" in text
    assert "make test" in text


def test_pictures_are_there_and_large_enough_to_read() -> None:
    shown = {
        picture for page in WRITTEN for picture in re.findall(r"\((?:docs/|\.\./)?pictures/([\w.-]+)\)", page.read_text(encoding="utf-8"))
    }
    # Each is drawn by `make pictures`, and nothing else lies there.
    assert shown == {"report.png", *(f"{board}.png" for board in BOARDS)} == {picture.name for picture in PICTURES.glob("*.png")}
    for picture in PICTURES.glob("*.png"):
        assert size(picture) >= (1000, 600), picture
        assert picture.stat().st_size < 600_000, picture


def test_a_report_names_no_place_of_this_machine(tmp_path: Path) -> None:
    assert without_place(f"Written of {tmp_path.resolve()}.", tmp_path) == "Written of ./warehouse."


def test_boards_of_the_pictures_exist() -> None:
    boards = {path.stem.split("_", 1)[1] for path in (PROJECT / "dashboards/boards").glob("*.yml")}
    assert set(BOARDS) <= boards


def test_a_page_is_drawn(tmp_path: Path) -> None:
    """The top of a page, as large as asked."""
    import subprocess

    chromium = browser()
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    page = tmp_path / "page.html"
    page.write_text("<h1>A page</h1>", encoding="utf-8")
    subprocess.run(command(chromium, page, tmp_path / "page.png", REPORT_SIZE), check=True, capture_output=True, timeout=120)
    assert size(tmp_path / "page.png") == REPORT_SIZE


def test_a_browser_goes_by_several_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser() is None
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    assert browser() == str(program)


def test_decisions_are_numbered_dated_and_indexed() -> None:
    text = (PROJECT / "DECISIONS.md").read_text(encoding="utf-8")
    index = re.findall(r"^(\d+)\. \[(.+)\]\(#.*\) \((\d{4}-\d\d-\d\d)\)$", text, re.MULTILINE)
    entries = re.findall(r"^## (\d+)\. (.+)\n\n\*(\d{4}-\d\d-\d\d)\.\* ", text, re.MULTILINE)
    assert index == entries
    assert [int(number) for number, _, _ in entries] == list(range(1, len(entries) + 1))
    assert len(re.findall(r"^## (?!Index)", text, re.MULTILINE)) == len(entries)


def test_sources_refer_to_nothing_that_is_not_in_the_repository() -> None:
    """Statements cite a release, a KIP or a file of Kafka, not a document that only their author had."""
    texts = [path for folder in ("chronicle", "ingestion", "models", "macros", "dbt_project") for path in (PROJECT / folder).rglob("*.*")]
    kinds = (".py", ".yml", ".sql", ".csv", ".md", ".scala")
    found = [path for path in texts if path.suffix in kinds and re.search(r"\(?reference:? sections? \d", path.read_text(encoding="utf-8"))]
    assert found == []


def test_search_finds_lists_and_logs_of_decisions_last() -> None:
    """They repeat the words of every subject: at their normal weight they hide the pages that explain them."""
    repeating = [PROJECT / "docs" / f"{name}.md" for name in ("decisions", "changelog", "contributing", "bench-serve")]
    for page in [*(PROJECT / "docs/messages").glob("*.md"), *repeating]:
        _, head, _ = page.read_text(encoding="utf-8").split("---\n", 2)
        assert yaml.safe_load(head)["search"]["boost"] < 0.001, page


BLOCKS = [block for page in [*pages(), PROJECT / "CONTRIBUTING.md"] for block in blocks(page)]
SHELL = [
    (block, command)
    for block in BLOCKS
    if block.language in ("bash", "crontab") and block.page.name != "CONTRIBUTING.md"
    for command in commands(block.code)
]


def test_every_block_has_a_language_and_is_run_or_says_why_not() -> None:
    reasons = yaml.safe_load((PROJECT / "docs/not_run.yml").read_text(encoding="utf-8"))
    assert [block.place for block in BLOCKS if block.language not in (*RUN, *READ)] == []
    assert {block.reason for block in BLOCKS} - {None} == set(reasons)
    # A mark that stands elsewhere, or that is worded otherwise, would mark nothing.
    for page in pages():
        assert page.read_text(encoding="utf-8").count("not run:") == sum(block.reason is not None for block in blocks(page)), page


def test_every_query_has_its_answer_below_it() -> None:
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert text.count("```sql") == len(list(queries(text))), page


def understood(words: list[str]) -> None:
    """Reads the arguments of `chronicle` as the command line does, and calls nothing.  Raises a usage error."""
    known = typer.main.get_command(app)
    if words[:1] and words[0].startswith("-"):
        # Options of the program alone print something and end.
        assert any(words[0] in option.opts for option in known.params), f"chronicle has no option {words[0]}"
        return
    while isinstance(known, TyperGroup) and words:
        assert words[0] in known.commands, f"chronicle has no command {words[0]}"
        known, words = known.commands[words[0]], words[1:]
    known.make_context(known.name, list(words))


@pytest.mark.parametrize(("block", "command"), SHELL, ids=[f"{block.place}-{' '.join(command)[:40]}" for block, command in SHELL])
def test_what_commands_name_exists(block: Block, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and options of `chronicle`, targets of make, modules, files: also in blocks that are not run."""
    # `--master` is kept in the environment.
    monkeypatch.setattr("os.environ", dict(os.environ))
    program = next((number for number, word in enumerate(command) if Path(word).name == "chronicle"), None)
    if program is not None and command[0] != "useradd":
        understood(command[program + 1 :])
        if command[program + 1 :][:1] == ["ask"] and len(command) > program + 2:
            name, *values = command[program + 2 :]
            options = {word.removeprefix("--"): after for word, after in pairwise(values) if word.startswith("--")}
            question(name).values(values[: next((n for n, word in enumerate(values) if word.startswith("--")), None)], options, NOW)
    if command[0] == "make":
        targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        assert {word for word in command[1:] if "=" not in word} <= targets
    for module in [after for word, after in pairwise(command) if word == "-m" and not after.isdigit()]:
        assert importlib.util.find_spec(module)
    assert [word for word in command if word.startswith(("tests/", "deploy/")) and not (PROJECT / word).exists()] == []


@pytest.mark.parametrize("words", [["--nothing"], ["ask", "--clusters", "x"], ["asks"], ["run"], ["check", "--since"]])
def test_a_command_that_is_not_there_is_not_understood(words: list[str]) -> None:
    with pytest.raises((AssertionError, typer.BadParameter.__mro__[1])):
        understood(words)


SYMPTOMS = re.split(r"^## ", (PROJECT / "docs/symptoms.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def test_there_are_twenty_symptoms_and_they_are_linked_first() -> None:
    assert [text.splitlines()[0] for text in SYMPTOMS[20:]] == ["None of these"]
    found = list(blocks(PROJECT / "docs/symptoms.md"))
    assert [
        block.place for block in found if ("chronicle ask" in block.code) == (block.reason is not None) and block.reason != "builds"
    ] == []
    for page in ("README.md", "docs/index.md"):
        links = re.findall(r"(?<!!)" + LINK.pattern, (PROJECT / page).read_text(encoding="utf-8"))
        assert links[0].endswith("symptoms.md"), page


@pytest.mark.parametrize("text", SYMPTOMS[:20], ids=[text.splitlines()[0] for text in SYMPTOMS[:20]])
def test_a_symptom_says_what_to_collect_and_what_to_ask(text: str) -> None:
    """Each command of a symptom names the kind that its output is read as, by a module that knows the program or the file."""
    kinds = {kind: Path(module.__file__ or "").read_text(encoding="utf-8") for module in modules() for kind in module.KINDS}
    collect, ask = (
        re.findall(r"^<!-- not run: broker -->\n\n((?:    .*\n)+)", text, re.MULTILINE),
        re.findall(r"^    chronicle ask", text, re.MULTILINE),
    )
    assert len(collect) == 1 and ask
    for line in collect[0].splitlines():
        command, kind = re.fullmatch(r"    (.+?) +# (\w+)", line).groups()
        words = command.split()
        assert kind in kinds, line
        # Of what is copied, the name says what it is; `echo WORD | nc` asks ZooKeeper.
        if words[0] != "cp":
            program = words[1] if words[0] == "echo" else words[0].removesuffix(".sh")
            assert program in kinds[kind] or (program, words[1]) == ("cat", "/proc/$PID/limits"), line
