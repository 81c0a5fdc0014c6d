"""Fatal error reports: values typed by hand from the fixtures."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import About, Row, lines_of
from ingestion.captures.jvm import hs_err

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "hs_err"


def rows(name: str, about: About | None = None) -> list[Row]:
    return list(hs_err.read("hs_err", lines_of((FIXTURES / name).read_text()), about or About(name)))


def test_a_signal() -> None:
    (row,) = rows("hs_err_pid30875-25-sigsegv.log")
    assert row.kind == "jvm_crash"
    assert (row.at, row.at_known_by, row.warnings) == (dt.datetime(2026, 11, 21, 15, 36, 6, tzinfo=dt.UTC), "content", ())
    assert row.fields == {
        "reason": "SIGSEGV (0xb) at pc=0x00007f0a0df5ff14 (sent by kill)",
        "signal": "SIGSEGV",
        "signal_code": "SI_USER",
        "problematic_frame": "C  [libc.so.6+0x85f14]",
        "frames": "C  [libc.so.6+0x85f14]",
        "pid": "30875",
        "tid": "30875",
        "jre_version": "OpenJDK Runtime Environment Temurin-25.0.3+9 (25.0.3+9) (build 25.0.3+9-LTS)",
        "jvm": "OpenJDK 64-Bit Server VM Temurin-25.0.3+9 (25.0.3+9-LTS, mixed mode, sharing, tiered, compressed oops, "
        "compressed class ptrs, serial gc, linux-amd64)",
        "current_thread": "native thread",
        "command_line": "-Xmx32m -XX:+UseSerialGC Locks v",
        "jvm_args": "-Xmx32m -XX:+UseSerialGC",
        "java_command": "Locks v",
        "host": "AMD EPYC, 2 cores, 23G, Debian GNU/Linux 12 (bookworm)",
        "elapsed_ms": "5164",
        "physical_bytes": "25274793984",
        "physical_free_bytes": "24335441920",
        "swap_bytes": "0",
        "swap_free_bytes": "0",
        "max_map_count": "65530",
        "memory_maps": "5",
        "open_files_limit": "20000",
    }


def test_memory_that_was_refused() -> None:
    (row,) = rows("hs_err_pid4242-8-map-failed.log", About("hs_err_pid4242.log", zone=dt.timezone(dt.timedelta(hours=8))))
    assert row.at == dt.datetime(2019, 3, 19, 12, 31, 32, tzinfo=dt.UTC)
    assert row.warnings == ("the abbreviation CST means several zones; that of the source is taken",)
    said = row.fields
    assert said["reason"] == "Native memory allocation (mmap) failed to map 12288 bytes for committing reserved memory."
    assert (said["memory_call"], said["memory_refused_bytes"], said["memory_purpose"]) == ("mmap", "12288", "committing reserved memory")
    assert (said["pid"], said["tid"]) == ("4242", "0x00007f10a1bfa700")
    assert (said["current_thread"], said["thread_state"]) == ('JavaThread "kafka-log-cleaner-thread-0"', "_thread_new")
    assert said["java_frames"] == "j  sun.nio.ch.FileChannelImpl.map0(IJJ)J+0\nj  kafka.log.AbstractIndex.resize(I)V+45"
    assert said["frames"].startswith("V  [libjvm.so+0xac5e2a]  VMError::report_and_die()+0x2ba\nV  ")
    assert (said["java_threads"], said["memory_maps"], said["max_map_count"], said["open_files_limit"]) == ("2", "3", "65530", "655350")
    assert (said["physical_bytes"], said["physical_free_bytes"], said["elapsed_ms"]) == ("33670057984", "422244352", "864000000")
    assert said["java_command"] == "kafka.Kafka config/server.properties"


def test_an_internal_error() -> None:
    (row,) = rows("hs_err_pid77-17-internal-error.log")
    assert row.at == dt.datetime(2025, 10, 4, 10, 0, 0, tzinfo=dt.UTC)
    assert row.fields["reason"] == "Internal Error (g1ConcurrentMark.cpp:1665)"
    assert row.fields["error"] == "guarantee(has_overflown()) failed: only way to get here"
    assert (row.fields["vm_operation"], row.fields["current_thread"]) == ("G1PauseRemark", 'VMThread "VM Thread"')
    assert row.fields["signal_code"] == "BUS_ADRERR"
    assert row.fields["elapsed_ms"] == "812500"


def test_a_report_without_head_is_a_row_with_a_warning() -> None:
    text = (FIXTURES / "hs_err_pid77-17-internal-error.log").read_text()
    (row,) = hs_err.read("hs_err", lines_of(text[text.index("-----") :]), About("hs_err_pid77.log"))
    assert "the head of the report is missing" in row.warnings
    assert row.fields["vm_operation"] == "G1PauseRemark"


@pytest.mark.parametrize(("letters", "hours"), [("SGT", 8), ("HKT", 8), ("AEST", 10), ("CDT", -5), ("EEST", 3), ("UTC", 0)])
def test_letters_that_mean_one_zone_are_that_zone(letters: str, hours: int) -> None:
    text = (FIXTURES / "hs_err_pid4242-8-map-failed.log").read_text().replace("timezone: CST", f"timezone: {letters}")
    (row,) = hs_err.read("hs_err", lines_of(text), About("hs_err_pid4242.log"))
    assert (row.at, row.warnings) == (dt.datetime(2019, 3, 19, 20, 31, 32, tzinfo=dt.timezone(dt.timedelta(hours=hours))), ())


HEAD = (
    "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGBUS (0x7) at pc=0x00007f1a2c3d4e5f, pid=4711, tid=4822\n#\n"
    "# JRE version: OpenJDK Runtime Environment (11.0.9+11) (build 11.0.9+11)\n"
    "# Java VM: OpenJDK 64-Bit Server VM (11.0.9+11, mixed mode, g1 gc, linux-amd64)\n"
    "# Problematic frame:\n# v  [libjvm.so+0x5c8a13]  Copy::fill_to_memory_atomic(void*, unsigned long, unsigned char)+0x123\n#\n"
    "# An error report file with more information is saved as:\n# /opt/kafka/hs_err_pid4711.log\n#\n"
)


@pytest.mark.parametrize(
    "text",
    [
        HEAD,
        # Without its first line; without the marks, which a wiki takes for headings; on a page without empty lines; in a text.
        HEAD.split("\n", 3)[3],
        HEAD.replace("# ", "").replace("#\n", "\n"),
        HEAD.replace("#\n", ""),
        f"It stopped with this:\n\n{HEAD}\nThen it was started again.\n",
    ],
)
def test_the_head_of_a_report_alone(text: str) -> None:
    assert hs_err.kind_of(text) == "hs_err"
    (found,) = [row for row in hs_err.read("hs_err", lines_of(text), About("post.txt")) if row.kind == "jvm_crash"]
    assert found.fields["reason"] == "SIGBUS (0x7) at pc=0x00007f1a2c3d4e5f"
    assert (found.fields["signal"], found.fields["pid"], found.fields["tid"]) == ("SIGBUS", "4711", "4822")
    assert (
        found.fields["problematic_frame"]
        == "v  [libjvm.so+0x5c8a13]  Copy::fill_to_memory_atomic(void*, unsigned long, unsigned char)+0x123"
    )
    assert found.fields["jre_version"].startswith("OpenJDK Runtime Environment (11.0.9+11)")


@pytest.mark.parametrize("mark", ["# ", ""])
def test_memory_that_was_refused_in_a_head_alone(mark: str) -> None:
    text = f"{mark}There is insufficient memory for the Java Runtime Environment to continue.\n{mark}Native memory allocation (mmap) failed to map 65536 bytes for committing reserved memory.\n"
    (found,) = hs_err.read("hs_err", lines_of(text), About("post.txt"))
    assert (found.fields["memory_call"], found.fields["memory_refused_bytes"]) == ("mmap", "65536")


def test_a_word_of_a_fatal_error_is_no_report() -> None:
    assert hs_err.kind_of("A fatal error stopped our broker.\nWe do not know which.\n") is None
