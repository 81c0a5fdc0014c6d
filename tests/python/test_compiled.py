"""The compiled catalogue is read from its file as it was written, and a file that cannot be used counts as missing."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingestion.cache import keep, read
from ingestion.reading.catalogue_files import CATALOGUE
from ingestion.recognition.compiled import compile_folder, load
from ingestion.recognition.recognise import PART, Catalogue, Index, catalogue

ENTRY = 'thing_done:\n  means: A thing was done.\n  forms:\n    - {loggers: [a.B], line: "the thing <<partition_name=orders-3>> is done"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A catalogue of one message."""
    folder = tmp_path / "catalogue"
    shutil.copytree(CATALOGUE, folder, ignore=shutil.ignore_patterns("messages"))
    (folder / "messages").mkdir()
    (folder / "messages" / "things.yml").write_text(ENTRY)
    return folder


def files_in(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir()] if cache.exists() else []


def test_what_is_kept_is_what_was_compiled(tmp_path: Path) -> None:
    first, second = load(CATALOGUE, tmp_path), load(CATALOGUE, tmp_path)
    assert len(files_in(tmp_path)) == 1
    assert second is not first
    assert second == first == compile_folder(CATALOGUE)
    assert [form.pattern for form in second.forms[:50]] == [form.pattern for form in first.forms[:50]]


def test_a_changed_catalogue_is_compiled_anew(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert [form.event for form in load(folder, cache).forms] == ["thing_done"]
    (folder / "messages" / "things.yml").write_text(ENTRY.replace("thing_done", "thing_made"))
    assert [form.event for form in load(folder, cache).forms] == ["thing_made"]
    assert len(files_in(cache)) == 2


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b'{"tokens": [], "fields": {}, "roles": [], "contexts": [], "forms": [[1]], "version": "x"}', b"\xff"]
)
def test_a_damaged_file_is_as_none(folder: Path, tmp_path: Path, content: bytes) -> None:
    cache = tmp_path / "cache"
    load(folder, cache)
    (kept,) = cache.iterdir()
    kept.write_bytes(content)
    assert [form.event for form in load(folder, cache).forms] == ["thing_done"]
    assert kept.read_bytes() != content


def test_where_nothing_can_be_written_it_is_compiled_each_time(folder: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert [form.event for form in load(folder, blocked).forms] == ["thing_done"]
    assert [form.event for form in load(folder, blocked / "below").forms] == ["thing_done"]


def test_several_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    place = tmp_path / "catalogue-1.json"
    texts = [letter * 200_000 for letter in "abcdefgh"]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: keep(place, text, 3), texts))
    assert place.read_text() in texts
    assert files_in(tmp_path) == ["catalogue-1.json"]


def test_files_of_former_states_do_not_pile_up(tmp_path: Path) -> None:
    places = [tmp_path / f"catalogue-{number}.json" for number in range(9)]
    for number, place in enumerate(places):
        keep(place, str(number), 3)
        os.utime(place, (number, number))
    assert sorted(files_in(tmp_path)) == ["catalogue-5.json", "catalogue-6.json", "catalogue-7.json", "catalogue-8.json"]
    assert read(places[0]) is None
    # Files in use stay.
    assert read(places[5]) == b"5"
    keep(tmp_path / "catalogue-9.json", "9", 3)
    assert sorted(files_in(tmp_path)) == ["catalogue-5.json", "catalogue-7.json", "catalogue-8.json", "catalogue-9.json"]


def test_a_body_is_held_against_few_forms_however_many_there_are() -> None:
    index = Index(catalogue().forms)
    tried = [len(index.candidates(form.example.encode())) for form in catalogue().forms]
    assert sum(tried) / len(tried) < 10
    assert index.candidates(b"nothing here is known to anybody 12345") == index.candidates(b"")


def test_words_next_to_what_varies_are_not_relied_on(folder: Path) -> None:
    lines = ["took <<duration_ms=12>>ms", "pre…fix is gone", "Set(<<isr=1, 2>>) shrank", "<<reason=x>> stays"]
    (folder / "messages" / "things.yml").write_text(
        "thing_done:\n  means: x\n  forms:\n" + "".join(f'    - {{loggers: [a.B], line: "{line}"}}\n' for line in lines)
    )
    known = Catalogue(folder)
    assert [form.words for form in known.forms] == [b"took", b"gone is", b"shrank", b"stays"]
    for body in (b"took 7ms", b"pre-set prefix is gone", b"HashSet(3) shrank", b"it stays"):
        assert known.recognise(b"a.B", body) is not None, body


def test_a_word_far_into_a_long_body_is_found(folder: Path) -> None:
    (folder / "messages" / "things.yml").write_text(
        'thing_done:\n  means: x\n  forms:\n    - {loggers: [a.B], line: "<<reason=x>> vanished"}\n'
    )
    known = Catalogue(folder)
    # For one of the sizes the word lies across the border of two parts.
    for size in (PART - 4, PART, 3 * PART + 100):
        reason = b"orders-7," * (size // 9)
        found = known.recognise(b"a.B", reason + b" vanished")
        assert found is not None
        assert [(span.name, span.start, span.end) for span in found.spans] == [("reason", 0, len(reason))]
