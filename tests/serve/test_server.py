"""Limits, cancelling, concurrent commits, addresses, users and TLS, health, stopping."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyhive import hive
from pyhive.exc import OperationalError
from TCLIService.ttypes import TOperationState

from chronicle.serve import passwords
from chronicle.serve.client import connect
from chronicle.spark.java import find
from tests.lab import Lab
from tests.serve.conftest import MAX_ROWS
from tests.served import Served, launch

# Takes minutes unless something stops it.
ENDLESS = "select sum(hash(a.id, b.id)) from range(0, 4000000, 1, 2) a cross join range(0, 100000, 1, 2) b"


def chronicle(*arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chronicle", *arguments],
        input=given,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=Path(__file__).parents[2],
        check=False,
    )


def test_an_answer_of_too_many_rows_is_refused_and_not_cut(server: Served) -> None:
    assert len(server.ask(f"select * from range({MAX_ROWS})")) == MAX_ROWS
    with pytest.raises(OperationalError) as failed:
        server.ask("select id from range(200000) order by id desc")
    status = failed.value.args[0].status
    assert status.sqlState == "54000"
    assert status.errorMessage.startswith(f"[CHRONICLE_TOO_MANY_ROWS] the answer has more than {MAX_ROWS} rows")
    assert server.ask("select count(*) from (select id from range(200000))") == [(200000,)]
    assert len(server.ask("select id from range(200000) limit 10")) == 10


TOO_MUCH = {
    "select explode(sequence(1, 1000000000))": ("54000", "CHRONICLE_TOO_LONG"),
    "select size(sequence(timestamp'2020-01-01', timestamp'2026-01-01', interval 1 second))": ("54000", "CHRONICLE_TOO_LONG"),
    "select size(array_repeat(id, 2000000000)) from range(3)": ("54000", "CHRONICLE_TOO_LONG"),
    "select length(repeat('x', 2000000000))": ("54000", "CHRONICLE_TOO_LONG"),
    "select length(rpad('x', 2000000000, 'y'))": ("54000", "CHRONICLE_TOO_LONG"),
    # Spark would compute these while it analyses the statement.
    "select length(col1) from values (repeat('x', 1500000000))": ("54000", "CHRONICLE_TOO_LONG"),
    "values (length(repeat('x', 1500000000)), 1), (2, 3)": ("54000", "CHRONICLE_TOO_LONG"),
    "select * from range(length(repeat('x', 1500000000)))": ("42K08", "NON_FOLDABLE_ARGUMENT"),
    "select format_string('%2000000000d', 1)": ("54000", "CHRONICLE_TOO_LONG"),
    "select length(format_string('%1$-,2000000000.3f|%d', 1.0D, 2))": ("54000", "CHRONICLE_TOO_LONG"),
    "select array_insert(array(1), 2000000000, 1)": ("54000", "CHRONICLE_TOO_LONG"),
    "select length(replace(repeat('a', 1000000), 'a', repeat('b', 1000000)))": ("54000", "CHRONICLE_TOO_LONG"),
    "select length(regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000)))": ("54000", "CHRONICLE_TOO_LONG"),
    # Less than the ten million of a large server, more than this heap has room for.
    "select size(sequence(1, 5000000))": ("54000", "CHRONICLE_TOO_LONG"),
    "select randstr(2000000000, 1)": ("54000", "CHRONICLE_TOO_LONG"),
    "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select size(array_distinct(transform(sequence(1, 1000000), x -> array(x))))": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select instr(repeat('a', 3000000), concat(repeat('a', 3000000), 'b'))": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select parse_url('http://a/?b=c', 'QUERY', '(.*.){14}!')": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select str_to_map(repeat('a', 5000), '(.*a){12}c', ':')": ("54001", "CHRONICLE_TOO_COMPLEX"),
    # Nothing ends Java where it compiles the first, and where it repeats the other two without reading the text.
    "select repeat('b', 9) rlike concat(repeat('ab', 1500000), id) from range(3)": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select 'a' rlike '(((){1000}){1000}){1000}'": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select regexp_replace(string(id), '(?:(?:){60000}){60000}', '') from range(3)": ("54001", "CHRONICLE_TOO_COMPLEX"),
    # Spark puts other functions in the place of these.
    "select regexp_substr(string(id), repeat('ab', 1500000)) from range(3)": ("54001", "CHRONICLE_TOO_COMPLEX"),
    "select split_part(string(id), repeat('ab', 1500000), 1) from range(3)": ("54001", "CHRONICLE_TOO_COMPLEX"),
    # 2 GB each, which Spark holds compressed until all rows are there.
    "select repeat('x', 200000) from range(10000)": ("54000", "CHRONICLE_TOO_MANY_BYTES"),
    "select repeat('x', 200000) from range(10000) limit 9000": ("54000", "CHRONICLE_TOO_MANY_BYTES"),
    # Spark holds the rows of such a sort twice, in the tasks and where they are merged: 80 MB are too many for an answer, and fit the heap.
    "select repeat('x', 20000) as a from range(4000) order by a limit 3900": ("54000", "CHRONICLE_TOO_MANY_BYTES"),
    f"select {'(' * 20000}1{')' * 20000}": ("54001", "CHRONICLE_TOO_COMPLEX"),
    f"select '{'x' * (1 << 20)}'": ("54001", "CHRONICLE_TOO_COMPLEX"),
}


@pytest.mark.parametrize("query", TOO_MUCH, ids=lambda query: query[:60])
def test_what_asks_for_too_much_is_refused_with_its_reason(server: Served, query: str) -> None:
    with pytest.raises(OperationalError) as failed:
        server.ask(query)
    status = failed.value.args[0].status
    state, condition = TOO_MUCH[query]
    assert (status.sqlState, status.errorMessage.split()[0]) == (state, f"[{condition}]")
    assert "\n" not in status.errorMessage and "Exception" not in status.errorMessage


def test_what_is_long_but_not_too_long_is_answered(server: Served) -> None:
    assert server.ask("select count(*) from (select explode(sequence(1, 2000000)))") == [(2000000,)]
    hours = "sequence(timestamp'2020-01-01', timestamp'2026-01-01', interval 1 hour)"
    assert server.ask(f"select size({hours}), size(sequence(date'2020-01-01', date'2026-01-01', interval 1 month))") == [(52609, 73)]
    assert server.ask(f"select {'(' * 150}1{')' * 150}") == [(1,)]
    uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    assert server.ask(f"select '123e4567-e89b-12d3-a456-426614174000' rlike '^{uuid}$', repeat('a', 9000) rlike repeat('a', 9000)") == [
        (True, True)
    ]


def test_a_statement_without_enough_memory_ends_alone(server: Served) -> None:
    """Otherwise the process would end, and with it all other statements."""
    answers: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            answers.append(server.ask("select count(*) > 0 from dim_nodes"))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        with pytest.raises(OperationalError) as failed:
            server.ask("select size(collect_list(repeat(string(id), 100))) from range(50000000)")
    finally:
        done.set()
        asking.join(60)
    status = failed.value.args[0].status
    assert (status.sqlState, status.errorMessage.split()[0]) == ("53200", "[CHRONICLE_OUT_OF_MEMORY]")
    assert answers == [[(True,)]] * len(answers) != []
    assert server.ask("select count(*) > 0 from dim_nodes") == [(True,)]


@pytest.mark.parametrize(
    "queries",
    [
        (
            "select concat(repeat('a', 5000), 'b') rlike '(.*a){12}c'",
            "select sum(length(regexp_replace(concat(repeat('a', 5000), 'b', id), '(.*a){12}c', ''))) from range(3)",
        ),
        (
            "select size(split(concat(repeat('a', 5000), 'b', id), '(.*a){12}c')) from range(3)",
            "select max(concat(repeat('a', 5000), 'b', id) like '%a%a%a%a%a%a%a%a%a%a%a%a%c') from range(3)",
        ),
        (
            "values (concat(repeat('a', 5000), 'b') rlike '(.*a){12}c')",
            "select repeat('a', 5000) like any ('%a%a%a%a%a%a%a%a%a%a%a%a%c', 'x')",
        ),
        (
            "select aggregate(sequence(1, 3000000), 0L, (a, x) -> a + size(filter(sequence(1, 10000), y -> y > x)))",
            "select exists(sequence(1, 3000000), x -> exists(sequence(1, 10000), y -> y < -x))",
        ),
    ],
)
def test_patterns_that_do_not_end_are_cancelled(server: Served, queries: tuple[str, str]) -> None:
    """Two at once, as many as may run."""
    running = [connect("127.0.0.1", server.port).cursor() for _ in queries]
    for cursor, query in zip(running, queries, strict=True):
        cursor.execute(query, async_=True)
    began = time.monotonic()
    # The server answers a poll after five seconds, or when the statement ends before.
    with ThreadPoolExecutor(len(running)) as threads:
        states = [state.operationState for state in threads.map(lambda cursor: cursor.poll(), running)]
    assert states == [TOperationState.RUNNING_STATE] * len(running)
    assert time.monotonic() - began > 4
    for cursor in running:
        cursor.cancel()
    began = time.monotonic()
    assert server.ask("select 1") == [(1,)]
    assert time.monotonic() - began < 20


def test_regular_expressions_give_what_spark_gives(server: Served) -> None:
    asked = """select regexp_replace('abcabc', 'b(c)', '[$1]'), regexp_replace('aaa', 'a', 'b', 2), regexp_extract('ab12', '([a-z]+)([0-9]+)', 2),
        regexp_extract('x', '([0-9])?x', 1), regexp_extract_all('a1b2', '([a-z])', 1), regexp_instr('xxab', 'ab'), split('a,b,,', ','),
        split('abc', ''), split('oneAtwoBthree', '[ABC]', 2), 'abc' like 'a%b%c', 'AbC' ilike '%b%c%', 'a_c' like 'a\\\\_%c%',
        regexp_count('aaa', 'a'), regexp_substr('ab12', '[0-9]+'), regexp_like('x', 'y'), cast(null as string) rlike 'a'"""
    given = ("a[c]a[c]", "abb", "12", "", '["a","b"]', 3, '["a","b","",""]', '["a","b","c"]', '["one","twoBthree"]')
    assert server.ask(asked) == [(*given, True, True, True, 3, "12", False, None)]
    for query, state in (("select regexp_extract('a', '(a)', 3)", "22023"), ("select 'a' rlike '(a'", "22023")):
        with pytest.raises(OperationalError) as failed:
            server.ask(query)
        assert failed.value.args[0].status.sqlState == state


def test_two_hundred_clients_at_once(server: Served) -> None:
    """Each is answered, waits, or gets an error with the reason; the server works afterwards."""

    def ask(number: int) -> str:
        try:
            return "answered" if server.ask(f"select count(*) + {number} from dim_nodes where false") == [(number,)] else "wrong"
        except OperationalError as error:
            return str(error.args[0].status.sqlState)

    with ThreadPoolExecutor(200) as pool:
        ended = Counter(pool.map(ask, range(200)))
    # A statement may wait longer than its time limit.
    assert ended.keys() <= {"answered", "57014"} and ended["answered"] >= 100, ended
    held = [connect("127.0.0.1", server.port) for _ in range(200 - 20)]
    others: list[Any] = []
    try:
        with pytest.raises(OperationalError) as failed:
            others.extend(connect("127.0.0.1", server.port) for _ in range(40))
        status = failed.value.args[0].status
        assert (status.sqlState, status.errorMessage.split()[0]) == ("53300", "[CHRONICLE_TOO_MANY_CONNECTIONS]")
    finally:
        for connection in held + others:
            connection.close()
    assert server.ask("select 1") == [(1,)]


def test_a_cancelled_statement_frees_its_place(server: Served) -> None:
    connection = connect("127.0.0.1", server.port)
    running = [connection.cursor(), connection.cursor()]
    for cursor in running:
        cursor.execute(ENDLESS, async_=True)
    # The clients of the test before may still wait for their places.
    end = time.monotonic() + 90
    while [(state := cursor.poll()).operationState for cursor in running] != [TOperationState.RUNNING_STATE] * 2:
        assert time.monotonic() < end, state
        time.sleep(0.2)
    waiting = connect("127.0.0.1", server.port).cursor()
    waiting.execute("select 1", async_=True)
    # Two statements run, as many as may: the third waits, and the server answers the poll after five seconds.
    began = time.monotonic()
    assert waiting.poll().operationState != TOperationState.FINISHED_STATE
    assert time.monotonic() - began > 2
    for cursor in running:
        cursor.cancel()
    end = time.monotonic() + 30
    while waiting.poll().operationState != TOperationState.FINISHED_STATE:
        assert time.monotonic() < end
        time.sleep(0.2)
    assert waiting.fetchall() == [(1,)]
    assert [cursor.poll().operationState for cursor in running] == [TOperationState.CANCELED_STATE] * 2
    began = time.monotonic()
    assert server.ask("select count(*) from range(1000000)") == [(1000000,)]
    assert time.monotonic() - began < 20


def test_a_statement_of_a_client_that_waits_takes_a_place_too(server: Served) -> None:
    """PyHive's calls are synchronous: their statements would run in the threads of their connections, without a limit."""
    connection = connect("127.0.0.1", server.port)
    running = [connection.cursor(), connection.cursor()]
    for cursor in running:
        cursor.execute(ENDLESS, async_=True)
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(server.ask("select 7")[0][0]))
    asking.start()
    asking.join(3)
    assert answers == []
    for cursor in running:
        cursor.cancel()
    asking.join(30)
    assert answers == [7]


def test_commits_of_others_are_seen(server: Served) -> None:
    """`build` and `ingest` commit with delta-rs, outside the server: it sees rows at once, tables and columns within seconds."""
    folder = Path(server.warehouse, "reports", "rpt_of_this_test")
    try:
        write_deltalake(folder, pa.table({"a": [1]}), description="One row per try.")
        wait_for(server, "show tables in reports like 'rpt_of_this_test'", [("reports", "rpt_of_this_test", False)])
        assert server.ask("select * from reports.rpt_of_this_test") == [(1,)]
        write_deltalake(folder, pa.table({"a": [2]}), mode="append")
        assert server.ask("select sum(a) from reports.rpt_of_this_test") == [(3,)]
        write_deltalake(folder, pa.table({"a": [5], "b": ["x"]}), mode="overwrite", schema_mode="overwrite")
        assert server.ask("select * from reports.rpt_of_this_test") == [(5, "x")]
        wait_for(server, "show columns in reports.rpt_of_this_test", [("a",), ("b",)])
    finally:
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        folder.rmdir()
    wait_for(server, "show tables in reports like 'rpt_of_this_test'", [])


def wait_for(server: Served, query: str, wanted: list[tuple[object, ...]]) -> None:
    end = time.monotonic() + 30
    while (found := server.ask(query)) != wanted:
        assert time.monotonic() < end, found
        time.sleep(0.5)


def test_the_server_writes_nothing_into_the_warehouse(server: Served) -> None:
    place = Path(server.warehouse)
    assert not list(place.glob("metastore_db")) and not list(Path.cwd().glob("metastore_db")) and not list(place.glob("default"))
    assert DeltaTable(place / "marts" / "dim_nodes").version() >= 0


def test_health_is_one_line_and_a_code(server: Served) -> None:
    well = chronicle("health", "--port", str(server.port))
    assert (well.returncode, well.stderr) == (0, "")
    assert well.stdout.startswith(f"127.0.0.1:{server.port} answers: ")
    ill = chronicle("health", "--port", "1")
    assert (ill.returncode, ill.stdout) == (1, "")
    assert ill.stderr.startswith("chronicle: 127.0.0.1:1 does not answer") and ill.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_told_at_once(server: Served) -> None:
    told = chronicle("serve", "--port", str(server.port), "--warehouse", server.warehouse)
    assert told.returncode == 1
    assert told.stderr == (
        f"chronicle: cannot listen on 127.0.0.1:{server.port}: Address already in use; name another with --host or --port\n"
    )


def test_a_server_that_heeds_nothing_is_killed(lab: Lab) -> None:
    """A Java process that hangs, as in a statement that cannot be cancelled."""
    server = launch(lab.warehouse)
    java = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True).stdout.split()[0])
    os.kill(java, signal.SIGSTOP)
    assert server.stop() == 0
    assert server.said.endswith("stopped\n")
    assert not Path("/proc", str(java)).exists()


@pytest.fixture(scope="module")
def secured(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    """A second server, with users and TLS, on all addresses; and the certificate that clients trust."""
    folder = tmp_path_factory.mktemp("secured")
    users, store, certificate = folder / "users", folder / "server.p12", folder / "server.pem"
    users.write_text(passwords.line("anna", "ein langes Wort") + "\n")
    users.chmod(0o600)
    keytool = str(find() / "bin" / "keytool")
    named = ["-keystore", str(store), "-storepass", "changeit", "-alias", "server"]
    subject = ["-dname", "CN=localhost", "-ext", "SAN=dns:localhost,ip:127.0.0.1"]
    subprocess.run([keytool, "-genkeypair", "-keyalg", "EC", "-storetype", "PKCS12", *named, *subject], check=True, capture_output=True)
    subprocess.run([keytool, "-exportcert", "-rfc", *named, "-file", str(certificate)], check=True, capture_output=True)
    arguments = ["--host", "0.0.0.0", "--password-file", str(users), "--keystore", str(store)]
    served = launch(lab.warehouse, *arguments, CHRONICLE_KEYSTORE_PASSWORD="changeit")
    yield served, certificate
    served.stop()


def test_users_and_tls(secured: tuple[Served, Path]) -> None:
    server, certificate = secured
    assert server.ask("select 1", user="anna", password="ein langes Wort", ca=certificate) == [(1,)]
    for user, password in (("anna", "ein anderes Wort"), ("otto", "ein langes Wort"), ("", ""), ("anna:", "x")):
        with pytest.raises(Exception, match=r"wrong|Error validating|Bad status"):
            server.ask("select 1", user=user, password=password, ca=certificate)
    with pytest.raises(Exception, match=r"."):
        connect("127.0.0.1", server.port, user="anna", password="ein langes Wort")
    well = chronicle("health", "--port", str(server.port), "--user", "anna", "--ca", str(certificate), CHRONICLE_PASSWORD="ein langes Wort")
    assert well.returncode == 0, well.stderr
    ill = chronicle("health", "--port", str(server.port), "--user", "anna", "--ca", str(certificate), CHRONICLE_PASSWORD="falsch")
    assert ill.returncode == 1 and "falsch" not in ill.stderr


def test_wrong_passwords_hold_up_nobody(secured: tuple[Served, Path]) -> None:
    """Each costs tenths of a second of a processor: fifty at once must not take all of them."""
    server, certificate = secured
    known: dict[str, Any] = {"user": "anna", "password": "ein langes Wort", "ca": certificate}
    # The first query of a server takes longer.
    assert server.ask("select count(*) > 0 from dim_nodes", **known) == [(True,)]
    connection = connect("127.0.0.1", server.port, **known)

    def guess(number: int) -> None:
        with pytest.raises(Exception, match=r"."):
            connect("127.0.0.1", server.port, user=("anna", f"user {number}")[number % 2], password=f"guess {number}", ca=certificate)

    with ThreadPoolExecutor(50) as guessing:
        tries = [guessing.submit(guess, number) for number in range(50)]
        time.sleep(0.3)
        for _ in range(5):
            began = time.monotonic()
            cursor = connection.cursor()
            cursor.execute("select count(*) > 0 from dim_nodes")
            assert cursor.fetchall() == [(True,)]
            # Who was accepted before is so at once.
            assert server.ask("select 1", **known) == [(1,)]
            assert time.monotonic() - began < 4
        for one in tries:
            one.result(60)
    connection.close()


def test_the_ports_of_the_jvm_are_closed_to_others(server: Served) -> None:
    """Spark listens on this machine for its own messages, which are Java's objects: whoever does not know the secret is not heard."""
    assert server.ask("set spark.sql.session.timeZone") != []
    children = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True).stdout.split()
    inodes = {os.readlink(link) for pid in children for link in Path("/proc", pid, "fd").iterdir() if os.path.islink(link)}
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()]
    ports = {int(one[1].split(":")[1], 16) for one in listening if one[3] == "0A" and f"socket:[{one[9]}]" in inodes} - {server.port}
    assert ports
    for port in ports:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as caller:
            # A frame of Spark's RPC with the stream that opens Java's objects, as a worker would send it.
            caller.sendall(struct.pack(">qbqi", 21 + 4, 3, 1, 4) + b"\xac\xed\x00\x05")
            caller.settimeout(5)
            try:
                answer = caller.recv(4096)
            except (TimeoutError, ConnectionError):
                answer = b""
        assert not answer or b"SaslRpcHandler" in answer or b"uthent" in answer or b"Unexpected" in answer, answer


def test_a_server_ends_cleanly(secured: tuple[Served, Path]) -> None:
    server, _ = secured
    java = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True).stdout.split()
    assert server.stop(signal.SIGINT) == 0
    assert server.said.endswith("stopped\n")
    assert not [pid for pid in java if Path("/proc", pid).exists()]
    with pytest.raises(Exception, match=r"."):
        hive.connect("127.0.0.1", server.port)
