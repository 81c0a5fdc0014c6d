"""The code that reads foreign bytes, as functions that take any bytes and must not raise: for property tests and for the fuzzer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ingestion import captures
from ingestion.bronze.capture_rows import read_capture
from ingestion.bronze.log_records import FAILED, read_tasks
from ingestion.bronze.tasks import Counted, Task
from ingestion.records.envelope import REWRITTEN
from ingestion.records.streams import Wrapping
from ingestion.records.unwrap import find_wrappers, millis_of_json, unwrap, wrappers
from ingestion.sources import archives as unpacking
from ingestion.sources.inspect import inspect
from ingestion.sources.stages import FAILED as NOT_LOOKED_AT
from ingestion.sources.stages import Found
from tests.python.test_records import task as plain_task

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures"
FOLDER = Path(tempfile.mkdtemp(prefix="chronicle-fuzz-"))


def written(data: bytes, name: str = "file") -> Path:
    path = FOLDER / name
    path.write_bytes(data)
    return path


def task(path: Path, **changes: object) -> Task:
    """The task of reading a whole file, on a clock that shows an hour twice."""
    zones = ((-(10**15), "Europe/Berlin"),)
    return plain_task(path, **{"end": path.stat().st_size, "zones": zones, "shown": path.name} | changes)


def records(data: bytes) -> None:
    """A log of Kafka's own layout: every byte is in some record, and no fault of ours is met."""
    counted: dict[str, Counted] = {}
    rows = [row for batch in read_tasks([task(written(data))], counted, {}) for row in batch.to_pylist()]
    assert FAILED not in [row["outcome"] for row in rows], rows
    assert sum(row["byte_length"] for row in rows) == len(data)
    assert (counted["s"].failed, counted["s"].end) == (None, len(data))


def wrapped(data: bytes) -> None:
    """The same, in the wrappers found in its own lines, and in each wrapper there is."""
    for names in {find_wrappers(data), *((name,) for name in wrappers())}:
        counted: dict[str, Counted] = {}
        one = task(written(data), envelope=REWRITTEN.name, wrapping=Wrapping(names))
        rows = [row for batch in read_tasks([one], counted, {}) for row in batch.to_pylist()]
        assert FAILED not in [row["outcome"] for row in rows], rows
        assert counted["s"].failed is None


def lines(data: bytes) -> None:
    """One line in every wrapper."""
    for name in wrappers():
        unwrap((name,), data.decode("utf-8", "replace")).text.encode()


def times(data: bytes) -> None:
    """A time of JSON logs."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    found = millis_of_json(value)
    assert found is None or isinstance(found, int)


def files(data: bytes) -> None:
    """Inspecting a file under several names."""
    for name in ("server.log", "jstack-broker-2.txt", "server.log.gz"):
        source = inspect(Found.at(str(written(data, name)), "c"))
        assert source.outcome != NOT_LOOKED_AT, source.reason


def archives(data: bytes) -> None:
    """An archive, as far as it can be read."""
    for member in unpacking.members(written(data)):
        if isinstance(member, unpacking.Member):
            while member.open().read(1 << 16):
                pass


def reader(kind: str) -> Callable[[bytes], None]:
    """Any bytes, read as a capture of a kind."""

    def read(data: bytes) -> None:
        count = Counted()
        one = task(written(data), capture=kind)
        for _, batch in read_capture(one, count):
            batch.to_pylist()
        assert count.failed is None, count.failed

    return read


TARGETS: dict[str, Callable[[bytes], None]] = {
    "records": records,
    "wrapped": wrapped,
    "lines": lines,
    "times": times,
    "files": files,
    "archives": archives,
    **{f"capture:{kind}": reader(kind) for module in captures.modules() for kind in module.KINDS},
}


def seeds(name: str) -> Iterator[bytes]:
    """Seed inputs: the fixtures of the capture's module, or all fixtures for the other targets."""
    module = captures.module_of(name.split(":", 1)[1]).__name__.rsplit(".", 1)[-1] if ":" in name else "*"
    for path in sorted(FIXTURES.glob(f"{module}/**/*")):
        if path.is_file():
            yield path.read_bytes()[: 16 << 10]
