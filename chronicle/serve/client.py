"""A client of `chronicle serve` and of any Thrift Server: connections for `chronicle health`, and for tools in Python."""

from __future__ import annotations

import logging
import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyhive.hive import Connection

HEALTHY_MS = 30_000


def connect(
    host: str, port: int, *, user: str = "chronicle", password: str = "-", ca: Path | None = None, timeout_ms: int | None = None
) -> Connection:
    """A DB-API connection, which begins in `marts`.  `ca`: certificate (PEM) that signed the server's; with it TLS is used.

    A server without users takes any user and password.  `timeout_ms`: how long an answer may take.
    """
    from pyhive import hive
    from thrift.transport import TSocket, TSSLSocket
    from thrift_sasl import TSaslClientTransport

    secured = {} if ca is None else {"cert_reqs": ssl.CERT_REQUIRED, "ca_certs": str(ca)}
    plain = (TSSLSocket.TSSLSocket if secured else TSocket.TSocket)(host, port, **secured)
    plain.setTimeout(timeout_ms)

    def sasl() -> object:
        return hive.get_installed_sasl(host=host, sasl_auth="PLAIN", service=None, username=user, password=password)

    return hive.connect(thrift_transport=TSaslClientTransport(sasl, "PLAIN", plain), database="marts")


def health(host: str, port: int, *, user: str, password: str, ca: Path | None) -> str:
    """Ask a server for its marts.  Returns one line; raises ConnectionError, with one line, where it does not answer."""
    from pyhive.exc import Error
    from thrift.Thrift import TException

    began = time.monotonic()
    # thrift logs what it raises.
    logging.getLogger("thrift.transport").setLevel(logging.CRITICAL)
    try:
        connection = connect(host, port, user=user, password=password, ca=ca, timeout_ms=HEALTHY_MS)
        try:
            cursor = connection.cursor()
            cursor.execute("show tables in marts")
            tables = len(cursor.fetchall())
        finally:
            connection.close()
    except (Error, TException, OSError) as error:
        said = " ".join(str(getattr(error, "message", None) or error).split())
        raise ConnectionError(f"{host}:{port} does not answer: {said}") from error
    return f"{host}:{port} answers: {tables} marts, {time.monotonic() - began:.2f} s"
