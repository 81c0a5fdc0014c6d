"""Superset's configuration: state in one folder of the project, secrets from its files, Spark's time grains and table names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from superset.config import TALISMAN_CONFIG

STATE = Path(os.environ["SUPERSET_HOME"])

SECRET_KEY = (STATE / "secret_key").read_text().strip()
SQLALCHEMY_DATABASE_URI = f"sqlite:///{STATE / 'superset.db'}?check_same_thread=false"
RATELIMIT_STORAGE_URI = "memory://"
APP_NAME = "Kafka Chronicle"
# Rows of a chart; the tables' own limits are smaller.
ROW_LIMIT = 10_000
# As long as the server lets a statement run.
SUPERSET_WEBSERVER_TIMEOUT = 300
SQLLAB_TIMEOUT = 300
# PyHive is asked whether a query of SQL Lab is done; the default sleeps five seconds.
HIVE_POLL_INTERVAL = 1
# Histories are of the past.
DEFAULT_TIME_FILTER = "No filter"
# Nothing is loaded from, or told to, other hosts: Superset's default lets pages fetch maps, and a pixel that counts its users.
TALISMAN_ENABLED = True
TALISMAN_CONFIG = TALISMAN_CONFIG | {
    "content_security_policy": TALISMAN_CONFIG["content_security_policy"]
    | {"img-src": ["'self'", "blob:", "data:"], "connect-src": ["'self'"], "font-src": ["'self'", "data:"], "media-src": ["'self'"]}
}


def FLASK_APP_MUTATOR(_: Any) -> None:
    """Superset takes `hive://` for Hive: teach it Spark's grains, where Spark lists the names of tables, and how it writes a quote."""
    from pyhive.hive import HiveParamEscaper
    from pyhive.sqlalchemy_hive import HiveCompiler, HiveDialect
    from sqlalchemy import text
    from sqlalchemy.sql.compiler import SQLCompiler
    from superset.db_engine_specs.hive import HiveEngineSpec
    from superset.db_engine_specs.spark import time_grain_expressions

    def get_table_names(self: Any, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        place = f" in {self.identifier_preparer.quote_identifier(schema)}" if schema else ""
        return [row[1] for row in connection.execute(text(f"show tables{place}"))]

    HiveEngineSpec._time_grain_expressions = time_grain_expressions
    # Hive has to select what it orders by; Spark does not, and finds a name ambiguous that is selected twice.
    HiveEngineSpec.allows_hidden_orderby_agg = True

    def render_literal_value(self: Any, value: Any, kind: Any) -> str:
        # Two quotes in a text are none for Spark, which joins 'it''s' to 'its': a filter by it would find nothing.
        return HiveParamEscaper().escape_string(value) if isinstance(value, str) else SQLCompiler.render_literal_value(self, value, kind)

    HiveCompiler.render_literal_value = render_literal_value
    HiveDialect.get_table_names = get_table_names
    HiveDialect.get_view_names = lambda *_, **__: []
