"""The generated part of docs/architecture.md, from dbt's manifest: `python -m tests.architecture` writes it."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from chronicle.build.parsed import parse
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse

PAGE = PROJECT / "docs" / "architecture.md"
BEGIN, END = "<!-- made by python -m tests.architecture -->", "<!-- end -->"
# A door that this many subjects read is not drawn as an arrow.
EVERYWHERE = 5
# Subjects that read marts, which are public, of all other subjects.
LATER = ("incidents", "days")


def models(manifest: Any) -> list[Any]:
    return [node for node in manifest.nodes.values() if str(node.resource_type) == "model"]


def readers(manifest: Any) -> dict[str, set[str]]:
    """The subjects that read each step of another subject, by the step's name. Marts and reports are for people and not counted as steps."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in models(manifest):
        for key in node.depends_on.nodes:
            read = manifest.nodes.get(key)
            if read and str(read.resource_type) == "model" and read.group != node.group and read.access.value != "public":
                found[read.name].add(node.group)
    return dict(found)


def generated(manifest: Any) -> str:
    """A picture of the subjects and the tables of their doors, as Markdown."""
    doors, nodes = readers(manifest), {node.name: node for node in models(manifest)}
    order = list(dict.fromkeys(group.name for group in manifest.groups.values()))
    arrows = {(nodes[name].group, reader) for name, reading in doors.items() if len(reading) < EVERYWHERE for reader in reading}
    lines = ["```mermaid", "flowchart LR"]
    lines += [f"    {group}[{group.replace('_', ' ')}]" for group in order]
    lines += [f"    {one} --> {other}" for one, other in sorted(arrows)]
    lines += [f"    marts[(marts of all)] ==> {group}" for group in LATER]
    lines += ["    incidents ==> days", "```", ""]
    for group in order:
        owned = [node for node in nodes.values() if node.group == group]
        steps = sum(node.access.value != "public" for node in owned)
        public = sorted(node.name for node in owned if node.access.value == "public")
        lines += [f"## {group.replace('_', ' ').capitalize()}", "", manifest.groups[f"group.chronicle.{group}"].description, ""]
        lines += [f"{steps} steps; people read {', '.join(f'`{name}`' for name in public)}.", ""]
        rows = [nodes[name] for name in sorted(doors) if nodes[name].group == group]
        if rows:
            lines += ["| door | one row per | what it gives | read by |", "|---|---|---|---|"]
        for node in rows:
            meta, reading = node.config.meta, sorted(doors[node.name])
            by = "nearly all" if len(reading) >= EVERYWHERE else ", ".join(reading).replace("_", " ")
            lines.append(f"| `{node.name}` | {', '.join(meta['grain'])} | {meta['gives']} | {by} |")
        lines += [""] if rows else []
    return "\n".join(lines)


def page(manifest: Any) -> str:
    """The whole page, with its generated part as it should be."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n\n{generated(manifest)}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        text = page(parse(Warehouse.at(str(Path(folder)))))
    PAGE.write_text(text, encoding="utf-8")
