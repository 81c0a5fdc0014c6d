"""Thread dumps: values typed by hand from the fixtures."""

from __future__ import annotations

import datetime as dt
import html
import json
from pathlib import Path

import pytest

from ingestion.captures import About, Row, lines_of
from ingestion.captures.jvm import thread_dump
from tests.python.capture_rows import rows_in

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "thread_dump"
DOUBT = ("who holds the read lock is not printed; taken from the frames",)


def rows(name: str, about: About | None = None) -> list[Row]:
    return list(thread_dump.read("thread_dump", lines_of((FIXTURES / name).read_text()), about or About(name)))


def named(found: list[Row], name: str) -> Row:
    return next(row for row in found if row.kind == "thread" and row.fields.get("name") == name)


def deadlocks(found: list[Row]) -> list[tuple[str, list[str], list[str], list[str], tuple[str, ...]]]:
    return [
        (row.fields["found_by"], *(json.loads(row.fields[key]) for key in ("threads", "waits_for", "held_by")), row.warnings)
        for row in found
        if row.kind == "deadlock"
    ]


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def test_threads_of_jdk_17() -> None:
    found = rows("jstack-17-locks.txt", About("jstack.txt", zone=dt.timezone(dt.timedelta(hours=2))))
    head = found[0]
    assert (head.kind, head.at, head.at_known_by) == ("thread_dump", at("2026-11-21T13:36:00"), "content")
    assert head.fields == {
        "jvm_name": "OpenJDK 64-Bit Server VM",
        "jvm_version": "17.0.15+6-Debian-1deb12u1",
        "dump_number": "1",
        "threads": "10",
        "deadlocks": "3",
    }
    thread = named(found, 'lock "1"')
    frames = thread.fields.pop("frames").split("\n")
    assert thread.fields == {
        "dump_number": "1",
        "name": 'lock "1"',
        "number": "14",
        "daemon": "true",
        "prio": "5",
        "os_prio": "0",
        "cpu_ms": "0.20",
        "elapsed_ms": "2280",
        "tid": "0x00007f15c00ae860",
        "nid": "0x77a9",
        "activity": "waiting on condition",
        "state": "WAITING",
        "state_detail": "parking",
        "waits_kind": "parking to wait for",
        "waits_for": "0x00000000fe0df0e8",
        "waits_for_class": "java.util.concurrent.locks.ReentrantLock$NonfairSync",
        "holds": "0x00000000fe0df0b8",
        "holds_classes": "java.util.concurrent.locks.ReentrantLock$NonfairSync",
        "blocked_by": "lock-2",
        "frame_count": "9",
    }
    assert (len(frames), frames[0], frames[-1]) == (
        8,
        "jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)",
        "Locks$$Lambda$3/0x00007f1569001000.run(Unknown Source)",
    )
    waiter = named(found, "waiter")
    assert (waiter.fields["waits_kind"], waiter.fields["waits_for"], waiter.fields.get("holds")) == (
        "waiting on",
        "0x00000000fe1e2028",
        None,
    )
    assert named(found, "writer").fields["holds"] == "0x00000000fe0df6e0"
    assert [row for row in found if row.kind == "unread"] == []


def test_deadlocks_that_the_jvm_reports_and_one_it_does_not() -> None:
    expected = [
        ("jvm", ["monitor-1", "monitor-2"], ["0x00000000fe0decc0", "0x00000000fe0decb0"], ["monitor-2", "monitor-1"], ()),
        ("jvm", ['lock "1"', "lock-2"], ["0x00000000fe0df0e8", "0x00000000fe0df0b8"], ["lock-2", 'lock "1"'], ()),
        ("cycle", ["reader", "writer"], ["0x00000000fe0df6e0", "0x00000000fe0df4b8"], ["writer", "reader"], DOUBT),
    ]
    assert deadlocks(rows("jstack-17-locks.txt")) == expected


def test_a_deadlock_over_a_read_write_lock_with_many_readers_is_one() -> None:
    """Two compactors hold a monitor each and wait to write; five readers wait for one of the monitors.  Late ones only queue behind them."""
    found = [row for row in rows("jstack-17-read-write-locks.txt") if row.kind in ("thread_dump", "deadlock")]
    assert [row.kind for row in found] == ["thread_dump", "deadlock"]
    assert found[0].fields["deadlocks"] == "1"
    told = {key: json.loads(value) for key, value in found[1].fields.items() if value.startswith("[")}
    assert told["threads"] == ["compactor-1", "reader-1", "reader-2", "reader-3", "reader-4", "compactor-2", "reader-5"]
    waits = list(zip(told["waiters"], told["waits_for"], told["held_by"], strict=True))
    shard, one, two = "0x00000000ffd1bf50", "0x00000000ffd1d250", "0x00000000ffd1d260"
    assert sorted(waits) == sorted(
        [(f"compactor-{n}", shard, f"reader-{m}") for n in (1, 2) for m in (1, 2, 3, 4, 5)]
        + [(f"reader-{m}", one, "compactor-1") for m in (1, 2, 3)]
        + [(f"reader-{m}", two, "compactor-2") for m in (4, 5)]
    )
    assert set(zip(told["waits_for"], told["waits_for_classes"], strict=True)) == {
        (shard, "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync"),
        (one, "java.lang.Object"),
        (two, "java.lang.Object"),
    }
    assert told["waiting_threads"] == ["late reader", "late writer", "reloader"]
    assert told["members"][:2] == ["compactor-1 0x00007f8c4c09e1d0", "compactor-2 0x00007f8c4c09f340"]
    assert found[1].warnings == DOUBT


def test_those_who_wait_behind_a_deadlock_that_the_jvm_reports() -> None:
    deadlock = next(row for row in rows("jstack-8-kafka-deadlock.txt") if row.kind == "deadlock")
    # the heartbeat leads into the cycle and is not part of it
    assert [member.split(" ")[0] for member in json.loads(deadlock.fields["members"])] == [
        "group-metadata-manager-0",
        "kafka-request-handler-3",
    ]
    assert json.loads(deadlock.fields["waiting_threads"]) == []


def blocked(name: str, wants: str, holds: str, number: int) -> list[str]:
    return [
        f'"{name}" #{number} prio=5 os_prio=0 tid=0x00000000000000{number:02x} nid=0x{number:x} waiting for monitor entry [0x0]',
        "   java.lang.Thread.State: BLOCKED (on object monitor)",
        "\tat X.a(X.java:1)",
        f"\t- waiting to lock <0x00000000000000{wants}> (a X)",
        f"\t- locked <0x00000000000000{holds}> (a X)",
        "",
    ]


def test_deadlocks_without_a_common_thread_are_several_and_what_leads_to_one_is_behind_it() -> None:
    circle = {
        "a": ("a1", "a3"),
        "b": ("a2", "a1"),
        "c": ("a3", "a2"),
        "d": ("b1", "b2"),
        "e": ("b2", "b1"),
        "f": ("b1", "c1"),
        "g": ("c1", "c2"),
    }
    text = "\n".join(
        line for number, (name, (wants, holds)) in enumerate(circle.items(), 1) for line in blocked(name, wants, holds, number)
    )
    found = [row for row in thread_dump.read("thread_dump", lines_of(text), About("x")) if row.kind == "deadlock"]
    assert [(json.loads(row.fields["threads"]), json.loads(row.fields["waiting_threads"])) for row in found] == [
        (["a", "b", "c"], []),
        (["d", "e"], ["f", "g"]),
    ]


def test_a_read_lock_of_one_class_is_not_that_of_another_above_it() -> None:
    """The writer waits for the lock of Inner within the read lock of Outer: only readers under Inner's lock hold it up."""
    text = "\n".join(
        [
            '"writer" #1 prio=5 os_prio=0 tid=0x0000000000000001 nid=0x1 waiting on condition [0x0]',
            "   java.lang.Thread.State: WAITING (parking)",
            "\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)",
            "\t- parking to wait for  <0x00000000000000aa> (a java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync)",
            "\tat java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock(java.base@17.0.15/ReentrantReadWriteLock.java:959)",
            "\tat kafka.utils.CoreUtils$.inWriteLock(CoreUtils.scala:1)",
            "\tat kafka.log.Inner.write(Inner.scala:1)",
            "\tat kafka.utils.CoreUtils$.inReadLock(CoreUtils.scala:1)",
            "\tat kafka.cluster.Outer.append(Outer.scala:1)",
            "\t- locked <0x00000000000000bb> (a java.lang.Object)",
            "",
            '"outer" #2 prio=5 os_prio=0 tid=0x0000000000000002 nid=0x2 waiting for monitor entry [0x0]',
            "   java.lang.Thread.State: BLOCKED (on object monitor)",
            "\tat kafka.cluster.Outer.look(Outer.scala:1)",
            "\t- waiting to lock <0x00000000000000bb> (a java.lang.Object)",
            "\tat kafka.utils.CoreUtils$.inReadLock(CoreUtils.scala:1)",
            "\tat kafka.cluster.Outer.look(Outer.scala:1)",
        ]
    )
    assert deadlocks(list(thread_dump.read("thread_dump", lines_of(text), About("x")))) == []
    inner = text.replace("kafka.cluster.Outer.look", "kafka.log.Inner.look")
    assert [threads for _, threads, *_ in deadlocks(list(thread_dump.read("thread_dump", lines_of(inner), About("x"))))] == [
        ["writer", "outer"]
    ]


def test_jdk_25_prints_native_ids_twice() -> None:
    found = rows("jcmd-25-locks.txt")
    assert found[0].fields["pid"] == "30875"
    assert (named(found, "main").fields["number"], named(found, "main").fields["nid"]) == ("3", "30877")
    assert [(by, threads) for by, threads, *_ in deadlocks(found)] == [
        ("jvm", ["monitor-1", "monitor-2"]),
        ("jvm", ['lock "1"', "lock-2"]),
        ("cycle", ["reader", "writer"]),
    ]


def test_dump_to_file_of_jdk_25_as_text_and_as_json() -> None:
    text, other = rows("dump-to-file-25.txt"), rows("dump-to-file-25.json")
    assert (text[0].at, other[0].at) == (at("2026-11-21T15:36:05.685515"), at("2026-11-21T15:36:05.196319"))
    for found in (text, other):
        assert (found[0].fields["pid"], found[0].fields["jvm_version"]) == ("30875", "25.0.3+9-LTS")
        blocked = named(found, "monitor-1").fields
        assert (blocked["state"], blocked["waits_kind"], blocked["waits_for"], blocked["waits_for_class"]) == (
            "BLOCKED",
            "waiting to lock",
            "java.lang.Object@5215ae3f",
            "java.lang.Object",
        )
        assert blocked["holds"] == "java.lang.Object@5d30a99e"
        virtual = [row for row in found if row.fields.get("virtual") == "true"]
        assert [row.fields["waits_for"] for row in virtual] == ["java.lang.Object@5d30a99e"] * 2
        assert "holds" not in named(found, "Finalizer").fields
        assert [(by, threads, doubt) for by, threads, _, _, doubt in deadlocks(found)] == [
            ("cycle", ["monitor-1", "monitor-2"], ()),
            ("cycle", ["reader", "writer"], DOUBT),
        ]


def test_dump_to_file_of_jdk_21_and_24() -> None:
    found = rows("dump-to-file-21.txt")
    assert [(row.fields.get("name"), row.fields["number"], row.fields.get("virtual"), row.fields["kafka_frames"]) for row in found[1:]] == [
        ("main", "1", None, "kafka.Kafka.main(Kafka.scala)"),
        (None, "31", "true", "org.apache.kafka.clients.NetworkClient.poll(NetworkClient.java:600)"),
    ]
    assert found[0].at == at("2024-03-05T06:07:08.123456")
    found = rows("dump-to-file-21.json")
    assert [(row.fields["number"], row.fields.get("container")) for row in found[1:]] == [
        ("1", None),
        ("31", "java.util.concurrent.ThreadPerTaskExecutor@1b2c"),
    ]
    assert found[0].warnings == ("the dump is cut within a thread",)
    holder, blocked = rows("dump-to-file-24.txt")[1:]
    assert (holder.fields["waits_for"], holder.fields["holds"]) == (
        "java.util.concurrent.locks.ReentrantLock$NonfairSync@6a5fc7f7",
        "java.lang.Object@1b2c3d",
    )
    assert (blocked.fields["waits_kind"], blocked.fields["waits_for"]) == ("waiting to lock", "java.lang.Object@1b2c3d")


def test_deadlock_of_brokers_threads() -> None:
    found = rows("jstack-8-kafka-deadlock.txt")
    assert deadlocks(found) == [
        (
            "jvm",
            ["executor-Heartbeat", "group-metadata-manager-0", "kafka-request-handler-3"],
            ["0x0000000700000010", "0x0000000700000020", "0x0000000700000010"],
            ["group-metadata-manager-0", "kafka-request-handler-3", "group-metadata-manager-0"],
            (),
        )
    ]
    handler = named(found, "kafka-request-handler-3").fields
    assert (handler["holds"], handler["holds_classes"]) == (
        "0x0000000700000030,0x0000000700000020",
        "kafka.server.DelayedProduce,java.util.LinkedList",
    )
    assert [row.fields.get("blocked_by") for row in found if row.kind == "thread"] == [
        None,
        "group-metadata-manager-0",
        "kafka-request-handler-3",
        "group-metadata-manager-0",
        None,
        None,
        None,
    ]
    cleaner = named(found, "kafka-log-cleaner-thread-0").fields
    assert (cleaner["daemon"], cleaner["state"], cleaner.get("holds"), cleaner["kafka_frames"]) == (
        "false",
        "TIMED_WAITING",
        None,
        "kafka.log.LogCleaner$CleanerThread.doWork(LogCleaner.scala:250)\nkafka.utils.ShutdownableThread.run(ShutdownableThread.scala:63)",
    )


def test_a_deadlock_that_was_pasted_without_its_dump() -> None:
    found = rows("pasted-deadlock-without-head.txt", About("post.txt", modified_at=at("2020-05-01T00:00:00")))
    assert found[0].warnings[0] == "the head of the dump is missing"
    assert [row.fields["name"] for row in found if row.kind == "thread"] == [
        "executor-Heartbeat",
        "group-metadata-manager-0",
        "kafka-request-handler-3",
    ]
    assert named(found, "group-metadata-manager-0").fields["waits_for"] == "0x0000000700000020"
    assert [threads for _, threads, *_ in deadlocks(found)] == [
        ["executor-Heartbeat", "group-metadata-manager-0", "kafka-request-handler-3"]
    ]


def test_two_dumps_in_the_output_of_a_broker() -> None:
    found = rows("kill-3-twice-in-stdout-7.txt")
    heads = [(row.at, row.fields["dump_number"], row.fields["threads"]) for row in found if row.kind == "thread_dump"]
    assert heads == [(at("2014-02-02T00:00:00"), "1", "4"), (at("2014-02-02T00:00:10"), "2", "1")]
    assert [row.raw_text[:31] for row in found if row.kind == "unread"] == [
        "[2014-02-01 23:59:58,120] INFO ",
        "[2014-02-02 00:00:00,125] INFO ",
    ]
    # of the two that read under a lock, only the one within Partition's can hold the lock that Partition.maybeShrinkIsr waits for
    assert deadlocks(found) == [
        (
            "cycle",
            ["kafka-scheduler-1", "kafka-request-handler-0"],
            ["0x00000000d0a0e010", "0x00000000d0a0e020"],
            ["kafka-request-handler-0", "kafka-scheduler-1"],
            DOUBT,
        )
    ]
    assert named(found, "kafka-request-handler-0").fields["frame_count"] == "5"


def test_the_serviceability_agent() -> None:
    found = rows("jhsdb-17.txt", About("jhsdb.txt", modified_at=at("2026-01-01T00:00:00")))
    assert [row.kind for row in found] == ["thread_dump", "thread", "deadlock"]
    assert found[1].fields["frames"] == "Locks.first()\njava.lang.Thread.run()"
    assert deadlocks(found) == [
        ("jvm", ["Thread-1", "Thread-0"], ["0x00000000fe0decb0", "0x00000000fe0decc0"], ["Thread-0", "Thread-1"], ())
    ]


def test_a_cycle_through_a_lock_nobody_waits_long_for_is_none() -> None:
    """A thread that waits for a lock whose holder runs is not a deadlock."""
    text = "\n".join(
        [
            '"a" #1 prio=5 os_prio=0 tid=0x0000000000000001 nid=0x1 waiting for monitor entry [0x0]',
            "   java.lang.Thread.State: BLOCKED (on object monitor)",
            "\tat X.a(X.java:1)",
            "\t- waiting to lock <0x00000000000000aa> (a X)",
            "",
            '"b" #2 prio=5 os_prio=0 tid=0x0000000000000002 nid=0x2 runnable [0x0]',
            "   java.lang.Thread.State: RUNNABLE",
            "\tat X.b(X.java:1)",
            "\t- locked <0x00000000000000aa> (a X)",
        ]
    )
    assert deadlocks(list(thread_dump.read("thread_dump", lines_of(text), About("x")))) == []


def test_json_with_a_broken_thread_keeps_the_others() -> None:
    text = (FIXTURES / "dump-to-file-25.json").read_text().replace('"name": "monitor-1"', '"name": "monitor-1')
    found = list(thread_dump.read("thread_dump", lines_of(text), About("x.json")))
    assert found[0].warnings == ("the dump is cut within a thread",)
    assert named(found, "monitor-2").fields["state"] == "BLOCKED"
    assert found[0].fields["threads"] == "10"


PIECE = (
    '"kafka-request-handler-0" #51 daemon prio=5 os_prio=0 tid=0x00007f3a4d0b2800 nid=0x6b waiting for monitor entry [0x00007f39f1ef0000]\n'
    "   java.lang.Thread.State: BLOCKED (on object monitor)\n"
    "\tat kafka.log.Log.append(Log.scala:760)\n"
    "\t- waiting to lock <0x00000000e0771f18> (a java.lang.Object)\n"
    "\t- locked <0x00000000e0771f99> (a java.lang.Object)\n"
    "\n"
    '"kafka-scheduler-1" #40 daemon prio=5 os_prio=0 tid=0x00007f3a4d0b2900 nid=0x5b waiting for monitor entry [0x00007f39f1ef1000]\n'
    "   java.lang.Thread.State: BLOCKED (on object monitor)\n"
    "\tat kafka.log.Log.roll(Log.scala:960)\n"
    "\t- waiting to lock <0x00000000e0771f99> (a java.lang.Object)\n"
    "\t- locked <0x00000000e0771f18> (a java.lang.Object)\n"
)


def squeezed(text: str) -> str:
    """As a web page shows a dump: without indentation and empty lines."""
    return "".join(f"{line.strip()}\n" for line in text.split("\n") if line.strip())


@pytest.mark.parametrize(
    "text",
    [
        PIECE,
        squeezed(PIECE),
        html.escape(PIECE),
        html.escape(squeezed(PIECE), quote=False),
        "".join(f"      {line}\n" for line in squeezed(PIECE).splitlines()),
        PIECE.replace('"kafka', "“kafka").replace('" #', "” #"),
    ],
)
def test_threads_without_the_first_line_of_a_dump_however_a_page_copies_them(text: str) -> None:
    rows = rows_in(thread_dump, text)
    threads = [
        (row.fields["name"], row.fields["state"], row.fields["waits_for"], row.fields["holds"]) for row in rows if row.kind == "thread"
    ]
    assert threads == [
        ("kafka-request-handler-0", "BLOCKED", "0x00000000e0771f18", "0x00000000e0771f99"),
        ("kafka-scheduler-1", "BLOCKED", "0x00000000e0771f99", "0x00000000e0771f18"),
    ]
    (deadlock,) = [row for row in rows if row.kind == "deadlock"]
    assert json.loads(deadlock.fields["threads"]) == ["kafka-request-handler-0", "kafka-scheduler-1"]


SECTION = (
    "Found one Java-level deadlock:\n=============================\n"
    '"kafka-request-handler-3":\n  waiting to lock monitor 0x00007f10c8003b58 (object 0x00000000e0a1b2c0, a kafka.coordinator.group.GroupMetadata),\n'
    '  which is held by "kafka-scheduler-2"\n'
    '"kafka-scheduler-2":\n  waiting to lock monitor 0x00007f10c8003b99 (object 0x00000000e0b1c3d8, a kafka.cluster.Partition),\n'
    '  which is held by "kafka-request-handler-3"\n'
)


@pytest.mark.parametrize(
    "text", [SECTION, squeezed(SECTION), html.escape(SECTION), html.escape(squeezed(SECTION)) + "\nFound 1 deadlock.\n"]
)
def test_the_section_of_a_deadlock_alone_is_read(text: str) -> None:
    (deadlock,) = [row for row in rows_in(thread_dump, text) if row.kind == "deadlock"]
    assert json.loads(deadlock.fields["held_by"]) == ["kafka-scheduler-2", "kafka-request-handler-3"]
    assert json.loads(deadlock.fields["waits_for_classes"]) == ["kafka.coordinator.group.GroupMetadata", "kafka.cluster.Partition"]
