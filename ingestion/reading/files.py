"""Bytes of files, plain or gzip, read so that what a damaged one still holds is not lost.  No Spark here."""

from __future__ import annotations

import gzip
import hashlib
import os
import traceback
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

# So many first bytes tell a file from others, and so many last ones where it has been read to.
FINGERPRINT = 1024
# What reading a file may raise: it is not there, cut, or damaged.
BROKEN = (OSError, EOFError, zlib.error)


def readable(path: str) -> str:
    """A path as text: bytes of a name that are not UTF-8 as \\xe9."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def open_bytes(path: str) -> BinaryIO:
    """The file, decompressed where it begins as gzip does, whatever its name."""
    with open(path, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if is_gzip else open(path, "rb")  # type: ignore[return-value]


@dataclass(frozen=True)
class Expected:
    """What a file held when it was looked at: SHA-256 of its first bytes and how many those are, and of up to FINGERPRINT bytes before the
    place from which it is read (None: not known)."""

    head_hash: str
    head_length: int
    tail_hash: str | None = None


class Changed(Exception):
    """A file no longer holds what was expected of it: it was rotated, truncated or replaced."""


def chunks(path: str, start: int, end: int, size: int, expected: Expected | None = None) -> Iterator[bytes]:
    """The bytes from `start` to `end` (-1: as far as the file goes), `size` at a time; what comes before a fault, then the fault.

    With `expected`, only bytes of the file that was looked at are given: what it held then is compared when it is opened, and a plain file's first
    bytes again after each chunk, for a truncated file may have grown again.  Raises Changed where it is another file by now.
    """
    try:
        opened = open_bytes(path)
    except FileNotFoundError as error:
        raise (Changed(path) if expected else error) from None
    with opened as file:
        is_plain = not isinstance(file, gzip.GzipFile)
        if expected and not is_as_expected(file, expected, start):
            raise Changed(path)
        file.seek(start)
        left = end - start if end >= 0 else None
        while left is None or left > 0:
            chunk, fault = bytearray(), None
            try:
                while len(chunk) < size and (left is None or left > 0):
                    # read1 gives what a cut gzip still holds before it raises.
                    wanted = size - len(chunk) if left is None else min(size - len(chunk), left)
                    piece = file.read1(wanted)  # type: ignore[attr-defined]
                    if not piece:
                        break
                    chunk += piece
                    left = None if left is None else left - len(piece)
            except BROKEN as error:
                fault = error
            if chunk and expected and is_plain and not begins_as_expected(os.pread(file.fileno(), expected.head_length, 0), expected):
                raise Changed(path)
            if chunk:
                yield bytes(chunk)
            if fault:
                raise fault
            if not chunk:
                if expected and left:
                    raise Changed(path)
                return


def is_as_expected(file: BinaryIO, expected: Expected, start: int) -> bool:
    """Whether an open file begins as it did, and holds the same bytes before `start`."""
    if not begins_as_expected(file.read(expected.head_length), expected):
        return False
    return not start or expected.tail_hash is None or hash_before(file, start) == expected.tail_hash


def begins_as_expected(head: bytes, expected: Expected) -> bool:
    return hashlib.sha256(head).hexdigest() == expected.head_hash


def hash_before(file: BinaryIO, end: int) -> str | None:
    """SHA-256 of the up to FINGERPRINT bytes before an offset; None if the file does not reach it."""
    start = max(0, end - FINGERPRINT)
    file.seek(start)
    piece = file.read(end - start)
    return hashlib.sha256(piece).hexdigest() if len(piece) == end - start else None


def tail_hash(path: str, end: int, expected: Expected | None = None) -> str | None:
    """`hash_before` of a file by its path; None also where it cannot be read, or is no longer the one that was `expected`."""
    try:
        with open_bytes(path) as file:
            if expected and not is_as_expected(file, expected, 0):
                return None
            return hash_before(file, end)
    except BROKEN:
        return None


def fault_of(error: BaseException) -> str:
    """A fault as people read it: its class and its reason; of one that our own code made, also where."""
    reason = f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}"
    if isinstance(error, BROKEN):
        return reason
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "ingestion" in Path(frame.filename).parts]
    where = f" at {'/'.join(Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno}" if ours else ""
    return f"{reason[:500]}{where}"
