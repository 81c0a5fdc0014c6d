"""What dbt has read of a project is kept and read again, unless the project has changed or lies elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chronicle.build.parsed import kept, parse, project_hash
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one model, with a cache of its own."""
    monkeypatch.setenv("CHRONICLE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    (folder / "models").mkdir(parents=True)
    shutil.copy(PROJECT / "profiles.yml", folder)
    (folder / "dbt_project.yml").write_text("{name: small, version: '1.0', profile: chronicle}")
    (folder / "models/one.sql").write_text("select 1 as n")
    return folder


def models(project: Path, warehouse: Path) -> dict[str, str]:
    return {node.name: node.raw_code for node in parse(Warehouse.at(str(warehouse)), project).nodes.values()}


def test_what_was_read_is_kept(project: Path, tmp_path: Path) -> None:
    assert not kept(project).exists()
    first = models(project, tmp_path / "first")
    assert kept(project).exists() and first == {"one": "select 1 as n"}
    content = kept(project).read_bytes()
    assert models(project, tmp_path / "second") == first
    assert kept(project).read_bytes() == content


def test_dbt_begins_with_what_was_kept(project: Path, tmp_path: Path) -> None:
    """Nothing compares what dbt keeps of a file that has not changed."""
    models(project, tmp_path / "first")
    content = kept(project).read_bytes()
    assert content.count(b"select 1 as n") > 0
    kept(project).write_bytes(content.replace(b"select 1 as n", b"select 2 as n"))
    assert models(project, tmp_path / "second") == {"one": "select 2 as n"}


def test_a_project_that_has_changed_is_read_again(project: Path, tmp_path: Path) -> None:
    models(project, tmp_path / "first")
    before = kept(project)
    (project / "models/one.sql").write_text("select 3 as n")
    assert kept(project) != before and not kept(project).exists()
    assert models(project, tmp_path / "first") == {"one": "select 3 as n"}


def test_what_is_kept_does_not_begin_with_an_earlier_reading(project: Path, tmp_path: Path) -> None:
    models(project, tmp_path / "first")
    kept(project).unlink()
    read = tmp_path / "first/.dbt/target/partial_parse.msgpack"
    read.write_bytes(read.read_bytes().replace(b"select 1 as n", b"select 2 as n"))
    assert models(project, tmp_path / "first") == {"one": "select 1 as n"}


def test_a_copy_of_a_project_is_another(project: Path, tmp_path: Path) -> None:
    models(project, tmp_path / "first")
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    assert not kept(copy).exists()


def test_what_is_damaged_is_not_used(project: Path, tmp_path: Path) -> None:
    models(project, tmp_path / "first")
    kept(project).write_bytes(b"\xff" * 100)
    assert models(project, tmp_path / "second") == {"one": "select 1 as n"}


def test_the_hash_of_the_project_has_its_profiles(project: Path) -> None:
    """They decide how a build is made."""
    before = project_hash(project)
    (project / "profiles.yml").write_text("chronicle: {}")
    assert project_hash(project) != before
