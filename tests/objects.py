"""An S3 server: moto's, which is Python and needs nothing but its package.  It runs in a process of its own, because delta-rs waits for it without
releasing Python's lock."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tests.ports import free_port, wait_for


class Bucket:
    """A new bucket, to be filled and looked at."""

    numbers = itertools.count()

    def __init__(self, client: Any) -> None:
        self.client, self.name = client, f"bucket-{next(self.numbers)}"
        self.uri = f"s3://{self.name}"
        client.create_bucket(Bucket=self.name)

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=content)

    def get(self, key: str) -> bytes:
        found: bytes = self.client.get_object(Bucket=self.name, Key=key)["Body"].read()
        return found

    def copy(self, below: str, to: str) -> None:
        """Copy all objects below a prefix."""
        for key in self.keys(below):
            self.client.copy_object(Bucket=self.name, Key=to + key.removeprefix(below), CopySource={"Bucket": self.name, "Key": key})

    def keys(self, below: str) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=below)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def bring(self, below: str, folder: Path) -> None:
        """Download the tables of a warehouse in the bucket: bronze and the published ones."""
        for schema in ("bronze", "marts", "reports"):
            # Hadoop marks a folder by an empty object whose name ends like one.
            for key in (key for key in self.keys(f"{below}/{schema}/") if not key.endswith("/")):
                file = folder / key.removeprefix(f"{below}/")
                file.parent.mkdir(parents=True, exist_ok=True)
                self.client.download_file(self.name, key, str(file))

    @property
    def endpoint(self) -> str:
        return str(self.client.meta.endpoint_url)

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.name, Key=key)

    def take(self, folder: Path, below: str) -> None:
        """Upload the files of a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{below}/{path.relative_to(folder)}", path.read_bytes())


@contextmanager
def server() -> Iterator[Any]:
    """Starts a server, and puts its address into the environment; gives a client of it."""
    import boto3

    port = free_port()
    command = [sys.executable, "-c", f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"]
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    try:
        wait_for(port, running, lambda: "moto's server did not start", seconds=30)
        # Also takes back what the product puts there.
        with mock.patch.dict(os.environ, said):
            yield boto3.client("s3")
    finally:
        running.kill()
        running.wait()
