"""Files that are made once and used by later commands: jars, compiled classes, the compiled catalogue and dbt project.

A compiled file has a hash of everything it was made from in its name (`kind-hash.json`, `kind-hash.msgpack`), so it is either up to date or missing.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
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


def read(place: Path) -> bytes | None:
    """The content of a file that `keep` has written, which counts as used now; None if there is no such file."""
    try:
        content = place.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(place)
    return content


def keep(place: Path, content: str | bytes, most: int) -> None:
    """Write a file atomically, and keep only the `most` others of its kind that were used last.  Several processes may do so at once.
    Raises OSError if the file cannot be written."""
    kind = place.name.rpartition("-")[0]
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{kind}-", suffix=".part", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.replace(name, place)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    others = {path: used_at(path) for path in place.parent.glob(f"{kind}-*{place.suffix}") if path != place}
    for old in sorted(others, key=others.__getitem__, reverse=True)[most:]:
        old.unlink(missing_ok=True)


def used_at(place: Path) -> float:
    """When a file was used last; 0 if another process has deleted it."""
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return 0
