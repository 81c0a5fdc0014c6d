"""Settings of Spark that a user's file must not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.spark import master as masters
from chronicle.spark import session


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file of settings."""
    file = tmp_path / "spark.conf"
    monkeypatch.setenv(masters.SETTINGS, str(file))
    return file


@pytest.mark.parametrize(
    "name", ["spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles", "spark.files.ignoreMissingFiles"]
)
@pytest.mark.parametrize("line", ["{} true", "{}=TRUE"])
def test_no_file_of_settings_lets_vanished_or_damaged_files_be_passed_over(name: str, line: str, file: Path) -> None:
    file.write_text(line.format(name))
    with pytest.raises(masters.BadMaster, match=f"{name} (true|TRUE): .* take it out of {file}"):
        session.settings("/warehouse")


def test_every_session_says_that_vanished_and_damaged_files_are_errors(file: Path) -> None:
    """A server of Spark Connect, or the command line of spark-submit, may have said otherwise; the session's own setting counts."""
    file.write_text("spark.sql.files.ignoreMissingFiles false\nspark.executor.memory 4g\n")
    ours = session.settings("/warehouse")
    assert ours["spark.executor.memory"] == "4g"
    for name in ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles"):
        assert ours[name] == session.IN_SQL[name] == "false"
