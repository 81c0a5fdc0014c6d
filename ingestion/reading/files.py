"""Reads files and objects, plain, gzip or zstd, UTF-8 or UTF-16, and keeps what a damaged one still holds.  No Spark here."""

from __future__ import annotations

import gzip
import hashlib
import os
import traceback
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backports.zstd import ZstdError, ZstdFile

from ingestion.reading import objects
from ingestion.reading.objects import is_service, is_uri
from ingestion.reading.utf16 import SHOWS, Utf16, encoding_of

# Bytes that identify a file: so many at its beginning, and as many before the position up to which it was read.
FINGERPRINT = 1024
# What reading a file may raise: it is missing, cut off or damaged.
BROKEN = (OSError, EOFError, zlib.error, ZstdError)
# File objects that decompress another one, and all whose positions are not those of the bytes on disk.
COMPRESSED = (gzip.GzipFile, ZstdFile)
DECODED = (*COMPRESSED, Utf16)
UTF16_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def readable(path: str) -> str:
    """A path as text: bytes of a name that are not UTF-8 as \\xe9."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def real(path: str) -> str:
    """A path with its links resolved; the URI of an object as it is."""
    return objects.plain(path) if is_uri(path) else os.path.realpath(path)


def exists(path: str) -> bool:
    """Whether there is such a file, folder, object, or prefix of objects; False for what came from a service."""
    if is_service(path):
        return False
    return objects.exists(path) if is_uri(path) else os.path.exists(path)


def opened(path: str, buffer: int = objects.BUFFER) -> BinaryIO:
    """The file or object, not decompressed.  `buffer`: bytes requested at once from an object store."""
    return objects.opened(path, buffer) if is_uri(path) else open(path, "rb")


def open_bytes(path: str, buffer: int = objects.BUFFER) -> BinaryIO:
    """The file as UTF-8: decompressed where it begins as gzip or zstd does, whatever its name, and decoded where it is UTF-16."""
    file = opened(path, buffer)
    head = file.read(len(ZSTD))
    file.seek(0)
    if head == ZSTD:
        return _Zstd(file)  # type: ignore[return-value]
    if head.startswith(GZIP):
        head = unpacked_head(file.read(SHOWS))
        file.seek(0)
        file = _Gzip(file)  # type: ignore[assignment]
    if head[:2] in UTF16_MARKS or b"\0" in head:
        encoding = encoding_of(file.read(SHOWS))
        file.seek(0)
        if encoding:
            return Utf16(file, encoding)  # type: ignore[return-value]
    return file


def unpacked_head(packed: bytes) -> bytes:
    """The first bytes of a gzip, as far as they tell an encoding; none if it is damaged there, which its reader is told."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, len(ZSTD))
    except zlib.error:
        return b""


def is_compressed(file: BinaryIO) -> bool:
    """Whether an open file decompresses another one."""
    return isinstance(file.file if isinstance(file, Utf16) else file, COMPRESSED)


class _Gzip(gzip.GzipFile):
    """A gzip stream that also closes the file underneath."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(fileobj=file, mode="rb")
        self.file = file

    def close(self) -> None:
        super().close()
        self.file.close()


class _Zstd(ZstdFile):
    """The same for zstd."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.file = file

    def close(self) -> None:
        super().close()
        self.file.close()


@dataclass(frozen=True)
class Expected:
    """What a file held when it was inspected: SHA-256 and number of its first bytes, and SHA-256 of up to FINGERPRINT bytes before the
    position from which it is read (None: not known)."""

    head_hash: str
    head_length: int
    tail_hash: str | None = None


class Changed(Exception):
    """A file no longer holds what was expected of it: it was rotated, truncated or replaced."""


def chunks(path: str, start: int, end: int, size: int, expected: Expected | None = None) -> Iterator[bytes]:
    """The bytes from `start` to `end` (-1: to the end of the file), `size` at a time; at a fault first the bytes before it, then the exception.

    With `expected`, only bytes of the file that was inspected are given: its content is compared when it is opened, and a plain file's first
    bytes again after each chunk, because a truncated file may have grown again.  Raises Changed if it is another file by now.
    """
    try:
        opened = open_bytes(path)
    except FileNotFoundError as error:
        raise (Changed(path) if expected else error) from None
    with opened as file:
        # An open object keeps its content until it is closed.
        is_plain = not isinstance(file, DECODED) and not is_uri(path)
        if expected and not is_as_expected(file, expected, start):
            raise Changed(path)
        file.seek(start)
        left = end - start if end >= 0 else None
        while left is None or left > 0:
            chunk, fault = bytearray(), None
            try:
                while len(chunk) < size and (left is None or left > 0):
                    # read1 returns what a cut-off gzip still holds before it raises.
                    wanted = size - len(chunk) if left is None else min(size - len(chunk), left)
                    piece = file.read1(wanted)  # type: ignore[attr-defined]
                    if not piece:
                        break
                    chunk += piece
                    left = None if left is None else left - len(piece)
            except BROKEN as error:
                if expected and isinstance(error, OSError) and is_uri(path) and objects.is_replaced(error):
                    raise Changed(path) from None
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
    """An exception for people to read: its class and its reason; if our own code raised it, also where."""
    reason = f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}"
    if isinstance(error, BROKEN):
        return reason
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "ingestion" in Path(frame.filename).parts]
    where = f" at {'/'.join(Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno}" if ours else ""
    return f"{reason[:500]}{where}"
