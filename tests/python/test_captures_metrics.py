"""The catalogue of metrics: every entry has a description, no spelling means two metrics, and exporters' names find their metric."""

from __future__ import annotations

import re
import time

import pytest

from ingestion.captures.metrics import _metrics
from ingestion.captures.metrics._metrics import PATH, Metric, Metrics, catalogue, instant, number, object_name, of_bean, of_series
from ingestion.reading.catalogue_files import read_yaml
from ingestion.recognition.forms import read_units


def entries() -> list[tuple[str, dict, dict]]:
    """(name, entry, group) of the file; a doubled key is an error of its own."""
    content = read_yaml(PATH)
    return [
        (name, entry, group)
        for key, group in content["groups"].items()
        if key != "__line__"
        for name, entry in group["metrics"].items()
        if name != "__line__"
    ]


def test_every_entry_says_its_kind_unit_and_meaning() -> None:
    content = read_yaml(PATH)
    for name, entry, group in entries():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
        assert entry["kind"] in content["kinds"], name
        assert entry["unit"] in content["units"], name
        assert entry.get("counts", entry["unit"]) in content["units"], name
        assert entry["means"].endswith("."), name
        assert set(entry) <= {
            "__line__", "name", "attribute", "kind", "unit", "counts", "labels", "label", "means", "spelled", "read"
        }, name  # fmt: skip
        assert ("bean" in group or "beans" in group) == ("name" in entry or "attribute" in entry), name
        assert "counts" in entry or entry["kind"] not in ("histogram", "timer", "summary"), name
        assert not (group.get("bean") or group.get("beans")) or not (set(entry) & {"read"}), name


def test_a_name_that_ends_in_a_unit_has_it() -> None:
    for name, entry, _ in entries():
        for ending, units in {
            "_ms": ("ms", "epoch_ms"),
            "_bytes": ("bytes",),
            "_seconds": ("seconds", "epoch_seconds"),
            "_ratio": ("ratio",),
        }.items():
            assert not name.endswith(ending) or entry["unit"] in units, name


def test_no_spelling_is_claimed_twice_and_each_finds_its_own_entry() -> None:
    metrics = catalogue()
    assert metrics.problems == []
    seen = set()
    for name, entry, group in entries():
        spelled = entry.get("spelled", {})
        for spelling in spelled:
            if spelling != "__line__":
                assert spelling == spelling.lower() and spelling not in seen
                seen.add(spelling)
                expected = spelled[spelling] if isinstance(spelled, dict) else "Value"
                assert of_series(spelling, {})[0:3:2] == (name, expected)
        beans = group.get("beans", {"": group.get("bean")})
        for prefix, bean in ((prefix, bean) for prefix, found in beans.items() if prefix != "__line__" for bean in _metrics.as_list(found)):
            full = f"{prefix}_{name}" if prefix else name
            for bean_name in _metrics.as_list(entry.get("name")):
                for attribute in metrics.kinds[entry["kind"]]:
                    if attribute != "__line__":
                        assert of_bean(f"{bean},name={bean_name}", attribute)[0:3:2] == (full, attribute)
            for own in _metrics.as_list(entry.get("attribute")):
                for attribute, rule in metrics.kinds[entry["kind"]].items():
                    ending = rule["endings"][0]
                    assert of_bean(bean, f"{own}-{ending}" if ending else own)[0:3:2] == (full, attribute)


def test_two_entries_with_one_spelling_are_a_problem() -> None:
    content = {
        "kinds": {"gauge": {"Value": {"endings": ["", "value"], "kind": "gauge"}}},
        "decoration": [],
        "labels": {},
        "old_names": [],
        "groups": {
            "a": {"bean": "kafka.log:type=Log", "metrics": {"x": {"name": "Size", "kind": "gauge", "unit": "bytes"}}},
            "b": {"bean": "kafka.log:type=Log", "metrics": {"y": {"attribute": "size", "kind": "gauge", "unit": "bytes"}}},
        },
    }
    assert Metrics(content).problems == ["kafkaloglogsize: x Value and y Value", "kafkaloglogsizevalue: x Value and y Value"]


def test_every_unit_is_in_the_vocabulary() -> None:
    units = read_units(PATH.with_name("units.yml"))
    assert {target.unit for found in (catalogue().exact, catalogue().derived) for target in found.values()} - units.keys() == set()


def test_the_catalogue_is_read_fast() -> None:
    # 0.1 s on an idle core; the best of some tries, and four times that, in case others use the machine too
    taken = []
    for _ in range(4):
        catalogue.cache_clear()
        start = time.process_time()
        catalogue()
        taken.append(time.process_time() - start)
    assert min(taken) < 0.4, taken


@pytest.mark.parametrize(
    ("mbean", "metric", "unit", "kind", "labels"),
    [
        ("kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec#Count", "failed_produce_requests", "requests", "counter", {}),
        ("kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec#Count", "failed_fetch_requests", "requests", "counter", {}),
        ("kafka.network:type=RequestChannel,name=RequestQueueSize#Value", "request_queue_size", "requests", "gauge", {}),
        ("kafka.network:type=RequestChannel,name=ResponseQueueSize#Value", "response_queue_size", "responses", "gauge", {}),
        ("kafka.network:type=RequestMetrics,name=TotalTimeMs,request=Produce#Mean", "request_total_time_ms", "ms", "gauge", {"request": "Produce"}),
        ("kafka.network:type=RequestMetrics,name=RequestQueueTimeMs,request=FetchFollower#99thPercentile", "request_queue_time_ms", "ms", "quantile", {"request": "FetchFollower"}),
        ("kafka.network:type=RequestMetrics,name=ResponseQueueTimeMs,request=FetchConsumer#Count", "response_queue_time_ms", "requests", "counter", {"request": "FetchConsumer"}),
    ],
)  # fmt: skip
def test_the_seven_metrics_of_the_stale_broker(mbean: str, metric: str, unit: str, kind: str, labels: dict[str, str]) -> None:
    name, _, attribute = mbean.partition("#")
    assert of_bean(name, attribute) == Metric(metric, labels, attribute, unit, kind)


@pytest.mark.parametrize(
    ("mbean", "attribute", "metric", "labels"),
    [
        ("kafka.log.remote:type=RemoteStorageThreadPool,name=RemoteLogReaderTaskQueueSize", "Value", "remote_reader_queue_size", {}),
        ("org.apache.kafka.storage.internals.log:type=RemoteStorageThreadPool,name=RemoteLogReaderTaskQueueSize", "Value", "remote_reader_queue_size", {}),
        ("org.apache.kafka.storage.internals.log:type=RemoteStorageThreadPool,name=RemoteLogReaderAvgIdlePercent", "Value", "remote_reader_avg_idle_ratio", {}),
        (
            "kafka.network:type=RequestMetrics,name=DeprecatedRequestsPerSec,request=Fetch,version=3,clientSoftwareName=apache-kafka-java,clientSoftwareVersion=1.1.1",
            "Count",
            "deprecated_requests",
            {"request": "Fetch", "version": "3", "client_software_name": "apache-kafka-java", "client_software_version": "1.1.1"},
        ),
    ],
)  # fmt: skip
def test_metrics_of_remote_reads_by_either_bean_and_of_requests_that_later_releases_drop(
    mbean: str, attribute: str, metric: str, labels: dict[str, str]
) -> None:
    found = of_bean(mbean, attribute)
    assert (found.metric, found.attribute, found.labels) == (metric, attribute, labels)


@pytest.mark.parametrize(
    ("mbean", "attribute", "metric", "labels"),
    [
        ('"kafka.log":type="Log",name="my-topic-3-Size"', "Value", "log_size_bytes", {"topic": "my-topic", "partition": "3"}),
        ('"kafka.server":name="AllTopicsMessagesInPerSec",type="BrokerTopicMetrics"', "Count", "messages_in", {}),
        ('"kafka.server":name="my-topic-BytesInPerSec",type="BrokerTopicMetrics"', "Count", "bytes_in", {"topic": "my-topic"}),
        ('"kafka.network":name="Fetch-consumer-TotalTimeMs",type="RequestMetrics"', "Mean", "request_total_time_ms", {"request": "FetchConsumer"}),
        ('"kafka.server":name="ISRShrinksPerSec",type="ReplicaManager"', "Count", "isr_shrinks", {}),
        ('"kafka.server":name="Replica-MaxLag",type="ReplicaFetcherManager"', "Value", "replica_fetcher_max_lag", {"client_id": "Replica"}),
    ],
)  # fmt: skip
def test_beans_before_0_8_2_have_quotes_and_topics_in_their_names(mbean: str, attribute: str, metric: str, labels: dict[str, str]) -> None:
    found = of_bean(mbean, attribute)
    assert (found.metric, found.attribute, found.labels) == (metric, attribute, labels)


@pytest.mark.parametrize(
    ("name", "labels", "metric", "attribute"),
    [
        ("kafka_server_replicamanager_isrshrinks_total", {}, "isr_shrinks", "Count"),
        ("kafka_controller_controllerstats_uncleanleaderelectionspersec_total", {}, "unclean_leader_elections", "Count"),
        ("kafka_controller_controllerstats_leaderelectionrateandtimems_count_total", {}, "leader_election_time_ms", "Count"),
        ("kafka_log_size", {"topic": "t", "partition": "0"}, "log_size_bytes", "Value"),
        ("kafka_log_logcleanermanager_max_dirty_percent", {}, "cleaner_max_dirty_percent", "Value"),
        ("kafka_log_logcleaner_deadthreadcount", {}, "cleaner_dead_threads", "Value"),
        ("kafka_coordinator_group_groupmetadatamanager_numoffsets", {}, "coordinator_offsets", "Value"),
        ("kafka_network_requestmetrics_localtimems", {"quantile": "0.75"}, "request_local_time_ms", "75thPercentile"),
        ("kafka_network_socketserver_networkprocessoravgidle_percent", {}, "network_processor_avg_idle_ratio", "Value"),
        ("kafka_server_raft_metrics_current_epoch", {}, "raft_current_epoch", "Value"),
        ("kafka_server_sessionexpirelistener_zookeeperexpires_total", {}, "zookeeper_session_expirations", "Count"),
        ("jvm_memory_pool_bytes_used", {"pool": "G1 Old Gen"}, "jvm_memory_pool_used_bytes", "Value"),
        ("kafka_consumergroup_current_offset", {}, "consumer_group_committed_offset", "Value"),
        ("site_orders_total", {}, "site_orders_total", None),
    ],
)  # fmt: skip
def test_names_of_exporters(name: str, labels: dict[str, str], metric: str, attribute: str | None) -> None:
    found = of_series(name, labels)
    assert (found.metric, found.attribute) == (metric, attribute)
    assert "quantile" not in found.labels


def test_what_the_catalogue_does_not_know_keeps_its_own_name() -> None:
    assert of_bean("kafka.server:type=Site,name=Mood,clientId=c", "Value") == Metric(
        "kafka.server:type=Site,name=Mood", {"client_id": "c"}, "Value"
    )
    assert of_series("site_mood", {"topicName": "t", "mood": "x"}) == Metric("site_mood", {"topic": "t", "mood": "x"})


def test_a_broker_id_is_the_node_unless_the_bean_itself_has_it() -> None:
    assert of_series("kafka_server_replicamanager_leadercount", {"broker_id": "3"}).node_id == 3
    assert of_series("kafka_server_replicamanager_leadercount", {"broker_id": "node-3"}).node_id is None
    assert of_series("kafka_server_socket_server_metrics_connection_count", {"broker_id": "3", "listener": "A"}).node_id == 3
    assert of_series("kafka_controller_controllerchannelmanager_queuesize", {"broker_id": "3"}).node_id is None
    assert of_bean("kafka.controller:type=ControllerChannelManager,name=QueueSize,broker-id=3", "Value").labels == {"broker_id": "3"}


def test_values_are_brought_into_the_unit() -> None:
    found = of_bean("java.lang:type=GarbageCollector,name=ParNew", "CollectionTime").sample(7, 576, None, None)
    assert found is not None
    assert (found.metric, found.attribute, found.unit, found.labels, found.value) == (
        "jvm_gc_collection_seconds", "Sum", "seconds", {"gc": "ParNew"}, 0.576,
    )  # fmt: skip


def test_numbers() -> None:
    assert number("1.795253679984E12") == 1795253679984.0
    assert number("true") == 1.0
    assert number("-Inf") == float("-inf")
    assert [number(text) for text in ("NaN", "follower", "1_000", "", None, [1])] == [None] * 6


def test_instants_in_seconds_and_milliseconds() -> None:
    assert str(instant(1528639310.5)) == "2018-06-10 14:01:50.500000+00:00"
    assert str(instant(1528639310500)) == "2018-06-10 14:01:50.500000+00:00"
    assert instant(1e300) is None


def test_object_names() -> None:
    assert object_name('kafka.log:type=LogManager,logDirectory="/a,b=\\"c\\":d",name=X') == (
        "kafka.log",
        {"type": "LogManager", "logDirectory": '/a,b="c":d', "name": "X"},
    )
