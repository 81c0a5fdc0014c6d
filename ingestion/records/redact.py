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


# How an option's value is written, as what opens it and the value: in quotes, which may be escaped, or as a word of a shell.  A variable of the shell is
# not a secret.
VALUES = ((r"""\\*["']""", r"""(?!\$)(?P<secret>[^"'\\\n]+)"""), ("", r"""(?!\$)(?P<secret>[^\s"'|;&<>()`\\]+)"""))
# Before any option there is a blank; a line without this has no command line.
OPTION = re.compile(rb"[ \t]--?[A-Za-z]")


@dataclass(frozen=True)
class Secret:
    """One shape of secrets.  `never`: values, in upper case, that are none."""

    name: str
    words: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    examples: tuple[str, ...]
    never: frozenset[bytes] = frozenset()


@dataclass(frozen=True)
class Tools:
    """Tools whose options take secrets: `command` finds a tool's name (its group `tool`), `options` what it is given."""

    command: re.Pattern[bytes]
    options: dict[bytes, tuple[re.Pattern[bytes], ...]]
    examples: tuple[str, ...]


@lru_cache(maxsize=1)
def secrets() -> tuple[Secret, ...]:
    """All shapes, in the order of the file."""
    return tuple(
        Secret(
            name,
            tuple(word.encode() for word in entry["words"]),
            re.compile(entry["pattern"].encode(), re.M),
            tuple(entry["examples"]),
            frozenset(value.encode() for value in entry.get("never", ())),
        )
        for name, entry in read_yaml(CATALOGUE / "secrets.yml").items()
    )


@lru_cache(maxsize=1)
def tools() -> Tools:
    """All tools of `secret_options.yml`."""
    entries = read_yaml(CATALOGUE / "secret_options.yml").values()
    options = {name.encode(): option_patterns(entry["options"]) for entry in entries for name in entry["tools"]}
    names = "|".join(re.escape(name.decode()).replace(r"\ ", r"[ \t]+") for name in sorted(options, key=len, reverse=True))
    command = re.compile(rf"(?<![\w.@\-])(?P<tool>{names})(?:\.exe|\.sh)?(?=[ \t])".encode())
    return Tools(command, options, tuple(example for entry in entries for example in entry["examples"]))


def option_patterns(written: list[str]) -> tuple[re.Pattern[bytes], ...]:
    """The patterns of options as the file writes them (`-p VALUE`, `-pVALUE`, `-passin pass:VALUE`, `-u NAME:VALUE`), one for each of VALUES."""
    parts = []
    for text in written:
        option, blank, before = re.fullmatch(r"(--?[\w\-]*?)( |(?=NAME|VALUE))((?:NAME.|\w+:)?)VALUE", text).groups()  # type: ignore[union-attr]
        # Options of one letter may be joined: `curl -sku user:password`.
        name = rf"-[A-Za-z]{{0,8}}{option[1:]}" if blank and len(option) == 2 else re.escape(option)
        parts.append((name + (r"(?:[ \t]+|=)" if blank else ""), re.escape(before).replace("NAME", r"""[^\s"'\\:,%=]*""")))
    return tuple(
        re.compile(rf"(?<=[ \t])(?:{'|'.join(name + opening + before for name, before in parts)}){value}".encode())
        for opening, value in VALUES
    )


@lru_cache(maxsize=1)
def words() -> tuple[bytes, ...]:
    """All words that point to secrets: a text without any of them, and without a tool's command line, holds none."""
    return tuple(sorted({word for secret in secrets() for word in secret.words}))


def may_hold_secrets(text: bytes) -> bool:
    """Whether a text has one of the words, or the command line of a tool that takes secrets."""
    small = text.lower()
    return any(word in small for word in words()) or (OPTION.search(text) is not None and tools().command.search(text) is not None)


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
                start, end = bare(text, *match.span("secret"))
                if secret.never and text[start:end].strip(b"\\\"'").upper() in secret.never:
                    continue
                out = without(text, out, start, end)
    out = hide_options(text, out)
    return text if out is None else bytes(out)


def without(text: bytes, out: bytearray | None, start: int, end: int) -> bytearray:
    """The text as far as it is hidden already, or a copy of it if nothing is, with one more span hidden."""
    out = bytearray(text) if out is None else out
    out[start:end] = HIDDEN * (end - start)
    return out


def bare(text: bytes, start: int, end: int) -> tuple[int, int]:
    """The span of a value without its opening quote."""
    while start < end and text[start] in b"\\\"'":
        start += 1
    return start, end


def hide_options(text: bytes, out: bytearray | None) -> bytearray | None:
    """Hide what tools are given as options, from each tool's name to the next one or to the end of the line."""
    known, looked_at = tools(), 0
    for option in OPTION.finditer(text):
        if option.start() < looked_at:
            continue
        begin = text.rfind(b"\n", 0, option.start()) + 1
        stop = text.find(b"\n", option.start())
        looked_at = stop = len(text) if stop < 0 else stop
        commands = list(known.command.finditer(text, begin, stop))
        for command, following in zip(commands, [*(match.start() for match in commands[1:]), stop], strict=False):
            name = b" ".join(command["tool"].split())
            for pattern in known.options[name]:
                for match in pattern.finditer(text, command.end(), following):
                    start, end = match.span("secret")
                    out = without(text, out, start, end)
    return out


def hide_keys(text: bytes, small: bytes, secret: Secret, out: bytearray | None) -> bytearray | None:
    """Hide keys of several lines, each from its first line to its end, in one pass over the text."""
    if not any(word in small for word in secret.words):
        return out
    for match in secret.pattern.finditer(text if out is None else bytes(out)):
        start, end = match.span("secret")
        out = without(text, out, start, end)
    return out


def shown(data: bytes) -> str:
    """A text with each hidden value as [redacted]."""
    return (HIDDEN_RUN.sub(b"[redacted]", data) if HIDDEN in data else data).decode()
