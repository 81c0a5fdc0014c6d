"""Where files are kept that are made once and used by later commands: jars, compiled classes, the compiled catalogue."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A wheel carries the dbt project inside the package `chronicle`; in a checkout it is the repository itself.
IS_CHECKOUT = not (ROOT / "chronicle" / "dbt").is_dir()


def folder() -> Path:
    """CHRONICLE_CACHE, else `.cache` of the checkout, else the user's cache folder: nothing is written into an installation."""
    given = os.environ.get("CHRONICLE_CACHE")
    if given:
        return Path(given).resolve()
    return ROOT / ".cache" if IS_CHECKOUT else of_user()


def of_user() -> Path:
    """The user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafka-chronicle"
