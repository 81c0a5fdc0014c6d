"""The files of a made cluster: lines by node and log, sorted by time, cut into files as the layout rolls them; and its truth."""

from __future__ import annotations

import datetime as dt
import json
from operator import itemgetter
from pathlib import Path
from typing import Any

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
# How a log is cut into files: the period, and how the ended file's name goes on.
ROTATIONS = {"hour": (HOUR_MS, ".%Y-%m-%d-%H"), "day": (DAY_MS, ".%Y-%m-%d")}
LEAST_FLUSH = 200_000


def moment(ms: int) -> dt.datetime:
    """Epoch milliseconds as a time in UTC."""
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC)


class Journal:
    """Takes lines in any order within the time that is still open, and writes what lies before `settle`d times."""

    def __init__(self, folder: Path, nodes: list[int], rotation: str = "hour", kept: list[int] | None = None) -> None:
        self.folder = folder
        self.period, self.ending = ROTATIONS[rotation]
        self.kept = frozenset(nodes if kept is None else kept)
        self.pending: dict[tuple[int, str], list[tuple[int, str]]] = {}
        self.truth: list[dict[str, Any]] = []
        self.actions: list[dict[str, Any]] = []
        self.written = 0
        self.records = 0

    def add(self, node: int, file: str, at: int, text: str) -> None:
        """One record of a node's log; `text` is what follows the time."""
        self.pending.setdefault((node, file), []).append((at, text))

    def settle(self, before: int) -> None:
        """Write every record before a time; none before it may be added any more."""
        for (node, file), records in self.pending.items():
            records.sort(key=itemgetter(0))
            ready = len(records)
            while ready and records[ready - 1][0] >= before:
                ready -= 1
            at = 0
            while at < ready:
                period = records[at][0] // self.period
                end = at
                stop = (period + 1) * self.period
                while end < ready and records[end][0] < stop:
                    end += 1
                self.write(node, file, period, records[at:end])
                at = end
            del records[:ready]

    def write(self, node: int, file: str, period: int, records: list[tuple[int, str]]) -> None:
        """Append records to the file of their period."""
        out: list[str] = []
        second, stamp = -1, ""
        for at, text in records:
            if at // 1000 != second:
                second = at // 1000
                stamp = moment(second * 1000).strftime("[%Y-%m-%d %H:%M:%S,")
            out.append(f"{stamp}{at % 1000:03d}] {text}")
        content = "".join(out).encode()
        name = f"{file}.log" + moment(period * self.period).strftime(self.ending)
        path = self.folder / f"broker-{node}" / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as target:
            target.write(content)
        self.written += len(content)
        self.records += len(records)

    def close(self, folder: Path) -> None:
        """Write what is left, and the truth below `folder`."""
        self.settle(1 << 62)
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in (("truth.jsonl", self.truth), ("actions.jsonl", self.actions)):
            (folder / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
