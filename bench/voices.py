"""How the nodes of a made fleet word what they say: the catalogue's forms, chosen by release and made into templates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.recognition.compiled import Compiled, load
from ingestion.recognition.forms import ELLIPSIS, MARK, Form, release_order

VOICES = Path(__file__).with_name("voices.yml")
KEYS = {"event", "file", "level", "as", "context", "logger", "has", "lacks", "rest", "of", "place", "__line__"}
# The ZooKeeper client that a release of Kafka ships, from the release on.
ZOOKEEPER = {"0.8": "3.3", "0.9": "3.4", "2.4": "3.5", "3.2": "3.6", "3.9": "3.8"}


class VoiceError(ValueError):
    """An entry of voices.yml that no form, or more than one, fits."""

    def __init__(self, name: str, release: str, found: str) -> None:
        super().__init__(f"{VOICES.name}: '{name}' in {release}: {found}")


@dataclass(frozen=True)
class Voice:
    """One kind of line in one release: `template` takes the fields by name and ends with the logger and a line feed."""

    name: str
    event: str
    file: str
    level: str
    template: str


def is_of(form: Form, release: str) -> bool:
    """Whether a form is printed by a release; an end of '2.8' takes in 2.8.1."""
    order = release_order(release)
    since, until = (release_order(bound or "") for bound in (form.since, form.until))
    return since <= order and (not until or order[: len(until)] <= until)


def by_release(value: str | dict[str, str], release: str) -> str:
    """The value of the last release that is not later; a plain value is that of all."""
    if isinstance(value, str):
        return value
    fitting = [since for since in value if since != "__line__" and release_order(since) <= release_order(release)]
    return value[max(fitting, key=release_order)]


def template_of(form: Form, rest: list[str]) -> str:
    """The form's line with %(field)s for its marks and the texts of `rest` for its ellipses."""
    parts = MARK.split(form.text)
    plain = [part.replace("%", "%%") for part in parts[::3]]
    text = "".join(piece if not name else piece + f"%({name})s" for piece, name in zip(plain, [*parts[1::3], ""], strict=True))
    first, *others = text.split(ELLIPSIS)
    return first + "".join((rest[number] if number < len(rest) else "") + other for number, other in enumerate(others))


class Voices:
    """All voices of one release, by name; a voice whose event the release does not print is left out (`get` is None)."""

    def __init__(self, release: str, compiled: Compiled | None = None) -> None:
        compiled = compiled or load(CATALOGUE)
        self.release = release
        self.forms: dict[str, list[Form]] = {}
        self.contexts: dict[str, list[Form]] = {}
        for form in compiled.forms:
            self.forms.setdefault(form.event, []).append(form)
        for form in compiled.contexts:
            self.contexts.setdefault(form.event, []).append(form)
        self.voices: dict[str, Voice] = {}
        for name, entry in read_yaml(VOICES).items():
            if unknown := set(entry) - KEYS:
                raise VoiceError(name, release, f"unknown key {sorted(unknown)[0]}; use {', '.join(sorted(KEYS))}")
            if (voice := self.voice(name, entry)) is not None:
                self.voices[name] = voice

    def voice(self, name: str, entry: dict[str, Any]) -> Voice | None:
        """The entry as the release says it, or None if it has no such line.  Raises VoiceError."""
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
            and entry.get("has", "") in form.text
            and not ("lacks" in entry and entry["lacks"] in form.text)
        ]
        if not forms:
            return None
        if len({form.text for form in forms}) > 1:
            raise VoiceError(name, self.release, "more than one form fits: " + " | ".join(form.text for form in forms))
        context = self.context(name, entry)
        text = template_of(forms[0], entry.get("rest", []))
        level = entry.get("level", "INFO")
        if "place" in entry:
            return Voice(name, event, entry["file"], level, f"[myid:1] - {level}  [{entry['place']}] - {text}\n")
        return Voice(name, event, entry.get("file", "server"), level, f"{level} {context}{text} ({logger})\n")

    def context(self, name: str, entry: dict[str, Any]) -> str:
        """The context in front of the message, as a template.  Raises VoiceError if the release knows none of those that are named."""
        if "as" not in entry:
            return ""
        for wanted in entry["as"]:
            context, *fields = wanted.split()
            for form in self.contexts[context]:
                marks = [mark[1] for mark in MARK.finditer(form.text)]
                if is_of(form, self.release) and sorted(marks) == sorted(fields) and entry.get("context", "") in form.text:
                    return re.sub(MARK, r"%(\1)s", form.text)
        raise VoiceError(name, self.release, f"no context of {entry['as']} fits")
