"""The queries of README and docs, and the answers that are printed below them.

A query is a fenced block `sql` with a block `text` right after it: the answer that a reader gets after `chronicle run examples/orders`, or, of a
query that names a cluster of the tests, that of the tests' warehouse.  `python -m docs.outputs EXAMPLE TESTS` updates the answers;
`tests/flow/test_docs.py` holds them to the tables.
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

EXAMPLE = "orders"
PIECE = re.compile(r"```sql\n(?P<query>.*?)\n```\n+```text\n(?P<answer>.*?)\n?```", re.DOTALL)


def pages() -> list[Path]:
    """README and every page of docs, in order."""
    return [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def queries(text: str) -> Iterator[tuple[str, str]]:
    """(query, answer below it) of a page."""
    for found in PIECE.finditer(text):
        yield found["query"], found["answer"]


def is_of_reader(query: str) -> bool:
    """Whether a reader can ask it who has run the example: it names no other cluster."""
    return set(re.findall(r"\bcluster_id = '([^']*)'", query)) <= {EXAMPLE}


def answered(tables: Tables, query: str) -> str:
    """The answer of a query, as `chronicle ask` prints it."""
    lines, _ = laid_out(tables.table(query), None)
    return "\n".join(lines)


def with_answers(text: str, example: Tables, tests: Tables) -> str:
    """A page with the answers of these tables."""

    def anew(found: re.Match[str]) -> str:
        query = found["query"]
        return f"```sql\n{query}\n```\n\n```text\n{answered(example if is_of_reader(query) else tests, query)}\n```"

    return PIECE.sub(anew, text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.outputs", description="Update the answers in README and docs.")
    parser.add_argument("example", help="warehouse of the example: warehouse after `chronicle run examples/orders`")
    parser.add_argument("tests", help="warehouse of the tests: .cache/lab/warehouse after `make test`")
    given = parser.parse_args()
    example, tests = Tables(Warehouse.at(given.example)), Tables(Warehouse.at(given.tests))
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (updated := with_answers(text, example, tests)) != text:
            page.write_text(updated, encoding="utf-8")
            print(page.relative_to(PROJECT))


if __name__ == "__main__":
    main()
