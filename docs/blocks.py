"""The blocks of code in README and docs.

An indented block is `bash`, a fenced one names its language.  `tests/flow/test_docs.py` runs every block of `bash` and `python`, unless
`<!-- not run: REASON -->` stands above it; `docs/not_run.yml` has the reasons.  Queries and their answers are in `docs/outputs.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

from chronicle.project import PROJECT

BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>\w+) -->\n\n?)?"
    r"(?:^```(?P<language>\w*)\n(?P<fenced>[\s\S]*?)^```$|(?<=\n\n)(?P<indented>(?:    .*\n(?:\n+(?=    ))?)+))",
    re.MULTILINE,
)
# Languages of blocks that are run, and of those that hold commands or data to read.
RUN, READ = ("bash", "sql", "python"), ("crontab", "csv", "mermaid", "properties", "text")
# What ends a command in a line of a shell.
BETWEEN = re.compile(r"[|&;]+|>+")


@dataclass(frozen=True)
class Block:
    """A block of code: its page and line, its language, and why it is not run, if it is not."""

    page: Path
    line: int
    language: str
    code: str
    reason: str | None

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(PROJECT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of code of a page."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        code = found["fenced"] if found["indented"] is None else dedent(found["indented"])
        language = found["language"] if found["indented"] is None else "bash"
        yield Block(page, text.count("\n", 0, found.start()) + 1, language, code, found["reason"])


def with_output(page: Path) -> Iterator[tuple[Block, str]]:
    """The blocks of a page that have a block `text` right below them, with that text."""
    found = list(blocks(page))
    for block, below in pairwise(found):
        if below.language == "text" and below.line == block.line + block.code.count("\n") + 2:
            yield block, below.code


def commands(code: str) -> Iterator[list[str]]:
    """The commands of a block, each as its words, without variables in front of them and comments behind."""
    for line in code.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;>")
        words.whitespace_split = True
        command: list[str] = []
        for word in [*words, ";"]:
            if not BETWEEN.fullmatch(word):
                if command or not re.match(r"[A-Z_]+=", word):
                    command.append(word)
            elif command:
                yield command
                command = []
