"""Names of files, and what rotation adds to them."""

from __future__ import annotations

import os
import re

ROTATED = re.compile(r"\.(?:\d{4}-\d\d-\d\d(?:-\d\d)?|\d+)$")


def stem(path: str) -> str:
    """'logs/server.log.2020-05-15-11.gz' -> 'server.log': the name that rotation and gzip keep."""
    return ROTATED.sub("", re.sub(r"\.gz$", "", os.path.basename(path)))
