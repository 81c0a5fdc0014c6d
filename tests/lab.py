"""The one warehouse of the tests that need facts: its input, and how it is filled, built and queried."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.build import build as building
    from ingestion import ingest as ingesting
    from ingestion.warehouse import Warehouse

ARCHIVES = Path(__file__).parent / "fixtures/lab"
CLUSTERS = sorted(path.name.removesuffix(".tar.xz") for path in ARCHIVES.glob("*.tar.xz"))
INCIDENTS = Path(__file__).parent / "incidents"
SECRET = "correct-horse-battery"
SAID = "said.pickle"
# Set as in builds. Tests run many queries over few rows, for which compiling generated code takes longer than running without it.
WITHOUT_CODE = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
# dbt would query each step, and so everything beneath it, again to test its key: four minutes of two cores. tests/flow/test_keys.py instead writes
# each view once, and checks the keys there.
STEPS = ("staging", "intermediate", "incidents/intermediate", "days")
KEYS_OF_STEPS = " ".join(f"test_name:unique_key,path:models/{folder}" for folder in STEPS)


@dataclass
class Lab:
    """The warehouse, the folder of the clusters' files, and the outcome of each ingestion."""

    folder: Path
    warehouse: str
    outcomes: dict[str, ingesting.Outcome] = field(default_factory=dict)
    built: building.Outcome | None = None
    # The session in which all tables are registered; None after something was written.
    knowing: SparkSession | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, folder: Path) -> Lab:
        """The lab that `made` has left in a folder."""
        return pickle.loads((folder / SAID).read_bytes())

    def copied(self, folder: Path) -> Lab:
        """The lab with a copy of its warehouse.  Files that are never written again are linked."""
        to = folder / "warehouse"
        shutil.copytree(self.warehouse, to, copy_function=_linked)
        return replace(self, warehouse=str(to))

    @property
    def spark(self) -> SparkSession:
        from chronicle.spark.catalog import register
        from chronicle.spark.session import start
        from ingestion.warehouse import Warehouse

        session = start(self.warehouse)
        if session is not self.knowing:
            without_code(session)
            register(session, Warehouse.at(self.warehouse))
            self.knowing = session
        return session

    def stop(self) -> None:
        from pyspark.sql import SparkSession

        if (active := SparkSession.getActiveSession()) is not None:
            active.stop()

    def rows(self, query: str) -> list[Any]:
        return self.spark.sql(query).collect()

    def load(self, cluster: str, *paths: Path, **options: Any) -> ingesting.Outcome:
        from ingestion import ingest as ingesting

        told: list[str] = []
        given = {"timezone": "UTC", "cluster": cluster} | options
        outcome = ingesting.ingest(lambda: self.spark, self.warehouse, ingesting.Options(list(map(str, paths)), **given), tell=told.append)
        assert told == outcome.faults
        self.knowing = None
        self.outcomes.setdefault(cluster, outcome)
        return outcome

    def build(self, **options: Any) -> building.Outcome:
        from chronicle.build import build as building

        built = building.build(self.spark, self.warehouse, **options)
        self.knowing = None
        return built


def without_code(session: SparkSession) -> None:
    """Let a session run its queries without generated code."""
    from chronicle.build.dbt_runs import WHILE_BUILDING

    for key in WITHOUT_CODE:
        session.conf.set(key, WHILE_BUILDING[key])


@contextmanager
def set_to_build(session: SparkSession) -> Iterator[None]:
    """Give a session the settings of a build, and those that it had at the end."""
    from chronicle.build.dbt_runs import WHILE_BUILDING, settings_kept

    with settings_kept(session):
        for key, value in WHILE_BUILDING.items():
            session.conf.set(key, value)
        yield


def delta_tables(place: Warehouse) -> list[tuple[str, str]]:
    """(schema, name) of every Delta table of a warehouse."""
    from chronicle.spark.catalog import folders

    return [(schema, name) for schema, name, is_delta in folders(place) if is_delta]


@contextmanager
def listed(session: SparkSession, place: Warehouse, tables: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Delta tables are read as builds read them, by lists of their files: Spark needs a second for the log of each."""
    from chronicle.build.file_lists import FileLists
    from chronicle.spark.catalog import register

    lists = FileLists(session, place)
    try:
        for schema, name in tables:
            lists.show(schema, name)
        yield
    finally:
        lists.forget()
        register(session, place, only=tables)


def _linked(file: str, to: str) -> None:
    (os.link if file.endswith(".parquet") else shutil.copy2)(file, to)


def filled(folder: Path, warehouse: str) -> Lab:
    """All of it ingested into a warehouse: the clusters, the incidents, the bad input.  `folder`: an empty one, for their files."""
    for archive in sorted(ARCHIVES.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    lab = Lab(folder, warehouse)
    for cluster in sorted(path.name for path in folder.iterdir()):
        lab.load(cluster, folder / cluster / "input")
    for bundle in sorted(INCIDENTS.glob("*/input")):
        lab.load(f"incident-{bundle.parent.name[0]}", bundle, timezone="Asia/Shanghai")
    lab.load("bad", bad_input(folder / "bad"), folder / "missing")
    return lab


def made(folder: Path) -> Lab:
    """All of it ingested and built, with dbt's tests, in a folder: `files/`, `warehouse/`, and the outcomes."""
    (folder / "files").mkdir(parents=True)
    lab = filled(folder / "files", str(folder / "warehouse"))
    lab.built = lab.build(tests=True, exclude=KEYS_OF_STEPS)
    (folder / SAID).write_bytes(pickle.dumps(lab))
    return lab


def bad_input(folder: Path) -> Path:
    """One file of each kind that cannot simply be read, and one that can."""
    folder.mkdir()
    line = "[2020-05-15 12:00:{:02},123] INFO [KafkaServer id=7] started (kafka.server.KafkaServer)\n"
    text = "".join(line.format(n % 60) for n in range(2000))
    (folder / "server.log").write_text(
        text
        + f"[2020-05-15 12:30:00,000] INFO KafkaConfig values: \n\tbroker.id = 7\n\tssl.key.password = {SECRET}\n (kafka.server.KafkaConfig)\n"
    )
    (folder / "empty.log").write_text("")
    (folder / "binary.log").write_bytes(bytes(range(256)) * 64)
    (folder / "notes.txt").write_text("nothing of Kafka's\n")
    (folder / "cut.log").write_bytes(text.replace("started", "démarré").encode()[: 300 * 90 + 61])
    (folder / "cut.log.gz").write_bytes(gzip.compress(text.replace("started", "starting").encode())[:-300])
    (folder / "torn.log").write_text("\tat a.b.C(C.java:1)\n" + line.format(1).replace("id=7", "id=8"))
    for path in folder.iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return folder


if __name__ == "__main__":
    # Imported under its own name, because the pickled objects are read in other modules.
    from tests import lab as named

    place = Path(sys.argv[1]).resolve()
    shutil.rmtree(place, ignore_errors=True)
    named.made(place).stop()
