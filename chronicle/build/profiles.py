"""What a build reports about its models, as tables: `chronicle build --explain`, `--profile`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from chronicle.build.outcome import Result


def explained(results: Sequence[Result]) -> pa.Table:
    """Per stored model: model, made (whether it was built), since (the time from which on its rows were built; null: all of them), clusters
    (of how many; null: of all that the build is of), because (what has changed of what it reads)."""

    def because(result: Result) -> str:
        if result.because is None:
            return "all is built"
        return ", ".join(result.because) or "nothing that it reads has changed"

    return pa.table(
        {
            "model": [result.model.name for result in results],
            "made": [result.is_made for result in results],
            "since": pa.array([result.since for result in results], pa.timestamp("us", "UTC")),
            "clusters": pa.array([None if one.clusters is None else len(one.clusters) for one in results], pa.int64()),
            "because": [because(result) for result in results],
        }
    )


def profiled(results: Sequence[Result]) -> pa.Table:
    """Per model that was built, the slowest first: model; seconds, and of these for views that it was the first to read (views), for analysing
    its statement (analysis), for optimising and planning it (planning), and for its jobs, which read and write rows (execution); rows,
    rows_read, mb_read (megabytes of files).  The rest of the seconds goes into listing, comparing and carrying over files."""
    made = sorted((result for result in results if result.is_made), key=lambda result: -result.seconds)
    took = [result.took for result in made]

    def seconds(values: Iterable[float | None]) -> pa.Array:
        return pa.array([None if value is None else round(value, 2) for value in values], pa.float64())

    return pa.table(
        {
            "model": [result.model.name for result in made],
            "seconds": seconds(result.seconds for result in made),
            "views": seconds(result.view_seconds for result in made),
            "analysis": seconds(one.statement.analysis if one else None for one in took),
            "planning": seconds(max(one.statement.seconds - one.statement.analysis - one.jobs.seconds, 0) if one else None for one in took),
            "execution": seconds(one.jobs.seconds if one else None for one in took),
            "rows": pa.array([result.rows for result in made], pa.int64()),
            "rows_read": pa.array([one.jobs.rows_read if one else None for one in took], pa.int64()),
            "mb_read": seconds(one.jobs.bytes_read / 1e6 if one else None for one in took),
        }
    )
