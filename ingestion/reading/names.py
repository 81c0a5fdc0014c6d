"""Names of files, and what rotation adds to them."""

from __future__ import annotations

import os
import re

# Suffix of a compressed file.
COMPRESSED = re.compile(r"\.(?:gz|zst)$")
# Suffix of a rotated file: log4j's date, a number, or the date of logrotate's `dateext`.
ROTATED = re.compile(r"(?:\.(?:\d{4}-\d\d-\d\d(?:-\d\d)?|\d+)|-\d{8}(?:\d\d|-\d+)?)$")


def stem(path: str) -> str:
    """'logs/server.log.2020-05-15-11.gz' -> 'server.log': the name that rotation and compression keep."""
    return ROTATED.sub("", COMPRESSED.sub("", os.path.basename(path)))
