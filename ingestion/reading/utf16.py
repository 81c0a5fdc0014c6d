"""Reads UTF-16 as UTF-8: what Windows' PowerShell and Notepad write.  No Spark here.

A position is one in the text as UTF-8, without its byte order mark, as that of a gzip is one in the decompressed text.
"""

from __future__ import annotations

import codecs
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import BinaryIO

# Bytes that show whether a text without a byte order mark is UTF-16.
SHOWS = 4096
CHUNK = 256 << 10


def encoding_of(head: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` if the first bytes of a file are UTF-16, with or without a byte order mark; else None."""
    head = head[: len(head) // 2 * 2]
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        # The mark of UTF-32 begins with that of UTF-16.
        return None if head[2:4] == b"\0\0" else "utf-16-le" if head.startswith(BOM_UTF16_LE) else "utf-16-be"
    for name, high, low in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        # A log is ASCII nearly everywhere: one byte of each pair is 0, the other never.
        if len(high) > 3 and high.count(0) > 0.8 * len(high) and not low.count(0):
            return name
    return None


class Utf16:
    """A file that decodes the UTF-16 of another one.  An incomplete character at the end is left out: it may still be written."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self.file, self.encoding = file, encoding
        self._begin()

    def _begin(self) -> None:
        self.file.seek(0)
        self.decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        self.at, self.waiting, self.is_first = 0, b"", True

    def _more(self) -> bool:
        """Decode the next bytes; whether there were any."""
        piece = self.file.read(CHUNK)
        text = self.decoder.decode(piece)
        if self.is_first and text:
            text, self.is_first = text.removeprefix("\ufeff"), False
        self.waiting += text.encode("utf-8", "replace")
        return bool(piece)

    def read(self, size: int = -1) -> bytes:
        while (size < 0 or len(self.waiting) < size) and self._more():
            pass
        return self._take(len(self.waiting) if size < 0 else size)

    def read1(self, size: int = -1) -> bytes:
        while not self.waiting and self._more():
            pass
        return self._take(len(self.waiting) if size < 0 else size)

    def _take(self, size: int) -> bytes:
        out, self.waiting = self.waiting[:size], self.waiting[size:]
        self.at += len(out)
        return out

    def seek(self, position: int) -> int:
        """Go to a position from the beginning."""
        if position < self.at:
            self._begin()
        while self.at < position and self.read1(min(CHUNK, position - self.at)):
            pass
        return self.at

    def fileno(self) -> int:
        return self.file.fileno()

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Utf16:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
