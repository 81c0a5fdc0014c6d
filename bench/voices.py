"""The wording of a generated fleet's lines: the catalogue's forms, chosen by release and made into templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.recognition.compiled import Compiled, load
from ingestion.recognition.forms import ELLIPSIS, MARK, Form, release_order

VOICES = Path(__file__).with_name("voices.yml")
KRAFT_VOICES = Path(__file__).with_name("voices_kraft.yml")
KEYS = {"event", "file", "level", "as", "context", "logger", "has", "lacks", "rest", "of", "place", "since", "until", "__line__"}
# Release of Kafka → ZooKeeper client that it ships from then on.
ZOOKEEPER = {"0.8": "3.3", "0.9": "3.4", "2.4": "3.5", "3.2": "3.6", "3.9": "3.8"}


class VoiceError(ValueError):
    """An entry of voices.yml that fits no form, or more than one."""

    def __init__(self, name: str, release: str, found: str) -> None:
        super().__init__(f"{VOICES.name}: '{name}' in {release}: {found}")


# A value that a template needs: its name, the value that it is made from, and how.
Derived = tuple[str, str, Callable[[str], str]]


def bracketed(partition: str) -> str:
    """'orders-3' -> '[orders,3]', as releases up to 0.11 write most partitions."""
    return f"[{','.join(partition.rsplit('-', 1))}]"


def spaced(numbers: str) -> str:
    """'1,2' -> '1, 2'."""
    return numbers.replace(",", ", ")


@dataclass(frozen=True)
class Voice:
    """One kind of line in one release: `template` takes the fields by name, and what is `derived` from them, and ends with a line feed."""

    name: str
    event: str
    file: str
    level: str
    template: str
    derived: tuple[Derived, ...] = ()


def is_between(release: str, since: str | None, until: str | None) -> bool:
    """Whether a release is within two others; an end of '2.8' includes 2.8.1."""
    order = release_order(release)
    last = release_order(until or "")
    return release_order(since or "") <= order and (not last or order[: len(last)] <= last)


def is_of(form: Form, release: str) -> bool:
    """Whether a form is printed by a release."""
    return is_between(release, form.since, form.until)


def listed(texts: str | list[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else texts


def by_release(value: str | dict[str, str], release: str) -> str:
    """The value of the last release that is not later; a plain value holds for all."""
    if isinstance(value, str):
        return value
    fitting = [since for since in value if since != "__line__" and release_order(since) <= release_order(release)]
    return value[max(fitting, key=release_order)]


def template_of(form: Form, rest: list[str], derived: dict[str, Derived]) -> str:
    """The form's line with %(field)s for its marks and the texts of `rest` for its ellipses.

    Our values are written as the marked value is: partitions in brackets, numbers with blanks between them; such fields are added to `derived`.
    """
    parts = MARK.split(form.text)
    plain = [part.replace("%", "%%") for part in parts[::3]]
    names = []
    for field, value in zip(parts[1::3], parts[2::3], strict=True):
        write = (
            bracketed if field == "partition_name" and value.startswith("[") else spaced if re.fullmatch(r"\d+(, \d+)+", value) else None
        )
        name = f"{field}_{write.__name__}" if write else field
        if write:
            derived[name] = (name, field, write)
        names.append(f"%({name})s")
    text = "".join(piece + name for piece, name in zip(plain, [*names, ""], strict=True))
    first, *others = text.split(ELLIPSIS)
    return first + "".join((rest[number] if number < len(rest) else "") + other for number, other in enumerate(others))


def entries(is_kraft: bool) -> dict[str, Any]:
    """The entries of one mode, by name."""
    return read_yaml(VOICES) | (read_yaml(KRAFT_VOICES) if is_kraft else {})


class Voices:
    """All voices of one release and mode, by name; a voice whose event the release does not print is left out (`get` is None)."""

    def __init__(self, release: str, is_kraft: bool = False, compiled: Compiled | None = None) -> None:
        compiled = compiled or load(CATALOGUE)
        self.release = release
        self.forms: dict[str, list[Form]] = {}
        self.contexts: dict[str, list[Form]] = {}
        for form in compiled.forms:
            self.forms.setdefault(form.event, []).append(form)
        for form in compiled.contexts:
            self.contexts.setdefault(form.event, []).append(form)
        self.voices: dict[str, Voice] = {}
        for name, entry in entries(is_kraft).items():
            found = (self.voice(name, one) for one in (entry if isinstance(entry, list) else [entry]))
            if (voice := next(filter(None, found), None)) is not None:
                self.voices[name] = voice

    def voice(self, name: str, entry: dict[str, Any]) -> Voice | None:
        """The entry as the release says it, or None if it has no such line.  Raises VoiceError."""
        if unknown := set(entry) - KEYS:
            raise VoiceError(name, self.release, f"unknown key {sorted(unknown)[0]}; use {', '.join(sorted(KEYS))}")
        if not is_between(self.release, entry.get("since"), entry.get("until")):
            return None
        event = entry.get("event", name)
        if event not in self.forms:
            raise VoiceError(name, self.release, f"the catalogue has no event '{event}'")
        release = by_release(ZOOKEEPER, self.release) if entry.get("of") == "zookeeper" else self.release
        logger = by_release(entry["logger"], self.release)
        forms = [
            form
            for form in self.forms[event]
            if is_of(form, release)
            and (not form.loggers or logger in form.loggers)
            and all(text in form.text for text in listed(entry.get("has", "")))
            and not ("lacks" in entry and entry["lacks"] in form.text)
        ]
        if not forms:
            return None
        if len({form.text for form in forms}) > 1:
            raise VoiceError(name, self.release, "more than one form fits: " + " | ".join(form.text for form in forms))
        derived: dict[str, Derived] = {}
        context = self.context(entry, derived)
        if context is None:
            return None
        text = template_of(forms[0], entry.get("rest", []), derived)
        level = entry.get("level", "INFO")
        if "place" in entry:
            return Voice(name, event, entry["file"], level, f"[myid:1] - {level}  [{entry['place']}] - {text}\n")
        return Voice(
            name,
            event,
            by_release(entry.get("file", "server"), self.release),
            level,
            f"{level} {context}{text} ({logger})\n",
            tuple(derived.values()),
        )

    def context(self, entry: dict[str, Any], derived: dict[str, Derived]) -> str | None:
        """The context in front of the message, as a template; None if the release knows none of those that are named."""
        if "as" not in entry:
            return ""
        for wanted in entry["as"]:
            context, *fields = wanted.split()
            for form in self.contexts[context]:
                marks = [mark[1] for mark in MARK.finditer(form.text)]
                if is_of(form, self.release) and sorted(marks) == sorted(fields) and entry.get("context", "") in form.text:
                    return template_of(form, [], derived)
        return None
