"""Files of settings that a variable of the environment names."""

from __future__ import annotations

import os
from pathlib import Path


def settings_lines(variable: str, fault: type[Exception]) -> list[str]:
    """The lines of the file that a variable names, without blank ones and comments; none if the variable is not set.  Raises `fault` if the file
    cannot be read."""
    name = os.environ.get(variable)
    if not name:
        return []
    try:
        lines = [line.strip() for line in Path(name).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise fault(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error}); {variable} names it") from None
    return [line for line in lines if line and not line.startswith("#")]
