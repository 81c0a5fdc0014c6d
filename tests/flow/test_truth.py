"""The facts, compared with the clusters' own metadata: every lab cluster, row by row."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.flow.truth import millis, rows, truth
from tests.lab import CLUSTERS


def pair(wanted: list[tuple[str, int]], found: list[tuple[str, int]], within: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Pair events of the same subject by nearest time, each once; returns (missed, left over)."""
    free = list(found)
    missed = []
    for subject, at in sorted(wanted):
        near = sorted(
            (event for event in free if event[0] == subject and abs(event[1] - at) <= within), key=lambda event: abs(event[1] - at)
        )
        if near:
            free.remove(near[0])
        else:
            missed.append((subject, at))
    return missed, free


def ended(stretches: dict[tuple[str, int], int | None]) -> list[tuple[str, int]]:
    """Subject and end of the stretches that have one."""
    return [(subject, end) for (subject, _), end in stretches.items() if end is not None]


def elected(epoch: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(epoch[name] for name in ("incarnation", "topic", "life", "partition", "epoch", "leader"))


# The warning of a window without an end in a cluster of which all brokers were stopped.
STOPPED = "it had no end when all brokers had been stopped: ended_at is when the last one was"

# A moment of each time for which the injected faults left no majority of the quorum for ten seconds or more (`truth/actions.jsonl`): two of three nodes
# killed one after the other, two killed at once, all stopped or killed.
LOST = [
    ("kraft-431-dockerjson", dt.datetime(2026, 11, 29, 5, 39, 30)),
    ("kraft-431-dockerjson", dt.datetime(2026, 11, 29, 5, 40, 45)),
    ("kraft-431-dockerjson", dt.datetime(2026, 11, 29, 5, 45, 40)),
]


# With eligible replicas the set of a partition whose last replica shuts down is emptied, and nobody logs that. The first record of it is of the next start of
# that replica, half a minute later: the row says that a change is missing.
TOLD_LATE = {("upgraded-391-411", "solo-1 2"), ("upgraded-391-411", "solo-3 2")}


@pytest.mark.parametrize("cluster", CLUSTERS)
class TestCluster:
    def test_leader_elections(self, lab, cluster: str) -> None:
        epochs = truth(lab.folder / cluster)["leader_epochs"]
        everything = {elected(e): e["at"] for e in epochs}
        visible = {elected(e): e["at"] for e in epochs if e["visible"]}
        found = {
            (
                row.cluster_incarnation,
                row.topic_name,
                row.topic_incarnation,
                row.partition_id,
                row.leader_epoch,
                row.leader_id,
            ): millis(row.elected_at)
            for row in lab.rows(f"select * from marts.fct_leader_elections where cluster_id = '{cluster}'")
        }
        hit = [key for key in visible if key in found]
        extra = [key for key in found if key not in everything]
        late = [(key, found[key] - visible[key]) for key in hit if abs(found[key] - visible[key]) > 2000]
        assert len(visible) > 50
        assert len(hit) / len(visible) >= 0.99, [key for key in visible if key not in found]
        assert 1 - len(extra) / len(found) >= 0.99, extra
        assert 1 - len(late) / len(hit) >= 0.95, late

    def test_controller_tenures(self, lab, cluster: str) -> None:
        wanted = {(t["incarnation"], t["epoch"], t["controller"]): t["at"] for t in truth(lab.folder / cluster)["tenures"]}
        found = {
            (row.cluster_incarnation, row.controller_epoch, row.controller_id): millis(row.elected_at)
            for row in lab.rows(f"select * from marts.fct_controller_tenures where cluster_id = '{cluster}'")
        }
        assert set(found) == set(wanted)
        assert {key: found[key] - wanted[key] for key in wanted if abs(found[key] - wanted[key]) > 2000} == {}

    def test_times_without_a_controller(self, lab, cluster: str) -> None:
        """With ZooKeeper each controller is replaced as soon as its session is over.  In KRaft nothing is stored while there is none."""
        windows = [
            (millis(row.started_at), millis(row.ended_at or row.last_sign_at))
            for row in lab.rows(f"select * from marts.fct_controllerless_windows where cluster_id = '{cluster}'")
        ]
        if cluster.startswith("zk"):
            assert [window for window in windows if window[1] - window[0] > 2000] == []
            return
        tenures = sorted(truth(lab.folder / cluster)["tenures"], key=lambda tenure: tenure["epoch"])
        stored = [(tenure["at"], tenure["last"]) for tenure in tenures]
        assert [window for window in windows for first, last in stored if window[0] < last - 1000 and window[1] > first + 1000] == []
        lost = [at for known, at in LOST if known == cluster]
        assert [at for at in lost if not any(start <= millis(at) <= end for start, end in windows)] == []
        assert len([window for window in windows if window[1] - window[0] >= 10_000]) == len(lost)

    def test_session_expiries(self, lab, cluster: str) -> None:
        wanted = [(str(e["owner"]), e["at"]) for e in truth(lab.folder / cluster)["expiries"]]
        found = [
            (row.owner, millis(row.expired_at))
            for row in lab.rows(
                f"select * from marts.fct_session_expiries where cluster_id = '{cluster}' and session_kind <> 'zookeeper_client'"
            )
        ]
        assert pair(wanted, found, 5000) == ([], [])

    def test_leaderless_windows(self, lab, cluster: str) -> None:
        facts = truth(lab.folder / cluster)
        windows = [(f"{w['topic']}-{w['partition']}", w["start"], w["visible"]) for w in facts["leaderless"]]
        rows = lab.rows(f"select * from marts.fct_leaderless_windows where cluster_id = '{cluster}'")
        found = [(f"{row.topic_name}-{row.partition_id}", millis(row.started_at)) for row in rows]
        missed, left = pair([(name, at) for name, at, visible in windows if visible], found, 3000)
        assert missed == []
        untold = [(name, at) for name, at, visible in windows if not visible]
        assert pair(left, untold, 3000)[0] == []
        never = 2**60
        ends = [(f"{w['topic']}-{w['partition']}", w["end"] or never) for w in facts["leaderless"]]
        # No record of the metadata ends what was open when the storage was formatted anew, or when all brokers were stopped.
        borders = {row.valid_to for row in lab.rows(f"select valid_to from marts.dim_clusters where cluster_id = '{cluster}'")} - {None}
        ended = [
            (
                f"{row.topic_name}-{row.partition_id}",
                never if row.ended_at in borders or STOPPED in row.warnings else millis(row.ended_at) or never,
            )
            for row in rows
        ]
        assert pair(ended, ends, 2000)[0] == []

    def test_isr_changes(self, lab, cluster: str) -> None:
        """Every change in these clusters shows in some line: the leader's, the controller's, or a request that names the state."""
        changes = truth(lab.folder / cluster)["isr_changes"]
        wanted = [(f"{c['topic']}-{c['partition']} {c['before']} {c['after']}", c["at"]) for c in changes]
        found = [
            (f"{row.topic_name}-{row.partition_id} {sorted(row.isr_before)} {sorted(row.isr_after)}", millis(row.changed_at))
            for row in lab.rows(f"select * from marts.fct_isr_changes where cluster_id = '{cluster}'")
        ]
        missed, extra = pair(wanted, found, 5000)
        assert len(wanted) > 50
        assert 1 - len(missed) / len(wanted) >= 0.99, missed
        # Up to 2.6 a leader whose write to ZooKeeper fails because its session is gone logs the attempt and not the failure: up to four
        # in a cluster.
        assert 1 - len(extra) / len(found) >= 0.99, extra

    def test_under_replicated_windows(self, lab, cluster: str) -> None:
        """Replicas that stop because their topic is deleted are not an outage: the mart may have them or not."""
        stretches = {(f"{s['topic']}-{s['partition']} {s['replica']}", s["start"]): s for s in truth(lab.folder / cluster)["out_of_sync"]}
        wanted = {key: stretch["end"] for key, stretch in stretches.items() if not stretch["deleted"]}
        found = {
            (f"{row.topic_name}-{row.partition_id} {row.replica_id}", millis(row.started_at)): millis(row.ended_at)
            for row in lab.rows(f"select * from marts.fct_under_replicated_windows where cluster_id = '{cluster}'")
        }
        missed, _ = pair(list(wanted), list(found), 5000)
        missed = [(name, at) for name, at in missed if (cluster, name) not in TOLD_LATE]
        _, extra = pair(list(stretches), list(found), 5000)
        assert len(wanted) > 50
        assert 1 - len(missed) / len(wanted) >= 0.99, missed
        # Each attempt that is mistaken for a change opens a window for every replica that it drops: up to six of 442.
        assert 1 - len(extra) / len(found) >= 0.98, extra
        missed, _ = pair(ended(wanted), ended(found), 5000)
        assert 1 - len(missed) / len(ended(wanted)) >= 0.99, missed

    def test_node_runs(self, lab, cluster: str) -> None:
        """Each process has as many runs as it was started, and each run ends in the way in which the lab ended it."""
        ends: dict[int, list[set[str]]] = {}
        for action in sorted(
            rows(lab.folder / cluster / "truth/actions.jsonl"), key=lambda action: action.get("start", action.get("start_ms"))
        ):
            node, name = action.get("broker", action.get("node")), action["action"]
            if node is None:
                continue
            if name in ("start", "broker_start"):
                ends.setdefault(int(node), []).append({"open"})
            elif name.startswith("kill -9"):
                # After the last line, a killed process that was never started again looks like one that continues.
                ends[int(node)][-1] = {"killed", "open"}
            elif "SIGTERM" in name:
                ends[int(node)][-1] = {"clean", "killed"} if action.get("forced_kill") else {"clean"}
        found: dict[int, list[str]] = {}
        for row in lab.rows(f"select node_id, end_kind from marts.dim_node_runs where cluster_id = '{cluster}' order by run_number"):
            found.setdefault(row.node_id, []).append(row.end_kind)
        wrong = {
            node: (wanted, found.get(node))
            for node, wanted in ends.items()
            if len(found.get(node, [])) != len(wanted)
            or any(kind not in kinds for kind, kinds in zip(found.get(node, []), wanted, strict=True))
            or any(kind != "killed" for kind, kinds in zip(found[node][:-1], wanted[:-1], strict=True) if "open" in kinds)
        }
        assert wrong == {}
        assert set(found) == set(ends)

    def test_node_restarts(self, lab, cluster: str) -> None:
        """Each stop of a node is one row, of which all but the last are over: the node is ready after the lab started it again, and not sooner."""
        wanted: dict[int, list[tuple[int, int | None]]] = {}
        for action in sorted(
            rows(lab.folder / cluster / "truth/actions.jsonl"), key=lambda action: action.get("start", action.get("start_ms"))
        ):
            node, name = action.get("broker", action.get("node")), action["action"]
            began, ended = action.get("start", action.get("start_ms")), action.get("end", action.get("end_ms"))
            if node is None:
                continue
            if name in ("start", "broker_start") and int(node) in wanted:
                wanted[int(node)][-1] = (wanted[int(node)][-1][0], began)
            elif name.startswith("kill -9") or "SIGTERM" in name:
                wanted.setdefault(int(node), []).append((ended, None))
        found: dict[int, list[Any]] = {}
        for row in lab.rows(f"select * from marts.fct_node_restarts where cluster_id = '{cluster}' order by stopped_at"):
            found.setdefault(row.node_id, []).append(row)
        assert {node: len(stops) for node, stops in found.items()} == {node: len(stops) for node, stops in wanted.items()}
        for node, stops in wanted.items():
            for (stopped, started), row in zip(stops, found[node], strict=True):
                assert row.is_open == (started is None), row
                assert row.shutdown_ms is None or 0 <= row.shutdown_ms <= 60_000, row
                if started is not None and row.downtime_ms is None:
                    assert "the storage of the cluster was formatted before it came back" in row.warnings, row
                elif started is not None:
                    # A process that was killed has ended before it is missed, and after its last line.
                    assert 0 <= row.downtime_ms - (started - stopped) <= 60_000, (row, started - stopped)
                    assert row.downtime_so_far_ms == row.downtime_ms and row.starts == 1, row
