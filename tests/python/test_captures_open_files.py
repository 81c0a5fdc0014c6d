"""Open files: lsof, /proc/PID/fd and their counts."""

from __future__ import annotations

from pathlib import Path

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.system import open_files

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "open_files"


def read(name: str) -> tuple[list[Row], list[Sample]]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = open_files.kind_of(text, name)
    assert kind is not None
    found = list(open_files.read(kind, lines_of(text), About(name)))
    return [row for row in found if isinstance(row, Row)], [row for row in found if isinstance(row, Sample)]


def test_lsof_of_the_lab() -> None:
    rows, samples = read("20261121T094657Z-lsof-broker-2.txt")
    assert len(rows) == 11
    assert rows[3].fields == {
        "process_name": "java",
        "process_id": "18135",
        "user": "root",
        "file_descriptor": "mem",
        "file_type": "REG",
        "size_bytes": "13549568",
        "inode": "315149",
        "name": "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/classes.jsa",
        "is_deleted": "false",
    }
    assert (rows[5].fields["file_descriptor"], rows[5].fields["mode"], rows[5].fields["name"]) == ("84", "u", "[eventpoll:86,87]")
    assert (rows[6].fields["protocol"], rows[6].fields["name"], rows[6].fields["state"]) == (
        "TCP",
        "127.0.0.1:32866->127.0.0.1:20180",
        "ESTABLISHED",
    )
    assert (rows[8].fields["file_type"], rows[8].fields["inode"], rows[8].fields["name"]) == ("unix", "100131", "type=STREAM (CONNECTED)")
    assert (rows[9].fields["file_type"], rows[9].fields["name"]) == ("CHR", "/dev/null")
    assert [(sample.metric, sample.value, sample.labels) for sample in samples] == [("process_open_files", 6.0, {"process_id": "18135"})]


def test_lsof_with_threads_counts_a_descriptor_once() -> None:
    rows, samples = read("20261121T100000Z-lsof-threads.txt")
    assert (rows[1].fields["file_descriptor"], rows[1].fields["is_deleted"], rows[1].fields["inode"]) == ("DEL", "true", "10199478")
    assert (rows[3].fields["file_type"], rows[3].fields["name"]) == ("sock", "protocol: TCPv6")
    assert (rows[4].fields["mode"], rows[4].fields["size_bytes"], rows[4].fields["name"]) == (
        "w",
        "1048576",
        "/data/kafka/my topic-0/00000000000000000000.log",
    )
    assert (rows[5].fields["thread_id"], rows[5].fields["user"]) == ("4800", "kafka")
    assert [sample.value for sample in samples] == [3.0]


def test_lsof_of_macos() -> None:
    rows, samples = read("20261121T100000Z-lsof-macos.txt")
    assert [row.fields["name"] for row in rows] == ["/usr/local/kafka", "/usr/bin/java", "127.0.0.1:58211->127.0.0.1:9092"]
    assert rows[1].fields["inode"] == "1152921500312089999"
    assert [sample.value for sample in samples] == [1.0]


def test_descriptors_of_the_lab() -> None:
    rows, samples = read("20261121T094349Z-fd-1.txt")
    assert rows[0].fields == {"file_descriptor": "0", "file_type": "device", "name": "/dev/null", "is_deleted": "false"}
    assert (rows[6].fields["file_type"], rows[6].fields["inode"]) == ("socket", "96922")
    assert [(sample.value, sample.labels) for sample in samples] == [(10.0, {})]


def test_ls_of_proc_tells_the_process_and_deleted_files() -> None:
    rows, samples = read("20261121T100000Z-ls-proc-4711-fd.txt")
    assert [row.fields["mode"] for row in rows] == ["r", "w", "u", "u", "u"]
    assert {row.fields["process_id"] for row in rows} == {"4711"}
    assert (rows[4].fields["name"], rows[4].fields["is_deleted"]) == (
        "/data/kafka/__consumer_offsets-9/00000000000000003005.log.deleted",
        "true",
    )
    assert [(sample.value, sample.labels) for sample in samples] == [(5.0, {"process_id": "4711"})]


def test_counts_of_the_lab_are_known_by_name() -> None:
    rows, samples = read("20261121T094657Z-healthy-fd-counts.txt")
    assert [(row.fields["process_id"], row.fields["count"]) for row in rows] == [("18138", "164"), ("18135", "161"), ("18137", "175")]
    assert [sample.value for sample in samples] == [164.0, 161.0, 175.0]
    assert open_files.kind_of("18138 164\n18135 161\n", "numbers.txt") is None


def test_counts_under_their_commands() -> None:
    rows, samples = read("counted-20261121T100000Z.txt")
    assert [(row.fields["count"], row.fields.get("filter"), row.fields["host"]) for row in rows] == [
        ("326639", None, "broker-3"),
        ("65536", None, "broker-3"),
        ("12", "deleted", "broker-3"),
    ]
    assert [(sample.value, sample.warnings) for sample in samples] == [
        (326639.0, ("lsof also lists its heading, folders, programs and mapped files",)),
        (65536.0, ()),
    ]


def test_an_excerpt_is_not_counted() -> None:
    text = "java 4711 kafka 134u IPv4 101757 0t0 TCP *:9092 (LISTEN)\n"
    assert [row.kind for row in open_files.read("open_files", lines_of(text), About("x"))] == ["open_file"]
    text = "990 -> socket:[104042]\n991 -> socket:[104043]\n"
    assert [row.kind for row in open_files.read("open_files", lines_of(text), About("x"))] == ["open_file", "open_file"]


def test_tables_of_numbers_are_no_lsof() -> None:
    assert (
        open_files.kind_of(
            "NodeId\tLogEndOffset\tLag\tStatus\n1\t1200\t0\t1795254373484\t1795254373484\tLeader\t\n2\t1200\t0\t1795254373484\t1795254373484\tFollower\n"
            * 3,
            "x",
        )
        is None
    )
    assert open_files.kind_of("orders 0 10 12 2 consumer-1-5f3a /10.0.0.1 consumer-1\n" * 5, "x") is None


def test_a_listing_of_a_directory_is_no_list_of_descriptors() -> None:
    assert open_files.kind_of("lrwxrwxrwx 1 root root 7 Nov 20 10:00 data -> /mnt/a\n", "x") is None
    assert open_files.kind_of("", "lsof.txt") is None


def test_ls_with_all_entries_of_proc() -> None:
    text = "total 0\ndr-x------ 2 root root  6 Nov 21 16:06 .\ndr-xr-xr-x 9 root root  0 Nov 21 16:06 ..\nlr-x------ 1 root root 64 Nov 21 16:06 0 -> /dev/null\nl-wx------ 1 root root 64 Nov 21 16:06 1 -> /tmp/x\n"
    assert open_files.kind_of(text, "x") == "open_files"
    found = list(open_files.read("open_files", lines_of(text), About("x")))
    assert [getattr(row, "value", None) for row in found] == [None, None, 2.0]
