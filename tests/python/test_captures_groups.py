"""kafka-consumer-groups and related tools, in the layouts of all releases."""

from __future__ import annotations

import pytest

from ingestion.captures.kafka_tools import groups
from tests.python.capture_rows import fields_of, rows_in, rows_of


def test_the_checker_of_0_8() -> None:
    assert fields_of(rows_of(groups, "20261121T100924Z-checker-0.8.txt"), "group_offset")[0] == {
        "group_id": "etl",
        "topic_name": "orders",
        "partition_id": "0",
        "current_offset": "88",
        "log_end_offset": "94",
        "lag": "6",
        "owner": "etl_etl-1-0",
    }


def test_the_commas_of_0_9_and_what_is_unknown() -> None:
    rows = fields_of(rows_of(groups, "describe-0.9-commas.txt"), "group_offset")
    assert rows[0]["owner"] == "mailer-1_/10.0.0.7"
    assert rows[1] == {"group_id": "mailer", "topic_name": "letters", "partition_id": "1", "log_end_offset": "90"}


def test_the_owner_of_0_10() -> None:
    rows = fields_of(rows_of(groups, "20261121T095748Z-describe-0.10.1.txt"), "group_offset")
    assert rows[2] == {
        "group_id": "billing",
        "topic_name": "payments",
        "partition_id": "4",
        "current_offset": "40",
        "log_end_offset": "43",
        "lag": "3",
        "owner": "billing-2_/127.0.0.1",
    }


def test_a_table_without_groups_takes_the_group_of_the_command() -> None:
    rows = fields_of(rows_of(groups, "describe-0.11.txt"), "group_offset")
    assert [row["group_id"] for row in rows] == ["mailer", "mailer", "mailer"]
    assert rows[1] == {
        "group_id": "mailer",
        "member_id": "mailer-8-6078de6a-af63-4c7a-8bad-f03cb3606075",
        "host": "/10.0.0.8",
        "client_id": "mailer-8",
    }
    assert rows[2] == {
        "group_id": "mailer",
        "topic_name": "letters",
        "partition_id": "1",
        "current_offset": "7901",
        "log_end_offset": "8652",
        "lag": "751",
    }


def test_a_table_without_groups_takes_the_group_of_the_sentence_or_of_the_log() -> None:
    empty = rows_of(groups, "describe-2.0-empty.txt")
    assert empty[0].fields == {"group_id": "nightly", "state": "Empty"}
    assert empty[1].fields == {"group_id": "nightly", "topic_name": "billing.invoices.eu", "partition_id": "12", "log_end_offset": "400"}
    assert fields_of(rows_of(groups, "20261121T102759Z-describe-1.1.txt"), "group_offset")[0]["group_id"] == "billing"


def test_a_group_that_nothing_names_is_a_warning() -> None:
    text = "TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID\na 0 1 2 1 - - -\n"
    (row,) = rows_in(groups, text)
    assert "group_id" not in row.fields
    assert "the group is not named" in row.warnings


def test_sentences_are_states() -> None:
    assert fields_of(rows_of(groups, "20261121T102759Z-missing-1.1.txt"), "group_state") == [{"group_id": "fraud", "state": "Dead"}]
    rows = rows_of(groups, "20261121T095313Z-describe-4.0.txt")
    assert rows[0].fields == {"group_id": "nextgen", "state": "Rebalancing"}
    assert rows[1].fields["member_id"] == "LWdTkeRFQ9e7Jh9LePxP9Q"
    assert rows[1].fields["lag"] == "6"


def test_the_leader_epoch_of_4_1_and_a_client_with_a_blank() -> None:
    rows = fields_of(rows_of(groups, "describe-4.1-verbose.txt"), "group_offset")
    assert rows[0]["leader_epoch"] == "7"
    assert rows[0]["client_id"] == "fraud one"
    assert rows[1] == {"group_id": "fraud", "topic_name": "orders", "partition_id": "1", "log_end_offset": "1100"}


def test_members_without_an_instance_id_beside_one_that_has_it() -> None:
    rows = fields_of(rows_of(groups, "20261121T095607Z-members-4.0.txt"), "group_member")
    assert rows[0]["group_instance_id"] == "next-static-3"
    assert rows[1] == {
        "group_id": "nextgen",
        "member_id": "45XqSBDBQESrSthgRlRJGg",
        "host": "/127.0.0.1",
        "client_id": "next-1",
        "partition_count": "4",
        "member_epoch": "4",
        "assignment": "clicks:4,5;orders:4,5",
        "target_epoch": "4",
        "target_assignment": "clicks:4,5;orders:4,5",
    }


def test_an_assignment_with_blanks() -> None:
    rows = fields_of(rows_of(groups, "20261121T093226Z-members-3.9.txt"), "group_member")
    assert [row["assignment"] for row in rows] == ["(1,3,5), (1,3,5)", "(0,2,4), (0,2,4)"]


def test_states_and_lists() -> None:
    assert fields_of(rows_of(groups, "20261121T094349Z-state-3.7.txt"), "group_state") == [
        {
            "group_id": "busy-0",
            "coordinator": "127.0.0.1:27101",
            "coordinator_id": "1",
            "assignment_strategy": "range",
            "state": "Stable",
            "member_count": "1",
        }
    ]
    assert fields_of(rows_of(groups, "share-state-4.1.txt"), "group_state") == [
        {
            "group_id": "shares",
            "coordinator": "b1.example:9092",
            "coordinator_id": "1",
            "state": "Stable",
            "group_epoch": "5",
            "target_assignment_epoch": "5",
            "member_count": "2",
        }
    ]
    assert fields_of(rows_of(groups, "list-state-2.6.txt"), "group_state")[1] == {"group_id": "nightly", "state": "Empty"}
    assert fields_of(rows_of(groups, "groups-list-4.0.txt"), "group_state")[1] == {
        "group_id": "shares",
        "group_type": "Share",
        "protocol": "share",
    }
    assert fields_of(rows_of(groups, "list.txt"), "group_name") == [{"group_id": "billing"}, {"group_id": "nightly"}]


def test_the_offsets_of_a_share_group() -> None:
    assert fields_of(rows_of(groups, "share-offsets-4.1.txt"), "group_offset") == [
        {"group_id": "shares", "topic_name": "orders", "partition_id": "0", "start_offset": "77", "lag": "3"},
        {"group_id": "shares", "topic_name": "orders", "partition_id": "1"},
    ]


def test_rows_that_a_terminal_broke_are_whole_again() -> None:
    rows = rows_of(groups, "describe-2.4-wrapped.txt")
    assert [row.kind for row in rows] == ["group_offset", "group_offset"]
    assert rows[0].fields["host"] == "/10.20.30.40"
    assert rows[0].fields["client_id"] == "payments-settler"
    assert rows[1].fields["client_id"] == "payments-settler-1"
    assert rows[1].fields["lag"] == "54"


def test_rows_without_their_header() -> None:
    (row,) = rows_of(groups, "rows-alone.txt")
    assert row.fields["group_id"] == "mailer"
    assert row.fields["log_end_offset"] == "33154"
    assert row.fields["client_id"] == "mailer-1"


def test_what_stands_below_a_table_is_kept_as_unread() -> None:
    text = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER\ng t 0 1 2 1 o_/10.0.0.1\ng t 1 1 2 1 o_/10.0.0.1\nThat is much too slow.\n"
    rows = rows_in(groups, text)
    assert [row.kind for row in rows] == ["group_offset", "group_offset", "unread"]
    assert rows[2].raw_text == "That is much too slow."


def test_a_group_that_is_one_or_the_other_is_neither() -> None:
    (row,) = rows_in(groups, "Consumer group `mailer` does not exist or is rebalancing.\n")
    assert (row.kind, row.fields) == ("remark", {"message": "Consumer group `mailer` does not exist or is rebalancing."})


def test_an_empty_group_has_no_strategy() -> None:
    text = "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\nnightly b1:9092 (1) Empty 0\n"
    (row,) = rows_in(groups, text)
    assert row.fields == {"group_id": "nightly", "coordinator": "b1:9092", "coordinator_id": "1", "state": "Empty", "member_count": "0"}


def test_rows_of_1_1_are_not_taken_for_open_files() -> None:
    rows = fields_of(rows_of(groups, "20261121T102623Z-describe-1.1-healthy.txt"), "group_offset")
    assert len(rows) == 12
    assert rows[0]["member_id"] == "billing-2-6faf2698-3ca4-4d91-8b31-7ec71ad9617d"


UUID = "3fc8d6f1-310a-4878-9f30-9d3e1c5a8c7b"


def padded(widths: list[tuple[int, str]], values: list[str]) -> str:
    """A row as a release pads its columns: (width, what it prints after the column)."""
    return "".join(f"{value:<{width}}{after}" for (width, after), value in zip(widths, values, strict=True))


# 0.10.2 to 1.0 print no blank after a member's id and its host.
COLUMNS_OF_0_10_2 = [(30, " "), (10, " "), (15, " "), (15, " "), (10, " "), (50, ""), (30, ""), (0, "")]
HEADER_OF_0_10_2 = ["TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]


@pytest.mark.parametrize(
    ("topic", "client", "host"),
    [
        ("orders", "app", "/10.0.0.1"),
        ("orders", "order-service-production", "/10.0.0.1"),
        ("orders", "app", "/2001:db8:85a3:0:0:8a2e:370:7334"),
        ("a-topic-whose-name-is-longer-than-its-column", "order-service-production", "/2001:db8:85a3:0:0:8a2e:370:7334"),
        ("orders", "my app", "/10.0.0.1"),
        ("orders", "the order service of ours", "/10.0.0.1"),
    ],
)
def test_columns_of_0_10_2_that_moved(topic: str, client: str, host: str) -> None:
    row = padded(COLUMNS_OF_0_10_2, [topic, "3", "100", "120", "20", f"{client}-{UUID}", host, client])
    text = f"{padded(COLUMNS_OF_0_10_2, HEADER_OF_0_10_2)}\n{row}\n"
    for one in (text, " ".join(text.split(" ")), "\n".join(" ".join(line.split()) for line in text.split("\n"))):
        (fields,) = fields_of(rows_in(groups, one), "group_offset")
        assert (fields["topic_name"], fields["partition_id"], fields["current_offset"], fields["lag"]) == (topic, "3", "100", "20")
        assert (fields["member_id"], fields["host"], fields["client_id"]) == (f"{client}-{UUID}", host, client)


def test_a_partition_that_nobody_consumes_in_0_10_2() -> None:
    row = padded(COLUMNS_OF_0_10_2, ["orders", "2", "-", "120", "-", "-", "-", "-"])
    (fields,) = fields_of(rows_in(groups, f"{padded(COLUMNS_OF_0_10_2, HEADER_OF_0_10_2)}\n{row}\n"), "group_offset")
    assert fields == {"topic_name": "orders", "partition_id": "2", "log_end_offset": "120"}


@pytest.mark.parametrize("owner", ["app_/10.0.0.1", "my app_/10.0.0.1", "the order service of ours_/10.0.0.1"])
def test_owners_of_0_9_and_0_10(owner: str) -> None:
    widths = [(30, " "), (30, " "), (10, " "), (15, " "), (15, " "), (15, " "), (0, "")]
    header = padded(widths, ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER"])
    row = padded(widths, ["a-group-whose-name-is-longer-than-its-column", "orders", "1", "100", "120", "20", owner])
    (fields,) = fields_of(rows_in(groups, f"{header}\n{row}\n"), "group_offset")
    assert (fields["group_id"], fields["partition_id"], fields["lag"], fields["owner"]) == (
        "a-group-whose-name-is-longer-than-its-column",
        "1",
        "20",
        owner,
    )
    text = f"GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\nbilling, orders, 1, 100, 120, 20, {owner}\n"
    (fields,) = fields_of(rows_in(groups, text), "group_offset")
    assert (fields["group_id"], fields["log_end_offset"], fields["owner"]) == ("billing", "120", owner)


@pytest.mark.parametrize(
    ("row", "client", "count", "assignment"),
    [
        (f"my app-{UUID} /10.0.0.1      my app      3               orders(2), bills(0,1)", "my app", "3", "orders(2), bills(0,1)"),
        (f"my app-{UUID} /10.0.0.1 my app 3 orders(2), bills(0,1)", "my app", "3", "orders(2), bills(0,1)"),
        (f"app-{UUID} /10.0.0.1        app         1               orders(0)", "app", "1", "orders(0)"),
        (
            f"order-service-production-{UUID}/10.0.0.1 order-service-production 2 orders(0,1)",
            "order-service-production",
            "2",
            "orders(0,1)",
        ),
    ],
)
def test_members_whose_columns_moved(row: str, client: str, count: str, assignment: str) -> None:
    header = "CONSUMER-ID                                     HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT"
    (fields,) = fields_of(rows_in(groups, f"{header}\n{row}\n"), "group_member")
    assert (fields["member_id"], fields["host"], fields["client_id"]) == (f"{client}-{UUID}", "/10.0.0.1", client)
    assert (fields["partition_count"], fields["assignment"]) == (count, assignment)


def test_a_row_without_its_header_whose_host_is_glued() -> None:
    (fields,) = fields_of(rows_in(groups, f"orders 0 100 120 20 app-{UUID}/10.0.0.1 app\n"), "group_offset")
    assert (fields["topic_name"], fields["lag"], fields["host"], fields["client_id"]) == ("orders", "20", "/10.0.0.1", "app")
