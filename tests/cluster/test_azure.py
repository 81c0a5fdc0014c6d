"""Logs in Azure's storage, loaded into a warehouse there by two hosts at once and built: the tables are those of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.azurite import azurite, is_there
from tests.cluster.commands import ORDERS, QUESTION, chronicle, done
from tests.partial import verdicts

pytestmark = pytest.mark.skipif(not is_there(), reason="needs azurite (npm) and adlfs (pip)")

LOGS, WAREHOUSE = "abfss://lake/logs", "abfss://lake/warehouse"
FILES = 13


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The file system of the store, with the example's logs in it."""
    import fsspec

    with azurite(tmp_path_factory.mktemp("azurite")):
        files = fsspec.filesystem("abfss")
        files.mkdir("lake")
        files.put(str(ORDERS), "lake/logs", recursive=True)
        yield files


def ingested(logs: str) -> Any:
    return chronicle(None, None, "ingest", logs, "-w", WAREHOUSE, "--cluster", "orders")


def test_from_store_to_store(lake: Any, orders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The second host reads the files of the first one, too: each of them counts once, whoever comes first.
    hosts = [ingested(f"{LOGS}/broker-1"), ingested(LOGS)]
    said = [done(host) for host in hosts]
    assert sum(int(found[1]) for text in said if (found := re.search(r"(\d+) new\b", text))) == FILES, said
    assert f"{FILES} unchanged\n0 new records" in done(ingested(LOGS))

    done(chronicle(None, None, "build", "-w", WAREHOUSE))
    there, here = (done(chronicle(None, None, "sql", QUESTION, "-w", place, "--format", "csv")) for place in (WAREHOUSE, orders))
    assert there == here
    lake.get("lake/warehouse", str(tmp_path / "there"), recursive=True)
    assert [str(verdict) for verdict in verdicts(orders, tmp_path / "there") if verdict.differences] == []
