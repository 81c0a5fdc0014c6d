"""Bodies of records to events: dispatch by logger, then by literal, then one anchored match.

Source of the wordings: `catalogue/` (Kafka 0.8 to 4.x, ZooKeeper 3.3 to 3.9).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ingestion.reading.catalogue_files import CATALOGUE
from ingestion.recognition.compiled import Compiled, compile_folder, load
from ingestion.recognition.forms import WORD, Form, Vocabulary

# A wording this long is recognised under any logger: classes move between releases, and long texts do not collide.
DISTINCTIVE = 28
# A text is searched for words in parts of PART bytes, which overlap by more than the longest word of a form.
PART, OVERLAP = 1 << 18, 256
# If a logger's package begins with one of these, its first three parts name its owner: org.apache.kafka, com.example.billing.
DOMAINS = ("com", "dev", "io", "net", "org")
# In a layout without loggers, a wording this long is enough behind a prefix that only Kafka prints.
DISTINCTIVE_BEHIND_PREFIX = 14


@dataclass(frozen=True)
class Span:
    """Position of a field's value in the text that was matched."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Recognised:
    """A form that fits, and where its fields are."""

    form: Form
    spans: tuple[Span, ...]
    end: int


def spans_of(form: Form, text: bytes) -> Recognised | None:
    """Match one form; None if it does not fit."""
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


class Index:
    """Forms indexed by a word that their text must have, so that a body is matched against few of them however many there are.

    Each form is filed under its rarest word; forms without words are always tried.
    """

    def __init__(self, forms: list[Form]) -> None:
        """The forms in the order in which they shall be tried."""
        self.forms = forms
        self.literals = [form.literal for form in forms]
        words = [form.words.split() for form in forms]
        common = Counter(word for some in words for word in some)
        self.by_word: dict[bytes, list[int]] = {}
        self.always: list[int] = []
        for rank, some in enumerate(words):
            if some:
                self.by_word.setdefault(min(some, key=lambda word: (common[word], -len(word), word)), []).append(rank)
            else:
                self.always.append(rank)

    def candidates(self, text: bytes) -> list[Form]:
        """The forms whose words the text has, in their order."""
        by_word, forms, literals = self.by_word, self.forms, self.literals
        words: set[bytes] = set()
        for start in range(0, len(text), PART):
            # In parts that overlap: all words of a line of many megabytes would fill the memory.
            words |= by_word.keys() & set(WORD.findall(text[max(0, start - OVERLAP) : start + PART]))
        ranks = [rank for word in words for rank in by_word[word]]
        ranks += self.always
        ranks.sort()
        return [forms[rank] for rank in ranks if literals[rank] in text]


class Catalogue:
    """All knowledge of messages: `vocabulary`, `contexts`, `forms`, `exceptions`, `version`."""

    def __init__(self, folder: Path = CATALOGUE, compiled: Compiled | None = None) -> None:
        """Compile a folder, or take a compiled one.  Raises CatalogueError if its files have faults."""
        compiled = compiled or compile_folder(folder)
        self.folder = folder
        self.vocabulary: Vocabulary = compiled.vocabulary
        self.contexts = sorted(compiled.contexts, key=lambda form: -form.weight)
        self.forms = compiled.forms
        self.exceptions = compiled.exceptions
        self.version = compiled.version
        self._contexts = Index(self.contexts)
        self._exceptions = Index(compiled.exceptions)
        self._bodies = Index(sorted(compiled.forms, key=lambda form: -form.weight))
        self._owners = {owner_of(logger) for loggers in {form.loggers for form in compiled.forms} for logger in loggers}

    def context(self, logger: bytes | None, message: bytes) -> Recognised | None:
        """The prefix that names the component and partition speaking (the longest wording that fits), if there is one."""
        best: Recognised | None = None
        names = class_names(logger or b"")
        for form in self._contexts.candidates(message[:400]):
            if form.loggers and form.logger_names.isdisjoint(names):
                continue
            found = spans_of(form, message)
            if found and (best is None or found.end > best.end):
                best = found
        return best

    def understood(self, logger: bytes | None, message: bytes) -> tuple[Recognised | None, Recognised | None]:
        """The prefix of a message, and the form that fits what follows it; each None if there is none."""
        context = self.context(logger, message)
        found = self.recognise(logger, message[context.end :] if context else message, context is not None)
        if found is None and context is not None:
            # The text begins like a prefix but is not one.
            found = self.recognise(logger, message)
            context = None if found else context
        return context, found

    def told_by(self, exception: bytes) -> Recognised | None:
        """What the message of an exception tells about its record."""
        found = (spans_of(form, exception) for form in self._exceptions.candidates(exception))
        return next(filter(None, found), None)

    def knows(self, logger: bytes | None, message: bytes) -> bool:
        """Whether a form recognises a message, behind its prefix if it has one."""
        return self.event_of(logger, message) is not None

    def event_of(self, logger: bytes | None, message: bytes) -> str | None:
        """The event of a message, behind its prefix if it has one; None if no form recognises it."""
        context = self.context(logger, message)
        found = self.recognise(logger, message[context.end :], True) if context is not None else None
        found = found or self.recognise(logger, message)
        return found.form.event if found else None

    def recognise(self, logger: bytes | None, body: bytes, is_behind_prefix: bool = False) -> Recognised | None:
        """The most specific form that fits the body: those of its logger first, then any distinctive wording."""
        least = DISTINCTIVE_BEHIND_PREFIX if is_behind_prefix and not logger else DISTINCTIVE
        found = self._find(logger, body, least)
        if found is None and not body.endswith(b" "):
            # Collectors strip the blank that an empty list leaves at the end of a line.
            found = self._find(logger, body + b" ", least)
            if found:
                size = len(body)
                spans = (Span(span.name, min(span.start, size), min(span.end, size)) for span in found.spans)
                found = Recognised(found.form, tuple(spans), min(found.end, size))
        return found

    def _find(self, logger: bytes | None, body: bytes, least: int) -> Recognised | None:
        """Like `recognise`; a wording of `least` length counts under any logger except those of other people's programs."""
        owner = owner_of((logger or b"").decode("utf-8", "replace"))
        is_foreign = owner is not None and owner not in self._owners
        names = () if is_foreign else class_names(logger or b"")
        others = []
        for form in self._bodies.candidates(body):
            if not form.logger_names.isdisjoint(names):
                found = spans_of(form, body)
                if found:
                    return found
            elif not form.loggers or (form.weight >= least and not is_foreign):
                others.append(form)
        for form in others:
            found = spans_of(form, body)
            if found:
                return found
        return None


@lru_cache(maxsize=1024)
def owner_of(logger: str) -> str | None:
    """'org.apache.kafka.clients.Metadata' -> 'org.apache.kafka'; None if the package was cut off or shortened, or begins with `kafka`."""
    parts = logger.split(".")
    return ".".join(parts[:3]) if parts[0] in DOMAINS and len(parts) > 3 else None


@lru_cache(maxsize=1024)
def class_names(logger: bytes) -> tuple[str, ...]:
    """The names under which a logger's forms may be filed.

    Layouts shorten packages (`o.a.k.c.consumer.internals.Fetcher`, `Fetcher`) or print the method too (`Fetcher.send`); the
    logger of an inner class moves to its outer class and back between releases.
    """
    rest, _, last = logger.decode("utf-8", "replace").rpartition(".")
    names = [last]
    if "$" in last:
        names.append(last.partition("$")[0])
    if rest and last[:1].islower():
        names.append(rest.rpartition(".")[2])
    return tuple(names)


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The shipped catalogue, loaded once in each process."""
    return Catalogue(CATALOGUE, load(CATALOGUE))
