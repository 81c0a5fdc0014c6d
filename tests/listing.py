"""A server of S3 that has very many objects in one folder and can do nothing but list them."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

from s3fs import S3FileSystem

BUCKET, FOLDER = "many", "logs"
SIZE, MODIFIED = 4711, "2026-01-01T00:00:00.000Z"
PAGE = 1000


def name_of(number: int) -> str:
    return f"{FOLDER}/server-{number:08}.log.gz"


def serve(count: int, address: Any) -> None:
    """Serve until the process is killed; its port goes into a pipe."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(404, b"")

        def do_GET(self) -> None:
            given = parse_qs(urlsplit(self.path).query)
            first, most = int(given.get("continuation-token", ["0"])[0]), int(given.get("max-keys", [str(PAGE)])[0])
            end = min(first + most, count)
            contents = "".join(
                f'<Contents><Key>{name_of(number)}</Key><LastModified>{MODIFIED}</LastModified><ETag>"0"</ETag><Size>{SIZE}</Size></Contents>'
                for number in range(first, end)
            )
            goes_on = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{end}</NextContinuationToken>" if end < count else ""
            self.answer(200, f"<ListBucketResult><KeyCount>{end - first}</KeyCount>{goes_on}{contents}</ListBucketResult>".encode())

        def answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address.send(server.server_port)
    server.serve_forever()


@contextmanager
def many_objects(count: int) -> Iterator[str]:
    """Starts it, and puts its address into the environment; gives the URI of the folder."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(count, there), daemon=True)
    process.start()
    said = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        # A cached instance would have the address of another server.
        S3FileSystem.clear_instance_cache()
        with mock.patch.dict(os.environ, {**said, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{here.recv()}"}):
            yield f"s3://{BUCKET}/{FOLDER}"
    finally:
        S3FileSystem.clear_instance_cache()
        process.kill()
        process.join()
