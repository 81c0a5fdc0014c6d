"""A folder for bytes that are not files yet: members of archives, messages of topics, answers of services."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ingestion.sources.archives import Member


class Spool:
    """A private folder for the members of archives and what services gave, as numbered files; deleted when the run ends.

    `is_shared`: whether every machine that reads sees it, because it lies in the warehouse.
    """

    def __init__(self, folder: Path, is_shared: bool = True) -> None:
        self.folder, self.is_shared = folder.resolve(), is_shared
        self.count = 0

    def is_only_here(self, path: str) -> bool:
        """Whether only this machine sees a file."""
        return not self.is_shared and path.startswith(f"{self.folder}/")

    def __enter__(self) -> Spool:
        shutil.rmtree(self.folder, ignore_errors=True)
        return self

    def keep(self, member: Member) -> str:
        """Write the bytes of a member to a file; returns its path."""
        return self._put(
            lambda file: shutil.copyfileobj(member.open(), file, 1 << 20), member.modified_at.timestamp() if member.modified_at else 0
        )

    def write(self, content: bytes, modified: float) -> str:
        """Write some bytes to a file; returns its path.  `modified`: seconds since 1970."""
        return self._put(lambda file: file.write(content), modified)

    def _put(self, fill: Callable[[BinaryIO], object], modified: float) -> str:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.count += 1
        path = self.folder / str(self.count)
        with path.open("wb") as file:
            fill(file)
        os.utime(path, (modified, modified))
        return str(path)

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
