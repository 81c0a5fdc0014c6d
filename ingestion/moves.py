"""Moves of files and folders, which may lie on different file systems."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path


def move(path: Path, to: Path) -> None:
    """Move a file, or a folder to where there is none.  To another file system, as where `.dbt` is a mount of its own, it is copied beside its new
    place first: nobody finds half of it there, and until then all of it is where it was."""
    try:
        os.replace(path, to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        aside = to.with_name(f".{to.name}.part")
        if path.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
            shutil.copytree(path, aside)
            os.replace(aside, to)
            shutil.rmtree(path)
        else:
            shutil.copyfile(path, aside)
            os.replace(aside, to)
            path.unlink()
