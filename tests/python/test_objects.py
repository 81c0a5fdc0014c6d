"""Logs in a bucket: they give the same rows as the same files in a folder, and unchanged objects are skipped."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.outcome import Outcome
from ingestion.reading import objects
from ingestion.reading.files import Changed, Expected, chunks, open_bytes
from ingestion.sources.discover import Options, as_in_folders, discover, find_files
from tests.limits import known_objects
from tests.listing import BUCKET, SIZE, many_objects, name_of
from tests.objects import Bucket
from tests.python.test_records import line
from tests.rotations import Here

ORDERS = Path("examples/orders")
LINES = line(1, "[KafkaServer id=1] started") + line(2, "after")
# Columns that depend on where a file lies and when it was read.
OF_PLACE = {"source_path", "ingested_at", "modified_at", "clues", "warnings", "fingerprint", "source_id"}


def load(warehouse: Path, *paths: str, **options: Any) -> Outcome:
    return ingesting.ingest(Here, str(warehouse), Options([*paths], **{"timezone": "UTC"} | options), tell=lambda text: None)


def rows(warehouse: Path, table: str) -> list[dict[str, Any]]:
    return DeltaTable(str(warehouse / "bronze" / table)).to_pyarrow_table().to_pylist()


def said(warehouse: Path, table: str) -> list[str]:
    """The contents of rows, sorted by their values."""
    return sorted(repr({name: value for name, value in row.items() if name not in OF_PLACE}) for row in rows(warehouse, table))


def packed(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


def test_a_prefix_is_read_as_the_folder_is(bucket: Bucket, tmp_path: Path) -> None:
    bucket.take(ORDERS, "orders")
    here = load(tmp_path / "here", str(ORDERS))
    there = load(tmp_path / "there", f"{bucket.uri}/orders/")
    assert there.records == here.records > 5_000 and there.clusters == here.clusters == {"orders"}
    for table in ("log_records", "sources"):
        assert said(tmp_path / "there", table) == said(tmp_path / "here", table)
    assert {row["source_path"] for row in rows(tmp_path / "there", "sources")} == {
        f"{bucket.uri}/orders/{path.relative_to(ORDERS)}" for path in ORDERS.rglob("*.gz")
    }


def test_all_kinds_of_objects(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    files = {
        "server.log": LINES.encode(),
        "server.log.1.gz": gzip.compress(LINES.replace("after", "before").encode()),
        "server.log.2.zst": zstd.compress(LINES.replace("after", "long before").encode()),
        "bundle.tar.gz": packed({"logs/controller.log": line(3, "[KafkaServer id=1] started").encode()}),
        "empty.log": b"",
        "photo.jpg": bytes(range(256)) * 20,
        "cut.log.zst": zstd.compress(LINES.encode() * 5000)[:-20],
    }
    for name, content in files.items():
        bucket.put(f"logs/{name}", content)
        (tmp_path / "logs" / name).write_bytes(content)
    here, there = (
        load(tmp_path / name, path, settled_after=0.0) for name, path in (("here", str(tmp_path / "logs")), ("there", f"{bucket.uri}/logs"))
    )
    assert here.files == there.files and here.records == there.records
    assert [fault.split("/logs/")[1] for fault in there.faults] == [fault.split("/logs/")[1] for fault in here.faults]
    for table in ("log_records", "sources"):
        assert said(tmp_path / "there", table) == said(tmp_path / "here", table)


def test_what_is_as_it_was_is_passed_by(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        bucket.put(f"logs/broker-{number}/server.log", LINES.replace("id=1", f"id={number}").encode())
    assert load(tmp_path, f"{bucket.uri}/logs").records == 10
    opened: list[str] = []
    monkeypatch.setattr(objects, "opened", lambda uri, buffer=0, real=objects.opened: opened.append(uri) or real(uri))
    again = load(tmp_path, f"{bucket.uri}/logs")
    assert (again.records, again.files, again.faults, again.clusters, opened) == (0, {"unchanged": 5}, [], {"logs"}, [])
    # An object replaced by a longer one continues like a file that has grown.
    bucket.put("logs/broker-3/server.log", (LINES.replace("id=1", "id=3") + line(9, "more")).encode())
    bucket.put("logs/broker-5/server.log", LINES.replace("id=1", "id=5").encode())
    later = load(tmp_path, f"{bucket.uri}/logs")
    assert (later.records, later.files) == (3, {"new": 2, "unchanged": 4})
    # Unknown files are looked at again, because they may be known later.
    bucket.put("logs/notes.txt", b"Nothing of Kafka.\n")
    assert load(tmp_path, f"{bucket.uri}/logs").files == {"unchanged": 6, "unknown": 1}
    opened.clear()
    assert load(tmp_path, f"{bucket.uri}/logs").files == {"unchanged": 6, "unknown": 1} and len(opened) > 0
    bucket.delete("logs/notes.txt")
    # For another cluster they are other sources.
    assert load(tmp_path, f"{bucket.uri}/logs", cluster="other").records == 13


def test_a_long_listing_comes_in_pages() -> None:
    with many_objects(2_345) as uri:
        found = list(objects.below(uri))
        assert [name for name, _ in found] == [f"s3://{BUCKET}/{name_of(number)}" for number in range(2_345)]
        assert {status.size for _, status in found} == {SIZE}
        past = known_objects(2_345 - 1)
        new = discover(Options([uri], cluster="limits"), None, past.passes_by)
        assert [one.shown for one in new] == [found[-1][0]] and past.passed == {"limits": 2_344}


def test_objects_come_in_the_order_of_files(tmp_path: Path) -> None:
    names = ["a/b.log", "a/b/c.log", "a-b/c.log", "a.log", "a/a.log", "b", "a/b/a/z.log", "Z.log", "é.log"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    in_order = [str(Path(path).relative_to(tmp_path)) for path in find_files(str(tmp_path))]
    assert sorted(names, key=as_in_folders) == in_order


def test_no_name_stops_the_others(bucket: Bucket, tmp_path: Path) -> None:
    names = ["a b#c.log", "x%20y.log", "é.log", "q?z*.log", "~t.log", "tab\there.log", "co:lon[1].log", "2//double.log", "//lead.log"]
    for number, name in enumerate(names):
        bucket.put(f"logs/{name}", line(number, f"record of {name}").encode())
    bucket.put("logs/", b"")
    bucket.put("logs/folder/", b"")
    bucket.put("logs-of-others/server.log", LINES.encode())
    assert load(tmp_path, f"{bucket.uri}/logs").files == {"new": len(names)}
    assert {row["body"] for row in rows(tmp_path, "log_records")} == {f"record of {name}" for name in names}


def test_an_object_that_is_replaced_while_it_is_read_is_another_one(bucket: Bucket) -> None:
    content = b"".join(line(n, f"record {n}").encode() for n in range(1000))
    bucket.put("server.log", content)
    uri = f"{bucket.uri}/server.log"
    read = chunks(uri, 0, -1, 10_000, Expected("", 0))
    with pytest.raises(Changed):
        list(read)
    with open_bytes(uri, 1000) as file:
        assert file.read(2000) == content[:2000]
        bucket.put("server.log", b"other" * 10_000)
        with pytest.raises(OSError) as raised:
            file.read()
        assert objects.is_replaced(raised.value)


def test_what_cannot_be_reached_is_said(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        load(tmp_path, f"{bucket.uri}/nothing")
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        load(tmp_path, "s3://no-such-bucket-at-all/logs")
    with pytest.raises(objects.CannotReach, match="use s3://, gs:// or abfss://"):
        load(tmp_path, "teapot://bucket/logs")
    with pytest.raises(objects.CannotReach, match="install gcsfs"):
        load(tmp_path, "gs://bucket/logs")
    # One of two exists: the other has a row that says it is missing.
    bucket.put("logs/server.log", LINES.encode())
    outcome = load(tmp_path, f"{bucket.uri}/logs", f"{bucket.uri}/nothing", cluster="c")
    assert outcome.files == {"new": 1, "missing": 1}


def test_a_local_path_may_be_a_uri(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/server.log").write_text(LINES)
    assert load(tmp_path / "w", f"file://{tmp_path}/logs", settled_after=0.0).records == 2
    assert [row["source_path"] for row in rows(tmp_path / "w", "sources")] == [f"{tmp_path}/logs/server.log"]
