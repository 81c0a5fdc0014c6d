"""Regular expressions in linear time, whatever the text: compiled by RE2.

`compile`: for patterns made from data in thousands (forms), where nobody can check each pattern by hand.  `for_lines`: for patterns of lines
with several parts that overlap; short lines go to `re`, which is several times faster there and whose worst case is bounded by the
length.  Both take the syntax of `re`; what RE2 lacks (lookaround, backreferences) is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import re2

# The characters of `\s`, `\d` and `\w` in `re`, for bytes and for text.
OF_BYTES = {"s": r"\t-\r ", "d": "0-9", "w": "0-9A-Za-z_"}
OF_TEXT = {
    "s": r"\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}",
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{N}_",
}
# Up to so many characters `for_lines` uses `re`: most lines of captures are shorter, and even cubic time is a millisecond.
SHORT = 200
# Memory for the cached states of one pattern, bytes; less makes it slower, not wrong.
MEMORY = 1 << 21


class Pattern(re2._Regexp):
    """An RE2 pattern whose `groupindex` is in group order and has text as keys, as that of `re`."""

    __slots__ = ("groupindex",)

    def __init__(self, pattern: str | bytes, options: re2.Options) -> None:
        super().__init__(pattern, options)
        named = re2._Regexp.groupindex.fget(self)
        by_number = sorted(named.items(), key=lambda item: item[1])
        self.groupindex = {name.decode() if isinstance(name, bytes) else name: number for name, number in by_number}


def compile(pattern: str | bytes, flags: int = 0) -> Pattern:
    """A pattern as `re.compile` takes it, with `match`, `fullmatch`, `search`, `finditer` and `sub` of the same meaning.

    Flags: `re.S`, `re.I` and `re.M`.  Raises ValueError for what RE2 lacks.
    """
    return _compiled(pattern, flags)


class ForLines:
    """A pattern that matches short lines with `re` and long ones with RE2."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags
        self._short, self._long = re.compile(pattern, flags), _compiled(pattern, flags)
        self.groupindex = self._short.groupindex

    def match(self, text: str) -> re.Match[str] | None:
        return self._short.match(text) if len(text) <= SHORT else self._long.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._short.fullmatch(text) if len(text) <= SHORT else self._long.fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        return self._short.search(text) if len(text) <= SHORT else self._long.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._short.finditer(text) if len(text) <= SHORT else self._long.finditer(text)

    def findall(self, text: str) -> list[Any]:
        return self._short.findall(text) if len(text) <= SHORT else self._long.findall(text)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._short.sub(by, text) if len(text) <= SHORT else self._long.sub(by, text)


def for_lines(pattern: str, flags: int = 0) -> ForLines:
    """A pattern for lines, most of which are short.  Flags and errors: as `compile`."""
    return ForLines(pattern, flags)


@cache
def _compiled(pattern: str | bytes, flags: int) -> Pattern:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    options.dot_nl = bool(flags & re.S)
    options.case_sensitive = not flags & re.I
    if isinstance(pattern, bytes):
        options.encoding = re2.Options.Encoding.LATIN1
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    written = ("(?m)" if flags & re.M else "") + translated(text, OF_BYTES if isinstance(pattern, bytes) else OF_TEXT)
    try:
        return Pattern(written.encode("latin-1") if isinstance(pattern, bytes) else written, options)
    except re2.error as error:
        raise ValueError(f"'{text}' is not a valid RE2 pattern ({error}); write it without lookaround or backreferences") from error


def translated(text: str, classes: dict[str, str]) -> str:
    """A pattern of `re` in the syntax of RE2: character classes and the end of the text."""
    out: list[str] = []
    at, in_class = 0, False
    while at < len(text):
        character = text[at]
        if character == "\\":
            letter = text[at + 1]
            if letter.lower() in classes:
                name = classes[letter.lower()]
                if in_class and letter.isupper():
                    raise ValueError(f"'\\{letter}' in a class of '{text}'; write the characters that it leaves")
                out.append(name if in_class else f"[{'^' if letter.isupper() else ''}{name}]")
            else:
                out.append({"Z": r"\z"}.get(letter, f"\\{letter}"))
            at += 2
            continue
        out.append(character)
        at += 1
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
            # A bracket in first place belongs to the class.
            begin = at
            at += text.startswith("^", at)
            at += text.startswith("]", at)
            out.append(text[begin:at])
    return "".join(out)
