"""Objects of a store by their URIs, s3://bucket/logs and the like, through fsspec.  No Spark here.

The environment sets credentials and endpoint, as the library of each store reads them (for S3 `AWS_ACCESS_KEY_ID`,
`AWS_ENDPOINT_URL`, a profile, a role of the machine).  An object does not grow: it is replaced, and readers of the old one get an error.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

URI = re.compile(r"[a-z][a-z0-9+.-]+://")
LOCAL = "file://"
# Bytes requested at once: to read an object, and to look at its ends only.
BUFFER, ENDS_BUFFER = 4 << 20, 64 << 10
# The package that reads each kind of store.
PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs"}


class CannotReach(OSError):
    """A store that cannot be read; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a listing says of an object: size in bytes, seconds since 1970 when it was written, and a mark that differs if the content does."""

    size: int
    modified: float
    mark: str = ""


def is_uri(path: str) -> bool:
    """Whether a path is the URI of an object or of objects below a prefix."""
    return URI.match(path) is not None


def is_service(path: str) -> bool:
    """Whether a path is the URI of a service, which is queried because it has no files (`sources/services.py`)."""
    return path.startswith(("kafka://", "prometheus+http://", "prometheus+https://"))


def plain(path: str) -> str:
    """A path in its plain form: file:///logs as a local folder, a URI without slashes at its end."""
    if path.startswith(LOCAL):
        return path.removeprefix(LOCAL)
    return path.rstrip("/") if is_uri(path) else path


def status(uri: str) -> Status | None:
    """The status of an object; None if the URI is a prefix of objects.  Raises OSError."""
    with _faults_of(uri):
        files, path = file_system(uri)
        info = files.info(path)
    return None if info["type"] == "directory" else _status(info)


def exists(uri: str) -> bool:
    """Whether there is an object at or below a URI.  Raises OSError if the store cannot be asked."""
    with _faults_of(uri):
        files, path = file_system(uri)
        return bool(files.exists(path))


def folders(uri: str) -> list[str]:
    """The names that end with a slash directly below a URI, in order; none where nothing is there.  Raises OSError."""
    with _faults_of(uri):
        files, path = file_system(uri)
        try:
            found = files.ls(path, detail=True)
        except FileNotFoundError:
            return []
    # S3A puts an empty object in a folder's place.
    names = {str(info["name"]).rstrip("/").removeprefix(path).strip("/") for info in found if info["type"] == "directory"}
    return sorted(names - {""})


def below(uri: str) -> Iterator[tuple[str, Status]]:
    """Every object at or below a URI, in the order of the store; held at once is one page of S3's listing, or one folder of another store.
    Raises OSError."""
    if (one := status(uri)) is not None:
        yield uri, one
        return
    files, root = file_system(uri)
    with _faults_of(uri):
        for info in _in_pages(files, root) if hasattr(files, "call_s3") else _by_folder(files, root):
            name = str(info["name"])
            if not name.endswith("/"):
                yield uri.rstrip("/") + name.removeprefix(root), _status(info)


def _in_pages(files: Any, root: str) -> Iterator[dict[str, Any]]:
    """S3's objects below a path, listed a thousand at a time."""
    bucket, _, key = root.partition("/")
    prefix = f"{key}/" if key else ""
    goes_on: dict[str, str] = {}
    while True:
        page = files.call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, **goes_on)
        yield from ({**found, "name": f"{bucket}/{found['Key']}", "size": found["Size"]} for found in page.get("Contents", ()))
        if not page.get("IsTruncated"):
            return
        goes_on = {"ContinuationToken": page["NextContinuationToken"]}


def _by_folder(files: Any, root: str) -> Iterator[dict[str, Any]]:
    """Another store's objects below a path, listed a folder at a time."""
    for folder, folders, found in files.walk(root, detail=True):
        if "" in found or "" in folders:
            # An object with the name of a folder, or two slashes in a row: `walk` takes them for the folder itself.
            found = files.find(folder, detail=True)
            folders.clear()
        yield from (info for info in found.values() if info["type"] == "file")


def opened(uri: str, buffer: int = BUFFER) -> BinaryIO:
    """An object as a file.  `buffer`: bytes requested at once, even if fewer are read.  Raises OSError, also while it is read: EBUSY if
    the object was replaced."""
    with _faults_of(uri):
        files, path = file_system(uri)
        return io.BufferedReader(_Raw(uri, files.open(path, "rb", cache_type="none")), buffer)


class _Raw(io.RawIOBase):
    """A file of fsspec whose exceptions are OSErrors."""

    def __init__(self, uri: str, file: Any) -> None:
        self.uri, self.file = uri, file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self.file.seek(offset, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def readinto(self, into: Any) -> int:
        with _faults_of(self.uri):
            piece = self.file.read(len(into))
        into[: len(piece)] = piece
        return len(piece)


def content(path: Path) -> bytes:
    """The whole content of a file or object, in one request: if it is replaced meanwhile, the old content or the new.  Raises OSError."""
    files = getattr(path, "fs", None)
    return path.read_bytes() if files is None else bytes(files.cat_file(path.path))  # type: ignore[attr-defined]


def is_replaced(error: OSError) -> bool:
    """Whether reading an object failed because it was replaced."""
    return error.errno == errno.EBUSY


def file_system(uri: str) -> tuple[AbstractFileSystem, str]:
    """The file system of a URI, and the path in it.  Raises CannotReach."""
    scheme = uri.split("://", 1)[0]
    try:
        from fsspec.core import url_to_fs

        # Objects that another process has just written must be visible.
        return cast("tuple[AbstractFileSystem, str]", url_to_fs(uri, use_listings_cache=False))
    except ImportError:
        raise CannotReach(f"{uri}: to read it, install {PACKAGES.get(scheme, 'fsspec')} (pip install {PACKAGES.get(scheme)})") from None
    except ValueError as error:
        raise CannotReach(f"{uri}: {error}; use s3://, gs:// or abfss://") from None


def _status(info: dict[str, Any]) -> Status:
    # As s3fs, adlfs and gcsfs have it.
    modified = info.get("LastModified") or info.get("last_modified") or info.get("updated")
    if isinstance(modified, str):
        modified = dt.datetime.fromisoformat(modified)
    seconds = modified.timestamp() if isinstance(modified, dt.datetime) else 0.0
    return Status(int(info["size"] or 0), seconds, str(info.get("ETag") or info.get("etag") or info.get("generation") or ""))


@contextlib.contextmanager
def _faults_of(uri: str) -> Iterator[None]:
    """Turns every fault of a store into an OSError, as files raise it."""
    try:
        yield
    except (OSError, GeneratorExit):
        raise
    except Exception as error:
        raise CannotReach(f"{uri}: {type(error).__name__}: {' '.join(str(error).split())}") from error
