"""Tests for all modules of captures: every fixture is detected by one module only, the one whose folder it is in."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import yaml

from ingestion import captures
from ingestion.sources.inspect import inspect
from ingestion.sources.stages import Found

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures"
LOGS = sorted(path for path in FIXTURES.parent.rglob("*.log") if path.is_file() and FIXTURES not in path.parents)
UNITS = Path(captures.__file__).parents[1] / "catalogue" / "units.yml"
FILES = sorted(path for path in FIXTURES.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_one_module_knows_a_fixture(path: Path) -> None:
    sample = path.read_bytes()[: 64 * 1024].decode("utf-8", "replace")
    knowing = [module.__name__.rsplit(".", 1)[-1] for module in captures.modules() if module.kind_of(sample, path.name) is not None]
    folder = path.relative_to(FIXTURES).parts[0]
    assert knowing == [folder], f"{path.name} is to be known by {folder} alone: look at kind_of of {', '.join(knowing) or folder}"


@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_any_cut_of_a_fixture_is_read_without_failing(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    for start, end in ((0, len(text) // 3), (len(text) // 3, 2 * len(text) // 3), (len(text) // 2, len(text)), (0, 0)):
        piece = text[start:end]
        for module in captures.modules():
            for kind in module.KINDS:
                rows = list(module.read(kind, captures.lines_of(piece), captures.About("piece.txt")))
                assert all(row.offset <= len(piece.encode()) for row in rows)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "Nothing is wrong with the brokers.\nAsk again tomorrow.\n", "\x00\x01\x02", "{", "[", "a" * 100_000]
)
def test_no_module_knows_what_is_no_capture(text: str) -> None:
    assert captures.detect(text) is None


def test_no_module_knows_a_broker_log() -> None:
    lines = [
        "[2024-05-01 12:00:00,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)",
        "[2024-05-01 12:00:01,123] ERROR [ReplicaManager broker=1] Error processing append operation (kafka.server.ReplicaManager)",
        "org.apache.kafka.common.errors.NotLeaderOrFollowerException: Leader not local",
        "\tat kafka.server.ReplicaManager.getPartitionOrException(ReplicaManager.scala:1)",
        "\tat java.lang.Thread.run(Thread.java:748)",
    ]
    assert captures.detect("\n".join(lines * 20), "server.log") is None


@pytest.mark.parametrize("path", [*FILES, *LOGS], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_module_knows_the_lines_of_a_log_alone(path: Path) -> None:
    """`detect` skips all modules for such a text."""
    lines = path.read_bytes()[: 64 * 1024].decode("utf-8", "replace").split("\n")
    logged = "\n".join(line for line in lines if captures.LOG_ALONE.fullmatch(line))
    assert captures.LOG_ALONE.fullmatch(logged)
    beside = [module for module in captures.modules() if getattr(module, "LOG_BESIDE", False)]
    assert [module.__name__ for module in beside if module.kind_of(logged, path.name) is not None] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_offsets_point_at_the_lines(path: Path) -> None:
    data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    found = captures.detect(text[: 64 * 1024], path.name)
    assert found is not None
    module, kind = found
    assert kind in module.KINDS
    for row in module.read(kind, captures.lines_of(text), captures.About(path.name)):
        assert 0 <= row.offset < len(data)
        if isinstance(row, captures.Row):
            # Blanks apart: a JSON text may be kept in one line.
            first = b"".join(row.raw_text.split("\n")[0].encode().split())
            assert b"".join(data[row.offset : row.offset + 8 * len(first) + 8].split()).startswith(first)


@pytest.mark.parametrize(
    "name",
    [
        "features/20261121T093322Z-features-3.9.txt",
        "groups/20261121T102759Z-describe-1.1.txt",
        "groups/20261121T102759Z-missing-1.1.txt",
        "quorum/20261121T100000Z-timed-out-3.9.txt",
        "topics/20261121T094949Z-describe-2.8.txt",
        "topics/timed-out-3.9.txt",
    ],
)
def test_the_output_of_a_tool_with_warnings_of_its_log_is_no_log(name: str) -> None:
    path = FIXTURES / name
    source = inspect(Found.at(str(path), "c"))
    assert source.capture is not None
    assert captures.module_of(source.capture).__name__.endswith("." + path.parent.name)


@pytest.mark.parametrize("module", captures.modules(), ids=lambda module: module.__name__.rsplit(".", 1)[-1])
def test_a_module_is_complete(module: ModuleType) -> None:
    name = module.__name__.rsplit(".", 1)[-1]
    lacking = [part for part in ("KINDS", "kind_of", "read") if not hasattr(module, part)]
    assert lacking == [], "the docstring of ingestion/captures/__init__.py says what a module has"
    assert all(means.endswith(".") for means in module.KINDS.values()), "each kind has one sentence"
    assert {kind for part in ("OF_NODE", "OF_OTHERS") for kind in getattr(module, part, ())} <= set(module.KINDS)
    assert [path for path in FILES if path.relative_to(FIXTURES).parts[0] == name], f"put its fixtures into tests/fixtures/captures/{name}/"


def test_units_of_samples_are_in_the_catalogue() -> None:
    """The units that a module sets itself; metrics with a canonical name have theirs from `metrics.yml`."""
    measures, counted = (yaml.safe_load(UNITS.read_text(encoding="utf-8"))[part] for part in ("measures", "counted"))
    known = {*measures, *counted, *(f"{unit}_per_second" for unit in counted), "", None}
    unknown = {}
    for path in FILES:
        text = path.read_bytes().decode("utf-8", "replace")
        found = captures.detect(text[: 64 * 1024], path.name)
        assert found is not None
        for row in found[0].read(found[1], captures.lines_of(text), captures.About(path.name)):
            if isinstance(row, captures.Sample) and row.unit not in known:
                unknown[f"{path.parent.name}/{path.name}: {row.metric}"] = row.unit
    assert unknown == {}, "use a unit of ingestion/catalogue/units.yml, or add it there"


def test_kinds_are_named_once() -> None:
    names = [kind for module in captures.modules() for kind in module.KINDS]
    assert len(names) == len(set(names))
