"""Secrets in a text, hidden before anything else looks at it (`catalogue/secrets.yml`).  No Spark here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml

# Replaces each byte of a hidden value, so offsets stay right; where texts are cut out, a run of it becomes [redacted].
HIDDEN = b"\x01"
PRIVATE_KEY = "private_key"
HIDDEN_RUN = re.compile(HIDDEN + b"+")


@dataclass(frozen=True)
class Secret:
    """One shape of secrets."""

    name: str
    words: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    examples: tuple[str, ...]


@lru_cache(maxsize=1)
def secrets() -> tuple[Secret, ...]:
    """All shapes, in the order of the file."""
    content = read_yaml(CATALOGUE / "secrets.yml")
    return tuple(
        Secret(name, tuple(word.encode() for word in entry["words"]), re.compile(entry["pattern"].encode(), re.M), tuple(entry["examples"]))
        for name, entry in content.items()
    )


@lru_cache(maxsize=1)
def words() -> tuple[bytes, ...]:
    """All words that point to secrets: a text without any of them holds none."""
    return tuple(sorted({word for secret in secrets() for word in secret.words}))


def may_hold_secrets(text: bytes) -> bool:
    """Whether a text has one of the words."""
    small = text.lower()
    return any(word in small for word in words())


def hide_secrets(text: bytes) -> bytes:
    """The same text, same length, with every byte of a secret as HIDDEN.

    Patterns are tried only on lines that hold one of the words, because finding words is a hundred times faster;
    a key of several lines is found by its first.
    """
    small = text.lower()
    out: bytearray | None = None
    for secret in secrets():
        if secret.name == PRIVATE_KEY:
            out = hide_keys(text, small, secret, out)
            continue
        lines = set()
        for word in secret.words:
            at = small.find(word)
            while at >= 0:
                end = small.find(b"\n", at)
                end = len(small) if end < 0 else end
                lines.add((small.rfind(b"\n", 0, at) + 1, end))
                at = small.find(word, end)
        for begin, stop in lines:
            for match in secret.pattern.finditer(out or text, begin, stop):
                start, end = match.span("secret")
                # An opening quote is not part of the value.
                while start < end and text[start] in b"\\\"'":
                    start += 1
                out = out if out is not None else bytearray(text)
                out[start:end] = HIDDEN * (end - start)
    return text if out is None else bytes(out)


def hide_keys(text: bytes, small: bytes, secret: Secret, out: bytearray | None) -> bytearray | None:
    """Hide keys of several lines, each from its first line to its end, in one pass over the text."""
    if not any(word in small for word in secret.words):
        return out
    for match in secret.pattern.finditer(text if out is None else bytes(out)):
        start, end = match.span("secret")
        out = out if out is not None else bytearray(text)
        out[start:end] = HIDDEN * (end - start)
    return out


def shown(data: bytes) -> str:
    """A text with each hidden value as [redacted]."""
    return (HIDDEN_RUN.sub(b"[redacted]", data) if HIDDEN in data else data).decode()
