"""Generated fleets: the same bytes for the same seed, lines recognised as the events that they were made from, and a truth without gaps."""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench import fleet as fleets
from bench.cluster import Cluster
from bench.fleet import Fleet, voices_of, write_fleet
from bench.journal import HOUR_MS
from bench.plan import Plan
from bench.voices import VoiceError, Voices, bracketed, entries, spaced
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import task_of
from ingestion.ingest import look
from ingestion.sources.discover import Options
from ingestion.sources.identify import identify
from ingestion.sources.spool import Spool

RELEASES = ("0.10.1.0", "1.1.1", "2.8.2", "3.9.1", "4.0.0")
EVENTFUL = Plan(
    topics=3, partitions=4, offsets=5, groups=4, rolls=200, cleanings=40, flaps=6, expiries=4, kills=2, topics_made=2, roll_days=1
)


def of(release: str, **changed: Any) -> Fleet:
    return dataclasses.replace(Fleet(days=2, release=release, plan=EVENTFUL), **changed)


def digests(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("release", ["2.8.2", "3.9.1"])
def test_the_same_seed_gives_the_same_bytes_whatever_the_processes(tmp_path: Path, release: str) -> None:
    fleet = of(release, clusters=2)
    write_fleet(tmp_path / "one", fleet, processes=1)
    write_fleet(tmp_path / "two", fleet, processes=2)
    write_fleet(tmp_path / "other", dataclasses.replace(fleet, seed=2), processes=1)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert digests(tmp_path / "one").keys() != {} and digests(tmp_path / "one") != digests(tmp_path / "other")


@pytest.mark.parametrize("release", RELEASES)
def test_every_line_is_recognised_as_the_form_it_was_made_from(tmp_path: Path, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    voices = voices_of(release, of(release).is_kraft).voices
    said: Counter[str] = Counter()
    say = Cluster.say

    def counted(self: Cluster, node: int, at: int, name: str, **values: Any) -> None:
        if (node, name) in self.sinks:
            said[voices[name].event] += 1
        say(self, node, at, name, **values)

    monkeypatch.setattr(Cluster, "say", counted)
    _, records = write_fleet(tmp_path, of(release), processes=1)
    assert Counter(recognised(tmp_path / "cluster-001" / "input")) == said
    assert records == said.total() > 5_000


def recognised(folder: Path) -> list[str | None]:
    """The event of every record below a folder."""
    options = Options(paths=[str(folder)], cluster="made", timezone="UTC")
    (placed,) = look(options, "/nowhere", Spool(Path("/nowhere")))
    sources = identify(placed, [])
    tasks = [task_of(source, False, 1, dt.datetime.now(dt.UTC)) for source in sources]
    return [event for batch in read_tasks(tasks, cache={}) for event in batch.column("event_type").to_pylist()]


@pytest.mark.parametrize("release", RELEASES)
def test_leader_epochs_rise_one_by_one(tmp_path: Path, release: str) -> None:
    write_fleet(tmp_path, of(release), processes=1)
    epochs: dict[str, list[int]] = {}
    for name in ("truth.jsonl", "metadata.jsonl"):
        path = tmp_path / "cluster-001" / "truth" / name
        for row in map(json.loads, path.read_text().splitlines() if path.exists() else []):
            if row.get("path", "").endswith("/state") and "value" in row:
                epochs.setdefault(row["path"], []).append(row["value"]["leader_epoch"])
            elif row["type"] == "PARTITION_RECORD":
                epochs[f"{row['data']['topicId']} {row['data']['partitionId']}"] = [0]
            elif row["type"] == "PARTITION_CHANGE_RECORD" and "leader" in row["data"]:
                of_one = epochs[f"{row['data']['topicId']} {row['data']['partitionId']}"]
                of_one.append(of_one[-1] + 1)
    assert len(epochs) > 17 and max(max(of_one) for of_one in epochs.values()) > 5
    for of_one in epochs.values():
        assert [later - earlier for earlier, later in pairwise(of_one) if later - earlier not in (0, 1)] == []


def test_later_lines_lie_apart_and_in_order(tmp_path: Path) -> None:
    fleet = of("2.8.2", later_ms=5 * HOUR_MS, rotation="day", has_truth=False)
    write_fleet(tmp_path / "cut", fleet, processes=1)
    write_fleet(tmp_path / "whole", dataclasses.replace(fleet, later_ms=0), processes=1)
    whole = tmp_path / "whole" / "cluster-001" / "input" / "broker-1" / "logs"
    cut = tmp_path / "cut" / "cluster-001"
    for path in whole.iterdir():
        parts = [cut / part / "broker-1" / "logs" / path.name for part in ("input", "later")]
        assert b"".join(part.read_bytes() for part in parts if part.exists()) == path.read_bytes()
    log = (whole / "server.log").read_text()
    times = [line[1:24] for line in log.splitlines() if line.startswith("[20")]
    assert times == sorted(times) and not (tmp_path / "cut" / "cluster-001" / "truth").exists()
    late = (cut / "later" / "broker-1" / "logs" / "server.log").read_text().splitlines()
    assert late[0] >= "[2026-01-02 19:00:00"


def test_only_the_nodes_that_are_kept_have_files(tmp_path: Path) -> None:
    write_fleet(tmp_path, of("2.8.2", kept=(2,)), processes=1)
    assert [path.name for path in (tmp_path / "cluster-001" / "input").iterdir()] == ["broker-2"]


def test_values_are_written_as_the_catalogues_example_writes_them() -> None:
    assert bracketed("audit-trail-3") == "[audit-trail,3]"
    assert spaced("1,2,3") == "1, 2, 3"
    voices = Voices("0.10.1.0").voices
    assert "[Partition" not in voices["isr_shrunk"].template
    assert "%(partition_name_bracketed)s" in voices["isr_shrunk"].template
    assert "isr=List(%(isr_spaced)s)" in Voices("2.8.2").voices["partition_leader_changed"].template


def test_no_voice_is_silent_in_all_releases() -> None:
    for is_kraft, names in ((False, set(entries(False))), (True, set(entries(True)) - set(entries(False)))):
        known = {name for release in RELEASES if of(release).is_kraft == is_kraft for name in voices_of(release, is_kraft).voices}
        assert names - known == set()


def test_a_voice_that_fits_two_forms_says_so() -> None:
    voices = voices_of("2.8.2", False)
    with pytest.raises(VoiceError, match=r"'x' in 2\.8\.2: more than one form fits"):
        voices.voice("x", {"event": "segment_files_deleted", "logger": "kafka.log.LogSegment", "has": "elete"})
    with pytest.raises(VoiceError, match=r"no event 'nothing_of_the_kind'"):
        voices.voice("x", {"event": "nothing_of_the_kind", "logger": "a"})
    with pytest.raises(VoiceError, match="unknown key loud"):
        voices.voice("x", {"event": "node_starting", "logger": "a", "loud": True})


def test_the_command_prints_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["fleet", str(tmp_path), "--days", "1", "--processes", "1", "--plan", '{"topics": 2}'])
    fleets.main()
    assert "records" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "cluster-001" / "manifest.json").read_text())
    assert (manifest["kafka_version"], manifest["mode"], manifest["nodes"]) == ("2.8.2", "zookeeper", [0, 1, 2, 3])
