"""kafka-configs --describe: topics, brokers, users, clients."""

from __future__ import annotations

from ingestion.captures.kafka_tools import configs
from tests.python.capture_rows import fields_of, rows_in, rows_of


def test_a_setting_of_a_topic_with_where_it_comes_from() -> None:
    rows = rows_of(configs, "20261121T093226Z-topics-3.9.txt")
    assert rows[0].kind == "config_entity"
    assert rows[2].fields == {
        "entity_kind": "topic",
        "entity_name": "__transaction_state",
        "scope": "dynamic",
        "config_name": "compression.type",
        "config_value": "uncompressed",
        "is_sensitive": "false",
        "synonyms": "DYNAMIC_TOPIC_CONFIG:compression.type=uncompressed, DEFAULT_CONFIG:compression.type=producer",
        "source": "DYNAMIC_TOPIC_CONFIG",
    }


def test_a_brokers_settings_are_of_its_node_and_null_is_left_out() -> None:
    rows = rows_of(configs, "20261121T094656Z-broker-2.8.txt")
    assert {row.node_id for row in rows} == {1}
    assert rows[1].fields == {
        "entity_kind": "broker",
        "entity_name": "1",
        "scope": "all",
        "config_name": "principal.builder.class",
        "is_sensitive": "false",
        "synonyms": "",
    }
    assert rows[4].fields["config_value"] == "1"
    assert rows[4].fields["source"] == "STATIC_BROKER_CONFIG"


def test_the_default_of_all_brokers_and_a_secret() -> None:
    rows = rows_of(configs, "brokers-2.5.txt")
    assert rows[1].fields["entity_name"] == "<default>"
    assert rows[1].fields["source"] == "DYNAMIC_DEFAULT_BROKER_CONFIG"
    assert rows[1].node_id is None
    assert (rows[3].node_id, rows[3].fields["is_sensitive"], rows[3].fields.get("config_value")) == (7, "true", None)


def test_one_line_for_an_entity_through_zookeeper() -> None:
    rows = fields_of(rows_of(configs, "20261121T095752Z-topics-0.10.1.txt"), "config")
    assert rows[0] == {"entity_kind": "topic", "entity_name": "clicks", "config_name": "min.insync.replicas", "config_value": "1"}
    assert rows[1] == {
        "entity_kind": "topic",
        "entity_name": "clicks",
        "config_name": "unclean.leader.election.enable",
        "config_value": "true",
    }
    assert len(rows) == 8


def test_0_9_and_a_value_with_a_comma() -> None:
    rows = rows_of(configs, "zookeeper-0.9.txt")
    assert rows[2].fields == {
        "entity_kind": "topic",
        "entity_name": "letters",
        "config_name": "cleanup.policy",
        "config_value": "compact,delete",
    }
    assert rows[3].fields == {"entity_kind": "client", "entity_name": "mailer"}


def test_quotas_and_credentials() -> None:
    rows = fields_of(rows_of(configs, "quotas-3.x.txt"), "config")
    assert rows[1] == {
        "entity_kind": "user",
        "entity_name": "alice",
        "scope": "quota",
        "config_name": "producer_byte_rate",
        "config_value": "10000.0",
    }
    assert rows[2]["entity_kind"] == "user,client"
    assert rows[2]["entity_name"] == "alice,<default>"
    assert rows[3]["entity_name"] == "<default>"
    assert rows[5] == {
        "entity_kind": "user",
        "entity_name": "alice",
        "scope": "scram",
        "config_name": "SCRAM-SHA-512",
        "config_value": "iterations=4096",
    }


def test_a_setting_without_its_head_is_kept_with_a_warning() -> None:
    (row,) = rows_in(configs, "  num.io.threads=8 sensitive=false synonyms={DEFAULT_CONFIG:num.io.threads=8}\n")
    assert row.fields["config_value"] == "8"
    assert "the owner was named above this part" in row.warnings


def test_prose_about_configs_is_none() -> None:
    assert configs.kind_of("Configs for topic creation are stored in the metadata.\n") is None
