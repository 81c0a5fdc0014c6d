"""The node of a capture whose content does not name it: by names, folders, hosts, and by later files."""

from __future__ import annotations

import datetime as dt
import gc
import shutil
import weakref
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ingestion import captures
from ingestion.bronze.source_rows import SOURCE_COLUMNS, source_row
from ingestion.bronze.tasks import Counted, Read
from ingestion.bronze.write import schema_of
from ingestion.ingest import look
from ingestion.outcome import nodeless_said
from ingestion.sources import earlier, kept, owners, said
from ingestion.sources.discover import Options
from ingestion.sources.identify import identify
from ingestion.sources.layout import Layout
from ingestion.sources.owners import layout_for
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Placed

FIXTURES = Path(__file__).parents[1] / "fixtures" / "whose"
CAPTURES = FIXTURES.parent / "captures"
NOW = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
SOURCES = schema_of(SOURCE_COLUMNS)
# Before the first run.
NOTHING = earlier.Past(SOURCES.empty_table())
DUMP = "[2026-11-21 10:00:0{0},000] INFO KafkaConfig values: \n\tadvertised.listeners = PLAINTEXT://{1}:9092\n\tbroker.id = {0}\n (kafka.server.KafkaConfig)\n"
SERVER = "[2026-11-21 10:00:00,123] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"
DESCRIBE = (FIXTURES / "lookalikes" / "kafka-topics-describe.txt").read_text()
SS = (FIXTURES / "four_nodes" / "ss-kafka-1.txt").read_text()
GC = (FIXTURES / "four_nodes" / "node1-gc.log").read_text()
# Four nodes in one folder, each named in another way; ids begin at 1, pods at 0.
FOUR_NODES = {
    "jstack_broker1_1030.txt": 1,
    "jstack_broker2_1030.txt": 2,
    "jstack_broker3_1030.txt": 3,
    "jstack_broker4_1030.txt": 4,
    "ss-kafka-1.txt": 1,
    "ss-kafka-2.txt": 2,
    "ss-kafka-3.txt": 3,
    "ss-kafka-4.txt": 4,
    "node1-gc.log": 1,
    "node2-gc.log": 2,
    "node3-gc.log": 3,
    "node4-gc.log": 4,
    "du.kafka01.example.com.out": 1,
    "du.kafka02.example.com.out": 2,
    "du.kafka03.example.com.out": 3,
    "du.kafka04.example.com.out": 4,
    "my-cluster-kafka-0-lsof.txt": 1,
    "my-cluster-kafka-1-lsof.txt": 2,
    "my-cluster-kafka-2-lsof.txt": 3,
    "my-cluster-kafka-3-lsof.txt": 4,
    "jmx-b1-1711.csv": 1,
    "jmx-b2-1711.csv": 2,
    "jmx-b3-1711.csv": 3,
    "jmx-b4-1711.csv": 4,
    "broker-1.server.properties": 1,
    "broker-2.server.properties": 2,
    "broker-3.server.properties": 3,
    "broker-4.server.properties": 4,
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def found(folder: Path, tmp_path: Path, past: earlier.Past | None = None, **options: Any) -> list[Placed]:
    with Spool(tmp_path / "spool") as spool:
        given = Options([str(folder)], cluster="c", timezone="UTC", **options)
        return list(chain.from_iterable(look(given, str(tmp_path / "warehouse"), spool, past)))


def nodes(sources: list[Placed], folder: Path) -> dict[str, tuple[int | None, str | None]]:
    return {str(Path(source.shown).relative_to(folder.resolve())): (source.node_id, source.node_known_by) for source in sources}


def of(folder: Path, tmp_path: Path, **options: Any) -> dict[str, tuple[int | None, str | None]]:
    return nodes(found(folder, tmp_path, **options), folder)


NAMES = owners.content()["names"]


@pytest.mark.parametrize(("word", "name", "number"), [(word, *pair) for word, entry in NAMES.items() for pair in entry["examples"].items()])
def test_a_name_gives_the_number_behind_its_word_and_no_other(word: str, name: str, number: int) -> None:
    said = {(candidate.word.name, candidate.number) for candidate in owners.candidates(name)}
    assert (word, number) in said
    assert {number for _, number in said} == {number}


@pytest.mark.parametrize("name", [name for entry in NAMES.values() for name in entry["counter_examples"]])
def test_dates_versions_sizes_and_labels_give_no_number(name: str) -> None:
    assert owners.candidates(name) == ()


@pytest.mark.parametrize("section", ["members", "hosts", "own", "machines"])
def test_each_text_tells_what_its_example_says(section: str) -> None:
    for entry in owners.content()[section].values():
        for text, wanted in entry["examples"].items():
            own = 99 if section == "hosts" and None in wanted.values() else None
            told = owners.tells(text, (entry.get("kinds") or ["x"])[0], own)
            said = {"members": list(told.members), "hosts": dict(told.hosts), "own": told.own, "machines": told.host}[section]
            assert said == (wanted if own is None else dict.fromkeys(wanted, own)), text


def test_of_an_address_only_the_host_is_kept() -> None:
    """bronze.sources must hold no secrets."""
    told = owners.tells("advertised.listeners=A://u:geheim@alpha07:9092,B://[fd00::7]:9093\n", "kafka_server_properties", 7)
    assert told.hosts == (("alpha07", 7), ("fd00::7", 7))


def test_kinds_of_nodes_and_of_others_are_kinds_of_their_module() -> None:
    for module in captures.modules():
        of_node, of_others = getattr(module, "OF_NODE", frozenset()), getattr(module, "OF_OTHERS", frozenset())
        assert of_node | of_others <= set(module.KINDS)
        assert not of_node & of_others
    assert captures.is_of_node("thread_dump")
    assert not captures.is_of_node("kafka_topics_describe")


def test_captures_of_four_nodes_in_one_folder_have_their_nodes_by_name(tmp_path: Path) -> None:
    folder = FIXTURES / "four_nodes"
    assert of(folder, tmp_path) == {name: (node, "name") for name, node in FOUR_NODES.items()}


def test_the_same_with_a_describe_that_says_which_nodes_there_are(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    shutil.copytree(FIXTURES / "four_nodes", folder)
    (folder / "describe.txt").write_text(DESCRIBE)
    assert of(folder, tmp_path) == {name: (node, "name") for name, node in FOUR_NODES.items()} | {"describe.txt": (None, None)}


def test_captures_of_the_same_text_are_sources_of_their_own(tmp_path: Path) -> None:
    sources = identify(found(FIXTURES / "four_nodes", tmp_path), [])
    assert {source.outcome for source in sources} == {"read"}
    assert len({source.source_id for source in sources}) == len(FOUR_NODES)


def test_names_that_only_look_like_nodes_give_none(tmp_path: Path) -> None:
    """Sequence numbers, times, pids, ports, versions, sizes, other programs, and ids that the cluster does not have."""
    found_nodes = of(FIXTURES / "lookalikes", tmp_path)
    assert len(found_nodes) == 23
    assert set(found_nodes.values()) == {(None, None)}


def test_a_number_that_is_no_node_of_the_cluster_is_none(tmp_path: Path) -> None:
    logs = {f"logs/{node}/server.log": SERVER.format(node) for node in (5, 7)}
    folder = write(tmp_path / "given", logs | {"describe.txt": DESCRIBE, "ss-b5.txt": SS, "ss-b6.txt": SS})
    assert of(folder, tmp_path)["ss-b5.txt"] == (5, "name")
    assert of(folder, tmp_path)["ss-b6.txt"] == (None, None)


def test_the_only_node_that_is_known_is_not_that_of_captures_named_after_others(tmp_path: Path) -> None:
    files = {"logs/server.log": SERVER.format(1)} | {f"evidence/ss-broker{node}.txt": SS for node in (1, 2, 3)} | {"evidence/ss.txt": SS}
    said = of(write(tmp_path / "given", files), tmp_path)
    assert said["evidence/ss-broker1.txt"] == (1, "name")
    assert {said[f"evidence/{name}"] for name in ("ss-broker2.txt", "ss-broker3.txt", "ss.txt")} == {(None, None)}


def test_two_nodes_in_one_name_are_none_and_a_warning(tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {"describe.txt": DESCRIBE, "ss-broker1-broker2.txt": SS})
    (source,) = (source for source in found(folder, tmp_path) if source.capture == "sockets")
    assert (source.node_id, source.doubts) == (None, ("its name says nodes [1, 2]",))


def test_names_that_count_otherwise_than_the_ids_are_none_and_a_warning(tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {"describe.txt": DESCRIBE} | {f"ss-broker{n}.txt": SS for n in range(4)})
    sources = [source for source in found(folder, tmp_path) if source.capture == "sockets"]
    assert {source.node_id for source in sources} == {None}
    assert {source.doubts for source in sources} == {("its name counts otherwise than the nodes [1, 2, 3, 4]",)}


def test_a_pod_whose_own_log_says_its_id_tells_how_pods_count(tmp_path: Path) -> None:
    files = {"prod-kafka-0/server.log": SERVER.format(100), "describe.txt": DESCRIBE.replace("1,2,3,4", "100,101,102")}
    folder = write(tmp_path / "given", files | {f"prod-kafka-{n}-ss.txt": SS for n in range(3)})
    said = of(folder, tmp_path)
    assert [said[f"prod-kafka-{n}-ss.txt"] for n in range(3)] == [(100, "name"), (101, "name"), (102, "name")]


def test_a_folder_above_whose_known_files_agree_says_the_node(tmp_path: Path) -> None:
    files = {
        "kafka-b2/logs/server.log": SERVER.format(2),
        "kafka-b2/evidence/ss.txt": SS,
        "kafka-b2/gc/kafkaServer-gc.log.0": GC,
        "kafka-b2/gc/zookeeper-gc.log": GC.replace("3.250", "4.250"),
        "kafka-b2/evidence/describe.txt": DESCRIBE,
        "kafka-b3/logs/server.log": SERVER.format(3),
        "evidence/ss.txt": SS,
    }
    folder = write(tmp_path / "given", files)
    assert of(folder, tmp_path) == {
        "kafka-b2/logs/server.log": (2, "content"),
        "kafka-b2/evidence/ss.txt": (2, "folder"),
        "kafka-b2/gc/kafkaServer-gc.log.0": (2, "folder"),
        "kafka-b2/gc/zookeeper-gc.log": (None, None),
        "kafka-b2/evidence/describe.txt": (None, None),
        "kafka-b3/logs/server.log": (3, "content"),
        "evidence/ss.txt": (None, None),
    }


def test_the_folder_that_was_given_is_the_highest(tmp_path: Path) -> None:
    write(tmp_path / "all", {"server.log": SERVER.format(2), "given/ss.txt": SS, "given/logs/server.log": SERVER.format(7)})
    assert of(tmp_path / "all" / "given", tmp_path)["ss.txt"] == (7, "folder")
    (tmp_path / "all/given/logs/server.log").unlink()
    assert of(tmp_path / "all" / "given", tmp_path)["ss.txt"] == (None, None)


def test_a_folder_of_a_node_or_a_client_says_nothing_of_those_beside_it(tmp_path: Path) -> None:
    consumer = "group.id=g\nbootstrap.servers=b:9092\nauto.offset.reset=earliest\nenable.auto.commit=false\n"
    files = {
        "kafka-2/server.log": SERVER.format(2),
        "evidence/ss.txt": SS,
        "clients/ss.txt": SS,
        "push/consumer.properties": consumer,
        "push/ss.txt": SS,
    }
    said = of(write(tmp_path / "given", files), tmp_path)
    assert {said[name] for name in ("evidence/ss.txt", "clients/ss.txt", "push/ss.txt")} == {(None, None)}


def test_in_a_folder_with_the_log_of_one_node_and_the_capture_of_another_the_name_decides(tmp_path: Path) -> None:
    files = {"server.log": SERVER.format(1), "ss-broker2.txt": SS, "ss.txt": SS, "describe.txt": DESCRIBE}
    said = of(write(tmp_path / "given", files), tmp_path)
    assert (said["ss-broker2.txt"], said["ss.txt"]) == ((2, "name"), (None, None))


def test_what_disagrees_is_a_warning(tmp_path: Path) -> None:
    files = {"describe.txt": DESCRIBE, "broker-3-server.log": SERVER.format(1), "x/ss.txt": SS}
    said = {Path(source.shown).name: source for source in found(write(tmp_path / "given", files), tmp_path)}
    assert said["broker-3-server.log"].node_id == 1
    assert said["broker-3-server.log"].warnings == ("content says node 1, the name says node 3",)


@pytest.mark.parametrize(
    "name",
    [
        "ss.alpha03.example.com.txt",
        "ss-alpha03.txt",
        "20261121T103000Z-alpha03-ss.txt",
        "10.1.0.3-ss.txt",
        "ss_10_1_0_3.txt",
        "ip-10-1-0-3.ss.txt",
    ],
)
def test_a_host_in_a_name_is_the_node_that_said_so(tmp_path: Path, name: str) -> None:
    files = {
        "logs/1/server.log": DUMP.format(1, "alpha01.example.com"),
        "logs/7/server.log": DUMP.format(7, "alpha03.example.com") + DUMP.format(7, "10.1.0.3"),
    }
    folder = write(tmp_path / "given", files | {f"evidence/{name}": SS})
    assert of(folder, tmp_path)[f"evidence/{name}"] == (7, "name")


def test_an_address_of_several_nodes_or_of_none_is_no_evidence(tmp_path: Path) -> None:
    files = {f"logs/{n}/server.log": DUMP.format(n, "shared.example.com") for n in (1, 2)} | {
        "logs/3/server.log": DUMP.format(3, "localhost")
    }
    folder = write(tmp_path / "given", files | {"shared.example.com-ss.txt": SS, "localhost-ss.txt": SS})
    said = of(folder, tmp_path)
    assert (said["shared.example.com-ss.txt"], said["localhost-ss.txt"]) == ((None, None), (None, None))


def test_the_machine_that_a_capture_names_is_its_node(tmp_path: Path) -> None:
    files = {f"logs/{n}/server.log": DUMP.format(n, f"alpha0{n}.example.com") for n in (1, 2)}
    prompt = "admin@alpha02:~$ ss -tan\n" + SS
    folder = write(tmp_path / "given", files | {"one.txt": prompt, "two.txt": prompt.replace("alpha02", "jumphost")})
    said = of(folder, tmp_path)
    assert (said["one.txt"], said["two.txt"]) == ((2, "host"), (None, None))


def test_placeholders_of_a_layout_may_stand_within_a_name(tmp_path: Path) -> None:
    layout = Layout("**/{kind}-broker-{node}.txt")
    assert layout.read("evidence/ss-tan-broker-12.txt") == (None, 12)
    assert layout.read("ss-broker-12.txt") == (None, 12)
    assert layout.read("ss-broker-12.log") == (None, None)
    with pytest.raises(ValueError, match=r"\{nod\} is not known; there are"):
        Layout("{cluster}/{kind}-{nod}.txt")
    folder = write(tmp_path / "given", {"server.log": SERVER.format(1), "ss-x-9.txt": SS})
    assert of(folder, tmp_path, layout="**/{kind}-x-{node}.txt")["ss-x-9.txt"] == (9, "path")


def test_captures_without_a_node_are_counted_with_the_way_to_say_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {"20261121T103000Z-jstack-7.txt": SS, "ss.txt": SS, "describe.txt": DESCRIBE})
    paths = [source.shown for source in found(folder, tmp_path) if said.is_nodeless(source)]
    assert [Path(path).name for path in paths] == ["20261121T103000Z-jstack-7.txt", "ss.txt"]
    text = nodeless_said(paths)
    assert text.startswith("2 files are of an unknown node, for example ")
    assert "--layout '**/{time}-jstack-{node}.txt'" in text
    assert of(folder, tmp_path, layout="**/{time}-jstack-{node}.txt")["20261121T103000Z-jstack-7.txt"] == (7, "path")
    assert "'**/{kind}-broker-{node}.txt'" in nodeless_said(["/x/ss.txt"])


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("log4j.properties", None),
        ("log4j2.yaml", None),
        ("kafkaServer-gc.log.0.current", None),
        ("describe-kafka-3.7.txt", None),
        ("kafka_2.13-2.8.0-df.txt", None),
        ("heap-4g.txt", None),
        ("x86_64-limits.txt", None),
        ("log4j-7.properties", "**/log4j-{node}.properties"),
        ("jstack-12-3.7.1.txt", "**/jstack-{node}-3.7.1.txt"),
        ("df.7.txt", "**/df.{node}.txt"),
    ],
)
def test_a_layout_is_suggested_only_for_a_number_that_may_be_a_nodes(name: str, layout: str | None) -> None:
    assert layout_for(name) == layout


def load(past: earlier.Past, sources: list[Placed]) -> earlier.Past:
    """The state after another run, with rows written as ingestion writes them; the cached rows are fewer and give the same result."""
    before, batch = past.of("c"), len(past.table) + 1
    owners = earlier.second_look(sources, before)
    found = identify(sources, before.known(owners))
    reads = [Read(source, Counted(records=1 if source.start == 0 else 0, end=source.size or 0)) for source in found]
    rows = [source_row(read, before, batch, NOW) for read in reads]
    new = [*(row for row in rows if row), *earlier.rows_of(owners, before.captures, batch, NOW)]
    now = earlier.Past(pa.concat_tables([past.table, pa.Table.from_pylist(new, SOURCES)]))
    less = earlier.Past(kept.needed(now.table))
    some, all_ = less.of("c"), now.of("c")
    assert (some.written, some.captures, some.files, some.last_said()) == (all_.written, all_.captures, all_.files, all_.last_said())
    assert sorted(map(repr, some.known(owners))) == sorted(map(repr, all_.known(owners)))
    return less


def known_now(past: earlier.Past) -> dict[str, tuple[int | None, str | None, tuple[str, ...]]]:
    """Path → owner, by the last row of each source."""
    return {Path(path).name: earlier.owner_of(row) for path, row in past.of("c").captures.items()}


def test_a_node_that_a_later_file_tells_is_given_to_earlier_captures_in_any_order(tmp_path: Path) -> None:
    parts = [
        {
            "evidence/ss-alpha02.txt": SS,
            "evidence/ss-b1.txt": SS,
            "evidence/ss-b9.txt": SS,
            "evidence/jmx-b2.txt": SS,
            "alpha/gc/gc.log": GC,
        },
        {"logs/1/server.log": DUMP.format(1, "alpha01.example.com")},
        {"logs/2/server.log": DUMP.format(2, "alpha02.example.com"), "alpha/logs/server.log": SERVER.format(2)},
    ]
    outcomes = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]):
        folder = tmp_path / "-".join(map(str, order))
        past = NOTHING
        for number in order:
            write(folder / "given", parts[number])
            with Spool(tmp_path / "spool") as spool:
                sources = []
                # Only the new files are passed, each time below the same folder.
                for source in chain.from_iterable(look(Options([str(folder / "given")], cluster="c", timezone="UTC"), "/x", spool, past)):
                    if str(Path(source.shown).relative_to((folder / "given").resolve())) in parts[number]:
                        sources.append(source)
            past = load(past, sources)
        outcomes.append(known_now(past))
    assert outcomes[0] == {
        "ss-alpha02.txt": (2, "name", ()),
        "ss-b1.txt": (1, "name", ()),
        "ss-b9.txt": (None, None, ()),
        "jmx-b2.txt": (2, "name", ()),
        "gc.log": (2, "folder", ()),
    }
    assert all(outcome == outcomes[0] for outcome in outcomes)


def test_what_a_rotated_log_told_holds_on(tmp_path: Path) -> None:
    files = {"logs/server.log": DUMP.format(7, "alpha07"), "logs/8/server.log": SERVER.format(8), "evidence/ss-alpha07.txt": SS}
    folder = write(tmp_path / "given", files)
    past = load(NOTHING, found(folder, tmp_path))
    (folder / "logs/server.log").write_text("[2026-11-22 10:00:00,123] INFO Starting the log cleaner (kafka.log.LogCleaner)\n")
    sources = found(folder, tmp_path, past)
    assert nodes(sources, folder)["evidence/ss-alpha07.txt"] == (7, "name")
    logs = [source for source in sources if source.envelope]
    assert known_now(load(past, logs))["ss-alpha07.txt"][:2] == (7, "name")


def test_a_file_that_is_given_again_by_a_folder_below_is_whose_it_was(tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {"logs/server.log": SERVER.format(7), "evidence/ss.txt": SS})
    past = load(NOTHING, found(folder, tmp_path))
    (source,) = found(folder / "evidence", tmp_path, past)
    assert (source.node_id, past.of("c").has_other_owner(source)) == (7, False)


def test_a_gc_log_that_has_its_node_by_time_keeps_it_where_the_logs_are_not_given_again(tmp_path: Path) -> None:
    logs = {f"server.log.2026-11-21-{hour}": SERVER.format(node).replace(" 10:", f" {hour}:") for hour, node in ((10, 1), (12, 2))}
    folder = write(tmp_path / "given", logs | {"kafkaServer-gc.log.0": GC})
    past = load(NOTHING, found(folder, tmp_path))
    assert known_now(past)["kafkaServer-gc.log.0"][:2] == (1, "folder")
    (source,) = past.of("c").kept(found(folder / "kafkaServer-gc.log.0", tmp_path, past))
    assert (source.node_id, past.of("c").has_other_owner(source)) == (1, False)


def test_logs_of_two_nodes_at_the_same_time_say_nothing_of_a_gc_log_beside_them(tmp_path: Path) -> None:
    logs = {f"server-{node}.log": SERVER.format(node) + SERVER.format(node).replace(" 10:", " 11:") for node in (1, 2)}
    assert of(write(tmp_path / "given", logs | {"kafkaServer-gc.log": GC}), tmp_path)["kafkaServer-gc.log"] == (None, None)


def test_a_second_look_that_finds_nothing_new_writes_no_rows(tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {"ss-b1.txt": SS, "gc.log": GC, "describe.txt": DESCRIBE})
    past = load(NOTHING, found(folder, tmp_path))
    again = load(past, found(folder, tmp_path, past))
    assert len(again.table) == len(past.table) == 3


@pytest.mark.parametrize(
    ("names", "nodes_of"),
    [
        # The files of each node are named in another style.
        (
            {"jstack_broker1_1030.txt": 1, "ss-kafka-2.txt": 2, "node3-ss.txt": 3, "ss_b4.txt": 4},
            {1, 2, 3, 4},
        ),
        ({"ss_b1.txt": 1, "ss_b2.txt": 2}, {1, 2}),
        # Hosts are numbered differently from the nodes in other names: the same number is not the same node.
        ({"ss-broker1.txt": 1, "ss-broker2.txt": 2, "ss-kafka101.txt": None, "ss-kafka102.txt": None}, {1, 2}),
    ],
)
def test_names_of_several_styles_say_together_which_nodes_there_are(
    tmp_path: Path, names: dict[str, int | None], nodes_of: set[int]
) -> None:
    folder = write(tmp_path / "given", dict.fromkeys(names, SS))
    assert {name: node for name, (node, _) in of(folder, tmp_path).items()} == names
    assert {node for node, _ in of(folder, tmp_path).values() if node is not None} == nodes_of


def test_what_files_tell_together_is_let_go_without_a_collection() -> None:
    """Ingestion runs without the garbage collector (`ingest.without_collections`), and a fleet has hundreds of thousands of files."""
    file = owners.File("c", "/logs", "/logs/broker-1", "ss.txt", True, False, (), (), (), None, None, False)
    gc.disable()
    try:
        cluster = owners.clusters([file])["c"]
        assert cluster.owner(file) == owners.Owner(1, "folder")
        told = weakref.ref(cluster)
        del cluster
        assert told() is None
    finally:
        gc.enable()
