"""The queries of README and docs, and the answers that are printed below them.

A query is a fenced block `sql` with a block `text` right after it: the answer of the tests' warehouse, in which the example cluster is
called `zk-a-2.8.2`.  `python -m docs.outputs WAREHOUSE` updates the answers; `tests/flow/test_docs.py` holds them to the tables.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from chronicle.ask.tables import Tables
from chronicle.output.table import laid_out
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse

PIECE = re.compile(r"```sql\n(?P<query>.*?)\n```\n+```text\n(?P<answer>.*?)\n?```", re.DOTALL)


def pages() -> list[Path]:
    """README and every page of docs, in order."""
    return [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def queries(text: str) -> Iterator[tuple[str, str]]:
    """(query, answer below it) of a page."""
    for found in PIECE.finditer(text):
        yield found["query"], found["answer"]


def answered(tables: Tables, query: str) -> str:
    """The answer of a query, as `chronicle ask` prints it."""
    lines, _ = laid_out(tables.table(query), None)
    return "\n".join(lines)


def with_answers(text: str, tables: Tables) -> str:
    """A page with the answers of these tables."""
    return PIECE.sub(lambda found: f"```sql\n{found['query']}\n```\n\n```text\n{answered(tables, found['query'])}\n```", text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.outputs", description="Update the answers in README and docs.")
    parser.add_argument("warehouse", help="warehouse of the tests: .cache/lab/warehouse after `make test`")
    tables = Tables(Warehouse.at(parser.parse_args().warehouse))
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (updated := with_answers(text, tables)) != text:
            page.write_text(updated, encoding="utf-8")
            print(page.relative_to(PROJECT))


if __name__ == "__main__":
    main()
