"""Kinds of logs: which loggers and names of files tell them (`catalogue/kinds.yml`)."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml

# Beginnings of whole names of loggers, which no layout has shortened; of these, the ones that are Kafka's and ZooKeeper's.
DOMAINS = ("com.", "dev.", "io.", "net.", "org.")
APACHE = ("org.apache.kafka.", "org.apache.zookeeper.")
# The kind of a log whose loggers and name no kind has.
NO_KIND = "log4j_log"


class Speaker(IntEnum):
    """Whose a record is by its logger: a node's, another program's, or that of whoever else writes the file (a library, a logger that no kind has)."""

    ANY = 0
    NODE = 1
    OTHER = 2


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


def is_of_node(kind: str) -> bool:
    """Whether a kind of log is a node's: no other program's, and not one that nothing tells."""
    return kind != NO_KIND and kind not in kinds_of_others()


@lru_cache(maxsize=1)
def kinds_of_libraries() -> frozenset[str]:
    """Kinds whose loggers nodes use, too: their lines alone do not say which program writes a file."""
    content = read_yaml(CATALOGUE / "kinds.yml")
    return frozenset(kind for kind, entry in content.items() if entry.get("in_all"))


def speaker_of(logger: str) -> Speaker:
    """Whose a record is by its logger."""
    kind = kind_of_logger(logger)
    if kind is None or kind in kinds_of_libraries():
        return Speaker.ANY
    return Speaker.OTHER if kind in kinds_of_others() else Speaker.NODE


def is_of_application(logger: str) -> bool:
    """Whether a logger, by its whole name, is of a program of other people."""
    return logger.startswith(DOMAINS) and kind_of_logger(logger) is None and not logger.startswith(APACHE)


@lru_cache(maxsize=4096)
def kind_of_logger(logger: str) -> str | None:
    """The kind of log that a logger writes into."""
    return next((kind for prefix, kind in kinds() if logger.startswith(prefix)), None)
