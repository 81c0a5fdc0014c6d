"""Users of `chronicle serve`: a file with a line each, the password as a salted hash (`jvm/PasswordFile.scala` reads it)."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

# OWASP's advice for PBKDF2 with SHA-256, 2023.
ITERATIONS = 600_000
SHORTEST = 8
LINE = re.compile(r"[^:\s]+:pbkdf2_sha256:\d+:[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+")


def line(user: str, password: str, salt: bytes | None = None) -> str:
    """The line of a user: name:pbkdf2_sha256:iterations:salt:hash.  Raises ValueError for what cannot be one."""
    if not re.fullmatch(r"[^:\s]+", user):
        raise ValueError(f"'{user}' is no name of a user; take one without colons and blanks")
    if len(password) < SHORTEST:
        raise ValueError(f"the password has {len(password)} characters; take {SHORTEST} or more")
    salt = salt or os.urandom(16)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    return ":".join([user, "pbkdf2_sha256", str(ITERATIONS), base64.b64encode(salt).decode(), base64.b64encode(digest).decode()])


def check(path: Path) -> int:
    """How many users a file holds.  Raises ValueError where others may read it, or a line is not as `line` writes it."""
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise ValueError(f"{path}: others may read or write it (mode {mode:o}); run `chmod 600 {path}`")
    lines = [text for text in path.read_text(encoding="utf-8").splitlines() if text.strip()]
    for number, text in enumerate(lines, 1):
        if not LINE.fullmatch(text):
            raise ValueError(f"{path}:{number}: not a line of `chronicle password USER`, which has user:pbkdf2_sha256:iterations:salt:hash")
    if not lines:
        raise ValueError(f"{path}: no users; add one with `chronicle password USER >> {path}`")
    return len(lines)
