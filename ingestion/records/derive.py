"""Derives a layout that nobody listed, from lines whose wording is known: where time, level, logger and message are.

No Spark here.  A line of which some rest is recognised shows what stands before (and behind) its message; what many lines have in common is the
layout, as a pattern of log4j.  A wrong layout is worse than none: at least LEAST lines of different messages have to agree, and the pattern has to cut
AGREE of all lines that have such a time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ingestion.recognition.recognise import catalogue, class_names
from ingestion.records.patterns import Pattern, compile_pattern

# Lines that are looked at, those that must show the same layout, those of different messages among them, and the share that must agree.
LOOKED_AT, LEAST, LEAST_MESSAGES, AGREE = 200, 5, 2, 0.9
# Characters before a message, and places in them where it may begin.
LONGEST_HEAD, MOST_PLACES = 240, 24
LEVEL = re.compile(r"(?<![A-Za-z])(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)(?![A-Za-z])")
TIME = re.compile(
    r"(?<!\d)(?P<year>\d{4})(?P<s>[-/.])\d\d(?P=s)\d\d(?P<t>[ T_])\d\d:\d\d:\d\d(?P<f>[.,]\d{1,9})?(?P<z>Z|[+-]\d\d:?\d\d)?(?!\d)"
    r"|(?<!\d)\d\d(?P<s2>\.)\d\d\.\d{4}(?P<t2>[ ,T_]+)\d\d:\d\d:\d\d(?P<f2>[.,]\d{1,9})?(?!\d)"
    r"|(?<!\d)\d\d(?P<s3>[ /-])[A-Z][a-z]{2}(?P=s3)\d{4}(?P<t3>[ :])\d\d:\d\d:\d\d(?P<f3>[.,]\d{1,9})?(?P<z3> ?[+-]\d\d:?\d\d)?(?!\d)"
    r"|(?<!\d)(?P<epoch>1\d{12})(?!\d)"
)
WORD = re.compile(r"[\w.$/@\-]+")
NAME = re.compile(r"[A-Za-z_][\w.$\-]*")
# A logger behind the message.
BEHIND = re.compile(r"(?P<before> ?(?:\(| \[| \{| - | \| ?| <))(?P<logger>[A-Za-z_][\w.$\-]*)(?P<after>[)\]}>]?)[ \t\r]*$")
CONTINUES = re.compile(r"\s|at |Caused by: |\.\.\. ")


@dataclass(frozen=True)
class Aligned:
    """A line whose message is known.  `head`, `tail`: what is before and behind the message, in pieces (kind, text); `event`: what it says."""

    head: tuple[tuple[str, str], ...]
    tail: tuple[tuple[str, str], ...]
    event: str

    @property
    def form(self) -> tuple[object, ...]:
        """What lines of one layout have in common: the pieces without the words in them."""
        return tuple(tuple((kind, "" if kind == "word" else text) for kind, text in part) for part in (self.head, self.tail))


def derive(lines: Iterable[str], least: int = LEAST) -> str | None:
    """The layout of some lines as a pattern; None if fewer than `least` are known, or they do not agree."""
    heads = [line.rstrip("\r") for line in lines if TIME.search(line[:LONGEST_HEAD]) and not CONTINUES.match(line)][:LOOKED_AT]
    if len(heads) < least:
        return None
    aligned = list(filter(None, map(align, heads)))
    if len(aligned) < least:
        return None
    form, count = Counter(one.form for one in aligned).most_common(1)[0]
    same = [one for one in aligned if one.form == form]
    if count < max(least, AGREE * len(aligned)) or len({one.event for one in same}) < min(least, LEAST_MESSAGES):
        return None
    text = f"{written([one.head for one in same])}%m{written([one.tail for one in same])}%n"
    try:
        pattern = compile_pattern(text, "derived")
    except ValueError:
        return None
    return text if agrees(pattern, heads, len(aligned)) else None


def agrees(pattern: Pattern, heads: Sequence[str], known: int) -> bool:
    """Whether a pattern cuts AGREE of the lines, with a level and a time, and as many as were known are known by it."""
    cuts = [cut for cut in map(pattern.cut, heads) if cut is not None and cut.millis is not None]
    recognised = sum(catalogue().knows(cut.logger.encode() if cut.logger else None, cut.message.encode()) for cut in cuts)
    return len(cuts) >= AGREE * len(heads) and recognised >= AGREE * known


def align(line: str) -> Aligned | None:
    """A line cut at the first place from which on it is known; None if there is none."""
    time, level = TIME.search(line[:LONGEST_HEAD]), LEVEL.search(line[:LONGEST_HEAD])
    if time is None or level is None:
        return None
    first = max(time.end(), level.end())
    behind = BEHIND.search(line)
    if behind is not None and not is_logger(behind["logger"]):
        behind = None
    for place in places(line, first):
        logger = next((word for word in NAME.finditer(line[:place]) if word.end() <= place and is_logger(word[0])), None)
        # The names of classes in a message are no loggers before it.
        end = behind.start() if behind is not None and logger is None and behind.start() > place else len(line)
        name = logger[0] if logger else behind["logger"] if behind is not None and end < len(line) else None
        found = catalogue().event_of(name.encode() if name else None, line[place:end].encode("utf-8", "replace"))
        if found is None:
            continue
        spans = [(time.start(), time.end(), f"%d{{{date_form(time)}}}"), (level.start(), level.end(), "%p")]
        spans += [(logger.start(), logger.end(), "%c")] if logger else []
        tail = [*pieces(behind["before"], []), ("mark", "%c"), *pieces(behind["after"], [])] if behind and end < len(line) else []
        return Aligned(tuple(pieces(line[:place], sorted(spans))), tuple(tail), found)
    return None


def places(line: str, first: int) -> Iterator[int]:
    """Where a message may begin: behind blanks and signs, after time and level."""
    found = 0
    for match in re.finditer(r"(?<=[\s|:;>\])}=-])(?=[^\s])", line[:LONGEST_HEAD]):
        if match.start() >= first and found < MOST_PLACES:
            found += 1
            yield match.start()


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """The last parts of all loggers that the catalogue knows."""
    return frozenset(name for form in catalogue().forms for name in form.logger_names)


@lru_cache(maxsize=4096)
def is_logger(word: str) -> bool:
    """Whether a word is a logger that the catalogue knows: by its whole name, or by the name of a class."""
    last = word.rpartition(".")[2]
    has_shape = "." in word or bool(re.search(r"[a-z][A-Z]", last))
    return has_shape and not names().isdisjoint(class_names(word.encode()))


def date_form(time: re.Match[str]) -> str:
    """The SimpleDateFormat of a time."""
    fraction = time["f"] or time["f2"] or time["f3"] or ""
    part = fraction[:1] + "S" * (len(fraction) - 1)
    if time["epoch"]:
        return "UNIX_MILLIS"
    if time["s"]:
        between = f"'{time['t']}'" if time["t"] in "T_" else " "
        return f"yyyy{time['s']}MM{time['s']}dd{between}HH:mm:ss{part}{zone_form(time['z'])}"
    if time["s2"]:
        between = "".join(f"'{letter}'" if letter.isalpha() else letter for letter in time["t2"])
        return f"dd.MM.yyyy{between}HH:mm:ss{part}"
    zone = time["z3"] or ""
    return f"dd{time['s3']}MMM{time['s3']}yyyy{time['t3']}HH:mm:ss{part}{' ' if zone.startswith(' ') else ''}{zone_form(zone.strip())}"


def zone_form(zone: str | None) -> str:
    return "" if not zone else "XXX" if ":" in zone or zone == "Z" else "Z"


def pieces(text: str, spans: list[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """A text in pieces: marks of known parts, threads and the like in brackets, numbers, words, and signs between them."""
    out: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        known = next((span for span in spans if span[0] == at), None)
        ahead = min((span[0] for span in spans if span[0] >= at), default=len(text))
        if known:
            out.append(("mark", known[2]))
            at = known[1]
        elif (group := re.match(r"\[[^\[\]\n]*\]|\([^()\n]*\)", text[at:ahead])) and group[0].strip("[]() "):
            out.append(("group", group[0][0] + group[0][-1]))
            at += group.end()
        elif word := WORD.match(text, at, ahead):
            out.append(("number", "") if word[0].isdigit() else ("word", word[0]))
            at = word.end()
        else:
            if not (text[at] in " \t" and out and out[-1] == ("sign", text[at])):
                out.append(("sign", text[at]))
            at += 1
    return out


def written(parts: Sequence[tuple[tuple[str, str], ...]]) -> str:
    """The pattern of pieces in which some lines agree: words that are the same in all are text, others are not kept."""
    out, has_thread = "", False
    for number, (kind, text) in enumerate(parts[0]):
        if kind == "mark":
            # Levels are padded.
            out += "%-5p" if text == "%p" else text
        elif kind == "group":
            out += f"{text[0]}%{'x' if has_thread else 't'}{text[1]}"
            has_thread = True
        elif kind == "number":
            out += "%L"
        elif kind == "word":
            words = {part[number][1] for part in parts}
            out += literal(text) if len(words) == 1 else "%u"
        else:
            out += literal(text)
    return out


def literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "%%")
