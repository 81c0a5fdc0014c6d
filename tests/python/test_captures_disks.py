"""Disks: df, du, ls and find."""

from __future__ import annotations

from pathlib import Path

from ingestion.captures import About, Row, disks, lines_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "disks"


def read(name: str) -> list[Row]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = disks.kind_of(text, name)
    assert kind is not None
    return [row for row in disks.read(kind, lines_of(text), About(name)) if isinstance(row, Row)]


def test_df_in_kib_with_a_line_that_was_wrapped() -> None:
    root, data, shm = read("20261121T100000Z-df-k.txt")
    assert root.fields == {
        "file_system": "/dev/sda1",
        "size_bytes": "42140401664",
        "used_bytes": "12641974272",
        "available_bytes": "27333074944",
        "used_percent": "32",
        "mounted_on": "/",
    }
    assert (data.fields["file_system"], data.fields["available_bytes"], data.fields["used_percent"]) == (
        "/dev/mapper/data-very_long_logical_volume_name",
        "0",
        "100",
    )
    assert data.raw_text.count("\n") == 1
    assert shm.fields["size_bytes"] == "1048576"


def test_df_for_people_in_another_language_is_rounded() -> None:
    (root,) = read("20261121T100000Z-df-h-german.txt")
    assert (root.fields["size_bytes"], root.fields["used_bytes"], root.warnings) == (
        "42949672960",
        "1610612736",
        ("printed for people: rounded",),
    )


def test_df_of_macos_has_blocks_of_512_and_inodes() -> None:
    (root,) = read("20261121T100000Z-df-macos.txt")
    assert (root.fields["size_bytes"], root.fields["used_percent"], root.fields["inodes_used"], root.fields["mounted_on"]) == (
        "494384795648",
        "6",
        "404167",
        "/",
    )


def test_df_of_inodes_and_with_types() -> None:
    (inodes,) = read("20261121T100000Z-df-i.txt")
    assert (inodes.fields["inodes"], inodes.fields["inodes_free"], inodes.fields["inodes_used_percent"]) == ("2621440", "2521440", "4")
    assert "size_bytes" not in inodes.fields
    (typed,) = read("20261121T100000Z-df-T.txt")
    assert (typed.fields["file_system_type"], typed.fields["used_bytes"]) == ("xfs", "526133493760")


def test_df_and_du_after_another_with_their_commands() -> None:
    rows = read("disk.info")
    assert [row.kind for row in rows] == ["file_system", "directory_size", "directory_size", "directory_size"]
    assert rows[1].fields == {
        "path": "/data/kafka/__consumer_offsets-38",
        "topic_name": "__consumer_offsets",
        "partition_id": "38",
        "size_bytes": "1288490189",
    }
    assert (rows[2].fields["topic_name"], rows[2].fields["partition_id"], rows[2].fields["directory_state"]) == (
        "my.topic-with-dash",
        "11",
        "delete",
    )
    assert "topic_name" not in rows[3].fields


def test_the_unit_of_du_is_in_its_command_or_name_else_not_known() -> None:
    assert [row.fields["size_bytes"] for row in read("20261121T100000Z-du-b.txt")] == ["536870912000", "20971520"]
    assert [row.fields["size_bytes"] for row in read("20261121T100000Z-du-prompt.txt")] == ["12641280", "20971520"]
    unknown = read("20261121T100000Z-sizes.txt")
    assert [row.fields["size"] for row in unknown] == ["12345", "20480"]
    assert not any("size_bytes" in row.fields for row in unknown)
    assert unknown[0].warnings == ("nothing says whether bytes (du -b) or blocks of 1024",)


def test_a_partition_directory_gives_segments_with_sizes_and_times() -> None:
    rows = read("20261121T100000Z-ls-partition.txt")
    assert len(rows) == 6
    index, log, deleted = rows[2:5]
    assert (index.fields["base_offset"], index.fields["segment_file"], index.fields["size_bytes"], index.fields["modified_at"]) == (
        "3005",
        "index",
        "10485760",
        "2026-11-21T09:58:00+00:00",
    )
    assert (index.fields["topic_name"], index.fields["partition_id"], index.fields["host"]) == ("__consumer_offsets", "38", "broker-1")
    assert index.fields["path"] == "/data/kafka/__consumer_offsets-38/00000000000000003005.index"
    # A day that has not come yet this year was last year's.
    assert log.fields["modified_at"] == "2025-12-31T23:10:00+00:00"
    assert (deleted.fields["base_offset"], deleted.fields["segment_file"], deleted.fields["modified_at"]) == (
        "0",
        "timeindex",
        "2025-02-03T00:00:00+00:00",
    )
    assert deleted.warnings == ("of its last change only the day is known",)
    assert "base_offset" not in rows[5].fields


def test_ls_of_other_systems_and_languages() -> None:
    german, chinese, full, link, seconds = read("20261121T100000Z-ls-forms.txt")
    assert (german.fields["group"], german.fields["modified_at"]) == ("staff", "2025-12-30T23:00:00+00:00")
    assert (chinese.fields["size_bytes"], chinese.fields["modified_at"], chinese.warnings) == (
        "1572864",
        "2026-11-21T09:58:00+00:00",
        ("printed for people: rounded",),
    )
    assert full.fields["modified_at"] == "2026-11-21T08:58:01+00:00"
    assert (link.fields["entry_type"], link.fields["path"], link.fields["link_target"]) == ("link", "data", "/mnt/a")
    assert seconds.fields["modified_at"] == "2026-11-21T09:58:07+00:00"


def test_find_ls_names_whole_paths() -> None:
    folder, index = read("20261121T100000Z-find-ls.txt")
    assert (folder.fields["entry_type"], folder.fields["topic_name"], folder.fields["partition_id"]) == ("directory", "orders", "1")
    assert (index.fields["path"], index.fields["size_bytes"]) == ("/data/kafka/orders-1/00000000000000000000.index", "10485760")


def test_without_a_time_a_day_without_year_is_not_known() -> None:
    (row,) = disks.read("directory_listing", lines_of("-rw-r--r-- 1 kafka kafka 5 Nov 21 09:58 a.log\n"), About("x"))
    assert isinstance(row, Row)
    assert "modified_at" not in row.fields


def test_other_texts_are_no_disks() -> None:
    for text in (
        "12 apples and pears\n",
        "1234 4711\n",
        "lrwx------ 1 k k 64 Nov 21 09:59 9 -> socket:[1]\n",
        "5589 CLOSE_WAIT\n",
        "a 100% b\n",
        "",
    ):
        assert disks.kind_of(text, "df.txt") is None
