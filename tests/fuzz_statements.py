"""Statements that nobody would write, against the real `chronicle serve`: each allowed function in each place of a statement, with values that make it
large, long or slow.

`python -m tests.fuzz_statements --minutes 20 --seed 1` (or `make fuzz-endpoint`) starts a server with 512 MB and a time limit of 5 s, and reports as JSON:
statements by how they ended, the longest wait for an answer, lost sessions, tasks that went on after their statement had ended (where they were, and the
statements that had been ended last), and the processor time of the server after the last statement.
It fails if an answer came later than the limit allows, if a session was lost, if a task went on, or if the server still works when nobody asks for anything.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from deltalake import write_deltalake
from pyarrow import table
from pyhive.exc import OperationalError

from chronicle.serve.client import connect
from chronicle.serve.serve import functions
from chronicle.spark.processes import stat, tree
from tests.served import Served, launch

LIMIT_SECONDS = 5
# How much later than the limit an answer may come: a task that is killed, a collection of the whole heap, a full machine.
GRACE_SECONDS = 10
CLIENTS = 4
IDLE_SECONDS = 10

TASK = re.compile(r'"Executor task launch worker for (task [^"]*)"')

# Values that are large, odd or costly, by rough type; each may stand where any other does.
NUMBERS = ["0", "1", "-1", "7", "300000", "2147483647", "9223372036854775807", "id", "1.5D", "cast(null as int)"]
TEXTS = [
    "'a'",
    "''",
    "'%2000000000d'",
    "'(.*a){12}c'",
    "'(((){1000}){1000}){1000}'",
    "'%a%a%a%a%a%a%a%a%a%c'",
    "'yyyy-MM-dd'",
    "'$.a[*][*]'",
    "'a INT'",
    "repeat('a', 5000)",
    "concat(repeat('a', 5000), 'b')",
    "repeat('ab', 4000000)",
    "string(id)",
    "cast(null as string)",
]
ARRAYS = [
    "array()",
    "array(1, 2, 3)",
    "array('a', 'b')",
    "sequence(1, 10000000)",
    "sequence(1, 100000)",
    "array_repeat(array(id), 10000)",
    "transform(sequence(1, 20000), x -> array(x))",
    "split(repeat('a,', 100000), ',')",
]
OTHERS = [
    "map('a', 1)",
    "map('maxColumns', '2000000000')",
    "named_struct('a', 1)",
    "date'2026-01-01'",
    "timestamp'2026-01-01 00:00:00'",
    "interval 1 second",
    "true",
    "null",
    "x'00ff'",
    "x -> x",
    "x -> aggregate(sequence(1, 1000000), x, (a, b) -> a + b)",
    "(x, y) -> exists(sequence(1, 1000000), z -> z < 0)",
]
VALUES = [NUMBERS, TEXTS, ARRAYS, OTHERS]
OPERATORS = [
    "{} || {}",
    "{} like {}",
    "{} rlike {}",
    "{} like any ({}, {})",
    "{} not like all ({}, {})",
    "{} ilike {}",
    "{} in ({}, {})",
    "{}[{}]",
]
# Where an expression may stand.
PLACES = [
    "select {}",
    "select {} from range(3)",
    "select count(*) from range(1000) where {} is not null",
    "values ({}), ({})",
    "select * from values ({}, 1) as t(a, b)",
    "select length(string(max({}))) from range(100)",
    "select count(*) from range(100) group by {}",
    "select count(*) from range(10) a join range(10) b on a.id = b.id and {} is null",
    "select id from range(100) order by {} limit 1",
    "select id from range(10) limit {}",
    "select * from range({})",
    "select row_number() over (order by {}) from range(10)",
    "select * from range(3) lateral view explode(array({})) as one",
    "with a(b) as (select {} from range(3)) select max(string(b)) from a",
    "select (select max(string({})) from range(2))",
    "select * from (select id, 1 as n from range(3)) pivot (sum(n) for id in (1, {}))",
    "describe query select {}",
    "explain select {}",
    "describe {}",
    "show tables like {}",
    "show functions like {}",
    "show schemas like {}",
    "select * from dim_nodes where {} = node_name",
    "set spark.sql.session.timeZone={}",
]


class Writer:
    """Statements from the grammar, the same for the same seed; every allowed function comes by turns."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = sorted(
            name for group, names in functions()["allowed"].items() if group != "table" for name in names if name.isidentifier()
        )
        self.turn = 0

    def value(self, depth: int) -> str:
        if depth and self.chance.random() < 0.3:
            return self.call(self.chance.choice(self.names), depth - 1)
        return self.chance.choice(self.chance.choice(VALUES))

    def call(self, name: str, depth: int) -> str:
        return f"{name}({', '.join(self.value(depth) for _ in range(self.chance.choice((1, 1, 2, 2, 2, 3, 3, 4))))})"

    def expression(self) -> str:
        if self.chance.random() < 0.15:
            operator = self.chance.choice(OPERATORS)
            return operator.format(*(self.value(1) for _ in range(operator.count("{}"))))
        self.turn += 1
        return self.call(self.names[self.turn % len(self.names)], 2)

    def statement(self) -> str:
        place = self.chance.choice(PLACES)
        return place.format(*(self.expression() for _ in range(place.count("{}"))))


def warehouse(folder: Path) -> str:
    """A warehouse with one table: what is asked for needs no more."""
    write_deltalake(str(folder / "marts" / "dim_nodes"), table({"node_key": ["k"], "node_name": ["node 1"]}))
    return str(folder)


class Client:
    """One session that is kept, and what became of its statements."""

    def __init__(self, server: Served, seed: int) -> None:
        self.server, self.writer = server, Writer(seed)
        self.ended: Counter[str] = Counter()
        self.slow: list[tuple[float, str]] = []
        self.lost: list[str] = []
        # The last ones that the time limit ended.
        self.cancelled: deque[str] = deque(maxlen=3)
        self.longest = 0.0
        self.connection = connect("127.0.0.1", server.port)

    def run(self, until: float) -> None:
        while time.monotonic() < until and self.server.process.poll() is None:
            self.ask(self.writer.statement())

    def ask(self, statement: str) -> None:
        began = time.monotonic()
        try:
            # Tools close their statements: those that nobody closes hold their plans until the server drops them.
            with closing(self.connection.cursor()) as cursor:
                cursor.execute(statement)
                if cursor.description:
                    cursor.fetchall()
            self.ended["answered"] += 1
        except OperationalError as error:
            status = getattr(error.args[0], "status", None)
            self.ended[str(status.sqlState) if status else "no status"] += 1
            if status and status.sqlState == "57014":
                self.cancelled.append(statement[:500])
        except Exception as error:
            # The connection does not work any more.
            self.lost.append(f"{type(error).__name__}: {error}: {statement[:500]}")
            with suppress(Exception):
                self.connection = connect("127.0.0.1", self.server.port)
        took = time.monotonic() - began
        if took > LIMIT_SECONDS + GRACE_SECONDS:
            self.slow.append((round(took, 1), statement[:500]))
        self.longest = max(self.longest, took)


class Tasks(Thread):
    """Looks for tasks of the server that go on for longer than any statement may.  `found`: of each its place in the code, and what may have asked for it."""

    def __init__(self, server: Served, clients: list[Client]) -> None:
        super().__init__(daemon=True)
        self.server, self.clients = server, clients
        self.found: dict[str, dict[str, Any]] = {}
        self.is_over = Event()

    def run(self) -> None:
        since: dict[str, float] = {}
        while not self.is_over.wait(3):
            running = self.running()
            since = {task: since.get(task, time.monotonic()) for task in running}
            for task, place in running.items():
                if time.monotonic() - since[task] > LIMIT_SECONDS + GRACE_SECONDS and task not in self.found:
                    asked = [statement for client in self.clients for statement in client.cancelled]
                    self.found[task] = {"place": place, "cancelled": asked}

    def running(self) -> dict[str, list[str]]:
        """The innermost frames of each task."""
        found = {}
        for java in tree(self.server.process.pid)[1:]:
            threads = subprocess.run(["jstack", str(java)], capture_output=True, text=True).stdout
            for thread in threads.split("\n\n"):
                if task := TASK.match(thread):
                    found[task[1]] = [line.strip() for line in thread.splitlines()[2:14]]
        return found


def processor_seconds(pid: int) -> float:
    """Processor time of a process and of those it started."""
    # utime and stime (proc(5)).
    return sum(int(ticks) for one in tree(pid) for ticks in stat(one)[11:13]) / os.sysconf("SC_CLK_TCK")


def fuzz(minutes: float, seed: int) -> dict[str, Any]:
    """Ask for so long, and report."""
    with tempfile.TemporaryDirectory() as folder:
        limits = ["--query-timeout", str(LIMIT_SECONDS), "--max-queries", str(CLIENTS)]
        server = launch(warehouse(Path(folder)), *limits, memory="512m")
        try:
            clients = [Client(server, seed * 1000 + number) for number in range(CLIENTS)]
            tasks = Tasks(server, clients)
            tasks.start()
            until = time.monotonic() + 60 * minutes
            with ThreadPoolExecutor(CLIENTS) as threads:
                list(threads.map(lambda client: client.run(until), clients))
            is_up = server.process.poll() is None
            time.sleep(GRACE_SECONDS)
            tasks.is_over.set()
            before = processor_seconds(server.process.pid) if is_up else 0.0
            time.sleep(IDLE_SECONDS)
            after = processor_seconds(server.process.pid) - before if is_up else 0.0
            return {
                "minutes": minutes,
                "seed": seed,
                "statements": sum(sum(client.ended.values()) for client in clients),
                "ended": dict(sum((client.ended for client in clients), Counter[str]())),
                "longest_seconds": round(max(client.longest for client in clients), 1),
                "too_late": [one for client in clients for one in client.slow],
                "lost": [one for client in clients for one in client.lost],
                "tasks_that_went_on": tasks.found,
                "is_up": is_up and answers(server),
                "exit_code": server.process.poll(),
                "said": server.said[-8000:].splitlines() if not is_up else [],
                "processor_seconds_when_idle": round(after, 1),
            }
        finally:
            server.stop()


def answers(server: Served) -> bool:
    """Whether it answers a statement in time."""
    try:
        return server.ask("select 1") == [(1,)]
    except OperationalError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = fuzz(given.minutes, given.seed)
    print(json.dumps(found, indent=2))
    # Collections of the heap, of which Spark's parser holds a part.
    is_idle = found["processor_seconds_when_idle"] < IDLE_SECONDS / 5
    return 0 if found["is_up"] and is_idle and not any(found[fault] for fault in ("too_late", "lost", "tasks_that_went_on")) else 1


if __name__ == "__main__":
    sys.exit(main())
