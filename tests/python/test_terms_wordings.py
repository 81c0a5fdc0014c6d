"""How a leader of the quorum, and a new state of ZooKeeper, say so in each release: expected values are typed from the lines."""

from __future__ import annotations

import pytest

from ingestion.bronze.shapes import shape_of
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import envelopes

CONTROLLER = "org.apache.kafka.controller.QuorumController"
FAULT = "org.apache.kafka.server.fault.LoggingFaultHandler"
STATE = "org.apache.kafka.raft.QuorumState"
RENOUNCED = "controller_renounced_after_failure"


def read(level: str, message: str, logger: str) -> tuple[str | None, dict[str, str]]:
    """Event and fields of one record in Kafka's default layout."""
    record = f"[2026-11-21 09:46:25,000] {level} {message} ({logger})\n".encode()
    shape = shape_of(record, True, envelopes()[0], catalogue())
    return shape.event_type, {name: record[slice(*span)].decode() for name, span in zip(shape.keys, shape.spans, strict=True)}


@pytest.mark.parametrize(
    ("level", "message", "logger", "event", "fields"),
    [
        # 2.8, with two blanks.
        (
            "WARN",
            "[Controller 3] createTopics: failed with unknown server exception IllegalStateException at epoch 4 in 512 us.  Reverting to last committed offset 88.",
            CONTROLLER,
            RENOUNCED,
            {"node": "3", "error": "IllegalStateException", "quorum_epoch": "4", "duration_us": "512", "committed_offset": "88"},
        ),
        # 3.4.
        (
            "WARN",
            "[Controller 3] createTopics: failed with unknown server exception IllegalStateException at epoch 4 in 512 us.  Renouncing leadership and reverting to the last committed offset 88.",
            CONTROLLER,
            RENOUNCED,
            {"quorum_epoch": "4", "committed_offset": "88"},
        ),
        # 3.6 and later: of its own, as another exception, and as a fault.
        (
            "INFO",
            "[QuorumController id=3] writeNoOpRecord: event failed with NotLeaderException at epoch 4 in 512 microseconds. Renouncing leadership and reverting to the last committed offset 88. Exception message: Append failed because the replication is not the current leader.",
            CONTROLLER,
            RENOUNCED,
            {"controller_event": "writeNoOpRecord", "error": "NotLeaderException", "quorum_epoch": "4", "committed_offset": "88"},
        ),
        (
            "INFO",
            "[QuorumController id=3] alterPartition: event failed with NotLeaderException (treated as NotControllerException) at epoch 4 in 512 microseconds. Renouncing leadership and reverting to the last committed offset 88.",
            CONTROLLER,
            RENOUNCED,
            {"error": "NotLeaderException", "quorum_epoch": "4"},
        ),
        (
            "ERROR",
            "Encountered quorum controller fault: createTopics: event failed with NullPointerException (treated as UnknownServerException) at epoch 4 in 512 microseconds. Renouncing leadership and reverting to the last committed offset 88.",
            FAULT,
            RENOUNCED,
            {"fault_kind": "quorum controller", "error": "NullPointerException", "quorum_epoch": "4"},
        ),
        # Not the leader: nothing to give up.
        (
            "INFO",
            "[QuorumController id=3] alterPartition: event failed with NotLeaderException at epoch 4 in 512 microseconds. The controller is already in standby mode.",
            CONTROLLER,
            "controller_event_failed",
            {"quorum_epoch": "4"},
        ),
        # Until 3.4 a state does not name the one before.
        (
            "INFO",
            "[RaftManager nodeId=1] Completed transition to Unattached(epoch=9, voters=[1, 2, 3], electionTimeoutMs=1909)",
            STATE,
            "quorum_state_changed",
            {"quorum_state": "Unattached", "quorum_epoch": "9"},
        ),
        # 3.5 to 3.7.
        (
            "INFO",
            "[RaftManager id=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=9, leaderId=2, voters=[1, 2, 3], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from Leader(localId=1, epoch=8, epochStartOffset=77, highWatermark=Optional.empty, voterStates={1=ReplicaState(nodeId=1, endOffset=Optional.empty)})",
            STATE,
            "quorum_state_changed",
            {
                "quorum_state": "FollowerState",
                "quorum_epoch": "9",
                "quorum_leader": "2",
                "left_quorum_state": "Leader",
                "left_quorum_epoch": "8",
            },
        ),
        # 4.1 and later.
        (
            "INFO",
            "[RaftManager id=1] Completed transition to UnattachedState(epoch=9, leaderId=OptionalInt.empty, votedKey=Optional.empty, voters=[1, 2, 3], electionTimeoutMs=1909, highWatermark=Optional.empty) from Leader(localVoterNode=VoterNode(voterKey=ReplicaKey(id=1, directoryId=xAvvWNxlbkPPyPVUwmwjww), listeners=Endpoints(endpoints={ListenerName(CONTROLLER)=/10.0.0.1:9093}), supportedKRaftVersion=SupportedVersionRange[min_version:0, max_version:1]), epoch=8, epochStartOffset=77)",
            STATE,
            "quorum_state_changed",
            {"quorum_state": "UnattachedState", "left_quorum_state": "Leader", "left_quorum_epoch": "8"},
        ),
        (
            "INFO",
            "[RaftManager id=1] Completed transition to ProspectiveState(epoch=9, leaderId=OptionalInt[2], votedKey=Optional.empty, epochElection=EpochElection[voterStates={}], electionTimeoutMs=1909) from FollowerState(fetchTimeoutMs=2000, epoch=9, leader=2, votedKey=Optional.empty)",
            STATE,
            "quorum_state_changed",
            {"quorum_state": "ProspectiveState", "left_quorum_state": "FollowerState", "left_quorum_epoch": "9"},
        ),
        # A process that starts, and was leader when it stopped.
        (
            "INFO",
            "[RaftManager id=1] Completed transition to ResignedState(localId=1, epoch=9, voters=[1], electionTimeoutMs=1909, unackedVoters=[], preferredSuccessors=[]) from null",
            STATE,
            "quorum_state_changed",
            {"quorum_state": "ResignedState", "quorum_epoch": "9", "left_quorum_state": "null"},
        ),
        (
            "INFO",
            "Successfully created /controller_epoch with initial epoch 0",
            "kafka.zk.KafkaZkClient",
            "controller_epoch_created",
            {"controller_epoch": "0"},
        ),
        (
            "INFO",
            "Successfully registered KRaft controller 3000 with ZK epoch 19",
            "kafka.zk.KafkaZkClient",
            "kraft_controller_registered_in_zookeeper",
            {"controller": "3000", "controller_epoch": "19"},
        ),
    ],
)
def test_a_line_says_which_term_begins_or_ends(level: str, message: str, logger: str, event: str, fields: dict[str, str]) -> None:
    found, values = read(level, message, logger)
    assert found == event
    assert fields.items() <= values.items()
    # What a line does not say about the state that it leaves is absent, not empty.
    assert {name for name in values if name.startswith("left_")} == {name for name in fields if name.startswith("left_")}
