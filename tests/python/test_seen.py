"""A file that is unchanged is not opened again, and every other one is."""

from __future__ import annotations

import builtins
import io
import os
import pickle
import shutil
import tarfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from ingestion import ingest as ingesting
from ingestion.bronze.source_rows import SOURCE_COLUMNS
from ingestion.bronze.write import schema_of
from ingestion.outcome import Outcome
from ingestion.sources import kept, seen
from ingestion.sources.discover import Options
from tests.rotations import Here

DUMP = """2020-05-15 12:00:00
Full thread dump OpenJDK 64-Bit Server VM (17.0.1+12 mixed mode):

"main" #1 prio=5 os_prio=0 cpu=1.00ms elapsed=9.00s tid=0x00007f0000000001 nid=0x1 waiting on condition  [0x00007f0000001000]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.1/Native Method)

"""
LINE = "[2020-05-15 12:00:{:02},123] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"


def run(folder: Path, warehouse: Path, **options: Any) -> Outcome:
    told: list[str] = []
    return ingesting.ingest(Here, str(warehouse), Options([str(folder)], cluster="c", timezone="UTC", **options), told.append)


def put(path: Path, text: str, days_ago: float = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    at = time.time() - days_ago * 86_400
    os.utime(path, (at, at))


def rows(warehouse: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kept.newer(DeltaTable(f"{warehouse}/bronze/sources")).to_pylist()
    return found


def known(warehouse: Path) -> dict[str, seen.Summary]:
    return seen.Seen(warehouse / ".dbt/seen").of("c").summaries


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(seen, "COARSEST_SECONDS", 0)
    for node in (1, 2, 3):
        put(tmp_path / f"logs/{node}/server.log", "".join(LINE.format(second, node) for second in range(9)))
    put(tmp_path / "logs/3/copy.log", (tmp_path / "logs/3/server.log").read_text())
    put(tmp_path / "logs/3/notes", "nothing that any layout knows\n" * 3)
    put(tmp_path / "logs/3/nothing", "")
    return tmp_path / "logs"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, logs: Path) -> list[str]:
    """The log files that a run opens."""
    names: list[str] = []
    plain: Callable[..., Any] = builtins.open

    def told(file: Any, *rest: Any, **more: Any) -> Any:
        if str(file).startswith(str(logs)):
            names.append(str(Path(str(file)).relative_to(logs)))
        return plain(file, *rest, **more)

    monkeypatch.setattr(builtins, "open", told)
    return names


def test_what_has_not_changed_is_not_opened(logs: Path, tmp_path: Path, opened: list[str]) -> None:
    first = run(logs, tmp_path / "w")
    assert (first.records, first.files) == (27, {"new": 3, "copy": 1, "unknown": 1, "empty": 1})
    known = rows(tmp_path / "w")
    opened.clear()
    second = run(logs, tmp_path / "w")
    assert opened == []
    assert (second.records, second.files) == (0, {"unchanged": 3, "copy": 1, "unknown": 1, "empty": 1})
    assert rows(tmp_path / "w") == known


@pytest.mark.parametrize("settled_after", [60.0, 0.0])
def test_what_has_grown_is_read_on(logs: Path, tmp_path: Path, opened: list[str], settled_after: float) -> None:
    run(logs, tmp_path / "w")
    opened.clear()
    with (logs / "2/server.log").open("a") as file:
        file.write(LINE.format(30, 2) + LINE.format(31, 2))
    assert run(logs, tmp_path / "w", settled_after=settled_after).records == (1 if settled_after else 2)
    assert {name for name in opened if name != "2/server.log"} == set()
    assert rows(tmp_path / "w")[-1]["source_id"] in {row["source_id"] for row in rows(tmp_path / "w")[:-1]}


def test_a_last_record_that_was_held_back_is_read_when_the_file_has_settled(logs: Path, tmp_path: Path) -> None:
    put(logs / "1/server.log", "".join(LINE.format(second, 1) for second in range(9)), days_ago=0)
    assert run(logs, tmp_path / "w").records == 26
    assert run(logs, tmp_path / "w").records == 0
    assert run(logs, tmp_path / "w", settled_after=0).records == 1
    assert run(logs, tmp_path / "w", settled_after=0).records == 0


@pytest.mark.parametrize(("days_ago", "again"), [(0, {"1/server.log"}), (1, set())])
def test_a_file_that_ended_in_a_line_is_looked_at_again_until_it_has_settled(
    logs: Path, tmp_path: Path, opened: list[str], days_ago: int, again: set[str]
) -> None:
    put(logs / "1/server.log", (LINE * 3).format(1, 1, 2, 1, 3, 1)[:-9], days_ago=days_ago)
    run(logs, tmp_path / "w")
    opened.clear()
    run(logs, tmp_path / "w")
    assert set(opened) == again


def test_other_content_of_the_same_size_and_time_is_seen(logs: Path, tmp_path: Path) -> None:
    """ctime cannot be set back."""
    run(logs, tmp_path / "w")
    path = logs / "2/server.log"
    status = path.stat()
    path.write_text(path.read_text().replace("12:00", "13:00"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size and path.stat().st_mtime_ns == status.st_mtime_ns
    assert run(logs, tmp_path / "w").records == 9


def test_a_new_file_gets_what_unchanged_ones_tell(logs: Path, tmp_path: Path) -> None:
    """Node and zone of a folder are known from files that this run did not open."""
    run(logs, tmp_path / "w")
    put(logs / "2/state-change.log", "[2020-05-15 12:00:01,123] INFO nothing of a node (state.change.logger)\n")
    run(logs, tmp_path / "w")
    row = rows(tmp_path / "w")[-1]
    assert (Path(row["source_path"]).name, row["node_id"], row["node_known_by"]) == ("state-change.log", 2, "folder")


def test_other_words_and_other_code_look_again(logs: Path, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run(logs, tmp_path / "w")
    opened.clear()
    run(logs, tmp_path / "w", node=7)
    assert {"1/server.log", "2/server.log"} <= set(opened)
    opened.clear()
    monkeypatch.setattr(seen, "code", lambda: "other")
    run(logs, tmp_path / "w", node=7)
    assert {"1/server.log", "2/server.log"} <= set(opened)


def test_without_the_tables_everything_is_read_again(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "w")
    (tmp_path / "w/bronze").rename(tmp_path / "away")
    assert run(logs, tmp_path / "w").records == 27


def test_what_is_gone_is_forgotten_and_other_folders_are_not(logs: Path, tmp_path: Path) -> None:
    put(tmp_path / "more/server.log", LINE.format(1, 9))
    run(tmp_path / "more", tmp_path / "w")
    run(logs, tmp_path / "w")
    (logs / "1/server.log").unlink()
    run(logs, tmp_path / "w")
    names = {Path(name).relative_to(tmp_path).as_posix() for name in known(tmp_path / "w")}
    assert {"more/server.log", "logs/2/server.log"} <= names and "logs/1/server.log" not in names


@pytest.mark.parametrize("few", [100, 1])
def test_only_what_has_changed_is_written_again(
    logs: Path, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """In a second file, until it has more than a few."""
    monkeypatch.setattr(seen, "FEW", few)
    run(logs, tmp_path / "w")
    file = seen.Seen(tmp_path / "w/.dbt/seen").of("c").file
    newer, first = file.with_name(f"{file.name}{seen.NEWER}"), file.read_bytes()
    assert not newer.exists()
    for name in ("1/server.log", "2/server.log"):
        # Both have settled, one after the other.
        put(logs / name, (logs / name).read_text() + LINE.format(40, int(name[0])))
        run(logs, tmp_path / "w")
    (logs / "3/copy.log").unlink()
    run(logs, tmp_path / "w")
    assert newer.exists() == (few > 1) and (file.read_bytes() == first) == (few > 1)
    assert {Path(name).relative_to(logs).as_posix() for name in known(tmp_path / "w")} == {
        *(f"{node}/server.log" for node in (1, 2, 3)),
        *("3/notes", "3/nothing"),
    }
    opened.clear()
    assert run(logs, tmp_path / "w").records == 0
    assert opened == []
    if few > 1:
        newer.write_bytes(newer.read_bytes()[:100])
        assert run(logs, tmp_path / "w").records == 0
        assert {"1/server.log", "2/server.log"} <= set(opened)


LAYOUT = "{cluster}/**"


def append(logs: Path) -> None:
    with (logs / "one/1/server.log").open("a") as file:
        file.write(LINE.format(40, 1) + LINE.format(41, 1))


def tell(logs: Path) -> None:
    put(logs / "one/hosts/state-change.log", "[2020-05-15 12:00:01,123] INFO nothing of a node (state.change.logger)\n")


def pack(logs: Path) -> None:
    """A log of the other cluster, in an archive of this one."""
    with tarfile.open(logs / "one/1/more.tar", "w") as archive:
        file = tarfile.TarInfo("two/4/server.log")
        file.size, file.mtime = len(LINE.format(1, 4)), 1_600_000_000
        archive.addfile(file, io.BytesIO(LINE.format(1, 4).encode()))


def remove(logs: Path) -> None:
    (logs / "two/2/server.log").unlink()


def forget(logs: Path) -> None:
    """Delete all that is known of a cluster, as after a table was restored."""
    for table in ("sources", "log_records"):
        DeltaTable(logs.parent / "w/bronze" / table).delete("cluster_id = 'two'")


def own(logs: Path) -> None:
    """Make the node of a capture known, as by files read elsewhere."""
    [row] = [row for row in rows(logs.parent / "w") if row["source_path"].endswith("two/dumps/threads.txt")]
    write_deltalake(
        logs.parent / "w/bronze/sources",
        pa.Table.from_pylist([row | {"batch_id": row["batch_id"] + 1, "node_id": 2, "node_known_by": "host"}], schema_of(SOURCE_COLUMNS)),
        mode="append",
    )


@pytest.mark.parametrize(
    ("change", "looked_at"),
    [
        (lambda logs: None, set()),
        (append, {"one"}),
        (tell, {"one"}),
        (pack, {"one", "two"}),
        (remove, {"two"}),
        (forget, {"two"}),
        (own, {"two"}),
    ],
)
def test_a_cluster_without_changes_is_passed_by_and_nothing_else_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], looked_at: set[str]
) -> None:
    monkeypatch.setattr(seen, "COARSEST_SECONDS", 0)
    logs = tmp_path / "logs"
    for cluster in ("one", "two"):
        for node in (1, 2):
            put(logs / cluster / f"{node}/server.log", "".join(LINE.format(second, node) for second in range(9 + node)))
        put(logs / cluster / "2/copy.log", (logs / cluster / "2/server.log").read_text())
        put(logs / cluster / "1/notes", "nothing that any layout knows\n" * 3)
        put(logs / cluster / "1/nothing", "")
        put(logs / cluster / "hosts/torn.log", LINE.format(1, 3)[:-9])
        put(logs / cluster / "dumps/threads.txt", DUMP)

    def load(warehouse: Path) -> Outcome:
        return ingesting.ingest(Here, str(warehouse), Options([str(logs)], layout=LAYOUT, timezone="UTC"), lambda line: None)

    load(tmp_path / "w")
    change(logs)
    shutil.copytree(tmp_path / "w", tmp_path / "other")
    shutil.rmtree(tmp_path / "other/.dbt/seen")
    clusters: set[str] = set()
    place = ingesting.place
    monkeypatch.setattr(ingesting, "place", lambda found, *rest: clusters.update(s.cluster_id for s in found) or place(found, *rest))
    with_it = load(tmp_path / "w")
    assert clusters == looked_at
    without = load(tmp_path / "other")
    assert clusters == {"one", "two"}
    assert with_it.nodeless and len(with_it.faults) >= 4
    for said in ("files", "records", "clusters", "rows_written"):
        assert getattr(with_it, said) == getattr(without, said)
    assert (sorted(with_it.faults), sorted(with_it.nodeless)) == (sorted(without.faults), sorted(without.nodeless))
    assert [row | {"ingested_at": 0} for row in rows(tmp_path / "w")] == [row | {"ingested_at": 0} for row in rows(tmp_path / "other")]


@pytest.mark.parametrize(
    "content", [b"", b"x", b"code\nx", b"code\n" + zlib.compress(pickle.dumps({"a": os.system})), b"code\n" + zlib.compress(b"x")]
)
def test_what_is_damaged_or_foreign_counts_as_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(seen, "code", lambda: "code")
    of_cluster = seen.Seen(tmp_path / "seen").of("c")
    of_cluster.file.parent.mkdir()
    of_cluster.file.write_bytes(content)
    assert seen.Seen(tmp_path / "seen").of("c").summaries == {}


def test_what_changed_a_moment_ago_is_not_kept(tmp_path: Path) -> None:
    """A file that changed a moment ago may change again within the same tick of its clock."""
    put(tmp_path / "logs/server.log", LINE.format(1, 1))
    run(tmp_path / "logs", tmp_path / "w")
    assert known(tmp_path / "w") == {}
