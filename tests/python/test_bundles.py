"""Bundles: the members of archives, refused members, and the owners of files in known bundles."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from ingestion.sources import archives
from ingestion.sources.archives import Member, Place, Refused, bundle_of, is_bundle, members, place_of

MTIME = 1_600_000_000  # 2020-09-13 12:26:40 UTC
AT = dt.datetime(2020, 9, 13, 12, 26, 40, tzinfo=dt.UTC)


def add(tar: tarfile.TarFile, name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, target: str = "") -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.type, info.linkname = len(content), MTIME, kind, target
    tar.addfile(info, io.BytesIO(content))


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            add(tar, name, content)
    return out.getvalue()


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, 21, 10, 0, 0)), content, compress_type=method)
    return out.getvalue()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def read(path: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """(members, refusals) by path."""
    files, refused = {}, {}
    for found in members(path):
        if isinstance(found, Member):
            with found.open() as stream:
                files[found.path] = stream.read()
        else:
            refused[found.path] = found.reason
    return files, refused


FILES = {"a/server.log": b"one\ntwo\n", "b.txt": b"", "c d/é.txt": b"x" * 70_000}


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("b.tar", lambda data: data),
        ("b.tar.gz", gzip.compress),
        ("b.tgz", gzip.compress),
        ("b.tar.bz2", bz2.compress),
        ("b.tar.xz", lzma.compress),
        ("no-ending", gzip.compress),
    ],
)
def test_members_of_a_tar_have_their_bytes_and_times(tmp_path: Path, name: str, pack) -> None:
    path = write(tmp_path / name, pack(tar_of(FILES)))
    assert is_bundle(path)
    assert read(path) == (FILES, {})
    first = next(members(path))
    assert isinstance(first, Member)
    assert (first.path, first.size, first.modified_at, first.modified_is_local) == ("a/server.log", 8, AT, False)


def test_members_of_a_zip_have_the_clock_of_the_packer(tmp_path: Path) -> None:
    path = write(tmp_path / "b.zip", zip_of(FILES))
    assert is_bundle(path)
    assert read(path) == (FILES, {})
    first = next(members(path))
    assert isinstance(first, Member)
    assert (first.modified_at, first.modified_is_local) == (dt.datetime(2026, 11, 21, 10, tzinfo=dt.UTC), True)


def test_a_log_alone_is_no_bundle(tmp_path: Path) -> None:
    assert not is_bundle(write(tmp_path / "server.log.gz", gzip.compress(b"[2020-05-15 12:00:01,123] INFO x (kafka.Kafka)\n" * 50)))
    assert not is_bundle(write(tmp_path / "server.log", b"[2020-05-15 12:00:01,123] INFO x (kafka.Kafka)\n" * 50))
    assert not is_bundle(write(tmp_path / "empty", b""))
    assert not is_bundle(write(tmp_path / "kafka.jar", zip_of({"a.class": b"x"})))
    assert read(tmp_path / "server.log") == ({}, {"": "no archive: neither tar nor zip"})
    assert list(read(tmp_path / "gone.tar")[1]) == [""]


def test_a_member_that_is_not_read_is_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "b.tar.gz", gzip.compress(tar_of({"a": b"A" * 300_000, "b": b"B"})))
    found = [one for one in members(path) if isinstance(one, Member)]
    assert [one.path for one in found] == ["a", "b"]


def test_links_devices_fifos_and_paths_that_lead_outside_are_refused_by_name(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        add(tar, "./good.log", b"good")
        add(tar, "/etc/passwd", b"x")
        add(tar, "../up.log", b"x")
        add(tar, "a/../../up.log", b"x")
        add(tar, "C:\\x.log", b"x")
        add(tar, "soft", kind=tarfile.SYMTYPE, target="/etc/passwd")
        add(tar, "hard", kind=tarfile.LNKTYPE, target="good.log")
        add(tar, "null", kind=tarfile.CHRTYPE)
        add(tar, "disk", kind=tarfile.BLKTYPE)
        add(tar, "pipe", kind=tarfile.FIFOTYPE)
        add(tar, "folder", kind=tarfile.DIRTYPE)
        add(tar, "after.log", b"after")
    files, refused = read(write(tmp_path / "b.tar", out.getvalue()))
    assert files == {"good.log": b"good", "after.log": b"after"}
    assert refused == {
        "/etc/passwd": "an absolute path",
        "../up.log": "a path with ..",
        "a/../../up.log": "a path with ..",
        "C:\\x.log": "an absolute path",
        "soft": "a link, to /etc/passwd",
        "hard": "a link, to good.log",
        "null": "a device",
        "disk": "a device",
        "pipe": "a fifo",
    }


def test_a_zip_refuses_links_outside_paths_and_encrypted_members(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("good.log", b"good")
        archive.writestr("../up.log", b"x")
        link = zipfile.ZipInfo("soft")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        pipe = zipfile.ZipInfo("pipe")
        pipe.external_attr = 0o010644 << 16
        archive.writestr(pipe, "")
        archive.writestr("secret.log", b"x")
        archive.writestr("folder/", b"")
        archive.writestr("after.log", b"after")
    data = bytearray(out.getvalue())
    # Bit 0 of the flags, in the header before the member and in the directory at the end.
    local = data.index(b"secret.log") - 30
    central = data.rindex(b"secret.log") - 46
    data[local + 6] |= 1
    data[central + 8] |= 1
    files, refused = read(write(tmp_path / "b.zip", bytes(data)))
    assert files == {"good.log": b"good", "after.log": b"after"}
    assert refused == {"../up.log": "a path with ..", "soft": "a link", "pipe": "a device or a fifo", "secret.log": "encrypted"}


def test_archives_in_archives_are_opened_and_their_members_go_by_both_paths(tmp_path: Path) -> None:
    inner = gzip.compress(tar_of({"./server.log": b"deep"}))
    path = write(
        tmp_path / "b.tar.gz",
        gzip.compress(
            tar_of({"n1/in.tar.gz": inner, "n2/in.zip": zip_of({"x.log": b"zipped"}), "n3/lib.jar": zip_of({"X.class": b""}), "z": b"last"})
        ),
    )
    files, refused = read(path)
    assert files["n1/in.tar.gz/server.log"] == b"deep"
    assert files["n2/in.zip/x.log"] == b"zipped"
    assert sorted(files) == ["n1/in.tar.gz/server.log", "n2/in.zip/x.log", "n3/lib.jar", "z"]
    assert refused == {}
    files, refused = read(write(tmp_path / "b.zip", zip_of({"in.tgz": inner, "z": b"last"})))
    assert (files, refused) == ({"in.tgz/server.log": b"deep", "z": b"last"}, {})


def test_the_fourth_archive_in_a_row_is_not_opened(tmp_path: Path) -> None:
    data = tar_of({"x.log": b"x"})
    for _ in range(3):
        data = tar_of({"in.tar": data, "beside.log": b"y"})
    files, refused = read(write(tmp_path / "b.tar", data))
    assert refused == {"in.tar/in.tar/in.tar": "an archive in 3 archives: not opened"}
    assert sorted(files) == ["beside.log", "in.tar/beside.log", "in.tar/in.tar/beside.log"]


@pytest.mark.parametrize("keep", [0.5, 0.95])
def test_a_gzip_that_is_cut_off_gives_what_comes_before_and_says_so(tmp_path: Path, keep: float) -> None:
    lines = b"".join(b"%d: some line of a log that does not repeat %d\n" % (n, n * 7919 % 10007) for n in range(20_000))
    whole = gzip.compress(tar_of({"first.log": b"first", "second.log": lines}))
    files, refused = read(write(tmp_path / "b.tar.gz", whole[: int(len(whole) * keep)]))
    assert files["first.log"] == b"first"
    assert 100_000 < len(files["second.log"]) < len(lines)
    assert lines.startswith(files["second.log"])
    assert "second.log" in refused
    assert "cut off" in refused["second.log"]
    assert "cut off" in refused[""]


def test_a_tar_that_is_cut_between_members_says_so(tmp_path: Path) -> None:
    whole = tar_of({"first.log": b"first", "second.log": b"second"})
    files, refused = read(write(tmp_path / "b.tar", whole[:1024]))
    assert files == {"first.log": b"first"}
    assert refused == {"": "cut off: the end mark is missing"}


def test_damage_in_the_middle_of_a_gzip_is_told(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(tar_of({"first.log": b"first", "second.log": bytes(range(256)) * 4000, "third.log": b"third"}), mtime=0))
    data[-3000:-2900] = bytes(100)
    files, refused = read(write(tmp_path / "b.tar.gz", bytes(data)))
    assert files["first.log"] == b"first"
    assert refused


def test_a_zip_without_its_directory_gives_the_members_that_are_whole(tmp_path: Path) -> None:
    whole = zip_of({"first.log": b"first " * 1000, "second.log": b"second", "third.log": b"third"})
    cut = whole[: whole.index(b"PK\x01\x02")]
    assert read(write(tmp_path / "b.zip", cut)) == (
        {"first.log": b"first " * 1000, "second.log": b"second", "third.log": b"third"},
        {"": "cut off: the directory at its end is missing"},
    )
    files, refused = read(write(tmp_path / "c.zip", whole[: whole.index(b"second.log") + 14]))
    assert files["first.log"] == b"first " * 1000
    assert "cut off" in refused["second.log"]
    assert refused[""] == "cut off: the directory at its end is missing"


def test_a_torn_zip_of_a_pipe_has_no_sizes_in_its_headers(tmp_path: Path) -> None:
    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def writable(self) -> bool:
            return True

        def write(self, piece) -> int:
            self.data += bytes(piece)
            return len(piece)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[arg-type]
        archive.writestr("first.log", b"first " * 1000)
        archive.writestr("second.log", b"second")
    assert read(write(tmp_path / "b.zip", pipe.data[: pipe.data.index(b"PK\x01\x02")])) == (
        {"first.log": b"first " * 1000, "second.log": b"second"},
        {"": "cut off: the directory at its end is missing"},
    )


def test_a_tar_bomb_is_refused_before_it_is_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 100_000)
    path = write(tmp_path / "b.tar.gz", gzip.compress(tar_of({"small.log": b"small", "zeros": bytes(20_000_000), "after.log": b"after"})))
    files, refused = read(path)
    assert files == {"small.log": b"small"}
    assert list(refused) == ["zeros"]
    assert refused["zeros"].startswith("taken for an archive bomb: its members claim 20000005 bytes")


def test_a_zip_bomb_is_refused_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 100_000)
    files, refused = read(write(tmp_path / "b.zip", zip_of({"zeros": bytes(20_000_000), "after.log": b"after"})))
    assert files == {"after.log": b"after"}
    assert refused["zeros"].startswith("taken for an archive bomb: 20000000 bytes of ")


def test_a_bomb_in_an_archive_is_refused_by_its_own_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FREE_BYTES", 100_000)
    bomb = gzip.compress(tar_of({"zeros": bytes(20_000_000)}))
    files, refused = read(write(tmp_path / "b.tar", tar_of({"in.tgz": bomb, "after.log": b"after"})))
    assert files == {"after.log": b"after"}
    assert list(refused) == ["in.tgz/zeros"]


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    monkeypatch.setattr(archives.Budget, "__init__", lambda self: self.__dict__.update(members=3, left=1 << 40))
    for path in (
        write(tmp_path / "b.tar", tar_of({f"{n}.log": b"x" for n in range(5)})),
        write(tmp_path / "b.zip", zip_of({f"{n}.log": b"x" for n in range(5)})),
    ):
        files, refused = read(path)
        assert sorted(files) == ["0.log", "1.log", "2.log"]
        assert refused == {"3.log": "taken for an archive bomb: it holds more than 3 members; the rest of this archive is not read"}


def test_a_header_that_lies_about_its_size_gives_no_more_than_it_says(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.log", b"x" * 50_000)
    data = bytearray(out.getvalue())
    central = data.rindex(b"x.log") - 46
    data[central + 24 : central + 28] = (10).to_bytes(4, "little")
    files, _ = read(write(tmp_path / "b.zip", bytes(data)))
    assert len(files["x.log"]) <= 10


STRIMZI = [
    "reports/kafkas/my-cluster.yaml",
    "reports/logs/my-cluster-kafka-0-kafka.log",
    "reports/logs/my-cluster-kafka-0-kafka.log.0",
    "reports/logs/my-cluster-pool-2-11-kafka.log",
    "reports/logs/my-cluster-zookeeper-2-zookeeper.log",
    "reports/logs/my-cluster-entity-operator-5d8c7-xk2p9-topic-operator.log",
    "reports/configs/my-cluster-kafka-1.cfg",
    "reports/events/events.txt",
]


def test_a_report_of_strimzi_tells_cluster_and_nodes(tmp_path: Path) -> None:
    path = write(tmp_path / "report-21-11-2026_10-00-00.zip", zip_of(dict.fromkeys(STRIMZI, b"x")))
    paths = [found.path for found in members(path)]
    found = bundle_of(paths)
    assert [place_of(found, one) for one in paths] == [
        Place("strimzi_report", "my-cluster"),
        Place("strimzi_report", "my-cluster", 0),
        Place("strimzi_report", "my-cluster", 0),
        Place("strimzi_report", "my-cluster", 11),
        Place("strimzi_report", "my-cluster"),
        Place("strimzi_report", "my-cluster"),
        Place("strimzi_report", "my-cluster", 1),
        Place("strimzi_report", "my-cluster"),
    ]


def test_an_older_report_of_strimzi_names_its_cluster_in_the_pods() -> None:
    found = bundle_of(["reports/podlogs/prod-kafka-2-kafka.log", "reports/podlogs/prod-zookeeper-1.log"])
    assert place_of(found, "reports/podlogs/prod-kafka-2-kafka.log") == Place("strimzi_report", "prod", 2)
    assert place_of(found, "reports/podlogs/prod-zookeeper-1.log") == Place("strimzi_report", "prod")


def test_an_instacollector_archive_tells_the_machine_but_no_node(tmp_path: Path) -> None:
    node = gzip.compress(tar_of({"./server.log": b"x", "./io_stat.info": b"x"}))
    path = write(
        tmp_path / "InstaCollection_202611211000.tar.gz",
        gzip.compress(tar_of({f"./10.0.0.{n}/InstaCollection_10.0.0.{n}.tar.gz": node for n in (1, 2)})),
    )
    paths = [found.path for found in members(path)]
    found = bundle_of(paths)
    assert paths[0] == "10.0.0.1/InstaCollection_10.0.0.1.tar.gz/server.log"
    assert [place_of(found, one) for one in paths] == [Place("instacollector", host=f"10.0.0.{n}") for n in (1, 1, 2, 2)]


def test_a_sosreport_and_plain_folders_are_known() -> None:
    paths = [
        "sosreport-kafka-1-2026-11-21-abcdefg/sos_commands/networking/ss_-peaonmi",
        "sosreport-kafka-1-2026-11-21-abcdefg/var/log/kafka/server.log",
    ]
    assert place_of(bundle_of(paths), paths[1]) == Place("sosreport", host="kafka-1")
    found = bundle_of(["evidence/ss.txt", "broker-12/server.log"])
    assert place_of(found, "broker-12/server.log") == Place("plain", node=12)
    assert place_of(found, "evidence/ss.txt") == Place("plain")
    assert bundle_of(["server.log"]) is None
    assert place_of(None, "server.log") is None


def test_refusals_are_entries_of_their_own(tmp_path: Path) -> None:
    found = list(members(write(tmp_path / "b.tar", tar_of({"/a": b"x"}))))
    assert found == [Refused("/a", "an absolute path")]


def test_backslashes_of_windows_are_slashes(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("broker-1/server.log", b"x")
        archive.writestr("broker-2/server.log", b"x")
    data = out.getvalue().replace(b"broker-1/", b"broker-1\\").replace(b"broker-2/", b"..\\er-22\\"[:9])
    files, refused = read(write(tmp_path / "b.zip", data))
    assert files == {"broker-1/server.log": b"x"}
    assert refused == {"../er-22/server.log": "a path with .."}
