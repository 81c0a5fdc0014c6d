"""The files of a generated cluster: lines by node and log, sorted by time, cut into files as the layout rolls them; and its truth."""

from __future__ import annotations

import datetime as dt
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
# How a log is cut into files: the period, and the suffix of the ended file's name.
ROTATIONS = {"hour": (HOUR_MS, ".%Y-%m-%d-%H"), "day": (DAY_MS, ".%Y-%m-%d")}


# The number of the node that is ZooKeeper itself.
ZOOKEEPER = 0
STDOUT = "stdout"


class Dates(dict[int, str]):
    """The beginning of a line's time, by day."""

    def __missing__(self, day: int) -> str:
        self[day] = text = f"[{moment(day * DAY_MS):%Y-%m-%d} "
        return text


# A line's time is put together from tables: formatting it would be the largest cost of a line.
DATES = Dates()
SECONDS = [f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}," for second in range(86_400)]
THOUSANDTHS = [f"{ms:03d}] " for ms in range(1000)]


def moment(ms: int) -> dt.datetime:
    """Epoch milliseconds as a time in UTC."""
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC)


class Journal:
    """Takes records in any order after the last `settle`d time, and writes those before it.

    Records from `later` on go below `later/` instead of `input/`; files of the period in which `end` lies keep their plain name.
    """

    def __init__(self, folder: Path, nodes: Iterable[int], rotation: str, later: int, end: int, is_kraft: bool = False) -> None:
        self.folder = folder
        # The names of the node's folders, and of the truth.
        self.home, self.truths = ("node", "metadata.jsonl") if is_kraft else ("broker", "truth.jsonl")
        self.period, self.ending = ROTATIONS[rotation]
        self.kept = frozenset(nodes)
        self.later = later
        self.last = (end - 1) // self.period
        self.pending: dict[tuple[int, str], list[tuple[int, str]]] = {}
        self.truth: list[dict[str, Any]] = []
        self.actions: list[dict[str, Any]] = []
        self.folders: set[Path] = set()
        self.written = 0
        self.records = 0

    def sink(self, node: int, file: str) -> Callable[[tuple[int, str]], None]:
        """Takes the records of one log of a node, each a time and what follows it in the line."""
        return self.pending.setdefault((node, file), []).append

    def settle(self, before: int) -> None:
        """Write every record before a time; none before it may come any more."""
        for (node, file), records in self.pending.items():
            records.sort(key=itemgetter(0))
            ready = bisect_left(records, before, key=itemgetter(0))
            at = 0
            while at < ready:
                first = records[at][0]
                stop = (first // self.period + 1) * self.period
                if first < self.later < stop:
                    stop = self.later
                end = bisect_left(records, stop, at, ready, key=itemgetter(0))
                self.write(node, file, records[at:end])
                at = end
            del records[:ready]

    def write(self, node: int, file: str, records: list[tuple[int, str]]) -> None:
        """Append records to the file of their period."""
        first = records[0][0]
        period = min(first // self.period, self.last)
        # Standard output is one file for good.
        name = (
            "kafkaServer.out"
            if file == STDOUT
            else f"{file}.log" + ("" if period == self.last else f"{moment(period * self.period):{self.ending}}")
        )
        home = "logs"
        if node == ZOOKEEPER:
            # ZooKeeper's own layout has no brackets around the time, and its log lies beside its settings.
            parts = [
                part
                for at, text in records
                for part in (DATES[at // DAY_MS][1:], SECONDS[at % DAY_MS // 1000], THOUSANDTHS[at % 1000][:3], " ", text)
            ]
            home = ""
        else:
            parts = [
                part for at, text in records for part in (DATES[at // DAY_MS], SECONDS[at % DAY_MS // 1000], THOUSANDTHS[at % 1000], text)
            ]
        content = "".join(parts).encode()
        folder = self.folder / ("input" if first < self.later else "later") / (f"{self.home}-{node}" if node else "zookeeper") / home
        if folder not in self.folders:
            folder.mkdir(parents=True, exist_ok=True)
            self.folders.add(folder)
        with open(folder / name, "ab", buffering=0) as target:
            target.write(content)
        self.written += len(content)
        self.records += len(records)

    def close(self, has_truth: bool) -> None:
        """Write what is left, and the truth."""
        self.settle(1 << 62)
        if has_truth:
            truth = self.folder / "truth"
            truth.mkdir(parents=True, exist_ok=True)
            for name, rows in ((self.truths, self.truth), ("actions.jsonl", self.actions)):
                (truth / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
