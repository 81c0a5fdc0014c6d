"""Bodies of records to events: dispatch by logger, then by literal, then one anchored match.

Source of the wordings: `catalogue/` (Kafka 0.8 to 4.x, ZooKeeper 3.3 to 3.9).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ingestion.forms import Form, Vocabulary, read_forms, read_vocabulary

CATALOGUE = Path(__file__).parent / "catalogue"
# A wording this long is recognised under any logger: classes move between releases, long texts do not collide.
DISTINCTIVE = 24


@dataclass(frozen=True)
class Span:
    """Where a field's value stands in the text that was matched."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Recognised:
    """A form that fits, and where its fields stand."""

    form: Form
    spans: tuple[Span, ...]
    end: int


def spans_of(form: Form, text: bytes) -> Recognised | None:
    """Match one form; None where it does not fit."""
    match = form.pattern.match(text)
    if match is None:
        return None
    spans = tuple(Span(name, *match.span(group)) for group, name in enumerate(form.names, 1) if match.start(group) >= 0)
    return Recognised(form, spans, match.end())


def value_of(form: Form, span: Span, text: bytes) -> bytes:
    """The value of a field, with the wanted parts picked out where its token says so."""
    value = text[span.start : span.end]
    pick = form.picks.get(span.name)
    return b",".join(pick.findall(value)) if pick else value


class Catalogue:
    """All knowledge of messages, loaded once: `vocabulary`, `contexts`, `forms`, `version`."""

    def __init__(self, folder: Path = CATALOGUE) -> None:
        self.folder = folder
        self.vocabulary: Vocabulary = read_vocabulary(folder / "fields.yml")
        self.contexts = sorted(read_forms(folder / "contexts.yml", self.vocabulary, are_prefixes=True), key=lambda form: -form.weight)
        self.forms: list[Form] = []
        digest = hashlib.sha256()
        for name in ("fields.yml", "contexts.yml", "envelopes.yml"):
            digest.update((folder / name).read_bytes())
        for path in sorted((folder / "messages").glob("*.yml")):
            digest.update(path.read_bytes())
            self.forms += read_forms(path, self.vocabulary)
        self.version = digest.hexdigest()[:12]
        self._by_logger: dict[bytes, list[Form]] = {}
        for form in self.forms:
            for logger in form.loggers:
                for name in {logger, short_name(logger)}:
                    self._by_logger.setdefault(name.encode(), []).append(form)
        for forms in self._by_logger.values():
            forms.sort(key=lambda form: -form.weight)
        self._distinctive = sorted(
            (form for form in self.forms if form.weight >= DISTINCTIVE or not form.loggers), key=lambda form: -form.weight
        )

    def context(self, logger: bytes | None, message: bytes) -> Recognised | None:
        """The prefix that says which component and partition speaks (the longest wording that fits), if there is one."""
        best: Recognised | None = None
        for form in self.contexts:
            if form.literal not in message[:400]:
                continue
            if form.loggers and (logger or b"").decode("utf-8", "replace") not in form.loggers:
                continue
            found = spans_of(form, message)
            if found and (best is None or found.end > best.end):
                best = found
        return best

    def recognise(self, logger: bytes | None, body: bytes) -> Recognised | None:
        """The most specific form that fits the body: those of its logger first, then any distinctive wording."""
        for forms in (self._by_logger.get(logger or b"", ()), self._distinctive):
            for form in forms:
                if form.literal in body:
                    found = spans_of(form, body)
                    if found:
                        return found
        return None


def short_name(logger: str) -> str:
    """'kafka.log.LogCleaner$CleanerThread' -> 'LogCleaner$CleanerThread': what `%c{1}` prints."""
    return logger.rsplit(".", 1)[-1]


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The shipped catalogue, loaded once in each process."""
    return Catalogue()
