"""What `chronicle run` says at its end."""

from __future__ import annotations

from pathlib import Path

from chronicle.ask.run_summary import report
from ingestion.warehouse import Warehouse


def test_a_run_on_an_empty_folder_asks_no_table(tmp_path: Path) -> None:
    """Without clusters a question would be `in ()`, which is not SQL."""
    assert list(report(Warehouse.at(str(tmp_path)), set())) == [
        "There are no files below the given paths, so nothing is new; `chronicle ask incidents` says what the warehouse holds."
    ]
