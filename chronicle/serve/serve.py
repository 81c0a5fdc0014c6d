"""`chronicle serve`: Spark's Thrift Server on the warehouse, for JDBC, ODBC and PyHive; read-only, and on this machine only unless secured."""

from __future__ import annotations

import ipaddress
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import yaml
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from chronicle.serve import passwords, relations
from chronicle.spark import own_classes, session
from chronicle.spark.catalog import register, register_views, shown_views
from chronicle.spark.internals import settings as internals
from chronicle.spark.internals.beside import session_beside
from chronicle.spark.internals.catalog_entries import CatalogEntries
from chronicle.spark.internals.java_objects import java_of, session_of
from chronicle.staying.answers import DOES as ANSWERS
from chronicle.staying.answers import Answers
from chronicle.staying.requests import Listener, held
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from deltalake.schema import Field
    from pyspark.sql import SparkSession

# Staging and intermediate are steps of a build, not for readers.
SHOWN = ("bronze", "marts", "reports")
RULE = "org.apache.spark.sql.hive.thriftserver.chronicle.ReadOnly"
USERS = "org.apache.spark.sql.hive.thriftserver.chronicle.PasswordFile"
# Connections that are accepted beyond those served, to be told that there are too many.
TURNED_AWAY = 100
# Elements of an array, or characters of a text, that a function may make from a number: sequence, repeat, lpad and the like. Fewer with a small heap
# (`jvm/Answer.scala`).
MOST_ELEMENTS = 10_000_000
# An answer that nobody fetches is dropped after this time.
IDLE_ANSWER_SECONDS = 600
FUNCTIONS = Path(__file__).with_name("functions.yml")
# Groups of functions that make rows, or one value of many rows.
NEVER_CONSTANT = ("agg", "generator", "table", "window")
WATCH_SECONDS = 2.0
# How long the server and its session may each take to stop.
STOP_SECONDS = 10.0
# Clients wait while a collection stops the server: it may take more CPU, but has to be short.
JAVA_OPTIONS = (
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=100",
    # Objects larger than half a region get whole ones: with regions of 1 MB each of Spark's pages took two, twice the memory that Spark counts.
    "-XX:G1HeapRegionSize=8m",
)
# How `models/` describes a key that we generate.
KEY_COMMENT = "Key of the row."


class CannotServe(RuntimeError):
    """The server did not start, or ended by itself; the text says why."""


@dataclass(frozen=True)
class Options:
    """How to serve.  `max_rows` and `max_bytes` of an answer, `query_timeout` in seconds: 0: no limit; `max_queries`: that run at the same time."""

    host: str = "127.0.0.1"
    port: int = 10000
    query_timeout: int = 300
    max_rows: int = 100_000
    max_bytes: int = 64 << 20
    max_queries: int = 4
    max_connections: int = 200
    read_write: bool = False
    password_file: Path | None = None
    ldap_url: str | None = None
    ldap_base: str | None = None
    keystore: Path | None = None
    keystore_password: str = ""

    @property
    def is_local(self) -> bool:
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nothing else can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check(options: Options) -> None:
    """Raises ValueError, with what to do, for a combination that would be unsafe or cannot work."""
    has_users = bool(options.password_file or options.ldap_url)
    if not options.is_local and not (has_users and options.keystore):
        lacking = [] if has_users else ["--password-file or --ldap-url"]
        lacking += [] if options.keystore else ["--keystore"]
        raise ValueError(f"--host {options.host} is reachable by others: add {' and '.join(lacking)}, or serve on 127.0.0.1")
    if options.read_write and not options.is_local:
        raise ValueError(f"--read-write gives every client this machine's shell and is refused on {options.host}; use 127.0.0.1")
    if options.read_write and not has_users:
        raise ValueError("--read-write gives every client this machine's shell: add --password-file or --ldap-url")
    if options.password_file and options.ldap_url:
        raise ValueError("--password-file and --ldap-url are mutually exclusive")
    if options.ldap_url and not options.ldap_url.startswith("ldaps://"):
        raise ValueError(f"--ldap-url {options.ldap_url} would send passwords in clear text; use ldaps://…")
    if options.ldap_url and not options.ldap_base:
        raise ValueError("--ldap-url needs --ldap-base, the base DN of the users: ou=people,dc=example,dc=com")
    if options.password_file:
        passwords.check(options.password_file)
    if options.keystore:
        if not options.keystore.is_file():
            raise ValueError(f"--keystore {options.keystore}: no such file")
        if not options.keystore_password:
            raise ValueError(f"--keystore {options.keystore} needs its password in CHRONICLE_KEYSTORE_PASSWORD")


def settings(options: Options, work: str) -> dict[str, str]:
    """Spark's configuration of the server, in addition to that of every session.  `work`: a folder for what Hive insists on writing."""
    return of_spark(options, work) | {f"spark.hadoop.hive.{key}": value for key, value in of_hive(options, work).items()}


def of_hive(options: Options, work: str) -> dict[str, str]:
    """What Hive's server reads of its configuration."""
    hive = {
        "server2.thrift.bind.host": options.host,
        "server2.thrift.port": str(options.port),
        "server2.transport.mode": "binary",
        # One of them looks after sessions that are idle.
        "server2.async.exec.threads": str(options.max_queries + 1),
        # Each client may wait with a statement.
        "server2.async.exec.wait.queue.size": str(options.max_connections),
        "server2.thrift.max.worker.threads": str(options.max_connections + TURNED_AWAY),
        "server2.idle.operation.timeout": f"{IDLE_ANSWER_SECONDS}s",
        "server2.session.check.interval": "60s",
        "server2.enable.doAs": "false",
        "server2.allow.user.substitution": "false",
        "server2.logging.operation.enabled": "false",
        "server2.global.init.file.location": work,
        "exec.scratchdir": f"{work}/scratch",
        "exec.local.scratchdir": f"{work}/local",
        "downloaded.resources.dir": f"{work}/${{hive.session.id}}_resources",
        "querylog.location": f"{work}/log",
    }
    if options.password_file or options.ldap_url:
        hive["server2.authentication"] = "CUSTOM" if options.password_file else "LDAP"
    if options.keystore:
        hive |= {"server2.use.SSL": "true", "server2.keystore.path": str(options.keystore.resolve())}
        hive |= {"server2.keystore.password": options.keystore_password, "ssl.protocol.blacklist": "SSLv2,SSLv3,TLSv1,TLSv1.1"}
    return hive


def of_spark(options: Options, work: str) -> dict[str, str]:
    """What Spark reads of its configuration."""
    spark = {
        "spark.sql.thriftServer.queryTimeout": str(options.query_timeout),
        "spark.sql.thriftServer.interruptOnCancel": "true",
        # Variables in a statement would reveal the environment and every setting.
        "spark.sql.variable.substitute": "false",
        "spark.sql.runSQLOnFiles": "false",
        # Each session has a pool, so that a long statement of one does not hold up the tiles of another.
        "spark.scheduler.mode": "FAIR",
        # Most statements read tables of some thousand rows: planning again after each stage takes longer than the stage.
        "spark.sql.adaptive.enabled": "false",
        # Results of all tasks of a statement, compressed; `spark.chronicle.maxBytes` limits the answer uncompressed.
        "spark.driver.maxResultSize": "256m",
        # A task that runs out of memory fails, with its statement; by default it ends the process.
        "spark.executor.killOnFatalError.depth": "0",
        **internals.WHILE_SERVING,
    }
    if not options.read_write:
        spark["spark.sql.extensions"] = f"io.delta.sql.DeltaSparkSessionExtension,{RULE}"
        spark |= {f"spark.chronicle.{key}": str(value) for key, value in limits(options).items()}
        # It computes rows while it plans, where nothing ends it.
        spark["spark.sql.optimizer.excludedRules"] = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
        # Schemas name their own folders.  That of `default` is dropped, and must not be the warehouse.
        spark["spark.sql.warehouse.dir"] = f"{work}/warehouse"
    return spark


def limits(options: Options) -> dict[str, str | int]:
    """The limits of answers, and the functions that clients may call: read by `jvm/Answer.scala` and `jvm/Functions.scala`."""
    allowed = (name for names in functions()["allowed"].values() for name in names)
    return {
        "maxRows": options.max_rows,
        "maxBytes": options.max_bytes,
        "maxElements": MOST_ELEMENTS,
        "functions": " ".join(allowed),
        "functionsInTasks": " ".join(sorted(in_tasks())),
    }


def in_tasks() -> set[str]:
    """The functions that are evaluated in tasks alone: all but those of `while_planning`, and those that never have a constant value."""
    known = functions()
    outside = known["while_planning"]
    groups = known["allowed"].items()
    return {name for group, names in groups if group not in (*outside["groups"], *NEVER_CONSTANT) for name in names} - set(outside["names"])


def functions() -> dict[str, Any]:
    """`functions.yml`: `allowed`, names by Spark's groups; `while_planning`, groups and names of them; `refused`, names with why."""
    known: dict[str, Any] = yaml.safe_load(FUNCTIONS.read_text(encoding="utf-8"))
    return known


def directory(options: Options) -> dict[str, str]:
    """Java properties that say who knows the users: Hive does not read these from its own configuration."""
    if options.password_file:
        return {"hive.server2.custom.authentication.class": USERS}
    if options.ldap_url:
        base = options.ldap_base or ""
        return {"hive.server2.authentication.ldap.url": options.ldap_url, "hive.server2.authentication.ldap.baseDN": base}
    return {}


def serve(warehouse: str, options: Options, *, memory: str = "2g", tell: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.  Raises CannotServe, own_classes.NoGuard, or what `session.start` raises."""
    place = Warehouse.at(warehouse)
    place.must_exist()
    must_be_free(options.host, options.port)
    asked_to_stop = Event()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chronicle-serve-") as work:
        # Clients that write run builds: Java options of a command, not of a server that is queried for days.
        java = session.command_options(place.root) if options.read_write else JAVA_OPTIONS
        own_classes.ensure()
        spark = session.start(warehouse, memory=memory, server=session.Server(settings(options, work), java))
        try:
            shown = None if options.read_write else Shown(spark, place, work)
            tables = shown.renew() if shown else everything(spark, place)
            server = listen(spark, options)
            # Only now: Spark takes Ctrl-C for itself when it starts.
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: asked_to_stop.set())
            others = answering(place, spark)
            tell(
                f"serving {tables} tables of {place.root} at jdbc:hive2://{options.host}:{options.port}/marts"
                f" ({'READ AND WRITE' if options.read_write else 'read-only'}; up in {time.monotonic() - began:.1f} s; Ctrl-C stops)"
            )
            while not asked_to_stop.wait(WATCH_SECONDS):
                if not session.is_up():
                    raise CannotServe("Java has ended; see the error above")
                if shown:
                    shown.renew()
            if others:
                others.close()
            with session.killed_after(STOP_SECONDS):
                server.stop()
        finally:
            with session.killed_after(STOP_SECONDS):
                session.stop()
    tell("stopped")


def answering(place: Warehouse, spark: SparkSession) -> Listener | None:
    """Answer the SQL of `chronicle sql` from this JVM, too; None where another process stays with the warehouse and already does."""
    if not held(place):
        return None
    return Listener(place, "serve", ANSWERS, Answers(spark, place).take)


def is_of_session(setting: str) -> bool:
    """Whether a setting holds only for the clients' session, where others are in the same JVM: builds read files by their paths."""
    return setting.startswith("spark.sql.")


class Beside:
    """A server in the JVM of a process that does other things, with a session, a catalog and rules of its own."""

    def __init__(self, place: Warehouse, options: Options) -> None:
        must_be_free(options.host, options.port)
        own_classes.ensure()
        self.place, self.options = place, options
        self.folder = tempfile.TemporaryDirectory(prefix="chronicle-serve-")
        self.url = f"jdbc:hive2://{options.host}:{options.port}/marts"

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *error: object) -> None:
        self.folder.cleanup()

    @property
    def server(self) -> session.Server:
        """What the JVM needs for it, without the rules that hold for clients alone."""
        shared = {key: value for key, value in settings(self.options, self.folder.name).items() if not is_of_session(key)}
        return session.Server(shared, JAVA_OPTIONS)

    def listen(self, spark: SparkSession) -> None:
        """Start to serve.  Raises CannotServe."""
        rules = {key: value for key, value in settings(self.options, self.folder.name).items() if is_of_session(key)}
        clients = session_beside(spark, rules)
        self.shown = Shown(clients, self.place, self.folder.name)
        self.renew()
        listen(clients, self.options)

    def renew(self) -> None:
        """Show the tables as they are on disk."""
        self.shown.renew()


def must_be_free(host: str, port: int) -> None:
    """Raises CannotServe if an address cannot be listened on, before waiting seconds for Java."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family[0], socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(family[4])
    except OSError as error:
        raise CannotServe(f"cannot listen on {host}:{port}: {error.strerror or error}; name another with --host or --port") from None


def listen(spark: SparkSession, options: Options) -> Any:
    """Start the Thrift Server within a session; a read-only one does not start without its rule.  Raises CannotServe."""
    from py4j.protocol import Py4JJavaError

    starter = java_of(spark).org.apache.spark.sql.hive.thriftserver.chronicle.ChronicleServer
    for key, value in directory(options).items():
        java_of(spark).java.lang.System.setProperty(key, value)
    try:
        return starter.open(
            session_of(spark),
            not options.read_write,
            str(options.password_file.resolve() if options.password_file else ""),
            options.max_connections,
        )
    except Py4JJavaError as error:
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        raise CannotServe(f"the server did not start: {cause.getMessage() or cause}") from error


def everything(spark: SparkSession, place: Warehouse) -> int:
    """Register all that dbt reads and writes: bronze, marts, and the tables and views between them.  Returns how many tables."""
    register_views(spark, place)
    return len(register(spark, place))


@dataclass
class Shown:
    """The tables that clients see, as they are on disk.

    Rows need no renewal: Spark reads the newest version of a table in each query.  Tables that are new or gone, or have other
    columns or comments, have to be updated in the catalog.
    """

    spark: SparkSession
    place: Warehouse
    work: str
    # By (schema, name): when its log was last written to, and the columns and comment that are known.
    known: dict[tuple[str, str], tuple[int, str, str]] = field(default_factory=dict)
    # By (schema, name), the query, columns and comment of each view; and when the file that has them was last written.
    views: dict[tuple[str, str], tuple[str, str, str]] = field(default_factory=dict)
    views_written: int = 0

    def __post_init__(self) -> None:
        self.catalog = java_of(self.spark).org.apache.spark.sql.hive.thriftserver.chronicle.Tables
        for schema in SHOWN:
            self.catalog.schema(session_of(self.spark), schema, f"{self.place.root}/{schema}")
        self.catalog.hideDefault(session_of(self.spark), self.work)
        self.catalog.relate(relations.as_text(relations.relations()))

    def renew(self) -> int:
        """Update the catalog with what has changed on disk.  Returns how many tables there are."""
        found = {}
        for schema in SHOWN:
            for name in self.place.tables(schema):
                found[schema, name] = Path(self.place.table(schema, name), "_delta_log").stat().st_mtime_ns
        for schema, name in self.known.keys() - found.keys():
            self.catalog.forget(session_of(self.spark), schema, name)
            del self.known[schema, name]
        for (schema, name), written in found.items():
            if self.known.get((schema, name), (0, "", ""))[0] != written:
                self._tell(schema, name, written)
        file = self.place.views
        if (written := file.stat().st_mtime_ns if file.exists() else 0) != self.views_written:
            self._renew_views(shown_views(self.place))
            self.views_written = written
        return len(self.known)

    def _renew_views(self, found: dict[tuple[str, str], tuple[str, str, str]]) -> None:
        for schema, name in self.views.keys() - found.keys():
            self.catalog.forget(session_of(self.spark), schema, name)
        entries = CatalogEntries(self.spark)
        for (schema, name), view in found.items():
            if self.views.get((schema, name)) != view:
                entries.view(schema, name, *view)
        self.views = found

    def _tell(self, schema: str, name: str, written: int) -> None:
        path = self.place.table(schema, name)
        try:
            table = DeltaTable(path)
        except DeltaError:
            # Its first commit is being written; the next look finds it.
            return
        schema_now = table.schema()
        columns, comment = schema_now.to_json(), table.metadata().description or ""
        if self.known.get((schema, name), (0, "", ""))[1:] != (columns, comment):
            self.catalog.table(session_of(self.spark), schema, name, path, columns, comment, key_of(name, schema_now.fields[0]))
        self.known[schema, name] = (written, columns, comment)


def key_of(table: str, first: Field) -> str:
    """The primary key of a table: the first column of dimensions, and of others where it says that it is one; else nothing."""
    return first.name if table.startswith("dim_") or first.metadata.get("comment") == KEY_COMMENT else ""
