"""Requests of other commands to a process that stays, over a socket in the warehouse's folder that only its owner can open.

A command sends one line of JSON: {"ask": name, …}.  It gets lines of JSON: {"say": text} for standard error, {"out": text} for standard output,
and last {"done": …} or {"failed": text}; after {"rows": bytes} comes a table as Arrow writes it.  A socket that nobody listens to, as a killed
process leaves it, is ignored.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chronicle.output.console import tell

if TYPE_CHECKING:
    import pyarrow as pa

    from ingestion.warehouse import Warehouse

SOCKET = "socket"
# A request is short; anything longer is not one of ours.
MOST_BYTES = 1 << 20
GREETING_SECONDS = 2.0


class Unanswered(RuntimeError):
    """The process that stays could not do what it was asked; the text says why."""


@dataclass
class Request:
    """A request, with `values` by name.  `say`, `out`: send to the other side, which may have gone."""

    asked: str
    values: dict[str, Any]
    connection: socket.socket
    lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, text: str) -> None:
        self.send({"say": text})

    def out(self, text: str) -> None:
        self.send({"out": text})

    def send(self, message: dict[str, Any], content: bytes = b"") -> None:
        with self.lock, contextlib.suppress(OSError):
            self.connection.sendall(json.dumps(message).encode() + b"\n" + content)

    def answer(self, rows: pa.Table) -> None:
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        content = sink.getvalue().to_pybytes()
        self.send({"rows": len(content)}, content)

    def end(self, done: Any = None, failed: str | None = None) -> None:
        self.send({"done": done} if failed is None else {"failed": failed})
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


@contextlib.contextmanager
def address(place: Warehouse) -> Iterator[str]:
    """The path of a warehouse's socket, short enough: sockets take 107 bytes."""
    path = place.work / SOCKET
    if len(os.fsencode(path)) < 100:
        yield str(path)
        return
    folder = os.open(place.work, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET}"
    finally:
        os.close(folder)


class Listener:
    """Takes requests until it is closed, each in a thread; answers "hello" itself, and refuses what is not in `does`.  `what`: the command
    that stays; `take(request)` answers and ends a request.  The caller makes sure that there is one listener."""

    def __init__(self, place: Warehouse, what: str, does: tuple[str, ...], take: Callable[[Request], None]) -> None:
        self.path, self.what, self.does, self.take = place.work / SOCKET, what, does, take
        place.work.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            with address(place) as name:
                self.socket.bind(name)
        finally:
            os.umask(mask)
        self.socket.listen(16)
        threading.Thread(target=self._listen, name="requests", daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                # Closed.
                return
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        request = Request("", {}, connection)
        try:
            connection.settimeout(GREETING_SECONDS)
            with connection.makefile("rb") as lines:
                values = json.loads(lines.readline(MOST_BYTES))
            connection.settimeout(None)
            request.values, request.asked = values, values.pop("ask")
        except (OSError, ValueError, AttributeError, TypeError, KeyError):
            request.end(failed="the request was not understood")
            return
        if request.asked == "hello":
            request.end({"what": self.what, "process": os.getpid(), "does": list(self.does)})
        elif request.asked not in self.does:
            request.end(failed=f"unknown request '{request.asked}'")
        else:
            self.take(request)

    def close(self) -> None:
        self.path.unlink(missing_ok=True)
        self.socket.close()


@dataclass
class Staying:
    """A connection to a process that stays, for one request."""

    connection: socket.socket
    what: str

    def ask(self, asked: str, **values: Any) -> Any:
        """Send a request, and pass on what is said meanwhile.  Returns what was done, or rows.  Raises Unanswered, ConnectionError."""
        rows = None
        with self.connection, self.connection.makefile("rb") as lines:
            self.connection.sendall(json.dumps({"ask": asked, **values}).encode() + b"\n")
            for line in lines:
                message = json.loads(line)
                if "say" in message:
                    tell(message["say"])
                elif "out" in message:
                    sys.stdout.write(message["out"])
                elif "rows" in message:
                    import pyarrow as pa

                    rows = pa.ipc.open_stream(lines.read(message["rows"])).read_all()
                elif "failed" in message:
                    raise Unanswered(message["failed"])
                else:
                    return message["done"] if rows is None else rows
        raise ConnectionError(f"`chronicle {self.what}` ended before it was done; try again")


def staying(place: Warehouse, asked: str) -> Staying | None:
    """A connection to the process that stays with a warehouse, if there is one that does what is asked; says so."""
    if not (place.work / SOCKET).exists():
        return None
    try:
        said = connected(place, "").ask("hello")
        if asked not in said["does"]:
            return None
        there = connected(place, said["what"])
    except (OSError, Unanswered, ValueError, TypeError, KeyError):
        # Nobody there any more, or somebody else's.
        return None
    there.connection.settimeout(None)
    tell(f"using `chronicle {said['what']}` (process {said['process']})")
    return there


def connected(place: Warehouse, what: str) -> Staying:
    """A connection to the socket of a warehouse.  Raises OSError."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(GREETING_SECONDS)
    try:
        with address(place) as path:
            connection.connect(path)
    except OSError:
        connection.close()
        raise
    return Staying(connection, what)


def held(place: Warehouse) -> bool:
    """Lock the place of the one process that listens, for as long as this one lives; False where another has it."""
    place.work.mkdir(parents=True, exist_ok=True)
    file = os.open(place.work / "staying", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    return True
