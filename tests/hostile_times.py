"""The worst time per MB of every pattern that is matched against foreign text: `make hostile`.

Each pattern that `tests/python/hostile.py` collects is timed on texts of 4 KB made from its own parse tree, and the slowest of them again at 64 KB;
the worst of these, in seconds of processor time per MB, is the pattern's figure.  A pattern of `linear.for_lines` has two: the time of `re` for lines
of linear.SHORT characters, one after another, and that of RE2 for longer ones; the worse of the two counts.

Prints the table of `docs/reliability.md` and the ten slowest patterns with the text that slows them down.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import time
from dataclasses import dataclass
from typing import Any

from ingestion.reading import linear
from tests.python import hostile

SMALL, LARGE = 4_000, 64_000
# How many of a pattern's slowest texts are tried at full length, and how many of all patterns are listed.
MOST, NAMED = 3, 10
GROUPS = {
    "form": "forms of the catalogue",
    "pick": "values picked out of them",
    "secrets.yml": "secrets",
    "secret_options.yml": "secrets",
    "wrappers.yml": "wrappers",
    "envelopes.yml": "envelopes, `--pattern`",
    "--pattern": "envelopes, `--pattern`",
    "captures": "captures",
}
OTHERS = "names, bundles, nodes, times and the rest"


@dataclass(frozen=True, order=True)
class Worst:
    """The cost of a pattern's slowest text in seconds per MB, and that text."""

    seconds_per_megabyte: float
    name: str
    use: str
    text: str


def worst_of(found: hostile.Found) -> Worst:
    """The slowest text of a pattern, over all methods that the code calls on it."""
    tree = hostile.Tree(found.written, found.flags)
    worst = Worst(0.0, found.name, "", "")
    for use in found.methods:
        searched = use in hostile.SEARCHES
        if isinstance(found.pattern, linear.ForLines):
            for text in tree.texts(linear.SHORT - 20, searched):
                worst = max(worst, Worst(cost(found.pattern._short, use, text, 2), found.name, use, text))
        slow: list[tuple[float, int]] = []
        for number, text in enumerate(tree.texts(SMALL, searched)):
            heapq.heappush(slow, (cost(long_of(found), use, found.as_text(text)), number))
            slow = slow if len(slow) <= MOST else heapq.nlargest(MOST, slow)
        for _, number in slow:
            text = next(itertools.islice(tree.texts(LARGE, searched), number, None))
            worst = max(worst, Worst(cost(long_of(found), use, found.as_text(text), 3), found.name, use, text))
    return worst


def long_of(found: hostile.Found) -> Any:
    """The pattern that is used for long texts."""
    return found.pattern._long if isinstance(found.pattern, linear.ForLines) else found.pattern


def cost(pattern: Any, use: str, text: str | bytes, runs: int = 1) -> float:
    """Seconds of processor time per MB, the best of some runs."""
    return hostile.took(pattern, use, text, runs, time.process_time) / len(text) * 1e6


def group_of(name: str) -> str:
    first = name.split(" ")[0]
    return GROUPS.get(first) or GROUPS.get(first.split(".")[0].split(":")[0]) or OTHERS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="only the patterns whose name holds this")
    given = parser.parse_args()
    groups: dict[str, list[Worst]] = {}
    for worst in map(worst_of, (found for found in hostile.found() if given.name in found.name)):
        groups.setdefault(group_of(worst.name), []).append(worst)
    print("| patterns | how many | worst, s per MB | median, s per MB | slowest |")
    print("|---|---:|---:|---:|---|")
    for group, costs in sorted(groups.items(), key=lambda item: max(item[1]), reverse=True):
        slowest, median = max(costs), sorted(costs)[len(costs) // 2]
        print(f"| {group} | {len(costs):,} | {slowest.seconds_per_megabyte:.3f} | {median.seconds_per_megabyte:.3f} | `{slowest.name}` |")
    print(f"\nThe {NAMED} slowest of {sum(map(len, groups.values())):,}:")
    for worst in heapq.nlargest(NAMED, itertools.chain.from_iterable(groups.values())):
        print(f"{worst.seconds_per_megabyte:8.3f} s/MB  {worst.name}, {worst.use}: {worst.text[:60]!r}… {worst.text[-20:]!r}")


if __name__ == "__main__":
    main()
