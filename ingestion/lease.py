"""Lets one process at a time write to a warehouse.

In a folder, it locks a file, in which it says who it is.  In an object store, hosts share nothing but the store: a lease is a numbered object in the folder `writing`; the highest number holds.  A host takes the lease by putting the next number, which the store
allows one host only (the put fails if the object exists).  The holder puts its object again every few seconds, and once more, marked as free, when it
is done.  A waiting host watches the object: if it has not changed for a while, its host is gone.  Clocks of different hosts are never compared.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ingestion.reading import objects

FOLDER = "writing"
RENEWED_SECONDS, GONE_SECONDS, MOST_WAIT_SECONDS = 5.0, 30.0, 600.0
LOOK_SECONDS = 1.0
# Without a handler of the application's, Python writes warnings to standard error.
LOG = logging.getLogger(__name__)


class Busy(RuntimeError):
    """Another process writes to the warehouse."""


def put_new(path: Path, content: bytes) -> bool:
    """Make an object; False where there is one."""
    try:
        path.fs.pipe_file(path.path, content, mode="create")  # type: ignore[attr-defined]
    except FileExistsError:
        return False
    return True


def this_process() -> str:
    """This process as others are told of it."""
    return f"`{' '.join([Path(sys.argv[0]).stem.replace('__main__', 'chronicle'), *sys.argv[1:2]])}` (process {os.getpid()})"


def taken(held: IO[str]) -> str | None:
    """Lock an open file; if another process has locked it, what that says of itself."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.seek(0)
        return held.read() or "another chronicle"
    return None


@contextmanager
def locked(file: Path, warehouse: str, doing: str) -> Iterator[None]:
    """Hold the lock of a file, which ends with the process, however that ends.  Raises Busy at once if another does, with its name and what it is
    doing."""
    with open(file, "a+") as held:
        if other := taken(held):
            raise Busy(f"{warehouse}: {other} is {doing} this warehouse; try again when it is done")
        held.truncate(0)
        held.write(this_process())
        held.flush()
        yield


class Lease:
    """A lease that this process holds.  `lost`: another host has taken it, because this one did not renew it in time."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number, self.lost = folder, number, False
        self.owner = f"{this_process()} on {socket.gethostname()}"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    @property
    def path(self) -> Path:
        return place_of(self.folder, self.number)

    def content(self, *, is_free: bool = False) -> bytes:
        # The content differs each time, so that waiting hosts see the renewal.
        return json.dumps({"owner": self.owner, "is_free": is_free, "mark": uuid.uuid4().hex}).encode()

    def _renew(self) -> None:
        is_failing = False
        while not self._ended.wait(RENEWED_SECONDS):
            try:
                self.lost = self.lost or highest(self.folder) != self.number
                if not self.lost:
                    self.path.write_bytes(self.content())
                is_failing = False
            except Exception as error:
                # The store does not answer, which its libraries say with errors of their own that are no OSError; there is time for another try
                # before the lease counts as gone.
                if not is_failing:
                    LOG.warning(
                        "%s: cannot be renewed, trying again (%s: %s)", self.folder, type(error).__name__, " ".join(str(error).split())
                    )
                is_failing = True

    def must_hold(self) -> None:
        """Raises Busy if another host has taken the lease."""
        if self.lost or highest(self.folder) != self.number:
            raise Busy(f"{self.folder}: another host has taken over writing; what was committed is kept, the next run continues from there")

    def start(self) -> Lease:
        self._thread.start()
        return self

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        if highest(self.folder) == self.number:
            self.path.write_bytes(self.content(is_free=True))


def place_of(folder: Path, number: int) -> Path:
    return folder / f"{number:012}.json"


def numbers(folder: Path) -> list[int]:
    """The numbers of all existing leases, ascending."""
    return sorted(int(path.stem) for path in folder.glob("*.json") if path.stem.isdigit()) if folder.exists() else []


def highest(folder: Path) -> int:
    """The number of the last lease; 0 before the first."""
    return max(numbers(folder), default=0)


@contextmanager
def leased(folder: Path, most_wait: float = MOST_WAIT_SECONDS) -> Iterator[Lease]:
    """Hold the lease of a folder.  Raises Busy if others hold it for longer than `most_wait` seconds."""
    began, watched, since = time.monotonic(), b"", time.monotonic()
    while True:
        number = highest(folder)
        try:
            content = objects.content(place_of(folder, number)) if number else b'{"is_free": true}'
        except FileNotFoundError:
            # Another host has taken the next number meanwhile.
            continue
        now = time.monotonic()
        if content != watched:
            watched, since = content, now
        said = json.loads(content)
        if (said["is_free"] or now - since > GONE_SECONDS) and put_new(place_of(folder, number + 1), Lease(folder, number + 1).content()):
            break
        if not said["is_free"] and now - began > most_wait:
            raise Busy(f"{folder}: {said.get('owner')} is writing to this warehouse; try again when it is done")
        time.sleep(LOOK_SECONDS)
    for old in numbers(folder):
        if old < number:
            place_of(folder, old).unlink(missing_ok=True)
    held = Lease(folder, number + 1).start()
    try:
        yield held
    finally:
        held.end()
