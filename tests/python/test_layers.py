"""The layers of the packages: imports run downwards, never in a circle, and `ingestion` does not need `chronicle`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from chronicle.project import PROJECT

# From the bottom up.  A package imports only those before it; packages in one line do not import each other.
LAYERS = (
    ("ingestion.cache", "ingestion.freed", "ingestion.moves", "ingestion.reading", "ingestion.sql_text"),
    ("ingestion.delta_files",),
    ("ingestion.lease",),
    ("ingestion.warehouse",),
    ("ingestion.recognition",),
    ("ingestion.records",),
    ("ingestion.captures",),
    ("ingestion.sources",),
    ("ingestion.bronze",),
    ("ingestion.data_source", "ingestion.outcome"),
    ("ingestion.ingest",),
    ("chronicle.project", "chronicle.output"),
    ("chronicle.spark", "chronicle.catalogue"),
    ("chronicle.build",),
    ("chronicle.ask",),
    ("chronicle.serve",),
    ("chronicle.follow",),
    ("chronicle.report",),
    ("chronicle.cli",),
    ("chronicle.__main__",),
)
# Subjects of captures, which do not import each other; their shared modules lie beside them.
SUBJECTS = ("jvm", "kafka_tools", "metrics", "system", "zookeeper")


def modules() -> dict[str, Path]:
    """All modules of both packages by name; `__init__` has the name of its package."""
    paths = [path for package in ("chronicle", "ingestion") for path in (PROJECT / package).rglob("*.py")]
    return {".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a module imports, at any place in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import; write the whole name"
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield from (found for found in (name if name in known else node.module,) if found in known)


def graph() -> dict[str, set[str]]:
    known = modules()
    # A module's own package is always imported before it, so it does not count.
    return {name: {other for other in imports(path, known) if not name.startswith(f"{other}.")} for name, path in known.items()}


def package(name: str) -> str:
    return ".".join(name.split(".")[:2])


def test_every_package_has_its_layer() -> None:
    layers = [name for layer in LAYERS for name in layer]
    assert sorted(layers) == sorted({package(name) for name in modules()} - {"chronicle", "ingestion"})


def test_no_import_runs_upwards() -> None:
    floor = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if package(name) != package(other) and floor[package(other)] >= floor[package(name)]
    ]
    assert wrong == []


def test_no_imports_run_in_a_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(error.args[1])) from None


def test_subjects_of_captures_stand_alone() -> None:
    def subject(name: str) -> str | None:
        parts = name.split(".")
        return parts[2] if parts[:2] == ["ingestion", "captures"] and len(parts) > 3 else None

    folders = {path.name for path in (PROJECT / "ingestion/captures").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(SUBJECTS)
    wrong = [(name, other) for name, others in graph().items() for other in others if subject(other) not in (None, subject(name))]
    assert wrong == []


# Functions of more than 50 lines, each with its reason.
LONG = {
    "chronicle.cli.main.serve": "an option a line",
    "chronicle.cli.questions.ask": "an option a line",
    "ingestion.bronze.log_records.Batch.table": "a column of the table a line",
    "ingestion.bronze.log_records.read_tasks": "what a fault of ours falls back to, step by step",
    "ingestion.captures._blocks.blocks": "one state machine",
    "ingestion.captures.system.disks.read": "one state machine",
    "ingestion.captures.zookeeper.zookeeper.read": "one state machine",
    "ingestion.records.patterns._compile": "the words of log4j's layouts, one after the other",
}


def test_functions_are_short() -> None:
    def functions(node: ast.AST, inside: str) -> Iterator[str]:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                name = f"{inside}.{part.name}"
                if isinstance(part, ast.FunctionDef) and (part.end_lineno or 0) - part.lineno >= 50:
                    yield name
                yield from functions(part, name)

    found = [long for name, path in modules().items() for long in functions(ast.parse(path.read_text(encoding="utf-8")), name)]
    assert sorted(found) == sorted(LONG)
