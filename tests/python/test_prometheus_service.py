"""Samples from Prometheus' HTTP API: each time once, despite errors and kills.  The server here answers like Prometheus, from a made-up history."""

from __future__ import annotations

import datetime as dt
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.bronze import write
from ingestion.outcome import Outcome
from ingestion.reading.objects import CannotReach
from ingestion.sources import prometheus
from ingestion.sources.discover import Options
from ingestion.sources.prometheus import Asked, ends
from tests.rotations import Here

LEADERS, LAG, OTHER = "kafka_server_replicamanager_leadercount", "kafka_consumergroup_lag", "go_goroutines"
NOW = dt.datetime(2026, 1, 1, 12, 30, 20, tzinfo=dt.UTC).timestamp()


class History(BaseHTTPRequestHandler):
    """A server in whose history each metric has a value at each step of any time."""

    asked: ClassVar[list[dict[str, list[str]]]] = []
    fails: str | None = None
    token: str | None = None

    def do_GET(self) -> None:
        path, given = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        status, answer = 200, {}
        if self.fails:
            status, answer = 422, {"status": "error", "errorType": "execution", "error": self.fails}
        elif self.token and self.headers["Authorization"] != f"Bearer {self.token}":
            status, answer = 401, {"status": "error", "errorType": "unauthorized", "error": "who are you"}
        elif path.endswith("/label/__name__/values"):
            wanted = re.compile(re.search(r'__name__=~"(.*?)"', given["match[]"][0])[1])  # type: ignore[index]
            answer = {"status": "success", "data": [name for name in (LAG, LEADERS, OTHER) if wanted.fullmatch(name)]}
        else:
            History.asked.append(given)
            name = re.search(r'__name__="(.*?)"', given["query"][0])[1]  # type: ignore[index]
            times = range(int(given["start"][0]), int(given["end"][0]) + 1, int(given["step"][0]))
            series = {"metric": {"__name__": name, "broker_id": "7"}, "values": [[at, str(at % 1000)] for at in times]}
            answer = {"status": "success", "data": {"resultType": "matrix", "result": [series]}}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(History, "asked", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), History) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"prometheus+http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def at(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(prometheus, "time", SimpleNamespace(time=lambda: seconds))


def load(folder: Path, *paths: str) -> Outcome:
    return ingesting.ingest(Here, str(folder / "warehouse"), Options([*paths], cluster="c"), tell=lambda text: None)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return DeltaTable(str(folder / "warehouse/bronze" / table)).to_pyarrow_table().to_pylist()


def test_each_time_is_asked_for_once(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = f"{server}?days=0.05"
    for seconds in (NOW, NOW + 30, NOW + 120, NOW + 3 * 3600):
        at(monkeypatch, seconds)
        load(tmp_path, uri)
    samples = rows(tmp_path, "metric_samples")
    times = sorted({sample["sampled_at"] for sample in samples if sample["attribute"] == "Value"})
    until = dt.datetime(2026, 1, 1, 15, 29, tzinfo=dt.UTC)
    first = dt.datetime(2026, 1, 1, 10, 48, tzinfo=dt.UTC)
    assert times == [first + dt.timedelta(minutes=number) for number in range(int((until - first).total_seconds() // 60))]
    assert len(samples) == 2 * len(times)
    assert {sample["node_id"] for sample in samples} == {7}
    names = [row["source_path"].rsplit("/", 1)[1] for row in rows(tmp_path, "sources")]
    assert "2026-01-01T11:00:00Z-2026-01-01T12:00:00Z" in names
    assert "2026-01-01T12:00:00Z-2026-01-01T12:29:00Z" in names
    assert "2026-01-01T12:31:00Z-2026-01-01T13:00:00Z" in names


def test_matchers_are_asked_one_by_one(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, NOW)
    one, two = '{__name__=~"kafka_server_.*",job="kafka"}', '{__name__=~"go_.*"}'
    load(tmp_path, f"{server}/prefix?days=0.02&step=30&match[]={quote(one)}&match[]={quote(two)}")
    assert {given["query"][0] for given in History.asked} == {
        f'{{__name__=~"kafka_server_.*",job="kafka",__name__="{LEADERS}"}}',
        f'{{__name__=~"go_.*",__name__="{OTHER}"}}',
    }
    assert {given["step"][0] for given in History.asked} == {"30"}
    assert {row["source_path"].rsplit("/", 2)[0] for row in rows(tmp_path, "sources")} == {
        f"{server}/prefix/{one}",
        f"{server}/prefix/{two}",
    }


def test_a_run_that_is_killed_asks_again(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, NOW)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(write, "commit_batch", killed)
        load(tmp_path, f"{server}?days=0.01")
    load(tmp_path, f"{server}?days=0.01")
    count = len(rows(tmp_path, "metric_samples"))
    load(tmp_path, f"{server}?days=0.01")
    assert count > 0
    assert len(rows(tmp_path, "metric_samples")) == count


def test_a_time_with_too_much_is_asked_in_pieces(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, NOW)
    load(tmp_path / "whole", f"{server}?days=0.05")
    monkeypatch.setattr(prometheus, "FILE_BYTES", 1000)
    load(tmp_path / "pieces", f"{server}?days=0.05")

    def samples(folder: str) -> list[Any]:
        return sorted((row["metric"], row["sampled_at"], row["value"]) for row in rows(tmp_path / folder, "metric_samples"))

    assert samples("pieces") == samples("whole")
    assert len(rows(tmp_path / "pieces", "sources")) > 2 * len(rows(tmp_path / "whole", "sources"))


def test_an_hour_without_a_sample_is_not_asked_for_again(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, NOW)
    none = quote('{__name__=~"none_.*"}')
    uri = f"{server}?days=0.02&match[]={none}"
    load(tmp_path, uri)
    found = [(row["source_path"].rsplit("/", 1)[1], row["outcome"]) for row in rows(tmp_path, "sources")]
    assert ("2026-01-01T12:00:00Z-2026-01-01T12:29:00Z", "empty") in found
    load(tmp_path, uri)
    assert len(rows(tmp_path, "sources")) == len(found)


def test_what_the_server_says_is_said(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(History, "token", "secret")
    with pytest.raises(CannotReach, match="401 who are you"):
        load(tmp_path, server)
    monkeypatch.setenv("CHRONICLE_PROMETHEUS_TOKEN", "secret")
    monkeypatch.setattr(History, "fails", "query processing would load too many samples")
    with pytest.raises(CannotReach, match="422 query processing would load too many samples"):
        load(tmp_path, server)
    with pytest.raises(CannotReach, match="ConnectionError"):
        load(tmp_path, "prometheus+http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("prometheus+http://user:pwd7@127.0.0.1:9090", "netrc"),
        ("prometheus+http://127.0.0.1:9090?since=1", "unknown since; use"),
        ("prometheus+http://127.0.0.1:9090?step=1m", "step takes seconds"),
        ("prometheus+http://127.0.0.1:9090?step=0", "no such address, step or days"),
        ("prometheus+http://?days=1", "no such address, step or days"),
    ],
)
def test_addresses_that_cannot_be(uri: str, said: str) -> None:
    with pytest.raises(CannotReach, match=said) as error:
        Asked.by(uri)
    assert "pwd7" not in str(error.value)


def test_how_far_matchers_were_asked() -> None:
    names = [
        'prometheus+http://h:9090/{job="a/b"}/60s/2026-01-01T11:00:00Z-2026-01-01T12:00:00Z',
        'prometheus+http://h:9090/{job="a/b"}/60s/2026-01-01T12:00:00Z-2026-01-01T12:30:00Z',
        'prometheus+http://h:9090/{job="a/b"}/30s/2026-01-01T12:00:00Z-2026-01-01T12:30:00Z',
        "/logs/60s/2026-01-01T12:00:00Z-2026-01-01T12:30:00Z",
    ]
    half_past = int(dt.datetime(2026, 1, 1, 12, 30, tzinfo=dt.UTC).timestamp())
    assert ends(names) == {'prometheus+http://h:9090/{job="a/b"}/60s': half_past, 'prometheus+http://h:9090/{job="a/b"}/30s': half_past}


def test_the_clock_says_when_there_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, NOW)
    before = prometheus.marks("prometheus+http://127.0.0.1:9090")
    assert prometheus.marks("prometheus+http://127.0.0.1:9090") == before
    at(monkeypatch, time.time())
    assert prometheus.marks("prometheus+http://127.0.0.1:9090") != before
