"""`chronicle catalogue coverage`: how many of the log statements in Kafka's sources have a form.

Reads a list as `chronicle catalogue statements` writes it, or `kafka-log-statements.tsv` without its columns loggers and
types: one statement a row, with source_unit (the class, named after its file), receiver, level, releases and
statement_argument (the Scala or Java expression that is logged; of level PREFIX what a class puts before its messages).  A
statement is turned into lines as the broker would print them: its literal pieces in order, and between them what an
expression of that type or name prints (`catalogue/values.yml`).  It counts as covered when the recogniser finds an event in
all of these lines, awkward ones among them, under every logger that prints it; as narrow when it does so in some.  Where the
list has no loggers, one of those that the unit may have is enough: its own name, or a logger of any form whose origin is that
file.  A statement without fixed text of its own (``error(msg, e)``) is left out of the count.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from chronicle.catalogue.statements import PREFIX
from ingestion.bronze.shapes import RECOGNISED, shape_of
from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.recognition.forms import release_order
from ingestion.recognition.recognise import Catalogue
from ingestion.records.envelope import envelopes

LOUD = ("WARN", "ERROR", "FATAL")
COLUMNS = ("source_unit", "receiver", "level", "releases", "statement_argument")
VALUES = CATALOGUE / "values.yml"
# Whether a form matches a statement with any values; with some; with none.
COVERED, NARROW, UNCOVERED = "covered", "narrow", "uncovered"
# At most so many classes that print the same statement are tried.
HEIRS = 12
# At most so many lines are tried for one statement, where the likeliest does not fit.
TRIES = 300

# Methods that make a list of what they are called on, and methods that say nothing about it.
LISTING = frozenset(
    ("mkString", "map", "keys", "keySet", "values", "toSeq", "toList", "toSet", "toArray", "asScala", "asJava", "collect", "join")
)
SAYING_NOTHING = frozenset(
    (
        "get",
        "toString",
        "orElse",
        "getOrElse",
        "sorted",
        "stream",
        "iterator",
        "value",
        "orElseGet",
        "flatMap",
        "filter",
        "diff",
        "intValue",
        "longValue",
        "code",
        "getAbsolutePath",
        "trim",
    )
)
ARGUMENTS = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\{.*\}|\[.*?\]", re.S)
FRAMED = re.compile(r'mkString\(\s*"([\[({])",[^)]*"([\])}])"\s*\)')
# Types that say nothing of what is printed.
ANYTHING = frozenset(
    (
        "String",
        "Any",
        "Object",
        "T",
        "K",
        "V",
        "Option",
        "Optional",
        "Seq",
        "List",
        "Set",
        "Map",
        "Iterable",
        "Iterator",
        "Collection",
        "Array",
        "Supplier",
    )
)
CONVERSION = re.compile(r"%%|%[-#+ 0,(]*\d*(?:\.\d+)?[sdfxXbceg]")
INTERPOLATION = re.compile(r"\$(\w+)")
# An argument that is itself a text put together in place.
NESTED = re.compile(r'\s*(?:String\.format\(|\(?[sf]?"[^"]*[A-Za-z]{2})')
ESCAPED = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "$": "$"}


@dataclass(frozen=True)
class Values:
    """What an expression may print.  Where that is sure, a form has to match all of the texts; else one of them is enough."""

    texts: tuple[str, ...]
    is_sure: bool


@dataclass(frozen=True)
class KnownValues:
    """`values.yml`: by the type that the source declares, by the name of the expression, and of unknown objects and values."""

    types: dict[str, Values]
    names: list[tuple[re.Pattern[str], Values]]
    objects: Values
    unknown: tuple[str, ...]


@lru_cache(maxsize=1)
def known_values() -> KnownValues:
    """`values.yml`, read once."""
    content = read_yaml(VALUES)
    return KnownValues(
        {name: Values(tuple(prints), True) for name, prints in content["types"].items() if name != "__line__"},
        [(re.compile(entry["like"]), Values(tuple(entry["prints"]), entry.get("sure", False))) for entry in content["names"]],
        Values(tuple(content["objects"]["prints"]), True),
        tuple(content["unknown"]["prints"]),
    )


@dataclass(frozen=True)
class Hole:
    """A place in a statement that varies, with the expression that fills it, or the conversion of a format."""

    expression: str

    def values(self, types: dict[str, set[str]] | None = None) -> Values:
        """What the expression may print: its own texts, else what its type or a value of that name prints."""
        constant = re.search(r"\.([A-Z]\w*)Prop$", self.expression)
        if constant:
            # A setting's name: RetentionMsProp is retention.ms.
            return Values((re.sub(r"(?<!^)(?=[A-Z])", ".", constant[1]).lower(),), True)
        literals = re.findall(r'"([^"]*)"', self.expression)
        own = [text for text in literals if " " in text or self.expression.lstrip("(").startswith("if ")]
        if own and re.search(r"\bif\b|\?", self.expression):
            texts = (ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), text).replace("{}", "a") for text in own)
            return Values(tuple(dict.fromkeys(texts)), True)
        known = known_values()
        declared = (types or {}).get(self.expression, set())
        if declared and all(name in known.types for name in declared):
            return Values(tuple(dict.fromkeys(text for name in sorted(declared) for text in known.types[name].texts)), True)
        found = next((values for like, values in known.names if like.search(self.name)), None)
        framed = FRAMED.search(self.expression)
        if found and framed:
            found = Values(tuple(framed[1] + text.strip("[]") + framed[2] for text in found.texts), found.is_sure)
        if found and found.is_sure:
            return found
        if not found and declared and all(name[0].isupper() and name not in ANYTHING for name in declared):
            return known.objects
        return Values(tuple(dict.fromkeys((*(found.texts if found else ()), *known.unknown))), False)

    @property
    def name(self) -> str:
        """What the expression is called: the last name in it that says something, with an `s` if it is a list."""
        words = re.findall(r"%\w+|\w+", ARGUMENTS.sub("", self.expression.replace("this.", "")))
        is_list = any(word in LISTING for word in words)
        while len(words) > 1 and (words[-1] in LISTING or words[-1] in SAYING_NOTHING):
            words.pop()
        name = words[-1] if words else ""
        if len(words) > 1 and name in ("name", "getName", "simpleString"):
            name = f"{words[-2]}.name"
        return name.lower() + ("s" if is_list and not name.endswith("s") else "")


Piece = str | Hole


@dataclass(frozen=True)
class Statement:
    """One row of the list."""

    unit: str
    receiver: str
    level: str
    releases: str
    argument: str
    loggers: str = ""
    types: str = ""

    @cached_property
    def declared(self) -> dict[str, set[str]]:
        """The types that the source declares for names."""
        out: dict[str, set[str]] = defaultdict(set)
        for word in self.types.split():
            name, _, kind = word.partition(":")
            out[name].add(kind)
        return out

    @cached_property
    def pieces(self) -> list[Piece]:
        return pieces(self.argument)

    @property
    def has_wording(self) -> bool:
        """Whether anything that is logged is fixed text: two letters in a row."""
        return any(isinstance(piece, str) and re.search(r"[A-Za-z]{2}", piece) for piece in self.pieces)


def read_statements(path: Path) -> list[Statement]:
    """The rows of the list.  Raises ValueError with one line where it is missing or has other columns."""
    if not path.is_file():
        raise ValueError(f"{path}: no list of statements there; give its place with --statements")
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = set(COLUMNS) - set(rows.fieldnames or ())
        if missing:
            raise ValueError(f"{path}:1: the columns {sorted(missing)} are missing; a list has {', '.join(COLUMNS)}")
        return [Statement(*(row.get(name) or "" for name in (*COLUMNS, "loggers", "types"))) for row in rows]


def closing(text: str, at: int) -> int:
    """Place after the bracket that closes the one at `at`, strings skipped; the end of the text where none does."""
    depth, quoted = 0, False
    while at < len(text):
        letter = text[at]
        if letter == "\\" and quoted:
            at += 1
        elif letter == '"':
            quoted = not quoted
        elif not quoted and letter in "([{":
            depth += 1
        elif not quoted and letter in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def literal_end(text: str, at: int) -> int:
    """Place after the string literal whose opening quote is at `at`; quotes inside `${…}` do not end it."""
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            at = closing(text, at + 1)
        elif text[at] == '"':
            return at + 1
        else:
            at += 1
    return len(text)


def literal_pieces(text: str) -> list[Piece]:
    """The inside of a string literal: text, and a hole for each interpolation or `{}`."""
    out: list[Piece] = []
    plain, at = "", 0
    while at < len(text):
        found = INTERPOLATION.match(text, at)
        if text[at] == "\\" and at + 1 < len(text):
            plain, at = plain + ESCAPES.get(text[at + 1], text[at + 1]), at + 2
            continue
        if text.startswith("${", at):
            end = closing(text, at + 1)
            hole = text[at + 2 : end - 1]
        elif text.startswith("{}", at):
            end, hole = at + 2, ""
        elif found:
            end, hole = found.end(), found[1]
        else:
            plain, at = plain + text[at], at + 1
            continue
        out += [plain, Hole(hole)]
        plain, at = "", end
        # The f-interpolator's conversion belongs to the hole.
        conversion = CONVERSION.match(text, at)
        at = conversion.end() if conversion else at
    return [*out, plain]


def pieces(argument: str) -> list[Piece]:
    """The logged expression as fixed texts and holes, in order; what follows the first argument fills `{}` or is a trace."""
    out: list[Piece] = []
    expression, at = "", 0
    # Where in `out` the operand began that a `.format(…)` belongs to: a literal, or a bracket around several.
    operand, brackets = 0, [0]
    arguments = ""
    while at < len(argument):
        letter = argument[at]
        quote = at + 1 if argument[at : at + 2] in ('s"', 'f"') and not re.search(r"[\w.]$", expression) else at
        if argument[quote] == '"':
            triple = argument.startswith('"""', quote)
            end = argument.find('"""', quote + 3) + 3 if triple else literal_end(argument, quote)
            end = len(argument) if end < quote + 2 else end
            if re.search(r"\bif\b|\?", expression):
                # One of two texts: the whole choice is a hole that knows both.
                end = _end_of_operand(argument, end)
                out.append(Hole("if " + expression + argument[at:end]))
            else:
                out += [Hole(expression.strip())] if expression.strip() else []
                operand = len(out)
                out += literal_pieces(argument[quote + 3 : end - 3] if triple else argument[quote + 1 : end - 1])
            expression, at = "", end
        elif letter in "([{":
            end = closing(argument, at)
            name = "".join(expression.split())
            if not name:
                brackets.append(len(out))
                end = at + 1
            elif name == "String.format":
                text, _, given = _halves(argument[at + 1 : end - 1])
                out += _formatted(pieces(text), given)
            elif re.fullmatch(r"\)*\.format", name):
                operand = brackets.pop() if name.startswith(")") and brackets else operand
                out[operand:] = _formatted(out[operand:], argument[at + 1 : end - 1])
            else:
                expression += argument[at:end]
                at = end
                continue
            expression, at = "", end
        elif letter == ",":
            arguments = argument[at + 1 :]
            break
        elif letter == "+":
            out += _hole(expression)
            expression, at = "", at + 1
        else:
            expression, at = expression + letter, at + 1
    return list(_named(_joined([*out, *_hole(expression)]), arguments))


def _hole(expression: str) -> list[Piece]:
    """What is between two texts as a hole; nothing if it only belongs to the text before it (`.stripMargin`)."""
    name = expression.strip(" )]}\n")
    return [Hole(name)] if name and not name.startswith(".") else []


def _halves(text: str) -> tuple[str, str, str]:
    """The first argument, the comma and the rest."""
    first = next(_commas(text), len(text))
    return text[:first], text[first : first + 1], text[first + 1 :]


def _formatted(parts: list[Piece], arguments: str) -> list[Piece]:
    """Texts of a format with a hole for each conversion, filled with its arguments in their order."""
    converted = [piece for part in parts for piece in (_converted(part) if isinstance(part, str) else [part])]
    return list(_named(_joined(converted), arguments))


def _end_of_operand(text: str, at: int) -> int:
    """Place of the `+` or `,` that ends an operand, or of its closing bracket."""
    while at < len(text) and text[at] not in "+,)":
        at = literal_end(text, at) if text[at] == '"' else closing(text, at) if text[at] in "([{" else at + 1
    return at


def _converted(text: str) -> Iterator[Piece]:
    """A text of String.format with a hole for each conversion."""
    at = 0
    for found in CONVERSION.finditer(text):
        yield text[at : found.start()]
        # A numeric conversion decides what is printed, whatever the argument is called.
        yield "%" if found[0] == "%%" else Hole("%d" if found[0][-1] == "d" else "%f" if found[0][-1] in "fe" else "")
        at = found.end()
    yield text[at:].replace("%n", "\n")


def _joined(parts: Iterable[Piece]) -> list[Piece]:
    out: list[Piece] = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "":
            out.append(part)
    return out


def _named(parts: list[Piece], arguments: str) -> Iterator[Piece]:
    """Give the nameless holes the arguments in their order."""
    names, at = [], 0
    for end in (*_commas(arguments), len(arguments)):
        names.append(arguments[at:end].strip())
        at = end + 1
    waiting = iter(names)
    for part in parts:
        if isinstance(part, str) or (part.expression and not part.expression.startswith("%")):
            yield part
            continue
        name = next(waiting, "")
        if NESTED.match(name):
            yield from pieces(name)
        else:
            yield part if part.expression in ("%d", "%f") else Hole(name)


def _commas(text: str) -> Iterator[int]:
    at = 0
    while at < len(text):
        if text[at] == ",":
            yield at
        at = literal_end(text, at) if text[at] == '"' else closing(text, at) if text[at] in "([{" else at + 1


def usual_texts(parts: list[Piece], types: dict[str, set[str]] | None = None) -> Iterator[tuple[str, ...]]:
    """What the statement may print, piece by piece, the likeliest first; a piece whose values are sure has only its first."""
    choices = []
    for part in parts:
        values = Values((part,), True) if isinstance(part, str) else part.values(types)
        choices.append(values.texts[:1] if values.is_sure else values.texts)
    yield tuple(choice[0] for choice in choices)
    for sample in known_values().unknown:
        yield tuple(sample if sample in choice else choice[0] for choice in choices)
    yield from itertools.islice(itertools.product(*choices), TRIES)


def sample_texts(parts: list[Piece], types: dict[str, set[str]] | None = None) -> Iterator[str]:
    """`usual_texts` as whole lines."""
    yield from ("".join(texts) for texts in usual_texts(parts, types))


def awkward_texts(parts: list[Piece], usual: tuple[str, ...], types: dict[str, set[str]] | None = None) -> Iterator[str]:
    """Lines that together hold every text that a piece is certain to print in some case."""
    for number, part in enumerate(parts):
        values = Values((), True) if isinstance(part, str) else part.values(types)
        for text in values.texts[1:] if values.is_sure else ():
            yield "".join([*usual[:number], text, *usual[number + 1 :]])


@dataclass(frozen=True)
class Verdict:
    """What the recogniser makes of a statement: the event of the likeliest line that a form matches, and the lines that no form matches."""

    event: str | None
    missed: tuple[str, ...]

    @property
    def outcome(self) -> str:
        if self.event is None:
            return UNCOVERED
        return NARROW if self.missed else COVERED


class Coverage:
    """Asks one catalogue about statements."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.by_origin: dict[str, dict[str, None]] = defaultdict(dict)
        self.areas: dict[str, Counter[str]] = defaultdict(Counter)
        for form in catalogue.forms:
            self.by_origin[form.origin.split(".")[0]].update(dict.fromkeys(form.loggers))
            for logger in form.loggers:
                self.areas[logger.split("$")[0]][Path(form.path).stem] += 1

    def loggers(self, statement: Statement) -> list[str]:
        """Under which names the statement prints: those of the list; else those the unit may have, the likeliest first."""
        if statement.receiver.lower().startswith("statechangelog"):
            return ["state.change.logger"]
        if statement.loggers:
            return statement.loggers.split()
        short = statement.unit.rsplit(".", 1)[-1]
        return list(dict.fromkeys([statement.unit, statement.unit + "$", *self.by_origin.get(short, ())]))

    def area(self, statement: Statement) -> str:
        """The file of the catalogue that holds most forms of the unit; its package where there is none."""
        areas = self.areas.get(statement.unit)
        return areas.most_common(1)[0][0] if areas else statement.unit.rsplit(".", 1)[0]

    def verdict(self, statement: Statement) -> Verdict:
        """Try a statement's lines.  Where the list names the loggers, all of them have to match; else one of the guessed ones is enough."""
        parts, loggers = statement.pieces, self.loggers(statement)
        tried = dict.fromkeys(usual_texts(parts, statement.declared))
        firsts = loggers[:1] if statement.loggers else loggers
        for usual, logger in itertools.product(tried, firsts):
            # A prefix that the class puts in itself (`"{} Closed", logPrefix`) is followed by a blank, and ends with that blank, too.
            usual = ("", usual[1].lstrip(" "), *usual[2:]) if len(usual) > 1 and not usual[0] else usual
            event = self.taken(statement, "".join(usual), logger)
            if event:
                others = [("".join(usual), other) for other in loggers[1:HEIRS] if statement.loggers]
                lines = others + [(text, logger) for text in awkward_texts(parts, usual, statement.declared)]
                missed = (f"{text} ({other})" for text, other in lines if not self.taken(statement, text, other))
                return Verdict(event, tuple(missed))
        return Verdict(None, ("".join(next(iter(tried))) + f" ({loggers[0]})",))

    def event(self, statement: Statement) -> str | None:
        """The event that the recogniser finds in a line of the statement; None if no form takes any."""
        return self.verdict(statement).event

    def taken(self, statement: Statement, text: str, logger: str) -> str | None:
        """The event that the recogniser finds in one line; for a prefix, the prefix itself if it is matched whole."""
        if statement.level == PREFIX:
            found = self.catalogue.context(logger.encode(), f"{text}Starting".encode())
            return found.form.event if found and found.end == len(text.encode()) else None
        record = f"[2020-05-15 12:00:01,123] {statement.level} {text} ({logger})".encode()
        shape = shape_of(record, True, envelopes()[0], self.catalogue)
        return shape.event_type if shape.outcome == RECOGNISED else None


def minor(release: str) -> str:
    """'0.10.2.1' -> '0.10', '4.4(ccs)' -> '4.4'."""
    return ".".join(str(part) for part in release_order(release)[:2])


def minors_of(releases: str, known: list[str]) -> list[str]:
    """The minor releases of a set such as '2.6.0..2.7.1; 3.0.0', out of those that are known."""
    out = []
    for part in releases.split(";"):
        first, _, last = part.strip().partition("..")
        low, high = release_order(minor(first)), release_order(minor(last or first))
        out += [name for name in known if low <= release_order(name) <= high]
    return list(dict.fromkeys(out))


def report(catalogue: Catalogue, statements: list[Statement], every_level: bool = False) -> Iterator[str]:
    """Lines: covered of all by release and area, the sums, then every statement that is not, and the line where a form is too narrow."""
    known = sorted({minor(end) for s in statements for part in s.releases.split(";") for end in part.split("..")}, key=release_order)
    coverage = Coverage(catalogue)
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    open_ones: list[str] = []
    total: Counter[str] = Counter()
    for statement in statements:
        if (not every_level and statement.level not in (*LOUD, PREFIX)) or not statement.has_wording:
            continue
        area, verdict = coverage.area(statement), coverage.verdict(statement)
        total[verdict.outcome] += 1
        for name in minors_of(statement.releases, known):
            for key in ((name, area), (name, "")):
                counts[key] = [counts[key][0] + (verdict.outcome == COVERED), counts[key][1] + 1]
        if verdict.outcome != COVERED:
            about = f"{statement.unit}: {statement.level}: {statement.releases}: {statement.argument}"
            open_ones.append(f"{verdict.outcome}: {about}" + (f": {verdict.missed[0]}" if verdict.outcome == NARROW else ""))
    areas = sorted({area for _, area in counts if area})
    yield "\t".join(["release", "all", *areas])
    for name in known:
        cells = [counts.get((name, area)) for area in ("", *areas)]
        yield "\t".join([name, *(f"{cell[0]}/{cell[1]}" if cell else "-" for cell in cells)])
    yield f"total\t{total[COVERED]}/{total.total()} statements"
    if total[NARROW]:
        yield f"narrow\t{total[NARROW]}/{total.total()} statements"
    yield from open_ones
