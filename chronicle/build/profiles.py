"""What a build says of its models, as tables: `chronicle build --explain`, `--profile`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from chronicle.build.runner import Result


def explained(results: Sequence[Result]) -> pa.Table:
    """Per stored model: model, made (whether it was), because (what it reads that has changed)."""

    def because(result: Result) -> str:
        if result.because is None:
            return "all is built"
        return ", ".join(result.because) or "nothing that it reads has changed"

    return pa.table(
        {
            "model": [result.model.name for result in results],
            "made": [result.is_made for result in results],
            "because": [because(result) for result in results],
        }
    )


def profiled(results: Sequence[Result]) -> pa.Table:
    """Per model that was made, the slowest first: model, seconds, of_which_views (for views that it was the first to read), rows."""
    made = sorted((result for result in results if result.is_made), key=lambda result: -result.seconds)
    return pa.table(
        {
            "model": [result.model.name for result in made],
            "seconds": [result.seconds for result in made],
            "of_which_views": [result.view_seconds for result in made],
            "rows": pa.array([result.rows for result in made], pa.int64()),
        }
    )
