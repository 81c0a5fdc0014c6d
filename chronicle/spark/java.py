"""The Java that Spark runs on.  Standard library only: `make setup` runs this file before there is a virtual environment.

`python3 chronicle/spark/java.py` prints the folder of the Java to use; exit 1 with one line where there is none.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

# Spark 4.2 is made for these two. It starts on 25, too, and builds the example in the same time; the tests have not run there.
USABLE = (17, 21)
FOLDERS = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "/opt/java")
# Options for a JVM that ends in minutes: the second compiler, and a collector with threads of its own, cost more than they save.
FIRST_COMPILER_ALONE = "-XX:TieredStopAtLevel=1"
SERIAL_COLLECTOR = "-XX:+UseSerialGC"
REMEDY = "install a JDK or JRE 17 or 21 (Debian and Ubuntu: openjdk-17-jre-headless) or point JAVA_HOME to one"


class NoJava(RuntimeError):
    """There is no Java that Spark can use; the message says what was found and what to install."""


def release(home: Path) -> int | None:
    """The feature release (17, 21, 25; 8 for '1.8.0') of the Java in a folder; None if there is none."""
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    try:
        text = (home / "release").read_text(errors="replace")
        found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    except OSError:
        found = None
    if found is None:
        # Some distributions ship no `release` file.
        try:
            said = subprocess.run([str(program), "-version"], capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(found[1]) if found else None


def identity(home: Path) -> str:
    """What distinguishes one build of Java from another: its folder and its `release` file."""
    described = home / "release"
    return f"{home} {described.read_text(errors='replace') if described.exists() else release(home)}"


def candidates(environment: Mapping[str, str], folders: Iterable[str] = FOLDERS) -> list[Path]:
    """Folders that may hold a Java, in the order in which they are tried: JAVA_HOME, the one on PATH, the system's folders."""
    out = []
    if environment.get("JAVA_HOME"):
        out.append(Path(environment["JAVA_HOME"]))
    on_path = shutil.which("java", path=environment.get("PATH", os.defpath))
    if on_path:
        out.append(Path(on_path).resolve().parent.parent)
    for folder in folders:
        for home in sorted(Path(folder).glob("*")):
            out += [home, home / "Contents" / "Home"]
    return out


def find(environment: Mapping[str, str] | None = None, folders: Iterable[str] = FOLDERS) -> Path:
    """The folder of the first Java that Spark can use.  Raises NoJava with one line."""
    unusable: dict[str, int] = {}
    for home in candidates(os.environ if environment is None else environment, folders):
        found = release(home)
        if found in USABLE:
            return home
        if found is not None:
            unusable[str(home)] = found
    if unusable:
        seen = ", ".join(f"Java {number} in {home}" for home, number in unusable.items())
        raise NoJava(f"Spark needs Java 17 or 21 and cannot use {seen}; {REMEDY}")
    raise NoJava(f"no Java found (looked at JAVA_HOME, PATH and {', '.join(folders)}); {REMEDY}")


if __name__ == "__main__":
    try:
        print(find())
    except NoJava as error:
        print(f"setup: {error}", file=sys.stderr)
        raise SystemExit(1) from None
