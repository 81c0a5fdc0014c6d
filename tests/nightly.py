"""What is too long for every change: `python -m tests.nightly [STEP …]`, or `.ci/nightly`.  Runs each step, also after one that failed, and writes
`docs/nightly.md` with what became of each; the exit code is 1 if any failed.  Steps that are named alone replace their line, and leave the others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chronicle.project import PROJECT

PAGE = PROJECT / "docs/nightly.md"
HEAD = """# Nightly results

What is too long for every change, and when it was last run: `.ci/nightly` runs all of it, `python -m tests.nightly STEP` one step.

| step | what it shows | result | seconds | commit | day |
|---|---|---|---:|---|---|
"""
LAB, OTHER = ".cache/lab", ".cache/nightly/lab-by-plain"
PYTHON = sys.executable


@dataclass(frozen=True)
class Step:
    """`shows`: what it shows if it succeeds; `commands`: run one after the other."""

    name: str
    shows: str
    commands: tuple[str, ...]


STEPS = (
    Step(
        "lab",
        "the whole lab, built by both engines, is equal value by value",
        (
            f"{PYTHON} -m tests.lab {LAB}",
            f"rm -rf {OTHER} && mkdir -p {OTHER} && cp -r {LAB}/warehouse/bronze {OTHER}/bronze",
            f"{PYTHON} -m chronicle build --engine plain --memory 3g --warehouse {OTHER}",
            f"{PYTHON} -m tests.equal {LAB}/warehouse {OTHER}",
        ),
    ),
    Step("partial", "60 clusters whose logs arrive in pieces, by the local engine, equal one full build", ("make partial CASES=60",)),
    Step(
        "partial-plain",
        "60 such clusters by the plain engine equal one full build by the local one",
        ("make partial CASES=60 SEED=2 ENGINE=plain",),
    ),
    Step("cluster", "a standalone Spark, workers without a shared folder, a bucket, stock Thrift and Connect", ("make test-cluster",)),
    Step("databricks", "Databricks' adapter compiles the project", ("make test-databricks",)),
    Step("wheel", "an installed wheel, without and with a Spark of its own", ("make test-wheel",)),
)


def run(step: Step) -> tuple[bool, float]:
    """Run a step, with its output on ours.  Returns whether it succeeded, and its seconds."""
    began = time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = all(subprocess.run(command, shell=True, cwd=PROJECT, env=environment, check=False).returncode == 0 for command in step.commands)
    return done, time.monotonic() - began


def lines(page: Path) -> dict[str, str]:
    """The line of each step on the page, by its name."""
    text = page.read_text() if page.exists() else ""
    return {found[1]: found[0] for found in re.finditer(r"^\| `([\w-]+)` \|.*$", text, re.MULTILINE)}


def line(step: Step, succeeded: bool, seconds: float, commit: str, day: str) -> str:
    """A step's line on the page."""
    return f"| `{step.name}` | {step.shows} | {'passed' if succeeded else '**failed**'} | {seconds:,.0f} | `{commit}` | {day} |"


def main(names: list[str]) -> int:
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.strip()
    failed = 0
    for step in STEPS:
        if names and step.name not in names:
            continue
        succeeded, seconds = run(step)
        failed += not succeeded
        known = lines(PAGE) | {step.name: line(step, succeeded, seconds, commit, f"{datetime.now(UTC):%Y-%m-%d}")}
        PAGE.write_text(HEAD + "".join(f"{known[one.name]}\n" for one in STEPS if one.name in known))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
