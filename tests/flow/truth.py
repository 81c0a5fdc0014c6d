"""What really happened on a lab cluster, from its own metadata: ZooKeeper's transaction log or `__cluster_metadata`.

`truth(folder)` -> dict of lists: leader_epochs, leaderless, isr_changes, out_of_sync, tenures, expiries, partitions; all times in
epoch milliseconds. Each life of a topic has a number of its own, from 1, within the incarnation of the cluster.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state$")
TOPIC = re.compile(r"/brokers/topics/([^/]+)$")
BROKER = re.compile(r"/brokers/ids/(\d+)$")
# The time of a record by the lab's layout, in UTC.
STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)
STOP = re.compile("SIGTERM|graceful|shutdown|stop all|stop everything", re.I)

Facts = dict[str, list[dict[str, Any]]]


def millis(at: dt.datetime | None) -> int | None:
    """A time from a table, which is in UTC but has no zone, in epoch milliseconds."""
    return None if at is None else round(at.replace(tzinfo=dt.UTC).timestamp() * 1000)


def millis_of(at: dt.datetime) -> int:
    """The same, of a time that is known."""
    found = millis(at)
    assert found is not None
    return found


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON-lines file; none if it does not exist."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@cache
def truth(folder: Path) -> Facts:
    """The truth of a cluster, with every leader epoch, and every window without a leader that one begins, marked `visible` if a log line names it."""
    facts = kraft(folder) if (folder / "truth/metadata.jsonl").exists() else zookeeper(folder)
    mark_visible(folder, facts)
    named = {(epoch["topic"], epoch["partition"], epoch["at"]) for epoch in facts["leader_epochs"] if epoch["visible"]}
    for window in facts["leaderless"]:
        window["visible"] = (window["topic"], window["partition"], window["start"]) in named
    return facts


def empty() -> Facts:
    names = ("leader_epochs", "leaderless", "isr_changes", "out_of_sync", "tenures", "expiries", "partitions")
    return {name: [] for name in names}


class Partitions:
    """Follows the state of every partition: epochs that begin, stretches without a leader or with a replica out of sync."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.state: dict[tuple[str, int], dict[str, Any]] = {}
        self.gaps: dict[tuple[str, int], int] = {}
        self.isr: dict[tuple[str, int], set[int]] = {}
        self.replicas: dict[tuple[str, int], set[int]] = {}
        self.lagging: dict[tuple[str, int, int], int] = {}
        self.incarnation = 1
        self.lives: dict[str, int] = {}
        self.known: dict[tuple[str, int], dict[str, Any]] = {}

    def life(self, topic: str) -> dict[str, Any]:
        return {"incarnation": self.incarnation, "topic": topic, "life": self.lives.get(topic, 1)}

    def begin_life(self, topic: str) -> None:
        self.lives[topic] = self.lives.get(topic, 0) + 1

    def set(self, topic: str, partition: int, leader: int, epoch: int, at: int) -> None:
        key = (topic, partition)
        old = self.state.get(key)
        if old is None or old["epoch"] != epoch:
            named = self.life(topic) | {"partition": partition, "epoch": epoch, "leader": leader, "at": at}
            self.facts["leader_epochs"].append(named)
        if leader == -1:
            self.gaps.setdefault(key, at)
        elif key in self.gaps:
            self.facts["leaderless"].append(self.life(topic) | {"partition": partition, "start": self.gaps.pop(key), "end": at})
        self.state[key] = {"leader": leader, "epoch": epoch}

    def set_isr(self, topic: str, partition: int, isr: list[int], at: int) -> None:
        before, after = self.isr.get((topic, partition)), set(isr)
        if before is not None and before != after:
            change = {"topic": topic, "partition": partition, "before": sorted(before), "after": sorted(after), "at": at}
            self.facts["isr_changes"].append(change)
        self.isr[topic, partition] = after
        self.compare(topic, partition, at)

    def set_replicas(self, topic: str, partition: int, replicas: list[int], at: int) -> None:
        self.replicas[topic, partition] = set(replicas)
        if (topic, partition) not in self.known:
            self.known[topic, partition] = self.life(topic) | {"partition": partition, "at": at, "until": None}
            self.facts["partitions"].append(self.known[topic, partition])
        self.known[topic, partition]["replicas"] = replicas
        self.compare(topic, partition, at)

    def compare(self, topic: str, partition: int, at: int) -> None:
        if (isr := self.isr.get((topic, partition))) is None:
            return
        out = self.replicas.get((topic, partition), set()) - isr
        for replica in out:
            self.lagging.setdefault((topic, partition, replica), at)
        for key in [key for key in self.lagging if key[:2] == (topic, partition) and key[2] not in out]:
            self.end(key, at)

    def end(self, key: tuple[str, int, int], at: int | None, *, deleted: bool = False) -> None:
        stretch = dict(zip(("topic", "partition", "replica"), key, strict=True))
        self.facts["out_of_sync"].append(stretch | {"start": self.lagging.pop(key), "end": at, "deleted": deleted})

    def forget(self, topic: str, partition: int, at: int) -> None:
        self.state.pop((topic, partition), None)
        self.gaps.pop((topic, partition), None)
        self.isr.pop((topic, partition), None)
        self.replicas.pop((topic, partition), None)
        if one := self.known.pop((topic, partition), None):
            one["until"] = at
        for key in [key for key in self.lagging if key[:2] == (topic, partition)]:
            self.end(key, at, deleted=True)

    def begin_incarnation(self, at: int) -> None:
        """All storage was formatted anew.  Who had no leader then never had one again."""
        for (topic, partition), start in self.gaps.items():
            self.facts["leaderless"].append(self.life(topic) | {"partition": partition, "start": start, "end": None})
        for topic, partition in list(self.state):
            self.forget(topic, partition, at)
        self.incarnation += 1
        self.lives.clear()

    def close(self) -> None:
        for key in list(self.lagging):
            self.end(key, None)
        for (topic, partition), start in self.gaps.items():
            self.facts["leaderless"].append(self.life(topic) | {"partition": partition, "start": start, "end": None})


def kraft(folder: Path) -> Facts:
    """From the records of `__cluster_metadata`, in the order of their offsets; if it was formatted anew, of one log after the other."""
    facts = empty()
    partitions = Partitions(facts)
    topics: dict[str, str] = {}
    leaving: set[int] = set()
    records = rows(folder / "truth/metadata.jsonl")
    clusters = list(dict.fromkeys(record.get("cluster_id") for record in records))
    for record in sorted(records, key=lambda record: (clusters.index(record.get("cluster_id")), record["offset"])):
        kind, at, data = record["type"], record["ts"], record.get("data", {})
        if clusters.index(record.get("cluster_id")) >= partitions.incarnation:
            partitions.begin_incarnation(at)
            leaving.clear()
        # Whatever is stored the leader of the epoch wrote: it led until then.
        if facts["tenures"] and (facts["tenures"][-1]["incarnation"], facts["tenures"][-1]["epoch"]) == (
            partitions.incarnation,
            record["epoch"],
        ):
            facts["tenures"][-1]["last"] = max(at, facts["tenures"][-1]["last"])
        if kind == "CONTROL" and (record.get("control") == "LEADER_CHANGE" or "LeaderChange" in record.get("text", "")):
            said = re.search(r'"leaderId":(\d+)', record.get("text", ""))
            leader = record["leader"] if record.get("leader") is not None else int(said[1]) if said else -1
            facts["tenures"].append(
                {"incarnation": partitions.incarnation, "epoch": record["epoch"], "controller": leader, "at": at, "last": at}
            )
        elif kind == "TOPIC_RECORD":
            topics[data["topicId"]] = data["name"]
            partitions.begin_life(data["name"])
        elif kind == "REMOVE_TOPIC_RECORD":
            for topic, partition in [key for key in partitions.state if key[0] == topics.get(data["topicId"])]:
                partitions.forget(topic, partition, at)
        elif kind == "PARTITION_RECORD":
            key = (topics[data["topicId"]], data["partitionId"])
            partitions.set(*key, data["leader"], data["leaderEpoch"], at)
            partitions.set_replicas(*key, data["replicas"], at)
            partitions.set_isr(*key, data["isr"], at)
        elif kind == "PARTITION_CHANGE_RECORD":
            key = (topics[data["topicId"]], data["partitionId"])
            old = partitions.state.get(key)
            if old and data.get("leader", -2) != -2:
                partitions.set(*key, data["leader"], old["epoch"] + 1, at)
            if old and data.get("replicas") is not None:
                partitions.set_replicas(*key, data["replicas"], at)
            if old and data.get("isr") is not None:
                partitions.set_isr(*key, data["isr"], at)
        elif kind in ("REGISTER_BROKER_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD"):
            broker = data["brokerId"]
            if kind == "REGISTER_BROKER_RECORD":
                leaving.discard(broker)
            if data.get("inControlledShutdown") in (1, True):
                leaving.add(broker)
            if kind == "BROKER_REGISTRATION_CHANGE_RECORD" and data.get("fenced") == 1 and broker not in leaving:
                facts["expiries"].append({"owner": broker, "at": at})
    partitions.close()
    return facts


def zookeeper(folder: Path) -> Facts:
    """From ZooKeeper's transactions, in their order; sessions that a clean stop closed are not expiries."""
    facts = empty()
    partitions = Partitions(facts)
    owners: dict[int, int] = {}
    controller: int | None = None
    stops = [
        (
            str(action.get("node", action.get("broker"))),
            action.get("start_ms", action.get("start")),
            action.get("end_ms", action.get("end", action.get("start"))),
        )
        for action in rows(folder / "truth/actions.jsonl")
        if STOP.search(action.get("action", "") + " " + str(action.get("note", ""))) and "SIGSTOP" not in action.get("action", "")
    ]
    for change in sorted(rows(folder / "truth/truth.jsonl"), key=lambda change: (change["zxid"], change.get("multi", 0))):
        path, at, kind, value = change.get("path") or "", change["ts"], change["type"], change.get("value")
        if state := STATE.search(path):
            if kind == "delete":
                partitions.forget(state[1], int(state[2]), at)
            elif isinstance(value, dict):
                partitions.set(state[1], int(state[2]), value["leader"], value["leader_epoch"], at)
                partitions.set_isr(state[1], int(state[2]), value["isr"], at)
        elif (topic := TOPIC.search(path)) and isinstance(value, dict):
            if kind == "create":
                partitions.begin_life(topic[1])
            for partition, replicas in value["partitions"].items():
                partitions.set_replicas(topic[1], int(partition), replicas, at)
        elif path == "/controller" and kind == "create" and isinstance(value, dict):
            controller = value["brokerid"]
            if facts["tenures"] and (facts["tenures"][-1]["zxid"] == change["zxid"] or facts["tenures"][-1]["controller"] is None):
                facts["tenures"][-1]["controller"] = controller
        elif path == "/controller_epoch" and kind in ("setData", "create") and isinstance(value, int) and value > 0:
            facts["tenures"].append({"incarnation": 1, "epoch": value, "controller": controller, "at": at, "zxid": change["zxid"]})
        elif (broker := BROKER.search(path)) and kind in ("create", "setData") and isinstance(value, dict):
            owners[change["session"]] = int(broker[1])
        elif kind == "closeSession" and change["session"] in owners:
            node = owners[change["session"]]
            if not any(who == str(node) and start - 1000 <= at <= end + 3000 for who, start, end in stops):
                facts["expiries"].append({"owner": node, "at": at})
    partitions.close()
    return facts


def lines(folder: Path) -> Iterator[str]:
    """All lines of the nodes' logs that mention an epoch."""
    for path in sorted(folder.glob("**/logs/*")):
        if "gc.log" in path.name:
            continue
        with gzip.open(path, "rt", errors="replace") if path.suffix == ".gz" else path.open(errors="replace") as file:
            yield from (line for line in file if "poch" in line)


def mark_visible(folder: Path, facts: Facts) -> None:
    """Mark each leader epoch with whether a line names that partition together with that epoch (and -1, if there was no leader).

    A line that prints controllerEpoch=-1 beside partitionEpoch=2 mentions no leaderless epoch 2.
    """
    wanted: dict[tuple[str, int], dict[int, list[dict[str, Any]]]] = {}
    for epoch in facts["leader_epochs"]:
        wanted.setdefault((epoch["topic"], epoch["partition"]), {}).setdefault(epoch["epoch"], []).append(epoch)
        epoch["visible"] = False
    names = "|".join(re.escape(name) for name in sorted({topic for topic, _ in wanted}, key=len, reverse=True))
    partition = re.compile(
        rf"\b({names})-(\d+)\b|\[({names}),(\d+)\]|topic(?:Name)?='?({names})'?, partition(?:Index)?=(\d+)|topicName='({names})'[^}}]*?partitionIndex=(\d+)"
    )
    number = re.compile(r"(?<!partition)(?<!partition )(?<!controller)epoch\D{0,12}(\d+)", re.I)
    for line in lines(folder):
        epochs = {int(match[1]) for match in number.finditer(line)}
        for match in partition.finditer(line):
            topic, index = (group for group in match.groups() if group is not None)
            known = wanted.get((topic, int(index)), {})
            for epoch in epochs & set(known):
                for meant in known[epoch] if len(known[epoch]) == 1 else lived(known[epoch], line):
                    meant["visible"] |= meant["leader"] != -1 or bool(re.search(r"leader\D{0,5}-1\b", line, re.I))


def lived(lives: list[dict[str, Any]], line: str) -> list[dict[str, Any]]:
    """The one of several lives' epochs that had begun last when a line was written, by a clock in UTC."""
    if not (said := re.match(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", line)):
        return []
    at = millis(dt.datetime.fromisoformat(said[1].replace(",", ".")))
    assert at is not None
    return [epoch for epoch in lives if epoch["at"] <= at][-1:]
