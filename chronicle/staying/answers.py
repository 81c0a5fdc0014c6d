"""SQL for other commands, from the JVM of a process that stays: in a session of its own, so that a build that runs meanwhile neither waits nor is
seen."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from chronicle.ask import sql
from chronicle.output.console import in_one_line
from chronicle.spark.catalog import forget_all
from chronicle.spark.internals.beside import session_beside
from chronicle.spark.session import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.staying.requests import Request
    from ingestion.warehouse import Warehouse

DOES = ("sql",)
# Settings in which a server differs from a command.
OF_A_COMMAND = {"spark.sql.runSQLOnFiles": "true", "spark.sql.adaptive.enabled": "true"}


class Answers:
    """Answers requests for SQL, one after the other."""

    def __init__(self, spark: SparkSession, place: Warehouse) -> None:
        self.spark, self.place, self.lock = spark, place, Lock()
        self.session: SparkSession | None = None

    def take(self, request: Request) -> None:
        """Answer a request for SQL."""
        try:
            with self.lock:
                if self.session is None:
                    self.session = session_beside(self.spark, settings(self.place.root) | OF_A_COMMAND)
                # Tables and views may have changed since the last question.
                forget_all(self.session)
                request.answer(sql.ask(self.session, self.place.root, request.values["question"]))
            request.end()
        except Exception as error:
            request.end(failed=in_one_line(error))
