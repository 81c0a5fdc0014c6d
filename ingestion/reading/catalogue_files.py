"""The files of the catalogue: where they are, and YAML with line numbers, so that errors can name the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CATALOGUE = Path(__file__).resolve().parent.parent / "catalogue"


class CatalogueError(ValueError):
    """A fault in a catalogue file: its place, what was found, what to write instead."""

    def __init__(self, path: Path | str, line: int, found: str, write: str) -> None:
        super().__init__(f"{path}:{line}: {found}; {write}")


class _Lines(yaml.CSafeLoader):
    """Keeps the line of every mapping under `__line__` for error messages; a duplicate key is an error."""


def _mapping(loader: _Lines, node: yaml.MappingNode) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in out:
            raise CatalogueError(key_node.start_mark.name, key_node.start_mark.line + 1, f"'{key}' appears twice", "merge the two")
        out[key] = loader.construct_object(value_node, deep=True)
    out["__line__"] = node.start_mark.line + 1
    return out


_Lines.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> dict[str, Any]:
    """A catalogue file as a mapping of mappings.  Raises CatalogueError if it is not valid YAML or not a mapping."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise CatalogueError(
            path, mark.line + 1 if mark else 0, f"not valid YAML: {error.problem}", "quote texts that contain ': ' or '#'"
        ) from error
    if not isinstance(content, dict):
        raise CatalogueError(path, 1, "the file is not a mapping", "write entries as 'name:' with their keys below")
    content.pop("__line__", None)
    return content
