"""The project as a wheel: built from the files in git, installed into a folder of its own, and run from there without the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from chronicle.project import PROJECT

PACKAGES = ("chronicle/", "ingestion/")
# The dbt project: its folders, and its two files at the root.
DBT = ("models/", "macros/", "analyses/", "dbt_project/", "tests/alerts/", "tests/data/", "dbt_project.yml", "profiles.yml")


def in_git() -> list[str]:
    """The files of the repository as they are, new ones too."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (PROJECT / name).is_file()]


def built(folder: Path) -> Path:
    """The wheel, built in a folder from a copy of the repository: setuptools leaves files in the one that it builds from."""
    source = folder / "source"
    for name in in_git():
        if name.startswith((*PACKAGES, *DBT)) or "/" not in name:
            copy = source / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT / name, copy)
    # A file left by an earlier build.
    left = source / "build/lib/chronicle/dbt/models/gone.sql"
    left.parent.mkdir(parents=True)
    left.write_text("select 1")
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder / "made"), str(source))
    (made,) = (folder / "made").glob("*.whl")
    return made


def installed(wheel: Path, folder: Path) -> Path:
    """The folder, with the wheel's packages and nothing else."""
    pip("install", "--no-compile", "--target", str(folder), str(wheel))
    return folder


def pip(command: str, *arguments: str) -> None:
    """Run pip without a network."""
    line = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", *arguments]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def environment(*folders: Path, **variables: str) -> dict[str, str]:
    """An environment with these folders and the packages of others on Python's path, without the repository and without our variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CHRONICLE_", "XDG_", "PYTHON", "PYSPARK_"))}
    path = os.pathsep.join(dict.fromkeys([*map(str, folders), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))
    return kept | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"} | variables


def run(installation: Path, home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python from an installation, in a home of its own: with -S it does not follow the link that `make setup` leaves to the repository."""
    env = environment(installation, HOME=str(home), **variables)
    return subprocess.run([sys.executable, "-S", *arguments], cwd=home, env=env, capture_output=True, text=True, check=False)
