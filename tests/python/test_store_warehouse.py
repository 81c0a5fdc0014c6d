"""A warehouse in a bucket: bronze is the same as in a folder, whichever host writes, and however often one is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build import maintenance, versions
from chronicle.spark.catalog import kept_views, save_views
from ingestion import ingest as ingesting
from ingestion import lease
from ingestion.bronze import write
from ingestion.lease import Busy, leased
from ingestion.outcome import Outcome
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse, only_writer, path_of, writer
from tests.objects import Bucket
from tests.python.test_records import line
from tests.rotations import Here

ORDERS = Path("examples/orders")
TABLES = ("log_records", "sources", "capture_rows", "metric_samples")
# Ingests a folder, as another host would.
HOST = """
import sys
from ingestion import ingest, lease
from ingestion.sources.discover import Options
from tests.rotations import Here
lease.LOOK_SECONDS = 0.1
print(ingest.ingest(Here, sys.argv[1], Options([sys.argv[2]], cluster=sys.argv[3], timezone="UTC", settled_after=0), tell=print).records)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this host's own files in its current folder."""
    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(ingesting, "Spool", lambda folder, is_shared, real=ingesting.Spool: real(tmp_path / "members", is_shared))
    monkeypatch.setattr(ingesting, "Seen", lambda file, real=ingesting.Seen: real(tmp_path / "seen"))


def load(warehouse: str, path: Path, **options: Any) -> Outcome:
    given = {"timezone": "UTC", "settled_after": 0.0} | options
    return ingesting.ingest(Here, warehouse, Options([str(path)], **given), tell=lambda text: None)


def rows(warehouse: str, table: str) -> list[str]:
    found = DeltaTable(f"{warehouse}/bronze/{table}").to_pyarrow_table().drop_columns(["ingested_at"]).to_pylist()
    return sorted(map(repr, found))


def test_tables_are_listed_as_in_a_folder(bucket: Bucket, tmp_path: Path) -> None:
    # With the empty objects that S3A puts in the place of folders, a table that was never committed, and a file.
    for name in (
        "marts/",
        "marts/fct_b/_delta_log/0.json",
        # What a Spark has left that was killed before its first commit.
        "marts/killed/_delta_log/",
        "marts/killed/part-0.parquet",
        "marts/fct_a/_delta_log/",
        "marts/fct_a/_delta_log/0.json",
        "marts/none/a.parquet",
        "marts/x",
    ):
        bucket.put(f"listed/{name}", b"")
        file = tmp_path / name
        (file if name.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            file.touch()
    for root in (f"{bucket.uri}/listed", str(tmp_path)):
        place = Warehouse.at(root)
        assert place.folders("marts") == [("fct_a", True), ("fct_b", True), ("killed", False), ("none", False)]
        assert place.tables("marts") == ["fct_a", "fct_b"]
        assert place.folders("reports") == []
        for name in ("none", "killed"):
            place.delete("marts", name)
        assert place.folders("marts") == [("fct_a", True), ("fct_b", True)]


def test_bronze_is_as_in_a_folder(bucket: Bucket, tmp_path: Path) -> None:
    there, here = f"{bucket.uri}/warehouse", str(tmp_path / "warehouse")
    assert load(there, ORDERS).records == load(here, ORDERS).records > 5_000
    for table in TABLES:
        assert rows(there, table) == rows(here, table)
    assert load(there, ORDERS).files == {"unchanged": 13}
    assert writer(Warehouse.at(there)) is None


@pytest.mark.parametrize("table", TABLES[:2])
def test_a_batch_that_was_written_down_is_completed_once(
    table: str, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text(line(1, "[KafkaServer id=1] started") + line(2, "two"))
    there = f"{bucket.uri}/warehouse"
    commit = write.commit

    def killed(path: str, *rest: Any) -> None:
        if path.endswith(table):
            raise KeyboardInterrupt
        commit(path, *rest)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(write, "commit", killed)
        load(there, tmp_path / "logs")
    assert len(list(write.notes_of(there).glob("*.json"))) == 1
    assert load(there, tmp_path / "logs").records == 0
    assert len(rows(there, "log_records")) == 2 and not list(write.notes_of(there).glob("*.json"))


def test_a_batch_that_another_host_has_completed_adds_nothing(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text(line(1, "[KafkaServer id=1] started"))
    there = f"{bucket.uri}/warehouse"
    load(there, tmp_path / "logs")
    # A host that was away for long: its batch has the number of one that is already committed.
    table = DeltaTable(f"{there}/bronze/log_records")
    name = Path(table.file_uris()[0]).name
    note = {"capture_rows": [{"name": name, "size": 1, "modified_ms": 0, "stats": "{}", "partition": {}}], "sources": []}
    (write.notes_of(there) / "1.json").write_bytes(json.dumps(note).encode())
    assert write.complete(there) == []
    assert rows(there, "capture_rows") == [] and len(rows(there, "log_records")) == 1
    (write.notes_of(there) / "7.json").write_bytes(b"{}")
    with pytest.raises(Busy, match="another host has written batch 7"):
        write.commit_batch(there, 7, {})


def test_hosts_at_once_lose_nothing_and_double_nothing(bucket: Bucket, tmp_path: Path) -> None:
    there = f"{bucket.uri}/warehouse"
    hosts = []
    for number in range(3):
        folder = tmp_path / f"host-{number}"
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "server.log").write_text(line(1, f"[KafkaServer id={number}] started") + line(2, f"of {number}"))
        command = [sys.executable, "-c", HOST, there, str(folder / "logs"), "c"]
        environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
        hosts.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    ended = [(host.communicate(timeout=120), host.returncode) for host in hosts]
    assert [(said[0].split()[-1:], code) for said, code in ended] == [(["2"], 0)] * 3, ended
    records = DeltaTable(f"{there}/bronze/log_records").to_pyarrow_table().to_pylist()
    assert sorted(record["node_id"] for record in records) == [0, 0, 1, 1, 2, 2]
    assert sorted({record["batch_id"] for record in records}) == [1, 2, 3]


def test_one_holds_and_the_others_wait(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, order = path_of(f"{bucket.uri}/w/writing"), []
    monkeypatch.setattr(lease, "RENEWED_SECONDS", 0.1)

    def hold(name: str) -> None:
        with leased(folder):
            order.append(f"{name} in")
            time.sleep(0.5)
            order.append(f"{name} out")

    threads = [threading.Thread(target=hold, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [word.split()[1] for word in order] == ["in", "out"] * 3
    assert all(order[n].split()[0] == order[n + 1].split()[0] for n in (0, 2, 4))
    assert len(lease.numbers(folder)) <= 2


def test_a_holder_that_goes_on_is_not_pushed_aside(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEWED_SECONDS", 0.1)
    monkeypatch.setattr(lease, "GONE_SECONDS", 0.6)
    place = Warehouse.at(f"{bucket.uri}/w")
    with only_writer(place):
        assert writer(place)
        with pytest.raises(Busy, match="is writing to this warehouse"), leased(place.folder / "writing", most_wait=2):
            pass


def test_a_holder_that_is_gone_is_followed_and_may_not_commit(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "GONE_SECONDS", 0.5)
    folder = path_of(f"{bucket.uri}/w/writing")
    with leased(folder) as stalled, leased(folder, most_wait=20) as after:
        # The first holder hangs: it renews nothing.
        after.must_hold()
        with pytest.raises(Busy, match="another host has taken over"):
            stalled.must_hold()


def test_an_error_of_a_stores_library_does_not_end_the_renewing(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """botocore's `EndpointConnectionError` is no OSError: without the thread another host takes over after half a minute."""
    monkeypatch.setattr(lease, "RENEWED_SECONDS", 0.05)
    renewed, find = threading.Event(), lease.highest
    answers = iter([RuntimeError("Could not connect\nto the endpoint"), RuntimeError("still not")])

    def highest(folder: Path) -> int:
        if threading.current_thread().name == "lease":
            if error := next(answers, None):
                raise error
            renewed.set()
        return find(folder)

    monkeypatch.setattr(lease, "highest", highest)
    with leased(path_of(f"{bucket.uri}/w/writing")) as held:
        assert renewed.wait(20)
        held.must_hold()
    assert [record.message.split(": ", 1)[1] for record in caplog.records] == [
        "cannot be renewed, trying again (RuntimeError: Could not connect to the endpoint)"
    ]


def test_files_that_no_version_needs_are_deleted(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MOST_LEFT", 5)
    place = Warehouse.at(f"{bucket.uri}/replaced")
    at_once = {"delta.deletedFileRetentionDuration": "interval 0 seconds"}
    for name in ("marts/fct_a", "intermediate/int_a", "bronze/log_records"):
        for number in range(8):
            write_deltalake(f"{place.root}/{name}", pa.table({"n": [number]}), mode="overwrite", configuration=at_once)
    versions.Record("whole", {"marts.fct_a": 7}).write(place)
    maintenance.maintain(place, is_of_bucket=True)
    for schema, name, files in (("marts", "fct_a", 1), ("intermediate", "int_a", 1), ("bronze", "log_records", 8)):
        table = place.table(schema, name)
        assert len(maintenance.data_files(table)) == files, name
        assert DeltaTable(table).to_pyarrow_table()["n"].to_pylist() == [7]


def test_a_build_in_place_leaves_its_record_in_the_bucket(bucket: Bucket) -> None:
    place = Warehouse.at(f"{bucket.uri}/built")
    write_deltalake(place.table("marts", "fct_a"), pa.table({"n": [1]}))
    assert versions.before(place).versions == {"marts.fct_a": 0}
    write_deltalake(place.table("marts", "fct_a"), pa.table({"n": [2]}), mode="overwrite", commit_properties=versions.of_build("new"))
    # Until the build has ended, readers see the version of before.
    seen = versions.Record.of(place).table(place, "marts", "fct_a")
    assert seen is not None and seen.version() == 0
    versions.after(place, versions.Record.of(place), "new", [("marts", "fct_a")], "{}")
    seen = versions.Record.of(place).table(place, "marts", "fct_a")
    assert seen is not None and seen.version() == 1 and versions.Record.of(place).state == "{}"
    save_views(place, [("marts", "dim_a", "select 1")])
    assert kept_views(place) == [("marts", "dim_a", "select 1")]
    assert place.work.is_absolute() and bucket.keys("built/.chronicle") == []
