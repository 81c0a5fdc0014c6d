"""A server of S3 in this process: moto's, which is Python and needs nothing but its package."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moto.server import ThreadedMotoServer


class Bucket:
    """A bucket, to be filled and looked at."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name, self.uri = client, name, f"s3://{name}"
        client.create_bucket(Bucket=name)

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=content)

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.name, Key=key)

    def take(self, folder: Path, below: str) -> None:
        """The files of a folder as objects."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{below}/{path.relative_to(folder)}", path.read_bytes())


@contextmanager
def server() -> Iterator[Any]:
    """Starts a server, and says in the environment where it is; gives a client of it."""
    import boto3

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    said = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    before = {name: os.environ.get(name) for name in said}
    os.environ.update(said)
    try:
        yield boto3.client("s3")
    finally:
        running.stop()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
