"""Documents: an issue, a post-mortem or a mail with captures and log lines pasted between the prose.

The text is cut where its author cut it (fences, `{code}`, `<pre>`, quotes, indented blocks, line numbers that a web page put before a
block, prompts, blank lines), and every piece is read by the module that knows it.  Records of logs are `Logged`: those of a fence, or of
paragraphs without a word between them, are of one piece, and nothing that a piece says of its node holds for another.

Rows: those of the modules, with `piece` (the kind of capture) and `host` (from the prompt above it) added, and
- `command`: command, host (a line with a prompt);
- `prose`: a paragraph of everything else.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from types import ModuleType

from ingestion import captures
from ingestion.captures import PROSE, UNREAD, About, Line, Logged, Row, Sample, time_of
from ingestion.captures._blocks import PIECE_LINES, Block, blocks, cut, dedented
from ingestion.captures._terminal import PROMPTS, Command, command_of, date_of, stated_time
from ingestion.records.kinds import Speaker, speaker_of
from ingestion.records.pasted import MOST_BROKEN, OF_RECORD, TRACE, Printed, is_head, mended, plain, records_in, without_label

KINDS = {"document": "A text of prose with captures and log lines pasted into it."}
SAMPLE = 64 << 10
LOOK = 32 << 10  # Characters of a sample in which a piece must stand.
LOOK_AHEAD = (5, 2)
# What a line of a log has, in any layout: most lines need no closer look.
MAY_BE_LOGGED = re.compile(
    r"\d\d:\d\d:\d\d|\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|\((?:kafka|state|org)\.|\"(?:log|message|msg|MESSAGE)\""
)
# Paragraphs of a document that may wait for a record's end, in lines.
MOST_RECORD = 2000
FIRST_LINES = 400
# Texts of a machine that are not documents, whatever they contain.
NO_DOCUMENT = re.compile(
    r"\s*+(?:\{(?!code|noformat|quote|panel|color)|\[\s*+(?:[{\"\]]|\d(?!\d{3}-\d\d-\d\d[ T]))|<(?!pre|code|details|p>|br|div|blockquote|table|h\d|li|ul|span)|apiVersion:|kind:|---[^\S\n]*+\n\s*+(?:apiVersion|kind):|#!|%YAML|\(?version )"
)
SENTENCE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\b[A-Za-z][a-z]+ [a-z]+ [a-z]+\b")

# Words of people, which programs do not print.
ASKING = re.compile(r"\b(?:I(?![\w>./-])|[Ww]e|[Mm]y|[Oo]ur|[Uu]s|[Pp]lease|[Tt]hanks?|[Aa]ny(?:one|body))\b|\?\s*$")


@dataclass
class Look:
    """What the lines of a text are.  `heads`: records of known layouts that begin in it, `marked`: those of them that are fenced, or begin only without the
    marks of a wiki; `joined`: lines with more than a record, `broken`: records whose line was broken; `unknown`: lines that only look like a log's;
    `prose`: paragraphs, of `told` lines, and `asking`: those in which somebody speaks."""

    lines: int = 0
    heads: int = 0
    marked: int = 0
    joined: int = 0
    broken: int = 0
    unknown: int = 0
    prose: int = 0
    told: int = 0
    asking: int = 0

    @property
    def is_pasted(self) -> bool:
        """Whether records of a log stand among prose, or are not as a program wrote them; programs print a sentence at their start, too."""
        among_prose = (self.prose >= 2 or self.asking) and self.told * 20 >= self.lines
        changed = self.heads and 3 * max(self.joined, self.broken) >= self.heads
        return bool(
            (self.heads or self.unknown) and (among_prose or (self.prose and self.marked) or changed or 2 * self.marked > self.heads)
        )


def kind_of(sample: str, name: str) -> str | None:
    """`document` if no other module knows the text, and captures or records of a log are embedded in it, or it is a log as people paste it."""
    if "\0" in sample or NO_DOCUMENT.match(sample):
        return None
    lines = [line for line in sample.replace("\xa0", " ").split("\n") if line.strip()]
    if not lines or any(module.kind_of(sample, name) for module in captures.modules() if module.__name__ != __name__):
        return None
    look = look_at(sample)
    if look.is_pasted:
        return "document"
    timed = sum(bool(re.match(r"\W{0,2}(?:\d{1,4}[-/:]\d\d|[A-Z][a-z]{2} +\d)", line)) for line in lines)
    if ((look.heads or look.unknown) and look.prose < 2) or TRACE.fullmatch(lines[0]) or timed > 0.6 * len(lines):
        return None
    # Outputs of two or more kinds, one after the other without a word between them, are a document, too.
    is_prose = any(SENTENCE.search(line) and not logged_in(line) and not TRACE.fullmatch(line) for line in lines)
    pieces: set[str] = set()
    for row in read("document", captures.lines_of(sample[:LOOK]), About(name)):
        if isinstance(row, Row) and row.kind not in (PROSE, "command", UNREAD):
            pieces.add(row.fields.get("piece", row.kind))
        if pieces and (is_prose or len(pieces) > 1):
            return "document"
    return None


def look_at(sample: str) -> Look:
    """What the lines of a text are."""
    look = Look()
    for block in pieces_of(captures.lines_of(sample)):
        if module_with_empty_lines(block):
            continue
        look.lines += sum(bool(line.text.strip()) for line in block.lines)
        dedent = dedented(block.lines)
        found = [logged_in(line.text) for line in dedent]
        if told := prose_of(block, found):
            look.prose += 1
            look.told += len(told)
            look.asking += any(SENTENCE.search(text) and ASKING.search(text) for text in told)
        n = 0
        while n < len(dedent):
            records, taken = found[n], 1
            heads = [record for record in records if record.is_head and record.cut is None]
            look.unknown += any(record.cut is not None for record in records)
            if heads:
                look.heads += len(heads)
                look.marked += len(heads) * (block.is_fenced or not (is_head(block.lines[n].text) or is_head(block.lines[n].text.strip())))
                look.joined += len(records) > 1
                if heads[-1] is records[-1]:
                    _, taken = mended(records[-1], map(continuing, dedent[n + 1 : n + 1 + MOST_BROKEN]))
                    look.broken += taken > 1
            n += taken
    return look


def is_pasted(sample: str) -> bool:
    """Whether a text in which a layout frames lines is not a log but a document with records of one, or a log as people paste it."""
    return not NO_DOCUMENT.match(sample) and look_at(sample).is_pasted


def logged_in(text: str, offset: int = 0) -> list[Printed]:
    """The records of a log that begin in a line, with what stands before the first; none if none begins."""
    return records_in(offset, len(text.encode("utf-8", "replace")) + 1, text) if MAY_BE_LOGGED.search(text) else []


def continuing(line: Line, label: str = "") -> Printed:
    """A line as one that continues a record.  `label`: what stands before each of its lines."""
    records = logged_in(line.text)
    is_new = any(record.is_head for record in records)
    parts = next((record.cut for record in records), None) if len(records) == 1 else None
    text = without_label(plain(line.text), label)
    if TRACE.fullmatch(text) and text.startswith("at "):
        # Web pages lose the indentation, by which a stack trace is known.
        text = "\t" + text
    return Printed(text, line.offset, len(line.text.encode("utf-8", "replace")) + 1, line.text, is_new, parts, label)


def prose_of(block: Block, found: list[list[Printed]]) -> list[str]:
    """The lines of a paragraph that somebody wrote, or of its beginning if records follow.  `found`: the records in each line of the block."""
    texts = [line.text.replace("\xa0", " ") for line in block.lines]
    is_logged = [bool(records) or bool(TRACE.fullmatch(text)) for text, records in zip(texts, found, strict=True)]
    told = texts[: is_logged.index(True)] if True in is_logged else texts
    return told if not block.is_code and any(SENTENCE.search(text) for text in told) else []


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample | Logged]:
    # Records of a log wait for those of the next paragraph, which are of the same piece if nothing is said between them.
    waiting: list[Printed] = []
    for item, is_fenced in items(lines, about):
        if isinstance(item, Logged) and not is_fenced and len(waiting) < MOST_RECORD:
            waiting += item.lines
            continue
        if waiting:
            yield Logged(waiting[0].offset, tuple(waiting))
            waiting = []
        yield item
    if waiting:
        yield Logged(waiting[0].offset, tuple(waiting))


def pieces_of(lines: Iterable[Line]) -> Iterator[Block]:
    """The blocks of a text; what a JVM printed is one block, although it has empty lines."""
    held: Block | None = None
    module: ModuleType | None = None
    for block in blocks(unindented(lines)):
        may_go_on = held is not None and module is not None and not block.is_fenced and len(held.lines) < PIECE_LINES
        if held and module and may_go_on and all(module.goes_on(line.text) for line in dedented(block.lines)):
            held.lines += [Line(block.lines[0].offset, ""), *block.lines]
            continue
        if held is not None:
            yield held
        held = block
        module = None if block.is_fenced else module_with_empty_lines(block)
    if held is not None:
        yield held


def unindented(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines of a text without the blanks before all of them, as pages show them: by its first lines."""
    left = iter(lines)
    first = list(islice(left, FIRST_LINES))
    width = min((len(line.text) - len(line.text.lstrip(" \xa0")) for line in first if line.text.strip()), default=0)
    for line in chain(first, left):
        own = len(line.text) - len(line.text.lstrip(" \xa0"))
        yield cut(line, min(width, own)) if width else line


def module_with_empty_lines(block: Block) -> ModuleType | None:
    """The module that knows a block, if what it reads has empty lines."""
    for module in captures.modules():
        words = getattr(module, "EMPTY_LINES", None)
        if words is not None and any(words.search(line.text) for line in block.lines):
            text = "\n".join(line.text for line in dedented(block.lines))
            if module.kind_of(text, ""):
                return module
    return None


def items(lines: Iterable[Line], about: About) -> Iterator[tuple[Row | Sample | Logged, bool]]:
    """All that a text states, each with whether it is in a fence."""
    # A date on a line of its own, as a script prints it before its outputs, holds for what follows until the next prose.
    at: dt.datetime | None = None
    for block in pieces_of(lines):
        # Web pages print no-break spaces, which no tool does.
        lines_of_block = [Line(line.offset, line.text.replace("\xa0", " ")) for line in dedented(block.lines)]
        for date, dated in cut_at_dates(lines_of_block, about):
            at = date or at
            for command, line, piece in segments(dated):
                if line is not None and command is not None:
                    fields = {"command": command.text} | ({"host": command.host} if command.host else {})
                    yield timed(row(about, "command", [line], fields), at), block.is_code
                for out in piece_rows(about, command, line, piece, block.is_code):
                    if isinstance(out, Row) and out.kind == PROSE and date_of(out.raw_text, about.zone) is None:
                        at = None
                    yield (out if isinstance(out, Logged) else timed(out, at)), block.is_code


def cut_at_dates(lines: list[Line], about: About) -> Iterator[tuple[dt.datetime | None, list[Line]]]:
    """The lines cut before each that is nothing but a date, with that date in UTC."""
    date, part = None, list[Line]()
    for line in lines:
        found = stated_time(line.text, about.zone)
        if found is not None:
            yield date, part
            # The date itself is text of its own, so that it hides no piece under it.
            yield found, [line]
            date, part = found, []
        else:
            part.append(line)
    yield date, part


def timed(out: Row | Sample, at: dt.datetime | None) -> Row | Sample:
    """A row at the date above it, where it says no time itself."""
    if at is None or out.at_known_by == "content":
        return out
    return replace(
        out, at=at, at_known_by="content", warnings=tuple(text for text in out.warnings if not text.startswith("no time in the text"))
    )


def segments(lines: list[Line]) -> Iterator[tuple[Command | None, Line | None, list[Line]]]:
    """A block cut at its prompts and commands: (command, its line, the lines under it)."""
    command, at, piece = None, None, list[Line]()
    for line in lines:
        found = command_of(line.text)
        if found is not None and not logged_in(line.text):
            if piece or at is not None:
                yield command, at, piece
            command, at, piece = found, line, []
        else:
            piece.append(line)
    if piece or at is not None:
        yield command, at, piece


def known(lines: list[Line], about: About) -> tuple[ModuleType, str] | None:
    """The module other than this one that knows these lines, and their kind."""
    text = ""
    for line in lines:
        text += line.text + "\n"
        if len(text) > SAMPLE:
            break
    if not text.strip():
        return None
    for module in captures.modules():
        if module.__name__ != __name__:
            found = module.kind_of(text, about.name)
            if found is not None:
                return module, found
    return None


def piece_rows(
    about: About, command: Command | None, line: Line | None, piece: list[Line], is_code: bool
) -> Iterator[Row | Sample | Logged]:
    """The rows of what is under one command, or of a block without one."""
    if not any(part.text.strip() for part in piece):
        return
    # With its command first: the command says what a number counts.
    whole = [line, *piece] if line is not None else piece
    if line is not None and not any(prompt.fullmatch(line.text.strip()) for prompt in PROMPTS):
        whole = [Line(line.offset, line.text.strip()), *piece]
    for lines in (whole, piece) if line is not None else (piece,):
        found = known(lines, about)
        if found is not None:
            yield from handed(about, command, found, lines, is_code)
            return
    yield from loose(about, command, piece, is_code)


def handed(
    about: About, command: Command | None, found: tuple[ModuleType, str], lines: list[Line], is_code: bool
) -> Iterator[Row | Sample | Logged]:
    """The rows of the module that knows the lines; what it leaves unread is looked at again on its own."""
    module, kind = found
    foreign: list[Line] = []
    by_offset = {line.offset: line for line in lines}
    for out in module.read(kind, lines, about):
        if isinstance(out, Row) and out.offset in by_offset and (out.kind == UNREAD or is_of_node(out)):
            foreign.append(by_offset[out.offset])
            continue
        if isinstance(out, Row) and out.kind == "command" and command is not None and command_of(out.raw_text) == command:
            continue  # told already, by the document
        if foreign:
            yield from loose(about, command, foreign, False)
            foreign = []
        yield marked(out, kind, command)
    if foreign:
        yield from loose(about, command, foreign, False)


def is_of_node(out: Row) -> bool:
    """Whether a line of a log between the lines of a capture is a node's, and not the tool's own."""
    return out.kind == "log_line" and speaker_of(out.fields.get("logger", "")) is Speaker.NODE


def marked(out: Row | Sample, kind: str, command: Command | None) -> Row | Sample:
    if isinstance(out, Sample):
        return out
    host = {"host": command.host} if command is not None and command.host else {}
    return replace(out, fields={**host, **out.fields, "piece": kind})


def loose(about: About, command: Command | None, lines: list[Line], is_code: bool) -> Iterator[Row | Sample | Logged]:
    """Lines that no module knows as a whole: records of logs, runs that one module knows, prose."""
    prose: list[Line] = []
    logged: list[Printed] = []
    n = 0
    while n < len(lines):
        text = lines[n].text
        records = logged_in(text, lines[n].offset)
        taken, rows = 0, list[Row | Sample]()
        if records or (TRACE.fullmatch(text) and not prose and not logged):
            if records and not records[0].is_head:
                prose.append(Line(records[0].offset, records[0].raw))
                records = records[1:]
            if prose and logged:
                yield Logged(logged[0].offset, tuple(logged))
                logged = []
            yield from [row(about, PROSE, prose, {})] if prose else []
            prose = []
            taken, more = record(about, command, lines, n, records, is_code)
            logged += more
            n += taken
            continue
        if len(text) < 4096:
            taken, rows = run(about, command, lines, n, is_code)
        if taken or text.strip():
            yield from [Logged(logged[0].offset, tuple(logged))] if logged else []
            logged = []
        if taken:
            yield from [row(about, PROSE, prose, {})] if prose else []
            yield from rows
            prose, n = [], n + taken
            continue
        if text.strip():
            prose.append(lines[n])
        n += 1
    yield from [Logged(logged[0].offset, tuple(logged))] if logged else []
    yield from [row(about, PROSE, prose, {})] if prose else []


def record(
    about: About, command: Command | None, lines: list[Line], n: int, records: list[Printed], is_code: bool
) -> tuple[int, list[Printed]]:
    """(lines taken, lines of the records) of the records that begin in one line, or of a stack trace without its record."""
    if not records:
        records = [continuing(lines[n])]
    *whole, last = records
    taken = 1
    if last.is_head:
        last, taken = mended(last, (continuing(line, last.label) for line in lines[n + 1 : n + 1 + MOST_BROKEN]))
    out = [*(mended(one)[0] if one.is_head else one for one in whole), last]
    for at in range(n + taken, len(lines)):
        text = without_label(lines[at].text, last.label)
        more = continuing(lines[at], last.label)
        is_own = bool(TRACE.fullmatch(text) or OF_RECORD.match(text))
        if more.is_head or not text.strip() or (not is_code and not is_own and SENTENCE.search(text)):
            break
        if not is_own and len(text) < 4096 and run(about, command, lines, at, is_code)[0]:
            break
        out.append(more)
        taken += 1
    return taken, out


def salvaged(found: Iterable[Row | Sample | Logged], about: About) -> Iterator[Row | Sample | Logged]:
    """What a text gives; records of a log among the lines that its module left unread are no lines to be lost."""
    strangers: list[Row] = []
    for one in found:
        if isinstance(one, Row) and one.kind == UNREAD and len(strangers) < MOST_RECORD:
            strangers.append(one)
            continue
        yield from records_among(strangers, about)
        strangers = []
        yield one
    yield from records_among(strangers, about)


def records_among(strangers: list[Row], about: About) -> Iterator[Row | Logged]:
    """The records of a log in some unread rows, and the rest of them."""
    lines = [(line, row) for row in strangers for line in captures.lines_of(row.raw_text, row.offset)]
    texts = [line for line, _ in lines]
    begins = {n for n, line in enumerate(texts) if any(record.is_head and record.cut is None for record in logged_in(line.text))}
    if not begins:
        yield from strangers
        return
    n = 0
    while n < len(texts):
        if n in begins:
            taken, records = record(about, None, texts, n, logged_in(texts[n].text, texts[n].offset), False)
            yield Logged(records[0].offset, tuple(records))
            n += taken
            continue
        line, row = lines[n]
        yield row if line.text == row.raw_text else replace(row, offset=line.offset, raw_text=line.text)
        n += 1


def run(about: About, command: Command | None, lines: list[Line], n: int, is_code: bool) -> tuple[int, list[Row | Sample]]:
    """(lines taken, rows) of a run of lines from `n` on that one module knows; (0, []) where none does."""
    for ahead in (*LOOK_AHEAD, 1) if is_code else LOOK_AHEAD:
        found = known(lines[n : n + ahead], about)
        if found is None:
            continue
        module, kind = found
        # A row may come after that of a line below it: what the module leaves unread, or what a node logged, ends the run, and then the run is read
        # on its own.
        strangers = (
            out.offset for out in module.read(kind, lines[n:], about) if isinstance(out, Row) and (out.kind == UNREAD or is_of_node(out))
        )
        first = next(strangers, None)
        end = next((at for at in range(n, len(lines)) if first is not None and lines[at].offset >= first), len(lines))
        rows = [marked(out, kind, command) for out in module.read(kind, lines[n:end], about)] if end > n else []
        if end > n and rows:
            return end - n, rows
    return 0, []


def row(about: About, kind: str, lines: list[Line], fields: dict[str, str]) -> Row:
    at, known_by, warnings = time_of(about)
    return Row(kind, lines[0].offset, "\n".join(line.text for line in lines), fields, at, known_by, None, warnings)
