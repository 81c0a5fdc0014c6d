"""Marked-up example lines, compiled: one line is the pattern, the test and the documentation.

A form is a line in which every varying part is wrapped as ``<<field=value>>``.  From it come the example (the marks
removed), the expected extraction (the values) and the matcher (each value replaced by the token of its field).
``…`` stands for text that varies and is not kept.  Scala prints one collection under many names (``List(1, 2)``,
``Vector(1, 2)``, ``HashSet(1, 2)`` by build), so any of these names stands for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ingestion.reading import linear
from ingestion.reading.catalogue_files import CatalogueError, read_yaml

MARK = re.compile(r"<<(\w+)=((?:(?!<<|>>).)*+)>>", re.S)
COLLECTION = re.compile(r"\b(?:List|Set|Map|Vector|Buffer|ArrayBuffer|ListBuffer|HashSet|HashMap|ArraySeq|WrappedArray|Stream)\(")
ELLIPSIS = "…"
WORD = re.compile(rb"[A-Za-z]{2,}")


@dataclass(frozen=True)
class Token:
    """What a field looks like in a line.  `parts`: the fields that its groups yield, if it is not the mark's own field."""

    name: str
    pattern: str
    pick: str | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Role:
    """What an event can mean for the facts.  `needs` are the fields that its lines have to deliver, each with its alternatives."""

    name: str
    means: str
    needs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """The tokens and fields that forms may use, the severities of events (`fields.yml`), and the roles that they may have (`roles.yml`)."""

    tokens: dict[str, Token]
    fields: dict[str, dict[str, Any]]
    roles: dict[str, Role] = field(default_factory=dict)
    severities: tuple[str, ...] = ("normal",)

    def token_of(self, name: str) -> Token | None:
        entry = self.fields.get(name)
        return self.tokens.get(entry["token"]) if entry else None


@dataclass(frozen=True)
class Form:
    """One compiled wording.

    `names` are the fields in the order of the groups of `pattern_text`; `picks` has, by field, the expression that picks
    the wanted parts out of the text (their values are joined with commas).  `digits_matter` is true where a literal
    digit takes part in the match, so that records which differ only in digits must be matched one by one.  `words` are
    the words that every matching text has, separated by blanks.
    """

    event: str
    path: str
    at_line: int
    text: str
    loggers: tuple[str, ...]
    since: str | None
    until: str | None
    origin: str
    names: tuple[str, ...]
    pattern_text: bytes
    literal: bytes
    words: bytes
    weight: int
    digits_matter: bool
    means: str = ""
    severity: str = "normal"
    noise: bool = False
    continues: str | None = None
    roles: tuple[str, ...] = ()
    picks: dict[str, re.Pattern[bytes]] = field(default_factory=dict)

    @cached_property
    def logger_names(self) -> frozenset[str]:
        """The classes that print the form."""
        return names_of(self.loggers)

    @cached_property
    def pattern(self) -> linear.Pattern:
        """The matcher; compiled when it is first needed, because a file needs only a few of all forms."""
        return linear.compile(self.pattern_text, re.S)

    @property
    def example(self) -> str:
        """The line as Kafka prints it."""
        return MARK.sub(r"\2", self.text).replace(ELLIPSIS, "")

    @property
    def expected(self) -> dict[str, str]:
        """The values that the marks promise, as the matcher would extract them (a compound mark is not split here)."""
        return {mark[1]: mark[2] for mark in MARK.finditer(self.text)}


@cache
def names_of(loggers: tuple[str, ...]) -> frozenset[str]:
    """The classes of some loggers; many forms share one tuple."""
    return frozenset(short_name(logger) for logger in loggers)


def short_name(logger: str) -> str:
    """'kafka.log.LogCleaner$CleanerThread' -> 'LogCleaner$CleanerThread': what `%c{1}` prints."""
    return logger.rsplit(".", 1)[-1]


def pieces_of(text: str) -> Iterator[str]:
    """The fixed texts of a marked-up line, in order: what is between its marks, ellipses and names of collections."""
    for piece in MARK.split(text)[::3]:
        for part in piece.split(ELLIPSIS):
            yield from COLLECTION.split(part)


def fixed_words(text: str, is_prefix: bool) -> Iterator[bytes]:
    """The words of a marked-up line that are fixed at both ends: next to other fixed text, or at an end of the line itself."""
    pieces = [piece.encode() for piece in pieces_of(text)]
    for number, piece in enumerate(pieces):
        is_last = number == len(pieces) - 1 and not is_prefix
        for found in WORD.finditer(piece):
            if (found.start() or not number) and (found.end() < len(piece) or is_last):
                yield found[0]


def literal_pattern(text: str) -> str:
    """A pattern that matches the text itself, with any Scala name of a collection, and anything for the ellipsis."""
    out = []
    for n, piece in enumerate(text.split(ELLIPSIS)):
        if n:
            out.append(".*")
        at = 0
        for word in COLLECTION.finditer(piece):
            out += [re.escape(piece[at : word.start()]), r"[A-Za-z]*\("]
            at = word.end()
        out.append(re.escape(piece[at:]))
    return "".join(out)


def compile_pattern(text: str, vocabulary: Vocabulary, path: str, line: int) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Turn a marked-up line into (pattern, field names by group, picks by field).

    Raises CatalogueError if a field is not in the vocabulary, a mark is not closed, or a value does not fit its token.
    """
    pattern: list[str] = []
    names: list[str] = []
    literals: list[str] = []
    picks: dict[str, str] = {}
    at = 0
    for mark in MARK.finditer(text):
        name, value = mark[1], mark[2]
        token = vocabulary.token_of(name)
        if token is None:
            raise CatalogueError(path, line, f"field '{name}' is not in fields.yml", "add it there with token, unit and meaning")
        if not re.fullmatch(token.pattern, value, re.S):
            raise CatalogueError(
                path,
                line,
                f"value '{value}' of '{name}' is no {token.name} ({token.pattern})",
                "mark the whole value or choose another token",
            )
        literals.append(text[at : mark.start()])
        pattern.append(literal_pattern(text[at : mark.start()]))
        if token.parts:
            pattern.append(token.pattern)
            names += token.parts
        else:
            pattern.append(f"({token.pattern})")
            names.append(name)
        if token.pick:
            picks[names[-1]] = token.pick
        at = mark.end()
    literals.append(text[at:])
    pattern.append(literal_pattern(text[at:]))
    if any("<<" in piece or ">>" in piece for piece in literals):
        raise CatalogueError(path, line, f"a mark is not closed in '{text[:80]}'", "write <<field=value>>")
    if len(set(names)) != len(names):
        raise CatalogueError(path, line, f"a field is marked twice in '{text[:80]}'", "mark it once and use another name for the other")
    return "".join(pattern), tuple(names), picks


def compile_form(
    event: str, entry: dict[str, Any], form: dict[str, Any], vocabulary: Vocabulary, path: str, is_prefix: bool = False
) -> Form:
    """Compile one form of an entry; a prefix may be followed by anything.  Raises CatalogueError, see `compile_pattern`."""
    line = form.get("__line__", 0)
    text = form.get("line")
    if not isinstance(text, str) or not text:
        raise CatalogueError(path, line, f"a form of '{event}' has no line", 'write line: "the text as Kafka prints it"')
    unknown = set(form) - {"line", "loggers", "since", "until", "origin", "continues", "__line__"}
    if unknown:
        raise CatalogueError(
            path, line, f"unknown key {sorted(unknown)} in a form of '{event}'", "use line, loggers, since, until, origin, continues"
        )
    since, until = form.get("since"), form.get("until")
    if since and until and release_order(since) > release_order(until):
        raise CatalogueError(path, line, f"since {since} is later than until {until}", "swap them")
    is_open = is_prefix or bool(form.get("continues"))
    wording = text if is_open else text.rstrip()
    pattern, names, picks = compile_pattern(wording, vocabulary, path, line)
    plain = list(pieces_of(wording))
    longest = max(plain, key=len)
    # A message may be empty (a stack trace alone, a line of a banner) or entirely foreign text: then its logger identifies it.
    is_known_by_logger = text in (" ", ELLIPSIS) and bool(form.get("loggers"))
    if not is_known_by_logger and not any(part.strip() for part in plain):
        raise CatalogueError(path, line, f"nothing in '{text[:80]}' is fixed text", "leave some of the wording outside the marks")
    return Form(
        event=event,
        path=path,
        at_line=line,
        text=text,
        loggers=tuple(form.get("loggers") or ()),
        since=since,
        until=until,
        origin=form.get("origin", ""),
        names=names,
        # Layouts and shippers differ in whether they keep blanks and line ends after a message.
        pattern_text=pattern.encode() + (b"" if is_open else rb"\s*\Z"),
        literal=longest.encode(),
        words=b" ".join(sorted(set(fixed_words(wording, is_open)))),
        weight=sum(len(part) for part in plain) + len(text) - len(wording),
        digits_matter=bool(re.search(r"\d", "".join(plain).replace("0x", ""))),
        means=entry.get("means", ""),
        severity=entry.get("severity", "normal"),
        noise=bool(entry.get("noise", False)),
        continues=form.get("continues"),
        roles=tuple(entry.get("roles", ())),
        picks={name: re.compile(expression.encode()) for name, expression in picks.items()},
    )


def release_order(release: str) -> tuple[int, ...]:
    """'0.10.2' -> (0, 10, 2), so that releases can be compared."""
    return tuple(int(part) for part in re.findall(r"\d+", release))


def read_vocabulary(path: Path) -> Vocabulary:
    """`fields.yml`: tokens (pattern, pick, parts), fields (token, unit, means) and severities; beside it `units.yml` and `roles.yml`.

    Raises CatalogueError.
    """
    content = read_yaml(path)
    tokens = {
        name: Token(name, entry["pattern"], entry.get("pick"), tuple(entry.get("parts", ())))
        for name, entry in content["tokens"].items()
        if name != "__line__"
    }
    fields = {name: entry for name, entry in content["fields"].items() if name != "__line__"}
    for name, entry in fields.items():
        if entry.get("token") not in tokens:
            raise CatalogueError(
                path, entry["__line__"], f"field '{name}' has the unknown token '{entry.get('token')}'", f"use one of {', '.join(tokens)}"
            )
        if not entry.get("means"):
            raise CatalogueError(path, entry["__line__"], f"field '{name}' has no meaning", "write means: one sentence")
    units = read_units(path.with_name("units.yml"))
    for name, entry in fields.items():
        check_unit(path, name, entry, units)
    severities = tuple(name for name in content.get("severities", {"normal": ""}) if name != "__line__")
    known = set(fields) | {part for token in tokens.values() for part in token.parts}
    return Vocabulary(tokens, fields, read_roles(path.with_name("roles.yml"), known), severities)


def read_units(path: Path) -> dict[str, tuple[str, ...]]:
    """`units.yml`: every unit, with the endings of the names of fields that promise it."""
    content = read_yaml(path)
    measures = {name: tuple(entry.get("ends", ())) for name, entry in content["measures"].items() if name != "__line__"}
    return measures | {unit: () for thing in content["counted"] for unit in (thing, f"{thing}_per_second")}


def check_unit(path: Path, name: str, entry: dict[str, Any], units: dict[str, tuple[str, ...]]) -> None:
    """Raises CatalogueError if a field's unit is not in the vocabulary, or differs from the one that its name promises."""
    unit = entry.get("unit")
    if unit is not None and unit not in units:
        raise CatalogueError(
            path, entry["__line__"], f"field '{name}' has the unknown unit '{unit}'", "use one of units.yml or add it there"
        )
    promised = [known for known, ends in units.items() if ends and name.endswith(ends)]
    if promised and unit not in promised:
        found = f"has the unit '{unit}'" if unit else "has no unit"
        raise CatalogueError(path, entry["__line__"], f"field '{name}' {found}", f"write unit: {' or '.join(promised)}, as its name says")


def read_roles(path: Path, fields: set[str]) -> dict[str, Role]:
    """`roles.yml`: what events can mean for the facts (means), and the fields that this takes (needs; `a|b` is either)."""
    roles = {}
    for name, entry in read_yaml(path).items():
        if not entry.get("means"):
            raise CatalogueError(path, entry["__line__"], f"role '{name}' has no meaning", "write means: one sentence")
        needs = tuple(tuple(need.split("|")) for need in entry.get("needs", ()))
        unknown = sorted({name for need in needs for name in need} - fields)
        if unknown:
            raise CatalogueError(path, entry["__line__"], f"role '{name}' needs the unknown field {unknown[0]}", "add it to fields.yml")
        roles[name] = Role(name, entry["means"], needs)
    return roles


def check_roles(event: str, entry: dict[str, Any], forms: list[Form], vocabulary: Vocabulary, path: Path) -> None:
    """Raise CatalogueError if an event has a role that does not exist, or a form lacks a field that its role needs."""
    roles, line = entry.get("roles", ()), entry["__line__"]
    if not isinstance(roles, list | tuple):
        raise CatalogueError(path, line, f"the roles of '{event}' are not a list", "write roles: [name, …]")
    for name in roles:
        role = vocabulary.roles.get(name)
        if role is None:
            raise CatalogueError(path, line, f"'{event}' has the unknown role '{name}'", "use one of roles.yml, or add it there")
        if entry.get("noise"):
            raise CatalogueError(path, line, f"'{event}' is noise and has the role '{name}'", "facts do not see noise: drop one of them")
        for form in forms:
            for need in role.needs:
                if set(need).isdisjoint(form.names):
                    raise CatalogueError(
                        path,
                        form.at_line,
                        f"a form of '{event}' lacks {' or '.join(need)}, which the role '{name}' needs",
                        "mark it in the line",
                    )


def read_forms(path: Path, vocabulary: Vocabulary, are_prefixes: bool = False) -> list[Form]:
    """All forms of a file of entries (`messages/*.yml`; of `contexts.yml` as prefixes), compiled.  Raises CatalogueError."""
    forms: list[Form] = []
    for event, entry in read_yaml(path).items():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", event):
            raise CatalogueError(path, entry["__line__"], f"'{event}' is not an event id", "write small letters, digits and underscores")
        if not entry.get("means"):
            raise CatalogueError(path, entry["__line__"], f"'{event}' has no meaning", "write means: one sentence")
        if not entry.get("forms"):
            raise CatalogueError(path, entry["__line__"], f"'{event}' has no forms", "write forms: with at least one line")
        unknown = set(entry) - {"means", "forms", "noise", "severity", "roles", "__line__"}
        if unknown:
            raise CatalogueError(
                path, entry["__line__"], f"unknown key {sorted(unknown)} in '{event}'", "use means, severity, noise, roles, forms"
            )
        if (severity := entry.get("severity", "normal")) not in vocabulary.severities:
            raise CatalogueError(
                path,
                entry["__line__"],
                f"'{event}' has the unknown severity '{severity}'",
                f"use one of {', '.join(vocabulary.severities)}, which fields.yml explains",
            )
        compiled = [compile_form(event, entry, form, vocabulary, str(path), are_prefixes) for form in entry["forms"]]
        check_roles(event, entry, compiled, vocabulary, path)
        forms += compiled
    return forms
