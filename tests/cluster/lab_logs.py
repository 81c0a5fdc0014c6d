"""Logs of the lab's clusters, in a folder and in a bucket."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Collection
from pathlib import Path

from ingestion.reading import objects
from tests.lab import ARCHIVES, CLUSTERS
from tests.objects import Bucket

# Options with which they are read.
HOW = ("--layout", "{cluster}/**", "--timezone", "UTC", "--settled-after", 0)


def put_logs(bucket: Bucket, folder: Path, clusters: Collection[str] = CLUSTERS) -> Path:
    """Unpack the logs of some clusters into a folder, and put the same into a bucket, below `lab`.  Returns the folder, which has one for each cluster."""
    logs = folder / "logs"
    logs.mkdir(parents=True)
    for cluster in sorted(clusters):
        with tarfile.open(ARCHIVES / f"{cluster}.tar.xz") as packed:
            packed.extractall(folder / "lab", filter="data")
    for inputs in sorted((folder / "lab").glob("*/input")):
        bucket.take(inputs, f"lab/{inputs.parent.name}")
        shutil.move(inputs, logs / inputs.parent.name)
    for uri, status in objects.below(f"{bucket.uri}/lab"):
        # Some captures have no other time than this.
        os.utime(logs / uri.removeprefix(f"{bucket.uri}/lab/"), (status.modified, status.modified))
    return logs
