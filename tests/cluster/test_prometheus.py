"""Samples of a real Prometheus: each step once over several runs while it scrapes, and the same as in its own tool's dump."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from deltalake import DeltaTable

from tests.cluster.commands import chronicle, done
from tests.cluster.prometheus import backfilled, dumped, exporter, is_there, prometheus

pytestmark = pytest.mark.skipif(not is_there(), reason="needs prometheus and promtool")

METRIC = "kafka_server_replicamanager_leadercount"
Samples = set[tuple[int | None, int, float]]
HOURS = 30


@pytest.fixture
def scraped() -> Iterator[int]:
    with exporter() as port:
        yield port


def load(warehouse: Path, *paths: object) -> str:
    return done(chronicle(None, None, "ingest", *paths, "-w", warehouse, "--cluster", "c", "--settled-after", 2))


def loaded(warehouse: Path) -> list[tuple[int | None, int, float]]:
    """(node, seconds, value) of all samples."""
    table = DeltaTable(str(warehouse / "bronze/metric_samples")).to_pyarrow_table()
    return [(row["node_id"], int(row["sampled_at"].timestamp()), row["value"]) for row in table.to_pylist()]


def asked(address: str, first: int, last: int) -> Samples:
    """The same samples, as Prometheus returns them for the whole time at once."""
    times = {"query": METRIC, "start": first, "end": last, "step": 1}
    series = requests.get(f"http://{address}/api/v1/query_range", params=times, timeout=60).json()["data"]["result"]
    return {(int(one["metric"]["broker_id"]), int(at), float(value)) for one in series for at, value in one["values"]}


def test_each_step_is_asked_for_once_while_it_scrapes(scraped: int, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    with prometheus(tmp_path / "prometheus", scraped) as address:
        time.sleep(8)
        for _ in range(3):
            load(warehouse, f"prometheus+http://{address}?step=1&days=0.01")
            time.sleep(3)
        found = loaded(warehouse)
        first, last = min(at for _, at, _ in found), max(at for _, at, _ in found)
        assert len(found) == len(set(found))
        assert set(found) == asked(address, first, last)
    assert {node for node, _, _ in found} == {1, 2}
    assert last - first > 10


def test_a_history_is_that_of_promtool(scraped: int, tmp_path: Path) -> None:
    """A sample each minute for more than a day, requested with a step of a minute, hour by hour."""
    until = int(time.time()) // 3600 * 3600 - 3600
    times = range(until - HOURS * 3600, until, 60)
    lines = [f'{METRIC}{{broker_id="{node}",job="kafka"}} {at // 60 % 1000 + node} {at}\n' for node in (1, 2) for at in times]
    backfilled(tmp_path / "prometheus", f"# TYPE {METRIC} gauge\n{''.join(lines)}# EOF\n")
    dump = tmp_path / "dump.txt"
    dump.write_text(dumped(tmp_path / "prometheus"))
    load(tmp_path / "read", dump)
    with prometheus(tmp_path / "prometheus", scraped) as address:
        for _ in range(2):
            load(tmp_path / "asked", f"prometheus+http://{address}?days=2")
    wanted = set(loaded(tmp_path / "read"))
    assert len(wanted) == 2 * len(times)
    # For up to five minutes after the history Prometheus repeats its last sample, and then gives samples that it has scraped itself.
    found = loaded(tmp_path / "asked")
    assert len(found) == len(set(found))
    assert {row for row in found if row[1] < until} == wanted
