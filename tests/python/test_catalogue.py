"""The shipped catalogue recognises its own examples, and bad catalogues are refused with the place and the remedy."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from chronicle.catalogue import authoring
from chronicle.catalogue.check import problems
from ingestion.reading.catalogue_files import CATALOGUE, CatalogueError
from ingestion.recognition.forms import ELLIPSIS, MARK
from ingestion.recognition.recognise import Catalogue, catalogue


def test_every_form_extracts_its_own_values_and_no_other_form_takes_its_line() -> None:
    assert problems(catalogue()) == []


def marked(text: str) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """A marked-up line as it is printed, and the position of each mark's value in it."""
    line, places = b"", {}
    *pieces, last = MARK.split(text)
    for fixed, name, value in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        line += fixed.replace(ELLIPSIS, "").encode()
        places[name] = (len(line), len(line) + len(value.encode()))
        line += value.encode()
    return line + last.replace(ELLIPSIS, "").encode(), places


def test_each_line_is_recognised_and_its_values_are_where_the_marks_are() -> None:
    """As ingestion recognises it: among all forms, by its logger and its text. Two wordings of one event may both fit a line."""
    vocabulary, wrong, others = catalogue().vocabulary, [], 0
    for form in catalogue().forms:
        line, places = marked(form.text)
        found = catalogue().recognise((form.loggers or ("kafka.server.KafkaServer",))[0].encode(), line)
        if found is None or found.form.event != form.event:
            wrong.append((form.path, form.at_line, form.event, found))
        elif found.form is not form:
            others += 1
        else:
            spans = {span.name: (span.start, span.end) for span in found.spans}
            for name, place in places.items():
                parts = vocabulary.token_of(name).parts
                held = [spans[part] for part in parts if part in spans] if parts else [spans.get(name)]
                if any(span != place and not (parts and place[0] <= span[0] <= span[1] <= place[1]) for span in held):
                    wrong.append((form.path, form.at_line, name, place, spans))
    assert wrong == []
    assert others < len(catalogue().forms) / 100


def test_forms_of_one_event_agree_in_the_fields_they_share() -> None:
    """A field is one token wherever it occurs, and the vocabulary has its type once, so the type cannot differ."""
    for form in catalogue().forms:
        assert set(form.names) <= set(catalogue().vocabulary.fields)


def test_generated_files_are_fresh() -> None:
    made = authoring.made_files(catalogue())
    assert [path.name for path, text in made.items() if path.read_text() != text] == [], "run: chronicle catalogue build"
    assert set(authoring.PAGES.glob("*.md")) - set(made) == set(), "run: chronicle catalogue build"


def test_a_role_without_an_event_is_a_problem(tmp_path: Path) -> None:
    folder = shutil.copytree(CATALOGUE, tmp_path / "catalogue")
    with (folder / "roles.yml").open("a") as roles:
        roles.write("node_sleep:\n  means: A node falls asleep.\n")
    (found,) = problems(Catalogue(folder))
    assert found.endswith("roles.yml: role 'node_sleep' is of no event; delete it")


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("node_sleep: {needs: [node]}\n", r"roles\.yml:\d+: role 'node_sleep' has no meaning; write means"),
        ("node_sleep: {means: x, needs: [node, bed|sofa]}\n", r"role 'node_sleep' needs the unknown field bed; add it to fields\.yml"),
    ],
)
def test_a_faulty_role_is_refused(tmp_path: Path, entry: str, says: str) -> None:
    folder = shutil.copytree(CATALOGUE, tmp_path / "catalogue")
    with (folder / "roles.yml").open("a") as roles:
        roles.write(entry)
    with pytest.raises(CatalogueError) as error:
        Catalogue(folder)
    assert re.search(says, str(error.value)), str(error.value)


@pytest.fixture
def broken(tmp_path: Path):
    """A copy of the catalogue whose message files are replaced by one text."""

    def make(text: str) -> Path:
        folder = tmp_path / "catalogue"
        shutil.copytree(CATALOGUE, folder)
        for path in (folder / "messages").glob("*.yml"):
            path.unlink()
        (folder / "messages" / "bad.yml").write_text(text)
        return folder

    return make


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Bad-Id:\n  means: x\n  forms:\n    - line: abc\n", r"bad\.yml:2: 'Bad-Id' is not an event id; write small letters"),
        ("thing_done:\n  forms:\n    - line: abc\n", r"bad\.yml:2: 'thing_done' has no meaning; write means"),
        ("thing_done:\n  means: x\n", r"bad\.yml:2: 'thing_done' has no forms"),
        (
            'thing_done:\n  means: x\n  forms:\n    - line: "<<nonsense=1>> b"\n',
            r"bad\.yml:4: field 'nonsense' is not in fields\.yml; add it there",
        ),
        ('thing_done:\n  means: x\n  forms:\n    - line: "leader <<leader=two>>"\n', r"value 'two' of 'leader' is no int"),
        ('thing_done:\n  means: x\n  forms:\n    - line: "leader <<leader=2>"\n', r"a mark is not closed"),
        ('thing_done:\n  means: x\n  forms:\n    - line: "<<leader=2>>"\n', r"nothing in .* is fixed text"),
        ('thing_done:\n  means: x\n  forms:\n    - {line: "abc", since: "2.0", until: "1.0"}\n', r"since 2\.0 is later than until 1\.0"),
        ("thing_done:\n  means: x\n  wrong: y\n  forms:\n    - line: abc\n", r"unknown key \['wrong'\]"),
        (
            "thing_done:\n  means: x\n  severity: warning\n  forms:\n    - line: abc\n",
            r"bad\.yml:2: 'thing_done' has the unknown severity 'warning'; use one of normal, notice, degraded, failed",
        ),
        ("thing_done: [\n", r"bad\.yml:\d+: not valid YAML"),
        (
            "thing_done:\n  means: x\n  roles: [node_begin]\n  forms:\n    - line: abc\n",
            r"bad\.yml:2: 'thing_done' has the unknown role 'node_begin'; use one of roles\.yml",
        ),
        (
            "thing_done:\n  means: x\n  roles: node_start\n  forms:\n    - line: abc\n",
            r"bad\.yml:2: the roles of 'thing_done' are not a list",
        ),
        (
            "thing_done:\n  means: x\n  noise: true\n  roles: [node_start]\n  forms:\n    - line: abc\n",
            r"bad\.yml:2: 'thing_done' is noise and has the role 'node_start'; facts do not see noise",
        ),
        (
            'thing_done:\n  means: x\n  roles: [log_dir_failure]\n  forms:\n    - line: "<<log_dir=/a>> lost"\n    - line: "a disk is lost"\n',
            r"bad\.yml:6: a form of 'thing_done' lacks log_dir, which the role 'log_dir_failure' needs; mark it in the line",
        ),
    ],
)
def test_a_fault_names_place_finding_and_remedy(broken, text: str, says: str) -> None:
    with pytest.raises(CatalogueError) as error:
        Catalogue(broken(text))
    assert re.search(says, str(error.value)), str(error.value)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("{token: int, unit: hours, means: x}", r"fields\.yml:\d+: field 'wait_ms' has the unknown unit 'hours'; use one of units\.yml"),
        ("{token: int, means: x}", r"fields\.yml:\d+: field 'wait_ms' has no unit; write unit: ms or epoch_ms, as its name says"),
        ("{token: int, unit: seconds, means: x}", r"field 'wait_ms' has the unit 'seconds'; write unit: ms or epoch_ms"),
    ],
)
def test_a_unit_is_one_of_the_vocabulary_and_the_one_of_the_name(broken, field: str, says: str) -> None:
    folder = broken("thing_done:\n  means: x\n  forms:\n    - line: abc\n")
    with (folder / "fields.yml").open("a") as fields:
        fields.write(f"  wait_ms: {field}\n")
    with pytest.raises(CatalogueError, match=says):
        Catalogue(folder)


def test_a_line_that_two_events_claim_is_a_problem(broken) -> None:
    text = (
        'one_done:\n  means: x\n  forms:\n    - {loggers: [a.B], line: "partition <<partition=1>> moved to <<broker=2>> now"}\n'
        'two_done:\n  means: x\n  forms:\n    - {loggers: [a.B], line: "partition <<partition=1>> moved to <<leader=2>> now"}\n'
    )
    assert any("is taken by 'one_done'" in problem for problem in problems(Catalogue(broken(text))))


@pytest.mark.parametrize(
    ("logger", "context", "body", "event", "fields"),
    [
        # 0.8.2, the controller's request.
        (
            "state.change.logger",
            "",
            "Controller 2 epoch 17 sending become-leader LeaderAndIsr request (Leader:2,ISR:2,3,LeaderEpoch:9,ControllerEpoch:17) with correlationId 4 to broker 2 for partition [orders,3]",
            "leader_and_isr_sent",
            {"topic": "orders", "partition": "3", "leader": "2", "leader_epoch": "9", "isr": "2,3"},
        ),
        # 2.13 builds print HashSet and ArraySeq where 2.12 prints Set and List.
        (
            "state.change.logger",
            "[Controller id=2 epoch=18] ",
            "Changed partition orders-3 from OnlinePartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=9, isr=ArraySeq(2, 3), zkVersion=22)",
            "partition_leader_changed",
            {"topic": "orders", "leader": "2", "leader_epoch": "9", "isr": "2, 3", "node": "2", "controller_epoch": "18"},
        ),
        # 3.5 to 3.9: the ISR with broker epochs.
        (
            "state.change.logger",
            "[Controller id=2 epoch=18] ",
            "Changed partition a-b-1-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=-1, leaderEpoch=0, isrWithBrokerEpoch=List(BrokerState(brokerId=2, brokerEpoch=-1), BrokerState(brokerId=3, brokerEpoch=41)), leaderRecoveryState=RECOVERED, partitionEpoch=0)",
            "partition_leader_changed",
            {"topic": "a-b-1", "partition": "0", "leader": "-1", "isr": "2,3"},
        ),
        # 3.5: an empty marker leaves a blank before the dot.
        (
            "state.change.logger",
            "[Broker id=2] ",
            "Leader orders-3 with topic id Some(5nR1Zk3mQ2mC1l0W7y5k9A) starts at leader epoch 10 from offset 12345 with partition epoch 15, high watermark 12340, ISR [2,3], adding replicas [] and removing replicas [] . Previous leader Some(1) and previous leader epoch was 9.",
            "leader_started",
            {"topic": "orders", "leader_epoch": "10", "start_offset": "12345", "isr": "2,3"},
        ),
        (
            "kafka.cluster.Partition",
            "[Partition orders-3 broker=2] ",
            "orders-3 starts at Leader Epoch 9 from offset 12345. Previous Leader Epoch was: 8",
            "leader_started",
            {"leader_epoch": "9"},
        ),
        # A list that is empty leaves a blank at the end of the message.
        (
            "kafka.server.ReplicaFetcherManager",
            "[ReplicaFetcherManager on broker 1] ",
            "Removed fetcher for partitions ",
            "fetcher_removed",
            {},
        ),
        # The same after a collector removed the blank.
        ("kafka.controller.KafkaController", "[Controller id=1] ", "List of topics to be deleted:", "topic_deletion_advanced", {}),
        # 0.8: only a stack trace follows.
        ("kafka.Kafka$", "", "", "node_start_failed", {}),
        (
            "kafka.coordinator.group.GroupCoordinator",
            "[GroupCoordinator 1]: ",
            "Member MemberMetadata(memberId=a, b-1, groupInstanceId=Some(pod 1), clientId=a, b, clientHost=/10.0.0.9, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) has left group g (x) through explicit `LeaveGroup`; client reason: the consumer is being closed",
            "member_left",
            {
                "member_id": "a, b-1",
                "instance_id": "pod 1",
                "client_id": "a, b",
                "group_id": "g (x)",
                "reason": "the consumer is being closed",
            },
        ),
        # 0.8: the message of any swallowed error.
        ("kafka.utils.Utils$", "", "sleep interrupted", "exception_swallowed", {}),
        # 2.2 to 2.8 print the names of the variables, because a letter is missing in the source.
        (
            "kafka.server.KafkaApis",
            "[KafkaApi-1] ",
            "Received stop replica request with broker epoch ${stopReplicaRequest.brokerEpoch()} smaller than the current broker epoch ${controller.brokerEpoch}",
            "controller_request_outdated",
            {"node": "1"},
        ),
        # The settings of a class that is not Kafka's.
        (
            "io.example.AvroConverterConfig",
            "",
            "AvroConverterConfig values: \n\tauto.register.schemas = true\n\tschema.registry.url = [http://registry:8081]\n",
            "client_config_logged",
            {"config_class": "AvroConverterConfig", "auto.register.schemas": "true"},
        ),
        (
            "kafka.authorizer.logger",
            "",
            "Principal = User:CN=app,OU=x is Allowed operation = READ from host = 10.0.0.9 on resource = Topic:LITERAL:a.b_c for request = Fetch with resourceRefCount = 1 based on rule MatchingAcl(acl=StandardAcl(principal=User:*))",
            "access_allowed",
            {
                "principal": "User:CN=app,OU=x",
                "operation": "READ",
                "client_address": "10.0.0.9",
                "resource": "Topic:LITERAL:a.b_c",
                "api": "Fetch",
            },
        ),
        (
            "kafka.server.ClientQuotaManager",
            "",
            "Changing PRODUCE quota for user alice client-id app 1 to 1048576.0",
            "quota_changed",
            {"quota_type": "PRODUCE", "quota_entity": "user alice client-id app 1", "quota": "1048576.0"},
        ),
        (
            "kafka.server.DelegationTokenManager",
            "[Token Manager on Broker 2]: ",
            "Delegation token renewed for token : Lg2i2gPjTGKxbnsMNqWVGg for owner :User:alice",
            "delegation_token_changed",
            {"token_id": "Lg2i2gPjTGKxbnsMNqWVGg", "principal": "User:alice", "node": "2"},
        ),
        (
            "org.apache.kafka.common.utils.KafkaThread",
            "",
            "Uncaught exception in thread 'kafka-admin-client-thread | adminclient-1':",
            "thread_died",
            {"thread_name": "kafka-admin-client-thread | adminclient-1"},
        ),
        # 3.6: a principal without a name is printed as null.
        (
            "org.apache.kafka.common.security.kerberos.KerberosLogin",
            "[Principal=null]: ",
            "TGT expires: Sat May 16 12:00:00 CEST 2020",
            "kerberos_ticket_observed",
            {"principal": "null", "ticket_time": "Sat May 16 12:00:00 CEST 2020"},
        ),
        (
            "org.apache.kafka.coordinator.common.runtime.CoordinatorOperationExceptionHelper",
            "[GroupCoordinator id=1] ",
            "Operation share-group-heartbeat with ShareGroupHeartbeatRequestData(groupId='a b', memberId='x') hit an unexpected exception: Cannot invoke \"Object.hashCode()\".",
            "coordinator_event_failed",
            {"operation": "share-group-heartbeat", "error": 'Cannot invoke "Object.hashCode()"', "node": "1"},
        ),
        ("kafka.server.ZookeeperLeaderElector", "", "2 successfully elected as leader", "controller_elected", {"controller": "2"}),
        (
            "org.apache.zookeeper.ClientCnxn",
            "",
            "Unable to reconnect to ZooKeeper service, session 0x1000 has expired, closing socket connection",
            "session_lost",
            {"session_id": "1000"},
        ),
        (
            "org.apache.zookeeper.ClientCnxn",
            "",
            "Client session timed out, have not heard from server in 12003ms for session id 0x100000a1b2c0001",
            "session_timed_out",
            {"elapsed_ms": "12003", "session_id": "100000a1b2c0001"},
        ),
        (
            "org.apache.kafka.raft.QuorumState",
            "[RaftManager id=3] ",
            "Completed transition to Leader(localVoterNode=VoterNode(voterKey=ReplicaKey(id=3, directoryId=AAAAAAAAAAAAAAAAAAAAAA), listeners=Endpoints(endpoints={})), epoch=5, epochStartOffset=10, highWatermark=Optional.empty, voterStates={}) from CandidateState(localId=3)",
            "quorum_state_changed",
            {"quorum_epoch": "5"},
        ),
        (
            "kafka.server.LogDirFailureChannel",
            "",
            "Error while flushing log for a.b_c-d-12 in dir E:\\data\\kafka logs with offset 900 (exclusive) and recovery point 900",
            "disk_error_met",
            {
                "disk_operation": "flushing log for",
                "topic": "a.b_c-d",
                "partition": "12",
                "log_dir": "E:\\data\\kafka logs",
                "offset": "900",
            },
        ),
        (
            "kafka.server.ReplicaManager",
            "[ReplicaManager broker=1] ",
            "Error processing append operation on partition 5nR1Zk3mQ2mC1l0W7y5k9A:__consumer_offsets-3",
            "append_failed",
            {"topic": "__consumer_offsets", "partition": "3", "node": "1"},
        ),
        (
            "kafka.server.ReplicaManager",
            "[Replica Manager on Broker 2]: ",
            "Error when processing fetch request for partition [orders,3] offset 552 from consumer with correlation id 0. Possible cause: Attempt to read with a maximum offset (551) less than the start offset (552).",
            "fetch_failed",
            {"topic": "orders", "partition": "3", "fetch_offset": "552", "fetcher_kind": "consumer", "node": "2"},
        ),
        (
            "org.apache.kafka.server.AssignmentsManager",
            "[AssignmentsManager id=10]",
            "handleResponse: 2 assignments failed; global error: NOT_CONTROLLER. Retrying.",
            "directory_assignment_failed",
            {"node": "10", "error": "NOT_CONTROLLER"},
        ),
        (
            "org.apache.kafka.metadata.migration.KRaftMigrationDriver",
            "[KRaftMigrationDriver id=3000] ",
            "3000 transitioning from WAIT_FOR_BROKERS to BECOME_CONTROLLER state",
            "migration_state_changed",
            {"state_before": "WAIT_FOR_BROKERS", "state_after": "BECOME_CONTROLLER", "node": "3000"},
        ),
        (
            "org.apache.kafka.server.log.remote.storage.RemoteLogManager$RLMCopyTask",
            "[RemoteLogManager=1 partition=5nR1Zk3mQ2mC1l0W7y5k9A:a-b-7] ",
            "Error occurred while copying log segments of partition: 5nR1Zk3mQ2mC1l0W7y5k9A:a-b-7",
            "remote_copy_failed",
            {"topic": "a-b", "partition": "7", "topic_id": "5nR1Zk3mQ2mC1l0W7y5k9A", "node": "1"},
        ),
        (
            "org.apache.kafka.controller.ReplicationControlManager",
            "[QuorumController id=3000] ",
            "Fencing broker 1 at epoch 41 because its session has timed out.",
            "broker_fenced",
            {"broker": "1", "node": "3000"},
        ),
    ],
)
def test_wordings_of_releases_that_no_lab_cluster_ran(logger: str, context: str, body: str, event: str, fields: dict[str, str]) -> None:
    from ingestion.bronze.shapes import shape_of
    from ingestion.records.envelope import envelopes

    line = f"[2020-05-15 12:00:01,123] INFO {context}{body} ({logger})".encode()
    shape = shape_of(line, True, envelopes()[0], catalogue())
    values = {}
    for name, span, picked in zip(shape.keys, shape.spans, shape.picked, strict=True):
        value = line[slice(*span)]
        values[name] = (b",".join(picked.picks[name].findall(value)) if picked else value).decode()
    assert shape.event_type == event
    assert {name: values.get(name) for name in fields} == fields


def test_a_blank_that_a_collector_stripped_is_not_missed() -> None:
    body = b"Removed fetcher for partitions"
    for text in (body, body + b" ", body + b" Set(orders-3)"):
        found = catalogue().recognise(b"kafka.server.ReplicaFetcherManager", text)
        assert found is not None
        assert found.form.event == "fetcher_removed"
        assert found.end == len(text)
        assert all(span.start <= span.end <= len(text) for span in found.spans)


@pytest.mark.parametrize(
    ("logger", "event"),
    [
        ("org.apache.kafka.storage.internals.log.LogManager", "log_dir_failed"),
        # A class that has moved, a shortened package, no package, no logger.
        ("org.apache.kafka.storage.disks.Directories", "log_dir_failed"),
        ("o.a.k.s.internals.log.LogManager", "log_dir_failed"),
        ("log.LogManager", "log_dir_failed"),
        ("LogManager", "log_dir_failed"),
        (None, "log_dir_failed"),
        # Other programs may log the same about their own directories.
        ("com.example.storage.LogManager", None),
        ("org.apache.flume.source.LogManager", None),
    ],
)
def test_a_wording_counts_under_loggers_of_kafka_alone(logger: str | None, event: str | None) -> None:
    found = catalogue().recognise(logger.encode() if logger else None, b"Stopping serving logs in dir /var/kafka")
    assert (found.form.event if found else None) == event
