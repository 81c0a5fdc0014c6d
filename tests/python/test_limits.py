"""The loads of `make limits`, in small sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import limits

SMALL = limits.Sizes(megabytes=1, files=30, brackets=5_000, line=1)


@pytest.mark.parametrize(("case", "records"), [("brackets", 7), ("line", 6), ("log", 7_000), ("files", 90)])
def test_what_is_long_or_many_is_loaded_once(tmp_path: Path, case: str, records: int) -> None:
    first, second = limits.run(case, SMALL, str(tmp_path))
    assert (first.outcome.records, second.outcome.records) == (records, 0)
    assert first.outcome.failed == second.outcome.failed == []
    assert "new" not in second.outcome.files
    assert second.processor < 3
