"""Layouts as log4j, log4j 2 and logback write them (`%d{ISO8601} %-5p [%t] %c{1}: %m%n`), compiled to a matcher of lines.

No Spark here.  Source: the manuals of log4j 1.2 (PatternLayout), log4j 2 (Pattern Layout) and logback (PatternLayout).
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import lru_cache

from ingestion.reading import linear
from ingestion.reading.clocks import MONTHS

# The years 1 to 9999, which Python's dates know.
FIRST_MILLIS, LAST_MILLIS = -62_135_596_800_000, 253_402_300_799_999

# Marks the place of the message while a pattern is compiled.
MESSAGE = "\0"
LEVEL = r"TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|OFF|ALL"
# Conversion words by what they print; None: something that is not kept.
WORDS: dict[str, tuple[str | None, str]] = {
    **dict.fromkeys(("d", "date"), ("time", "")),
    **dict.fromkeys(("p", "level", "le"), ("level", LEVEL)),
    **dict.fromkeys(("c", "logger", "lo", "C", "class"), ("logger", r"[\w.$/\-]+")),
    **dict.fromkeys(("t", "tn", "thread", "threadName"), ("thread", r"[^\n]*?")),
    **dict.fromkeys(("m", "msg", "message"), ("message", "")),
    **dict.fromkeys(("M", "method"), (None, r"[\w$<>?]+")),
    **dict.fromkeys(("L", "line"), (None, r"\d+|\?")),
    **dict.fromkeys(("F", "file"), (None, r"[\w.$?]+")),
    **dict.fromkeys(("l", "location", "caller"), (None, r"\S+(?:\([^)]*\))?")),
    **dict.fromkeys(("r", "relative"), (None, r"\d+")),
    **dict.fromkeys(
        ("T", "tid", "threadId", "tp", "threadPriority", "pid", "processId", "sn", "sequenceNumber", "N", "nano"), (None, r"\d+|\?")
    ),
    **dict.fromkeys(
        ("x", "NDC", "X", "mdc", "MDC", "K", "map", "MAP", "property", "contextName", "cn", "marker", "markerSimpleName"),
        (None, r"[^\n]*?"),
    ),
    **dict.fromkeys(("i", "u", "uuid"), (None, r"\S+")),
    # Stack traces are on lines of their own.
    **dict.fromkeys(
        ("n", "ex", "exception", "throwable", "xEx", "xException", "xThrowable", "rEx", "wEx", "nopex", "nopexception"), (None, "")
    ),
}
# Words that only colour or frame their content.
AROUND = (
    "highlight",
    "style",
    "clr",
    "color",
    "cyan",
    "red",
    "green",
    "blue",
    "yellow",
    "magenta",
    "white",
    "gray",
    "bold",
    "faint",
    "replace",
    "encode",
    "enc",
    "notEmpty",
    "equals",
)
NAMED_DATES = {
    "": "yyyy-MM-dd HH:mm:ss,SSS",
    "ISO8601": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSZ",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "ABSOLUTE": "HH:mm:ss,SSS",
    "UNIX": "epoch_seconds",
    "UNIX_MILLIS": "epoch_millis",
}
LETTERS = {
    "yyyy": ("year", r"\d{4}"),
    "uuuu": ("year", r"\d{4}"),
    "yy": ("short_year", r"\d\d"),
    "MMMM": ("month_name", r"[A-Za-z]+"),
    "MMM": ("month_name", r"[A-Za-z]{3}"),
    "MM": ("month", r"\d\d"),
    "M": ("month", r"\d\d?"),
    "dd": ("day", r"[\d ]?\d"),
    "d": ("day", r"\d\d?"),
    "HH": ("hour", r"\d\d"),
    "H": ("hour", r"\d\d?"),
    "hh": ("half_hour", r"\d\d"),
    "h": ("half_hour", r"\d\d?"),
    "mm": ("minute", r"\d\d"),
    "ss": ("second", r"\d\d"),
    "a": ("half", r"[AaPp]\.?[Mm]\.?"),
    "EEE": (None, r"[A-Za-z]{2,4}"),
    "E": (None, r"[A-Za-z]{2,4}"),
    "EEEE": (None, r"[A-Za-z]+"),
    "Z": ("offset", r"[+-]\d{4}"),
    "X": ("offset", r"Z|[+-]\d\d(?:\d\d)?"),
    "XX": ("offset", r"Z|[+-]\d{4}"),
    "XXX": ("offset", r"Z|[+-]\d\d:\d\d"),
    "z": ("zone_name", r"[A-Za-z/_]+(?:[+-]\d\d:?\d\d)?"),
}


@dataclass(frozen=True)
class Cut:
    """A line as a pattern cuts it.  `millis`: on the local clock, or UTC where `is_utc`; None: no date in the pattern; `resolution`: of the time,
    milliseconds."""

    millis: int | None
    is_utc: bool
    level: str | None
    logger: str | None
    thread: str | None
    message: str
    resolution: int = 1


@dataclass(frozen=True)
class Pattern:
    """A compiled layout."""

    name: str
    text: str
    matcher: linear.ForLines | linear.Pattern

    def cut(self, line: str) -> Cut | None:
        """The parts of a line; None if it does not fit, and so continues the record before it."""
        match = self.matcher.match(line)
        if match is None:
            return None
        parts = match.groupdict()
        millis, is_utc = millis_of(parts)
        level = (parts.get("level") or "").replace("WARNING", "WARN") or None
        return Cut(millis, is_utc, level, parts.get("logger"), parts.get("thread"), parts["message"], resolution_of(parts))

    @property
    def has_time(self) -> bool:
        """Whether its lines have a time of day."""
        return bool({"second", "epoch_seconds", "epoch_millis"} & self.matcher.groupindex.keys())


def date_expression(text: str) -> str:
    """A SimpleDateFormat, or one of the named formats, as an expression with a group for each part.

    Raises ValueError for a letter that no log needs (weeks, eras).
    """
    text = NAMED_DATES.get(text, text)
    if text == "epoch_seconds":
        return r"(?P<epoch_seconds>\d{10})"
    if text == "epoch_millis":
        return r"(?P<epoch_millis>\d{13})"
    out = []
    for quoted, letters, other in _date_pieces(text):
        if quoted:
            out.append(re.escape(quoted))
        elif letters and set(letters) <= {"S", "n"}:
            out.append(rf"(?P<fraction>\d{{{len(letters)}}})" if set(letters) == {"S"} else r"(?P<fraction>\d{1,9})")
        elif letters:
            if letters not in LETTERS:
                raise ValueError(f"'{letters}' in the date '{text}' is not understood; use letters such as yyyy-MM-dd HH:mm:ss,SSS")
            name, expression = LETTERS[letters]
            out.append(f"(?P<{name}>{expression})" if name else f"(?:{expression})")
        else:
            # A comma or a full stop before the fraction depends on the program's locale.
            out.append("[,.]" if other in ",." else re.escape(other))
    return "".join(out)


def _date_pieces(text: str) -> list[tuple[str, str, str]]:
    """(quoted text, run of one letter, other character) in order, one of the three filled."""
    out = []
    for match in re.finditer(r"'([^']*)'|(([A-Za-z])\3*)|(.)", text):
        out.append((match[1] or "", match[2] or "", match[4] or ""))
    return out


def millis_of(parts: dict[str, str | None]) -> tuple[int | None, bool]:
    """(milliseconds since 1970, whether they are UTC) of the groups of a date; None if it is no date."""
    if seconds := parts.get("epoch_seconds"):
        return int(seconds) * 1000, True
    if epoch := parts.get("epoch_millis"):
        return int(epoch), True
    number = {name: int(value) for name, value in parts.items() if value and value.strip().isdigit()}
    year = number.get("year") or (2000 + number["short_year"] if "short_year" in number else None)
    month = number.get("month") or MONTHS.get((parts.get("month_name") or "")[:3].lower())
    if year is None or month is None or "day" not in number:
        return None, False
    hour = number.get("hour", number.get("half_hour", 0))
    if half := parts.get("half"):
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    try:
        at = dt.datetime(year, month, number["day"], hour, number.get("minute", 0), number.get("second", 0))
    except ValueError:
        return None, False
    millis = (at - dt.datetime(1970, 1, 1)) // dt.timedelta(milliseconds=1) + int(((parts.get("fraction") or "") + "000")[:3])
    offset = parts.get("offset")
    if offset is None and parts.get("zone_name") in ("UTC", "GMT", "Z"):
        offset = "Z"
    if offset is None:
        return millis, False
    if offset != "Z":
        digits = offset[1:].replace(":", "")
        minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
        millis -= (minutes if offset[0] == "+" else -minutes) * 60_000
    return millis, True


def resolution_of(parts: dict[str, str | None]) -> int:
    """Milliseconds between one time and the next that the groups of a date can tell: 1000 for whole seconds."""
    return 1 if parts.get("fraction") or parts.get("epoch_millis") else 1000


def compile_pattern(text: str, name: str = "given", needs_time: bool = True) -> Pattern:
    """Compile a layout.  Raises ValueError with what is wrong and what to write."""
    names: set[str] = set()
    # Padding next to a blank becomes one run of blanks: two adjacent runs could share the same blanks in many ways.
    expression = re.sub(r"(?:\[ \][*+])+", lambda run: "[ ]+" if "+" in run[0] else "[ ]*", _compile(text, names))
    for needed in ("time", "message") if needs_time else ("message",):
        if needed not in names:
            raise ValueError(f"pattern '{text}' has no {needed}; write %{'d' if needed == 'time' else 'm'} in its place")
    head, _, tail = expression.partition(MESSAGE)
    # The first line of a message of several lines has no tail.
    ending = f"(?:{tail}[ ]*)?" if re.sub(r"\s+", "", tail) else ""
    # Two free texts next to the message could divide even a short line in too many ways.
    free = expression.count(r"[^\n]*?") + bool(ending)
    make = linear.for_lines if free < 2 else linear.compile
    return Pattern(name, text, make(f"{head}(?P<message>.*{'?' if ending else ''}){ending}\\Z"))


def _compile(text: str, names: set[str]) -> str:
    out: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            out.append({"n": "", "t": r"\t"}.get(text[at + 1], re.escape(text[at + 1])))
            at += 2
            continue
        if text[at] != "%":
            end = next((n for n in range(at, len(text)) if text[n] in "%\\"), len(text))
            # Padding of the value before it: any number of blanks where there is one.
            out.append(re.sub(r"(?:\\ )+", r"[ ]+", re.escape(text[at:end])))
            at = end
            continue
        if text[at : at + 2] == "%%":
            out.append("%")
            at += 2
            continue
        modifier = re.compile(r"%([-0]*\d*)?(?:\.-?\d+)?").match(text, at)
        assert modifier is not None
        at = modifier.end()
        pads = bool(modifier[1])
        word = ""
        if at < len(text) and text[at] != "(":
            known = sorted((*WORDS, *AROUND), key=len, reverse=True)
            word = next((word for word in known if text.startswith(word, at)), "")
            if not word:
                raise ValueError(
                    f"'%{text[at : at + 8]}' in the pattern '{text}' is not understood; use log4j's conversion words, such as %d %p %c %t %m"
                )
            at += len(word)
        if word in AROUND or (not word and text[at : at + 1] == "("):
            inner, at = _enclosed(text, at)
            while text[at : at + 1] == "{":
                _, at = _enclosed(text, at)
            out.append(_compile(inner, names))
            continue
        arguments = []
        while text[at : at + 1] == "{":
            argument, at = _enclosed(text, at)
            arguments.append(argument)
        name, expression = WORDS[word]
        if name == "message":
            names.add(name)
            out.append(MESSAGE)
            continue
        if name == "time":
            expression = date_expression(arguments[0].split(",,")[0].strip('"') if arguments else "")
        pad = "[ ]*" if pads and expression else ""
        if name and name not in names:
            names.add(name)
            group = expression if name == "time" else f"(?P<{name}>{expression})"
            out.append(f"{pad}{group}{pad}")
        else:
            out.append(f"{pad}(?:{expression}){pad}")
    return "".join(out)


def _enclosed(text: str, at: int) -> tuple[str, int]:
    """The content of the brackets that begin at an offset, and the offset after them."""
    opening, closing = text[at], {"{": "}", "(": ")"}[text[at]]
    depth = 0
    for n in range(at, len(text)):
        depth += (text[n] == opening) - (text[n] == closing)
        if not depth:
            return text[at + 1 : n], n + 1
    raise ValueError(f"a bracket is not closed in '{text[at:]}'; write {closing}")


def rewritten(cut: Cut) -> str:
    """A record as a line, with its continuation lines, of the layout `rewritten`."""
    at = "0000-00-00 00:00:00,000"
    if cut.millis is not None and FIRST_MILLIS <= cut.millis <= LAST_MILLIS:
        seconds, rest = divmod(cut.millis, 1000)
        days, second = divmod(seconds, 86_400)
        at = f"{_day(days)} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02},{rest:03}"
    return f"[{at}] {cut.level or ''} \x02{cut.thread or ''}\x02{cut.logger or ''}\x02{cut.message}"


@lru_cache(maxsize=4096)
def _day(days: int) -> str:
    return (dt.date(1970, 1, 1) + dt.timedelta(days=days)).isoformat()
