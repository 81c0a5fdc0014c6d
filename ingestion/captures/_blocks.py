"""Finds the blocks that the author of a document made: fences, `{code}`, `<pre>`, quotes, indented blocks, line numbers before a block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ingestion.captures import Line

PIECE_LINES = 50_000  # A longer block is read in parts, so that memory stays bounded.
FENCE = re.compile(r"(?P<indent>\s*+)(?P<mark>`{3,}+|~{3,}+|\{(?:code|noformat|quote)(?::[^}]*)?\}|<(?:pre|code)[^>]*>)(?P<rest>.*)")
NUMBER = re.compile(r"\s*(\d{1,5})\s*")


@dataclass
class Block:
    """Lines that are together.  `is_code`: their author marked them as pasted, `is_fenced`: with a line before and after them."""

    lines: list[Line]
    is_code: bool = False
    is_fenced: bool = False


def blocks(lines: Iterable[Line]) -> Iterator[Block]:
    """The text in the blocks that its author made."""
    block = Block([])
    closing: str | None = None
    numbers: list[Line] = []
    left = 0
    indented = False
    for line in lines:
        text = line.text
        if closing is None and left == 0:
            number = NUMBER.fullmatch(text)
            if number and int(number[1]) == len(numbers) + 1:
                numbers.append(line)
                continue
            if numbers:
                yield from [block] if block.lines else []
                # One number more than the gutter: `1`, `2`, then a block of two lines.
                block, left, numbers = Block([], True), len(numbers), []
            fence = FENCE.fullmatch(text) if left == 0 else None
            if fence:
                yield from [block] if block.lines else []
                block, closing = Block([], True, True), closing_of(fence["mark"])
                rest = fence["rest"].strip()
                if rest and closing.startswith(("{", "<")):
                    block.lines.append(Line(line.offset + len(text[: fence.start("rest")].encode()), fence["rest"]))
                continue
        if closing is not None and closing in text.lower():
            before = text[: text.lower().index(closing)]
            if before.strip():
                block.lines.append(Line(line.offset, before))
            yield block
            block, closing = Block([]), None
            continue
        if left:
            block.lines.append(line)
            left -= 1
            if left == 0:
                yield block
                block = Block([])
            continue
        is_indented = text.startswith(("    ", "\t"))
        if closing is None and not text.strip() and not indented:
            yield from [block] if block.lines else []
            block = Block([])
            continue
        if closing is None and not block.lines and is_indented:
            block.is_code = indented = True
        elif closing is None and indented and text.strip() and not is_indented:
            yield block
            block, indented = Block([]), False
        block.lines.append(line)
        if len(block.lines) >= PIECE_LINES:
            yield block
            block = Block([], block.is_code, block.is_fenced)
    if numbers and not left:
        block.lines.extend(numbers)
    yield from [block] if block.lines else []


def closing_of(mark: str) -> str:
    if mark.startswith("{"):
        return "{" + re.split(r"[:}]", mark[1:])[0] + "}"
    return "</" + re.split(r"[\s>]", mark[1:])[0] + ">" if mark.startswith("<") else mark


def dedented(lines: list[Line]) -> list[Line]:
    """The lines without the quotation marks or blanks that all of them begin with; offsets move along."""
    said = [line.text for line in lines if line.text.strip()]
    if said and all(text.startswith(">") for text in said):
        return dedented([cut(line, len(line.text) - len(re.sub(r"^>+ ?", "", line.text))) for line in lines])
    width = min((len(text) - len(text.lstrip(" \t")) for text in said), default=0)
    return [cut(line, width) for line in lines] if width else lines


def cut(line: Line, width: int) -> Line:
    return Line(line.offset + len(line.text[:width].encode()), line.text[width:])
