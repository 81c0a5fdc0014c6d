"""The tables that the tests here compare with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.commands import ORDERS, chronicle, done


@pytest.fixture(scope="session")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, loaded and built on this machine's cores."""
    warehouse = tmp_path_factory.mktemp("local") / "warehouse"
    done(chronicle(None, None, "run", ORDERS, "-w", warehouse))
    return warehouse
