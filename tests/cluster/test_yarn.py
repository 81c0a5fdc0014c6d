"""`chronicle` with the executors of a YARN: the same rows and tables as on this machine's cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cluster.commands import ORDERS, chronicle, done
from tests.cluster.yarn import Yarn
from tests.partial import verdicts

MARTS = "+fct_leader_elections"
# Of the tables that both have: bronze, and the mart with all that it is made of.
COMPARED = ("bronze.log_records", "bronze.capture_rows", "bronze.metric_samples", "marts.fct_leader_elections")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    with closing(Yarn(tmp_path_factory.mktemp("yarn"))) as made:
        yield made


def test_executors_of_yarn_make_the_same_tables(running: Yarn, orders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    warehouse = tmp_path / "warehouse"
    done(chronicle("yarn", running.settings(), "ingest", ORDERS, "-w", warehouse))
    done(chronicle("yarn", running.settings(), "build", "--select", MARTS, "-w", warehouse), seconds=900)
    # A container for the master of an application, and others for its executors.
    assert [len(list(application.glob("container_*"))) >= 3 for application in running.applications] == [True, True]
    differing = {verdict.table: verdict.differences for verdict in verdicts(orders, warehouse)}
    assert [(table, differing[table]) for table in COMPARED if differing[table]] == []
