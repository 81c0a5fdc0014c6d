"""JSON documents of a text: one, several after another, one a line, or the elements of a list; what is torn or foreign is kept as text.

A document is read whole: JSON has no piece that could be understood alone.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ingestion.captures import UNREAD, Line, Row, Sample

DECODER = json.JSONDecoder()
BLANK = re.compile(r"[\s,]*")
BEGINNING = 500
# Hiding a value may have removed its quotes, or the quote after it.
HIDDEN_VALUE = re.compile(r'("\s*:\s*)\[redacted\]')
HIDDEN_END = re.compile(r"(=\[redacted\])(?=\s*[,}\]])")
REPAIRS = 20  # each looks at all that is left
NEXT = re.compile(r"(?m)^[{\[]")
DEEP = 500  # Characters skipped after a text nested too deeply for the decoder: it has at least so many, each of which would fail again.


class Unnumbered(str):
    """A text whose lines the decoder does not count: it would count from the beginning at each error."""

    __slots__ = ()

    def count(self, *_: object) -> int:
        return 0

    def rfind(self, *_: object) -> int:
        return -1


class Document(NamedTuple):
    """A value with its text and where it begins (bytes); `warning` where the text is not JSON."""

    offset: int
    text: str
    value: Any
    warning: str | None = None

    @property
    def beginning(self) -> str:
        """Raw text for the rows of its parts: its beginning, not the whole again for each."""
        return self.text[:BEGINNING]


def documents(lines: Iterable[Line]) -> Iterator[Document]:
    """The documents in their order; a list at the top gives its elements."""
    kept = list(lines)
    text = Unnumbered("\n".join(line.text for line in kept))
    starts, place = [], 0
    for line in kept:
        starts.append(place)
        place += len(line.text) + 1

    known = (-1, 0, 0)  # line, place in it and offset of the last answer: a line of many megabytes is not measured from its start again

    def offset(at: int) -> int:
        nonlocal known
        index = bisect.bisect_right(starts, at) - 1
        place = at - starts[index]
        line, before, bytes_before = known if known[0] == index and known[1] <= place else (index, 0, kept[index].offset)
        known = (line, place, bytes_before + len(kept[index].text[before:place].encode("utf-8", "replace")))
        return known[2]

    at, in_list, repairs = 0, False, REPAIRS if "[redacted]" in text else 0
    while True:
        at = BLANK.match(text, at).end()  # type: ignore[union-attr]  # matches the empty text
        if at >= len(text):
            if in_list:
                yield Document(offset(len(text) - 1), "", None, "the list of documents has no end")
            return
        if text[at] in "[]" and in_list == (text[at] == "]"):
            in_list, at = not in_list, at + 1
            continue
        try:
            try:
                value, end = DECODER.raw_decode(text, at)
            except ValueError:
                if not repairs:
                    raise
                repairs -= 1
                repaired = text[:at] + HIDDEN_END.sub(r'\1"', HIDDEN_VALUE.sub(r'\1"[redacted]"', text[at:]))
                value, end = DECODER.raw_decode(repaired, at)
                text = Unnumbered(repaired)
            yield Document(offset(at), text[at:end], value)
        except (ValueError, RecursionError) as error:
            found = NEXT.search(text, at + (DEEP if isinstance(error, RecursionError) else 1))
            end = found.start() if found else len(text)
            reason = f"{error.msg} at character {error.pos - at}" if isinstance(error, json.JSONDecodeError) else str(error)
            yield Document(offset(at), text[at:end].rstrip(), None, f"no JSON: {reason}")
            in_list = False
        at = end


def answers(lines: Iterable[Line], read: Callable[[Document], Iterator[Row | Sample]]) -> Iterator[Row | Sample]:
    """What `read` makes of each document that is an object; any other document, or one of another form inside, is `unread`."""
    for document in documents(lines):
        if not isinstance(document.value, dict):
            yield Row(UNREAD, document.offset, document.text, warnings=(document.warning or "no object",))
            continue
        try:
            yield from read(document)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            yield Row(UNREAD, document.offset, document.text, warnings=(f"an answer of another form: {error}",))
