"""Documents: an issue, a post-mortem or a mail with captures and log lines pasted between the prose.

The text is cut where its author cut it (fences, `{code}`, `<pre>`, quotes, indented blocks, line numbers that a web page put before a
block, prompts, blank lines), and every piece is read by the module that knows it.

Rows: those of the modules, with `piece` (the kind of capture) and `host` (from the prompt above it) added, and
- `command`: command, host (a line with a prompt);
- `log_excerpt`: one record of a log with the lines of its stack trace, as it is in the text;
- `prose`: a paragraph of everything else.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingestion import captures
from ingestion.captures import UNREAD, About, Line, Row, Sample, time_of
from ingestion.captures._blocks import Block, blocks, dedented
from ingestion.captures._terminal import PROMPTS, Command, command_of, date_of, zone_doubt
from ingestion.reading import linear

KINDS = {"document": "A text of prose with captures and log lines pasted into it."}
SAMPLE = 64 << 10
LOOK = 32 << 10  # Characters of a sample in which a piece must stand.
LOOK_AHEAD = (5, 2)
LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)"
TIME = r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d|\d\d/\d\d/\d\d(?:\d\d)? \d\d:\d\d:\d\d|[A-Z][a-z]{2} \d\d, \d{4} \d{1,2}:\d\d:\d\d)"
LOG = linear.for_lines(
    rf"\s*\[?{TIME}\S*\]?.{{0,120}}?\b{LEVEL}\b.*|\s*(?:{LEVEL} )?\S.*\((?:kafka|state|org\.apache\.(?:kafka|zookeeper|log4j)|org\.I0Itec)\.[\w.$]+\)\s*|\s*{LEVEL}\s+\[[^\]]+\] .*"
)
TRACE = linear.for_lines(
    r"\s*at [\w.$<>/@\-]+\([^)]*\).*|\s*Caused by: .*|\s*\.\.\. \d+ (?:more|common frames omitted)|\s*(?:[a-z]\w*\.)+[\w$]*(?:Exception|Error|Throwable)\b.*"
)
# Texts of a machine that are not documents, whatever they contain.
NO_DOCUMENT = re.compile(
    r"\s*+(?:\{(?!code|noformat|quote|panel)|\[\s*+[{\"\d\]]|<(?!pre|code|details)|apiVersion:|kind:|---[^\S\n]*+\n\s*+(?:apiVersion|kind):|#!|%YAML|\(?version )"
)
SENTENCE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\b[A-Za-z][a-z]+ [a-z]+ [a-z]+\b")


def kind_of(sample: str, name: str) -> str | None:
    """`document` if no other module knows the text, it is not a log, and captures are embedded in its prose."""
    if "\0" in sample or NO_DOCUMENT.match(sample):
        return None
    lines = [line for line in sample.replace("\xa0", " ").split("\n") if line.strip()]
    timed = sum(bool(re.match(r"\W{0,2}(?:\d{1,4}[-/:]\d\d|[A-Z][a-z]{2} +\d)", line)) for line in lines)
    logged = sum(bool(LOG.fullmatch(line) or TRACE.fullmatch(line)) for line in lines)
    if not lines:
        return None
    if LOG.fullmatch(lines[0]) or TRACE.fullmatch(lines[0]) or timed > 0.6 * len(lines) or logged > 0.9 * len(lines):
        return None
    if any(module.kind_of(sample, name) for module in captures.modules() if module.__name__ != __name__):
        return None
    # A text with log lines is a document only with two paragraphs of prose: programs print a sentence at their start, too.
    if logged and sum(prose_of(block) for block in blocks(captures.lines_of(sample))) < 2:
        return None
    # Outputs of two or more kinds, one after the other without a word between them, are a document, too.
    is_prose = any(SENTENCE.search(line) and not LOG.fullmatch(line) and not TRACE.fullmatch(line) for line in lines)
    pieces: set[str] = set()
    for row in read("document", captures.lines_of(sample[:LOOK]), About(name)):
        if isinstance(row, Row) and row.kind not in ("prose", "command", UNREAD):
            pieces.add(row.fields.get("piece", row.kind))
        if pieces and (is_prose or len(pieces) > 1):
            return "document"
    return None


def prose_of(block: Block) -> bool:
    """Whether a block is a paragraph that somebody wrote."""
    texts = [line.text.replace("\xa0", " ") for line in block.lines]
    return (
        not block.is_code
        and any(SENTENCE.search(text) for text in texts)
        and not any(LOG.fullmatch(text) or TRACE.fullmatch(text) for text in texts)
    )


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    # A date on a line of its own, as a script prints it before its outputs, holds for what follows until the next prose.
    at: dt.datetime | None = None
    for block in blocks(lines):
        # Web pages print no-break spaces, which no tool does.
        lines_of_block = [Line(line.offset, line.text.replace("\xa0", " ")) for line in dedented(block.lines)]
        for date, dated in cut_at_dates(lines_of_block, about):
            at = date or at
            for command, line, piece in segments(dated):
                if line is not None and command is not None:
                    fields = {"command": command.text} | ({"host": command.host} if command.host else {})
                    yield timed(row(about, "command", [line], fields), at)
                for out in piece_rows(about, command, line, piece, block.is_code):
                    if isinstance(out, Row) and out.kind == "prose" and date_of(out.raw_text, about.zone) is None:
                        at = None
                    yield timed(out, at)


def cut_at_dates(lines: list[Line], about: About) -> Iterator[tuple[dt.datetime | None, list[Line]]]:
    """The lines cut before each that is nothing but a date, with that date in UTC."""
    date, part = None, list[Line]()
    for line in lines:
        found = date_of(line.text, about.zone) if zone_doubt(line.text, about.zone) is None else None
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
        if found is not None and not LOG.fullmatch(line.text):
            if piece or at is not None:
                yield command, at, piece
            command, at, piece = found, line, []
        else:
            piece.append(line)
    if piece or at is not None:
        yield command, at, piece


def known(lines: list[Line], about: About) -> tuple[object, str] | None:
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


def piece_rows(about: About, command: Command | None, line: Line | None, piece: list[Line], is_code: bool) -> Iterator[Row | Sample]:
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


def handed(about: About, command: Command | None, found: tuple[object, str], lines: list[Line], is_code: bool) -> Iterator[Row | Sample]:
    """The rows of the module that knows the lines; what it leaves unread is looked at again on its own."""
    module, kind = found
    foreign: list[Line] = []
    by_offset = {line.offset: line for line in lines}
    for out in module.read(kind, lines, about):  # type: ignore[attr-defined]
        if isinstance(out, Row) and out.kind == UNREAD and out.offset in by_offset:
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


def marked(out: Row | Sample, kind: str, command: Command | None) -> Row | Sample:
    if isinstance(out, Sample):
        return out
    host = {"host": command.host} if command is not None and command.host else {}
    return replace(out, fields={**host, **out.fields, "piece": kind})


def loose(about: About, command: Command | None, lines: list[Line], is_code: bool) -> Iterator[Row | Sample]:
    """Lines that no module knows as a whole: records of logs, runs that one module knows, prose."""
    prose: list[Line] = []
    host = {"host": command.host} if command is not None and command.host else {}
    n = 0
    while n < len(lines):
        text = lines[n].text
        if LOG.fullmatch(text) or (TRACE.fullmatch(text) and not prose):
            end = n + 1
            while end < len(lines) and TRACE.fullmatch(lines[end].text):
                end += 1
            yield from [row(about, "prose", prose, {})] if prose else []
            yield row(about, "log_excerpt", lines[n:end], host)
            prose, n = [], end
            continue
        taken, rows = run(about, command, lines, n, is_code) if len(text) < 4096 else (0, [])
        if taken:
            yield from [row(about, "prose", prose, {})] if prose else []
            yield from rows
            prose, n = [], n + taken
            continue
        if text.strip():
            prose.append(lines[n])
        n += 1
    yield from [row(about, "prose", prose, {})] if prose else []


def run(about: About, command: Command | None, lines: list[Line], n: int, is_code: bool) -> tuple[int, list[Row | Sample]]:
    """(lines taken, rows) of a run of lines from `n` on that one module knows; (0, []) where none does."""
    for ahead in (*LOOK_AHEAD, 1) if is_code else LOOK_AHEAD:
        found = known(lines[n : n + ahead], about)
        if found is None:
            continue
        module, kind = found
        end = len(lines)
        rows: list[Row | Sample] = []
        for out in module.read(kind, lines[n:], about):  # type: ignore[attr-defined]
            if isinstance(out, Row) and out.kind == UNREAD:
                end = next((at for at in range(n, len(lines)) if lines[at].offset >= out.offset), end)
                break
            rows.append(marked(out, kind, command))
        if end > n and rows:
            return end - n, rows
    return 0, []


def row(about: About, kind: str, lines: list[Line], fields: dict[str, str]) -> Row:
    at, known_by, warnings = time_of(about)
    return Row(kind, lines[0].offset, "\n".join(line.text for line in lines), fields, at, known_by, None, warnings)
