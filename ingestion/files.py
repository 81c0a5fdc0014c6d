"""Bytes of files, plain or gzip, read so that what a damaged one still holds is not lost.  No Spark here."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO

# So many first bytes tell a file from others, and so many last ones where it has been read to.
FINGERPRINT = 1024
# What reading a file may raise: it is not there, cut, or damaged.
BROKEN = (OSError, EOFError, zlib.error)


def open_bytes(path: str) -> BinaryIO:
    """The file, decompressed where it begins as gzip does, whatever its name."""
    with open(path, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if is_gzip else open(path, "rb")  # type: ignore[return-value]


def chunks(path: str, start: int, end: int, size: int) -> Iterator[bytes]:
    """The bytes from `start` to `end` (-1: as far as the file goes), `size` at a time; what comes before a fault, then the fault."""
    with open_bytes(path) as file:
        file.seek(start)
        left = end - start if end >= 0 else None
        while left is None or left > 0:
            chunk = bytearray()
            try:
                while len(chunk) < size and (left is None or left > 0):
                    # read1 gives what a cut gzip still holds before it raises.
                    wanted = size - len(chunk) if left is None else min(size - len(chunk), left)
                    piece = file.read1(wanted)  # type: ignore[attr-defined]
                    if not piece:
                        break
                    chunk += piece
                    left = None if left is None else left - len(piece)
            finally:
                if chunk:
                    yield bytes(chunk)
            if not chunk:
                return


def fault_of(error: BaseException) -> str:
    """A fault as it is told: its class and its reason."""
    return f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}"
