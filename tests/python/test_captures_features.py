"""kafka-features describe, kafka-storage format and info."""

from __future__ import annotations

from ingestion.captures.kafka_tools import features
from tests.python.capture_rows import fields_of, rows_of


def test_features_of_4_0() -> None:
    rows = fields_of(rows_of(features, "20261121T095313Z-features-4.0.txt"), "feature")
    assert len(rows) == 5
    assert rows[3] == {
        "feature_name": "metadata.version",
        "minimum_version": "3.3-IV3",
        "maximum_version": "4.0-IV3",
        "finalized_version": "4.0-IV3",
        "metadata_epoch": "129",
    }


def test_the_tools_own_log_does_not_hide_the_features() -> None:
    rows = rows_of(features, "20261121T093322Z-features-3.9.txt")
    assert [row.kind for row in rows] == ["log_line", "feature", "feature"]
    assert rows[1].fields["feature_name"] == "kraft.version"


def test_a_level_that_the_tool_does_not_know_and_no_epoch() -> None:
    assert fields_of(rows_of(features, "features-3.3.txt"), "feature") == [
        {"feature_name": "metadata.version", "minimum_version": "1", "maximum_version": "5", "finalized_version": "UNKNOWN 9"}
    ]


def test_an_upgrade() -> None:
    rows = fields_of(rows_of(features, "upgrade-3.9.txt"), "feature_change")
    assert (rows[0]["feature_name"], rows[0]["change"], rows[0]["version"]) == ("metadata.version", "upgraded", "20")
    assert "change" not in rows[1]


def test_formatted_directories() -> None:
    rows = fields_of(rows_of(features, "20261121T093157Z-format-3.9.txt"), "formatted_dir")
    assert len(rows) == 5
    assert rows[4] == {"log_dir": "/srv/kafka/kraft-391-isolated/data-13", "metadata_version": "3.9-IV0", "format_kind": "metadata"}


def test_info_names_directories_node_and_problems() -> None:
    rows = rows_of(features, "info-3.7.txt")
    assert [row.fields for row in rows] == [
        {"log_dir": "/d/1"},
        {"log_dir": "/d/2"},
        {"version": "1", "cluster_id": "1tFXMfsxRie1HwkKHgG-ew", "node_id": "3", "directory_id": "BQ7EerMVxZwXbNsIR9EJnw"},
        {"message": "/d/2 is not a directory"},
    ]
    assert rows[2].node_id == 3
    assert rows_of(features, "info-3.0.txt")[1].fields == {"version": "1", "cluster_id": "1tFXMfsxRie1HwkKHgG-ew", "node_id": "3"}
