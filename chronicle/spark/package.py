"""The PySpark that is installed: the one that the extra `spark` brings, or one that was there."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

# The minor release for which Delta's jars are made (chronicle/spark/jars.py); requirements-spark.in says the same to pip.
RELEASE = "4.2"
REMEDY = f"install it with pip install 'kafka-chronicle[spark]', or let pip install 'pyspark=={RELEASE}.*'"


class NoSpark(RuntimeError):
    """PySpark is missing or of another release; the message says what to install."""


def must_be_there() -> None:
    """Raises NoSpark where the PySpark that Python finds cannot be used.  Imports nothing."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise NoSpark(f"PySpark is not installed; {REMEDY}")
    version = release(Path(found.origin).with_name("version.py"))
    if version is not None and not version.startswith(f"{RELEASE}."):
        raise NoSpark(f"PySpark is {version}, and Delta's jars are made for {RELEASE}; {REMEDY}")


def release(file: Path) -> str | None:
    """The version in `pyspark/version.py`; None where it cannot be read."""
    found = re.search(r'^__version__[^"\']*["\']([^"\']+)', file.read_text(encoding="utf-8"), re.MULTILINE) if file.is_file() else None
    return found[1] if found else None
