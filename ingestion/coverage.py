"""`chronicle catalogue coverage`: how many of the log statements in Kafka's sources have a form.

Reads `kafka-log-statements.tsv`: one statement a row, with source_unit (the class, named after its file), receiver,
level, releases and statement_argument (the Scala or Java expression that is logged).  A statement is turned into lines
as the broker would print them: its literal pieces in order, and between them samples of what an expression of that name
usually yields.  It counts as covered when the recogniser finds an event in one of these lines under one of the unit's
loggers: its own name, or a logger of any form whose origin is that file.  A statement without fixed text of its own
(``error(msg, e)``) is left out of the count.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ingestion.envelope import envelopes
from ingestion.forms import release_order
from ingestion.recognise import Catalogue
from ingestion.shapes import RECOGNISED, shape_of

LOUD = ("WARN", "ERROR", "FATAL")
COLUMNS = ("source_unit", "receiver", "level", "releases", "statement_argument")
# What objects print whose names in the sources end like this.
PRINTED = {
    r'mkstring\("\["': "[1,2]",
    r"(removing|adding)replicas": "[]",
    r"topicid$": "5nR1Zk3mQ2mC1l0W7y5k9A",
    r"epoch_?entry|newentry|entrytoappend|^entry$|latest$": "EpochEntry(epoch=9, startOffset=7)",
    r"epochchangemsg": "New: {epoch:9, offset:7}, Current: {epoch:8, offset:7} for Partition: orders-3",
    r"segment$": "LogSegment(baseOffset=0, size=7, lastModifiedTime=7, largestRecordTimestamp=Some(7))",
    r"\bisr\b|isr\)?$|elr\)?$": "[1, 2]",
    r"configresource$": "ConfigResource(type=TOPIC, name='orders')",
    r"generation(snapshot)?$": "Generation{generationId=7, memberId='billing-1', protocol='range'}",
    r"^memberstate\.fatal$": "FATAL",
    r"^state\.abortable_error$": "ABORTABLE_ERROR",
    r"nextmetadata$": "(sessionId=7, epoch=7)",
    r"\bsignals\b": "TERM, INT, HUP",
    r"^message$": "ConsumerGroupHeartbeatRequest failed because the group coordinator is still loading. Will retry",
}
# Lines that are tried for one statement at most, where the guess by the names of its expressions does not fit.
TRIES = 400

CONVERSION = re.compile(r"%%|%[-#+ 0,(]*\d*(?:\.\d+)?[sdfxXbceg]")
INTERPOLATION = re.compile(r"\$(\w+)")
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "$": "$"}


@dataclass(frozen=True)
class Hole:
    """A place in a statement that varies, with the expression that fills it."""

    expression: str

    @cached_property
    def samples(self) -> list[str]:
        """What the expression may print: its own literals, then a guess by its name, then values of other kinds."""
        constant = re.search(r"\.([A-Z]\w*)Prop$", self.expression)
        if constant:
            # A setting's name: RetentionMsProp is retention.ms.
            return [re.sub(r"(?<!^)(?=[A-Z])", ".", constant[1]).lower()]
        name = self.expression.lower()
        printed = [text for pattern, text in PRINTED.items() if re.search(pattern, name)]
        own = [text for text in re.findall(r'"([^"]*)"', self.expression) if " " in text or self.expression.lstrip("(").startswith("if")]
        if "prefix" in name or "ident" in name:
            guess = ""
        elif re.search(r"offset|epoch|size|count|length|bytes|millis|ms\b|port|num|id\b|version|time|code|segments|start|watermark", name):
            guess = "7"
        elif re.search(r"partition|tp\b|topic", name):
            guess = "orders-3"
        elif re.search(r"dir|path|file|log\.name", name):
            guess = "/data/kafka/orders-3"
        else:
            guess = "a"
        return list(dict.fromkeys([*own, *printed, guess, "7", "orders-3", "a", "a b", ""]))


Piece = str | Hole


@dataclass(frozen=True)
class Statement:
    """One row of the list."""

    unit: str
    receiver: str
    level: str
    releases: str
    argument: str

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
        return [Statement(*(row[name] for name in COLUMNS)) for row in rows]


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
    """What stands between two texts as a hole; nothing where it only belongs to the text before it (`.stripMargin`)."""
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
        yield "%" if found[0] == "%%" else Hole("")
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
        yield Hole(next(waiting, "")) if isinstance(part, Hole) and not part.expression else part


def _commas(text: str) -> Iterator[int]:
    at = 0
    while at < len(text):
        if text[at] == ",":
            yield at
        at = literal_end(text, at) if text[at] == '"' else closing(text, at) if text[at] in "([{" else at + 1


def sample_texts(parts: list[Piece]) -> Iterator[str]:
    """What the statement may print, the likeliest first."""
    choices = [[part] if isinstance(part, str) else part.samples for part in parts]
    yield "".join(choice[0] for choice in choices)
    for sample in ("7", "orders-3", "a", ""):
        yield "".join(part if isinstance(part, str) else sample for part in parts)
    yield from ("".join(texts) for texts in itertools.islice(itertools.product(*choices), TRIES))


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
        """Under which names the unit may print, the likeliest first."""
        if statement.receiver.startswith("stateChangeLog"):
            return ["state.change.logger"]
        short = statement.unit.rsplit(".", 1)[-1]
        return list(dict.fromkeys([statement.unit, statement.unit + "$", *self.by_origin.get(short, ())]))

    def area(self, statement: Statement) -> str:
        """The file of the catalogue that holds most forms of the unit; its package where there is none."""
        areas = self.areas.get(statement.unit)
        return areas.most_common(1)[0][0] if areas else statement.unit.rsplit(".", 1)[0]

    def event(self, statement: Statement) -> str | None:
        """The event that the recogniser finds in a line of the statement; None where no form takes any."""
        envelope = envelopes()[0]
        texts = list(dict.fromkeys(sample_texts(statement.pieces)))
        for text, logger in itertools.product(texts, self.loggers(statement)):
            record = f"[2020-05-15 12:00:01,123] {statement.level} {text} ({logger})".encode()
            shape = shape_of(record, True, envelope, self.catalogue)
            if shape.outcome == RECOGNISED:
                return shape.event_type
        return None


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
    """Lines: covered of all by release and area, the sums, then every uncovered statement."""
    known = sorted({minor(end) for s in statements for part in s.releases.split(";") for end in part.split("..")}, key=release_order)
    coverage = Coverage(catalogue)
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    open_ones: list[str] = []
    total = [0, 0]
    for statement in statements:
        if (not every_level and statement.level not in LOUD) or not statement.has_wording:
            continue
        area, covered = coverage.area(statement), coverage.event(statement) is not None
        total = [total[0] + covered, total[1] + 1]
        for name in minors_of(statement.releases, known):
            for key in ((name, area), (name, "")):
                counts[key] = [counts[key][0] + covered, counts[key][1] + 1]
        if not covered:
            open_ones.append(f"uncovered: {statement.unit}: {statement.level}: {statement.releases}: {statement.argument}")
    areas = sorted({area for _, area in counts if area})
    yield "\t".join(["release", "all", *areas])
    for name in known:
        cells = [counts.get((name, area)) for area in ("", *areas)]
        yield "\t".join([name, *(f"{cell[0]}/{cell[1]}" if cell else "-" for cell in cells)])
    yield f"total\t{total[0]}/{total[1]} statements"
    yield from open_ones
