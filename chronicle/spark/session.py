"""The Spark session of every command: one JVM of our own, started as fast as it can be, quiet, reachable from this machine only; or a session
of Spark Connect, whose server has the JVM."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread, Timer, current_thread, main_thread
from typing import TYPE_CHECKING

from chronicle.spark import jars, java, own_classes, package, s3a
from chronicle.spark import master as masters
from chronicle.spark.engine import LOCAL, PLAIN, Engine, chosen
from chronicle.spark.internals import error_lines, gateway, spark_home
from chronicle.spark.internals import settings as internals
from chronicle.spark.processes import tree
from ingestion import cache
from ingestion.sources.discover import have_bytes
from ingestion.warehouse import Warehouse, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG4J = Path(__file__).with_name("log4j2.properties")
START_SECONDS = 120

JVM_OPTIONS = (
    *gateway.JVM_OPTIONS,
    "-XX:MetaspaceSize=384m",
    # With the first compiler alone it would be 48 MB, and the JVM would sweep it all the time.
    "-XX:ReservedCodeCacheSize=256m",
    # No message where the archive of classes does not fit.
    "-Xshare:auto",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
)

# Options for a command that ends in minutes.
COMMAND_OPTIONS = (
    java.SERIAL_COLLECTOR,
    # A full collection gives memory back at once, and leaves two thirds more than what is alive.
    "-XX:-ShrinkHeapInSteps",
    "-XX:MaxHeapFreeRatio=40",
    # Room for a build's short-lived objects, and for Spark's classes: a third of the collections.
    "-Xmn640m",
)
# The second compiler takes a third of a small build's time, for code that runs a few times. With a million records it saves what it costs;
# with two, a table of many rows is built in half the time. A build of what is new makes such tables once each, which never pays for it.
MANY_RECORDS = 1_500_000
# Bytes of a record in files.
RECORD = 200


@dataclass(frozen=True)
class Work:
    """What a command will do.  `paths`: what it reads into the warehouse; `is_built`: all that the warehouse holds is built."""

    paths: Sequence[str] = ()
    is_built: bool = False


# Part of a heap that Spark may fill with pages; and how many of them a task may have, which are 8,192, less what arrays of pointers take.
OF_HEAP, PAGES = 0.6, 7000
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

# Settings of any session, including that of Spark Connect.
IN_SQL = {
    "spark.sql.session.timeZone": "UTC",
    # ${env:…} within a name is not a variable.
    "spark.sql.variable.substitute": "false",
    # The form that other engines read; Spark's default is a 96-bit form of its own.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    **masters.pinned_in_sql(),
}

# Keeps a process that stays from remembering the statements it has run: by default Spark keeps the plans of a thousand.
FORGETFUL = {
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.ui.retainedDeadExecutors": "1",
}

# Delta's, and our own, which builds do without where they are not compiled yet.
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.spark.sql.chronicle.KnownFilesExtension",
    "org.apache.spark.sql.chronicle.KnownRowsExtension",
    "org.apache.spark.sql.chronicle.OneTaskExtension",
)

# Files without checksums, made by the user's mask and not by a process of `chmod` for each.
LOCAL_FILES = {"spark.hadoop.fs.file.impl": "org.apache.spark.sql.chronicle.LocalFiles"}

# Where a JVM that is started writes the archive of its classes when it ends; None: it writes none.
_aside: Path | None = None
_jvm: subprocess.Popen[bytes] | None = None
# Whether the classes of ours are on the class path of that JVM, which cannot be changed.
_has_own_classes = False


@dataclass(frozen=True)
class Server:
    """What a session that stays for long adds: settings of Spark, options of Java."""

    settings: dict[str, str]
    java_options: tuple[str, ...]


class NoSession(RuntimeError):
    """Spark did not start; the text says why."""


def settings(warehouse: str, memory: str = "2g", engine: Engine = LOCAL) -> dict[str, str]:
    """Spark's configuration for a warehouse folder or URI, and for a heap of `memory`; the user's file of settings overrides ours, except for what is pinned.
    Raises masters.BadMaster."""
    has_own_classes = engine.has_own_classes and own_classes.jar().exists()
    master, given, of_s3 = masters.master(), masters.given_settings(), s3a.class_path(warehouse)
    known = {
        "spark.app.name": "chronicle",
        "spark.master": master,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        # Its ports are open to every user of this machine, and take Java's objects; alone, Spark makes the secret itself.
        **({"spark.authenticate": "true"} if master.startswith("local") else {}),
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": ",".join(EXTENSIONS if has_own_classes else EXTENSIONS[:1]),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # In memory: no lock file, nothing that can disagree with the tables on disk; `register` fills it.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": s3a.uri(warehouse) if of_s3 else warehouse,
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
        "spark.sql.codegen.cache.maxEntries": "5000",
        **(LOCAL_FILES if has_own_classes else {}),
        **IN_SQL,
        **(in_one_task(memory, given) if engine.has_own_classes else in_many_tasks(master)),
        **masters.PINNED,
        **(s3a.settings(warehouse) if of_s3 else {}),
        **({} if masters.is_local(master) else masters.cluster_settings(added_jars(engine, warehouse))),
        **given,
    }
    masters.must_be_secured(known)
    return known


def in_one_task(memory: str, given: Mapping[str, str]) -> dict[str, str]:
    """Settings with which small statements take little more than their rows do: each runs in one task."""
    pages = page_size(memory, given.get("spark.executor.memory", "1g"))
    return {"spark.sql.shuffle.partitions": "1", "spark.buffer.pageSize": pages, **internals.ALWAYS}


def in_many_tasks(master: str) -> dict[str, str]:
    """Settings for work that is divided among the tasks of executors: Spark's own. On this machine tables are small: to plan each stage anew, and to
    generate code for it, takes longer than its rows do."""
    if not masters.is_local(master):
        return {}
    return {
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        **internals.ON_FEW_CORES,
    }


def page_size(*heaps: str) -> str:
    """Size of a page of Spark's memory, in which every sort and every aggregate takes one before its first row: as small as it can be so that a task
    never needs more than it may have (`PAGES`) for all the memory of the largest of some heaps.

    By default pages have 16 or 32 MB: a task may have some sixty of them, and a model whose steps run in one task needs more.
    """
    most = max(megabytes(heap) for heap in heaps)
    return f"{max(1, math.ceil(most * OF_HEAP / PAGES))}m"


def megabytes(size: str) -> float:
    """A size as Java and Spark write it, in MB; 0 where it cannot be read, which Java says itself."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    return int(found[1]) * UNITS[found[2]] / (1 << 20) if found else 0


def start(
    warehouse: str, *, memory: str = "2g", server: Server | None = None, work: Work = Work(), engine: Engine | None = None
) -> SparkSession:
    """Start Spark for a warehouse, or return the session that runs for it.  `memory`: heap of the JVM, as Java writes it.

    A session of another warehouse or engine is stopped: one catalog holds the tables of one warehouse.  `server`: what a server adds; `engine`: whose
    session it is (default: the one that is chosen, and for a server `local`, whose classes refuse what clients may not do).
    Raises package.NoSpark, java.NoJava, jars.NoJars, NoSession or masters.BadMaster, each with one line that says what to do.
    """
    package.must_be_there()
    from pyspark.sql import SparkSession

    root = Warehouse.at(warehouse).root
    if masters.is_connect(masters.master()):
        raise masters.BadMaster(
            f"{masters.master()}: Spark Connect can `chronicle run`, `ingest`, `build` and `dbt`; all else needs a driver of its own: local[N], spark://…"
        )
    if gateway.is_given():
        raise masters.BadMaster("spark-submit can `chronicle ingest`; for all else call chronicle itself, with --master spark://…")
    engine = engine or (LOCAL if server else chosen())
    active, wanted = SparkSession.getActiveSession(), settings(root, memory, engine) | (FORGETFUL | server.settings if server else {})
    if active is not None:
        is_same = str(active.conf.get("spark.sql.extensions")) == wanted["spark.sql.extensions"]
        if is_same and str(active.conf.get("spark.sql.warehouse.dir")).removeprefix("file:") in (root, s3a.uri(root)):
            return active
        active.stop()
    if is_up() and engine.has_own_classes and not _has_own_classes:
        raise NoSession("this process has started Java for the plain engine, without classes of ours; build by the local engine in another")
    if _jvm is None or _jvm.poll() is not None:
        # Without it the workers run whichever python3 comes first on PATH.
        os.environ["PYSPARK_PYTHON"] = wanted.get("spark.pyspark.python", sys.executable)
        os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = wanted["spark.driver.bindAddress"]
        _connect(memory, server.java_options if server else command_options(root, work), added_jars(engine, root))
    builder = SparkSession.builder
    for key, value in wanted.items():
        builder = builder.config(key, value)
    # pyspark handles Ctrl-C itself, and prints the stacks of what it cancelled.
    on_interrupt = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, on_interrupt)
    error_lines.silence()
    return session


def start_or_connect(warehouse: str, *, memory: str = "2g", work: Work = Work()) -> SparkSession:
    """A session to read files and to write to a catalog: that of `start_to_build`, or of the JVM that spark-submit started."""
    return _submitted() if gateway.is_given() else start_to_build(warehouse, memory=memory, work=work)


def start_to_build(warehouse: str, *, memory: str = "2g", work: Work = Work(), engine: Engine | None = None) -> SparkSession:
    """A session to build tables: that of `start`, or of Spark Connect.  Raises as `start` does."""
    master = masters.master()
    return _of_connect(master) if masters.is_connect(master) else start(warehouse, memory=memory, work=work, engine=engine)


def _submitted() -> SparkSession:
    """The session of the JVM that spark-submit has started, with master, memory and jars as its command line says."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in {
        "spark.app.name": "chronicle",
        "spark.sql.session.timeZone": "UTC",
        **masters.pinned_in_sql(),
        **masters.given_settings(),
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _of_connect(master: str) -> SparkSession:
    """A session of a server of Spark Connect.  Raises package.NoSpark, NoSession."""
    package.must_be_there()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    # Code that asks for a session without a name, as dbt does, gets this one.
    os.environ["SPARK_REMOTE"] = master
    try:
        builder = SparkSession.builder.remote(master)
        for key, value in {**IN_SQL, **masters.given_settings()}.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.range(1).collect()
    except (ImportError, PySparkException) as error:
        raise NoSession(f"{master}: {' '.join(str(error).split())}") from None
    return session


def must_be_able() -> None:
    """Raises what `start` does where Spark could not start: before minutes of other work, not after them."""
    if masters.is_connect(masters.master()) or gateway.is_given():
        return
    package.must_be_there()
    java.find()
    jars.class_path()


def start_ahead(warehouse: str, *, memory: str = "2g", work: Work = Work()) -> Future[SparkSession]:
    """Start Spark in a thread, while files are looked at: the JVM takes seconds of its own."""
    future: Future[SparkSession] = Future()

    def begin() -> None:
        try:
            future.set_result(start_to_build(warehouse, memory=memory, work=work))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=begin, name="start", daemon=True).start()
    return future


def command_options(warehouse: str, work: Work = Work()) -> tuple[str, ...]:
    """Options of Java for a command: its compilers are chosen by the records of the warehouse when it starts, and by the size of what will be read
    into it.  If the warehouse is built, only what is new counts; of a large one no files are looked at, because there may be hundreds of
    thousands."""
    records = rows_of(Warehouse.at(warehouse).bronze("log_records"))
    # Records of some logs are longer.
    read = 2 * RECORD * records if work.is_built else 0
    is_large = not work.is_built if records >= MANY_RECORDS else have_bytes(work.paths, RECORD * MANY_RECORDS + read)
    return COMMAND_OPTIONS if is_large or chosen() is PLAIN else (*COMMAND_OPTIONS, java.FIRST_COMPILER_ALONE)


def added_jars(engine: Engine, warehouse: str) -> list[str]:
    """The jars of a session besides Spark's own: Delta's, ours where the engine has classes of ours, and those that read and write the warehouse's bucket."""
    ours = [str(own_classes.jar())] if engine.has_own_classes and own_classes.jar().exists() else []
    return [*jars.class_path(), *ours, *s3a.class_path(warehouse)]


def command(memory: str, java_options: Sequence[str], jar_files: Sequence[str] = ()) -> list[str]:
    """The command line of the JVM: Spark's Python gateway itself, not spark-submit, which starts another JVM first."""
    delta = jars.class_path()
    # Ours after Spark's: none of its classes can come before one of those. The archive of classes fits every class path that begins with its own.
    class_path = [*delta, f"{spark_home.jars()}/*", *(file for file in jar_files if file not in delta)]
    # Where YARN and its file system are.
    class_path += filter(None, [os.environ.get("HADOOP_CONF_DIR")])
    home = java.find()
    classes = class_archive(home)
    return [
        str(home / "bin" / "java"),
        f"-Xmx{memory}",
        *JVM_OPTIONS,
        *java_options,
        *masters.java_options(),
        *([f"-XX:ArchiveClassesAtExit={_aside}"] if _aside else [f"-XX:SharedArchiveFile={classes}"] if classes.exists() else []),
        f"-Dlog4j2.configurationFile={LOG4J.as_uri()}",
        "-cp",
        os.pathsep.join(class_path),
        gateway.MAIN,
    ]


def class_archive(home: Path) -> Path:
    """The archive of Spark's classes for this Java, loaded and verified: a third off the time of a command's first query.

    `make setup`, or `python -m chronicle.spark.session`, writes it.  A JVM that it does not fit starts without it and says nothing, so the name
    covers what Java compares: path, size and time of each jar.  They change when pyspark is installed again or our classes are compiled again.
    """
    files = [*map(Path, jars.class_path()), *sorted(spark_home.jars().glob("*.jar")), *filter(Path.exists, [own_classes.jar()])]
    made_for = [java.identity(home), __file__, *map(_stamp, files)]
    return cache.folder() / f"classes-{hashlib.sha256(repr(made_for).encode()).hexdigest()[:16]}.jsa"


def _stamp(file: Path) -> tuple[str, int, int]:
    """Path, size and time of a file."""
    status = file.stat()
    return str(file), status.st_size, int(status.st_mtime)


def write_class_archive() -> None:
    """Do once what every command does, in a JVM that archives the classes it loaded when it ends; nothing if there is an archive.

    Java writes it, too, when it is stopped before it has loaded them all, so it is written aside.
    """
    global _aside
    archive = class_archive(java.find())
    if archive.exists():
        return
    print("setup: preparing Spark's classes (half a minute, once)", file=sys.stderr)
    cache.folder().mkdir(parents=True, exist_ok=True)
    for old in cache.folder().glob("classes-*"):
        old.unlink()
    _aside = cache.folder() / f"{archive.stem}-{os.getpid()}.part"
    with tempfile.TemporaryDirectory() as folder:
        spark = start(folder)
        spark.sql("create schema bronze")
        spark.sql(
            "create table bronze.warm (id bigint, day date, at timestamp, words map<string, string>, numbers array<int>, line string)"
            " using delta partitioned by (day)"
        )
        values = "select id, date'2026-01-01', timestamp'2026-01-01 00:00:00', map('a', 'b'), array(1), sha2(string(id), 256) from range(9)"
        spark.sql(f"insert into bronze.warm {values}")
        spark.sql(f"insert into bronze.warm replace where day = date'2026-01-01' {values}")
        spark.sql("alter table bronze.warm alter column id comment 'number'")
        spark.sql("create view bronze.seen as select *, row_number() over (partition by day order by id) as place from bronze.warm")
        spark.sql(
            "create or replace table bronze.made using delta as select day, max_by(id, at) as id, collect_list(struct(line, words)) as lines"
            " from bronze.seen left join range(3) using (id) group by day"
        )
        spark.sql("insert overwrite table bronze.made select * from bronze.made")
        spark.table("bronze.made").mapInArrow(
            lambda batches: batches, "day date, id bigint, lines array<struct<line: string, words: map<string, string>>>"
        ).toArrow()
        spark.sql("show table extended in bronze like '*'").collect()
        spark.sql("describe extended bronze.made").collect()
        spark.sql("describe query select * from bronze.seen").collect()
        spark.stop()
    assert _jvm is not None and _jvm.stdin is not None
    _jvm.stdin.close()
    _jvm.wait()
    _aside.replace(archive)


def _connect(memory: str, java_options: Sequence[str], jar_files: Sequence[str]) -> None:
    """Start the JVM and hand it to pyspark."""
    global _jvm, _has_own_classes
    _has_own_classes = str(own_classes.jar()) in jar_files
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "gateway")
        # The JVM ends when its standard input does, that is with this process; in a group of its own, Ctrl-C is ours to handle.
        _jvm = subprocess.Popen(
            command(memory, java_options, jar_files), stdin=subprocess.PIPE, env=gateway.environment(answer), process_group=0
        )
        end = time.monotonic() + START_SECONDS
        while not answer.exists():
            if _jvm.poll() is not None:
                raise NoSession(
                    f"Java ended with code {_jvm.returncode} before Spark was up; see the error above (heap asked for: {memory})"
                )
            if time.monotonic() > end:
                _jvm.kill()
                raise NoSession(f"Spark did not come up within {START_SECONDS} s; the machine is busy or short of memory")
            time.sleep(0.02)
        port, secret = gateway.address(answer.read_bytes())
    gateway.connect(port, secret)


def is_up() -> bool:
    """Whether the JVM runs."""
    return _jvm is not None and _jvm.poll() is None


def stop(seconds: float = 10) -> None:
    """Stop the session and its JVM, which exits when its standard input closes; it is killed if that takes longer than `seconds`."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if is_up() and active is not None:
        active.stop()
    if _jvm is not None and _jvm.stdin is not None:
        _jvm.stdin.close()
        try:
            _jvm.wait(seconds)
        except subprocess.TimeoutExpired:
            _jvm.kill()
            _jvm.wait()


@contextlib.contextmanager
def killed_after(seconds: float) -> Iterator[None]:
    """Kill the JVM if it has not finished by then: a statement that cannot be interrupted would keep a server running for ever."""
    from py4j.protocol import Py4JError

    killed = Event()

    def end() -> None:
        killed.set()
        kill()

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (Py4JError, OSError):
        # Java that was killed cannot answer. Its connections end before it does.
        if killed.is_set() and _jvm is not None:
            _jvm.wait()
        if is_up():
            raise
    finally:
        timer.cancel()


def kill() -> None:
    """End the JVM at once, whatever it does, with the workers that it started."""
    if _jvm is not None and is_up():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(_jvm.pid, signal.SIGKILL)


def peak_memory_bytes() -> int | None:
    """Most memory (resident, bytes) that this process, the JVM and the Python workers have held, each at its own peak, summed.

    Counts the processes that live now; None if the system has no /proc.
    """
    if not Path("/proc/self/status").exists():
        return None
    total = 0
    for process in tree(os.getpid()):
        with contextlib.suppress(OSError):
            peak = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
            total += int(peak[1]) * 1024 if peak else 0
    return total


if __name__ == "__main__":
    try:
        write_class_archive()
    except (package.NoSpark, java.NoJava, jars.NoJars, NoSession) as error:
        print(f"setup: {error}", file=sys.stderr)
        raise SystemExit(1) from None
