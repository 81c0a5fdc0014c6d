"""The incidents' bundles: every file is known, every line is recognised, and nothing depends on when they were copied."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from ingestion.bronze.shares import read_all
from ingestion.bronze.tasks import Counted, task_of
from ingestion.ingest import look
from ingestion.sources.discover import Options
from ingestion.sources.spool import Spool
from ingestion.sources.stages import Identified, grown

INCIDENTS = Path(__file__).parents[1] / "incidents"
BUNDLES = sorted(path.parent for path in INCIDENTS.glob("*/input"))


def rows_of(bundle: Path, folder: Path) -> tuple[list[str], list[tuple[str, dict[str, Any]]]]:
    """(files that are not read, (table, row) for all rows of the others)."""
    options = Options([str(bundle / "input")], cluster=bundle.name, timezone="Asia/Shanghai")
    with Spool(folder / "spool") as spool:
        (sources,) = look(options, str(folder / "warehouse"), spool)
        left_out = [source.shown for source in sources if source.outcome != "read"]
        now = dt.datetime.now(dt.UTC)
        tasks = [
            task_of(grown(Identified, source, source_id=str(n), start=source.begin, tail_hash=None), False, 1, now)
            for n, source in enumerate(sources)
        ]
        counted: dict[str, Counted] = {}
        rows = [(table, row) for table, batch in read_all(tasks, counted) for row in batch.to_pylist()]
        assert not [count.fault for count in counted.values() if count.fault]
        return left_out, rows


def test_there_are_five_bundles_and_each_says_what_it_is() -> None:
    assert [path.name[0] for path in BUNDLES] == ["1", "2", "3", "4", "5"]
    assert all((path / "bundle.md").read_text().startswith(f"# {path.name[0]}. ") for path in BUNDLES)


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_every_file_is_read_and_every_line_recognised(bundle: Path, tmp_path: Path) -> None:
    left_out, rows = rows_of(bundle, tmp_path)
    assert left_out == []
    assert [row["raw_text"] for table, row in rows if table == "log_records" and not row["event_type"]] == []
    assert [row["raw_text"] for table, row in rows if row.get("row_kind") == "unread"] == []
    assert len(rows) > 300


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_no_time_comes_from_when_a_file_was_written_here(bundle: Path, tmp_path: Path) -> None:
    _, rows = rows_of(bundle, tmp_path)
    assert [row["raw_text"] for _, row in rows if any("last change" in said for said in row.get("warnings") or ())] == []
