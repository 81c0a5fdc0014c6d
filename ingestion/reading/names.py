"""Names of files, and what rotation adds to them."""

from __future__ import annotations

import os
import re

# What says in a name that the file is compressed.
COMPRESSED = re.compile(r"\.(?:gz|zst)$")
# By log4j's date, by a number, and by the date of logrotate's `dateext`.
ROTATED = re.compile(r"(?:\.(?:\d{4}-\d\d-\d\d(?:-\d\d)?|\d+)|-\d{8}(?:\d\d|-\d+)?)$")


def stem(path: str) -> str:
    """'logs/server.log.2020-05-15-11.gz' -> 'server.log': the name that rotation and compression keep."""
    return ROTATED.sub("", COMPRESSED.sub("", os.path.basename(path)))
