"""Bundles: archives that people hand over, read member by member without unpacking anything to disk.

No Spark here.  tar (plain, gzip, bzip2, xz) and zip, also nested.  A member is a path inside (of a nested archive: its own path, then the
path in it), a size, a time and a stream that is valid until the next one is asked for.  A member that may not or cannot be read is refused
by name with a reason; the others are read.

`place_of` says which cluster, node and host a path of a known bundle belongs to (`catalogue/bundles.yml`).
"""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

from backports.zstd import ZstdError, ZstdFile

from ingestion.reading import files, linear
from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.records.clues import node_number

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_MEMBERS = 200_000
MAX_BYTES = 1 << 40  # Of all members together, decompressed.
# deflate compresses at most 1032 to 1; broker logs compress 10 to 60 times.
MAX_RATIO = 200
FREE_BYTES = 64 << 20  # Up to this size the ratio is not checked: a small file of blanks is not a bomb.
MAX_DEPTH = 3  # Archives in archives in archives.
# A zip in another archive has its directory at its end, so it must be held in memory whole.
MAX_NESTED_ZIP = 256 << 20
HEAD = 1 << 16
LONG_HEAD = 1 << 20  # bzip2 and zstd output nothing until their first block, of up to 900 kB, is complete.
BZIP2, ZSTD = b"BZh", files.ZSTD
BLOCK = 512
# zip files that are not bundles.
PACKAGES = (".jar", ".war", ".ear", ".docx", ".xlsx", ".pptx", ".odt", ".whl", ".apk", ".npz", ".nar")
BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    zlib.error,
    ZstdError,
    lzma.LZMAError,
    OSError,
    NotImplementedError,
    struct.error,
    RuntimeError,
)


@dataclass(frozen=True)
class Refused:
    """A member, or the rest of an archive, that is not read.  `path`: inside; empty for the archive itself."""

    path: str
    reason: str


@dataclass(frozen=True)
class Member:
    """One file of an archive.  `modified_is_local`: a zip's time without zone, read as UTC."""

    path: str
    size: int | None
    modified_at: dt.datetime | None
    modified_is_local: bool = False
    _stream: BinaryIO = field(default_factory=io.BytesIO, repr=False, compare=False)

    def open(self) -> BinaryIO:
        """Its bytes; valid until the next member is asked for.  A member that is cut off ends early, and a `Refused` follows it."""
        return self._stream


@dataclass
class Budget:
    """What may still be read, over all nested archives together."""

    members: int = MAX_MEMBERS
    left: int = MAX_BYTES


class Watched(io.RawIOBase):
    """A stream that ends where its source breaks or its allowance is used up, and remembers why."""

    def __init__(self, source: IO[bytes], allowance: int, start: bytes = b"") -> None:
        super().__init__()
        self.source, self.allowance, self.start = source, allowance, start
        self.count, self.fault, self.tail = 0, None, b""

    fault: str | None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        piece = self.next_piece(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def next_piece(self, size: int) -> bytes:
        if self.start:
            piece, self.start = self.start[:size], self.start[size:]
        elif self.fault is not None:
            return b""
        else:
            try:
                # read1: a read that fails midway would lose what it had before.
                piece = getattr(self.source, "read1", self.source.read)(min(size, HEAD))
            except BROKEN as error:
                self.fault = f"cut off or damaged after {self.count} bytes: {said(error)}"
                return b""
        self.count += len(piece)
        if self.count > self.allowance:
            self.fault = f"more than {self.allowance} bytes: taken for an archive bomb"
            return b""
        self.tail = (self.tail + piece)[-BLOCK:]
        return piece


def said(error: BaseException) -> str:
    return str(error) or type(error).__name__


def members(path: str | Path) -> Iterator[Member | Refused]:
    """Every file of an archive and every refused member, in the archive's order."""
    try:
        with files.opened(str(path)) as file:
            kind = kind_of(head_of(file))
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if kind is None:
                yield Refused("", "no archive: neither tar nor zip")
            else:
                yield from walk(kind, file, size, "", 1, Budget())
    except OSError as error:
        yield Refused("", f"cannot be read: {error.strerror or error}")


def is_bundle(path: str | Path) -> bool:
    """Whether a file is an archive, by its first bytes.  A gzip of one log is not."""
    try:
        with files.opened(str(path)) as file:
            return kind_of(head_of(file)) is not None and not str(path).lower().endswith(PACKAGES)
    except OSError:
        return False


def head_of(file: BinaryIO) -> bytes:
    """Enough of the first bytes to tell what a file is."""
    head = file.read(HEAD)
    return head + file.read(LONG_HEAD - HEAD) if head.startswith((BZIP2, ZSTD)) else head


def kind_of(head: bytes) -> str | None:
    """`zip`, `tar`, `gz`, `bz2`, `xz` or `zst` (a tar within) by the first bytes; None if they begin no archive."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    for kind, magic in (("gz", files.GZIP), ("bz2", BZIP2), ("xz", b"\xfd7zXZ\0"), ("zst", ZSTD)):
        if head.startswith(magic):
            try:
                return kind if is_tar(opened(kind, io.BytesIO(head)).read1(BLOCK * 2)) else None  # type: ignore[attr-defined]
            except BROKEN:
                return None
    return "tar" if is_tar(head) else None


def is_tar(head: bytes) -> bool:
    """Whether a block is a tar header: its checksum is right."""
    if len(head) < BLOCK or not any(head[:BLOCK]):
        return False
    try:
        said_sum = int(head[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return said_sum == sum(head[:148]) + 8 * 32 + sum(head[156:BLOCK])


def opened(kind: str, file: BinaryIO) -> BinaryIO:
    """The stream, decompressed."""
    if kind == "gz":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if kind == "bz2":
        return bz2.BZ2File(file)  # type: ignore[return-value]
    if kind == "zst":
        return ZstdFile(file)  # type: ignore[return-value]
    return lzma.LZMAFile(file) if kind == "xz" else file  # type: ignore[return-value]


def walk(kind: str, file: BinaryIO, size: int, prefix: str, depth: int, budget: Budget) -> Iterator[Member | Refused]:
    """The members of one archive.  `size`: of the archive itself, compressed; `prefix`: its own path, with a slash."""
    if depth > MAX_DEPTH:
        yield Refused(prefix.rstrip("/"), f"an archive in {depth - 1} archives: not opened")
        return
    allowance = min(budget.left, max(FREE_BYTES, size * MAX_RATIO))
    if kind == "zip":
        yield from walk_zip(file, allowance, prefix, depth, budget)
    else:
        yield from walk_tar(opened(kind, file), allowance, prefix, depth, budget)


def walk_tar(file: BinaryIO, allowance: int, prefix: str, depth: int, budget: Budget) -> Iterator[Member | Refused]:
    name = prefix.rstrip("/")
    stream = Watched(file, allowance)
    declared = 0
    try:
        # Streamed: nothing is kept, and a member can be read only until the next one is asked for.
        with tarfile.open(fileobj=io.BufferedReader(stream, HEAD), mode="r|", errorlevel=1) as tar:
            for info in tar:
                tar.members = []  # type: ignore[attr-defined]  # tarfile would keep every header.
                path = prefix + info.name.removeprefix("./")
                declared += info.size
                budget.members -= 1
                reason = reason_of_tar(info) or bad_path(info.name)
                if info.isdir() and not reason:
                    continue
                if declared > allowance or budget.members < 0:
                    yield bomb(path, declared, allowance, budget)
                    return
                if reason:
                    yield Refused(path, reason)
                    continue
                source = tar.extractfile(info)
                if source is not None:
                    modified = at_seconds(info.mtime)
                    yield from entry(source, path, info.size, modified, False, depth, budget)
    except BROKEN as error:
        yield Refused(name, stream.fault or f"cut off or damaged: {said(error)}")
        return
    has_end = not any(stream.tail)
    # Read to the end, where gzip and xz keep the checksum of the whole.
    while stream.next_piece(HEAD):
        pass
    if stream.fault or not has_end:
        yield Refused(name, stream.fault or "cut off: the end mark is missing")


def bomb(path: str, declared: int, allowance: int, budget: Budget) -> Refused:
    """The refusal of the member at which an archive exceeds what it may hold."""
    many = budget.members < 0
    what = f"it holds more than {MAX_MEMBERS} members" if many else f"its members claim {declared} bytes, over {allowance}"
    return Refused(path, f"taken for an archive bomb: {what}; the rest of this archive is not read")


def reason_of_tar(info: tarfile.TarInfo) -> str | None:
    """Why a member of a tar may not be read, by its type."""
    if info.issym() or info.islnk():
        return f"a link, to {info.linkname}"
    if info.isfifo():
        return "a fifo"
    if info.isdev():
        return "a device"
    if info.issparse():
        return "a sparse file"
    return None if info.isfile() or info.isdir() else "no file"


def bad_path(path: str) -> str | None:
    """Why a path is refused: it would lie outside, or is no file's."""
    text = path.replace("\\", "/")
    if text.startswith("/") or re.match(r"[A-Za-z]:", text):
        return "an absolute path"
    if ".." in text.split("/"):
        return "a path with .."
    return "a path with a NUL byte" if "\0" in text else "no path" if not text.strip("./") else None


def walk_zip(file: BinaryIO, allowance: int, prefix: str, depth: int, budget: Budget) -> Iterator[Member | Refused]:
    try:
        archive = zipfile.ZipFile(file)
    except BROKEN:
        yield from walk_torn_zip(file, prefix, depth, budget)
        return
    declared = 0
    with archive:
        for info in archive.infolist():
            # Some packers of Windows write backslashes.
            path = prefix + info.filename.replace("\\", "/")
            mode = info.external_attr >> 16
            reason = bad_path(info.filename)
            if info.flag_bits & 1:
                reason = reason or "encrypted"
            if stat.S_ISLNK(mode):
                reason = reason or "a link"
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                reason = reason or "a device or a fifo"
            if info.is_dir() and not reason:
                continue
            if info.file_size > max(FREE_BYTES, info.compress_size * MAX_RATIO):
                reason = reason or f"taken for an archive bomb: {info.file_size} bytes of {info.compress_size}"
            declared += 0 if reason else info.file_size
            budget.members -= 1
            if declared > allowance or budget.members < 0:
                yield bomb(path, declared, allowance, budget)
                return
            if reason:
                yield Refused(path, reason)
                continue
            try:
                source = archive.open(info)
            except BROKEN as error:
                yield Refused(path, f"cannot be read: {said(error)}")
                continue
            with source:
                modified, is_local = zip_time(info)
                yield from entry(source, path, info.file_size, modified, is_local, depth, budget)


def walk_torn_zip(file: BinaryIO, prefix: str, depth: int, budget: Budget) -> Iterator[Member | Refused]:
    """A zip whose directory, at its end, is missing: its members one after the other, by the header before each."""
    name = prefix.rstrip("/")
    file.seek(0)
    while True:
        header = file.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            break
        flags, method, time, date, _, packed, size, name_length, extra_length = struct.unpack("<HHHHIIIHH", header[6:30])
        raw = file.read(name_length)
        file.read(extra_length)
        inner = raw.decode("utf-8" if flags & 0x800 else "cp437", "replace")
        start = file.tell()
        reason = (
            bad_path(inner)
            or ("encrypted" if flags & 1 else None)
            or ("packed in a way that cannot be read without the directory" if method != 8 and (method or flags & 8) else None)
        )
        budget.members -= 1
        if reason or inner.endswith("/") or budget.members < 0:
            if reason:
                yield Refused(prefix + inner, reason)
            if flags & 8 or budget.members < 0:
                break
            file.seek(start + packed)
            continue
        source = Inflated(file, None if flags & 8 else packed, method == 8)
        modified = at_parts(((date >> 9) + 1980, date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2))
        yield from entry(source, prefix + inner, None if flags & 8 else size, modified, True, depth, budget)  # type: ignore[arg-type]
        while not source.is_over and source.read(HEAD):
            pass
        if source.is_cut:
            break
        file.seek(source.end)
        if flags & 8:
            mark = file.read(4)
            file.read(12 if mark == b"PK\x07\x08" else 8)
    yield Refused(name, "cut off: the directory at its end is missing")


class Inflated(io.RawIOBase):
    """The member of a torn zip that begins at the file's position.  `packed`: its bytes in the file; None: until deflate ends."""

    def __init__(self, file: BinaryIO, packed: int | None, is_deflated: bool) -> None:
        super().__init__()
        self.file, self.left, self.end = file, packed, file.tell()
        self.inflate = zlib.decompressobj(-15) if is_deflated else None
        self.rest, self.is_over, self.is_cut = b"", False, False

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        size = HEAD if size is None or size < 0 else size
        while not self.is_over:
            piece = self.rest
            if not piece:
                self.file.seek(self.end)
                piece = self.file.read(HEAD if self.left is None else min(HEAD, self.left))
                self.end += len(piece)
                self.left = None if self.left is None else self.left - len(piece)
            if not piece:
                self.is_over, self.is_cut = True, self.inflate is not None or bool(self.left)
                if self.is_cut:
                    raise EOFError("the file ends here")
                break
            if self.inflate is None:
                self.rest = b""
                self.is_over = self.left == 0
                return piece
            out = self.inflate.decompress(piece, size)
            self.rest = self.inflate.unconsumed_tail
            if self.inflate.eof:
                self.is_over = True
                self.end -= len(self.inflate.unused_data)
            if out or self.is_over:
                return out
        return b""


def entry(
    source: IO[bytes], path: str, size: int | None, modified: dt.datetime | None, is_local: bool, depth: int, budget: Budget
) -> Iterator[Member | Refused]:
    """A member, or the members of the archive that it is."""
    allowance = min(budget.left, size if size is not None else budget.left)
    first = Watched(source, allowance)
    head = bytearray()
    while len(head) < (LONG_HEAD if head.startswith((BZIP2, ZSTD)) else HEAD) and (piece := first.next_piece(HEAD)):
        head += piece
    kind = None if path.lower().endswith(PACKAGES) else kind_of(bytes(head))
    stream = Watched(source, allowance, bytes(head))
    stream.fault = first.fault
    before = budget.left
    if kind is None:
        yield Member(path, size, modified, is_local, io.BufferedReader(stream, HEAD))
    elif kind == "zip":
        data = io.BytesIO()
        while data.tell() <= MAX_NESTED_ZIP and (piece := stream.next_piece(HEAD)):
            data.write(piece)
        if data.tell() > MAX_NESTED_ZIP:
            yield Refused(path, f"a zip of more than {MAX_NESTED_ZIP} bytes in another archive; unpack it and give its folder")
        else:
            data.seek(0)
            yield from walk("zip", data, data.getbuffer().nbytes, f"{path}/", depth + 1, budget)
    else:
        yield from walk(kind, io.BufferedReader(stream, HEAD), size or FREE_BYTES // MAX_RATIO, f"{path}/", depth + 1, budget)
    budget.left = min(budget.left, before - stream.count)
    if stream.fault:
        yield Refused(path, stream.fault)


def zip_time(info: zipfile.ZipInfo) -> tuple[dt.datetime | None, bool]:
    """(time, whether its zone is unknown): UTC if Info-ZIP's extended timestamp is there, else the time of the packer's clock."""
    extra = info.extra
    while len(extra) >= 4:
        tag, length = struct.unpack("<HH", extra[:4])
        if tag == 0x5455 and length >= 5 and extra[4] & 1:
            return at_seconds(struct.unpack("<i", extra[5:9])[0]), False
        extra = extra[4 + length :]
    return at_parts(info.date_time), True


def at_parts(parts: tuple[int, int, int, int, int, int]) -> dt.datetime | None:
    try:
        return dt.datetime(*parts, tzinfo=dt.UTC)
    except ValueError:
        return None


def at_seconds(seconds: float) -> dt.datetime | None:
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True)
class Place:
    """Where a file of a known bundle belongs.  `host`: a machine whose node id only the content can tell; `is_of_file`: whether the
    file's own name says the node, not a folder's."""

    bundle: str
    cluster: str | None = None
    node: int | None = None
    host: str | None = None
    is_of_file: bool = False


@dataclass(frozen=True)
class Bundle:
    """A kind of bundle: paths that identify it, paths that name its cluster, and what the other paths mean."""

    name: str
    markers: tuple[linear.ForLines, ...]
    clusters: tuple[linear.ForLines, ...]
    layouts: tuple[linear.ForLines, ...]


def compile_layout(text: str) -> linear.ForLines:
    """A pattern in the language of `--layout`: `{cluster}`, `{node}` (digits), `{numbered}` (a folder with one number, the node's), `{host}`,
    `{kind}` and `{time}` (any text), `*`, `**`."""
    parts = {
        "{cluster}": r"(?P<cluster>[^/]+)",
        "{node}": r"(?P<node>\d+)",
        "{numbered}": r"[^/]*?(?P<node>\d+)[^/\d]*",
        "{host}": r"(?P<host>[^/]+?)",
        "{kind}": r"[^/]+?",
        "{time}": r"[^/]+?",
        "**/": r"(?:.*/)?",
        "**": ".*",
        "*": "[^/]*",
    }
    return linear.for_lines(
        "".join(parts.get(part) or re.escape(part) for part in re.split(r"(\{\w+\}|\*\*/|\*\*|\*)", text)) + r"\Z", re.S
    )


@lru_cache(maxsize=1)
def known_bundles() -> tuple[Bundle, ...]:
    """The bundles of the catalogue, in its order: the first whose marker is there counts."""
    content = read_yaml(CATALOGUE / "bundles.yml")
    return tuple(
        Bundle(name, *(tuple(compile_layout(text) for text in entry.get(key, ())) for key in ("markers", "clusters", "layouts")))
        for name, entry in content.items()
    )


def bundle_of(paths: Iterable[str]) -> tuple[Bundle, str | None] | None:
    """(kind of bundle, cluster) by all paths of an archive or folder; the cluster if all paths that name one agree.  `paths` may be iterated
    twice."""
    found = {bundle for path in paths for bundle in known_bundles() if any(marker.match(path) for marker in bundle.markers)}
    for bundle in known_bundles():
        if bundle in found:
            clusters = {match["cluster"] for path in paths for pattern in bundle.clusters if (match := pattern.match(path))}
            return bundle, clusters.pop() if len(clusters) == 1 else None
    return None


def place_of(found: tuple[Bundle, str | None] | None, path: str) -> Place | None:
    """Cluster, node and host of one path of a bundle; None if the bundle is not known."""
    if found is None:
        return None
    bundle, cluster = found
    for layout in bundle.layouts:
        match = layout.match(path)
        if match:
            parts = match.groupdict()
            return Place(bundle.name, cluster or parts.get("cluster"), node_number(parts.get("node")), parts.get("host"))
    return Place(bundle.name, cluster)
