"""Facts about groups, compared with the records of __consumer_offsets and with the owners in ZooKeeper."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.flow.truth import millis
from tests.lab import CLUSTERS

KRAFT = [cluster for cluster in CLUSTERS if cluster.startswith("kraft-")]
GROUP = re.compile(
    r'key: (?:group_metadata::group=(?P<old>\S+)|\{"type":"2","data":\{"group":"(?P<new>[^"]+)"\}\}) payload: (?P<payload>\{.*)'
)
EPOCH = re.compile(
    r'key: \{"type":"3","data":\{"groupId":"(?P<group>[^"]+)"\}\} payload: \{"version":"\d+","data":\{"epoch":(?P<epoch>\d+)'
)


def generations(folder: Path) -> list[tuple[str, int, int, int, int | None]]:
    """Group, generation, partition, time (epoch ms) and members of each record of a group that came out of a rebalance."""
    found = []
    for line in (folder / "truth/group-metadata.jsonl").read_text().splitlines():
        record = json.loads(line)
        match = GROUP.match(record["text"])
        if match:
            payload = json.loads(match["payload"])
            data = payload.get("data", payload)
            generation = data.get("generation", data.get("generationId"))
            members = len(data["members"]) if "members" in data else None
            if generation:
                found.append((match["old"] or match["new"], generation, record["partition"], record["ts"], members))
        match = EPOCH.match(record["text"])
        if match:
            found.append((match["group"], int(match["epoch"]), record["partition"], record["ts"], None))
    return found


@pytest.mark.parametrize("cluster", KRAFT)
def test_generations_are_rebalances(lab, cluster: str) -> None:
    wanted = generations(lab.folder / cluster)
    rows = lab.rows(f"select * from marts.fct_group_rebalances where cluster_id = '{cluster}' and not is_failed")
    missed = []
    for group, generation, _, at, members in wanted:
        near = [
            row
            for row in rows
            if (row.group_id, row.generation_id) == (group, generation)
            and any(end is not None and abs(millis(end) - at) <= 2000 for end in (row.started_at, row.ended_at))
            and members in (None, row.members, 0)
        ]
        # When a static member returns, its group is stored again without a rebalance.
        if not near and (group, generation) not in {(row.group_id, row.generation_id) for row in rows if row.ended_at}:
            missed.append((group, generation, at))
    assert len(wanted) >= 10
    assert not missed
    named = {(group, generation) for group, generation, *_ in wanted}
    groups = {group for group, *_ in wanted}
    extra = [
        (row.group_id, row.generation_id)
        for row in rows
        if row.group_id in groups and row.outcome == "completed" and (row.group_id, row.generation_id) not in named
    ]
    assert len(extra) <= len(rows) / 10, extra


@pytest.mark.parametrize("cluster", KRAFT)
def test_partitions_of_groups(lab, cluster: str) -> None:
    wanted = {group: partition for group, _, partition, *_ in generations(lab.folder / cluster)}
    found = {
        row.group_id: row.offsets_partition_id
        for row in lab.rows(f"select group_id, offsets_partition_id from marts.dim_groups where cluster_id = '{cluster}'")
    }
    assert wanted
    assert {group: found.get(group) for group in wanted} == wanted


def test_owners_in_zookeeper(lab) -> None:
    """Nobody owned a partition for longer than a rebalance may take, except for those whose consumers had stopped at the end."""
    (folder,) = lab.folder.glob("zk-e-*")
    owners: dict[str, list[tuple[int, str]]] = {}
    for line in (folder / "truth/truth.jsonl").read_text().splitlines():
        record = json.loads(line)
        path = record.get("path") or ""
        if "/owners/" in path and path.count("/") == 5 and record["type"] in ("create", "delete"):
            owners.setdefault(path, []).append((record["ts"], record["type"]))
    wanted = set()
    for path, changes in owners.items():
        lost = None
        for at, kind in sorted(changes):
            if kind == "create" and lost is not None and at - lost > 8000:
                wanted.add((path, True))
            lost = at if kind == "delete" else None
        if lost is not None:
            wanted.add((path, False))
    rows = lab.rows(f"select * from marts.fct_consumer_ownership_gaps where cluster_id = '{folder.name}'")
    found = {(f"/consumers/{row.group_id}/owners/{row.topic_name}/{row.partition_id}", row.ended_at is not None) for row in rows}
    assert len(owners) > 20
    assert found <= wanted
