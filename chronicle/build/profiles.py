"""What a build says of its models, as tables: `chronicle build --explain`, `--profile`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from chronicle.build.runner import Result


def explained(results: Sequence[Result]) -> pa.Table:
    """Per stored model: model, made (whether it was), since (the time from which on its rows were made; null: all of them), because (what it
    reads that has changed)."""

    def because(result: Result) -> str:
        if result.because is None:
            return "all is built"
        return ", ".join(result.because) or "nothing that it reads has changed"

    return pa.table(
        {
            "model": [result.model.name for result in results],
            "made": [result.is_made for result in results],
            "since": pa.array([result.since for result in results], pa.timestamp("us", "UTC")),
            "because": [because(result) for result in results],
        }
    )


def profiled(results: Sequence[Result]) -> pa.Table:
    """Per model that was made, the slowest first: model, seconds, of_which_views (to analyse those that it was the first to read),
    of_which_jobs (in which Spark read and wrote rows; the rest went into the analysis and planning of its own statement), rows, rows_read,
    mb_read (megabytes of files)."""
    made = sorted((result for result in results if result.is_made), key=lambda result: -result.seconds)
    return pa.table(
        {
            "model": [result.model.name for result in made],
            "seconds": [result.seconds for result in made],
            "of_which_views": [result.view_seconds for result in made],
            "of_which_jobs": pa.array([round(result.jobs.seconds, 2) if result.jobs else None for result in made], pa.float64()),
            "rows": pa.array([result.rows for result in made], pa.int64()),
            "rows_read": pa.array([result.jobs.rows_read if result.jobs else None for result in made], pa.int64()),
            "mb_read": pa.array([round(result.jobs.bytes_read / 1e6, 1) if result.jobs else None for result in made], pa.float64()),
        }
    )
