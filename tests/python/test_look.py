"""Folders and archives as users give them: their files, the cluster and node of each, and refused files."""

from __future__ import annotations

import gc
import io
import tarfile
from pathlib import Path

import pytest

from ingestion.ingest import look
from ingestion.sources.discover import Options, discover
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Placed

LINE = "[2020-05-15 12:00:01,123] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"


def pack(path: Path, files: dict[str, str], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(text.encode()), 1_600_000_000
            archive.addfile(info, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return path


def test_an_archive_is_read_member_by_member_and_nothing_stays_behind(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    pack(
        given / "prod.tar.gz",
        {
            "broker-7/server.log": LINE.format(7),
            "broker-8/controller.log": LINE.format(8).replace(".server.", ".controller."),
            "../out.log": "x",
        },
        {"broker-7/link.log": "/etc/passwd"},
    )
    with Spool(tmp_path / "spool") as spool:
        (found,) = look(Options([str(given / "prod.tar.gz")]), str(tmp_path / "warehouse"), spool)
        assert {(Path(s.shown).name, s.cluster_id, s.outcome, s.node_id) for s in found} == {
            ("server.log", "prod", "read", 7),
            ("controller.log", "prod", "read", 8),
            ("out.log", "prod", "refused", None),
            ("link.log", "prod", "refused", None),
        }
        read = next(s for s in found if s.shown.endswith("server.log"))
        assert read.shown == f"{given.resolve()}/prod.tar.gz/broker-7/server.log"
        assert read.modified == 1_600_000_000
        assert (tmp_path / "spool").stat().st_mode & 0o077 == 0
    assert not (tmp_path / "spool").exists()
    assert sorted(path.name for path in given.iterdir()) == ["prod.tar.gz"]


def test_files_are_named_so_that_others_find_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/server.log").write_text(LINE.format(7))
    monkeypatch.chdir(tmp_path)
    assert [found.path for found in discover(Options(["logs"]))] == [str(tmp_path / "logs/server.log")]


def test_the_same_member_in_a_new_archive_keeps_its_identity(tmp_path: Path) -> None:
    """Yesterday's bundle and today's hold the same log, which has grown: one source."""
    prints = []
    for day in (1, 2):
        path = pack(tmp_path / f"{day}.tgz", {"logs/server.log": LINE.format(7) * 20 * day})
        with Spool(tmp_path / "spool") as spool:
            prints += [source.fingerprint() for [source] in look(Options([str(path)], cluster="c"), str(tmp_path / "w"), spool)]
    assert prints[0] == prints[1]


def test_clusters_that_share_a_folder_tell_nothing_of_each_other(tmp_path: Path) -> None:
    """And one is in memory at a time."""
    (tmp_path / "one-server.log").write_text(LINE.format(7))
    for number in range(3):
        (tmp_path / f"two-server{number}.log").write_text(LINE.replace("[KafkaServer id={}] ", ""))
    with Spool(tmp_path / "spool") as spool:
        found = {}
        for placed in look(Options([str(tmp_path)], layout="{cluster}-{kind}.log"), str(tmp_path / "w"), spool):
            found[placed[0].cluster_id] = [source.node_id for source in placed]
            assert sum(isinstance(one, Placed) for one in gc.get_objects()) == len(placed)
            del placed
    assert found == {"one": [7], "two": [None] * 3}


def test_folders_named_after_nodes_tell_them_and_what_was_told_goes_before(tmp_path: Path) -> None:
    for node in (1, 2):
        (tmp_path / "logs" / f"broker-{node}").mkdir(parents=True)
        (tmp_path / "logs" / f"broker-{node}" / "server.log").write_text(LINE.replace("[KafkaServer id={}] ", ""))
    with Spool(tmp_path / "spool") as spool:
        (by_name,) = look(Options([str(tmp_path / "logs")]), str(tmp_path / "w"), spool)
        assert [s.node_id for s in by_name] == [1, 2]
        (as_told,) = look(Options([str(tmp_path / "logs")], node=5), str(tmp_path / "w"), spool)
        assert [s.node_id for s in as_told] == [5, 5]
        (by_layout,) = look(Options([str(tmp_path)], layout="{cluster}/broker-{node}/**"), str(tmp_path / "w"), spool)
        assert [(s.cluster_id, s.node_id) for s in by_layout] == [("logs", 1), ("logs", 2)]
