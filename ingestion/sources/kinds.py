"""Kinds of logs: which loggers and names of files tell them (`catalogue/kinds.yml`)."""

from __future__ import annotations

from functools import lru_cache

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml


@lru_cache(maxsize=1)
def kinds() -> list[tuple[str, str]]:
    """(prefix of a logger, kind), longest prefix first."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return sorted(((prefix, kind) for kind, entry in content.items() for prefix in entry["loggers"]), key=lambda pair: -len(pair[0]))


@lru_cache(maxsize=1)
def kinds_by_name() -> dict[str, str]:
    """Name of a file, without what rotation adds → kind."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return {name: kind for kind, entry in content.items() for name in entry.get("files", ())}


@lru_cache(maxsize=1)
def kinds_of_others() -> frozenset[str]:
    """Kinds of logs that no node of Kafka writes."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return frozenset(kind for kind, entry in content.items() if not entry.get("of_node", True))


@lru_cache(maxsize=4096)
def kind_of_logger(logger: str) -> str | None:
    """The kind of log that a logger writes into."""
    return next((kind for prefix, kind in kinds() if logger.startswith(prefix)), None)
