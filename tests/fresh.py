"""A folder as a reader has it: the commands, a warehouse, or only the packages that a page says to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from chronicle.project import PROJECT

# What `chronicle check` ends with if it finds an alert: it has worked.
FOUND = 3
COMMAND = f"""#!/bin/sh
PYTHONPATH={PROJECT} {sys.executable} -m chronicle "$@"
code=$?
[ $code -eq {FOUND} ] || exit $code
"""


def environment(home: Path, **variables: str) -> dict[str, str]:
    """What a new shell has, with the commands of `home` in front of the machine's, and Java where it is."""
    java = {name: value for name, value in os.environ.items() if name == "JAVA_HOME"}
    return {"HOME": str(home), "PATH": f"{home}/.venv/bin:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **java, **variables}


def shell(home: Path, warehouse: str, code: str) -> subprocess.CompletedProcess[str]:
    """Runs commands in a folder that has `.venv/bin/chronicle` and the warehouse; the first that fails ends them."""
    command = home / ".venv/bin/chronicle"
    command.parent.mkdir(parents=True)
    command.write_text(COMMAND, encoding="utf-8")
    command.chmod(0o755)
    (home / "warehouse").symlink_to(warehouse)
    line = ["bash", "-euo", "pipefail", "-c", code]
    return subprocess.run(line, cwd=home, env=environment(home), capture_output=True, text=True, check=False, timeout=300)


def python(home: Path, warehouse: str, wanted: list[str], code: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with the packages that `wanted` installs, and no others, in a folder that has the warehouse."""
    (home / "warehouse").symlink_to(warehouse)
    packages = home / "packages"
    packages.mkdir()
    for requirement in wanted:
        link(Requirement(requirement), packages, set())
    env = environment(home, PYTHONPATH=str(packages))
    return subprocess.run([sys.executable, "-S", "-c", code], cwd=home, env=env, capture_output=True, text=True, check=False, timeout=300)


def link(requirement: Requirement, packages: Path, known: set[str]) -> None:
    """Links a package of ours, with all that it needs, as pip would install them: an extra that nobody asks for is not there."""
    name = f"{requirement.name}[{','.join(sorted(requirement.extras))}]"
    if name in known:
        return
    known.add(name)
    found = distribution(requirement.name)
    assert requirement.specifier.contains(found.version), f"{requirement}: the tested one is {found.version}"
    for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
        to = packages / top
        if not to.is_symlink():
            to.symlink_to(Path(str(found.locate_file(top))))
    for text in found.requires or ():
        needed = Requirement(text)
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras)):
            link(needed, packages, known)


def installed_by(page: str) -> list[str]:
    """What the first `pip install` of a page names."""
    found = re.search(r"pip install ([^`\n]+)", page)
    return [word.strip("'") for word in found[1].split()] if found else []
