"""Superset's configuration: state in one folder of the project, secrets from its files, Spark's time grains and table names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

STATE = Path(os.environ["SUPERSET_HOME"])

SECRET_KEY = (STATE / "secret_key").read_text().strip()
SQLALCHEMY_DATABASE_URI = f"sqlite:///{STATE / 'superset.db'}?check_same_thread=false"
RATELIMIT_STORAGE_URI = "memory://"
APP_NAME = "Kafka Chronicle"
# Rows of a chart; the tables' own limits are smaller.
ROW_LIMIT = 10_000
SUPERSET_WEBSERVER_TIMEOUT = 120
SQLLAB_TIMEOUT = 120
# PyHive is asked whether a query of SQL Lab is done; the default sleeps five seconds.
HIVE_POLL_INTERVAL = 1
# Histories are of the past.
DEFAULT_TIME_FILTER = "No filter"
# Nothing is loaded from, or told to, other hosts.
TALISMAN_ENABLED = True


def FLASK_APP_MUTATOR(_: Any) -> None:
    """Superset takes `hive://` for Hive: give it Spark's functions for grains, and the tables' names, which Spark lists second."""
    from pyhive.sqlalchemy_hive import HiveDialect
    from sqlalchemy import text
    from superset.db_engine_specs.hive import HiveEngineSpec
    from superset.db_engine_specs.spark import time_grain_expressions

    def get_table_names(self: Any, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        place = f" in {self.identifier_preparer.quote_identifier(schema)}" if schema else ""
        return [row[1] for row in connection.execute(text(f"show tables{place}"))]

    HiveEngineSpec._time_grain_expressions = time_grain_expressions
    HiveDialect.get_table_names = get_table_names
    HiveDialect.get_view_names = lambda *_, **__: []
