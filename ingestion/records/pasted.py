"""Log lines as people paste them into issues, mails, tables and wikis: without their marks, one record a line, and whole again where a line was broken.

No Spark here.  Nothing is taken for a line of a log that no known layout frames, and lines are only joined if the catalogue knows the
joined text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, product

from ingestion.reading import linear
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import REWRITTEN, Envelope, find_envelope
from ingestion.records.framing import find_framing
from ingestion.records.patterns import LEVEL, Cut, millis_of, rewritten
from ingestion.records.unwrap import ANSI, TIME, unwrap_line, wrappers

# Longer lines are looked at as they are: nobody pastes them by hand.
LONGEST = 1 << 14
# Lines of a record that may be one broken line, and breaks that are each tried with and without a blank.
MOST_BROKEN, MOST_BREAKS = 40, 4
# Shorter lines are not broken by a mail program or a terminal.
SHORTEST_BROKEN = 40
TERMINALS = {80, 100, 120, 132, 160}

INVISIBLE = str.maketrans({"\xa0": " ", "\u200b": None, "\u200c": None, "\u200d": None, "\ufeff": None, "\u2028": None})
ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
TAG = re.compile(
    r"</?(?:p|b|i|u|em|strong|code|tt|kbd|samp|pre|span|font|td|tr|th|li|ul|ol|div|blockquote|table|tbody|thead|br)(?:\s[^<>]{0,300})?/?>",
    re.I,
)
BREAK = re.compile(r"<br\s{0,4}/?>|</(?:p|li|div|tr)>", re.I)
QUOTE = re.compile(r"(?:[ ]{0,3}>[ ]?)+")
BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+")
CELL = re.compile(r"(?<!\\)\|")
# What wikis put around a text, and what they put before a character that would be a mark.
AROUND = "*_`~\"'“”{}"
COLOUR = re.compile(r"\{(?:color|code|noformat|quote|\*)(?::[^{}]{0,40})?\}|\{\{|\}\}")
# What is left of a terminal's colours when its escape is lost.
COLOUR_OF_TERMINAL = re.compile(r"\[(?:0|1|[39]\d|\d{1,2}(?:;\d{1,3}){1,4})m")
BOLD = re.compile(r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|(?<!\w)`+(?=\S)|(?<=\S)`+(?!\w)")
ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
TIME_WITHIN = re.compile(r"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
# A line of a log in a layout that nobody knows: a time, a level at once or after a word or brackets, a text.
UNKNOWN = re.compile(
    r"\s{0,20}\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d|\d\d/\d\d/\d\d(?:\d\d)? \d\d:\d\d:\d\d"
    r"|[A-Z][a-z]{2} \d\d, \d{4} \d{1,2}:\d\d:\d\d)[^\s\]]{0,12}\]?\s{1,8}(?:\[[^\[\]]{0,80}\]\s{0,8}|\S{1,60}\s{1,8})?[\[<(]?"
    rf"(?P<level>{LEVEL})[\])>:]?\s"
)
# A line without a time: a level or nothing, a text, and a logger of Kafka or ZooKeeper; or a level and the prefix of a component.
TIMELESS = linear.for_lines(
    r"\s*(?:(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+)?(?P<message>\S.*) \((?P<logger>(?:kafka|state|org\.apache\.(?:kafka|zookeeper)|org\.I0Itec)\.[\w.$]+)\)\s*"
)
PREFIXED = linear.for_lines(r"\s*(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+(?P<message>\[[A-Z][^\]]+\] .*)")
TRACE = linear.for_lines(
    r"\s*at [\w.$<>/@\-]+\([^)]*\).*|\s*Caused by: .*|\s*Suppressed: .*|\s*\.\.\. \d+ (?:more|common frames omitted)|\s*(?:[a-z]\w*\.)+[\w$]*(?:Exception|Error|Throwable)\b.*"
)
# A name before a line, as grep prints it of the file and people write it of the machine.
LABEL = re.compile(r"\s{0,8}(?P<name>[\w./@\[\]-]{1,120}?)(?:[:>-]\d{1,9})?\s?[:>-]+\s{0,4}")
LOGGER_WITHIN = re.compile(r" \([A-Za-z][\w.$]{0,200}\)")
# What follows a message in lines of its own: settings, and whatever is indented.
SETTING = re.compile(r"\t|\s{0,20}[\w.]{1,80} = ")
OF_RECORD = re.compile(r"\t|  |\s{0,20}[\w.]{1,80} = ")


@dataclass(frozen=True)
class Printed:
    """A line of a log, as it was printed.  `offset`, `length`: the bytes of the file that hold it; `raw`: these as text; `is_head`: whether it
    begins a record; `cut`: its parts, if its layout is not known; `label`: a name before it, of a file or a machine."""

    text: str
    offset: int
    length: int
    raw: str
    is_head: bool = False
    cut: Cut | None = None
    label: str = ""


def framed(text: str) -> tuple[bytes, Envelope] | None:
    """A line that begins a record, out of its wrappers, with its layout; None for any other."""
    if len(text) > LONGEST:
        return None
    text = ANSI.sub("", text) if "\x1b" in text else text
    data = text.encode("utf-8", "replace")
    envelope = find_envelope(data.split(b"\n", 1)[0])
    if envelope is not None:
        return data, envelope
    pattern = find_framing([text]).pattern
    cut = pattern.cut(text) if pattern else None
    if cut is not None:
        return rewritten(cut).encode("utf-8", "replace"), REWRITTEN
    for name in wrappers():
        inner = unwrap_line(name, text)
        if inner is not None and inner.cut is not None:
            return rewritten(inner.cut).encode("utf-8", "replace"), REWRITTEN
        if inner is not None and len(inner.text) < len(text) and (found := framed(inner.text)):
            return found
    return None


def wrappers_of(text: str) -> tuple[str, ...]:
    """The wrappers around a line that begins a record, outermost first."""
    found = find_framing([text])
    if found.envelope is not None or found.pattern is not None:
        return ()
    for name in wrappers():
        inner = unwrap_line(name, text)
        if inner is not None and inner.cut is not None:
            return (name,)
        if inner is not None and len(inner.text) < len(text) and framed(inner.text):
            return (name, *wrappers_of(inner.text))
    return ()


@lru_cache(maxsize=8192)
def is_head(text: str) -> bool:
    """Whether a line begins a record of a known layout."""
    return framed(text) is not None


@lru_cache(maxsize=4096)
def is_known(text: str, needs_logger: bool = False) -> bool:
    """Whether the catalogue knows the message of a record; `needs_logger`: its layout prints the logger after the message, and it is there."""
    found = framed(text)
    if found is None:
        return False
    record, envelope = found
    cut = envelope.cut(record)
    if cut is None or (needs_logger and envelope.tail is not None and "logger" not in cut):
        return False
    logger = record[slice(*cut["logger"])] if "logger" in cut else None
    return catalogue().understood(logger, record[slice(*cut["message"])])[1] is not None


def is_whole(text: str) -> bool:
    """Whether a record is known to its end: its layout's tail is there, if it has one."""
    return is_known(text, True)


def plain(text: str) -> str:
    """A line without what a page or a mail puts before or around each of its lines."""
    text = (ANSI.sub("", text) if "\x1b" in text else text).translate(INVISIBLE)
    if "m" in text and "[" in text:
        text = COLOUR_OF_TERMINAL.sub("", text)
    if "&" in text and ENTITY.search(text):
        text = html.unescape(text)
    if "<" in text:
        text = TAG.sub("", text)
    if text.lstrip(" ").startswith(">"):
        text = QUOTE.sub("", text, count=1)
    return text


def bare(text: str) -> str:
    """A line without the marks of wikis within it."""
    return ESCAPED.sub(r"\1", BOLD.sub("", COLOUR.sub("", text))).rstrip()


def variants(text: str) -> Iterator[str]:
    """A line of a document without more and more of its marks."""
    text = plain(text)
    yield text
    text = text.strip()
    yield text
    for mark in (BULLET, QUOTE):
        found = mark.match(text)
        text = text[found.end() :] if found else text
    yield text
    if text.startswith("|"):
        text = text.strip("| \t")
        yield text
    yield text.strip(AROUND + " ")
    yield bare(text).strip(AROUND + " ")


def without_marks(text: str) -> str | None:
    """A line of a document as the line of a log that it is; None if it is none."""
    if len(text) > LONGEST:
        return None
    return next((variant for variant in variants(text) if is_head(variant)), None)


def of_cells(text: str) -> Cut | None:
    """A row of a table whose cells are the parts of a record: a time, a level, a text, and a logger if there is one."""
    if text.count("|") < 3 or len(text) > LONGEST:
        return None
    cells = [bare(cell).strip(AROUND + " ") for cell in CELL.split(plain(text).strip().strip("|"))]
    time = next((TIME.fullmatch(cell.strip("[]")) for cell in cells if TIME.fullmatch(cell.strip("[]"))), None)
    level = next((cell for cell in cells if re.fullmatch(LEVEL, cell)), None)
    if time is None or level is None:
        return None
    millis, is_utc = millis_of(time.groupdict())
    rest = [cell for cell in cells if cell and cell != level and not TIME.fullmatch(cell.strip("[]"))]
    logger = next((cell for cell in rest if re.fullmatch(r"[a-z]\w*(?:\.\w+)*\.[A-Z][\w$]*", cell)), None)
    message = max((cell for cell in rest if cell != logger), key=len, default=None)
    return Cut(millis, is_utc, level.replace("WARNING", "WARN"), logger, None, message) if message else None


def of_unknown_layout(text: str) -> Cut | None:
    """The parts of a line that only looks like one of a log; its time is not known."""
    if len(text) > LONGEST:
        return None
    text = plain(text)
    if found := UNKNOWN.match(text):
        return Cut(None, False, found["level"].replace("WARNING", "WARN"), None, None, text.strip())
    if found := TIMELESS.fullmatch(text):
        return Cut(None, False, found["level"], found["logger"], None, found["message"])
    if found := PREFIXED.fullmatch(text):
        return Cut(None, False, found["level"], None, None, found["message"])
    return None


def records_in(offset: int, length: int, text: str) -> list[Printed]:
    """The records that begin in one line of a document, with what stands before the first; none if none begins."""
    if len(text) > LONGEST:
        return []
    places = places_within(text)
    if places and without_marks(text[: places[0]]) is None and without_marks(text) is not None:
        # What stands before is a mark, or the time of a wrapper.
        places = places[1:]
    parts = [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]
    label = LABEL.fullmatch(parts[0]) if len(parts) > 1 and without_marks(parts[0]) is None else None
    out: list[Printed] = []
    for n, part in enumerate(parts):
        found = without_marks(part)
        cut = None if found is not None else of_cells(part) or (of_unknown_layout(part) if len(parts) == 1 else None)
        size = len(part.encode("utf-8", "replace")) if n < len(parts) - 1 else length - sum(one.length for one in out)
        is_record = found is not None or cut is not None
        if not is_record and out:
            last = out[-1]
            out[-1] = replace(last, text=last.text + part, raw=last.raw + part, length=last.length + size)
            continue
        out.append(Printed(cut_off(found) if found is not None else plain(part), offset, size, part, is_record, cut))
        offset += size
    if label:
        first, second, *more = out
        out = [
            replace(second, offset=first.offset, length=first.length + second.length, raw=first.raw + second.raw, label=label["name"]),
            *(replace(one, label=label["name"]) for one in more),
        ]
    return out if any(one.is_head for one in out) else []


def cut_off(text: str) -> str:
    """A record without the cells of a table that follow it, or the bar that joins it to the next."""
    text = text.rstrip("| \t") if text.rstrip().endswith("|") else text
    return text.split(" | ", 1)[0] if " | " in text and not is_known(text) and is_head(text.split(" | ", 1)[0]) else text


def places_within(text: str) -> list[int]:
    """Where within a line another record begins: with a time and a level."""
    starts = [found.start() for found in TIME_WITHIN.finditer(text) if found.start() > 0]
    starts = [start for start in starts if not text[start - 1].isdigit()]
    return [start for n, start in enumerate(starts) if without_marks(text[start : next(iter(starts[n + 1 :]), len(text))]) is not None]


def without_label(text: str, label: str) -> str:
    """A line that continues a record, without the name that stands before each line."""
    found = LABEL.match(text) if label and text.lstrip().startswith(label) else None
    return text[found.end() :] if found and found["name"] == label else text


def mended(head: Printed, following: Iterable[Printed] = ()) -> tuple[Printed, int]:
    """The first line of a record with the lines that are its own rest, and how many lines that takes: they are joined if the catalogue knows the joined
    text to its end and not the first line alone.  `following`: the lines after it."""
    if head.cut is not None or is_whole(head.text):
        return head, 1
    for text in (head.text, bare(head.text)):
        # A sentence may go on after the record that it quotes.
        ends = [found.end() for found in LOGGER_WITHIN.finditer(text)]
        for one in (text, *(text[:end] for end in reversed(ends))):
            if is_whole(one):
                return replace(head, text=one), 1
    broken: list[Printed] = []
    for line in islice(following, MOST_BROKEN):
        if not broken and head.text.endswith(":") and OF_RECORD.match(line.text):
            # Editors strip the blank before settings.
            return replace(head, text=head.text + " "), 1
        is_other = (line.is_head and line.cut is None) or not line.text.strip() or SETTING.match(line.text) or TRACE.fullmatch(line.text)
        if is_other or len(head.text) < SHORTEST_BROKEN:
            break
        broken.append(line)
        if found := joined([head, *broken]):
            return found, len(broken) + 1
    return head, 1


def joined(lines: Sequence[Printed]) -> Printed | None:
    """The line that was broken into some; None if the catalogue does not know it."""
    breaks = len(lines) - 1
    widths = {len(line.raw) for line in lines[:-1]}
    # A terminal cuts all lines at its width, wherever that is; a mail program breaks them at blanks.
    is_cut = len(widths) == 1 and (breaks > 1 or widths <= TERMINALS)
    gaps_first = ("", " ") if is_cut else (" ", "")
    choices = product(gaps_first, repeat=breaks) if breaks <= MOST_BREAKS else [(gap,) * breaks for gap in gaps_first]
    for gaps in choices:
        text = lines[0].text
        for gap, line in zip(gaps, lines[1:], strict=True):
            rest = line.text.strip() if gap else line.text.rstrip()
            text = f"{text.rstrip()}{gap}{rest}" if gap else text + rest
        for one in dict.fromkeys((text, bare(text))):
            if is_whole(one):
                last = lines[-1]
                return replace(
                    lines[0],
                    text=one,
                    length=last.offset + last.length - lines[0].offset,
                    raw="\n".join(line.raw for line in lines),
                )
    return None
