"""Bytes to records: where each record begins, what shape it has, and slices of it, without a loop over lines.

No Spark here.  A record is a line that the layout's frame fits, with every line up to the next such line.
"""

from __future__ import annotations

import codecs

import numpy as np
import pyarrow as pa

from ingestion.records.envelope import DIGITS, Envelope
from ingestion.records.redact import HIDDEN

# Longer records are cut into pieces of this size, so that a binary or torn file cannot fill the memory.
LONGEST_RECORD = 1 << 20


def valid_text(data: bytes) -> bytes:
    """The bytes as valid UTF-8 of the same length: invalid bytes, NUL and HIDDEN become '?'."""
    for byte in (b"\0", HIDDEN):
        if byte in data:
            data = data.replace(byte, b"?")
    return data if data.isascii() else data.decode("utf-8", errors="question_marks").encode()


def whole(text: str) -> str:
    """A text that UTF-8 can hold: JSON may escape half of a surrogate pair, and file names need not be UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _question_marks(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "?" * (error.end - error.start), error.end


codecs.register_error("question_marks", _question_marks)


def record_starts(masked: np.ndarray, template: bytes) -> np.ndarray:
    """Offsets of the line starts at which the masked bytes follow the template.

    `masked`: uint8, digits as '0'.  Returns int64, ascending.
    """
    size = len(template)
    starts = np.concatenate(([0], np.flatnonzero(masked == 10) + 1))
    starts = starts[starts + size <= len(masked)]
    for n, byte in enumerate(template):
        starts = starts[masked[starts + n] == byte]
        if not len(starts):
            break
    return starts.astype(np.int64)


def gather(data: pa.Buffer, starts: np.ndarray, ends: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
    """The slices data[starts:ends] as a string array, copied by Arrow and not by a loop; null where `missing`.

    `data` must be valid UTF-8 with at least 16 bytes after the last slice; slices are shorter than 2 GiB.
    """
    count = len(starts)
    raw = np.frombuffer(data, np.uint8)
    lengths = (ends - starts).astype(np.int32)
    views = np.zeros((count, 16), np.uint8)
    views[:, 0:4] = lengths.view(np.uint8).reshape(count, 4)
    short = lengths <= 12
    inline = np.flatnonzero(short)
    if len(inline):
        places = np.arange(12)
        piece = raw[starts[inline, None] + places]
        piece[places >= lengths[inline, None]] = 0
        views[inline, 4:16] = piece
    long = np.flatnonzero(~short)
    if len(long):
        views[long, 4:8] = raw[starts[long, None] + np.arange(4)]
        views[long, 12:16] = starts[long].astype(np.int32).view(np.uint8).reshape(-1, 4)
    validity = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(pa.string_view(), count, [validity, pa.py_buffer(views), data]).cast(pa.string())


def local_millis(masked_digits: np.ndarray, at: np.ndarray, has_millis: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times 'yyyy-MM-dd HH:mm:ss[,SSS]' that begin at the given offsets, as milliseconds on the local clock.

    `masked_digits`: the raw bytes (uint8).  Returns (int64 milliseconds since 1970-01-01 of the wall clock, bool valid).
    """
    digit = masked_digits[at[:, None] + np.arange(23 if has_millis else 19)].astype(np.int64) - 48

    def number(*places: int) -> np.ndarray:
        value = np.zeros(len(at), np.int64)
        for place in places:
            value = value * 10 + digit[:, place]
        return value

    year, month, day = number(0, 1, 2, 3), number(5, 6), number(8, 9)
    hour, minute, second = number(11, 12), number(14, 15), number(17, 18)
    millis = number(20, 21, 22) if has_millis else np.zeros(len(at), np.int64)
    valid = (year >= 1970) & (month >= 1) & (month <= 12) & (day >= 1) & (hour < 24) & (minute < 60) & (second < 61)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    valid &= day <= length
    clock = ((hour * 60 + minute) * 60 + second) * 1000 + millis
    return np.where(valid, (first + day - 1) * 86_400_000 + clock, 0), valid


def shapes(masked: pa.Buffer, bounds: np.ndarray) -> tuple[np.ndarray, pa.Array]:
    """Dictionary-encode records with their digits masked: (shape number of each record, the distinct shapes).

    `bounds`: int32 offsets, one more than there are records.
    """
    array = pa.Array.from_buffers(pa.binary(), len(bounds) - 1, [None, pa.py_buffer(bounds.astype(np.int32)), masked])
    encoded = array.dictionary_encode()
    return np.asarray(encoded.indices), encoded.dictionary


def mask(data: bytes) -> bytes:
    """Every digit as '0'."""
    return data.translate(DIGITS)


def split(data: bytes, masked: np.ndarray, envelope: Envelope, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the records in a buffer (int64, one more than records), and for each record whether it has a head.

    `begins`: where each piece of the buffer begins, always also a record.  Text before the first head of a piece is a record
    without a head, and so are the further pieces of a record that is longer than LONGEST_RECORD.
    """
    heads = record_starts(masked, envelope.template)
    at = np.searchsorted(heads, begins)
    torn = begins if not len(heads) else begins[heads[np.minimum(at, len(heads) - 1)] != begins]
    at = np.searchsorted(heads, torn)
    bounds = np.append(np.insert(heads, at, torn), len(data))
    is_head = np.insert(np.ones(len(heads), bool), at, False)
    longest = np.flatnonzero(np.diff(bounds) > LONGEST_RECORD)
    if len(longest):
        cuts = np.concatenate([np.arange(bounds[n] + LONGEST_RECORD, bounds[n + 1], LONGEST_RECORD) for n in longest])
        at = np.searchsorted(bounds, cuts)
        bounds, is_head = np.insert(bounds, at, cuts), np.insert(is_head, at, False)
    return bounds.astype(np.int64), is_head
