"""Disks: df, du, ls and find."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.captures import About, Row, lines_of
from ingestion.captures.system import disks

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


def test_the_unit_of_du_is_in_its_command_or_name() -> None:
    assert [row.fields["size_bytes"] for row in read("20261121T100000Z-du-b.txt")] == ["536870912000", "20971520"]
    assert [row.fields["size_bytes"] for row in read("20261121T100000Z-du-prompt.txt")] == ["12641280", "20971520"]


def test_a_number_that_is_no_multiple_of_4_makes_a_listing_of_du_one_of_bytes() -> None:
    rows = read("20261121T100000Z-sizes.txt")
    assert [(row.fields["size_bytes"], row.fields["size_known_by"]) for row in rows] == [("12345", "concluded"), ("20480", "concluded")]
    assert not any("size" in row.fields for row in rows)
    assert rows[0].warnings[-1] == "concluded: bytes, for 12345 is not a multiple of 4, and blocks are allocated by 4 KiB"


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("du -sB1", "12345"),
        ("du -s -B 1M", "12944670720"),
        ("du --block-size=1 -s", "12345"),
        ("du -sm", "12944670720"),
        ("du --bytes", "12345"),
    ],
)
def test_the_unit_of_du_is_in_its_options(command: str, size: str) -> None:
    (row,) = disks.read("directory_sizes", lines_of(f"[k@b1 ~]$ {command} /data\n12345\t/data/orders-1\n"), About("x"))
    assert isinstance(row, Row)
    assert (row.fields["size_bytes"], row.warnings) == (size, ("no time in the text, the name or the file",))


def sizes(*numbers: int, topic: str = "orders", before: str = "") -> list[Row]:
    """The rows read from a listing of du without a unit, one partition a line."""
    text = before + "".join(f"{number}\t/data/kafka/{topic}-{n}\n" for n, number in enumerate(numbers))
    return [row for row in disks.read("directory_sizes", lines_of(text), About("sizes.txt")) if isinstance(row, Row)]


def bytes_in(rows: list[Row]) -> list[str | None]:
    return [row.fields.get("size_bytes") for row in rows]


def test_small_multiples_of_4_are_blocks() -> None:
    rows = sizes(4, 12, 521625600)
    assert bytes_in(rows) == ["4096", "12288", "534144614400"]
    assert (
        rows[2].warnings[-1]
        == "concluded: blocks of 1024, for 4 is too small for bytes, and all numbers are multiples of 4, as allocated blocks are"
    )


def test_many_multiples_of_4_are_blocks_though_none_is_small() -> None:
    assert bytes_in(sizes(20484, 41236, 521625600, 98304, 77840, 20512))[0] == str(20484 * 1024)
    # These look like bytes of empty partitions, which are all of one size.
    assert bytes_in(sizes(20975620, 20975620, 20975620, 20975620, 20975620, 20975620)) == [None] * 6


def test_more_than_a_disk_can_hold_is_not_counted_in_blocks() -> None:
    assert bytes_in(sizes(228472127488, 44930000)) == ["228472127488", "44930000"]
    assert bytes_in(sizes(734003200, 419430400, 104857600, topic="__consumer_offsets"))[0] == "734003200"
    segment = "1073741824\t/data/kafka/orders-1/00000000000000000000.log\n8589934592\t/data/kafka/orders-1/00000000000000000009.log\n"
    assert bytes_in(sizes(16, before=segment))[0] == "1073741824"


def test_what_fits_both_bytes_and_blocks_is_left_unknown() -> None:
    rows = sizes(734003200)
    assert (rows[0].fields["size"], rows[0].warnings[-1]) == ("734003200", "nothing says whether bytes (du -b) or blocks of 1024")
    # Compressing file systems allocate by the sector: these are too small for bytes, and no multiples of 4.
    assert bytes_in(sizes(17, 133, 5121)) == [None, None, None]


def test_what_one_run_of_du_says_of_its_unit_holds_for_its_next_runs() -> None:
    assert bytes_in(sizes(12400, before="12345\t/data/kafka/orders-9\n2026-11-21 11:00:00\n")) == ["12345", "12400"]


def test_a_du_without_options_counts_blocks_unless_they_are_too_many() -> None:
    assert bytes_in(sizes(12345, before="[k@b1 ~]$ du /data/kafka\n")) == ["12641280"]
    # The smallest partition would have ten GiB in blocks, and no file system with blocks of 4 KiB shows these numbers.
    assert bytes_in(sizes(44930001, 34220000, before="[k@b1 ~]$ du /data/kafka\n")) == ["44930001", "34220000"]
    (row,) = sizes(228472127488, before="[k@b1 ~]$ du -s /data/kafka/*\n")
    assert (row.fields["size_bytes"], row.warnings[-1]) == (
        "228472127488",
        "concluded: bytes, for 228472127488 blocks of 1024 are more than a partition can hold",
    )


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
    # A date that lies ahead in this year is last year's.
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
