"""Wordings that clusters seldom print, or print with objects, errors and prefixes of many shapes: expected values are typed from the lines."""

from __future__ import annotations

import pytest

from ingestion.bronze.shapes import shape_of
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import envelopes

COORDINATOR = "kafka.coordinator.transaction"
MEMBER = "org.apache.kafka.clients.consumer.internals"
FENCED = "The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin."


def read(line: str) -> tuple[str | None, dict[str, str]]:
    """Event and fields of one record in Kafka's default layout."""
    record = line.encode()
    shape = shape_of(record, True, envelopes()[0], catalogue())
    return shape.event_type, {name: record[slice(*span)].decode() for name, span in zip(shape.keys, shape.spans, strict=True)}


@pytest.mark.parametrize(
    ("level", "message", "logger", "event", "fields"),
    [
        # 1.1 and 2.3.
        (
            "INFO",
            "[Transaction Marker Request Completion Handler 1]: Sending tx-pay [eu], v2's transaction marker for partition orders-3 has failed with error org.apache.kafka.common.errors.NotLeaderForPartitionException, retrying with current coordinator epoch 5",
            f"{COORDINATOR}.TransactionMarkerRequestCompletionHandler",
            "transaction_marker_failed",
            {
                "node": "1",
                "transactional_id": "tx-pay [eu], v2",
                "topic": "orders",
                "partition": "3",
                "error": "org.apache.kafka.common.errors.NotLeaderForPartitionException",
                "coordinator_epoch": "5",
            },
        ),
        (
            "INFO",
            "[Transaction Marker Request Completion Handler 2]: Sending tx-1's transaction marker for partition orders-3 has permanently failed with error org.apache.kafka.common.errors.TransactionCoordinatorFencedException with the current coordinator epoch 7; cancel sending any more transaction markers TxnMarkerEntry{producerId=4, producerEpoch=0, coordinatorEpoch=7, result=ABORT, partitions=[orders-3]} to the brokers",
            f"{COORDINATOR}.TransactionMarkerRequestCompletionHandler",
            "transaction_marker_failed",
            {"node": "2", "transactional_id": "tx-1", "topic": "orders", "partition": "3"},
        ),
        (
            "WARN",
            "[TransactionCoordinator id=1] Rolling back ongoing transaction of transactionalId: tx-orders-7 failed due to org.apache.kafka.common.errors.NotCoordinatorException",
            f"{COORDINATOR}.TransactionCoordinator",
            "transaction_timeout_failed",
            {"node": "1", "transactional_id": "tx-orders-7", "error": "org.apache.kafka.common.errors.NotCoordinatorException"},
        ),
        # 3.5: objects with brackets of their own, and the number of a partition of __transaction_state.
        (
            "WARN",
            "[Transaction State Manager 2]: Unloaded transaction metadata TxnMetadataCacheEntry(coordinatorEpoch=2, metadataPerTransactionalId=Pool(tx-1 -> TransactionMetadata(transactionalId=tx-1, pendingState=None))) from 3 as part of loading metadata at epoch 3",
            f"{COORDINATOR}.TransactionStateManager",
            "transactions_replaced",
            {"node": "2", "partition": "3", "coordinator_epoch": "3"},
        ),
        (
            "ERROR",
            "TransactionMetadata(transactionalId=tx-1, producerId=7, previousProducerId=-1, producerEpoch=3, lastProducerEpoch=2, txnTimeoutMs=60000, state=Ongoing, pendingState=None, topicPartitions=HashSet(orders-3), txnStartTimestamp=1763798400000, txnLastUpdateTimestamp=1763798400004)'s transition to TxnTransitMetadata(producerId=7, prevProducerId=-1, txnState=CompleteAbort, topicPartitions=HashSet()) failed since pendingState is not defined: this should not happen",
            f"{COORDINATOR}.TransactionMetadata",
            "transaction_state_inconsistent",
            {},
        ),
        (
            "ERROR",
            "TransactionMetadata(transactionalId=tx-1, producerId=7, state=Ongoing, pendingState=Some(PrepareAbort), topicPartitions=HashSet(orders-3))'s transition to TxnTransitMetadata(producerId=7, txnState=CompleteAbort) failed: this should not happen",
            f"{COORDINATOR}.TransactionMetadata",
            "transaction_state_inconsistent",
            {},
        ),
        # Until 3.4 a word says who fetched, from 3.5 on the replica.
        (
            "ERROR",
            "[ReplicaManager broker=1] Error processing fetch with max size 1048576 from follower on partition orders-3: PartitionData(fetchOffset=77, logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[5])",
            "kafka.server.ReplicaManager",
            "fetch_failed",
            {"node": "1", "bytes_asked": "1048576", "fetcher_kind": "follower", "topic": "orders", "partition": "3"},
        ),
        (
            "ERROR",
            "[ReplicaManager broker=1] Error processing fetch with max size 1048576 from replica [2] on partition 5nR1Zk3mQ2mC1l0W7y5k9A:orders-3: PartitionData(topicId=5nR1Zk3mQ2mC1l0W7y5k9A, fetchOffset=77, logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[5], lastFetchedEpoch=Optional[4])",
            "kafka.server.ReplicaManager",
            "fetch_failed",
            {"node": "1", "bytes_asked": "1048576", "broker": "2", "topic": "orders", "partition": "3"},
        ),
        # 4.1.
        (
            "INFO",
            f"[Consumer clientId=billing-1, groupId=billing] ConsumerGroupHeartbeatRequest failed for member 9xVf2 because epoch 0 is fenced. in 0ms: {FENCED}",
            f"{MEMBER}.ConsumerHeartbeatRequestManager",
            "member_epoch_fenced",
            {
                "client_id": "billing-1",
                "group_id": "billing",
                "api": "ConsumerGroupHeartbeatRequest",
                "member_id": "9xVf2",
                "member_epoch": "0",
                "backoff_ms": "0",
                "error": FENCED,
            },
        ),
        (
            "INFO",
            f"[Consumer clientId=billing-1, groupId=billing] GroupHeartbeatRequest failed for member 9xVf2 because epoch -1 is fenced. in 100ms: {FENCED}",
            f"{MEMBER}.HeartbeatRequestManager",
            "member_epoch_fenced",
            {"api": "GroupHeartbeatRequest", "member_epoch": "-1", "backoff_ms": "100"},
        ),
        (
            "INFO",
            "[data-plane Kafka Request Handler on Controller 11] shut down completely",
            "kafka.server.KafkaRequestHandlerPool",
            "request_handlers_stopped",
            {"node": "11"},
        ),
        (
            "INFO",
            "[data-plane Kafka Request Handler on Controller 11], shut down completely",
            "kafka.server.KafkaRequestHandlerPool",
            "request_handlers_stopped",
            {"node": "11"},
        ),
        (
            "INFO",
            "[data-plane Kafka Request Handler on Broker 1], shut down completely",
            "kafka.server.KafkaRequestHandlerPool",
            "request_handlers_stopped",
            {"node": "1"},
        ),
        (
            "INFO",
            "[RaftManager id=1] Updated in-memory voters from VoterSet(voters={1=VoterNode(voterKey=ReplicaKey(id=1, directoryId=<undefined>), listeners=Endpoints(endpoints={ListenerName(CONTROLLER)=c1/<unresolved>:9093}))}) to VoterSet(voters={})",
            "org.apache.kafka.raft.internals.UpdateVoterHandler",
            "voters_changed",
            {"node": "1"},
        ),
        # 4.2.
        (
            "WARN",
            "Auto topic creation failed for orders with error 'TOPIC_ALREADY_EXISTS': Topic 'orders' already exists.",
            "kafka.server.DefaultAutoTopicCreationManager",
            "topic_creation_failed",
            {"topic": "orders", "error": "TOPIC_ALREADY_EXISTS", "reason": "Topic 'orders' already exists."},
        ),
        (
            "WARN",
            "Exception while getting share coordinator",
            "kafka.server.share.ShareCoordinatorMetadataCacheHelperImpl",
            "share_state_request_failed",
            {},
        ),
        (
            "ERROR",
            "[Persister broker=1]Unable to find node to use for coordinator lookup.",
            "org.apache.kafka.server.share.persister.PersisterStateManager$ReadStateHandler",
            "share_state_request_failed",
            {"node": "1"},
        ),
        # The same words under the class that prints them in another release.
        (
            "INFO",
            "Incremental fetch session 12 expected epoch 4, but got 3. Possible duplicate request.",
            "kafka.server.IncrementalFetchContext",
            "fetch_session_refused",
            {},
        ),
        (
            "INFO",
            "Unset the log level of kafka.server.ReplicaManager",
            "kafka.server.ConfigAdminManager",
            "log_level_changed",
            {"logger_name": "kafka.server.ReplicaManager"},
        ),
        (
            "ERROR",
            "Error on broker 1 while processing LeaderAndIsr request with correlationId 7 received from controller 2 epoch 3",
            "state.change.logger",
            "leader_and_isr_failed",
            {"broker": "1", "correlation_id": "7", "controller": "2", "request_controller_epoch": "3"},
        ),
        (
            "WARN",
            "stream-thread [billing-5f0c-StreamThread-1] Could not get lock for state directory 0_1 for task 0_1 as user calling cleanup.",
            "org.apache.kafka.streams.processor.internals.StateDirectory",
            "streams_warned",
            {"stream_thread": "billing-5f0c-StreamThread-1"},
        ),
        # A message of several lines: the lines below the first belong to the value.
        (
            "WARN",
            "Failed to flush file /data/kafka logs (old)/orders-3/00000000000000000000.log\njava.io.IOException: Input/output error\n\tat java.base/sun.nio.ch.FileDispatcherImpl.force0(Native Method)",
            "org.apache.kafka.common.utils.Utils",
            "file_flush_failed",
            {},
        ),
        # 4.3: the prefix of the metadata log, of which one part does not name the node.
        (
            "INFO",
            "[RaftLog partition=__cluster_metadata-0] Initialized snapshots with IDs [OffsetAndEpoch[offset=0, epoch=0]] from /data/meta/__cluster_metadata-0",
            "org.apache.kafka.raft.internals.KafkaRaftLog",
            "metadata_snapshot_kept",
            {"topic": "__cluster_metadata", "partition": "0", "node": None},
        ),
        (
            "INFO",
            "[RaftLog partition=__cluster_metadata-0, nodeId=3] Cannot create a snapshot with an id (OffsetAndEpoch[offset=1, epoch=1]) less than the log start offset (LogOffsetMetadata(offset=2))",
            "org.apache.kafka.raft.internals.KafkaRaftLog",
            "metadata_snapshot_kept",
            {"node": "3"},
        ),
        # 4.1: settings of a controller in the file of a broker.
        (
            "WARN",
            "num.partitions is defined in broker. It should be defined in the controller role. This configuration will be ignored in the broker role in 5.0.",
            "kafka.server.KafkaConfig",
            "setting_doubtful",
            {"setting": "num.partitions"},
        ),
        (
            "WARN",
            "create.topic.policy.class.name is defined in broker. It should be defined in the controller role. ",
            "kafka.server.KafkaConfig",
            "setting_doubtful",
            {"setting": "create.topic.policy.class.name"},
        ),
        # 4.3: an exception that the node ignored, under the name of the class that ignored it.
        ("WARN", "Exception while execution the action", "kafka.server.BrokerServer", "exception_swallowed", {}),
        # 4.4: automatic topics, whose manager moved and prints a Java set.
        (
            "INFO",
            "Sent auto-creation request for [auto-made-2, auto.made_2] to the active controller.",
            "org.apache.kafka.server.DefaultAutoTopicCreationManager",
            "topic_creation_asked",
            {"topics": "auto-made-2, auto.made_2"},
        ),
        (
            "WARN",
            "Auto topic creation failed for auto.made_2 with error 'INVALID_TOPIC_EXCEPTION': Topic 'auto.made_2' collides with existing topic: auto_made.2.",
            "org.apache.kafka.server.DefaultAutoTopicCreationManager",
            "topic_creation_failed",
            {
                "topic": "auto.made_2",
                "error": "INVALID_TOPIC_EXCEPTION",
                "reason": "Topic 'auto.made_2' collides with existing topic: auto_made.2.",
            },
        ),
        (
            "WARN",
            "Auto topic creation failed for [orders, payments] with invalid version exception.",
            "org.apache.kafka.server.DefaultAutoTopicCreationManager",
            "topic_creation_failed",
            {"topics": "orders, payments", "error": "invalid version exception"},
        ),
        # 4.4 prints no blank between a broker and its log directory, 3.7 did.
        (
            "INFO",
            "[QuorumController id=1] handleDirectoriesOffline[2:hxn1DhGuL2rRPa-MDCHpnQ]: changing 27 partition(s)",
            "org.apache.kafka.controller.ReplicationControlManager",
            "partition_change_counted",
            {"node": "1", "broker": "2", "partitions_changed": "27"},
        ),
        (
            "INFO",
            "[QuorumController id=1] handleDirectoriesOffline[2: hxn1DhGuL2rRPa-MDCHpnQ]: changing 27 partition(s)",
            "org.apache.kafka.controller.ReplicationControlManager",
            "partition_change_counted",
            {"node": "1", "broker": "2", "partitions_changed": "27"},
        ),
        # Dead letter queues of share groups (4.4): an object over three lines, and a prefix with no blank after it.
        (
            "ERROR",
            "Unable to create DLQ topic for ProduceRequestHandler using DLQ topic dlq.billing: Replication factor: 3 larger than available brokers: 2.",
            "org.apache.kafka.server.share.dlq.ShareGroupDLQStateManager$ProduceRequestHandler",
            "share_dlq_topic_failed",
            {"topic": "dlq.billing", "error": "Replication factor: 3 larger than available brokers: 2"},
        ),
        (
            "WARN",
            "Unable to read records at offset 12 for ShareGroupDLQRecordParameter[groupId=sh, topicIdPartition=JAbkxmriT6y0mTUBqBT_Gw:shared-1, firstOffset=10, lastOffset=12, deliveryCount=Optional[5], cause=Optional.empty] due to error NOT_LEADER_OR_FOLLOWER. Skipping it.",
            "org.apache.kafka.server.share.dlq.ShareGroupDLQRecordFetcher",
            "share_dlq_content_missing",
            {"group_id": "sh", "topic": "shared", "partition": "1", "error": "NOT_LEADER_OR_FOLLOWER"},
        ),
        (
            "INFO",
            "[ShareGroupDLQManager broker=1]Node 2 disconnected.",
            "org.apache.kafka.clients.NetworkClient",
            "client_disconnected",
            {"node": "1", "target_node": "2"},
        ),
        (
            "INFO",
            "[ShareGroupDLQSendThread]: Shutdown completed",
            "org.apache.kafka.server.share.dlq.ShareGroupDLQStateManager$SendThread",
            "thread_stopping",
            {},
        ),
        # A share group's name may have hyphens, as the id of a topic may.
        (
            "WARN",
            "The offset 408 is on last delivery attempt in share partition: sh-missing-EVU4lYYOQIus1pADcpXS-Q:shared-orders-1, should be delivered alone in this fetch",
            "kafka.server.share.SharePartition",
            "share_last_delivery_begun",
            {"group_id": "sh-missing", "topic": "shared-orders", "partition": "1", "offset_given_up": "408"},
        ),
        (
            "ERROR",
            "Failed to write the share group state for share partition: billing-eu-west-5nR1Zk3mQ2mC1l0W7y5k9A:orders-3 due to exception",
            "kafka.server.share.SharePartition",
            "share_partition_failed",
            {"group_id": "billing-eu-west", "topic": "orders", "partition": "3"},
        ),
        # A connection with TLS puts itself before its messages (2.0 and later).
        (
            "INFO",
            "[SslTransportLayer channelId=10.0.0.1:9093-10.0.0.9:5555-0 key=channel=java.nio.channels.SocketChannel[closed], selector=sun.nio.ch.EPollSelectorImpl@5, interestOps=1, readyOps=0] Failed to send SSL Close message ",
            "org.apache.kafka.common.network.SslTransportLayer",
            "ssl_close_failed",
            {"connection_id": "10.0.0.1:9093-10.0.0.9:5555-0"},
        ),
        # Streams, 1.0 to 3.9 and 4.0.
        (
            "WARN",
            "Unexpected user-specified producer config: enable.idempotence found. processing.guarantee is set to exactly_once. Hence, User setting (false) will be ignored and the Streams default setting (true) will be used ",
            "org.apache.kafka.streams.StreamsConfig",
            "setting_doubtful",
            {"setting": "enable.idempotence", "setting_value": "false"},
        ),
        (
            "ERROR",
            "Unexpected user-specified consumer config 'enable.auto.commit' found. User setting (true) will be ignored and the Streams default setting (false) will be used.",
            "org.apache.kafka.streams.StreamsConfig",
            "setting_doubtful",
            {"setting": "enable.auto.commit", "setting_value": "true"},
        ),
        (
            "INFO",
            "stream-thread [st-new-71edf8b6-9378-402f-9da4-f309cb62e51c-StreamThread-1] Revoking active tasks [0_2, 0_3, 1_2, 1_3].",
            "org.apache.kafka.streams.processor.internals.StreamThread",
            "streams_progressed",
            {},
        ),
    ],
)
def test_a_line_is_recognised(level: str, message: str, logger: str, event: str, fields: dict[str, str]) -> None:
    head, newline, trace = message.partition("\n")
    found, values = read(f"[2026-11-22 08:00:00,001] {level} {head} ({logger}){newline}{trace}")
    assert found == event
    assert {name: values.get(name) for name in fields} == fields


def test_an_object_in_a_message_may_span_lines() -> None:
    """4.4 prints what it wanted to write to a dead letter queue; the logger is at the end of the last line."""
    event, values = (
        read("""[2026-11-29 07:41:04,882] ERROR Unable to produce ProduceRequestHandler(param: ShareGroupDLQRecordParameter[groupId=sh-copy, topicIdPartition=JAbkxmriT6y0mTUBqBT_Gw:shared-0, firstOffset=287, lastOffset=287, deliveryCount=Optional[3], cause=Optional[org.apache.kafka.server.share.dlq.ShareGroupDLQManager$ShareGroupDLQThrowable: Offset rejected by client.]]
dlqTopicData: TopicPartitionData[topicName=dlq.ok, numPartitions=Optional[1], topicId=Optional[N1lvxzvdQdiBAUFbTKc8_w], partitionLeaderNodes=[127.0.0.1:27101 (id: 1 rack: null isFenced: false)]]
) to DLQ topic node 127.0.0.1:27101 (id: 1 rack: null isFenced: false) - The request timed out.. (org.apache.kafka.server.share.dlq.ShareGroupDLQStateManager$ProduceRequestHandler)""")
    )
    assert event == "share_dlq_failed"
    assert (values["group_id"], values["topic"], values["partition"]) == ("sh-copy", "shared", "0")
    assert values["target_address"] == "127.0.0.1:27101 (id: 1 rack: null isFenced: false)"
    assert values["error"] == "The request timed out."
